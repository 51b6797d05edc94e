// SPDX-License-Identifier: BSD-2-Clause
/* What elements come to, by hand and against sums over lists; and that what another thread reads is whole. */

#include "base/log-linear.h"
#include "event/type.h"
#include "monitor/measure.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct record {
	struct event_header header;
	uint64_t value;
	char text[16];
};

enum { KEYS = 4 };

static const struct monitor_field none = { .word = MONITOR_NONE };
static const struct monitor_field whole = { MONITOR_UNSIGNED, offsetof(struct record, value), 8 };
static const struct monitor_field negative = { MONITOR_SIGNED, offsetof(struct record, value), 8 };
static const struct monitor_field real = { MONITOR_REAL, offsetof(struct record, value), 8 };
static const struct monitor_field text = { MONITOR_TEXT, offsetof(struct record, text), 16 };
static const struct monitor_field pid = { MONITOR_UNSIGNED, offsetof(struct record, header.pid), 4 };

static void put(struct measure *measure, const struct record *record)
{
	const struct monitor_element element = { .at_ns = record->header.ts, .data = record, .bytes = sizeof *record };

	monitor_evaluate(&measure_kind, measure, &element);
}

static void put_value(struct measure *measure, uint64_t at_ns, uint64_t value)
{
	put(measure, &(struct record){ .header = { .ts = at_ns }, .value = value });
}

static struct measure *make(const struct measure_shape *shape)
{
	struct measure *measure;

	assert_int_equal(measure_new(shape, &measure), 0);
	return measure;
}

static void test_times(void **unused)
{
	const struct measure_shape shape = { .value = none, .key = none, .keys_most = KEYS, .buckets = MEASURE_LOG };
	struct measure *measure = make(&shape);
	static const uint64_t times[] = { 1000, 1010, 1030, 1035, 1065 };
	uint64_t counts[LOG_LINEAR_BUCKETS];
	struct measure_sum sum;

	(void)unused;
	for (size_t i = 0; i < 5; i++)
		put_value(measure, times[i], 0);
	assert_true(measure_read(measure, 0, &sum, counts));
	assert_int_equal(sum.count, 5);
	assert_int_equal(sum.interval_least_ns, 5);
	assert_int_equal(sum.interval_most_ns, 30);
	assert_true(measure_interval_mean_ns(&sum) == 65 / 4.0);
	/* Intervals 10 20 5 30: differences 10 15 25; J16 = 10, 10+15-(18>>4)=24, 24+25-(32>>4)=47. */
	assert_int_equal(sum.jitter_most_ns, 25);
	assert_int_equal(sum.jitter16_ns, 47);
	assert_int_equal(sum.values, 4);
	assert_true(measure_mean(measure, &sum) == 65 / 4.0);
	assert_int_equal(counts[5] + counts[10] + counts[log_linear_bucket(20)] + counts[log_linear_bucket(30)], 4);
	put_value(measure, 1040, 0);
	assert_true(measure_read(measure, 0, &sum, NULL));
	assert_int_equal(sum.count, 6);
	assert_int_equal(sum.late, 1);
	assert_int_equal(sum.interval_most_ns, 30);
	measure_free(measure);
}

static void test_values(void **unused)
{
	struct measure_shape shape = { .value = negative, .key = none, .keys_most = 1, .buckets = MEASURE_LINEAR };
	uint64_t counts[4];
	struct measure_sum sum;

	(void)unused;
	shape.low = -20;
	shape.high = 20;
	shape.bucket_count = 4;
	struct measure *measure = make(&shape);
	static const int64_t values[] = { -21, -20, -1, 0, 9, 10, 19, 20, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < 10; i++)
		put_value(measure, i, (uint64_t)values[i]);
	assert_true(measure_read(measure, 0, &sum, counts));
	assert_int_equal(sum.below, 2);
	assert_int_equal(sum.above, 2);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 2);
	assert_int_equal(counts[3], 2);
	assert_true(sum.least.i64 == INT64_MIN && sum.most.i64 == INT64_MAX);
	assert_true(measure_mean(measure, &sum) == (16 - 1) / 10.0);
	assert_true(measure_linear_low(&shape, 3) == 10);
	measure_free(measure);

	shape.value = whole;
	measure = make(&shape);
	put_value(measure, 1, UINT64_MAX);
	put_value(measure, 2, UINT64_MAX);
	assert_true(measure_read(measure, 0, &sum, NULL));
	assert_true(measure_mean(measure, &sum) == 0x1p64);
	assert_int_equal(sum.above, 2);
	measure_free(measure);
}

