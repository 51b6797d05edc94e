// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembles a recording: programs and rings, which are its owner's, and the thread that empties the rings into traces.
 */

#include "session/record/recording-priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/create.h"
#include "base/usual-ring.h"
#include "ebpf/kernel/cpus.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The largest ring per CPU. */
#define RING_BYTES_MAX ((uint64_t)RING_UNITS_MAX * RING_UNIT_BYTES)

/* The number of sub-buffers that makes a ring of at least bytes. */
static uint32_t sub_count_of(uint64_t bytes)
{
	uint32_t count = 2;

	while ((uint64_t)count * EBPF_RECORD_SUB_BYTES < bytes)
		count *= 2;
	return count;
}

/* What the rings have: what was asked for, or what this machine can do without. */
static int choose_ring(struct recording *recording)
{
	uint64_t bytes = recording->options.ring_bytes;
	int processors = ebpf_possible_cpus(recording->diag);

	if (processors < 0)
		return processors;
	if (!bytes)
		bytes = usual_ring_bytes(usual_ring_available_bytes(), (uint64_t)processors);
	if (bytes > RING_BYTES_MAX)
		return diag_error(recording->diag, NULL, -EINVAL, "a ring may have at most %" PRIu64 " GiB per CPU",
				  RING_BYTES_MAX >> 30);
	recording->sub_count = sub_count_of(bytes);
	return 0;
}

static int open_recorder(struct recording *recording)
{
	const struct selection *what = recording->options.what;
	struct ebpf_record_type *types;
	int result;

	if (!what->count)
		return 0;
	result = choose_ring(recording);
	if (result)
		return result;
	types = alloc_zero(what->count, sizeof *types);
	recording->events = alloc_zero(what->count, sizeof *recording->events);
	recording->event_count = recording->event_capacity = what->count;
	if (!types || !recording->events) {
		alloc_free(types);
		return diag_no_memory(recording->diag);
	}
	for (size_t i = 0; i < what->count; i++) {
		const struct selected_event *event = &what->events[i];

		types[i] = (struct ebpf_record_type){ event->type, event->recorded,
						      (uint16_t)(EVENT_PACKED_ID_FIRST + i) };
		recording->events[i] = (struct ctf_writer_event){ event->type, event->recorded };
	}
	const struct ebpf_recorder_options options = {
		.types = types,
		.count = what->count,
		.is_guest = recording->options.is_guest,
		.is_gated = recording->options.is_masked,
		.scope = recording->options.scope,
		.filter = recording->options.filter,
		.sub_count = recording->sub_count,
	};

	result = ebpf_recorder_new(&options, recording->diag, &recording->recorder);
	alloc_free(types);
	return result;
}

/* The directory of the trace or the snapshots. What is there already is the writer's to judge. */
static int open_recording_folder(struct recording *recording)
{
	const char *path = recording->options.path;
	struct diag_source source = { .file = path };

	const char *why;
	int folder = create_folder(path, recording->options.mode, &recording->made_folder, &why);

	if (folder < 0)
		return diag_error(recording->diag, &(struct diag_location){ .source = &source }, folder,
				  "cannot create the directory: %s", why);
	close(folder);
	return 0;
}

/* Takes back what open_recording_folder has done. */
static void discard(const struct recording *recording, bool has_metadata)
{
	char path[PATH_MAX];

	if ((has_metadata || recording->made_folder) &&
	    snprintf(path, sizeof path, "%s/metadata", recording->options.path) < (int)sizeof path)
		unlink(path);
	if (recording->made_folder)
		rmdir(recording->options.path);
}

static int open_layout(struct recording *recording)
{
	struct ctf_layout_options options = {
		.catalog = recording->options.lttng,
		.events = recording->events,
		.event_count = recording->options.what->count,
	};
	struct lttng_map *map = NULL;
	int result = lttng_map_read(recording->diag, &map);

	options.map = map;
	if (!result)
		result = ctf_layout_new(&options, recording->diag, &recording->layout);
	lttng_map_free(map);
	return result;
}

/* Of one that has ended /proc says no more; the kernel's scope does. */
static bool was_child(const struct recording *recording, pid_t parent)
{
	return recording->kin && recording->options.scope == EBPF_SCOPE_TREE && recording_has(recording, parent);
}

