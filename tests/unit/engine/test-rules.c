// SPDX-License-Identifier: BSD-2-Clause
/* Rules at work: semantics, dropping, pools, loss, moves, emission. */

#include "rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* The rules over the events give these matches. */
static void assert_run(const char *rules, const char *events, const char *matches)
{
	static struct rig rig;

	rig_open(&rig, rules);
	assert_int_equal(rig_feed(&rig, events), 0);
	rig_assert_matches(&rig, matches);
	rig_close(&rig);
}

static const char stream[] = "A1 A2 A3 C3 B3 A2 B2 C2 B2 B1";

/* The vectors of the language page. */
static void conformance(void **state)
{
	(void)state;
	assert_run("RULE t STRICTSEQUENCE PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C } RETURN SEQUENCE", stream,
		   "t(6,7) ");
	assert_run("RULE t SKIPTILLNEXT PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C } RETURN SEQUENCE", stream,
		   "t(3,5) t(2,7) t(6,7) t(1,10) ");
	assert_run("RULE t SKIPTILLANY PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C } RETURN SEQUENCE", stream,
		   "t(3,5) t(2,7) t(6,7) t(2,9) t(6,9) t(1,10) ");
	assert_run("RULE t STRICTPARTITION PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C } RETURN SEQUENCE", stream,
		   "t(6,7) t(1,10) ");
	/* C is not part of the stream: nothing stands between 3 and 5. */
	assert_run("RULE t STRICTPARTITION PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE", stream,
		   "t(3,5) t(6,7) t(1,10) ");
}

static void a_class_of_all_types(void **state)
{
	(void)state;
	assert_run("RULE t STRICTSEQUENCE PATTERN { [A, B] } OVER { * } RETURN SEQUENCE", "A1 B1 A1 ? B1 A1 C1 B1",
		   "t(1,2) ");
	assert_run("RULE t STRICTPARTITION PATTERN { [A, B] } WHERE { [tid] } OVER { * } RETURN SEQUENCE",
		   "A1#1 A1#2 ?#1 B1#1 B1#2", "t(2,5) ");
}

static void drops_runs_of_one_key(void **state)
{
	(void)state;
	/* The runs of 1, 2 and 4 match together at 5; 3 has another key. */
	assert_run("RULE t PATTERN { [A, B, C] } WHERE { [x] } AFTER MATCH KEEP RETURN SEQUENCE",
		   "A1 A1 A2 B1 A1 C1 B1 C1 B2 C2", "t(1,4,6) t(2,4,6) t(5,7,8) t(3,9,10) ");
	assert_run("RULE t PATTERN { [A, B, C] } WHERE { [x] } AFTER MATCH DROP RETURN SEQUENCE",
		   "A1 A1 A2 B1 A1 C1 B1 C1 B2 C2", "t(1,4,6) t(2,4,6) t(3,9,10) ");
	/* The run that the completing event opens lives. */
	assert_run("RULE t PATTERN { [A, A] } WHERE { [x] } AFTER MATCH DROP RETURN SEQUENCE", "A1 A1 A1 A1",
		   "t(1,2) t(2,3) t(3,4) ");
	/* An event that completes a run by itself drops the others, too. */
	assert_run("RULE t PATTERN { (A | [B, C]) } WHERE { [x] } AFTER MATCH DROP RETURN SEQUENCE", "B1 B2 A1 C1 C2",
		   "t(3) t(2,5) ");
	assert_run("RULE t SKIPTILLANY PATTERN { [A, B, C] } WHERE { [x] } AFTER MATCH DROP RETURN SEQUENCE",
		   "A1 B1 B1 C1 C1 A1 B1 C1", "t(1,2,4) t(1,3,4) t(6,7,8) ");
}

static void refuses_beyond_the_pool(void **state)
{
	static const char *const losses[] = { "TAINT", "DISCARD", "KEEP" };
	static struct rig rig;

	(void)state;
	for (int i = 0; i < 3; i++) {
		char rule[200];

		snprintf(rule, sizeof rule, "RULE t PATTERN { [A, B] } POOL 2 ON LOSS %s RETURN SEQUENCE", losses[i]);
		rig_open(&rig, rule);
		rig_feed(&rig, "A A A B A B");
		rig_assert_matches(&rig, "t(1,4) t(2,4) t(5,6) "); /* nobody depends on the third */
		struct program_rule_stats stats = rig_stats(&rig, 0);
		assert_int_equal(stats.matches, 3);
		assert_int_equal(stats.runs_opened, 3);
		assert_int_equal(stats.runs_live_max, 2);
		assert_int_equal(stats.pool_exhausted, 1);
		assert_int_equal(stats.lost, 1);
		rig_close(&rig);
	}
}

