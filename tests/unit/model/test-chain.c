// SPDX-License-Identifier: BSD-2-Clause
/* What is expected of a chain, against numbers worked out by hand and those of a published table. */

#include "model/chain.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void near(double value, double wanted, double distance)
{
	if (!(fabs(value - wanted) <= distance))
		fail_msg("%.9g is not %.9g", value, wanted);
}

/*
 * M. Schoebel, "Verarbeitung von Ereignisstroemen im Betriebssystemkern", 2010, 5.6.2, table 5.3: a call that is not
 * followed by its exit. A candidate opens a run with p2, in which the next step is with p3 another call, with p4 and p5
 * what is forbidden.
 */
static void test_table(void **state)
{
	static const struct {
		double p2, p3, p4, p5, invalid, returned, steps;
	} rows[] = {
		{ .5, .33, .33, .33, .833, .167, 1.505 },      { 0, .048, .743, .0001, 1, 0, 1 },
		{ .25, .048, .743, .0001, .985, .015, 1.316 }, { .5, .048, .743, .0001, .970, .030, 1.632 },
		{ .75, .048, .743, .0001, .954, .046, 1.948 }, { 1, .048, .743, .0001, .939, .061, 2.264 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const double q[] = { 0, rows[i].p2, 0, 1 - rows[i].p3 - rows[i].p4 - rows[i].p5 };
		const double matches[] = { 0, rows[i].p3 }, ends[] = { 1 - rows[i].p2, rows[i].p4 + rows[i].p5 };
		const double each[] = { 1, 1 };
		const struct model_chain chain = { 2, q };
		double visits[2], values[2];

		assert_int_equal(model_visits(&chain, visits), 0);
		near(visits[0] + visits[1], rows[i].steps, .0005);
		assert_int_equal(model_expect(&chain, each, values), 0);
		near(values[0], visits[0] + visits[1], 1e-12);
		assert_int_equal(model_expect(&chain, matches, values), 0);
		near(values[0], rows[i].returned, .0005);
		assert_int_equal(model_expect(&chain, ends, values), 0);
		near(values[0], rows[i].invalid, .0005);
	}
}

static void test_no_end(void **state)
{
	const double stays[] = { 0, 1, 0, 1 }, circle[] = { 0, 1, 1, 0 }, grows[] = { 0, 1, 0, 1.25 };
	const double wrong[] = { 0, NAN, 0, 0 };
	double visits[2];

	(void)state;
	assert_int_equal(model_visits(&(struct model_chain){ 2, stays }, visits), -ERANGE);
	assert_int_equal(model_visits(&(struct model_chain){ 2, circle }, visits), -ERANGE);
	assert_int_equal(model_visits(&(struct model_chain){ 2, grows }, visits), -ERANGE);
	assert_int_equal(model_visits(&(struct model_chain){ 2, wrong }, visits), -ERANGE);
	assert_int_equal(model_visits(&(struct model_chain){ MODEL_STATES_MAX + 1, stays }, visits), -E2BIG);
}

/* One becomes two, or ends: with 0.4 there are 1 / (1 - 0.8) of them. */
static void test_branches(void **state)
{
	const double q[] = { 0, 1, 0, 2 * .4 };
	double visits[2];

	(void)state;
	assert_int_equal(model_visits(&(struct model_chain){ 2, q }, visits), 0);
	near(visits[1], 5, 1e-9);
}

/* A walk between two ends: Kemeny and Snell, 3.2. From the middle of 1 2 3: 4 steps, of which 1, 2 and 1. */
static void test_walk(void **state)
{
	const double q[] = { 0, .5, .5, .5, 0, 0, .5, 0, 0 };
	double visits[3];

	(void)state;
	assert_int_equal(model_visits(&(struct model_chain){ 3, q }, visits), 0);
	near(visits[0], 2, 1e-12);
	near(visits[1], 1, 1e-12);
	near(visits[2], 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
