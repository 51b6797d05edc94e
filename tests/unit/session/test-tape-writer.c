// SPDX-License-Identifier: BSD-2-Clause
/* Rings that are written to while a tape's thread empties them: every event is in the trace or counted. */

#include "base/alloc.h"
#include "base/clock.h"
#include "ctf-rig.h"
#include "session/record/tape-writer.h"

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

/* A tape without a kernel: threads of the test write to its rings. */
struct tape_rig {
	struct rig *trace;
	struct ring rings[RINGS];
	struct tape_writer *writer;
	struct tape_thread *thread;
};

static void open_tape(struct tape_rig *tape, bool flight)
{
	for (int i = 0; i < RINGS; i++) {
		tape->rings[i] = (struct ring){ .sub_units = SUB_UNITS, .sub_count = SUB_COUNT };
		tape->rings[i].control = calloc(1, ring_control_bytes(SUB_COUNT));
		tape->rings[i].data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	}
	const struct tape_writer_options options = {
		.path = tape->trace->path,
		.flight = flight,
		.start_ns = clock_now_ns(),
		.rings = tape->rings,
		.ring_count = RINGS,
		.events = tape->trace->events,
		.event_count = TYPES,
	};

	mkdir(tape->trace->path, 0777);
	assert_int_equal(tape_writer_new(&options, tape->trace->diag, &tape->writer), 0);
	const struct tape_work work = tape_writer_work(tape->writer);

	assert_int_equal(tape_thread_new(&work, &tape->thread), 0);
}

