// SPDX-License-Identifier: BSD-2-Clause
/* The layout of returned values, and the header that tells C of it. */

#include "base/alloc.h"
#include "program/values-header.h"
#include "program/values.h"
#include "session/load/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct session_rules *compile(const char *text)
{
	const struct session_rules_source source = { .name = "text", .bytes = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules = NULL;

	if (session_rules_take(&source, diag, &rules))
		fail_msg("%s", asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return rules;
}

static uint64_t layout_of(const char *returns, size_t *bytes)
{
	struct program_values values;
	struct session_rules *rules;
	char text[512];

	snprintf(text, sizeof text, "RULE r PATTERN { [sys_enter_openat:a] } RETURN { %s }", returns);
	rules = compile(text);
	program_values_layout(session_rules_program(rules), 0, &values);
	session_rules_free(rules);
	*bytes = values.bytes;
	return values.layout;
}

static void layouts_differ(void **state)
{
	static const char *const returns[] = {
		"a.tid AS x",
		"a.tid AS y",

		"(a.tid > 0) AS x",
		"a.filename AS x",
		"a.comm AS x",
		"a.tid AS x, a.dfd AS y",
		"a.dfd AS y, a.tid AS x",
		"1.5 AS x",
		"\"ab\" AS x",
		"\"abc\" AS x",
	};
	enum { COUNT = sizeof returns / sizeof *returns };
	uint64_t layouts[COUNT];
	size_t bytes;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		layouts[i] = layout_of(returns[i], &bytes);
		assert_int_equal(bytes % 8, 0);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(layouts[i], layouts[j]);
	}
	assert_int_equal(layout_of(returns[0], &bytes), layouts[0]);
	assert_int_equal(bytes, PROGRAM_VALUES_HEAD_BYTES + 8);
}

static void places_are_aligned(void **state)
{
	static const char text[] = "RULE r PATTERN { [sys_enter_openat:a] }\n"
				   "RETURN { (a.tid > 0) AS yes, \"ab\" AS text, a.tid AS x, (a.tid > 1) AS no }";
	static const size_t offsets[] = { 16, 17, 24, 32 }, bytes[] = { 1, 3, 8, 1 };
	struct session_rules *rules = compile(text);
	struct program_values values = { 0 };
	struct program_place place;

	(void)state;
	while (program_values_next(session_rules_program(rules), 0, &values, &place)) {
		assert_int_equal(place.offset, offsets[values.count - 1]);
		assert_int_equal(place.bytes, bytes[values.count - 1]);
	}
	assert_int_equal(values.count, 4);
	assert_int_equal(values.bytes, 40);
	session_rules_free(rules);
}

static int write_header(const struct session_rules *rules, char **text)
{
	size_t length;
	FILE *stream = open_memstream(text, &length);
	int result;

	assert_non_null(stream);
	result = program_write_values_header(stream, session_rules_program(rules), NULL);
	fclose(stream);
	return result;
}

static void every_allocation_may_fail(void **state)
{
	struct session_rules *rules = compile("RULE r PATTERN { [sys_enter_openat:a] } RETURN { a.tid AS x }");
	unsigned long failing = 0;
	char *text;
	int result;

	(void)state;
	do {
		alloc_fail_at(++failing);
		result = write_header(rules, &text);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		if (!result)
			assert_non_null(strstr(text, "\tint64_t x; /* x */\n};"));
		free(text);
	} while (result);
	assert_true(failing > 1);
	session_rules_free(rules);
}

static int write_with(int count)
{
	char rule[4096] = "RULE r PATTERN { [sys_enter_openat:a] } RETURN { a.tid AS v0", *text;
	struct session_rules *rules;
	int result;

	for (int i = 1; i < count; i++)
		snprintf(rule + strlen(rule), sizeof rule - strlen(rule), ", a.tid AS v%d", i);
	strcat(rule, " }");
	rules = compile(rule);
	result = write_header(rules, &text);
	free(text);
	session_rules_free(rules);
	return result;
}

static void too_many_values_are_refused(void **state)
{
	(void)state;
	assert_int_equal(write_with(VALUES_HEADER_MAX), 0);
	assert_int_equal(write_with(VALUES_HEADER_MAX + 1), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_differ),
		cmocka_unit_test(places_are_aligned),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(too_many_values_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
