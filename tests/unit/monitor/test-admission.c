// SPDX-License-Identifier: BSD-2-Clause
/* What is admitted, and with which words the rest is refused. */

#include "monitor/admission.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { US = 1000, MS = 1000 * 1000 };

static struct admission_sensor declared(const char *name, uint64_t rate, uint64_t burst, uint64_t cost_ns)
{
	struct admission_sensor sensor = { .name = name, .is_declared = true, .cost_ns = cost_ns };
	const struct jcs_rate said = { .count = rate, .time = 1000 * MS, .burst = burst };

	assert_int_equal(jcs_from_rate(&said, &sensor.stream), 0);
	return sensor;
}

static void expect(const struct asterism_diag *diag, const char *text, const char *hint)
{
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	assert_string_equal(asterism_diag_get(diag, 0)->text, text);
	assert_string_equal(asterism_diag_get(diag, 0)->hint, hint);
}

static void test_admitted(void **state)
{
	struct admission_sensor sensors[] = {
		declared("a", 50000, 100, 2 * US),
		declared("b", 1000, 1, 10 * US),
		{ .name = "c", .cost_ns = 5 * US },
	};
	struct admission admission = {
		.monitor = { MS, MS },
		.wanted_ns = 3 * MS,
		.wake_ns = 50 * US,
		.sensors = sensors,
		.count = 3,
	};

	(void)state;
	assert_int_equal(admission_decide(&admission, NULL), 0);
	assert_int_equal(admission.declared, 2);
	assert_true(sensors[0].latency_ns <= 3 * MS);
	assert_true(jcs_latency(&sensors[0].stream, &admission.monitor, sensors[0].elements - 1) > 3 * MS);
	assert_int_equal(sensors[1].elements, 1);
	assert_int_equal(sensors[2].elements, 0);
	assert_int_equal(admission.runtime_ns, sensors[0].elements * 2 * US + 10 * US + 10 * US + 50 * US);
	assert_true(sensors[0].waiting >= jcs_backlog(&sensors[0].stream, &admission.monitor, sensors[0].elements));
}

static void test_too_soon(void **state)
{
	struct admission_sensor sensor = declared("a", 1000, 1, US);
	struct admission admission = {
		.monitor = { MS, MS },
		.wanted_ns = 1500 * US,
		.sensors = &sensor,
		.count = 1,
	};
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(admission_decide(&admission, diag), -ERANGE);
	expect(diag,
	       "latency 1.5 ms is shorter than one period plus its deadline (2 ms): no event can be promised to be "
	       "evaluated that soon",
	       "use --period 750us, or --latency 2000us");
	asterism_diag_free(diag);
	/* What it says does. */
	admission.monitor = (struct jcs_monitor){ 750 * US, 750 * US };
	assert_int_equal(admission_decide(&admission, NULL), 0);
}

static void test_too_much(void **state)
{
	struct admission_sensor sensors[] = { declared("a", 1000, 1, US), declared("b", 10000, 10, 100 * US) };
	struct admission admission = {
		.monitor = { MS, MS },
		.wanted_ns = 3 * MS,
		.wake_ns = 50 * US,
		.sensors = sensors,
		.count = 2,
	};
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(admission_decide(&admission, diag), -E2BIG);
	expect(diag, "the evaluations need 1.151 ms per period, but have only 1 ms until their deadline",
	       "b may bring 10 events per period at 100 us each; alone it could bring 8: lower its rate or burst, "
	       "allow more --latency, "
	       "or "
	       "use --copy");
	asterism_diag_free(diag);
	admission.copy_ns = US;
	assert_int_equal(admission_decide(&admission, NULL), 0);
}

static void test_nothing_declared(void **state)
{
	struct admission_sensor sensor = { .name = "a", .cost_ns = US };
	struct admission admission = { .monitor = { MS, MS }, .sensors = &sensor, .count = 1 };

	(void)state;
	assert_int_equal(admission_decide(&admission, NULL), 0);
	assert_int_equal(admission.declared, 0);
	assert_int_equal(admission.runtime_ns, 0);
	admission.monitor.deadline = 2 * MS;
	assert_int_equal(admission_decide(&admission, NULL), -EINVAL);
}

static void test_rings(void **state)
{
	(void)state;
	assert_int_equal(admission_ring_holds(1024, 16, 5), 14 * ((1024 - 14 - 5) / 5));
	assert_int_equal(admission_ring_holds(256, 2, 5), 0);
	assert_int_equal(admission_ring_holds(256, 16, 200), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_admitted), cmocka_unit_test(test_too_soon),
		cmocka_unit_test(test_too_much), cmocka_unit_test(test_nothing_declared),
		cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
