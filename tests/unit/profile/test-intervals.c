// SPDX-License-Identifier: BSD-2-Clause
/* Which samples lie in intervals of their thread, also where these come late, overlap, or room is short. */

#include "profile/sample/intervals.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct inside {
	unsigned count;
	uint64_t times; /* their sum */
	int result;
};

static int take(void *context, const struct waiting_sample *sample)
{
	struct inside *inside = context;

	inside->count++;
	inside->times += sample->time;
	return inside->result;
}

static void keep(struct intervals *intervals, uint64_t time, uint32_t tid)
{
	assert_int_equal(intervals_keep(intervals, &(struct waiting_sample){ .time = time, .tid = tid, .weight = 1 }),
			 0);
}

static void test_threads_and_ends(void **state)
{
	struct inside inside = { 0 };
	struct intervals *intervals = intervals_new(100, &(struct interval_taker){ take, &inside });

	(void)state;
	for (uint64_t time = 1; time <= 10; time++) {
		keep(intervals, time, 7);
		keep(intervals, time, 8);
	}
	intervals_add(intervals, 8, 9, 9);
	intervals_add(intervals, 7, 3, 5);
	assert_int_equal(intervals_end(intervals), 0);
	assert_int_equal(inside.count, 4);
	assert_int_equal(inside.times, 3 + 4 + 5 + 9);
	assert_int_equal(intervals_outside(intervals), 16);
	assert_int_equal(intervals_late(intervals), 0);
	intervals_free(intervals);
}

/* A sample in two of them counts once; an inner one does not end the outer one. */
static void test_overlaps(void **state)
{
	struct inside inside = { 0 };
	struct intervals *intervals = intervals_new(100, &(struct interval_taker){ take, &inside });

	(void)state;
	for (uint64_t time = 1; time <= 20; time++)
		keep(intervals, time, 1);
	intervals_add(intervals, 1, 4, 6);
	intervals_add(intervals, 1, 2, 10);
	intervals_add(intervals, 1, 10, 12);
	intervals_add(intervals, 1, 3, 3);
	assert_int_equal(intervals_end(intervals), 0);
	assert_int_equal(inside.count, 11);
	assert_int_equal(intervals_outside(intervals), 9);
	intervals_free(intervals);
}

static void test_nothing_matches(void **state)
{
	struct inside inside = { 0 };
	struct intervals *intervals = intervals_new(100, &(struct interval_taker){ take, &inside });

	(void)state;
	keep(intervals, 5, 1);
	assert_int_equal(intervals_end(intervals), 0);
	assert_int_equal(inside.count, 0);
	assert_int_equal(intervals_outside(intervals), 1);
	intervals_free(intervals);
}

/* Where room is short the older half is judged; an interval that reaches back to it says so. */
static void test_room(void **state)
{
	struct inside inside = { 0 };
	struct intervals *intervals = intervals_new(10, &(struct interval_taker){ take, &inside });

	(void)state;
	intervals_add(intervals, 1, 3, 12);
	for (uint64_t time = 1; time <= 20; time++)
		keep(intervals, time, 1);
	intervals_add(intervals, 1, 2, 16);
	intervals_add(intervals, 1, 19, 30);
	assert_int_equal(intervals_late(intervals), 1);
	assert_int_equal(intervals_end(intervals), 0);
	assert_int_equal(inside.count, 10 + 4 + 2);
	assert_int_equal(inside.count + intervals_outside(intervals), 20);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(intervals_add(intervals, (uint32_t)i, 100, 200), 0);
	assert_true(intervals_late(intervals) >= 90);
	intervals_free(intervals);
}

static void test_failure(void **state)
{
	struct inside inside = { .result = -EIO };
	struct intervals *intervals = intervals_new(10, &(struct interval_taker){ take, &inside });

	(void)state;
	keep(intervals, 1, 1);
	keep(intervals, 2, 1);
	intervals_add(intervals, 1, 1, 2);
	assert_int_equal(intervals_end(intervals), -EIO);
	assert_int_equal(inside.count, 1);
	intervals_free(intervals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_and_ends), cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_nothing_matches),  cmocka_unit_test(test_room),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
