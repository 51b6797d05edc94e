// SPDX-License-Identifier: BSD-2-Clause
/* Moments are written as RFC 3339 has it, in UTC and in zones east and west of it. */

#include "base/date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void expect(uint64_t ns, const char *zone, const char *expected)
{
	char text[DATE_BYTES];

	setenv("TZ", zone ? zone : "Asia/Kolkata", 1);
	tzset();
	date_print(ns, !zone, text);
	assert_string_equal(text, expected);
}

static void utc(void **state)
{
	(void)state;
	expect(0, NULL, "1970-01-01T00:00:00.000000000Z");
	expect(UINT64_C(1700000001123456789), NULL, "2023-11-14T22:13:21.123456789Z");
	expect(UINT64_C(1709164799999999999), NULL, "2024-02-28T23:59:59.999999999Z");
	expect(UINT64_C(1709164800000000000), NULL, "2024-02-29T00:00:00.000000000Z");
	expect(UINT64_MAX, NULL, "2554-07-21T23:34:33.709551615Z");
}

static void zones(void **state)
{
	(void)state;
	expect(UINT64_C(1700000001123456789), "UTC0", "2023-11-14T22:13:21.123456789+00:00");
	expect(UINT64_C(1700000001123456789), "ABC-5:30", "2023-11-15T03:43:21.123456789+05:30");
	expect(UINT64_C(1700000001123456789), "ABC3:30", "2023-11-14T18:43:21.123456789-03:30");
	expect(0, "ABC0:00:59", "1969-12-31T23:59:01.000000000-00:00");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(utc), cmocka_unit_test(zones) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
