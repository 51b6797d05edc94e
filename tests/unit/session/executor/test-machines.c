// SPDX-License-Identifier: BSD-2-Clause
/* Machines in a replay of several threads: which stay together. */

#include "../../engine/machines.h"

#include "session/executor/split.h"
#include "session/replay/want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct machines m;

/* A opens and counts and tells, B ends. No timer. */
static struct maker_rule counter(const char *name)
{
	struct maker_rule rule = machines_base(name);
	struct maker_transition *t = machines_add(&rule, 0, MAKER_A, 1);

	rule.flags = 0;
	rule.context_slot = rule.timer_slot = 0;
	machines_open(&m, t, 0);
	t = machines_add(&rule, 1, MAKER_A, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	machines_notice(&m, t, 1);
	machines_add(&rule, 1, MAKER_B, PROGRAM_TARGET_END);
	return rule;
}

static struct maker_rule timed(const char *name)
{
	struct maker_rule rule = counter(name);
	struct maker_transition *t;

	rule.flags = PROGRAM_RULE_TIMER;
	rule.context_slot = SLOT_CPU + 1;
	rule.timer_slot = SLOT_TIMER;
	t = machines_add(&rule, 1, PROGRAM_TIMER, PROGRAM_TARGET_MATCH);
	machines_notice(&m, t, 2);
	return rule;
}

static uint32_t part_of(const struct shard_split *split, uint32_t rule)
{
	uint32_t part = 0;

	while (!split->parts[part][rule])
		part++;
	return part;
}

static void timers_and_emissions_bind(void **state)
{
	struct maker_rule rules[4];
	struct shard_split split;

	(void)state;
	machines_init(&m);
	rules[0] = timed("t0");
	rules[1] = counter("emits"); /* C, which t0 has no transitions for but in its stream */
	rules[1].over_c = rules[0].over_c = false;
	rules[0].classes[0].key_count = rules[1].classes[0].key_count = 2;
	rules[1].emit[0].type = MAKER_C;
	rules[1].emit[0].node = machines_slot(&m, SLOT_X);
	rules[1].emit[0].field = maker_field(MAKER_C, MAKER_X);
	rules[1].emit[0].notice = 1;
	rules[1].emit_count = 1;
	rules[2] = counter("sees");
	rules[3] = timed("t1");
	rules[3].over_c = false;
	rules[3].classes[0].key_count = 2;
	for (int i = 0; i < 4; i++)
		maker_add(m.build, &rules[i]);
	machines_start(&m);
	assert_int_equal(split_init(&split, m.program, 10), 0);
	assert_int_equal(split.part_count, 2);
	assert_int_equal(part_of(&split, 0), part_of(&split, 3));
	assert_int_equal(part_of(&split, 1), part_of(&split, 2));
	split_fini(&split);
	machines_fini(&m);
}

/* What `*` leaves open is no field. */
static void open_keys_want_no_field(void **state)
{
	struct replay_want want;
	struct maker_rule rule;

	(void)state;
	machines_init(&m);
	rule = counter("m");
	rule.classes[0].keys[MAKER_B].fields[0] = PROGRAM_NONE;
	maker_add(m.build, &rule);
	machines_start(&m);
	assert_int_equal(replay_want_init(&want, m.program, NULL), 0);
	assert_true(want.fields[maker_field(MAKER_B, MAKER_U)]);
	assert_false(want.fields[maker_field(MAKER_B, MAKER_X)]);
	replay_want_fini(&want);
	machines_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_and_emissions_bind),
		cmocka_unit_test(open_keys_want_no_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
