// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a tape consists of: programs and rings, which are its owner's, and the thread that empties the rings
 * into traces.
 */

#include "session/record/tape.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/create.h"
#include "ebpf/recorder/record.h"
#include "session/record/tape-writer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The largest ring per processor. */
#define RING_BYTES_MAX ((uint64_t)RING_UNITS_MAX * RING_UNIT_BYTES)

struct tape {
	const struct tape_options options;
	struct asterism_diag *diag;
	struct ebpf_recorder *recorder;
	struct ctf_writer_event *events;
	struct ctf_layout *layout; /* NULL: the catalog's names */
	struct asterism_diag *writer_diag;
	struct tape_writer *writer; /* the thread's, with its diag */
	struct tape_thread *thread;
	struct tape_marks *marks;  /* of a flight tape, for the next snapshot */
	uint64_t unmarked, unmade; /* marks, snapshots: for want of memory or of time */
	bool made_folder, finished;
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

/* The directory of the trace or the snapshots. What is there already is the writer's to judge. */
static int open_folder(struct tape *tape)
{
	const char *path = tape->options.path;
	struct diag_source source = { .file = path };

	const char *why;
	int folder = create_folder(path, tape->options.mode, &tape->made_folder, &why);

	if (folder < 0)
		return diag_error(tape->diag, &(struct diag_place){ .source = &source }, folder,
				  "the directory cannot be made: %s", why);
	close(folder);
	return 0;
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

static int open_writer(struct tape *tape)
{
	uint32_t cpu_count = ebpf_recorder_cpu_count(tape->recorder);
	struct ring *rings = alloc_zero(cpu_count, sizeof *rings);
	const struct tape_writer_options options = {
		.path = tape->options.path,
		.mode = tape->options.mode,
		.flight = tape->options.flight,
		.max_bytes = tape->options.max_bytes,
		.last_ns = tape->options.last_ns,
		.start_ns = clock_now_ns(),
		.rings = rings,
		.ring_count = cpu_count,
		.events = tape->events,
		.event_count = tape->options.what->count,
		.layout = tape->layout,
	};
	int result;

	tape->writer_diag = asterism_diag_new();
	tape->marks = tape->options.flight ? tape_marks_new() : NULL;
	if (!rings || !tape->writer_diag || (tape->options.flight && !tape->marks)) {
		alloc_free(rings);
		return diag_no_memory(tape->diag);
	}
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
		rings[cpu] = *ebpf_recorder_ring(tape->recorder, cpu);
	result = tape_writer_new(&options, tape->writer_diag, &tape->writer);
	alloc_free(rings);
	if (result)
		diag_take(tape->diag, tape->writer_diag);
	return result;
}

static int open_thread(struct tape *tape)
{
	const struct tape_work work = tape_writer_work(tape->writer);
	int result = tape_thread_new(&work, &tape->thread);

	if (result == -ENOMEM)
		return diag_no_memory(tape->diag);
	if (result)
		return diag_error(tape->diag, NULL, result, "there is no thread to be had for writing: %s",
				  strerror(-result));
	return 0;
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
	if (!result && options->lttng)
		result = open_layout(tape);
	if (!result)
		result = open_folder(tape);
	if (!result)
		result = open_writer(tape);
	if (!result)
		result = open_thread(tape);
	if (result)
		tape_free(tape);
	else
		*made = tape;
	return result;
}

void tape_free(struct tape *tape)
{
	bool has_metadata = tape && tape->writer && !tape->options.flight;

	if (!tape)
		return;
	tape_thread_free(tape->thread);
	tape_writer_free(tape->writer);
	if (!tape->finished)
		discard(tape, has_metadata);
	ebpf_recorder_free(tape->recorder);
	ctf_layout_free(tape->layout);
	tape_marks_free(tape->marks);
	asterism_diag_free(tape->writer_diag);
	alloc_free(tape->events);
	alloc_free(tape);
}

struct ebpf_recorder *tape_recorder(struct tape *tape)
{
	return tape->recorder;
}

int tape_attach(struct tape *tape)
{
	struct tape_state *state = tape_writer_state(tape->writer);
	uint64_t start_ns = clock_now_ns();
	int result = ebpf_recorder_attach(tape->recorder, tape->diag);

	if (result || !tape->layout || tape->options.flight)
		return result;
	result = tape_state_begin(state, start_ns, tape->options.scope == EBPF_SCOPE_ALL);
	return result ? diag_no_memory(tape->diag) : 0;
}

int tape_add(struct tape *tape, pid_t pid)
{
	int result = ebpf_recorder_add(tape->recorder, pid);

	return result ? result : tape_state_add(tape_writer_state(tape->writer), pid);
}

bool tape_has(const struct tape *tape, pid_t pid)
{
	return ebpf_recorder_has(tape->recorder, pid);
}

int tape_fd(const struct tape *tape)
{
	return tape_thread_fd(tape->thread);
}

int tape_poll(struct tape *tape, uint64_t *wait_ns)
{
	uint64_t missed = 0;
	int result = ebpf_recorder_poll(tape->recorder, &missed, wait_ns);

	if (result)
		return diag_error(tape->diag, NULL, result, "the recording cannot be followed: %s", strerror(-result));
	tape_thread_tell(tape->thread, ebpf_recorder_missed(tape->recorder));
	tape_thread_news(tape->thread, tape->diag);
	return 0;
}

void tape_mark(struct tape *tape, const struct tape_mark *mark)
{
	bool noted = tape->options.flight ? !tape_marks_keep(tape->marks, mark) : tape_thread_mark(tape->thread, mark);

	tape->unmarked += !noted;
}

int tape_snapshot(struct tape *tape, const char *name, bool patient)
{
	struct tape_snapshot_order order = { .at_ns = clock_now_ns(), .marks = tape->marks };
	struct tape_marks *next = tape_marks_new();

	if (!next) {
		tape->unmade++;
		return diag_no_memory(tape->diag);
	}
	snprintf(order.name, sizeof order.name, "%s", name);
	if (!tape_thread_snapshot(tape->thread, &order, patient)) {
		tape_marks_free(next);
		return -EBUSY;
	}
	tape->marks = next;
	return 0;
}

void tape_flush(struct tape *tape)
{
	if (!tape->options.flight)
		tape_thread_flush(tape->thread);
}

void tape_finish(struct tape *tape)
{
	if (tape->finished)
		return;
	tape->finished = true;
	ebpf_recorder_detach(tape->recorder);
	tape_thread_finish(tape->thread, ebpf_recorder_missed(tape->recorder));
	tape_thread_news(tape->thread, tape->diag);
}

void tape_count(const struct tape *tape, struct tape_totals *totals)
{
	tape_thread_count(tape->thread, totals);
	totals->unread = ebpf_recorder_unread(tape->recorder);
	totals->dropped = ebpf_recorder_dropped(tape->recorder) - totals->unread;
	totals->missed = ebpf_recorder_missed(tape->recorder);
	totals->calls_32bit = ebpf_recorder_calls_32bit(tape->recorder);
	totals->unmarked += tape->unmarked;
	totals->snapshots_cut += tape->unmade;
	if (tape->options.flight)
		totals->events = ebpf_recorder_written(tape->recorder);
}
