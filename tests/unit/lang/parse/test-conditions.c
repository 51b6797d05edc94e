// SPDX-License-Identifier: BSD-2-Clause
/* Kinds of conditions, kinds of values, precedence. */

#include "base/alloc.h"
#include "read-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* A condition under a pattern, and the lines that print_rule has for it. */
struct row {
	const char *condition, *expected;
};

static void check_rows(const char *pattern, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[512];

		snprintf(text, sizeof text, "RULE r PATTERN { %s } WHERE { %s } OVER { * }", pattern,
			 rows[i].condition);
		char *shown = show_rule(text), *body = strchr(shown, '\n');

		assert_non_null(body);
		char *over = strstr(body, "over *\n");

		if (!over)
			fail_msg("%s\n%s", text, shown);
		*over = 0;
		if (strcmp(body + 1, rows[i].expected) != 0)
			fail_msg("%s gives\n%s", rows[i].condition, body + 1);
		alloc_free(shown);
	}
}

#define CHECK(pattern, rows) check_rows(pattern, rows, sizeof(rows) / sizeof *(rows))

static void test_kinds_of_conditions(void **state)
{
	static const struct row rows[] = {
		{ "a.x < 300", "guard a (a.x < 300)\n" },
		{ "a.x < a.z", "guard a (a.x < a.z)\n" },
		{ "r.x > 3", "guard r (r.x > 3)\n" },
		{ "1 == 2", "guard (1 == 2)\n" },
		{ "a.x == b.x", "correlation b (a.x == b.x)\n" },
		{ "b.x == a.x + 1", "correlation b (b.x == (a.x + 1))\n" },
		{ "(b.x) == a.x", "correlation b (b.x == a.x)\n" },
		{ "b.x == a.r", "correlation b (f64(b.x) == a.r:f64)\n" },
		{ "c.c == a.x + b.x", "correlation c (c.c == (a.x + b.x))\n" },
		{ "b.x == a.x + b.pid", "correlation b (b.x == (a.x + b.pid))\n" },
		{ "b.x + 1 == a.x", "relation b ((b.x + 1) == a.x)\n" },
		{ "a.x == b.x + 1", "relation b (a.x == (b.x + 1))\n" },
		{ "a.x != b.x", "relation b (a.x != b.x)\n" },
		{ "NOT a.x != b.x", "relation b not((a.x != b.x))\n" },
		{ "b.ts - a.ts > 1s", "relation b ((b.ts - a.ts) > 1000000000)\n" },
		{ "a.x == b.x OR a.x == 3", "relation b ((a.x == b.x) or (a.x == 3))\n" },
		{ "b.s IN { a.s }", "correlation b (b.s:string == a.s:string)\n" },
		{ "r.len > 2", "relation r (r.len > 2)\n" },
		{ "r[].len > 2", "relation r (r.len > 2)\n" },
		{ "r.LEN > 2", "relation r (r.len > 2)\n" },
		{ "c.c == r.max.x", "relation c (c.c == r.max.x)\n" },
		{ "r.first.x == a.x", "relation r (r.first.x == a.x)\n" },
		{ "n.x > 3", "negated n (n.x > 3)\n" },
		{ "n.x == a.x", "negated n (n.x == a.x)\n" },
		{ "n.x < r.len", "negated n (n.x < r.len)\n" },
		{ "a.x > 1 AND (b.x > 2 AND c.c > 3)", "guard a (a.x > 1)\nguard b (b.x > 2)\nguard c (c.c > 3)\n" },
		{ "a.x > 1, b.x > 2;", "guard a (a.x > 1)\nguard b (b.x > 2)\n" },
		{ "[tid], a.x > 1, [ProcessId], [tid]", "join tid\njoin ProcessId\nguard a (a.x > 1)\n" },
		{ "a.x > 1 } WHERE { b.x > 2", "guard a (a.x > 1)\nguard b (b.x > 2)\n" },
	};

	(void)state;
	CHECK("[A:a, B:b, A[]:r, ~B:n, C:c]", rows);
}

/* A name from before a repeat inside it, and names of one round with each other. */
static void test_conditions_in_repeats(void **state)
{
	static const struct row rows[] = {
		{ "b.x == a.x", "correlation b (b.x == a.x)\n" },
		{ "c.c > b.x", "relation c (c.c > b.x)\n" },
		{ "d.x > c.c, d.x > a.x", "relation d (d.x > c.c)\nrelation d (d.x > a.x)\n" },
		{ "r.len > 3", "relation r (r.len > 3)\n" },
	};

	(void)state;
	CHECK("[A:a, [B:b, C:c, [A:d]?, A[]:r]+, C]", rows);
}