/* Where a match drops the runs of its key, these depend on a run that was refused. */
static void marks_what_a_refused_run_might_drop(void **state)
{
	static const char *const losses[] = { "TAINT", "DISCARD", "KEEP" };
	static const char *const matches[] = { "t(2,4) t(1,6)! t(5,6) ", "t(2,4) t(5,6) ", "t(2,4) t(1,6) t(5,6) " };

	(void)state;
	for (int i = 0; i < 3; i++) {
		char rule[200];

		snprintf(rule, sizeof rule,
			 "RULE t PATTERN { [A, B] } WHERE { [x] } AFTER MATCH DROP POOL 2 ON LOSS %s RETURN SEQUENCE",
			 losses[i]);
		assert_run(rule, "A1 A2 A1 B2 A1 B1", matches[i]);
	}
}

static void discarding_frees_the_place(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE POOL 1 ON LOSS DISCARD");
	rig_feed(&rig, "A1");
	engine_lose(rig.engine, 5);
	rig_feed(&rig, "A2 B1 B2");
	rig_assert_matches(&rig, "t(2,4) ");
	assert_int_equal(rig_stats(&rig, 0).pool_exhausted, 0);
	rig_close(&rig);
}

static void reports_loss(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE\n"
		       "RULE d PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE ON LOSS DISCARD");
	rig_feed(&rig, "A1 B1 A2");
	engine_lose(rig.engine, 5);
	rig_feed(&rig, "A3 B2 B3");
	rig_assert_matches(&rig, "t(1,2) d(1,2) t(3,5)! t(4,6) d(4,6) ");
	assert_int_equal(rig_stats(&rig, 0).lost, 5);
	assert_int_equal(rig_stats(&rig, 1).lost, 5);
	assert_int_equal(rig_stats(&rig, 1).matches, 2);
	rig_close(&rig);
}

static void explodes_no_further_than_the_pool(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t SKIPTILLANY PATTERN { [A, B, B, B, B, C] } POOL 1000");
	rig.quiet = true;
	rig_feed(&rig, "A");
	for (int i = 0; i < 200; i++)
		rig_feed(&rig, "B");
	struct program_rule_stats stats = rig_stats(&rig, 0);
	assert_int_equal(stats.runs_live_max, 1000);
	assert_true(stats.pool_exhausted > 0);
	assert_int_equal(stats.lost, stats.pool_exhausted);
	rig_close(&rig);
}

/* A run that moves to another key waits there in opening order, however late it comes. */
static void steps_moved_runs_in_opening_order(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A:a, B:b, C:c] } WHERE { b.x == a.x + 10 } RETURN SEQUENCE",
		   "A1 A2 A3 B13 B11 B12 C0", "t(1,5,7) t(2,6,7) t(3,4,7) ");
	assert_run("RULE t PATTERN { [A:a, B:b, C:c] } WHERE { b.x == a.x + 10, c.x == b.x } RETURN SEQUENCE",
		   "A1 A2 A1 B12 B11 C11 C12", "t(1,5,6) t(3,5,6) t(2,4,7) ");
	assert_run("RULE t PATTERN { [A:a, B:b, C:c] } WHERE { b.x == a.x } RETURN SEQUENCE", "A1 A2 A3 B3 B1 B2 C0",
		   "t(1,5,7) t(2,6,7) t(3,4,7) ");
	assert_run("RULE t PATTERN { [A:a, B:b, C:c] } WHERE { b.x == a.x, c.tid == b.tid } RETURN SEQUENCE",
		   "A1 A2 A3 B3#5 B2#6 B1#5 C0#5 C0#6", "t(1,6,7) t(3,4,7) t(2,5,8) ");
	/* A move to the very key that is being stepped: not stepped twice. */
	assert_run("RULE t PATTERN { [A:a, B:b, B:c] } WHERE { b.x == a.x, c.x == b.x } RETURN SEQUENCE", "A1 A1 B1 B1",
		   "t(1,3,4) t(2,3,4) ");
	assert_run("RULE t PATTERN { [A:a, B:b, B:c] } WHERE { b.x == a.x } RETURN SEQUENCE", "A1 A2 B1 B2",
		   "t(1,3,4) ");
}

