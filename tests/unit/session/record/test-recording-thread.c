// SPDX-License-Identifier: BSD-2-Clause
/* The thread of a recording and its mailbox, with work that can be made to stand still or to fail. */

#include "session/record/recording-thread.h"

#include "base/alloc.h"
#include "base/diag.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES_MAX = 8, HOUR_S = 3600, FAILURES = 500 };

#define HOUR_NS (HOUR_S * UINT64_C(1000000000))

/* What was carried out. It is the thread's until it has ended, but for the semaphores. */
struct work {
	sem_t entered, gate; /* every look tells that it began, and waits */
	bool has_gate;
	uint64_t looks, marks, snapshots, finishes, missed;
	uint64_t again;   /* looks that want another one at once */
	uint64_t fail_at; /* the number of the first mark of FAILURES that fail; 0: none */
	bool is_disordered, takes_signals;
	struct asterism_diag *diag;
	char names[NAMES_MAX][256];
};

static int look(void *context, uint64_t missed, uint64_t *wait_ns)
{
	struct work *work = context;
	sigset_t blocked;

	work->looks++;
	work->missed = missed;
	if (work->looks <= work->again)
		*wait_ns = 0;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	work->takes_signals |= !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGUSR1);
	if (work->has_gate) {
		sem_post(&work->entered);
		sem_wait(&work->gate);
	}
	return 0;
}

static int mark(void *context, const struct recording_mark *mark)
{
	struct work *work = context;
	char values[32];

	snprintf(values, sizeof values, "{\"n\":%llu}", (unsigned long long)mark->ts);
	work->is_disordered |= mark->ts != work->marks || strcmp(mark->values, values) || strcmp(mark->rule, "rule") ||
			       strcmp(mark->comm, "comm") || mark->pid != 7;
	work->marks++;
	if (!work->fail_at || work->marks < work->fail_at || work->marks >= work->fail_at + FAILURES)
		return 0;
	return diag_error(work->diag, NULL, -ENOSPC, "mark %llu", (unsigned long long)work->marks);
}

static int snapshot(void *context, const struct recording_snapshot_order *order)
{
	struct work *work = context;

	work->is_disordered |= order->at_ns != work->snapshots + 1;
	snprintf(work->names[work->snapshots++ % NAMES_MAX], sizeof *work->names, "%s", order->name);
	return 0;
}

static int finish(void *context, uint64_t missed)
{
	struct work *work = context;

	work->finishes++;
	work->missed = missed;
	return 0;
}

static void count(const void *context, struct recording_totals *totals)
{
	const struct work *work = context;

	totals->events = work->marks;
	totals->snapshots = work->snapshots;
}

static struct recording_thread *start(struct work *work, uint64_t look_ns)
{
	const struct recording_work what = { look, mark, snapshot, finish, count, work, work->diag, look_ns };
	struct recording_thread *thread = NULL;

	sem_init(&work->entered, 0, 0);
	sem_init(&work->gate, 0, 0);
	assert_int_equal(recording_thread_new(&what, &thread), 0);
	return thread;
}

static bool put_mark(struct recording_thread *thread, uint64_t number)
{
	char values[32];

	snprintf(values, sizeof values, "{\"n\":%llu}", (unsigned long long)number);
	return recording_thread_mark(
		thread,
		&(struct recording_mark){ .ts = number, .pid = 7, .comm = "comm", .rule = "rule", .values = values });
}

static bool put_snapshot(struct recording_thread *thread, uint64_t number, bool patient)
{
	struct recording_snapshot_order order = { .at_ns = number, .marks = recording_marks_new() };

	snprintf(order.name, sizeof order.name, "number %llu", (unsigned long long)number);
	bool put = recording_thread_snapshot(thread, &order, patient);

	if (!put)
		recording_marks_free(order.marks);
	return put;
}

static bool has_news(const struct recording_thread *thread, int wait_ms)
{
	return poll(&(struct pollfd){ .fd = recording_thread_fd(thread), .events = POLLIN }, 1, wait_ms) == 1;
}

static void nothing_is_done_before_it_is_reported(void **state)
{
	struct work work = { 0 };

	(void)state;
	recording_thread_free(start(&work, 1));
	assert_int_equal(work.looks + work.finishes, 0);
	struct recording_thread *thread = start(&work, 1);

	recording_thread_finish(thread, 3);
	recording_thread_free(thread);
	assert_int_equal(work.finishes, 1);
	assert_int_equal(work.missed, 3);
	recording_thread_free(NULL);
}

static void marks_are_written_in_order_before_the_end(void **state)
{
	enum { MANY = 50000 };
	struct work work = { 0 };
	struct recording_thread *thread = start(&work, 1000000);
	struct recording_totals totals;
	uint64_t put = 0, last = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		put += put_mark(thread, put);
		if (i % 1000)
			continue;
		recording_thread_report(thread, (uint64_t)i);
		assert_int_equal(recording_thread_news(thread, NULL), 0);
		recording_thread_count(thread, &totals);
		assert_true(totals.events >= last && totals.events <= put);
		last = totals.events;
	}
	recording_thread_finish(thread, MANY);
	recording_thread_count(thread, &totals);
	assert_int_equal(totals.events, put);
	recording_thread_free(thread);
	assert_false(work.is_disordered);
	assert_false(work.takes_signals);
	assert_int_equal(work.marks, put);
	assert_int_equal(work.missed, MANY);
	assert_true(work.looks > 0);
}

