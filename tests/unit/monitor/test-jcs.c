// SPDX-License-Identifier: BSD-2-Clause
/* The mathematics of admission against worked examples, enumeration, and streams that are as dense as permitted. */

#include "../size.h"

#include "monitor/jcs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROWS_MAX = 4, CASES = 20000, STREAMS = 10000, ELEMENTS_MAX = 4000 };

struct vector {
	struct jcs stream;
	struct jcs_monitor monitor;
	uint64_t burst, least, most, shortest_count;
	struct {
		uint64_t elements, latency, backlog;
	} rows[ROWS_MAX];
};

static const struct vector vectors[] = {
	{ { 3, 2, 3 }, { 5, 4 }, 4, 2, 3, 4, { { 2, 10, 4 }, { 3, 9, 4 } } },
	{ { 10, 2, 40 }, { 20, 20 }, 6, 2, 6, 8, { { 2, 80, 8 }, { 3, 60, 8 }, { 4, 52, 8 }, { 6, 40, 8 } } },
	{ { 100, 10, 1000 },
	  { 1000, 1000 },
	  12,
	  10,
	  20,
	  30,
	  { { 10, 3000, 30 }, { 11, 2890, 30 }, { 15, 2500, 30 }, { 20, 2000, 30 } } },
	{ { 1000, 100, 10000 },
	  { 5000, 5000 },
	  12,
	  5,
	  15,
	  20,
	  { { 5, 20000, 20 }, { 6, 18000, 20 }, { 10, 14000, 20 }, { 15, 10000, 20 } } },
	{ { 1000, 0, 5000 },
	  { 10000, 10000 },
	  6,
	  10,
	  15,
	  25,
	  { { 10, 25000, 25 }, { 12, 23000, 25 }, { 15, 20000, 25 } } },
};

static uint64_t seed = 1;

/* A number from 0 to most. */
static uint64_t random_to(uint64_t most)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % (most + 1);
}

static void random_case(struct jcs *stream, struct jcs_monitor *monitor)
{
	stream->period = 1 + random_to(30);
	stream->distance = random_to(stream->period);
	stream->earliness = random_to(200);
	monitor->period = 1 + random_to(150);
	monitor->deadline = random_to(monitor->period);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When element e of the densest stream comes. */
static uint64_t densest(const struct jcs *stream, uint64_t e)
{
	uint64_t by_period = e * stream->period;

	return larger(e * stream->distance, by_period > stream->earliness ? by_period - stream->earliness : 0);
}

static void test_vectors(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		const struct vector *vector = &vectors[i];
		const struct jcs *stream = &vector->stream;
		const struct jcs_monitor *monitor = &vector->monitor;
		uint64_t elements;

		assert_int_equal(jcs_check(stream), 0);
		assert_int_equal(jcs_monitor_check(monitor), 0);
		assert_int_equal(jcs_burst(stream), vector->burst);
		assert_int_equal(jcs_least(stream, monitor), vector->least);
		assert_int_equal(jcs_most(stream, monitor), vector->most);
		assert_int_equal(jcs_count(stream, monitor->period + monitor->deadline), vector->shortest_count);
		for (int j = 0; j < ROWS_MAX && vector->rows[j].elements; j++) {
			uint64_t latency = vector->rows[j].latency;

			assert_int_equal(jcs_latency(stream, monitor, vector->rows[j].elements), latency);
			assert_int_equal(jcs_backlog(stream, monitor, vector->rows[j].elements),
					 vector->rows[j].backlog);
			assert_int_equal(jcs_admit(stream, monitor, latency, &elements), 0);
			assert_true(elements <= vector->rows[j].elements);
		}
		assert_int_equal(jcs_admit(stream, monitor, monitor->period + monitor->deadline - 1, &elements),
				 -ERANGE);
	}
}

