// SPDX-License-Identifier: BSD-2-Clause
/* Input that is large, deep, dense or hostile, and memory that runs short: an answer, soon, without recursion. */

#include "../size.h"

#include "base/alloc.h"
#include "read-text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* What would recurse over so many bytes has no stack left, and what is quadratic in them does not end. */
enum { LARGE = 1 << 20, LARGEST = 10 << 20 };

/* start, then part over and over, then end; free with alloc_free */
static char *repeat(const char *start, const char *part, size_t count, const char *end)
{
	struct text_buffer text = { 0 };
	char *taken;

	text_append(&text, start);
	for (size_t i = 0; i < count; i++)
		text_append(&text, part);
	text_append(&text, end);
	assert_int_equal(text_take(&text, &taken), 0);
	return taken;
}

/* The messages that such a text gives. */
static void expect_repeated(const char *start, const char *part, size_t bytes, const char *expected)
{
	char *text = repeat(start, part, sized(bytes, 5) / strlen(part), "");

	expect_messages(text, expected);
	alloc_free(text);
}

static void test_deep(void **state)
{
	(void)state;
	expect_repeated("RULE r PATTERN { ", "[", LARGE,
			"1:82+1: error: the pattern is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { ", "(", LARGE,
			"1:82+1: error: the pattern is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { ", "~", LARGE,
			"1:82+1: error: the pattern is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { A:a } WHERE { ", "(", LARGE,
			"1:96+1: error: the expression is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { A:a } WHERE { ", "-", LARGE,
			"1:96+1: error: the expression is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { A:a } WHERE { ", "NOT ", LARGE,
			"1:288+3: error: the expression is nested more than 64 levels deep\n");
	expect_repeated("RULE r PATTERN { A:a } WHERE { ", "1+", LARGE,
			"1:159+1: error: the expression is nested more than 64 levels deep\n");
	expect_repeated("", "[", LARGE, "1:1+1: error: expected RULE, MACHINE, PARAM, EVENT or EVENTS but found '['\n");
}

static void test_deepest(void **state)
{
	char *text = repeat("RULE r PATTERN { ", "[B, ", 63, "A");
	char *whole = repeat(text, "]", 63, " }");
	struct reading reading;

	(void)state;
	read_text(&reading, whole);
	assert_int_equal(reading.result, 0);
	reading_fini(&reading);
	alloc_free(text);
	alloc_free(whole);
}

static uint32_t depth_of(const struct lang_expr *expr)
{
	if (!expr)
		return 0;
	uint32_t left = depth_of(expr->left), right = depth_of(expr->right);

	return (left > right ? left : right) + 1;
}

/* Long lists of alternatives are fine and stay shallow. */
static void test_wide(void **state)
{
	char *ors = repeat("RULE r PATTERN { A:a } WHERE { a.x == 1", " OR a.x == 2", 5000, " }");
	char *in = repeat("RULE r PATTERN { A:a } WHERE { a.x IN { 1", ", 2", 5000, "} }");
	struct reading reading;

	(void)state;
	read_text(&reading, ors);
	assert_int_equal(reading.result, 0);
	assert_true(depth_of(reading.unit->rules[0].conditions[0].expr) <= 16);
	reading_fini(&reading);
	read_text(&reading, in);
	assert_int_equal(reading.result, 0);
	assert_true(depth_of(reading.unit->rules[0].conditions[0].expr) <= 16);
	reading_fini(&reading);
	alloc_free(ors);
	alloc_free(in);
}

/* An image takes names and strings up to these lengths; beyond, it must not be the image that complains. */
static void test_long(void **state)
{
	char *longest = repeat("RULE ", "r", 255, " PATTERN { A:a }");
	char *longer = repeat("RULE ", "r", 256, " PATTERN { A:a }");
	char *string = repeat("EVENT S { s: string }\nRULE r PATTERN { S:a } WHERE { a.s != \"", "x", 8191, "\" }");
	char *too_long = repeat("EVENT S { s: string }\nRULE r PATTERN { S:a } WHERE { a.s != \"", "x", 8192, "\" }");

	(void)state;
	expect_messages(longest, "");
	expect_messages(longer, "1:6+256: error: a name has at most 255 bytes\n");
	expect_messages(string, "");
	expect_messages(too_long, "2:39+8194: error: a string has at most 8191 bytes\n");
	alloc_free(longest);
	alloc_free(longer);
	alloc_free(string);
	alloc_free(too_long);
}

static void test_dense(void **state)
{
	char *ands = repeat("RULE r PATTERN { A:a } WHERE { 1 == 1", " OR 1 == 1", 22000, " }");

	(void)state;
	expect_messages(ands, "1:39+2: error: the expression has more than 65536 parts\n");
	alloc_free(ands);
	expect_repeated("RULE r PATTERN { A:a } WHERE { ", "1==1,", LARGEST,
			"1:1310747+1: error: the file has more than 1048576 parts\n\tsplit it into several files\n");
}

