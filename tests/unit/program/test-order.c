// SPDX-License-Identifier: BSD-2-Clause
/* In which order conditions are asked: by cost, by measures, and never across a division. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "compiled.h"
#include "program/order/order.h"
#include "program/query.h"
#include "program/why/report.h"

#include <stdio.h>
#include <string.h>

static const char types[] = "EVENT A { x: i64, y: u64, f: f64, s: string, t: string }\n";

/* The conditions of the one transition of the one rule, "; " between them. */
static void assert_asks(const struct program *program, const char *expected)
{
	struct program_asking asking = { .program = program, .rule = program->rules };
	struct program_ranked ranked[PROGRAM_WHY_CONDITIONS_MAX];
	struct text_buffer draft = { 0 };
	char *text;

	asking.transition = program_transitions(program, program_states(program, program->rules));
	for (uint32_t i = 0, count = program_order_ask(&asking, ranked); i < count; i++) {
		text_append(&draft, i ? "; " : "");
		program_why_condition(program, program->rules, asking.transition, ranked[i].node, &draft);
	}
	assert_int_equal(text_take(&draft, &text), 0);
	assert_string_equal(text, expected);
	alloc_free(text);
}

/* Asks conditions in the best order; expected NULL: that they are in. */
static void assert_ordered(const char *conditions, const struct program_measures *measures, const char *expected)
{
	struct program *program, *ordered;
	char rule[512];
	void *image;
	size_t length;

	snprintf(rule, sizeof rule, "RULE r PATTERN { A:a } WHERE { %s }", conditions);
	program = compiled(types, rule);
	assert_int_equal(program_order(program, measures, &image, &length), 0);
	assert_int_equal(!image, !expected);
	if (image) {
		assert_int_equal(program_load(image, length, "ordered", NULL, &ordered), 0);
		assert_asks(ordered, expected);
		alloc_free(image);
		assert_int_equal(program_order(ordered, measures, &image, &length), 0); /* it stays */
		assert_null(image);
		program_free(ordered);
	}
	program_free(program);
}

static void the_cheapest_comes_first(void **state)
{
	(void)state;
	assert_ordered("a.s LIKE \"*q*\", a.s == \"b\", a.x == 1", NULL, "a.x == 1; a.s == \"b\"; a.s LIKE \"*q*\"");
	assert_ordered("a.s LIKE \"q*\", a.x & 4 == 4", NULL, "a.x & 4 == 4; a.s LIKE \"q*\"");
	assert_ordered("a.s == a.t OR a.s == \"b\", a.s == \"c\"", NULL, "a.s == \"c\"; a.s == a.t OR a.s == \"b\"");
	assert_ordered("a.x IN { 1, 2, 3 }, a.y == 1", NULL, "a.y == 1; a.x IN { 1, 2, 3 }");
}

static void equal_costs_stay_as_written(void **state)
{
	(void)state;
	assert_ordered("a.x == 1, a.y == 2, NOT a.x > 7", NULL, NULL);
	assert_ordered("a.s == \"b\"", NULL, NULL);
	assert_ordered("a.s == \"b\", a.s LIKE \"c*\", a.x == 1, a.y == 1", NULL,
		       "a.x == 1; a.y == 1; a.s == \"b\"; a.s LIKE \"c*\"");
}

static void a_division_stays_and_is_not_crossed(void **state)
{
	(void)state;
	assert_ordered("a.s == \"b\", 9 / a.x > 1, a.y == 2", NULL, NULL);
	assert_ordered("a.s == \"b\", a.x != 0, 9 % a.x > 1, a.t == \"b\", a.y == 2", NULL,
		       "a.x != 0; a.s == \"b\"; 9 % a.x > 1; a.y == 2; a.t == \"b\"");
	assert_ordered("a.s == \"b\", a.y == 2 OR 9 / a.x > 1, a.y == 3", NULL, NULL);
	assert_ordered("a.s == \"b\", 1.5 / a.f > 1.0", NULL, "1.5 / a.f > 1.0; a.s == \"b\"");
	assert_ordered("a.s == \"b\", a.x / 3 > 1", NULL, "a.x / 3 > 1; a.s == \"b\"");
}

/* What was measured of a condition of rule r at its start. */
static void measure(struct program_measures *measures, const char *condition, uint64_t asked, uint64_t was_true)
{
	const struct program_measure row = { .rule = "r",
					     .state = "start",
					     .event = "A:a",
					     .target = "match",
					     .condition = condition,
					     .asked = asked,
					     .was_true = was_true };

	assert_int_equal(program_measures_add(measures, &row), 0);
}

static void what_refuses_most_for_its_cost_comes_first(void **state)
{
	struct program_measures *measures = program_measures_new();
	(void)state;

	assert_non_null(measures);
	measure(measures, "a.x == 1", 1000, 990);
	measure(measures, "a.s == \"b\"", 500, 5);
	measure(measures, "a.s == \"b\"", 500, 5);
	measure(measures, "a.y == 2", 1000, 10);
	assert_ordered("a.s LIKE \"*q*\", a.x == 1, a.s == \"b\", a.y == 2", measures,
		       "a.y == 2; a.s == \"b\"; a.x == 1; a.s LIKE \"*q*\"");
	assert_ordered("a.y == 2, a.s == \"b\", a.x == 1", measures, NULL);
	/* Of what nothing was measured one half is taken to be true. */
	assert_ordered("a.x == 1, a.x == 3", measures, "a.x == 3; a.x == 1");
	program_measures_free(measures);
}

static void others_measures_do_not_count(void **state)
{
	struct program_measures *measures = program_measures_new();
	const struct program_measure row = { "q", "start", "A:a", "match", "a.x == 1", false, 10, 10 };
	struct program_measure held = { "r", "start", "A:a", "match", "a.x == 1", true, 10, 10 };
	(void)state;

	assert_non_null(measures);
	assert_int_equal(program_measures_add(measures, &row), 0);
	assert_int_equal(program_measures_add(measures, &held), 0);
	assert_ordered("a.x == 1, a.y == 2", measures, NULL);
	program_measures_free(measures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cheapest_comes_first),
		cmocka_unit_test(equal_costs_stay_as_written),
		cmocka_unit_test(a_division_stays_and_is_not_crossed),
		cmocka_unit_test(what_refuses_most_for_its_cost_comes_first),
		cmocka_unit_test(others_measures_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