/* All figures against what follows from the densest stream element by element. */
static void test_enumeration(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sized(CASES, 5); i++) {
		struct jcs stream;
		struct jcs_monitor monitor;
		uint64_t before = JCS_UNBOUNDED;

		random_case(&stream, &monitor);
		uint64_t least = jcs_least(&stream, &monitor), most = jcs_most(&stream, &monitor),
			 time = random_to(400), e = 0;

		while (densest(&stream, e) < time)
			e++;
		assert_int_equal(jcs_count(&stream, time), e);
		assert_int_equal(jcs_latency(&stream, &monitor, least - 1), JCS_UNBOUNDED);
		for (uint64_t r = least; r <= larger(least, most) + 1; r++) {
			uint64_t latency = monitor.period + monitor.deadline, waiting = 0, found;

			for (e = 0; e < 1000; e++) {
				uint64_t end = monitor.period * (e / r + 1) + monitor.deadline;

				if (end > densest(&stream, e))
					latency = larger(latency, end - densest(&stream, e));
			}
			for (uint64_t k = 1; k < 8000 / monitor.period + 3; k++) { /* the longest burst */
				uint64_t come = jcs_count(&stream, k * monitor.period + monitor.deadline);

				if (come > r * (k - 1))
					waiting = larger(waiting, come - r * (k - 1));
			}
			assert_int_equal(jcs_latency(&stream, &monitor, r), latency);
			if (r < most)
				assert_int_equal(jcs_backlog(&stream, &monitor, r), waiting);
			assert_true(latency <= before);
			before = latency;
			assert_int_equal(jcs_admit(&stream, &monitor, latency, &found), 0);
			assert_true(found <= r && jcs_latency(&stream, &monitor, found) <= latency);
			assert_true(found == least || jcs_latency(&stream, &monitor, found - 1) > latency);
		}
	}
}

/* A permitted stream, dense for long stretches, with pauses in between. Returns how many elements it has. */
static uint32_t make_stream(const struct jcs *stream, uint64_t *times)
{
	struct jcs_meter meter = { 0 };
	uint32_t count = 100 + (uint32_t)random_to(400);
	uint64_t at = random_to(100);

	for (uint32_t i = 0; i < count; i++) {
		if (random_to(60) == 0)
			at += random_to(3 * stream->earliness + 100);
		else if (random_to(10) == 0)
			at += random_to(stream->period);
		uint64_t early = jcs_meter_add(&meter, stream, at);

		if (early) {
			at += early;
			assert_int_equal(jcs_meter_add(&meter, stream, at), 0);
		}
		times[i] = at;
	}
	return count;
}

/* At the beginning of each period up to r of those that came before are taken, and finished at the deadline. */
static void test_streams_keep_the_bound(void **unused)
{
	uint64_t reached = 0;

	(void)unused;
	for (size_t i = 0; i < sized(STREAMS, 5); i++) {
		static uint64_t times[ELEMENTS_MAX];
		struct jcs stream;
		struct jcs_monitor monitor;

		random_case(&stream, &monitor);
		uint64_t least = jcs_least(&stream, &monitor), most = larger(least, jcs_most(&stream, &monitor));
		uint64_t r = least + random_to(most - least), bound = jcs_latency(&stream, &monitor, r), longest = 0;
		uint64_t backlog = jcs_backlog(&stream, &monitor, r), start = random_to(monitor.period);
		uint32_t count = make_stream(&stream, times), next = 0, come = 0;

		for (; next < count; start += monitor.period) {
			while (come < count && times[come] < start + monitor.deadline)
				come++;
			assert_true(come - next <= backlog);
			for (uint64_t j = 0; j < r && next < count && times[next] < start; j++, next++)
				longest = larger(longest, start + monitor.deadline - times[next]);
		}
		assert_true(longest <= bound);
		reached += longest + 2 >= bound;
	}
	assert_true(reached > 100); /* or the bound would be no bound worth having */
}