static void compares_texts_as_keys(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A, B] } WHERE { [s] } RETURN SEQUENCE", "A1 A12 B12 B1 B2", "t(2,3) t(1,4) ");
	assert_run("RULE t PATTERN { [A, A] } WHERE { [comm], [s], [tid] } RETURN SEQUENCE", "A1#1 A1#2 A2#1 A1#1",
		   "t(1,4) ");
}

static void ends_at_false_holds(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A:a, B:b] } WHERE { b.ts - a.ts > 5ns } RETURN SEQUENCE", "A@1 B@5 B@10", "");
	assert_run("RULE t PATTERN { [A:a, B:b] } WHERE { b.ts - a.ts > 5ns } RETURN SEQUENCE", "A@1 B@10", "t(1,2) ");
	assert_run("RULE t SKIPTILLANY PATTERN { [A:a, B:b] } WHERE { b.ts - a.ts > 5ns } RETURN SEQUENCE",
		   "A@1 B@5 B@10", "t(1,3) ");
}

static void counts_divisions_by_zero(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A:a] } WHERE { 10 / a.x > 1 } RETURN SEQUENCE");
	rig_feed(&rig, "A0 A1 A0 A100");
	rig_assert_matches(&rig, "t(2) ");
	assert_int_equal(rig_stats(&rig, 0).divisions_by_zero, 2);
	rig_close(&rig);
}

static void fills_arrays(void **state)
{
	static const char rule[] = "RULE t PATTERN { [A:a, B[>1]:b, C:c] } WHERE { b.len < 4 } RETURN SEQUENCE";

	(void)state;
	assert_run(rule, "A B C", "");
	assert_run(rule, "A B B C", "t(1,2,3,4) ");
	assert_run(rule, "A B B B B C", "");
	assert_run("RULE t PATTERN { [A:a, B[=2]:b] } RETURN SEQUENCE", "A A B B", "t(1,3,4) t(2,3,4) ");
	assert_run("RULE t PATTERN { [A[>2]:a] } WITHIN 3ns RETURN SEQUENCE", "A@1 A@2 A@3 A@9 A@10 A@13", "t(1,2,3) ");
}

/* An event is dealt with by all rules, also by those behind one that emits, before what it raised, in that order. */
static void emits_in_the_order_of_raising(void **state)
{
	(void)state;
	assert_run("RULE early PATTERN { [D:d] }\n"
		   "RULE first PATTERN { [A:a, B:b] } DO { EMIT D(x = a.x) }\n"
		   "RULE late PATTERN { [D:d] } WHERE { d.x > 1 }\n"
		   "RULE last PATTERN { [B:b] }",
		   "A1 A2 B", "first@3 first@3 last@3 early@3 early@3 late@3 ");
	assert_run("RULE chain PATTERN { [A:a] } DO { EMIT B(x = a.x + 1); EMIT C(x = a.x + 2) }\n"
		   "RULE b PATTERN { [B:b] } DO { EMIT C(x = b.x) }\n"
		   "RULE c PATTERN { [C:c] } WHERE { c.x == 2 }\n"
		   "RULE d PATTERN { [C:c] } WHERE { c.x == 3 }",
		   "A1", "chain@1 b@1 d@1 c@1 ");
}

/* What an event's emission opens in a rule is not there yet when that rule gets the event itself, wherever it stands.
 */
static void emission_comes_after_all_rules(void **state)
{
	static const char *const rules[] = { "RULE r PATTERN { [C, A] } RETURN SEQUENCE\n",
					     "RULE s PATTERN { [C, A] } RETURN SEQUENCE\n",
					     "RULE t PATTERN { [C, A] } RETURN SEQUENCE\n",
					     "RULE u PATTERN { [C, A] } RETURN SEQUENCE\n" };
	static const char emitter[] = "RULE e PATTERN { A } DO { EMIT C() }\n";
	char text[600];

	(void)state;
	snprintf(text, sizeof text, "%s%s", emitter, rules[0]);
	assert_run(text, "A A", "e@1 e@2 r(1,2) ");
	snprintf(text, sizeof text, "%s%s%s%s%s", emitter, rules[0], rules[1], rules[2], rules[3]);
	assert_run(text, "A A", "e@1 e@2 r(1,2) s(1,2) t(1,2) u(1,2) ");
	snprintf(text, sizeof text, "%s%s%s%s%s", rules[0], rules[1], rules[2], emitter, rules[3]);
	assert_run(text, "A A", "e@1 r(1,2) s(1,2) t(1,2) e@2 u(1,2) ");
}