static void close_tape(struct tape_rig *tape)
{
	tape_thread_free(tape->thread);
	tape_writer_free(tape->writer);
	for (int i = 0; i < RINGS; i++) {
		free(tape->rings[i].control);
		free(tape->rings[i].data);
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

static bool put_mark(struct tape_thread *thread, uint64_t ts)
{
	return tape_thread_mark(thread, &(struct tape_mark){ .ts = ts, .comm = "comm", .rule = "r", .values = "{}" });
}

static void read_trace(struct tape_rig *tape, uint64_t *ticks, uint64_t *marks, uint64_t *lost)
{
	struct event_source *source = rig_open_reader(tape->trace);
	struct event event;

	*ticks = *marks = 0;
	while (event_source_next(source, &event) == 1)
		++*(strcmp(event.type->name, "tick") ? marks : ticks);
	*lost = source->lost;
	event_source_free(source);
}

static void what_comes_meanwhile_is_written_or_counted(void **state)
{
	struct tape_rig tape = { .trace = *state };
	struct tape_totals totals;
	uint64_t ticks, marks, lost, dropped = 0, marked = 0;
	pthread_t putters[RINGS];

	open_tape(&tape, false);
	tape_thread_tell(tape.thread, 0);
	for (int i = 0; i < RINGS; i++)
		assert_int_equal(pthread_create(&putters[i], NULL, put_ticks, &tape.rings[i]), 0);
	for (uint64_t i = 0; i < MARKS; i++) {
		marked += put_mark(tape.thread, i + 1);
		tape_thread_tell(tape.thread, 0);
		assert_int_equal(tape_thread_news(tape.thread, tape.trace->diag), 0);
	}
	for (int i = 0; i < RINGS; i++) {
		pthread_join(putters[i], NULL);
		dropped += ring_dropped(&tape.rings[i]);
	}
	tape_thread_finish(tape.thread, 0);
	assert_int_equal(tape_thread_news(tape.thread, tape.trace->diag), 0);
	tape_thread_count(tape.thread, &totals);
	close_tape(&tape);
	assert_int_equal(totals.events + totals.overwritten + dropped, RINGS * EVENTS);
	assert_int_equal(totals.unwritten, 0);
	read_trace(&tape, &ticks, &marks, &lost);
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
static uint64_t put_until_it_fails(struct tape_rig *tape, struct asterism_diag *told)
{
	uint64_t put = 0;
	int news;

	limit_files(20000);
	tape_thread_tell(tape->thread, 0);
	while (!(news = tape_thread_news(tape->thread, told)))
		put_tick(&tape->rings[1], put++);
	assert_int_equal(news, -EFBIG);
	assert_int_equal(asterism_diag_count(told, ASTERISM_ERROR), 1);
	assert_string_equal(asterism_diag_get(told, 0)->text, "the file cannot be written: File too large");
	assert_non_null(strstr(asterism_diag_get(told, 0)->file, "/stream_1"));
	return put;
}

static void what_cannot_be_written_is_counted_and_the_rest_readable(void **state)
{
	struct tape_rig tape = { .trace = *state };
	struct asterism_diag *told = asterism_diag_new();
	struct tape_totals totals;
	uint64_t ticks, marks, lost, put;

	open_tape(&tape, false);
	put = put_until_it_fails(&tape, told);
	tape_thread_finish(tape.thread, 0);
	limit_files(RLIM_INFINITY);
	tape_thread_count(tape.thread, &totals);
	assert_int_equal(tape_thread_news(tape.thread, told), 0);
	close_tape(&tape);
	assert_true(totals.events > 0 && totals.unwritten > 0);
	assert_int_equal(totals.events + totals.overwritten + totals.unwritten, put);
	read_trace(&tape, &ticks, &marks, &lost);
	assert_int_equal(ticks, totals.events);
	assert_int_equal(ticks + lost, put);
	asterism_diag_free(told);
}

static void once_there_is_room_again_the_trace_goes_on(void **state)
{
	struct tape_rig tape = { .trace = *state };
	struct asterism_diag *told = asterism_diag_new();
	struct tape_totals totals;
	uint64_t ticks, marks, lost, put, before;

	open_tape(&tape, false);
	put = put_until_it_fails(&tape, told);
	for (int i = 0; i < 2 * SUB_UNITS * SUB_COUNT; i++)
		put_tick(&tape.rings[1], put++);
	tape_thread_count(tape.thread, &totals);
	before = totals.events;
	limit_files(RLIM_INFINITY);
	do {
		put_tick(&tape.rings[1], put++);
		usleep(100);
		tape_thread_count(tape.thread, &totals);
	} while (totals.events == before);
	tape_thread_finish(tape.thread, 0);
	tape_thread_count(tape.thread, &totals);
	close_tape(&tape);
	assert_true(totals.unwritten > 0);
	assert_int_equal(totals.events + totals.overwritten + totals.unwritten, put);
	read_trace(&tape, &ticks, &marks, &lost);
	assert_int_equal(ticks, totals.events);
	assert_int_equal(ticks + lost, put);
	asterism_diag_free(told);
}

static void a_snapshot_holds_what_the_rings_do(void **state)
{
	struct tape_rig tape = { .trace = *state };
	struct tape_snapshot_order order = { .name = "some", .marks = tape_marks_new() };
	struct tape_totals totals;
	uint64_t ticks, marks, lost;
	char folder[128];

	open_tape(&tape, true);
	for (uint64_t n = 0; n < 100; n++)
		put_tick(&tape.rings[n % 2], n);
	order.at_ns = clock_now_ns();
	assert_int_equal(tape_marks_keep(order.marks,
					 &(struct tape_mark){
						 .ts = order.at_ns, .comm = "comm", .rule = "rule", .values = "{}" }),
			 0);
	assert_true(tape_thread_snapshot(tape.thread, &order, false));
	tape_thread_finish(tape.thread, 0);
	tape_thread_count(tape.thread, &totals);
	close_tape(&tape);
	assert_int_equal(totals.snapshots, 1);
	assert_int_equal(totals.unwritten + totals.overwritten, 0);
	snprintf(folder, sizeof folder, "%s", tape.trace->path);
	snprintf(tape.trace->path, sizeof tape.trace->path, "%s/trace/some-1", tape.trace->folder);
	read_trace(&tape, &ticks, &marks, &lost);
	assert_int_equal(ticks, 100);
	assert_int_equal(marks, 1);
	assert_int_equal(lost, 0);
	rig_remove(tape.trace->path);
	snprintf(tape.trace->path, sizeof tape.trace->path, "%s", folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_comes_meanwhile_is_written_or_counted, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(once_there_is_room_again_the_trace_goes_on, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_is_counted_and_the_rest_readable, rig_set_up,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(a_snapshot_holds_what_the_rings_do, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
