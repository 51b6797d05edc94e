// SPDX-License-Identifier: BSD-2-Clause
/* How --set and --assume are written: names, files, values, and what is given twice. */

#include "cmd/options/assume.h"
#include "cmd/options/settings.h"

#include "asterism/diag.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int check(const char *before, const char *text, const char *expected)
{
	const char *texts[] = { before };
	struct cli_value value = { .texts = texts, .count = before ? 1 : 0 };
	struct asterism_diag *diag = asterism_diag_new();
	int result = cmd_settings_check(&value, text, diag);

	if (result)
		assert_string_equal(asterism_diag_get(diag, 0)->text, expected);
	asterism_diag_free(diag);
	return result;
}

static void settings_have_a_name_and_a_value(void **state)
{
	(void)state;
	assert_int_equal(check(NULL, "limit=100ms", ""), 0);
	assert_int_equal(check(NULL, "_a1=x=y", ""), 0);
	assert_int_equal(check(NULL, "slow-syscall.limit=1", ""), 0);
	assert_int_equal(check(NULL, "a.b.limit=1", ""), 0);
	assert_int_equal(check(NULL, "limit", "--set: 'limit' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, "limit=", "--set: 'limit=' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, "=1", "--set: '=1' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, "1a=1", "--set: '1a=1' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, "a-b=1", "--set: 'a-b=1' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, ".a=1", "--set: '.a=1' is not NAME=VALUE"), -EINVAL);
	assert_int_equal(check(NULL, "file.=1", "--set: 'file.=1' is not NAME=VALUE"), -EINVAL);
}

static void a_name_has_one_value(void **state)
{
	(void)state;
	assert_int_equal(check("a=1", "a=2", "--set gives a two values: 1 and 2"), -EINVAL);
	assert_int_equal(check("a=1", "a=1", "--set gives a two values: 1 and 1"), -EINVAL);
	assert_int_equal(check("a=1", "ab=2", ""), 0);
	assert_int_equal(check("ab=1", "a=2", ""), 0);
	assert_int_equal(check("a=1", "f.a=2", ""), 0);
	assert_int_equal(check("f.a=1", "f.a=2", "--set gives f.a two values: 1 and 2"), -EINVAL);
}

/* A dot in the value makes it no file's. */
static void what_is_of_one_file_comes_last(void **state)
{
	const char *texts[] = { "f.a=1", "b=0.5", "g.c=3", "d==" };
	struct cli_arguments *arguments = calloc(1, sizeof *arguments);
	static const char *const names[] = { "b", "d", "f.a", "g.c" }, *const values[] = { "0.5", "=", "1", "3" };
	struct cmd_settings settings;

	(void)state;
	arguments->options[OPTION_SET] = (struct cli_value){ .texts = texts, .count = 4 };
	assert_int_equal(cmd_settings_init(&settings, arguments), 0);
	assert_int_equal(settings.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(settings.rows[i].name, names[i]);
		assert_string_equal(settings.rows[i].text, values[i]);
	}
	cmd_settings_fini(&settings);
	free(arguments);
}

static void assumptions_name_a_probability(void **state)
{
	struct cmd_assumption read;

	(void)state;
	assert_true(cmd_assumption_read("p1=0.25", &read));
	assert_true(read.rule_length == 0 && read.name == 1 && read.value == 0.25);
	assert_true(cmd_assumption_read("a.rule.p12=1", &read));
	assert_true(read.rule_length == 6 && read.name == 12 && read.value == 1);
	assert_memory_equal(read.rule, "a.rule", 6);
	assert_true(cmd_assumption_read("p1=0", &read));
}

static void what_is_no_probability_is_no_assumption(void **state)
{
	static const char *const wrong[] = { "",        "p1",      "p1=",    "p=0.5",          "p0=0.5",
					     "p01=0.5", "p1x=0.5", "q1=0.5", "p1=1.001",       "p1=-0.1",
					     "p1=nan",  "p1=0.5x", "p1=inf", "p4294967296=0.5" };
	struct asterism_diag *diag = asterism_diag_new();
	struct cmd_assumption read;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (cmd_assumption_read(wrong[i], &read))
			fail_msg("'%s' is taken", wrong[i]);
	assert_int_equal(cmd_assumption_check(NULL, "p1=2", diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "write p1=0.25 or RULE.p1=0.25, with a probability from 0 to 1");
	asterism_diag_free(diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_have_a_name_and_a_value),
		cmocka_unit_test(a_name_has_one_value),
		cmocka_unit_test(what_is_of_one_file_comes_last),
		cmocka_unit_test(assumptions_name_a_probability),
		cmocka_unit_test(what_is_no_probability_is_no_assumption),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
