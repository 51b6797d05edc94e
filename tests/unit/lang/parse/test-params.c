// SPDX-License-Identifier: BSD-2-Clause
/* Parameters: where they may stand, where they may be declared, what they may be set to. */

#include "base/alloc.h"
#include "read-text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_everywhere(void **state)
{
	(void)state;
	expect_rule(
		"PARAM least = 2 PARAM n = 5;\n"
		"RULE r PATTERN { [A[>=least]:a, A:b, [A, C]{n}, A[least..n], [A]{least,n}] }\n"
		"WHERE { b.x > n, b.s LIKE pat, b.r < -f, b.t == on, b.x IN { neg, -neg, 3 }, b.u == big }\n"
		"WITHIN long POOL n RETURN { b.x + n, long } DO { EMIT B(x = neg, s = pat); CALL Message(pat, n) }\n"
		"PARAM long = 5s PARAM pat = \"a\\x62*\" PARAM f = 1.5 PARAM on = TRUE param neg = -7,\n"
		"PARAM big = 18446744073709551615",
		"skiptillnext [A[2..]:a A:b [A C]{5..5} A[3..4] [A]{2..5}]\nguard b (b.x > 5)\n"
		"guard b (b.s:string like \"ab*\")\nguard b (b.r:f64 < -1.5:f64)\nguard b (b.t:bool == true)\n"
		"guard b ((b.x == -7) or ((b.x == 7) or (b.x == 3)))\nguard b (b.u:u64 == 18446744073709551615:u64)\n"
		"return b.x + n = (b.x + 5)\nreturn long = 5000000000\nemit B(x=-7, s=\"ab*\")\n"
		"call Message(\"ab*\", 5)\nwithin 5000000000\npool 5\nover A C\n");
}

static void test_negative(void **state)
{
	(void)state;
	expect_rule("RULE r PATTERN { A:a } WHERE { a.x == low, a.x == -low, a.x == - -three } PARAM three = 3\n"
		    "PARAM low = -9223372036854775808",
		    "skiptillnext A:a\nguard a (a.x == -9223372036854775808)\nguard a (a.x == -9223372036854775808)\n"
		    "guard a (a.x == (0 - -3))\nover A\n");
}

/* What is no whole name of a value is no parameter: events, fields, names of values. */
static void test_no_constant(void **state)
{
	(void)state;
	expect_rule("PARAM a = 3 PARAM x = 4 PARAM A = 5 RULE r PATTERN { A:a } WHERE { [x], a.x == x } RETURN { a.x "
		    "AS a }",
		    "skiptillnext A:a\njoin x\nguard a (a.x == 4)\nreturn a = a.x\nover A\n");
}

struct set {
	const struct lang_setting *settings;
	size_t count;
};

static void read_set(struct reading *reading, const char *text, struct set set)
{
	const struct lang_input input = { .file = "t.rule", .text = text, .length = strlen(text) };

	*reading = (struct reading){ .catalog = event_catalog_new(), .diag = asterism_diag_new() };
	reading->result = lang_read_with(
		&(struct lang_sources){
			.inputs = &input, .input_count = 1, .settings = set.settings, .setting_count = set.count },
		reading->catalog, reading->diag, &reading->program);
	if (reading->result == 0)
		reading->unit = lang_program_unit(reading->program);
}

static const char text[] =
	"EVENT A { x: i64, s: string, r: f64, t: bool }\n"
	"PARAM n = 3 PARAM t = 20ms PARAM z = 4KiB PARAM r = 1.5 PARAM b = TRUE PARAM s = \"x\"\n"
	"RULE q PATTERN { A:a } WHERE { a.x == n, a.x <= t, a.x >= z, a.r == r, a.t == b, a.s == s }";

static const struct lang_expr *constant(const struct reading *reading, uint32_t condition)
{
	return reading->unit->rules[0].conditions[condition].expr->right;
}

