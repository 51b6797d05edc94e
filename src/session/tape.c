// SPDX-License-Identifier: BSD-2-Clause
/* Decides how events get from the rings into traces, and when. */

#include "session/tape.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/record.h"
#include "session/tape-state.h"
#include "trace/ctf-write.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest ring per processor. */
#define RING_BYTES_MAX ((uint64_t)RING_UNITS_MAX * RING_UNIT_BYTES)

enum { MARKS_MAX = 256, NO_CPU = UINT32_MAX };

/* A mark that waits for the next snapshot, with texts of its own. */
struct kept_mark {
	struct tape_mark mark;
	char comm[EVENT_COMM_BYTES];
	char *rule, *values;
};

struct tape {
	const struct tape_options options;
	struct asterism_diag *diag;
	struct ebpf_recorder *recorder;
	struct ctf_writer_event *events;
	struct ctf_layout *layout;   /* NULL: the catalog's names */
	struct tape_state state;     /* of a continuous tape with a layout */
	struct ctf_writer *writer;   /* of a continuous tape */
	struct ring_cursor *cursors; /* one per processor, of a continuous tape */
	void *buffer;                /* of one sub-buffer */
	uint64_t start_ns;           /* no event is older */
	uint32_t missed_cpu;         /* the one whose stream tells what the kernel kept from us */
	uint64_t mark_count;         /* ever; the newest MARKS_MAX are kept, each in the place of its number */
	struct kept_mark marks[MARKS_MAX];
	struct tape_totals totals; /* of what is closed */
	bool made_folder, failed, finished;
};

/* How packets go from rings to a trace. */
struct copying {
	struct ctf_writer *writer;
	int (*next)(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);
	uint64_t until_ns; /* what begins later is left, or events that come as fast as they are written never end */
	bool left;         /* something is */
};

/* The number of sub-buffers that makes a ring of at least bytes. */
static uint32_t sub_count_of(uint64_t bytes)
{
	uint32_t count = 2;

	if (bytes == 0)
		return EBPF_RECORD_SUB_COUNT;
	while ((uint64_t)count * EBPF_RECORD_SUB_BYTES < bytes)
		count *= 2;
	return count;
}

static int open_writer(struct tape *tape, const char *path, uint64_t max_bytes, struct ctf_writer **writer)
{
	const struct ctf_writer_options options = {
		.events = tape->events,
		.event_count = tape->options.what->count,
		.stream_count = ebpf_recorder_cpu_count(tape->recorder),
		.max_bytes = max_bytes,
		.layout = tape->layout,
	};

	return ctf_writer_new(path, &options, tape->diag, writer);
}

static int open_recorder(struct tape *tape)
{
	const struct selection *what = tape->options.what;
	struct ebpf_record_type *types;
	int result;

	if (tape->options.ring_bytes > RING_BYTES_MAX)
		return diag_error(tape->diag, NULL, -EINVAL, "a ring takes at most %" PRIu64 " GiB per processor",
				  RING_BYTES_MAX >> 30);
	types = alloc_zero(what->count, sizeof *types);
	tape->events = alloc_zero(what->count, sizeof *tape->events);
	if (!types || !tape->events) {
		alloc_free(types);
		return diag_no_memory(tape->diag);
	}
	for (size_t i = 0; i < what->count; i++) {
		const struct selected_event *event = &what->events[i];

		types[i] = (struct ebpf_record_type){ event->type, event->recorded,
						      (uint16_t)(EVENT_PACKED_ID_FIRST + i) };
		tape->events[i] = (struct ctf_writer_event){ event->type, event->recorded };
	}
	const struct ebpf_recorder_options options = {
		.types = types,
		.count = what->count,
		.is_guest = tape->options.is_guest,
		.scope = tape->options.scope,
		.sub_count = sub_count_of(tape->options.ring_bytes),
	};

	result = ebpf_recorder_new(&options, tape->diag, &tape->recorder);
	alloc_free(types);
	return result;
}

static int open_buffers(struct tape *tape)
{
	tape->cursors = alloc_zero(ebpf_recorder_cpu_count(tape->recorder), sizeof *tape->cursors);
	tape->buffer = alloc_zero(1, EBPF_RECORD_SUB_BYTES);
	return tape->cursors && tape->buffer ? 0 : diag_no_memory(tape->diag);
}

