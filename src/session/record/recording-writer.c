// SPDX-License-Identifier: BSD-2-Clause
/* Takes events from the rings, counts what is lost, and writes snapshots. */

#include "session/record/recording-writer.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_CPU = UINT32_MAX };

/* A ring on its way into the trace of a continuous recording. */
struct reading {
	struct ring_cursor cursor;
	uint64_t gone;     /* events behind the cursor that were overwritten while they could not be written */
	bool has_begun;    /* its stream has a packet */
	bool is_refused;   /* what comes behind the cursor could not be written yet */
	uint64_t position; /* of the ring at the last look */
};

struct recording_writer {
	struct recording_writer_options options;
	struct asterism_diag *diag;
	struct recording_state state;            /* of a continuous recording with a layout */
	struct recording_description *described; /* instead of what the options say; NULL: nothing */
	struct ctf_writer *trace;                /* of a continuous recording */
	struct ring *rings;                      /* a copy of the options' */
	struct reading *readings;                /* one per CPU */
	void *buffer;                            /* of one sub-buffer */
	uint64_t missed;                         /* by the kernel, so far */
	uint32_t missed_cpu;                     /* the one whose stream tells of them */
	uint64_t flushed_ns;                     /* when the rings gave what they had, last */
	uint64_t looked_ns, due_ns;              /* when they were looked at, last, and will be, next */
	struct recording_totals totals;          /* of what is closed, and of what could not be written */
};

/* How packets go from rings to a trace. */
struct copying {
	struct ctf_writer *trace;
	int (*next)(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);
	uint64_t until_ns; /* what begins later is left, or events that come as fast as they are written never end */
	bool left;         /* something is */
};

static struct ctf_writer_options trace_options(const struct recording_writer *writer, uint64_t max_bytes)
{
	const struct recording_description *described = writer->described;

	return (struct ctf_writer_options){
		.events = described ? described->events : writer->options.events,
		.event_count = described ? described->event_count : writer->options.event_count,
		.changes = described ? (const char *const *)described->changes : NULL,
		.change_count = described ? described->change_count : 0,
		.stream_count = writer->options.ring_count,
		.has_sensors = writer->options.sensors != NULL,
		.max_bytes = max_bytes,
		.mode = writer->options.mode,
		.layout = writer->options.layout,
	};
}

static int open_trace(const struct recording_writer *writer, const char *path, uint64_t max_bytes,
		      struct ctf_writer **trace)
{
	const struct ctf_writer_options options = trace_options(writer, max_bytes);

	return ctf_writer_new(path, &options, writer->diag, trace);
}

/* A flight recording has no trace before its next snapshot. */
static int describe_recording(void *context, struct recording_description *description)
{
	struct recording_writer *writer = context;
	struct recording_description *before = writer->described;
	int result = 0;

	writer->described = description;
	if (writer->trace) {
		const struct ctf_writer_options options = trace_options(writer, 0);

		result = ctf_writer_describe(writer->trace, &options);
	}
	if (result)
		writer->described = before;
	recording_description_free(result ? description : before);
	return result;
}

static int open_part_writer(struct recording_writer *writer)
{
	const struct recording_writer_options *options = &writer->options;

	writer->rings = alloc_zero(options->ring_count, sizeof *writer->rings);
	writer->readings = alloc_zero(options->ring_count, sizeof *writer->readings);
	writer->buffer = alloc_zero(options->ring_count ? options->rings->sub_units : 1, RING_UNIT_BYTES);
	if (!writer->rings || !writer->readings || !writer->buffer)
		return diag_no_memory(writer->diag);
	if (options->ring_count)
		memcpy(writer->rings, options->rings, options->ring_count * sizeof *writer->rings);
	return options->flight ? 0 : open_trace(writer, options->path, options->max_bytes, &writer->trace);
}

int recording_writer_new(const struct recording_writer_options *options, struct asterism_diag *diag,
			 struct recording_writer **made)
{
	struct recording_writer *writer = alloc_zero(1, sizeof *writer);
	int result;

	if (!writer)
		return diag_no_memory(diag);
	writer->options = *options;
	writer->diag = diag;
	writer->missed_cpu = NO_CPU;
	writer->looked_ns = options->start_ns;
	result = open_part_writer(writer);
	writer->options.rings = writer->rings;
	if (result)
		recording_writer_free(writer);
	else
		*made = writer;
	return result;
}

void recording_writer_free(struct recording_writer *writer)
{
	if (!writer)
		return;
	ctf_writer_close(writer->trace);
	recording_state_fini(&writer->state);
	recording_description_free(writer->described);
	alloc_free(writer->rings);
	alloc_free(writer->readings);
	alloc_free(writer->buffer);
	alloc_free(writer);
}

struct recording_state *recording_writer_state(struct recording_writer *writer)
{
	return &writer->state;
}

