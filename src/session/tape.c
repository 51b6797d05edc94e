// SPDX-License-Identifier: BSD-2-Clause
/* Decides how events get from the rings into traces, and when. */

#include "session/tape.h"

#include "base/alloc.h"
#include "ebpf/record.h"
#include "session/tape-state.h"
#include "trace/ctf-write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MARKS_MAX = 256, SNAPSHOT_PAUSE_NS = 1000 * 1000 * 1000 };

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
	struct kept_mark marks[MARKS_MAX];
	size_t mark_count;
	uint64_t last_snapshot_ns;
	struct tape_totals totals; /* of what is closed */
	bool finished;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The number of sub-buffers that makes a ring of about bytes. */
static uint32_t sub_count_of(uint64_t bytes)
{
	uint32_t count = 2;

	if (bytes == 0)
		return EBPF_RECORD_SUB_COUNT;
	while ((uint64_t)count * EBPF_RECORD_SUB_BYTES < bytes && count < UINT32_MAX / 2)
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
	struct ebpf_record_type *types = alloc_zero(what->count, sizeof *types);
	struct ebpf_recorder_options options = {
		.types = types,
		.count = what->count,
		.is_guest = tape->options.is_guest,
		.scope = tape->options.scope,
		.sub_count = sub_count_of(tape->options.ring_bytes),
	};
	int result;

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

/* The directory that snapshots go to. */
static int make_folder(struct tape *tape)
{
	if (mkdir(tape->options.path, 0777) == 0 || errno == EEXIST)
		return 0;
	return diag_error(tape->diag, NULL, -errno, "%s cannot be made: %s", tape->options.path, strerror(errno));
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
	result = open_recorder(tape);
	if (!result)
		result = open_buffers(tape);
	if (!result && options->lttng)
		result = open_layout(tape);
	if (!result)
		result = options->flight ? make_folder(tape)
					 : open_writer(tape, options->path, options->max_bytes, &tape->writer);
	if (result)
		tape_free(tape);
	else
		*made = tape;
	return result;
}

static void forget_marks(struct tape *tape)
{
	for (size_t i = 0; i < tape->mark_count; i++) {
		alloc_free(tape->marks[i].rule);
		alloc_free(tape->marks[i].values);
	}
	tape->mark_count = 0;
}

void tape_free(struct tape *tape)
{
	if (!tape)
		return;
	ctf_writer_close(tape->writer);
	ebpf_recorder_free(tape->recorder);
	ctf_layout_free(tape->layout);
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
	uint64_t start_ns = now_ns();
	int result = ebpf_recorder_attach(tape->recorder, tape->diag);

	if (result || !tape->layout || !tape->writer)
		return result;
	return tape_state_begin(&tape->state, tape->writer, start_ns, tape->options.scope == EBPF_SCOPE_ALL);
}

int tape_add(struct tape *tape, pid_t pid)
{
	int result = ebpf_recorder_add(tape->recorder, pid);

	return result ? result : tape_state_add(&tape->state, pid);
}

typedef int next_fn(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

/* Writes what next hands out of one ring. */
static int write_ring(struct tape *tape, struct ctf_writer *writer, uint32_t cpu, struct ring_cursor *cursor,
		      next_fn *next)
{
	const struct ring *ring = ebpf_recorder_ring(tape->recorder, cpu);
	/* What the kernel kept from us belongs to no processor that we know of. */
	uint64_t missed = cpu == 0 && !tape->options.flight ? ebpf_recorder_missed(tape->recorder) : 0;
	struct ring_part part;
	int got;

	while ((got = next(ring, cursor, tape->buffer, &part)) > 0) {
		int result = ctf_writer_packet(writer, cpu, tape->buffer, part.bytes,
					       cursor->lost + ring_dropped(ring) + missed);

		if (result)
			return result;
	}
	if (got < 0)
		return diag_error(tape->diag, NULL, got, "the ring of CPU %u is damaged", cpu);
	return 0;
}

static int write_rings(struct tape *tape, next_fn *next)
{
	int result = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder) && !result; cpu++)
		result = write_ring(tape, tape->writer, cpu, &tape->cursors[cpu], next);
	return result;
}

int tape_poll(struct tape *tape, uint64_t *wait_ns)
{
	uint64_t missed = 0;
	int result = ebpf_recorder_poll(tape->recorder, &missed, wait_ns);

	if (result)
		return diag_error(tape->diag, NULL, result, "the recording cannot be followed: %s", strerror(-result));
	if (tape->options.flight)
		return 0;
	if (*wait_ns > TAPE_WAIT_NS)
		*wait_ns = TAPE_WAIT_NS;
	result = tape_state_end(&tape->state);
	return result ? result : write_rings(tape, ring_next);
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

int tape_mark(struct tape *tape, const struct tape_mark *mark)
{
	struct kept_mark *kept;

	if (!tape->options.flight)
		return write_mark(tape->writer, mark);
	if (tape->mark_count == MARKS_MAX)
		return 0;
	kept = &tape->marks[tape->mark_count];
	*kept = (struct kept_mark){ .mark = *mark };
	kept->rule = alloc_text(mark->rule);
	kept->values = alloc_text(mark->values);
	tape->mark_count++;
	if (!kept->rule || !kept->values)
		return diag_no_memory(tape->diag);
	snprintf(kept->comm, sizeof kept->comm, "%s", mark->comm);
	kept->mark.rule = kept->rule;
	kept->mark.values = kept->values;
	kept->mark.comm = kept->comm;
	return 0;
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

static int write_snapshot(struct tape *tape, struct ctf_writer *writer)
{
	uint64_t now = now_ns(), since_ns = now > tape->options.last_ns ? now - tape->options.last_ns : 0;
	int result = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder) && !result; cpu++) {
		struct ring_cursor cursor;

		rewind_to(tape, ebpf_recorder_ring(tape->recorder, cpu), since_ns, &cursor);
		result = write_ring(tape, writer, cpu, &cursor, ring_finish);
	}
	for (size_t i = 0; i < tape->mark_count && !result; i++)
		result = write_mark(writer, &tape->marks[i].mark);
	return result;
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

int tape_snapshot(struct tape *tape, const char *name)
{
	uint64_t now = now_ns();
	struct ctf_writer *writer = NULL;
	char path[4096];
	int result, closed;

	if (tape->totals.snapshots == TAPE_SNAPSHOTS_MAX ||
	    (tape->last_snapshot_ns && now - tape->last_snapshot_ns < SNAPSHOT_PAUSE_NS)) {
		tape->totals.snapshots_refused++;
		return 0;
	}
	tape->last_snapshot_ns = now;
	snprintf(path, sizeof path, "%s/%s-%llu", tape->options.path, name,
		 (unsigned long long)++tape->totals.snapshots);
	result = open_writer(tape, path, 0, &writer);
	if (result)
		return result;
	result = write_snapshot(tape, writer);
	closed = close_writer(tape, writer);
	forget_marks(tape);
	return result ? result : closed;
}

int tape_finish(struct tape *tape)
{
	uint64_t missed, wait_ns;
	int result = 0;

	if (tape->finished)
		return 0;
	tape->finished = true;
	ebpf_recorder_poll(tape->recorder, &missed, &wait_ns);
	ebpf_recorder_detach(tape->recorder);
	if (tape->options.flight)
		return 0;
	result = write_rings(tape, ring_finish);
	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder); cpu++)
		tape->totals.overwritten += tape->cursors[cpu].lost;
	int closed = close_writer(tape, tape->writer);

	tape->writer = NULL;
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
	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(tape->recorder); cpu++)
		totals->overwritten += tape->cursors[cpu].lost;
}