/* The directory of the trace or the snapshots. What is there already is the writer's to judge. */
static int open_folder(struct tape *tape)
{
	const char *path = tape->options.path;
	struct diag_source source = { .file = path };

	tape->made_folder = mkdir(path, 0777) == 0;
	if (!tape->made_folder && errno != EEXIST)
		return diag_error(tape->diag, &(struct diag_place){ .source = &source }, -errno,
				  "the directory cannot be made: %s", strerror(errno));
	return tape->options.flight ? 0 : open_writer(tape, path, tape->options.max_bytes, &tape->writer);
}

/* Takes back what open_folder has done. */
static void discard(const struct tape *tape, bool has_metadata)
{
	char path[PATH_MAX];

	if ((has_metadata || tape->made_folder) &&
	    snprintf(path, sizeof path, "%s/metadata", tape->options.path) < (int)sizeof path)
		unlink(path);
	if (tape->made_folder)
		rmdir(tape->options.path);
}

static int open_layout(struct tape *tape)
{
	struct ctf_layout_options options = {
		.catalog = tape->options.lttng,
		.events = tape->events,
		.event_count = tape->options.what->count,
	};
	struct lttng_map *map = NULL;
	int result = lttng_map_read(tape->diag, &map);

	options.map = map;
	if (!result)
		result = ctf_layout_new(&options, tape->diag, &tape->layout);
	lttng_map_free(map);
	return result;
}

int tape_new(const struct tape_options *options, struct asterism_diag *diag, struct tape **made)
{
	struct tape *tape = alloc_zero(1, sizeof *tape);
	int result;

	if (!tape)
		return diag_no_memory(diag);
	memcpy((void *)&tape->options, options, sizeof *options);
	tape->diag = diag;
	tape->missed_cpu = NO_CPU;
	tape->start_ns = clock_now_ns();
	result = open_recorder(tape);
	if (!result)
		result = open_buffers(tape);
	if (!result && options->lttng)
		result = open_layout(tape);
	if (!result)
		result = open_folder(tape);
	if (result)
		tape_free(tape);
	else
		*made = tape;
	return result;
}

static void forget_marks(struct tape *tape)
{
	for (size_t i = 0; i < MARKS_MAX; i++) {
		alloc_free(tape->marks[i].rule);
		alloc_free(tape->marks[i].values);
		tape->marks[i] = (struct kept_mark){ 0 };
	}
	tape->mark_count = 0;
}

void tape_free(struct tape *tape)
{
	bool has_metadata = tape && tape->writer;

	if (!tape)
		return;
	ctf_writer_close(tape->writer);
	if (!tape->finished)
		discard(tape, has_metadata);
	ebpf_recorder_free(tape->recorder);
	ctf_layout_free(tape->layout);
	tape_state_fini(&tape->state);
	forget_marks(tape);
	alloc_free(tape->events);
	alloc_free(tape->cursors);
	alloc_free(tape->buffer);
	alloc_free(tape);
}

struct ebpf_recorder *tape_recorder(struct tape *tape)
{
	return tape->recorder;
}

int tape_attach(struct tape *tape)
{
	uint64_t start_ns = clock_now_ns();
	int result = ebpf_recorder_attach(tape->recorder, tape->diag);

	if (result || !tape->layout || !tape->writer)
		return result;
	result = tape_state_begin(&tape->state, start_ns, tape->options.scope == EBPF_SCOPE_ALL);
	return result ? diag_no_memory(tape->diag) : 0;
}

int tape_add(struct tape *tape, pid_t pid)
{
	int result = ebpf_recorder_add(tape->recorder, pid);

	return result ? result : tape_state_add(&tape->state, pid);
}

/* What the kernel kept from us belongs to no processor that we know of, so it goes with the first that tells anything.
 */
static uint64_t missed_of(struct tape *tape, uint32_t cpu)
{
	if (tape->options.flight)
		return 0;
	if (tape->missed_cpu == NO_CPU)
		tape->missed_cpu = cpu;
	return tape->missed_cpu == cpu ? ebpf_recorder_missed(tape->recorder) : 0;
}

/*
 * Readers see what is missing by comparing a packet with the one before. Where the first ones are lost already, a
 * packet without events stands for the beginning of the stream.
 */
static int write_beginning(struct tape *tape, struct ctf_writer *writer, uint32_t cpu, const struct ring_part *first)
{
	const struct ring_packet packet = {
		.timestamp_begin = tape->start_ns,
		.packet_seq_num = first->sequence - 1,
	};

	return ctf_writer_packet(writer, cpu, &packet, sizeof packet, 0);
}