static void test_reals(void **unused)
{
	const struct measure_shape shape = { real, none, 1, MEASURE_LINEAR, 0, 1, 10 };
	static const double values[] = { 0.05, 0.95, -1, 2 };
	struct measure *measure = make(&shape);
	struct measure_sum sum;
	uint64_t counts[10];

	(void)unused;
	for (size_t i = 0; i < 4; i++) {
		union monitor_value value = { .real = values[i] };

		put_value(measure, i, value.u64);
	}
	assert_true(measure_read(measure, 0, &sum, counts));
	assert_true(counts[0] == 1 && counts[9] == 1 && sum.below == 1 && sum.above == 1);
	assert_true(sum.least.real == -1 && sum.most.real == 2 && measure_mean(measure, &sum) == 0.5);
	measure_free(measure);
}

static void test_keys(void **unused)
{
	struct measure_shape shape = { .value = whole, .key = text, .keys_most = KEYS };
	struct measure *measure = make(&shape);
	struct measure_sum sum;

	(void)unused;
	for (uint32_t i = 0; i < 100; i++) {
		struct record record = { .header = { .ts = i }, .value = i };

		memset(record.text, 'a' + i % 5, 1 + i % 5);
		put(measure, &record);
	}
	assert_int_equal(monitor_keys_count(measure_keys(measure)), KEYS);
	assert_int_equal(measure_other(measure), 20);
	for (uint32_t row = 0; row < KEYS; row++) {
		assert_true(measure_read(measure, row, &sum, NULL));
		assert_int_equal(sum.count, 20);
		assert_int_equal(sum.least.u64, row);
		assert_int_equal(strlen(monitor_keys_get(measure_keys(measure), row)), row + 1);
	}
	measure_free(measure);

	shape.key = pid;
	measure = make(&shape);
	for (uint32_t i = 0; i < 9; i++)
		put(measure, &(struct record){ .header = { .ts = i, .pid = i % 3 + 7 } });
	assert_int_equal(monitor_keys_count(measure_keys(measure)), 3);
	assert_int_equal(*(const uint64_t *)monitor_keys_get(measure_keys(measure), 2), 9);
	measure_free(measure);
}

/* An element that is shorter than its type says has no value; nothing behind it is read. */
static void test_short(void **unused)
{
	const struct measure_shape shape = { .value = whole, .key = none, .keys_most = 1 };
	const struct record record = { .value = 7 };
	struct monitor_element element = { .data = &record, .bytes = offsetof(struct record, value) + 7 };
	struct measure *measure = make(&shape);
	struct measure_sum sum;

	(void)unused;
	monitor_evaluate(&measure_kind, measure, &element);
	assert_true(measure_read(measure, 0, &sum, NULL));
	assert_true(sum.count == 1 && sum.values == 0);
	element.bytes = 3;
	monitor_evaluate(&measure_kind, measure, &element);
	measure_free(measure);
}

static void test_refused(void **unused)
{
	struct measure *measure;

	(void)unused;
	assert_int_equal(measure_new(&(struct measure_shape){ .keys_most = 0 }, &measure), -EINVAL);
	assert_int_equal(measure_new(&(struct measure_shape){ .keys_most = 1, .value = text }, &measure), -EINVAL);
	assert_int_equal(measure_new(&(struct measure_shape){ none, none, 1, MEASURE_LINEAR, 5, 5, 1 }, &measure),
			 -EINVAL);
}

enum { READS = 20000 };

static _Atomic bool is_over;

/* All elements have the value of their time: whoever sees a sum that is half of two sees least and most disagree. */
static void *write_on(void *context)
{
	for (uint64_t i = 1; !atomic_load(&is_over); i++)
		put_value(context, i, i);
	return NULL;
}

static void test_reader_sees_whole_sums(void **unused)
{
	const struct measure_shape shape = { .value = whole, .key = none, .keys_most = 1 };
	struct measure *measure = make(&shape);
	struct measure_sum sum;
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_create(&thread, NULL, write_on, measure), 0);
	for (int i = 0; i < READS; i++) {
		if (!measure_read(measure, 0, &sum, NULL) || !sum.count)
			continue;
		assert_int_equal(sum.most.u64, sum.count);
		assert_int_equal(sum.last_ns, sum.count);
		assert_int_equal(sum.sum.u64, sum.count * (sum.count + 1) / 2);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	measure_free(measure);
}

static void test_shared(void **unused)
{
	const struct measure_shape shape = { .value = none, .key = none, .keys_most = 1 };
	struct measure *measure = make(&shape), *twin = measure_kind.twin(measure);

	(void)unused;
	put_value(twin, 1, 1);
	measure_kind.release(measure_share(measure));
	measure_kind.lose(measure, 5);
	assert_int_equal(measure_lost(measure), 5);
	measure_kind.release(twin);
	measure_free(measure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),  cmocka_unit_test(test_values),
		cmocka_unit_test(test_reals),  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_short),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_shared), cmocka_unit_test(test_reader_sees_whole_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
