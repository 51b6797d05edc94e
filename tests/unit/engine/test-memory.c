// SPDX-License-Identifier: BSD-2-Clause
/* Memory that runs short, and memory that must not be taken. */

#include "rig.h"
#include "../size.h"

#include "base/alloc.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char rules[] =
	"RULE pair PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE DO { EMIT C(x = 1) }\n"
	"RULE copies SKIPTILLANY PATTERN { [A, B, C] } WITHIN 1s RETURN SEQUENCE POOL 3000\n"
	"RULE strict STRICTSEQUENCE PATTERN { [A, A, B] } OVER { * } RETURN SEQUENCE\n"
	"RULE absent PATTERN { [A:a, ~B:b] } WHERE { a.x == b.x } WITHIN 20ns AFTER MATCH DROP RETURN SEQUENCE";

/* Opens several hundred runs of every kind, so that everything that grows has to. */
static int feed_all(struct rig *rig)
{
	int result = 0;

	for (int i = 0; i < 300 && !result; i++) {
		char events[64];

		snprintf(events, sizeof events, "A%d A%d B%d C%d", i, i + 1000, i, i % 7 ? 1 : i + 1000);
		result = rig_feed(rig, events);
	}
	return result;
}

/* Many instances, copies, timers that fire, ends by a part of the key. */
static const char machines[] =
	"MACHINE counts KEY { tid, x } POOL 3000 STATE Few { ON A -> Many } STATE Many { ON A { WARN \"again\" } AFTER "
	"1s "
	"-> END { WARN \"over\" } } ON D BY { tid, * } -> END\n"
	"MACHINE heirs KEY { s } POOL 3000 STATE Old { ON A -> New } STATE New { ON B COPY BY { comm } ON B { WARN "
	"\"{s}\"; EMIT C(x = 3) } }\n"
	"MACHINE hears KEY { x } STATE One { ON C -> Two } STATE Two { ON C -> One { WARN \"{x}\" } }\n"
	"RULE pair PATTERN { [A, C] } WITHIN 1s RETURN SEQUENCE";

/*
 * Whichever allocation is the first to fail: making the engine fails as a whole, or the engine goes on, and every match
 * that it then lacks is owed to a run that it has counted as lost.
 */
static void stand(const char *text)
{
	static struct rig rig;
	uint64_t wanted, found = 0;

	rig_open(&rig, text);
	rig.quiet = true;
	assert_int_equal(feed_all(&rig), 0);
	wanted = rig.matches;
	engine_free(rig.engine);
	assert_true(wanted > 600);
	for (unsigned long n = 1; found < wanted; n = sized_next(n)) {
		uint64_t lost = 0;

		assert_true(n < 5000);
		rig.matches = rig.ts = rig.seq = 0;
		rig.engine = NULL;
		asterism_diag_clear(rig.diag);
		alloc_fail_at(n);
		int result = rig_start(&rig);
		if (!result)
			result = feed_all(&rig);
		alloc_fail_at(0);
		if (!rig.engine) {
			assert_int_equal(result, -ENOMEM);
			assert_string_equal(asterism_diag_get(rig.diag, 0)->text, "out of memory");
			continue;
		}
		assert_int_equal(result, 0);
		for (uint32_t i = 0; i < 4; i++) {
			struct program_rule_stats stats = rig_stats(&rig, i);

			assert_true(stats.lost >= stats.pool_exhausted); /* and what there was no room to raise */
			lost += stats.lost;
		}
		found = rig.matches;
		assert_true(found == wanted || lost > 0);
		assert_true(found <= wanted);
		engine_free(rig.engine);
	}
	rig.engine = NULL;
	rig_close(&rig);
}

static void rules_stand_failing_allocations(void **state)
{
	(void)state;
	stand(rules);
}

static void machines_stand_failing_allocations(void **state)
{
	(void)state;
	stand(machines);
}

/* An engine whose pools are hardly used is small, whatever the pools allow. */
static void unused_pools_cost_little(void **state)
{
	static struct rig rig;
	struct mallinfo2 before, after;

	(void)state;
	rig_compile(&rig, "RULE a PATTERN { [A, B] } WITHIN 1s RETURN SEQUENCE POOL 16000000\n"
			  "RULE b PATTERN { [A, B] } POOL 16000000");
	before = mallinfo2();
	assert_int_equal(rig_start(&rig), 0);
	rig.quiet = true;
	rig_feed(&rig, "A A A B B B");
	after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 512 * 1024);
	rig_close(&rig);
}

/* What a stream needs once it needs for ever: after the first rounds nothing is allocated any more. */
static void steady_streams_allocate_nothing(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE pair PATTERN { [A, B] } WHERE { [x] } WITHIN 1s RETURN SEQUENCE DO { EMIT C(x = 1) }\n"
		       "RULE copies SKIPTILLANY PATTERN { [A, B, C] } WHERE { [x] } WITHIN 1s RETURN SEQUENCE\n"
		       "RULE strict STRICTSEQUENCE PATTERN { [A, A, B] } OVER { * } RETURN SEQUENCE\n"
		       "RULE absent PATTERN { [A:a, ~B:b] } WHERE { a.x == b.x } WITHIN 1s");
	rig.quiet = true;
	assert_int_equal(feed_all(&rig), 0);
	rig_feed(&rig, "?@3000000000"); /* all that waits is overdue */
	alloc_fail_at(1);
	assert_int_equal(feed_all(&rig), 0);
	alloc_fail_at(0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(rig_stats(&rig, i).lost, 0);
	rig_close(&rig);
}

/* A history that grows without end is cut off at its bound, counted, and given back. */
static void histories_are_bounded(void **state)
{
	static struct rig rig;

	(void)state;
	rig_open(&rig, "RULE t PATTERN { [A, B[], C] } RETURN SEQUENCE\nRULE u PATTERN { [A, C] } RETURN SEQUENCE");
	rig.quiet = true;
	for (int round = 0; round < 2; round++) {
		rig_feed(&rig, "A");
		for (int i = 0; i < 1000000; i++)
			rig_feed(&rig, "B");
		rig_feed(&rig, "C");
		assert_int_equal(rig.matches, round + 1); /* only u: t was refused */
		assert_int_equal(rig_stats(&rig, 0).pool_exhausted, round + 1);
		assert_int_equal(rig_stats(&rig, 0).lost, round + 1);
	}
	rig_feed(&rig, "A B B C");
	assert_int_equal(rig.matches, 4);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_stand_failing_allocations), cmocka_unit_test(machines_stand_failing_allocations),
		cmocka_unit_test(unused_pools_cost_little),        cmocka_unit_test(steady_streams_allocate_nothing),
		cmocka_unit_test(histories_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
