// SPDX-License-Identifier: BSD-2-Clause
/* Machines in a replay of several threads: which stay together, which can be divided by their key, and that nobody
 * notices. */

#include "../../engine/machines.h"

#include "session/executor/split.h"
#include "session/replay/want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { SHARES = 3, EVENTS = 20000 };

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

/* C makes a copy for x + 1. */
static void add_copy(struct maker_rule *rule)
{
	struct maker_transition *t = machines_add(rule, 1, MAKER_C, 1);
	uint32_t x = machines_slot(&m, SLOT_X);

	t->flags = PROGRAM_COPY;
	machines_set(t, SLOT_X, maker_node(m.build, PROGRAM_OP_ADD, PROGRAM_I64, x, machines_int(&m, 1)));
}

static void assert_parts(const struct maker_rule *rule, uint32_t parts)
{
	struct shard_key key;

	maker_add(m.build, rule);
	machines_start(&m);
	assert_int_equal(shard_key_init(&key, m.program, 0), 0);
	assert_int_equal(key.part_count, parts);
	shard_key_fini(&key);
	machines_fini(&m);
}

static void are_divided_by_what_an_instance_keeps(void **state)
{
	struct maker_rule rule;

	(void)state;
	machines_init(&m);
	rule = counter("m");
	assert_parts(&rule, 2);
	machines_init(&m);
	rule = timed("m");
	assert_parts(&rule, 0);
	machines_init(&m);
	rule = counter("m");
	add_copy(&rule);
	assert_parts(&rule, 1); /* u, which copies share */
	machines_init(&m);
	rule = counter("m");
	rule.classes[0].keys[MAKER_B].fields[1] = PROGRAM_NONE;
	assert_parts(&rule, 1); /* x */
	machines_init(&m);
	rule = counter("m");
	rule.classes[0].keys[MAKER_B].fields[1] = PROGRAM_NONE;
	add_copy(&rule);
	assert_parts(&rule, 0);
}

/* The same events through one engine and through several, each of which gets its share. */
static void compare(struct maker_rule *rule)
{
	struct engine *whole, *shares[SHARES];
	struct engine_options options;
	struct shard_key key;
	char expected[sizeof m.log];
	uint64_t opened = 0, seed = 5;

	maker_add(m.build, rule);
	machines_start(&m);
	whole = m.engine;
	options = (struct engine_options){ m.on_match, &m, NULL };
	assert_int_equal(shard_key_init(&key, m.program, 0), 0);
	for (int i = 0; i < SHARES; i++)
		assert_int_equal(engine_new(m.program, &options, NULL, &shares[i]), 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		struct maker_record record = { .header = { .ts = i } };

		seed = seed * 6364136223846793005 + 1442695040888963407;
		record.header.type = (seed >> 33) % 10 < 7 ? MAKER_A : (seed >> 33) % 10 < 8 ? MAKER_B : MAKER_C;
		record.x = (int64_t)(seed >> 40) % 6;
		record.u = (seed >> 50) % 6;
		engine_feed(whole, &record.header);
		memcpy(expected, m.log, sizeof expected);
		m.used = 0;
		m.log[0] = 0;
		uint32_t shard = shard_key_shard(&key, &record.header, SHARES);
		if (shard != PROGRAM_NONE)
			engine_feed(shares[shard], &record.header);
		machines_assert(&m, expected);
	}
	for (int i = 0; i < SHARES; i++) {
		struct program_rule_stats stats;

		engine_stats(shares[i], 0, &stats);
		assert_true(stats.runs_opened > 0);
		opened += stats.runs_opened;
		engine_free(shares[i]);
	}
	assert_int_equal(opened, machines_stats(&m, 0).runs_opened);
	shard_key_fini(&key);
	machines_fini(&m);
}

static void nobody_notices(void **state)
{
	struct maker_rule rule;

	(void)state;
	machines_init(&m);
	rule = counter("m");
	compare(&rule);
	machines_init(&m);
	rule = counter("m");
	add_copy(&rule);
	compare(&rule);
	machines_init(&m);
	rule = counter("m");
	rule.classes[0].keys[MAKER_B].fields[1] = PROGRAM_NONE;
	compare(&rule);
}

static uint32_t part_of(const struct shard_split *split, uint32_t rule)
{
	uint32_t part = 0;

	while (!split->parts[part].rules[rule])
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
	assert_int_equal(shard_split_init(&split, m.program, &(struct shard_split_options){ .part_max = 10 }), 0);
	assert_int_equal(split.part_count, 2);
	assert_int_equal(part_of(&split, 0), part_of(&split, 3));
	assert_int_equal(part_of(&split, 1), part_of(&split, 2));
	shard_split_fini(&split);
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
		cmocka_unit_test(are_divided_by_what_an_instance_keeps),
		cmocka_unit_test(nobody_notices),
		cmocka_unit_test(timers_and_emissions_bind),
		cmocka_unit_test(open_keys_want_no_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
