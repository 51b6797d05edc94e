// SPDX-License-Identifier: BSD-2-Clause
/* Rings that are written to while a recording's thread empties them: every event is in the trace or counted. */

#include "base/alloc.h"
#include "base/clock.h"
#include "ctf-rig.h"
#include "session/record/recording-writer.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { SUB_UNITS = 1024, SUB_COUNT = 8, RINGS = 2, EVENTS = 200000, MARKS = 500 };

/* A recording without a kernel: threads of the test write to its rings. */
struct recording_rig {
	struct rig *trace;
	struct ring rings[RINGS];
	struct recording_writer *writer;
	struct recording_thread *thread;
};

static void open_recording(struct recording_rig *recording, bool flight)
{
	for (int i = 0; i < RINGS; i++) {
		recording->rings[i] = (struct ring){ .sub_units = SUB_UNITS, .sub_count = SUB_COUNT };
		recording->rings[i].control = calloc(1, ring_control_bytes(SUB_COUNT));
		recording->rings[i].data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	}
	const struct recording_writer_options options = {
		.path = recording->trace->path,
		.flight = flight,
		.start_ns = clock_now_ns(),
		.rings = recording->rings,
		.ring_count = RINGS,
		.events = recording->trace->events,
		.event_count = TYPES,
	};

	mkdir(recording->trace->path, 0777);
	assert_int_equal(recording_writer_new(&options, recording->trace->diag, &recording->writer), 0);
	const struct recording_work work = recording_writer_work(recording->writer);

	assert_int_equal(recording_thread_new(&work, &recording->thread), 0);
}

static void close_recording(struct recording_rig *recording)
{
	recording_thread_free(recording->thread);
	recording_writer_free(recording->writer);
	for (int i = 0; i < RINGS; i++) {
		free(recording->rings[i].control);
		free(recording->rings[i].data);
	}
}

static void put_tick(const struct ring *ring, uint64_t n)
{
	const struct ring_context who = { .tid = 8, .pid = 7, .comm = "ring" };
	const uint64_t payload[] = { n, 1 };

	ring_put(ring, &who, TICK, payload, 2);
}

static void *put_ticks(void *ring)
{
	for (uint64_t n = 0; n < EVENTS; n++)
		put_tick(ring, n);
	return NULL;
}

static bool put_mark(struct recording_thread *thread, uint64_t ts)
{
	return recording_thread_mark(thread,
				     &(struct recording_mark){ .ts = ts, .comm = "comm", .rule = "r", .values = "{}" });
}

static void read_trace(struct recording_rig *recording, uint64_t *ticks, uint64_t *marks, uint64_t *lost)
{
	struct event_source *source = rig_open_reader(recording->trace);
	struct event event;

	*ticks = *marks = 0;
	while (event_source_next(source, &event) == 1)
		++*(strcmp(event.type->name, "tick") ? marks : ticks);
	*lost = source->lost;
	event_source_free(source);
}

static void what_comes_meanwhile_is_written_or_counted(void **state)
{
	struct recording_rig recording = { .trace = *state };
	struct recording_totals totals;
	uint64_t ticks, marks, lost, dropped = 0, marked = 0;
	pthread_t putters[RINGS];

	open_recording(&recording, false);
	recording_thread_report(recording.thread, 0);
	for (int i = 0; i < RINGS; i++)
		assert_int_equal(pthread_create(&putters[i], NULL, put_ticks, &recording.rings[i]), 0);
	for (uint64_t i = 0; i < MARKS; i++) {
		marked += put_mark(recording.thread, i + 1);
		recording_thread_report(recording.thread, 0);
		assert_int_equal(recording_thread_news(recording.thread, recording.trace->diag), 0);
	}
	for (int i = 0; i < RINGS; i++) {
		pthread_join(putters[i], NULL);
		dropped += ring_dropped(&recording.rings[i]);
	}
	recording_thread_finish(recording.thread, 0);
	assert_int_equal(recording_thread_news(recording.thread, recording.trace->diag), 0);
	recording_thread_count(recording.thread, &totals);
	close_recording(&recording);
	assert_int_equal(totals.events + totals.overwritten + dropped, RINGS * EVENTS);
	assert_int_equal(totals.unwritten, 0);
	read_trace(&recording, &ticks, &marks, &lost);
	assert_int_equal(ticks, totals.events);
	assert_int_equal(marks, marked);
	assert_int_equal(ticks + lost, RINGS * EVENTS);
}

/* A limit on the size of files is as good as a full disk. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Ticks until the thread says that it cannot write. Returns how many. */
static uint64_t put_until_it_fails(struct recording_rig *recording, struct asterism_diag *reported)
{
	uint64_t put = 0;
	int news;

	limit_files(20000);
	recording_thread_report(recording->thread, 0);
	while (!(news = recording_thread_news(recording->thread, reported)))
		put_tick(&recording->rings[1], put++);
	assert_int_equal(news, -EFBIG);
	assert_int_equal(asterism_diag_count(reported, ASTERISM_ERROR), 1);
	assert_string_equal(asterism_diag_get(reported, 0)->text, "cannot write the file: File too large");
	assert_non_null(strstr(asterism_diag_get(reported, 0)->file, "/stream_1"));
	return put;
}

