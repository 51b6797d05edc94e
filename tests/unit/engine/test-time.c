// SPDX-License-Identifier: BSD-2-Clause
/* Time limits: what is in time, what is overdue, and what matches when the time is up. */

#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void assert_run(const char *rules, const char *events, const char *matches)
{
	static struct rig rig;

	rig_open(&rig, rules);
	assert_int_equal(rig_feed(&rig, events), 0);
	rig_assert_matches(&rig, matches);
	rig_close(&rig);
}

static void limits_are_inclusive(void **state)
{
	static const char rule[] = "RULE t PATTERN { [A, B] } WITHIN 10ns RETURN SEQUENCE";

	(void)state;
	assert_run(rule, "A@100 B@110", "t(1,2) ");
	assert_run(rule, "A@100 B@111", "");
	assert_run(rule, "A@100 A@105 B@111", "t(2,3) ");
	assert_run(rule, "A@99 A@100 B@110", "t(2,3) "); /* one is overdue, the other just not */
}

static void overdue_runs_give_their_place_back(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A, B] } WITHIN 10ns POOL 4 RETURN SEQUENCE");
	for (int i = 0; i < 100; i++) {
		char events[100];

		snprintf(events, sizeof events, "A@%d A A A", 100 * i);
		rig_feed(&rig, events);
	}
	assert_int_equal(rig_stats(&rig, 0).pool_exhausted, 0);
	assert_int_equal(rig_stats(&rig, 0).runs_live_max, 4);
	rig_close(&rig);
}

static const char absence[] = "RULE t PATTERN { [A:a, ~B:b] } WHERE { a.x == b.x } WITHIN 10ns";

static void absence_matches_when_time_is_up(void **state)
{
	(void)state;
	assert_run(absence, "A1@100 C@110", "");
	assert_run(absence, "A1@100 C@111", "t@110 ");
	assert_run(absence, "A1@100 B1@110 C@200", "");
	assert_run(absence, "A1@100 B1@111 C@200", "t@110 ");
	assert_run(absence, "A1@100 A2@105 B1@107 C@200", "t@115 ");
	assert_run(absence, "A1@100 A2@101 A3@102", ""); /* the end of the input lets no time pass */
	assert_run(absence, "A1@100 A2@101 A3@102 ?@300", "t@110 t@111 t@112 ");
}

static void advance_lets_time_pass(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, absence);
	rig_feed(&rig, "A1@100");
	assert_int_equal(engine_advance(rig.engine, 110), 0);
	rig_assert_matches(&rig, "");
	assert_int_equal(engine_advance(rig.engine, 111), 0);
	rig_assert_matches(&rig, "t@110 ");
	assert_int_equal(engine_advance(rig.engine, 50), 0);
	rig_feed(&rig, "A1@105"); /* is taken as 111 */
	rig_feed(&rig, "C@121");
	rig_assert_matches(&rig, "");
	rig_feed(&rig, "C@122");
	rig_assert_matches(&rig, "t@121 ");
	rig_close(&rig);
}

static void deadlines_come_in_order_across_rules(void **state)
{
	(void)state;
	assert_run("RULE slow PATTERN { [A, ~B] } WITHIN 20ns\nRULE fast PATTERN { [A, ~B] } WITHIN 5ns\n"
		   "RULE same PATTERN { [C, ~B] } WITHIN 10ns",
		   "A@100 A@101 C@110 C@200", "fast@105 fast@106 slow@120 same@120 slow@121 ");
	/* Equal deadlines: in the order of opening, and what one event opened in the order of the rules. */
	assert_run("RULE c PATTERN { [C, ~B] } WITHIN 10ns\nRULE a PATTERN { [A, ~B] } WITHIN 10ns\n"
		   "RULE d PATTERN { [(A | C), ~B] } WITHIN 10ns",
		   "A@100 C@100 A@100 D@200", "a@110 d@110 c@110 d@110 a@110 d@110 ");
}

static void copies_match_after_their_elders(void **state)
{
	(void)state;
	/* Four runs with one deadline: the copies were made at 3 and 4, after both originals. */
	assert_run("RULE t SKIPTILLANY PATTERN { [A, C, ~B] } WITHIN 10ns RETURN SEQUENCE",
		   "A@100 A@100 C@101 C@102 D@111", "t(1,3) t(2,3) t(1,4) t(2,4) ");
	assert_run("RULE t SKIPTILLANY PATTERN { [A, C, ~B] } WITHIN 10ns RETURN SEQUENCE",
		   "A@100 A@101 C@101 C@102 D@112", "t(1,3) t(1,4) t(2,3) t(2,4) ");
}

static void drops_at_deadlines(void **state)
{
	static const char rule[] =
		"RULE t PATTERN { [A, ~B] } WHERE { [x] } WITHIN 10ns AFTER MATCH DROP RETURN SEQUENCE";

	(void)state;
	assert_run(rule, "A1@100 A1@105 A2@105 C@200", "t(1) t(3) ");
	assert_run(rule, "A1@100 A1@100 A2@100 A1@101 C@200", "t(1) t(2) t(3) ");
}

/* An event emitted at a deadline happens then: it opens runs whose own time runs out before the event that came. */
static void emission_at_a_deadline(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A, ~B] } WITHIN 10ns DO { EMIT C(x = 1) }\n"
		   "RULE u PATTERN { [C:c, ~D] } WHERE { c.x == 1 } WITHIN 5ns\n"
		   "RULE v PATTERN { [E, C:c, ~D] } WITHIN 30ns\n",
		   "E@99 A@100 A@101 E@200", "t@110 t@111 u@115 u@116 v@129 ");
}

static void context_is_the_last_positive_events(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A:a, C:c, ~B] } WITHIN 10ns DO { EMIT D() }\n"
		   "RULE u PATTERN { [D:d] } WHERE { d.tid == 7, d.comm == \"tC\", d.ts == 110 }",
		   "A@100#3 C@105#7 E@200", "t@110 u@110 ");
}

/* A clock that runs to the end of its range overflows nothing. */
static void far_future(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A, B] } WITHIN 1000h RETURN SEQUENCE",
		   "A@18446744073709551000 B@18446744073709551615", "t(1,2) ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_inclusive),
		cmocka_unit_test(overdue_runs_give_their_place_back),
		cmocka_unit_test(absence_matches_when_time_is_up),
		cmocka_unit_test(advance_lets_time_pass),
		cmocka_unit_test(deadlines_come_in_order_across_rules),
		cmocka_unit_test(copies_match_after_their_elders),
		cmocka_unit_test(drops_at_deadlines),
		cmocka_unit_test(emission_at_a_deadline),
		cmocka_unit_test(context_is_the_last_positive_events),
		cmocka_unit_test(far_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
