// SPDX-License-Identifier: BSD-2-Clause
/* When a value is what a test expects, and what is said where it is not. */

#include "cmd/ruletest/compare.h"

#include <stddef.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static unsigned differ(const char *wanted_text, const char *actual_text, struct text_buffer *why)
{
	json_t *wanted = json_loads(wanted_text, JSON_DECODE_ANY, NULL),
	       *actual = json_loads(actual_text, JSON_DECODE_ANY, NULL);
	unsigned differences;

	assert_non_null(wanted);
	assert_non_null(actual);
	differences = compare_differences(wanted, actual, why);
	json_decref(wanted);
	json_decref(actual);
	return differences;
}

static bool fits(const char *wanted, const char *actual)
{
	return differ(wanted, actual, NULL) == 0;
}

static void assert_told(const char *wanted, const char *actual, unsigned count, const char *expected)
{
	struct text_buffer why = { 0 };

	assert_int_equal(differ(wanted, actual, &why), count);
	text_append_bytes(&why, "", 1);
	assert_string_equal(why.bytes, expected);
	text_fini(&why);
}

static void relations_hold_for_numbers(void **state)
{
	(void)state;
	assert_true(fits("\">=3\"", "3") && !fits("\">=3\"", "2"));
	assert_true(fits("\"<=3\"", "3") && !fits("\"<=3\"", "4"));
	assert_true(fits("\">3\"", "4") && !fits("\">3\"", "3"));
	assert_true(fits("\"<3\"", "2") && !fits("\"<3\"", "3"));
	assert_true(fits("\"!=3\"", "2") && !fits("\"!=3\"", "3"));
	assert_true(fits("\"> -1.5\"", "-1") && !fits("\"<-1.5\"", "-1.5"));
	assert_true(fits("\">=0.5\"", "0.5"));
}

/* As doubles they would be the same. */
static void whole_numbers_are_compared_by_every_digit(void **state)
{
	(void)state;
	assert_true(fits("\">9007199254740992\"", "9007199254740993"));
	assert_false(fits("\">=9007199254740993\"", "9007199254740992"));
	assert_false(fits("9007199254740992", "9007199254740993"));
	assert_true(fits("3", "3.0") && fits("3.0", "3") && !fits("3", "3.5"));
}

static void what_is_no_relation_is_a_text(void **state)
{
	static const char *const none[] = { ">", ">=", "> x", "=3", ">3x", ">-", "3", "", ">3 ", "=>3" };

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (compare_is_relation(none[i]))
			fail_msg("'%s' is a relation", none[i]);
	assert_true(compare_is_relation(">=100") && compare_is_relation("<  -1e3"));
	assert_true(fits("\">3\"", "\">3\""));
	assert_false(fits("\">3\"", "\"abc\""));
	assert_false(fits("\">x\"", "4"));
	assert_false(fits("\"!=3\"", "null"));
	assert_false(fits("\"!=3\"", "true"));
}

static void what_is_not_wanted_does_not_count(void **state)
{
	(void)state;
	assert_true(fits("{\"a\":1}", "{\"a\":1,\"b\":2}"));
	assert_true(fits("{}", "{\"b\":2}"));
	assert_false(fits("{\"a\":null}", "{\"b\":2}"));
	assert_true(fits("[{},{\"a\":1}]", "[{\"x\":1},{\"a\":1,\"b\":2}]"));
	assert_false(fits("[]", "[1]"));
	assert_false(fits("[1]", "[]"));
	assert_false(fits("[1,2]", "[2,1]"));
	assert_false(fits("{}", "[]"));
}

static void differences_have_their_place(void **state)
{
	(void)state;
	assert_told("{\"return\":{\"fd\":5}}", "{\"return\":{\"fd\":4}}", 1, "return.fd is 4, not 5");
	assert_told("{\"a\":{\"b\":1},\"c\":\">2\"}", "{\"a\":{},\"c\":2}", 2,
		    "a.b is missing, not 1; c is 2, not \">2\"");
	assert_told("{\"s\":[1,{\"t\":2}]}", "{\"s\":[1,{\"t\":3}]}", 1, "s[1].t is 3, not 2");
	assert_told("1", "2", 1, "it is 2, not 1");
	assert_told("1", "1", 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relations_hold_for_numbers),
		cmocka_unit_test(whole_numbers_are_compared_by_every_digit),
		cmocka_unit_test(what_is_no_relation_is_a_text),
		cmocka_unit_test(what_is_not_wanted_does_not_count),
		cmocka_unit_test(differences_have_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