static void what_cannot_be_written_is_counted_and_the_rest_readable(void **state)
{
	struct recording_rig recording = { .trace = *state };
	struct asterism_diag *reported = asterism_diag_new();
	struct recording_totals totals;
	uint64_t ticks, marks, lost, put;

	open_recording(&recording, false);
	put = put_until_it_fails(&recording, reported);
	recording_thread_finish(recording.thread, 0);
	limit_files(RLIM_INFINITY);
	recording_thread_count(recording.thread, &totals);
	assert_int_equal(recording_thread_news(recording.thread, reported), 0);
	close_recording(&recording);
	assert_true(totals.events > 0 && totals.unwritten > 0);
	assert_int_equal(totals.events + totals.overwritten + totals.unwritten, put);
	read_trace(&recording, &ticks, &marks, &lost);
	assert_int_equal(ticks, totals.events);
	assert_int_equal(ticks + lost, put);
	asterism_diag_free(reported);
}

static void once_there_is_room_again_the_trace_goes_on(void **state)
{
	struct recording_rig recording = { .trace = *state };
	struct asterism_diag *reported = asterism_diag_new();
	struct recording_totals totals;
	uint64_t ticks, marks, lost, put, before;

	open_recording(&recording, false);
	put = put_until_it_fails(&recording, reported);
	for (int i = 0; i < 2 * SUB_UNITS * SUB_COUNT; i++)
		put_tick(&recording.rings[1], put++);
	recording_thread_count(recording.thread, &totals);
	before = totals.events;
	limit_files(RLIM_INFINITY);
	do {
		put_tick(&recording.rings[1], put++);
		usleep(100);
		recording_thread_count(recording.thread, &totals);
	} while (totals.events == before);
	recording_thread_finish(recording.thread, 0);
	recording_thread_count(recording.thread, &totals);
	close_recording(&recording);
	assert_true(totals.unwritten > 0);
	assert_int_equal(totals.events + totals.overwritten + totals.unwritten, put);
	read_trace(&recording, &ticks, &marks, &lost);
	assert_int_equal(ticks, totals.events);
	assert_int_equal(ticks + lost, put);
	asterism_diag_free(reported);
}

/* So many laps that any time between two looks, as far as it counts, makes the next one early. */
static void the_faster_a_ring_fills_the_sooner_is_the_next_look(void **state)
{
	struct recording_rig recording = { .trace = *state };
	struct recording_work work;
	uint64_t wait_ns = RECORDING_WAIT_NS;

	open_recording(&recording, false);
	work = recording_writer_work(recording.writer);
	for (uint64_t n = 0; n < UINT64_C(64) * SUB_UNITS * SUB_COUNT / 3; n++)
		put_tick(&recording.rings[1], n);
	assert_int_equal(work.look(work.context, 0, &wait_ns), 0);
	assert_true(wait_ns <= RECORDING_FLUSH_NS / 4 / 60);
	assert_true(wait_ns == 0 || wait_ns >= RECORDING_WAIT_MIN_NS);
	usleep(10000);
	wait_ns = RECORDING_WAIT_NS;
	assert_int_equal(work.look(work.context, 0, &wait_ns), 0);
	assert_int_equal(wait_ns, RECORDING_WAIT_NS);
	close_recording(&recording);
}

static void a_snapshot_holds_what_the_rings_do(void **state)
{
	struct recording_rig recording = { .trace = *state };
	struct recording_snapshot_order order = { .name = "some", .marks = recording_marks_new() };
	struct recording_totals totals;
	uint64_t ticks, marks, lost;
	char folder[128];

	open_recording(&recording, true);
	for (uint64_t n = 0; n < 100; n++)
		put_tick(&recording.rings[n % 2], n);
	order.at_ns = clock_now_ns();
	assert_int_equal(
		recording_marks_keep(
			order.marks,
			&(struct recording_mark){ .ts = order.at_ns, .comm = "comm", .rule = "rule", .values = "{}" }),
		0);
	assert_true(recording_thread_snapshot(recording.thread, &order, false));
	recording_thread_finish(recording.thread, 0);
	recording_thread_count(recording.thread, &totals);
	close_recording(&recording);
	assert_int_equal(totals.snapshots, 1);
	assert_int_equal(totals.unwritten + totals.overwritten, 0);
	snprintf(folder, sizeof folder, "%s", recording.trace->path);
	snprintf(recording.trace->path, sizeof recording.trace->path, "%s/trace/some-1", recording.trace->folder);
	read_trace(&recording, &ticks, &marks, &lost);
	assert_int_equal(ticks, 100);
	assert_int_equal(marks, 1);
	assert_int_equal(lost, 0);
	rig_remove(recording.trace->path);
	snprintf(recording.trace->path, sizeof recording.trace->path, "%s", folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_comes_meanwhile_is_written_or_counted, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(once_there_is_room_again_the_trace_goes_on, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_is_counted_and_the_rest_readable, rig_set_up,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(the_faster_a_ring_fills_the_sooner_is_the_next_look, rig_set_up,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(a_snapshot_holds_what_the_rings_do, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
