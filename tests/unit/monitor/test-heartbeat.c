// SPDX-License-Identifier: BSD-2-Clause
/* Heartbeats that stay away, and when that is told; against a plain list of when each key was last seen. */

#include "event/type.h"
#include "monitor/heartbeat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct monitor_field none = { .word = MONITOR_NONE };
static const struct monitor_field pid = { MONITOR_UNSIGNED, offsetof(struct event_header, pid), 4 };

static struct heartbeat *make(const struct monitor_field *key, uint32_t keys)
{
	const struct heartbeat_shape shape = { *key, keys, 100 };
	struct heartbeat *heartbeat;

	assert_int_equal(heartbeat_new(&shape, &heartbeat), 0);
	return heartbeat;
}

static void beat(struct heartbeat *heartbeat, uint64_t at_ns, uint32_t of)
{
	const struct event_header record = { .ts = at_ns, .pid = of };
	const struct monitor_element element = { .at_ns = at_ns, .data = &record, .bytes = sizeof record };

	monitor_evaluate(&heartbeat_kind, heartbeat, &element);
}

static void expect(struct heartbeat *heartbeat, const struct heartbeat_news *wanted)
{
	struct heartbeat_news news;

	assert_true(heartbeat_next(heartbeat, &news));
	assert_int_equal(news.at_ns, wanted->at_ns);
	assert_int_equal(news.since_ns, wanted->since_ns);
	assert_int_equal(news.row, wanted->row);
	assert_int_equal(news.is_back, wanted->is_back);
}

static void expect_none(struct heartbeat *heartbeat)
{
	struct heartbeat_news news;

	assert_false(heartbeat_next(heartbeat, &news));
}

static void test_one(void **unused)
{
	struct heartbeat *heartbeat = make(&none, 1);
	struct heartbeat_counts counts;

	(void)unused;
	heartbeat_kind.pass(heartbeat, 1000);
	beat(heartbeat, 1100, 0); /* in time: not later than the limit */
	heartbeat_kind.pass(heartbeat, 1200);
	expect_none(heartbeat);
	heartbeat_kind.pass(heartbeat, 1201);
	expect(heartbeat, &(struct heartbeat_news){ 1200, 1100, 0, false });
	heartbeat_kind.pass(heartbeat, 5000); /* told once */
	expect_none(heartbeat);
	beat(heartbeat, 5001, 0);
	expect(heartbeat, &(struct heartbeat_news){ 5001, 1100, 0, true });
	beat(heartbeat, 6000, 0); /* nobody said that time has passed: the element does */
	expect(heartbeat, &(struct heartbeat_news){ 5101, 5001, 0, false });
	expect(heartbeat, &(struct heartbeat_news){ 6000, 5001, 0, true });
	heartbeat_count(heartbeat, &counts);
	assert_int_equal(counts.elements, 3);
	assert_int_equal(counts.missed, 2);
	assert_int_equal(counts.missing, 0);
	heartbeat_free(heartbeat);
}

/* The one that never came is missing, too. */
static void test_never(void **unused)
{
	struct heartbeat *heartbeat = make(&none, 1);

	(void)unused;
	heartbeat_kind.pass(heartbeat, 1000);
	heartbeat_kind.pass(heartbeat, 2000);
	expect(heartbeat, &(struct heartbeat_news){ 1100, 1000, 0, false });
	heartbeat_free(heartbeat);
}

enum { KEYS = 7, STEPS = 200000 };

static void test_keys(void **unused)
{
	struct heartbeat *heartbeat = make(&pid, KEYS);
	uint64_t last[KEYS + 1] = { 0 }, now = 1, seed = 1, missed = 0, other = 0;
	struct heartbeat_news news;
	struct heartbeat_counts counts;
	bool missing[KEYS + 1] = { false };

	(void)unused;
	for (uint32_t i = 0; i < KEYS; i++) {
		beat(heartbeat, now, i);
		last[i] = now;
	}
	for (int step = 0; step < STEPS; step++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint32_t key = (uint32_t)(seed >> 40) % (KEYS + 1);
		uint32_t told = 0, expected = 0;

		now += (seed >> 33) % 20;
		for (uint32_t i = 0; i < KEYS; i++) {
			if (!missing[i] && now - last[i] > 100) {
				missing[i] = true;
				missed++;
				expected++;
			}
		}
		expected += key < KEYS && missing[key];
		other += key == KEYS;
		beat(heartbeat, now, key);
		while (heartbeat_next(heartbeat, &news)) {
			told++;
			assert_int_equal(news.since_ns, last[news.row]);
			assert_int_equal(news.at_ns, news.is_back ? now : last[news.row] + 100);
		}
		assert_int_equal(told, expected);
		missing[key] = false;
		last[key] = now;
	}
	heartbeat_count(heartbeat, &counts);
	assert_int_equal(counts.missed, missed);
	assert_int_equal(counts.other, other);
	assert_true(missed > 100 && other > 100);
	heartbeat_free(heartbeat);
}

static void test_late(void **unused)
{
	struct heartbeat *heartbeat = make(&pid, 2);

	(void)unused;
	beat(heartbeat, 1000, 1);
	beat(heartbeat, 950, 2);
	beat(heartbeat, 900, 1); /* of no effect: it came before */
	heartbeat_kind.pass(heartbeat, 1051);
	expect(heartbeat, &(struct heartbeat_news){ 1050, 950, 1, false });
	expect_none(heartbeat);
	heartbeat_free(heartbeat);
}

/* Nobody takes the news: what found no place is counted, and the rest is the oldest. */
static void test_untold(void **unused)
{
	struct heartbeat *heartbeat = make(&none, 1);
	struct heartbeat_counts counts;
	uint64_t now = 1;

	(void)unused;
	for (int i = 0; i < HEARTBEAT_NEWS; i++)
		beat(heartbeat, now += 200, 0);
	heartbeat_count(heartbeat, &counts);
	assert_int_equal(counts.untold, 2 * (HEARTBEAT_NEWS - 1) - HEARTBEAT_NEWS);
	expect(heartbeat, &(struct heartbeat_news){ 301, 201, 0, false });
	heartbeat_free(heartbeat);
}

static void test_refused(void **unused)
{
	struct heartbeat *heartbeat;

	(void)unused;
	assert_int_equal(heartbeat_new(&(struct heartbeat_shape){ none, 1, 0 }, &heartbeat), -EINVAL);
	assert_int_equal(heartbeat_new(&(struct heartbeat_shape){ none, 0, 1 }, &heartbeat), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),  cmocka_unit_test(test_never),  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_late), cmocka_unit_test(test_untold), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