static void test_list(void **state)
{
	struct reading reading;

	(void)state;
	read_set(&reading, text, (struct set){ 0 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(reading.unit->parameter_count, 6);
	assert_string_equal(reading.unit->parameters[0].name, "n");
	assert_string_equal(reading.unit->parameters[1].text, "20ms");
	assert_string_equal(reading.unit->parameters[1].default_text, "20ms");
	assert_string_equal(reading.unit->parameters[5].text, "\"x\"");
	assert_int_equal(reading.unit->parameters[5].location.line, 2);
	assert_int_equal(constant(&reading, 1)->integer, 20000000);
	reading_fini(&reading);
}

static void test_set(void **state)
{
	static const struct lang_setting settings[] = {
		{ "n", "7" },  { "n", "-4" },    { "t", "2s" },         { "z", "100" },
		{ "r", "-2" }, { "b", "false" }, { "s", "/tmp/* a=b" },
	};
	struct reading reading;

	(void)state;
	read_set(&reading, text, (struct set){ settings, 7 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(constant(&reading, 0)->integer, -4);
	assert_int_equal(constant(&reading, 1)->integer, 2000000000);
	assert_int_equal(constant(&reading, 2)->integer, 100);
	assert_true(constant(&reading, 3)->real == -2.0);
	assert_int_equal(constant(&reading, 4)->integer, 0);
	assert_string_equal(constant(&reading, 5)->text, "/tmp/* a=b");
	assert_string_equal(reading.unit->parameters[0].text, "-4");
	assert_string_equal(reading.unit->parameters[0].default_text, "3");
	reading_fini(&reading);
}

static void expect_refused(const char *name, const char *value, const char *expected)
{
	const struct lang_setting setting = { name, value };
	struct reading reading;

	read_set(&reading, text, (struct set){ &setting, 1 });
	char *shown = show_messages(reading.diag);

	assert_int_not_equal(reading.result, 0);
	assert_string_equal(asterism_diag_get(reading.diag, 0)->file, "--set");
	assert_string_equal(shown, expected);
	alloc_free(shown);
	reading_fini(&reading);
}

static void test_set_wrong(void **state)
{
	(void)state;
	expect_refused("patience", "1",
		       "1:1+8: error: unknown parameter 'patience'\n\tthe parameters are n t z r b s\n");
	expect_refused(
		"n", "5ms",
		"1:3+3: error: the parameter 'n' takes an integer or the name of a constant\n\tit is 3 in the file\n"
		"2:7+1: note: the parameter is declared here\n");
	expect_refused("t", "4KiB",
		       "1:3+4: error: the parameter 't' takes a time\n\tit is 20ms in the file\n"
		       "2:19+1: note: the parameter is declared here\n");
	expect_refused("t", "5 parsec", "1:5+6: error: expected nothing more but found 'parsec'\n");
	expect_refused("t", "5x",
		       "1:3+2: error: '5x' has an unknown unit\n"
		       "\tthe units are ns us ms s min h and KiB MiB GiB\n");
	expect_refused("b", "1",
		       "1:3+1: error: the parameter 'b' takes TRUE or FALSE\n\tit is TRUE in the file\n"
		       "2:63+1: note: the parameter is declared here\n");
	expect_refused("r", "", "1:3+1: error: expected a constant but it ends here\n");
	expect_refused("s", "\"x", "1:3+2: error: the string is not closed\n\tend it with '\"' on the same line\n");
	expect_refused("s", "a\x1b", "error: this is not text: byte 0x1b at offset 3\n\ta rule file is UTF-8 text\n");
}

enum { FILES = 3 };

static const char *const texts[FILES] = {
	"EVENT A { x: i64, s: string } PARAM limit = 3 RULE q PATTERN { A:a } WHERE { a.x == limit } WITHIN t PARAM t "
	"= 5s",
	"RULE r PATTERN { A:a } WHERE { a.x == limit, a.x >= t } PARAM limit = 20ms PARAM t = 7",
	"PARAM limit = \"x\" RULE s PATTERN { A:a } WHERE { a.s == limit }",
};

/* The first count of the texts, in files of which two differ by the folder alone. */
static void read_files(struct reading *reading, size_t count, struct set set)
{
	static const char *const names[FILES] = { "some/one.two.rule", "/tmp/held-asleep.rule", "text" };
	struct lang_input inputs[FILES];

	for (size_t i = 0; i < count; i++)
		inputs[i] = (struct lang_input){ .file = names[i], .text = texts[i], .length = strlen(texts[i]) };
	*reading = (struct reading){ .catalog = event_catalog_new(), .diag = asterism_diag_new() };
	reading->result = lang_read_with(
		&(struct lang_sources){
			.inputs = inputs, .input_count = count, .settings = set.settings, .setting_count = set.count },
		reading->catalog, reading->diag, &reading->program);
	if (reading->result == 0)
		reading->unit = lang_program_unit(reading->program);
}

static int64_t limit_of(const struct reading *reading, uint32_t rule)
{
	return (int64_t)reading->unit->rules[rule].conditions[0].expr->right->integer;
}

/* Files that are read together have their own. */
static void test_files(void **state)
{
	struct reading reading;

	(void)state;
	read_files(&reading, 3, (struct set){ 0 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(limit_of(&reading, 0), 3);
	assert_int_equal(reading.unit->rules[0].within_ns, 5000000000);
	assert_int_equal(limit_of(&reading, 1), 20000000);
	assert_int_equal(reading.unit->rules[1].conditions[1].expr->right->integer, 7);
	assert_string_equal(reading.unit->rules[2].conditions[0].expr->right->text, "x");
	assert_int_equal(reading.unit->parameter_count, 5);
	assert_string_equal(reading.unit->parameters[1].name, "t");
	assert_string_equal(reading.unit->parameters[1].file, "one.two");
	assert_string_equal(reading.unit->parameters[2].name, "limit");
	assert_string_equal(reading.unit->parameters[2].file, "held-asleep");
	assert_string_equal(reading.unit->parameters[4].file, "text");
	reading_fini(&reading);
}

static void test_another_files(void **state)
{
	static const char one[] = "EVENT A { x: i64 } MACHINE m KEY { x } STATE S { ON A WHERE x == limt -> END }";
	static const char two[] = "PARAM limit = 3 RULE r PATTERN { A } POOL limit";
	const struct lang_input inputs[] = {
		{ .file = "one", .text = one, .length = strlen(one) },
		{ .file = "two", .text = two, .length = strlen(two) },
	};
	struct reading reading;

	(void)state;
	read_inputs(&reading, inputs, 2);
	char *shown = show_messages(reading.diag);

	assert_int_equal(reading.result, -EINVAL);
	assert_non_null(strstr(shown, "named 'limt' here"));
	assert_null(strstr(shown, "'limit'"));
	alloc_free(shown);
	reading_fini(&reading);
}

static void test_set_files(void **state)
{
	static const struct lang_setting both[] = { { "limit", "9" } }, one[] = { { "held-asleep.limit", "1ms" } },
					 first[] = { { "limit", "9" }, { "one.two.limit", "-8" } };
	struct reading reading;

	(void)state;
	read_files(&reading, 3, (struct set){ both, 1 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(limit_of(&reading, 0), 9);
	assert_int_equal(limit_of(&reading, 1), 9);
	assert_string_equal(reading.unit->rules[2].conditions[0].expr->right->text, "9");
	assert_string_equal(reading.unit->parameters[0].text, "9");
	assert_string_equal(reading.unit->parameters[2].text, "9");
	assert_string_equal(reading.unit->parameters[3].text, "7");
	reading_fini(&reading);
	read_files(&reading, 3, (struct set){ one, 1 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(limit_of(&reading, 0), 3);
	assert_int_equal(limit_of(&reading, 1), 1000000);
	reading_fini(&reading);
	read_files(&reading, 3, (struct set){ first, 2 });
	assert_int_equal(reading.result, 0);
	assert_int_equal(limit_of(&reading, 0), -8);
	assert_int_equal(limit_of(&reading, 1), 9);
	reading_fini(&reading);
}

static void expect_files_refused(const struct lang_setting *setting, size_t files, const char *expected)
{
	struct reading reading;

	read_files(&reading, files, (struct set){ setting, 1 });
	char *shown = show_messages(reading.diag);

	assert_int_equal(reading.result, -EINVAL);
	assert_string_equal(shown, expected);
	alloc_free(shown);
	reading_fini(&reading);
}

/* The file that cannot take it is named; with it, the others take nothing. */
static void test_set_files_wrong(void **state)
{
	(void)state;
	expect_files_refused(&(struct lang_setting){ "limit", "5s" }, 2,
			     "1:7+2: error: the parameter 'one.two.limit' takes an integer or the name of a "
			     "constant\n\tit is 3 in the file\n"
			     "1:37+5: note: the parameter is declared here\n");
	expect_files_refused(&(struct lang_setting){ "limit", "TRUE" }, 2,
			     "1:7+4: error: the parameter 'one.two.limit' takes an integer or the name of a "
			     "constant\n\tit is 3 in the file\n"
			     "1:37+5: note: the parameter is declared here\n"
			     "1:7+4: error: the parameter 'held-asleep.limit' takes a time\n\tit is 20ms in the file\n"
			     "1:63+5: note: the parameter is declared here\n");
	expect_files_refused(
		&(struct lang_setting){ "limit", "5x" }, 3,
		"1:7+2: error: '5x' has an unknown unit\n\tthe units are ns us ms s min h and KiB MiB GiB\n");
	expect_files_refused(&(struct lang_setting){ "helt-asleep.limit", "5" }, 2,
			     "1:1+17: error: unknown parameter 'helt-asleep.limit'\n"
			     "\tdid you mean 'held-asleep.limit'?\n");
	expect_files_refused(&(struct lang_setting){ "limits", "5" }, 2,
			     "1:1+6: error: unknown parameter 'limits'\n\tdid you mean 'limit'?\n");
	expect_files_refused(&(struct lang_setting){ "patience", "5" }, 2,
			     "1:1+8: error: unknown parameter 'patience'\n"
			     "\tthe parameters are one.two.limit one.two.t held-asleep.limit held-asleep.t\n");
	expect_files_refused(&(struct lang_setting){ "two.limit", "5" }, 1,
			     "1:1+9: error: unknown parameter 'two.limit'\n"
			     "\tdid you mean 'one.two.limit'?\n");
	expect_files_refused(&(struct lang_setting){ ".limit", "5" }, 1,
			     "1:1+6: error: unknown parameter '.limit'\n"
			     "\tthe parameters are one.two.limit one.two.t\n");
}

/* A setting that is a line of a file. */
static void test_set_line(void **state)
{
	const struct lang_setting setting = { "t", "1KiB", { "t.set", "  t = 1KiB ", 4, 2, 6 } };
	const struct asterism_message *message;
	struct reading reading;

	(void)state;
	read_files(&reading, 1, (struct set){ &setting, 1 });
	assert_int_equal(reading.result, -EINVAL);
	message = asterism_diag_get(reading.diag, 0);
	assert_string_equal(message->file, "t.set");
	assert_string_equal(message->source, "  t = 1KiB ");
	assert_int_equal(message->line, 4);
	assert_int_equal(message->column, 7);
	assert_int_equal(message->length, 4);
	reading_fini(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everywhere),  cmocka_unit_test(test_negative),
		cmocka_unit_test(test_no_constant), cmocka_unit_test(test_list),
		cmocka_unit_test(test_set),         cmocka_unit_test(test_set_wrong),
		cmocka_unit_test(test_files),       cmocka_unit_test(test_another_files),
		cmocka_unit_test(test_set_files),   cmocka_unit_test(test_set_files_wrong),
		cmocka_unit_test(test_set_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