/* The owner goes on, whatever the thread waits for, and knows what will not be written. */
static void a_thread_that_stands_still_does_not_stop_its_owner(void **state)
{
	struct work work = { .has_gate = true };
	struct recording_thread *thread = start(&work, HOUR_NS);
	uint64_t put = 0;

	(void)state;
	recording_thread_report(thread, 0);
	sem_wait(&work.entered);
	while (put_mark(thread, put))
		put++;
	assert_true(put > 1000);
	assert_false(put_mark(thread, put));
	assert_true(put_snapshot(thread, 1, false));
	assert_false(put_snapshot(thread, 2, false));
	recording_thread_report(thread, 1);
	assert_false(has_news(thread, 0));
	sem_post(&work.gate);
	/* Then there is room again. */
	assert_true(put_snapshot(thread, 2, true));
	assert_true(put_mark(thread, put++));
	sem_post(&work.gate);
	recording_thread_finish(thread, 2);
	recording_thread_free(thread);
	assert_false(work.is_disordered);
	assert_int_equal(work.marks, put);
	assert_int_equal(work.snapshots, 2);
	assert_string_equal(work.names[0], "number 1");
	assert_string_equal(work.names[1], "number 2");
}

/* What fails in one way is told once, and all that comes after it is tried all the same. */
static void an_error_is_news_and_the_work_goes_on(void **state)
{
	struct work work = { .fail_at = 1000, .diag = asterism_diag_new() };
	struct asterism_diag *reported = asterism_diag_new();
	struct recording_thread *thread = start(&work, UINT64_MAX);
	struct recording_totals totals;
	uint64_t put = 0;

	(void)state;
	while (!has_news(thread, 0))
		put += put_mark(thread, put);
	assert_int_equal(recording_thread_news(thread, reported), -ENOSPC);
	assert_int_equal(recording_thread_news(thread, reported), 0);
	assert_int_equal(asterism_diag_count(reported, ASTERISM_ERROR), 1);
	assert_string_equal(asterism_diag_get(reported, 0)->text, "mark 1000");
	recording_thread_count(thread, &totals);
	assert_true(totals.events >= 1000);
	assert_true(put_snapshot(thread, 1, true));
	for (int i = 0; i < 20000; i++)
		put += put_mark(thread, put);
	recording_thread_finish(thread, 0);
	assert_int_equal(recording_thread_news(thread, reported), 0);
	assert_int_equal(asterism_diag_count(reported, ASTERISM_ERROR), 1);
	assert_int_equal(asterism_diag_count(work.diag, ASTERISM_NOTE), 0);
	recording_thread_free(thread);
	assert_false(work.is_disordered);
	assert_int_equal(work.finishes, 1);
	assert_int_equal(work.marks, put);
	assert_int_equal(work.snapshots, 1);
	asterism_diag_free(work.diag);
	asterism_diag_free(reported);
}

static void a_snapshot_is_news(void **state)
{
	struct work work = { 0 };
	struct recording_thread *thread = start(&work, UINT64_MAX);
	struct recording_totals totals;

	(void)state;
	for (uint64_t i = 1; i <= 20; i++) {
		assert_true(put_snapshot(thread, i, false));
		assert_true(has_news(thread, -1));
		assert_int_equal(recording_thread_news(thread, NULL), 0);
		recording_thread_count(thread, &totals);
		assert_int_equal(totals.snapshots, i);
	}
	/* One is not begun yet when it is abandoned, or it is: neither leaks. */
	assert_true(put_snapshot(thread, 21, false));
	recording_thread_free(thread);
	assert_int_equal(work.finishes, 0);
}

static void who_wants_to_look_again_does_so_at_once(void **state)
{
	struct work work = { .has_gate = true, .again = 5 };
	struct recording_thread *thread = start(&work, HOUR_NS);

	(void)state;
	recording_thread_report(thread, 0);
	for (int i = 0; i < 6; i++) {
		sem_wait(&work.entered);
		sem_post(&work.gate);
	}
	sem_post(&work.gate);
	recording_thread_finish(thread, 0);
	recording_thread_free(thread);
	assert_int_equal(work.looks, 6);
}

static void texts_are_cut_to_what_a_trace_holds(void **state)
{
	char longer[6000];
	const struct recording_mark *got;
	struct recording_queue queue;
	size_t at = 0;

	(void)state;
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	assert_int_equal(recording_queue_init(&queue, RECORDING_QUEUE_BYTES_MIN), 0);
	const struct recording_mark mark = { .comm = longer, .rule = longer, .values = longer };

	assert_true(recording_queue_put(&queue, &mark));
	assert_false(recording_queue_put(&queue, &mark));
	got = recording_queue_next(&queue, &at);
	assert_int_equal(strlen(got->comm), 15);
	assert_int_equal(strlen(got->rule), 255);
	assert_int_equal(strlen(got->values), 4095);
	assert_null(recording_queue_next(&queue, &at));
	recording_queue_fini(&queue);
}

static void without_memory_there_is_no_thread(void **state)
{
	struct work work = { 0 };
	const struct recording_work what = { look, mark, snapshot, finish, count, &work, NULL, 1 };
	struct recording_thread *thread = NULL;
	unsigned long n;

	(void)state;
	for (n = 1; !thread; n++) {
		alloc_fail_at(n);
		int result = recording_thread_new(&what, &thread);

		alloc_fail_at(0);
		assert_int_equal(result, thread ? 0 : -ENOMEM);
	}
	assert_true(n > 2);
	recording_thread_free(thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_done_before_it_is_reported),
		cmocka_unit_test(marks_are_written_in_order_before_the_end),
		cmocka_unit_test(a_thread_that_stands_still_does_not_stop_its_owner),
		cmocka_unit_test(an_error_is_news_and_the_work_goes_on),
		cmocka_unit_test(a_snapshot_is_news),
		cmocka_unit_test(who_wants_to_look_again_does_so_at_once),
		cmocka_unit_test(texts_are_cut_to_what_a_trace_holds),
		cmocka_unit_test(without_memory_there_is_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