/* What the kernel kept from us belongs to no CPU that we know of, so it goes with the first that tells anything.
 */
static uint64_t writer_missed_of(struct recording_writer *writer, uint32_t cpu)
{
	if (writer->options.flight)
		return 0;
	if (writer->missed_cpu == NO_CPU)
		writer->missed_cpu = cpu;
	return writer->missed_cpu == cpu ? writer->missed : 0;
}

/*
 * Readers see what is missing by comparing a packet with the one before. Where the first ones are lost already, a
 * packet without events stands for the beginning of the stream.
 */
static int write_beginning(const struct recording_writer *writer, struct ctf_writer *trace, uint32_t cpu,
			   const struct ring_part *first)
{
	const struct ring_packet packet = {
		.timestamp_begin = writer->options.start_ns,
		.packet_seq_num = first->sequence - 1,
	};

	return ctf_writer_packet(trace, cpu, &packet, sizeof packet, 0);
}

/*
 * Writes what comes out of one ring. A packet that could not be written stays before the cursor, so the next look tries
 * it again, and what was overwritten by then is missing before the packet that is there.
 */
static int write_ring(struct recording_writer *writer, struct copying *how, uint32_t cpu, struct reading *reading)
{
	const struct ring *ring = &writer->rings[cpu];
	const struct ring_packet *packet = writer->buffer;
	struct ring_cursor ahead = reading->cursor;
	struct ring_part part;
	int got;

	while ((got = how->next(ring, &ahead, writer->buffer, &part)) > 0) {
		int result = 0;

		if (packet->timestamp_begin > how->until_ns) {
			how->left = true;
			return 0;
		}
		if (!writer->options.flight && !reading->has_begun && part.events_before > 0) {
			result = write_beginning(writer, how->trace, cpu, &part);
			reading->has_begun = !result;
		}
		const struct ctf_portion portion = {
			.bytes = writer->buffer,
			.content_bytes = part.bytes,
			.skip = part.skip,
			.discarded = ahead.lost + ring_dropped(ring) + writer_missed_of(writer, cpu),
		};

		if (!result && part.skip < part.bytes)
			result = ctf_writer_portion(how->trace, cpu, &portion);
		reading->gone = result ? ahead.lost - reading->cursor.lost : 0;
		if (result)
			return result;
		reading->has_begun = true;
		reading->cursor = ahead;
		if (ahead.bytes) /* the rest is still to come */
			return 0;
	}
	if (got < 0)
		return diag_error(writer->diag, NULL, got, "the ring of CPU %u is damaged", cpu);
	reading->cursor = ahead;
	return 0;
}

/* Writes what comes out of all rings, and tells apart why events were lost. Returns the first failure. */
static int write_rings(struct recording_writer *writer, struct copying *how)
{
	int result = recording_state_write(&writer->state, how->trace);

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++) {
		struct reading *reading = &writer->readings[cpu];
		uint64_t lost = reading->cursor.lost;
		int failed = write_ring(writer, how, cpu, reading);

		if (reading->is_refused)
			writer->totals.unwritten += reading->cursor.lost - lost;
		reading->is_refused = failed != 0;
		result = result ? result : failed;
	}
	return result;
}

/*
 * A packet without events for each CPU that is there: where the disk is full before its first event can be
 * written, that is where its losses are told.
 */
static int begin_streams(struct recording_writer *writer)
{
	long present = sysconf(_SC_NPROCESSORS_ONLN);
	int result = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count && (long)cpu < present && !result; cpu++) {
		if (writer->readings[cpu].has_begun)
			continue;
		result = ctf_writer_begin(writer->trace, cpu, writer->options.start_ns);
		writer->readings[cpu].has_begun = !result;
	}
	return result;
}

/* What applications have raised, which has rings that are smaller. */
static int write_sensors(struct recording_writer *writer, bool all, uint64_t *wait_ns)
{
	return writer->options.sensors ? recording_sensors_turn(writer->options.sensors, writer->trace, all, wait_ns)
				       : 0;
}

/* How long until a quarter of some ring is filled, if events go on to come as fast as since the last look. */
static uint64_t until_look(struct recording_writer *writer, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - writer->looked_ns, quarter = 0, most = 0, wait_ns;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++) {
		const struct ring *ring = &writer->rings[cpu];
		uint64_t position = ring_position(ring), filled = position - writer->readings[cpu].position;

		writer->readings[cpu].position = position;
		quarter = (uint64_t)ring->sub_units * ring->sub_count / 4;
		most = filled > most ? filled : most;
	}
	passed_ns = passed_ns < RECORDING_FLUSH_NS ? passed_ns : RECORDING_FLUSH_NS;
	wait_ns = most ? passed_ns * quarter / most : RECORDING_WAIT_NS;
	if (wait_ns < RECORDING_WAIT_MIN_NS)
		return RECORDING_WAIT_MIN_NS;
	return wait_ns < RECORDING_WAIT_NS ? wait_ns : RECORDING_WAIT_NS;
}