/* A rule whose stream holds what it emits: its own runs are ended by it, but no run is stepped in the middle of a step.
 */
static void emits_into_its_own_stream(void **state)
{
	(void)state;
	assert_run("RULE t STRICTSEQUENCE PATTERN { [A, A, B] } OVER { * } RETURN SEQUENCE DO { EMIT D() }",
		   "A A B A A B", "t(1,2,3) t(4,5,6) ");
	assert_run("RULE t PATTERN { [A, A] } OVER { * } RETURN SEQUENCE DO { EMIT D() }", "A A A", "t(1,2) t(2,3) ");
	assert_run("RULE t STRICTSEQUENCE PATTERN { [A, A] } OVER { * } RETURN SEQUENCE DO { EMIT D() }", "A A A A",
		   "t(1,2) t(3,4) ");
}

static void emitted_events_are_whole(void **state)
{
	(void)state;
	assert_run(
		"RULE t PATTERN { [A:a] } DO { EMIT B(x = a.x * 2, s = a.s) }\n"
		"RULE u PATTERN { [B:b] } WHERE { b.x == 14, b.s == \"7\", b.tid == 5, b.comm == \"tA\", b.ts == 1 } "
		"RETURN SEQUENCE\n"
		"RULE v PATTERN { [A:a] } DO { EMIT C() }\n"
		"RULE w PATTERN { [C:c] } WHERE { c.x == 0, c.s == \"\" } RETURN SEQUENCE",
		"A7#5", "t@1 v@1 u(1) w(1) ");
}

static void stops_where_the_callback_says(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A, B] } RETURN SEQUENCE DO { EMIT C() }\nRULE u PATTERN { [B] }\n"
		       "RULE c PATTERN { [C] }");
	rig.result = -EPIPE;
	assert_int_equal(rig_feed(&rig, "A A B"), -EPIPE);
	rig_assert_matches(&rig, "t(1,3) ");
	rig.result = 0;
	assert_int_equal(rig_feed(&rig, "A B"), 0);
	rig_assert_matches(&rig, "t(4,5) u@5 c@5 ");
	rig_close(&rig);
}

static void time_does_not_go_back(void **state)
{
	(void)state;
	assert_run("RULE t PATTERN { [A:a, B:b] } WHERE { b.ts >= a.ts } RETURN SEQUENCE", "A@100 B@50", "t(1,2) ");
}

static void shares_histories(void **state)
{
	(void)state;
	assert_run("RULE t SKIPTILLANY PATTERN { [A, B, C] } RETURN SEQUENCE", "A B B C C",
		   "t(1,2,4) t(1,3,4) t(1,2,5) t(1,3,5) ");
	assert_run("RULE t SKIPTILLANY PATTERN { [A, B[>=1, <=2], C] } RETURN SEQUENCE", "A B B C",
		   "t(1,2,4) t(1,3,4) t(1,2,3,4) ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conformance),
		cmocka_unit_test(a_class_of_all_types),
		cmocka_unit_test(drops_runs_of_one_key),
		cmocka_unit_test(refuses_beyond_the_pool),
		cmocka_unit_test(marks_what_a_refused_run_might_drop),
		cmocka_unit_test(discarding_frees_the_place),
		cmocka_unit_test(reports_loss),
		cmocka_unit_test(explodes_no_further_than_the_pool),
		cmocka_unit_test(steps_moved_runs_in_opening_order),
		cmocka_unit_test(compares_texts_as_keys),
		cmocka_unit_test(ends_at_false_holds),
		cmocka_unit_test(counts_divisions_by_zero),
		cmocka_unit_test(fills_arrays),
		cmocka_unit_test(emits_in_the_order_of_raising),
		cmocka_unit_test(emission_comes_after_all_rules),
		cmocka_unit_test(emits_into_its_own_stream),
		cmocka_unit_test(emitted_events_are_whole),
		cmocka_unit_test(stops_where_the_callback_says),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(shares_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
