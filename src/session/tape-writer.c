// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is taken from the rings, when it counts as lost, and what a snapshot holds. */

#include "session/tape-writer.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NO_CPU = UINT32_MAX };

struct tape_writer {
	struct tape_writer_options options;
	struct asterism_diag *diag;
	struct tape_state state;     /* of a continuous tape with a layout */
	struct ctf_writer *trace;    /* of a continuous tape */
	struct ring *rings;          /* a copy of the options' */
	struct ring_cursor *cursors; /* one per processor, of a continuous tape */
	void *buffer;                /* of one sub-buffer */
	uint64_t missed;             /* by the kernel, so far */
	uint32_t missed_cpu;         /* the one whose stream tells of them */
	struct tape_totals totals;   /* of what is closed */
};

/* How packets go from rings to a trace. */
struct copying {
	struct ctf_writer *trace;
	int (*next)(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);
	uint64_t until_ns; /* what begins later is left, or events that come as fast as they are written never end */
	bool left;         /* something is */
};

static int open_trace(const struct tape_writer *writer, const char *path, uint64_t max_bytes, struct ctf_writer **trace)
{
	const struct ctf_writer_options options = {
		.events = writer->options.events,
		.event_count = writer->options.event_count,
		.stream_count = writer->options.ring_count,
		.max_bytes = max_bytes,
		.layout = writer->options.layout,
	};

	return ctf_writer_new(path, &options, writer->diag, trace);
}

static int open_writer(struct tape_writer *writer)
{
	const struct tape_writer_options *options = &writer->options;

	writer->rings = alloc_zero(options->ring_count, sizeof *writer->rings);
	writer->cursors = alloc_zero(options->ring_count, sizeof *writer->cursors);
	writer->buffer = alloc_zero(options->rings->sub_units, RING_UNIT_BYTES);
	if (!writer->rings || !writer->cursors || !writer->buffer)
		return diag_no_memory(writer->diag);
	memcpy(writer->rings, options->rings, options->ring_count * sizeof *writer->rings);
	return options->flight ? 0 : open_trace(writer, options->path, options->max_bytes, &writer->trace);
}

int tape_writer_new(const struct tape_writer_options *options, struct asterism_diag *diag, struct tape_writer **made)
{
	struct tape_writer *writer = alloc_zero(1, sizeof *writer);
	int result;

	if (!writer)
		return diag_no_memory(diag);
	writer->options = *options;
	writer->diag = diag;
	writer->missed_cpu = NO_CPU;
	result = open_writer(writer);
	writer->options.rings = writer->rings;
	if (result)
		tape_writer_free(writer);
	else
		*made = writer;
	return result;
}

void tape_writer_free(struct tape_writer *writer)
{
	if (!writer)
		return;
	ctf_writer_close(writer->trace);
	tape_state_fini(&writer->state);
	alloc_free(writer->rings);
	alloc_free(writer->cursors);
	alloc_free(writer->buffer);
	alloc_free(writer);
}

struct tape_state *tape_writer_state(struct tape_writer *writer)
{
	return &writer->state;
}

/* What the kernel kept from us belongs to no processor that we know of, so it goes with the first that tells anything.
 */
static uint64_t missed_of(struct tape_writer *writer, uint32_t cpu)
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
static int write_beginning(const struct tape_writer *writer, struct ctf_writer *trace, uint32_t cpu,
			   const struct ring_part *first)
{
	const struct ring_packet packet = {
		.timestamp_begin = writer->options.start_ns,
		.packet_seq_num = first->sequence - 1,
	};

	return ctf_writer_packet(trace, cpu, &packet, sizeof packet, 0);
}

/* Writes what comes out of one ring. A packet that could not be written stays before the cursor. */
static int write_ring(struct tape_writer *writer, struct copying *how, uint32_t cpu, struct ring_cursor *cursor)
{
	const struct ring *ring = &writer->rings[cpu];
	const struct ring_packet *packet = writer->buffer;
	struct ring_cursor ahead = *cursor;
	struct ring_part part;
	int got;

	while ((got = how->next(ring, &ahead, writer->buffer, &part)) > 0) {
		int result = 0;

		if (packet->timestamp_begin > how->until_ns) {
			how->left = true;
			return 0;
		}
		if (!writer->options.flight && cursor->events == 0 && part.events_before > 0)
			result = write_beginning(writer, how->trace, cpu, &part);
		if (!result)
			result = ctf_writer_packet(how->trace, cpu, writer->buffer, part.bytes,
						   ahead.lost + ring_dropped(ring) + missed_of(writer, cpu));
		if (result)
			return result;
		*cursor = ahead;
	}
	if (got < 0)
		return diag_error(writer->diag, NULL, got, "the ring of CPU %u is damaged", cpu);
	*cursor = ahead;
	return 0;
}

static int write_rings(struct tape_writer *writer, struct copying *how)
{
	int result = tape_state_write(&writer->state, how->trace);

	for (uint32_t cpu = 0; cpu < writer->options.ring_count && !result; cpu++)
		result = write_ring(writer, how, cpu, &writer->cursors[cpu]);
	return result;
}