/* Whether the process is in scope, for the recording's thread. */
static bool recording_in_scope(void *context, pid_t pid, pid_t parent)
{
	struct recording *recording = context;
	const struct recording_options *options = &recording->options;
	bool is_in = false;

	pthread_mutex_lock(&recording->scope_lock);
	if (recording->scope_is_open)
		is_in = options->in_scope ? options->in_scope(options->context, pid, parent)
					  : recording_has(recording, pid) || was_child(recording, parent);
	pthread_mutex_unlock(&recording->scope_lock);
	return is_in;
}

static int open_sensors(struct recording *recording)
{
	const struct recording_sensors_options options = {
		.what = recording->options.what,
		.in_scope = recording_in_scope,
		.context = recording,
		.start_ns = clock_now_ns(),
		.clock = &recording->clock,
		.is_quiet = recording->options.is_guest,
	};
	int result;

	if (!recording->options.what->sensor_count)
		return 0;
	if (recording->options.lttng)
		return diag_error(
			recording->diag, NULL, -EINVAL,
			"application sensors cannot be recorded with --layout lttng, which has no names for them");
	result = recording_sensors_new(&options, recording->writer_diag, &recording->sensors);
	diag_take(recording->diag, recording->writer_diag);
	return result;
}

static int open_recording_writer(struct recording *recording)
{
	uint32_t cpu_count = recording->recorder ? ebpf_recorder_cpu_count(recording->recorder) : 0;
	struct ring *rings = alloc_zero(cpu_count, sizeof *rings);
	const struct recording_writer_options options = {
		.path = recording->options.path,
		.mode = recording->options.mode,
		.flight = recording->options.flight,
		.max_bytes = recording->options.max_bytes,
		.last_ns = recording->options.last_ns,
		.start_ns = clock_now_ns(),
		.rings = rings,
		.ring_count = cpu_count,
		.events = recording->events,
		.event_count = recording->options.what->count,
		.layout = recording->layout,
		.sensors = recording->sensors,
	};
	int result;

	recording->marks = recording->options.flight ? recording_marks_new() : NULL;
	if (!rings || (recording->options.flight && !recording->marks)) {
		alloc_free(rings);
		return diag_no_memory(recording->diag);
	}
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
		rings[cpu] = *ebpf_recorder_ring(recording->recorder, cpu);
	result = recording_writer_new(&options, recording->writer_diag, &recording->writer);
	alloc_free(rings);
	if (result)
		diag_take(recording->diag, recording->writer_diag);
	return result;
}

static int open_thread(struct recording *recording)
{
	const struct recording_work work = recording_writer_work(recording->writer);
	int result = recording_thread_new(&work, &recording->thread);

	if (result == -ENOMEM)
		return diag_no_memory(recording->diag);
	if (result)
		return diag_error(recording->diag, NULL, result, "cannot create a thread for writing: %s",
				  strerror(-result));
	return 0;
}

int recording_new(const struct recording_options *options, struct asterism_diag *diag, struct recording **made)
{
	struct recording *recording = alloc_zero(1, sizeof *recording);
	int result;

	if (!recording)
		return diag_no_memory(diag);
	memcpy((void *)&recording->options, options, sizeof *options);
	recording->diag = diag;
	pthread_mutex_init(&recording->scope_lock, NULL);
	recording->writer_diag = asterism_diag_new();
	recording->kin = options->what->count ? NULL : kin_new();
	if (!recording->writer_diag || (!options->what->count && !recording->kin)) {
		recording_free(recording);
		return diag_no_memory(diag);
	}
	result = open_recorder(recording);
	if (!result)
		result = open_sensors(recording);
	if (!result && options->lttng)
		result = open_layout(recording);
	if (!result)
		result = open_recording_folder(recording);
	if (!result)
		result = open_recording_writer(recording);
	if (!result)
		result = open_thread(recording);
	if (result)
		recording_free(recording);
	else
		*made = recording;
	return result;
}

void recording_free(struct recording *recording)
{
	bool has_metadata = recording && recording->writer && !recording->options.flight;

	if (!recording)
		return;
	recording_thread_free(recording->thread);
	recording_writer_free(recording->writer);
	recording_sensors_free(recording->sensors);
	if (!recording->finished)
		discard(recording, has_metadata);
	ebpf_recorder_free(recording->recorder);
	ctf_layout_free(recording->layout);
	recording_marks_free(recording->marks);
	asterism_diag_free(recording->writer_diag);
	kin_free(recording->kin);
	pthread_mutex_destroy(&recording->scope_lock);
	recording_mask_fini(recording);
	alloc_free(recording->events);
	alloc_free(recording);
}

struct ebpf_recorder *recording_recorder(struct recording *recording)
{
	return recording->recorder;
}

