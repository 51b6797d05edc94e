// SPDX-License-Identifier: BSD-2-Clause
/*
 * The past: what is found is what a search through all slices finds, whether they are in memory or in a file, and up to
 * the oldest that is kept.
 */

#include "report/past.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 40, CPUS = 4, KEPT = 100000, SLICES = 230000 };

static struct report_slice slices[SLICES];

/* Threads that run, wait and are woken one after the other, each time for another time. */
static void make_slices(void)
{
	static const uint8_t states[] = { REPORT_RUNNING, REPORT_BLOCKED, REPORT_READY };
	uint64_t drawn = 7, since[THREADS] = { 0 }, now = 0;
	unsigned int nexts[THREADS] = { 0 };

	for (uint32_t i = 0; i < SLICES; i++) {
		drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint32_t thread = (uint32_t)(drawn >> 40) % THREADS;
		now += drawn >> 60;
		slices[i] = (struct report_slice){
			.begin = since[thread],
			.end = ++now,
			.thread = thread,
			.waker = (uint32_t)(drawn >> 20) % THREADS,
			.reason = (uint32_t)(drawn >> 50) % 9,
			.cpu = (uint16_t)(thread % CPUS),
			.state = states[nexts[thread]++ % 3],
			.prio = 120,
		};
		since[thread] = now;
	}
}

static uint32_t place_of(const struct past_item *item, uint32_t from)
{
	while (from > 0 && (slices[from - 1].end != item->end || slices[from - 1].thread != item->thread))
		from--;
	assert_true(from > 0);
	return from - 1;
}

/* The last one before time of that thread, or that ran on that CPU, from place on; SLICES: it is not kept. */
static uint32_t search(uint32_t place, uint32_t number, bool is_cpu, uint64_t time)
{
	for (; place >= SLICES - KEPT; place--) {
		bool is_one = is_cpu ? slices[place].cpu == number && slices[place].state == REPORT_RUNNING
				     : slices[place].thread == number;
		if (is_one && slices[place].begin < time)
			return place;
	}
	return SLICES;
}

static void compare(const struct past_item *item, uint32_t expected)
{
	if (expected == SLICES) {
		assert_null(item);
		return;
	}
	assert_non_null(item);
	assert_int_equal(item->begin, slices[expected].begin);
	assert_int_equal(item->end, slices[expected].end);
	assert_int_equal(item->thread, slices[expected].thread);
	assert_int_equal(item->state, slices[expected].state);
	assert_int_equal(item->reason, slices[expected].reason);
}

static void walk(struct past *past)
{
	uint64_t time = slices[SLICES - 1].end + 1;
	uint64_t least = slices[SLICES - KEPT].end, step = (time - least) / 300;

	for (; time > least; time -= step) {
		uint32_t number = (uint32_t)(time % THREADS);
		const struct past_item *item = past_find(past, number, time);
		compare(item, search(SLICES - 1, number, false, time));
		item = past_find_run(past, number % CPUS, time);
		uint32_t run = search(SLICES - 1, number % CPUS, true, time);
		compare(item, run);
		if (item)
			compare(past_run_before(past, item),
				search(place_of(item, SLICES) - 1, number % CPUS, true, UINT64_MAX));
	}
}

static void check_past(bool is_mapped)
{
	struct past past = { .most = KEPT };

	for (uint32_t i = 0; i < SLICES; i++)
		assert_int_equal(past_keep(&past, &slices[i]), 0);
	assert_int_equal(past.is_mapped, is_mapped);
	assert_int_equal(past_kept(&past), KEPT);
	assert_int_equal(past.lost_until_ns, slices[SLICES - KEPT - 1].end);
	walk(&past);
	past_fini(&past);
}

static void test_in_file(void **state)
{
	(void)state;
	check_past(true);
}

static void test_without_file(void **state)
{
	(void)state;
	setenv("TMPDIR", "/nowhere", 1);
	check_past(false);
	unsetenv("TMPDIR");
}

/* Who ended a wait is known from the slice behind it. */
static void test_waker(void **state)
{
	struct past past = { .most = KEPT };
	struct report_slice slice = { .begin = 10, .end = 20, .thread = 3, .state = REPORT_BLOCKED };

	(void)state;
	assert_int_equal(past_keep(&past, &slice), 0);
	slice = (struct report_slice){
		.begin = 20, .end = 25, .thread = 3, .waker = 5, .cpu = 1, .state = REPORT_READY
	};
	assert_int_equal(past_keep(&past, &slice), 0);
	assert_int_equal(past_find(&past, 3, 25)->cpu, 1);
	assert_int_equal(past_find(&past, 3, 20)->waker, 5);
	past_fini(&past);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_file),
		cmocka_unit_test(test_without_file),
		cmocka_unit_test(test_waker),
	};

	make_slices();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