static int look(void *context, uint64_t missed, bool *again)
{
	struct tape_writer *writer = context;
	struct copying how = { .trace = writer->trace, .next = ring_next, .until_ns = clock_now_ns() };
	int result;

	writer->missed = missed;
	result = write_rings(writer, &how);
	*again = how.left;
	return result;
}

static int mark(void *context, const struct tape_mark *mark)
{
	struct tape_writer *writer = context;
	int result = tape_state_write(&writer->state, writer->trace);

	return result ? result : tape_mark_write(mark, writer->trace);
}

/* Where a snapshot of one ring begins: with the last sub-buffer that holds events of before since_ns. */
static void rewind_to(struct tape_writer *writer, const struct ring *ring, uint64_t since_ns,
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

static int write_snapshot(struct tape_writer *writer, struct ctf_writer *trace, const struct tape_snapshot_order *order)
{
	uint64_t at_ns = order->at_ns, last_ns = writer->options.last_ns;
	uint64_t since_ns = last_ns && at_ns > last_ns ? at_ns - last_ns : 0;
	struct copying how = { .trace = trace, .next = ring_finish, .until_ns = at_ns };
	int result = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count && !result; cpu++) {
		struct ring_cursor cursor;

		rewind_to(writer, &writer->rings[cpu], since_ns, &cursor);
		result = write_ring(writer, &how, cpu, &cursor);
	}
	return result ? result : tape_marks_write(order->marks, trace, since_ns);
}

/* Ends a trace and adds what it holds to the totals. */
static int close_trace(struct tape_writer *writer, struct ctf_writer *trace)
{
	struct ctf_writer_totals totals;

	ctf_writer_totals(trace, &totals);
	writer->totals.events += totals.events;
	writer->totals.bytes += totals.bytes;
	writer->totals.deleted_bytes += totals.deleted_bytes;
	return ctf_writer_close(trace);
}

/* A new directory for a snapshot; those of earlier recordings stay. */
static int make_snapshot_folder(const struct tape_writer *writer, const char *name, char path[PATH_MAX])
{
	unsigned long long number = writer->totals.snapshots;

	do {
		if (snprintf(path, PATH_MAX, "%s/%s-%llu", writer->options.path, name, ++number) >= PATH_MAX)
			errno = ENAMETOOLONG;
		else if (mkdir(path, 0777) == 0)
			return 0;
	} while (errno == EEXIST);
	return diag_error(writer->diag, NULL, -errno, "%s cannot be made: %s", path, strerror(errno));
}

static int snapshot(void *context, const struct tape_snapshot_order *order)
{
	struct tape_writer *writer = context;
	struct ctf_writer *trace = NULL;
	char path[PATH_MAX];
	int result = make_snapshot_folder(writer, order->name, path), closed;

	if (!result)
		result = open_trace(writer, path, 0, &trace);
	if (result)
		return result;
	writer->totals.snapshots++;
	result = write_snapshot(writer, trace, order);
	closed = close_trace(writer, trace);
	return result ? result : closed;
}

/* Events that were overwritten before they could be read, all rings together. */
static uint64_t overwritten(const struct tape_writer *writer)
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		lost += writer->cursors[cpu].lost;
	return lost;
}

/* Counts what the rings saw and the trace does not have; nothing comes into them any more. */
static void count_losses(struct tape_writer *writer)
{
	struct tape_totals *totals = &writer->totals;
	uint64_t seen = 0, accounted;

	for (uint32_t cpu = 0; cpu < writer->options.ring_count; cpu++)
		seen += ring_written(&writer->rings[cpu]);
	totals->overwritten = overwritten(writer);
	accounted = totals->events + totals->overwritten;
	totals->unwritten = seen > accounted ? seen - accounted : 0;
}

static int finish(void *context, uint64_t missed, bool failed)
{
	struct tape_writer *writer = context;
	struct copying how = { .trace = writer->trace, .next = ring_finish, .until_ns = UINT64_MAX };
	int result = 0, closed;

	if (writer->options.flight)
		return 0;
	writer->missed = missed;
	if (!failed)
		result = write_rings(writer, &how);
	closed = close_trace(writer, writer->trace);
	writer->trace = NULL;
	count_losses(writer);
	return result ? result : closed;
}

static void count(const void *context, struct tape_totals *totals)
{
	const struct tape_writer *writer = context;
	struct ctf_writer_totals written;

	*totals = writer->totals;
	if (!writer->trace)
		return;
	ctf_writer_totals(writer->trace, &written);
	totals->events = written.events;
	totals->bytes = written.bytes;
	totals->deleted_bytes = written.deleted_bytes;
	totals->overwritten = overwritten(writer);
}

struct tape_work tape_writer_work(struct tape_writer *writer)
{
	return (struct tape_work){
		.look = look,
		.mark = mark,
		.snapshot = snapshot,
		.finish = finish,
		.count = count,
		.context = writer,
		.look_ns = writer->options.flight ? UINT64_MAX : TAPE_WAIT_NS,
	};
}