static void test_kinds_of_values(void **state)
{
	static const struct row rows[] = {
		{ "a.u == 3", "guard a (a.u:u64 == 3:u64)\n" },
		{ "a.u == -3", "guard a (a.u:u64 == -3)\n" },
		{ "a.x == 18446744073709551615", "guard a (a.x == 18446744073709551615:u64)\n" },
		{ "a.u == a.x", "guard a (a.u:u64 == a.x)\n" },
		{ "a.u + a.x == 1", "guard a ((a.u:u64 + u64(a.x)):u64 == 1:u64)\n" },
		{ "a.x - 1 == a.p + 1", "guard a ((a.x - 1) == (a.p:u64 + 1:u64):u64)\n" },
		{ "a.u + -1 == 1", "guard a ((a.u:u64 + 18446744073709551615:u64):u64 == 1:u64)\n" },
		{ "a.w - 1ms > 0", "guard a ((a.w - 1000000) > 0)\n" },
		{ "a.x * 1.5 > 2", "guard a ((f64(a.x) * 1.5:f64):f64 > 2:f64)\n" },
		{ "a.r > a.u", "guard a (a.r:f64 > f64(a.u:u64))\n" },
		{ "a.x << a.u == 1", "guard a ((a.x << a.u:u64) == 1)\n" },
		{ "a.u >> 2 == 1", "guard a ((a.u:u64 >> 2):u64 == 1:u64)\n" },
		{ "-a.x == 1", "guard a ((0 - a.x) == 1)\n" },
		{ "- -a.x == 1", "guard a ((0 - (0 - a.x)) == 1)\n" },
		{ "-a.r < -1.5", "guard a ((0:f64 - a.r:f64):f64 < -1.5:f64)\n" },
		{ "a.x == -9223372036854775808", "guard a (a.x == -9223372036854775808)\n" },
		{ "a.t", "guard a a.t:bool\n" },
		{ "NOT a.t", "guard a not(a.t:bool)\n" },
		{ "a.t == TRUE", "guard a (a.t:bool == true)\n" },
		{ "a.z == FALSE, a.u != true", "guard a (a.z == 0)\nguard a (a.u:u64 != 1:u64)\n" },
		{ "(a.x > 1) == a.t", "guard a ((a.x > 1) == a.t:bool)\n" },
		{ "a.s == \"q\"", "guard a (a.s:string == \"q\")\n" },
		{ "a.comm LIKE \"ssh*\"", "guard a (a.comm:string like \"ssh*\")\n" },
		{ "a.x IN { 1, 2, 3, }", "guard a ((a.x == 1) or ((a.x == 2) or (a.x == 3)))\n" },
		{ "1 IN { a.x, a.u, a.r }", "guard a ((1 == a.x) or ((1:u64 == a.u:u64) or (1:f64 == a.r:f64)))\n" },
		{ "a.TimeStamp > 1 AND a.CpuId == 0", "guard a (a.ts > 1)\nguard a (a.cpu == 0)\n" },
	};
	static const struct row arrays[] = {
		{ "a.avg.x > 3", "relation a (a.avg.x:f64 > 3:f64)\n" },
		{ "a.sum.u > 3", "relation a (a.sum.u:u64 > 3:u64)\n" },
		{ "a.min.r > 3", "relation a (a.min.r:f64 > 3:f64)\n" },
		{ "a[].last.s == \"b\"", "relation a (a.last.s:string == \"b\")\n" },
		{ "a.First.t", "relation a a.first.t:bool\n" },
	};

	(void)state;
	CHECK("A:a", rows);
	CHECK("A[]:a", arrays);
}

static void test_precedence(void **state)
{
	static const struct row rows[] = {
		{ "a.x + 1 * 2 - 3 == 4", "guard a (((a.x + (1 * 2)) - 3) == 4)\n" },
		{ "1 - 2 - 3 == 4 / 5 % 6", "guard (((1 - 2) - 3) == ((4 / 5) % 6))\n" },
		{ "a.x & 16 == 0", "guard a ((a.x & 16) == 0)\n" },
		{ "1 | 2 ^ 3 & 4 << 5 + 6 * 7 == 1", "guard ((1 | (2 ^ (3 & (4 << (5 + (6 * 7)))))) == 1)\n" },
		{ "1 * 2 + 3 << 4 & 5 ^ 6 | 7 == 1", "guard (((((((1 * 2) + 3) << 4) & 5) ^ 6) | 7) == 1)\n" },
		{ "(1 | 2) & 3 == 1", "guard (((1 | 2) & 3) == 1)\n" },
		{ "NOT a.x == 1 OR a.x == 2", "guard a (not((a.x == 1)) or (a.x == 2))\n" },
		{ "NOT NOT a.t OR FALSE", "guard a (not(not(a.t:bool)) or false)\n" },
		{ "a.t AND a.t OR a.t AND a.t OR TRUE",
		  "guard a ((a.t:bool and a.t:bool) or ((a.t:bool and a.t:bool) or true))\n" },
		{ "(a.t OR a.t) AND a.x == 1", "guard a (a.t:bool or a.t:bool)\nguard a (a.x == 1)\n" },
		{ "NOT (a.t AND a.t)", "guard a not((a.t:bool and a.t:bool))\n" },
		{ "NOT a.x IN { 1 }", "guard a not((a.x == 1))\n" },
	};

	(void)state;
	CHECK("A:a", rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_conditions),
		cmocka_unit_test(test_conditions_in_repeats),
		cmocka_unit_test(test_kinds_of_values),
		cmocka_unit_test(test_precedence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