/* Writes what comes out of one ring. A packet that could not be written stays before the cursor. */
static int write_ring(struct tape *tape, struct copying *how, uint32_t cpu, struct ring_cursor *cursor)
{
	const struct ring *ring = ebpf_recorder_ring(tape->recorder, cpu);
	const struct ring_packet *packet = tape->buffer;
	struct ring_cursor ahead = *cursor;
	struct ring_part part;
	int got;

	while ((got = how->next(ring, &ahead, tape->buffer, &part)) > 0) {
		int result = 0;

		if (packet->timestamp_begin > how->until_ns) {
			how->left = true;
			return 0;
		}
		if (!tape->options.flight && cursor->events == 0 && part.events_before > 0)
			result = write_beginning(tape, how->writer, cpu, &part);
		if (!result)
			result = ctf_writer_packet(how->writer, cpu, tape->buffer, part.bytes,
						   ahead.lost + ring_dropped(ring) + missed_of(tape, cpu));
		if (result)
			return result;
		*cursor = ahead;
	}
	if (got < 0)
		return diag_error(tape->diag, NULL, got, "the ring of CPU %u is damaged", cpu);
	*cursor = ahead;
	return 0;
}

static int write_rings(struct tape *tape, struct copying *how)
{
	int result = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder) && !result; cpu++)
		result = write_ring(tape, how, cpu, &tape->cursors[cpu]);
	tape->failed = result != 0;
	return result;
}

int tape_poll(struct tape *tape, uint64_t *wait_ns)
{
	struct copying how = { .writer = tape->writer, .next = ring_next, .until_ns = clock_now_ns() };
	uint64_t missed = 0;
	int result = ebpf_recorder_poll(tape->recorder, &missed, wait_ns);

	if (result)
		return diag_error(tape->diag, NULL, result, "the recording cannot be followed: %s", strerror(-result));
	if (tape->options.flight)
		return 0;
	result = tape_state_write(&tape->state, tape->writer);
	tape->failed |= result != 0;
	if (!result)
		result = write_rings(tape, &how);
	if (*wait_ns > TAPE_WAIT_NS)
		*wait_ns = TAPE_WAIT_NS;
	if (how.left)
		*wait_ns = 0;
	return result;
}

static int write_mark(struct ctf_writer *writer, const struct tape_mark *mark)
{
	const struct ctf_match match = {
		.ts = mark->ts,
		.cpu = mark->cpu,
		.pid = mark->pid,
		.tid = mark->tid,
		.comm = mark->comm,
		.rule = mark->rule,
		.values = mark->values,
		.tainted = mark->tainted,
	};

	return ctf_writer_match(writer, &match);
}

static int keep_mark(struct tape *tape, const struct tape_mark *mark)
{
	struct kept_mark *kept = &tape->marks[tape->mark_count % MARKS_MAX];
	char *rule = alloc_text(mark->rule), *values = alloc_text(mark->values);

	if (!rule || !values) {
		alloc_free(rule);
		alloc_free(values);
		return diag_no_memory(tape->diag);
	}
	alloc_free(kept->rule);
	alloc_free(kept->values);
	*kept = (struct kept_mark){ .mark = *mark, .rule = rule, .values = values };
	snprintf(kept->comm, sizeof kept->comm, "%s", mark->comm);
	kept->mark.rule = rule;
	kept->mark.values = values;
	kept->mark.comm = kept->comm;
	tape->mark_count++;
	return 0;
}

int tape_mark(struct tape *tape, const struct tape_mark *mark)
{
	if (tape->options.flight)
		return keep_mark(tape, mark);
	int result = tape_state_write(&tape->state, tape->writer);

	if (!result)
		result = write_mark(tape->writer, mark);
	tape->failed |= result != 0;
	return result;
}

/* Where a snapshot of one ring begins: with the last sub-buffer that holds events of before since_ns. */
static void rewind_to(struct tape *tape, const struct ring *ring, uint64_t since_ns, struct ring_cursor *cursor)
{
	const struct ring_packet *packet = tape->buffer;
	struct ring_cursor probe;
	struct ring_part part;

	ring_cursor_rewind(ring, cursor);
	if (!tape->options.last_ns)
		return;
	probe = *cursor;
	while (ring_finish(ring, &probe, tape->buffer, &part) > 0 && packet->timestamp_begin <= since_ns)
		cursor->next = part.sequence;
}

