// SPDX-License-Identifier: BSD-2-Clause
/* Evaluations that come and go under an evaluator that never waits: who is called, and when a context is released. */

#include "monitor/evaluations.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <cmocka.h>

enum { ROUNDS = 2000 };

struct counter {
	int prepared, committed, discarded, passed, released;
	uint64_t lost;
	bool refuses;
};

static bool prepare(void *context, const struct monitor_element *element)
{
	struct counter *counter = context;

	(void)element;
	counter->prepared++;
	return !counter->refuses;
}

static void commit(void *context, bool ok, const struct monitor_element *element)
{
	struct counter *counter = context;

	(void)element;
	counter->committed += ok;
	counter->discarded += !ok;
	assert_int_equal(counter->released, 0);
}

static void lose(void *context, uint64_t lost)
{
	((struct counter *)context)->lost += lost;
}

static void pass(void *context, uint64_t now_ns)
{
	(void)now_ns;
	((struct counter *)context)->passed++;
}

static void release(void *context)
{
	((struct counter *)context)->released++;
}

static const struct monitor_evaluation_kind counting = {
	.name = "counting",
	.prepare = prepare,
	.commit = commit,
	.lose = lose,
	.pass = pass,
	.release = release,
};

static void turn(struct monitor_evaluations *evaluations, uint32_t sensor)
{
	const struct monitor_element element = { .sensor = sensor };

	monitor_evaluations_begin(evaluations);
	monitor_evaluations_element(evaluations, &element);
	monitor_evaluations_pass(evaluations, 1);
}

static void test_whom(void **state)
{
	struct monitor_evaluations *evaluations = monitor_evaluations_new();
	struct counter any = { 0 }, one = { .refuses = true };

	(void)state;
	assert_true(monitor_evaluations_add(evaluations, MONITOR_ANY_SENSOR, &counting, &any) >= 0);
	assert_true(monitor_evaluations_add(evaluations, 1, &counting, &one) >= 0);
	turn(evaluations, 0);
	turn(evaluations, 1);
	monitor_evaluations_lose(evaluations, 7);
	assert_int_equal(any.committed, 2);
	assert_int_equal(one.prepared, 1);
	assert_int_equal(one.committed, 0);
	assert_int_equal(one.discarded, 1);
	assert_int_equal(any.lost, 7);
	assert_int_equal(any.passed, 2);
	monitor_evaluations_free(evaluations);
	assert_int_equal(any.released, 1);
	assert_int_equal(one.released, 1);
}

/* It may still be in use until another turn begins. */
static void test_removal(void **state)
{
	struct monitor_evaluations *evaluations = monitor_evaluations_new();
	struct counter counter = { 0 };
	int64_t name = monitor_evaluations_add(evaluations, 0, &counting, &counter);

	(void)state;
	turn(evaluations, 0);
	assert_int_equal(monitor_evaluations_remove(evaluations, name + 1), -ENOENT);
	assert_int_equal(monitor_evaluations_remove(evaluations, name), 0);
	assert_int_equal(monitor_evaluations_collect(evaluations), 1);
	assert_int_equal(counter.released, 0);
	turn(evaluations, 0);
	assert_int_equal(monitor_evaluations_collect(evaluations), 0);
	assert_int_equal(counter.released, 1);
	assert_int_equal(counter.committed, 1);
	monitor_evaluations_free(evaluations);
	assert_int_equal(counter.released, 1);
}

static void test_shared_context(void **state)
{
	struct monitor_evaluations *evaluations = monitor_evaluations_new();
	struct counter counter = { 0 };
	int64_t begins = monitor_evaluations_add(evaluations, 0, &counting, &counter);

	(void)state;
	monitor_evaluations_add(evaluations, 1, &counting, &counter);
	turn(evaluations, 0);
	turn(evaluations, 1);
	assert_int_equal(counter.committed, 2);
	assert_int_equal(counter.passed, 2);
	assert_int_equal(monitor_evaluations_remove(evaluations, begins), 0);
	turn(evaluations, 0);
	assert_int_equal(monitor_evaluations_collect(evaluations), 0);
	assert_int_equal(counter.released, 0);
	monitor_evaluations_free(evaluations);
	assert_int_equal(counter.released, 1);
}

struct race {
	struct monitor_evaluations *evaluations;
	atomic_bool done;
};

static void *evaluate(void *context)
{
	struct race *race = context;

	while (!atomic_load(&race->done))
		turn(race->evaluations, 0);
	return NULL;
}

static void test_race(void **state)
{
	struct race race = { .evaluations = monitor_evaluations_new() };
	static struct counter counters[ROUNDS];
	int released = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, evaluate, &race), 0);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t name = monitor_evaluations_add(race.evaluations, 0, &counting, &counters[i]);

		assert_int_equal(monitor_evaluations_remove(race.evaluations, name), 0);
		monitor_evaluations_collect(race.evaluations);
	}
	atomic_store(&race.done, true);
	pthread_join(thread, NULL);
	monitor_evaluations_free(race.evaluations);
	for (int i = 0; i < ROUNDS; i++)
		released += counters[i].released;
	assert_int_equal(released, ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whom),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_shared_context),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