static void sooner(uint64_t ns, uint64_t *wait_ns)
{
	if (ns < *wait_ns)
		*wait_ns = ns;
}

static int look_at_rings(void *context, uint64_t missed, uint64_t *wait_ns)
{
	struct recording_writer *writer = context;
	struct copying how = { .trace = writer->trace, .next = ring_next, .until_ns = clock_now_ns() };
	bool flushes = how.until_ns - writer->flushed_ns >= RECORDING_FLUSH_NS;
	int result = 0, begun, sensed;

	if (writer->options.flight)
		return recording_sensors_keep(writer->options.sensors);
	sensed = write_sensors(writer, flushes, wait_ns);
	if (how.until_ns < writer->due_ns) {
		sooner(writer->due_ns - how.until_ns, wait_ns);
		return sensed;
	}
	writer->due_ns = how.until_ns + until_look(writer, how.until_ns);
	writer->looked_ns = how.until_ns;
	sooner(writer->due_ns - how.until_ns, wait_ns);
	if (flushes) {
		how.next = ring_peek;
		writer->flushed_ns = how.until_ns;
	}
	writer->missed = missed;
	begun = begin_streams(writer);
	result = write_rings(writer, &how);
	if (how.left)
		*wait_ns = 0;
	result = result ? result : begun;
	return result ? result : sensed;
}

static int flush_writer(void *context)
{
	struct recording_writer *writer = context;
	struct copying how = { .trace = writer->trace, .next = ring_peek, .until_ns = UINT64_MAX };
	uint64_t wait_ns = 0; /* the next look sees */
	int result, sensed;

	if (writer->options.flight)
		return 0;
	writer->flushed_ns = clock_now_ns();
	sensed = write_sensors(writer, true, &wait_ns);
	result = write_rings(writer, &how);
	return result ? result : sensed;
}

static int mark_recording(void *context, const struct recording_mark *mark)
{
	struct recording_writer *writer = context;
	int result = recording_state_write(&writer->state, writer->trace),
	    written = recording_mark_write(mark, writer->trace);

	writer->totals.unmarked += written != 0;
	return result ? result : written;
}

/* Where a snapshot of one ring begins: with the last sub-buffer that holds events of before since_ns. */
static void rewind_to(struct recording_writer *writer, const struct ring *ring, uint64_t since_ns,
		      struct ring_cursor *cursor)
{
	const struct ring_packet *packet = writer->buffer;
	struct ring_cursor probe;
	struct ring_part part;

	ring_cursor_rewind(ring, cursor);
	if (!writer->options.last_ns)
		return;
	probe = *cursor;
	while (ring_finish(ring, &probe, writer->buffer, &part) > 0 && packet->timestamp_begin <= since_ns)
		cursor->next = part.sequence;
}

static int write_snapshot(struct recording_writer *writer, struct ctf_writer *trace,
			  const struct recording_snapshot_order *order)
{
	uint64_t at_ns = order->at_ns, last_ns = writer->options.last_ns;
	uint64_t since_ns = last_ns && at_ns > last_ns ? at_ns - last_ns : 0;
	struct copying how = { .trace = trace, .next = ring_finish, .until_ns = at_ns };
	int result = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count && !result; cpu++) {
		struct reading reading = { 0 };

		rewind_to(writer, &writer->rings[cpu], since_ns, &reading.cursor);
		result = write_ring(writer, &how, cpu, &reading);
	}
	if (!result && writer->options.sensors)
		result = recording_sensors_snapshot(writer->options.sensors, trace, since_ns, at_ns);
	return result ? result : recording_marks_write(order->marks, trace, since_ns);
}

/* Ends a trace and adds what it holds to the totals. */
static int close_trace(struct recording_writer *writer, struct ctf_writer *trace)
{
	struct ctf_writer_totals totals;
	int result;

	ctf_writer_totals(trace, &totals);
	writer->totals.events += totals.events;
	writer->totals.bytes += totals.bytes;
	writer->totals.deleted_bytes += totals.deleted_bytes;
	result = ctf_writer_close(trace);
	writer->totals.unclosed += result != 0;
	return result;
}

/* A new directory for a snapshot; those of earlier recordings stay. */
static int make_snapshot_folder(const struct recording_writer *writer, const char *name, char path[PATH_MAX])
{
	unsigned long long number = writer->totals.snapshots;

	do {
		if (snprintf(path, PATH_MAX, "%s/%s-%llu", writer->options.path, name, ++number) >= PATH_MAX)
			errno = ENAMETOOLONG;
		else if (mkdir(path, 0700) == 0)
			return 0;
	} while (errno == EEXIST);
	return diag_error(writer->diag, NULL, -errno, "cannot create %s: %s", path, strerror(errno));
}