static int write_marks(struct tape *tape, struct ctf_writer *writer, uint64_t since_ns)
{
	uint64_t oldest = tape->mark_count > MARKS_MAX ? tape->mark_count - MARKS_MAX : 0;
	int result = 0;

	for (uint64_t i = oldest; i < tape->mark_count && !result; i++) {
		const struct tape_mark *mark = &tape->marks[i % MARKS_MAX].mark;

		if (mark->ts >= since_ns)
			result = write_mark(writer, mark);
	}
	return result;
}

static int write_snapshot(struct tape *tape, struct ctf_writer *writer)
{
	uint64_t now = clock_now_ns(), last_ns = tape->options.last_ns;
	uint64_t since_ns = last_ns && now > last_ns ? now - last_ns : 0;
	struct copying how = { .writer = writer, .next = ring_finish, .until_ns = now };
	int result = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder) && !result; cpu++) {
		struct ring_cursor cursor;

		rewind_to(tape, ebpf_recorder_ring(tape->recorder, cpu), since_ns, &cursor);
		result = write_ring(tape, &how, cpu, &cursor);
	}
	return result ? result : write_marks(tape, writer, since_ns);
}

/* Ends a trace and adds what it holds to the totals. */
static int close_writer(struct tape *tape, struct ctf_writer *writer)
{
	struct ctf_writer_totals totals;

	ctf_writer_totals(writer, &totals);
	if (!tape->options.flight)
		tape->totals.events += totals.events;
	tape->totals.bytes += totals.bytes;
	tape->totals.deleted_bytes += totals.deleted_bytes;
	return ctf_writer_close(writer);
}

/* A new directory for a snapshot; those of earlier recordings stay. */
static int make_snapshot_folder(struct tape *tape, const char *name, char path[PATH_MAX])
{
	unsigned long long number = tape->totals.snapshots;

	do {
		if (snprintf(path, PATH_MAX, "%s/%s-%llu", tape->options.path, name, ++number) >= PATH_MAX)
			errno = ENAMETOOLONG;
		else if (mkdir(path, 0777) == 0)
			return 0;
	} while (errno == EEXIST);
	return diag_error(tape->diag, NULL, -errno, "%s cannot be made: %s", path, strerror(errno));
}

int tape_snapshot(struct tape *tape, const char *name)
{
	struct ctf_writer *writer = NULL;
	char path[PATH_MAX];
	int result = make_snapshot_folder(tape, name, path), closed;

	if (!result)
		result = open_writer(tape, path, 0, &writer);
	if (result)
		return result;
	tape->totals.snapshots++;
	result = write_snapshot(tape, writer);
	closed = close_writer(tape, writer);
	forget_marks(tape);
	return result ? result : closed;
}

/* Events that were overwritten before they could be read, all rings together. */
static uint64_t overwritten(const struct tape *tape)
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder); cpu++)
		lost += tape->cursors[cpu].lost;
	return lost;
}

/* Counts what the rings saw and the trace does not have; nothing comes into them any more. */
static void count_losses(struct tape *tape)
{
	uint64_t written = ebpf_recorder_written(tape->recorder), accounted;

	tape->totals.overwritten = overwritten(tape);
	accounted = tape->totals.events + tape->totals.overwritten;
	tape->totals.unwritten = written > accounted ? written - accounted : 0;
}

int tape_finish(struct tape *tape)
{
	struct copying how = { .writer = tape->writer, .next = ring_finish, .until_ns = UINT64_MAX };
	int result = 0, closed;

	if (tape->finished)
		return 0;
	tape->finished = true;
	ebpf_recorder_detach(tape->recorder);
	if (tape->options.flight)
		return 0;
	if (!tape->failed)
		result = write_rings(tape, &how);
	closed = close_writer(tape, tape->writer);
	tape->writer = NULL;
	count_losses(tape);
	return result ? result : closed;
}

void tape_count(const struct tape *tape, struct tape_totals *totals)
{
	*totals = tape->totals;
	totals->dropped = ebpf_recorder_dropped(tape->recorder);
	totals->missed = ebpf_recorder_missed(tape->recorder);
	if (tape->options.flight)
		totals->events = ebpf_recorder_written(tape->recorder);
	if (!tape->writer)
		return;
	struct ctf_writer_totals written;

	ctf_writer_totals(tape->writer, &written);
	totals->events = written.events;
	totals->bytes = written.bytes;
	totals->deleted_bytes = written.deleted_bytes;
	totals->overwritten = overwritten(tape);
}