/* Each element is judged, and one that came too early does not count for the next. */
static void test_meter(void **unused)
{
	const struct jcs stream = { .period = 10, .distance = 2, .earliness = 16 };
	struct jcs_meter meter = { 0 };

	(void)unused;
	assert_int_equal(jcs_meter_add(&meter, &stream, 100), 0);
	assert_int_equal(jcs_meter_add(&meter, &stream, 101), 1);
	assert_int_equal(jcs_meter_add(&meter, &stream, 102), 0);
	assert_int_equal(jcs_meter_add(&meter, &stream, 104), 0);
	assert_int_equal(jcs_meter_add(&meter, &stream, 106), 8);
	assert_int_equal(jcs_meter_add(&meter, &stream, 114), 0);
	assert_int_equal(jcs_meter_add(&meter, &stream, 1000), 0);
	assert_int_equal(jcs_meter_add(&meter, &stream, 1002), 0);
}

static void test_rates(void **unused)
{
	struct jcs stream;

	(void)unused;
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 50000, 1000000000, 100, 1000 }, &stream), 0);
	assert_int_equal(stream.period, 20000);
	assert_int_equal(stream.distance, 1000);
	assert_int_equal(stream.earliness, 99 * 19000);
	assert_int_equal(jcs_burst(&stream), 100);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 3, 10, 1, 0 }, &stream), 0);
	assert_int_equal(stream.period, 3);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 0, 10, 1, 0 }, &stream), -EINVAL);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 11, 10, 1, 0 }, &stream), -EINVAL);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 3, 10, 0, 0 }, &stream), -EINVAL);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 3, 10, 1, 4 }, &stream), -EINVAL);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 1, JCS_TIME_MAX, UINT64_MAX, 0 }, &stream), -EINVAL);
	assert_int_equal(jcs_from_rate(&(struct jcs_rate){ 1, UINT64_MAX, 1, 0 }, &stream), -EINVAL);
}

/* The largest figures that the checks accept are computed right, or are unbounded. */
static void test_extremes(void **unused)
{
	const uint64_t most = JCS_TIME_MAX;
	const struct jcs strict = { most, most - 1, most }, dense = { 1, 0, most }, spaced = { 7, 7, most };
	const struct jcs_monitor monitor = { most, most }, quick = { 1, 0 };
	uint64_t elements;

	(void)unused;
	assert_int_equal(jcs_burst(&strict), most + 1);
	assert_int_equal(jcs_count(&strict, UINT64_MAX), UINT64_MAX / (most - 1) + 1);
	assert_int_equal(jcs_most(&dense, &monitor), 2 * most);
	assert_int_equal(jcs_latency(&dense, &monitor, most), 3 * most);
	assert_int_equal(jcs_backlog(&dense, &quick, 1), most + 1);
	assert_int_equal(jcs_burst(&spaced), JCS_UNBOUNDED);
	assert_int_equal(jcs_least(&spaced, &monitor), jcs_most(&spaced, &monitor));
	assert_int_equal(jcs_admit(&spaced, &monitor, 2 * most, &elements), 0);
	assert_int_equal(elements, jcs_least(&spaced, &monitor));
	assert_int_equal(jcs_check(&(struct jcs){ 0, 0, 0 }), -EINVAL);
	assert_int_equal(jcs_check(&(struct jcs){ 1, 2, 0 }), -EINVAL);
	assert_int_equal(jcs_check(&(struct jcs){ 1, 0, most + 1 }), -EINVAL);
	assert_int_equal(jcs_monitor_check(&(struct jcs_monitor){ 0, 0 }), -EINVAL);
	assert_int_equal(jcs_monitor_check(&(struct jcs_monitor){ 1, 2 }), -EINVAL);
}

static void test_runtime(void **unused)
{
	const struct jcs_share shares[] = { { 15, 800 }, { 3, 2000 }, { UINT64_MAX, UINT64_MAX } };

	(void)unused;
	assert_int_equal(jcs_runtime(shares, 0, 50), 50);
	assert_int_equal(jcs_runtime(shares, 2, 50), 12000 + 6000 + 2000 + 50);
	assert_int_equal(jcs_runtime(shares, 3, 50), JCS_UNBOUNDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_enumeration),
		cmocka_unit_test(test_meter),   cmocka_unit_test(test_streams_keep_the_bound),
		cmocka_unit_test(test_rates),   cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