static int writer_snapshot(void *context, const struct recording_snapshot_order *order)
{
	struct recording_writer *writer = context;
	struct ctf_writer *trace = NULL;
	char path[PATH_MAX];
	int result = make_snapshot_folder(writer, order->name, path), closed = 0;

	writer->totals.snapshots++;
	if (!result)
		result = open_trace(writer, path, 0, &trace);
	if (!result) {
		result = write_snapshot(writer, trace, order);
		closed = close_trace(writer, trace);
	}
	writer->totals.snapshots_cut += result != 0;
	return result ? result : closed;
}

/* Events that were overwritten before they could be read, all rings together, less those that could not be written. */
static uint64_t overwritten(const struct recording_writer *writer)
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		lost += writer->readings[cpu].cursor.lost;
	return lost - writer->totals.unwritten;
}

/* Counts what the rings saw and the trace does not have; nothing comes into them any more. */
static void count_losses(struct recording_writer *writer)
{
	struct recording_totals *totals = &writer->totals;
	uint64_t seen = 0, accounted;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		seen += ring_written(&writer->rings[cpu]);
	totals->overwritten = overwritten(writer);
	accounted = totals->events - totals->sensors.events + totals->overwritten;
	totals->unwritten = seen > accounted ? seen - accounted : 0;
	totals->overwritten += totals->sensors.overwritten;
	totals->unwritten += totals->sensors.unwritten;
}

/*
 * A packet without events tells until when the ring was read, and what is behind the last packet and will not be in the
 * trace. Where there is no room even for that, the packet before tells of the loss.
 */
static void write_ring_end(struct recording_writer *writer, uint32_t cpu)
{
	const struct ring *ring = &writer->rings[cpu];
	const struct ring_cursor *cursor = &writer->readings[cpu].cursor;
	uint64_t seen = ring_written(ring), left = seen > cursor->events ? seen - cursor->events : 0;
	const struct ring_packet packet = {
		.timestamp_begin = clock_now_ns(),
		.packet_seq_num = writer->readings[cpu].has_begun ? cursor->next : 0,
		.events_before = seen,
	};

	ctf_writer_end(writer->trace, cpu, &packet,
		       cursor->lost + left + ring_dropped(ring) + writer_missed_of(writer, cpu));
}

static int finish_writer(void *context, uint64_t missed)
{
	struct recording_writer *writer = context;
	struct copying how = { .trace = writer->trace, .next = ring_finish, .until_ns = UINT64_MAX };
	int result = 0, closed;

	if (writer->options.flight)
		return 0;
	writer->missed = missed;
	result = write_rings(writer, &how);
	if (writer->options.sensors) {
		int sensed = recording_sensors_finish(writer->options.sensors, writer->trace);

		result = result ? result : sensed;
		recording_sensors_count(writer->options.sensors, &writer->totals.sensors);
	}
	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		write_ring_end(writer, cpu);
	closed = close_trace(writer, writer->trace);
	writer->trace = NULL;
	count_losses(writer);
	return result ? result : closed;
}

/* What is lost already, though a packet can say so only when there is room for one again. */
static uint64_t gone(const struct recording_writer *writer)
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		lost += writer->readings[cpu].gone;
	return lost;
}

static void count_recording_totals(const void *context, struct recording_totals *totals)
{
	const struct recording_writer *writer = context;
	struct ctf_writer_totals written;

	*totals = writer->totals;
	if (writer->options.flight && writer->options.sensors)
		recording_sensors_count(writer->options.sensors, &totals->sensors);
	if (!writer->trace)
		return;
	ctf_writer_totals(writer->trace, &written);
	totals->events = written.events;
	totals->bytes = written.bytes;
	totals->deleted_bytes = written.deleted_bytes;
	totals->overwritten = overwritten(writer);
	totals->unwritten += gone(writer);
	if (!writer->options.sensors)
		return;
	recording_sensors_count(writer->options.sensors, &totals->sensors);
	totals->overwritten += totals->sensors.overwritten;
	totals->unwritten += totals->sensors.unwritten;
}

static uint64_t look_ns(const struct recording_writer_options *options)
{
	if (options->flight)
		return options->sensors ? RECORDING_WAIT_NS : UINT64_MAX;
	return options->sensors ? RECORDING_SENSORS_WAIT_NS : RECORDING_WAIT_NS;
}

struct recording_work recording_writer_work(struct recording_writer *writer)
{
	return (struct recording_work){
		.look = look_at_rings,
		.flush = flush_writer,
		.describe = describe_recording,
		.mark = mark_recording,
		.snapshot = writer_snapshot,
		.finish = finish_writer,
		.count = count_recording_totals,
		.context = writer,
		.diag = writer->diag,
		.look_ns = look_ns(&writer->options),
	};
}