/* What conversions and balanced lists add to the depth of the text counts too. */
static void test_depth_with_conversions(void **state)
{
	char *text = repeat("RULE r PATTERN { A:a } WHERE { a.x", " / 2 * a.u", 30, " == 1.5 }");
	char *deep = repeat("RULE r PATTERN { A:a } WHERE { ", "(a.r == 1.5) == (FALSE OR ", 31, "TRUE");
	char *whole = repeat(deep, ")", 31, " }");
	struct reading reading;

	(void)state;
	read_text(&reading, text);
	assert_int_equal(reading.result, 0);
	assert_true(depth_of(reading.unit->rules[0].conditions[0].expr) <= LANG_DEPTH_MAX);
	reading_fini(&reading);
	read_text(&reading, whole);
	assert_int_equal(reading.result, 0);
	assert_true(depth_of(reading.unit->rules[0].conditions[0].expr) <= LANG_DEPTH_MAX);
	reading_fini(&reading);
	alloc_free(text);
	alloc_free(deep);
	alloc_free(whole);
}

/* Shallow as text, but each list of five adds two levels to the tree. */
static void test_too_deep_after_balancing(void **state)
{
	char *open = repeat("RULE r PATTERN { A:a } WHERE { ", "(", 40, "a.t");
	char *whole = repeat(open, " OR a.t OR a.t OR a.t OR a.t)", 40, " == TRUE }");

	(void)state;
	expect_messages(whole, "1:32+1211: error: the expression is nested more than 64 levels deep\n");
	alloc_free(open);
	alloc_free(whole);
}

static void test_large_file(void **state)
{
	struct lang_input input = { .file = "large", .length = LANG_FILE_BYTES_MAX + 1 };
	char *text = repeat("", "x", input.length, "");
	struct reading reading;

	(void)state;
	input.text = text;
	read_inputs(&reading, &input, 1);
	assert_int_equal(reading.result, -EINVAL);
	assert_string_equal(asterism_diag_get(reading.diag, 0)->text, "the file is larger than 16777216 bytes");
	reading_fini(&reading);
	alloc_free(text);
}

/* The text may end anywhere: nothing behind it is read. */
static void test_every_beginning(void **state)
{
	static const char whole[] =
		"EVENT E { q: i64 } EVENTS \"x\" RULE one SKIPTILLANY PATTERN { [A:a, ~(B:n | [B, A]), (C | [A[>=2]:c, "
		"B]{2})*] } "
		"WHERE { [pid], a.x IN { 1, 0x2 }, NOT n.x == -a.x AND c.max.x > 1.5s /* c */ } RETURN { a.x AS y, "
		"c[].len } "
		"DO { EMIT B(x = a.x); CALL Message(\"\\x41\", a#TID) } OVER { A, B } WITHIN 1s ON LOSS KEEP // end";
	char text[sizeof whole];

	(void)state;
	for (size_t length = 0; length < sizeof whole; length++) {
		struct reading reading;

		memcpy(text, whole, length);
		text[length] = 0;
		read_text(&reading, text);
		assert_int_equal(reading.result == 0, asterism_diag_count(reading.diag, ASTERISM_ERROR) == 0);
		reading_fini(&reading);
	}
}

static const char busy[] =
	"EVENT A { x: i64, s: string } EVENT B { x: i64 }\n"
	"RULE one STRICTPARTITION PATTERN { [A:a, ~(B:n | [B, A]), (B[>=2]:b | [A, B:c]{2})] } WHERE { [x], a.x IN { "
	"1, 2 },\n"
	"n.x == a.x AND b.len > 2, a.s LIKE \"q*\" } RETURN { a.x AS y, b.avg.x * 2.5 } DO { EMIT B(x = a.x); CALL "
	"Stop(a#TID) }\n"
	"OVER { A, B } WITHIN 1s\n"
	"PARAM q = \"x\" PARAM n = 3 MACHINE m KEY { k, pid } VAR v: u8 = n, s: string = q STATE One { ENTRY { v = 1 "
	"}\n"
	"ON A:a BY { a.x, pid } WHERE { v > n, a.x == k } -> Two { v = v + 1; WARN \"a {v} b {a.x + k}\"; EMIT B(x = "
	"k) }\n"
	"AFTER 5s -> END } STATE Two { ON A BY { x, pid } COPY BY { x, tid } -> Tow } ON B BY { x, * } -> END\n"
	"RULE two PATTERN { [A:a, C] } WHERE { a.y == 1, d.x == 2, a.x = } WITHN 3 RULE one PATTERN { A }\n";

/* The n-th allocation fails, for every n until none does: -ENOMEM each time, nothing leaks, nothing crashes. */
static void test_every_allocation_fails(void **state)
{
	const struct lang_input input = { .file = "busy", .text = busy, .length = strlen(busy) };
	unsigned long n = 0;
	int result;

	(void)state;
	do {
		struct event_catalog *catalog = event_catalog_new();
		struct asterism_diag *diag = asterism_diag_new();
		struct lang_program *program = NULL;

		assert_non_null(catalog);
		assert_non_null(diag);
		alloc_fail_at(++n);
		result = lang_read(&input, 1, catalog, diag, &program);
		alloc_fail_at(0);
		assert_null(program);
		assert_true(result == -ENOMEM || result == -EINVAL);
		assert_true(asterism_diag_count(diag, ASTERISM_ERROR) > 0);
		asterism_diag_free(diag);
		event_catalog_free(catalog);
		assert_true(n < 10000);
	} while (result == -ENOMEM);
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_deepest),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_depth_with_conversions),
		cmocka_unit_test(test_large_file),
		cmocka_unit_test(test_too_deep_after_balancing),
		cmocka_unit_test(test_every_allocation_fails),
		cmocka_unit_test(test_every_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