struct stream_clock *recording_clock(struct recording *recording)
{
	return recording->sensors ? &recording->clock : NULL;
}

int recording_attach(struct recording *recording)
{
	struct recording_state *state = recording_writer_state(recording->writer);
	uint64_t start_ns = clock_now_ns();
	int result = recording->recorder ? ebpf_recorder_attach(recording->recorder, recording->diag) : 0;

	recording->scope_is_open = true; /* there is no other thread yet that asks */

	if (result || !recording->layout || recording->options.flight)
		return result;
	result = recording_state_begin(state, start_ns, recording->options.scope == EBPF_SCOPE_ALL);
	return result ? diag_no_memory(recording->diag) : 0;
}

int recording_add(struct recording *recording, pid_t pid)
{
	int result = recording->kin ? kin_add(recording->kin, pid) : ebpf_recorder_add(recording->recorder, pid);

	return result ? result : recording_state_add(recording_writer_state(recording->writer), pid);
}

bool recording_has(const struct recording *recording, pid_t pid)
{
	enum ebpf_scope scope = recording->options.scope;

	if (!recording->kin)
		return ebpf_recorder_has(recording->recorder, pid);
	return scope == EBPF_SCOPE_ALL ? pid != getpid() : kin_has(recording->kin, pid, scope == EBPF_SCOPE_TREE);
}

int recording_fd(const struct recording *recording)
{
	return recording_thread_fd(recording->thread);
}

/* What the kernel has kept from us. */
static uint64_t recording_missed_of(const struct recording *recording)
{
	return recording->recorder ? ebpf_recorder_missed(recording->recorder) : 0;
}

int recording_poll(struct recording *recording, uint64_t *wait_ns)
{
	uint64_t missed = 0;
	int result = recording->recorder ? ebpf_recorder_poll(recording->recorder, &missed, wait_ns) : 0;

	if (result)
		return diag_error(recording->diag, NULL, result, "cannot follow the recording: %s", strerror(-result));
	recording_thread_report(recording->thread, recording_missed_of(recording));
	recording_thread_news(recording->thread, recording->diag);
	return 0;
}

void recording_mark(struct recording *recording, const struct recording_mark *mark)
{
	bool noted = recording->options.flight ? !recording_marks_keep(recording->marks, mark)
					       : recording_thread_mark(recording->thread, mark);

	recording->unmarked += !noted;
}

int recording_snapshot(struct recording *recording, const char *name, bool patient)
{
	struct recording_snapshot_order order = { .at_ns = clock_now_ns(), .marks = recording->marks };
	struct recording_marks *next = recording_marks_new();

	if (!next) {
		recording->unmade++;
		return diag_no_memory(recording->diag);
	}
	snprintf(order.name, sizeof order.name, "%s", name);
	if (!recording_thread_snapshot(recording->thread, &order, patient)) {
		recording_marks_free(next);
		return -EBUSY;
	}
	recording->marks = next;
	return 0;
}

void recording_flush(struct recording *recording)
{
	if (!recording->options.flight)
		recording_thread_flush(recording->thread);
}

void recording_close_scope(struct recording *recording)
{
	pthread_mutex_lock(&recording->scope_lock);
	recording->scope_is_open = false;
	pthread_mutex_unlock(&recording->scope_lock);
}

int recording_await(struct recording *recording, uint64_t until_ns)
{
	return recording_thread_await(recording->thread, until_ns);
}

void recording_finish(struct recording *recording)
{
	if (recording->finished)
		return;
	recording->finished = true;
	if (recording->recorder)
		ebpf_recorder_detach(recording->recorder);
	recording_thread_finish(recording->thread, recording_missed_of(recording));
	recording_thread_news(recording->thread, recording->diag);
}

void recording_count(const struct recording *recording, struct recording_totals *totals)
{
	const struct ebpf_recorder *recorder = recording->recorder;

	recording_thread_count(recording->thread, totals);
	if (recorder) {
		totals->unread = ebpf_recorder_unread(recorder);
		totals->dropped = ebpf_recorder_dropped(recorder) - totals->unread;
		totals->missed = ebpf_recorder_missed(recorder);
		totals->io_uring = ebpf_recorder_io_uring(recorder);
		totals->calls_32bit = ebpf_recorder_calls_32bit(recorder);
	}
	totals->ring_bytes = (uint64_t)recording->sub_count * EBPF_RECORD_SUB_BYTES;
	totals->unmarked += recording->unmarked;
	totals->snapshots_cut += recording->unmade;
	if (recording->options.flight && recorder)
		totals->events = ebpf_recorder_written(recorder);
}
