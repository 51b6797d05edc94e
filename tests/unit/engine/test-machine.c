// SPDX-License-Identifier: BSD-2-Clause
/* Machines: one instance per key, what is told of it, copies, `*`, and the bounds of all that. */

#include "machines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct machines m;

/* A opens with n = 0, further As add 1 and tell n, B ends; C tells and ends. */
static struct maker_rule counter(const char *name)
{
	struct maker_rule rule = machines_base(name);
	struct maker_transition *t = machines_add(&rule, 0, MAKER_A, 1);

	machines_open(&m, t, 0);
	t = machines_add(&rule, 1, MAKER_A, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	machines_notice(&m, t, 1);
	machines_add(&rule, 1, MAKER_B, PROGRAM_TARGET_END);
	machines_notice(&m, machines_add(&rule, 1, MAKER_C, PROGRAM_TARGET_MATCH), 2);
	return rule;
}

static void has_one_instance_per_key(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1.1 A1.2 A2.1 B9.9 C9.9");
	machines_assert(&m, "");
	machines_feed(&m, "A1.1 A1.1 A2.1 A-1.1 A-1.1");
	machines_assert(&m, "m/1@6=1 m/1@7=2 m/1@8=1 m/1@10=1 ");
	machines_feed(&m, "B1.1 A1.1 A1.1 C1.1 C1.1 A1.2");
	machines_assert(&m, "m/1@13=1 m/2@14=1 m/1@16=1 ");
	assert_int_equal(machines_stats(&m, 0).runs_opened, 5);
	assert_int_equal(machines_stats(&m, 0).runs_live_max, 4);
	assert_int_equal(machines_stats(&m, 0).matches, 7);
	assert_int_equal(machines_live(&m, 0), 3);
	machines_fini(&m);
}

static void start_acts_without_opening(void **state)
{
	struct maker_transition *t;

	(void)state;
	machines_init(&m);
	struct maker_rule rule = machines_base("m");
	t = machines_add(&rule, 0, MAKER_A, PROGRAM_TARGET_MATCH);
	machines_open(&m, t, 5);
	machines_notice(&m, t, 2);
	t = machines_add(&rule, 0, MAKER_B, PROGRAM_TARGET_END);
	machines_open(&m, t, 5);
	t = machines_add(&rule, 0, MAKER_C, 1);
	machines_open(&m, t, 6);
	machines_notice(&m, t, 1);
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1.1 A1.1 B1.1 C1.1 C1.1 A1.1");
	machines_assert(&m, "m/2@1=5 m/2@2=5 m/1@4=6 ");
	assert_int_equal(machines_stats(&m, 0).runs_opened, 1);
	assert_int_equal(machines_stats(&m, 0).runs_live_max, 1);
	machines_fini(&m);
}

/* A header field of 4 bytes, an i64 and a u64 are one key where their 64 bits are. */
static void keys_are_compared_as_64_bits(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	rule.classes[0].keys[MAKER_B].fields[0] = 2;                             /* pid */
	rule.classes[0].keys[MAKER_C].fields[1] = maker_field(MAKER_C, MAKER_X); /* against u */
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A7.1 B0.1#8 A7.1 B0.1#7 A7.1");
	machines_assert(&m, "m/1@3=1 ");
	machines_feed(&m, "A4294967295.1 B0.1#4294967295 A4294967295.1 C4294967295.0");
	machines_assert(&m, "");
	machines_feed(&m, "A-1.1 B0.1#4294967295 A-1.1 A-1.18446744073709551615 C-1");
	machines_assert(&m, "m/1@12=1 m/2@14=0 ");
	machines_fini(&m);
}

static void a_full_pool_refuses_the_new(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	rule.pool = 2;
	rule.states[0].transitions[0].flags = PROGRAM_TELL;
	machines_set(&rule.states[0].transitions[0], SLOT_NOTICE, machines_word(&m, 3));
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1 A2 A3 A3 A1 A2");
	/* Nothing is told of those that are refused; those that were there are not marked. */
	machines_assert(&m, "m/3@1=0 m/3@2=0 m/1@5=1 m/1@6=1 ");
	assert_int_equal(machines_stats(&m, 0).pool_exhausted, 2);
	assert_int_equal(machines_stats(&m, 0).lost, 2);
	assert_int_equal(machines_stats(&m, 0).runs_opened, 2);
	assert_int_equal(machines_stats(&m, 0).runs_live_max, 2);
	machines_feed(&m, "B1 A3 A3");
	machines_assert(&m, "m/3@8=0 m/1@9=1 ");
	machines_fini(&m);
}

static void loses(enum program_loss loss, const char *reported)
{
	machines_init(&m);
	struct maker_rule rule = counter("m");
	rule.loss = loss;
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1 A1");
	engine_lose(m.engine, 5);
	machines_feed(&m, "A1 A2 A2 A1");
	machines_assert(&m, reported);
	assert_int_equal(machines_stats(&m, 0).lost, 5);
	machines_fini(&m);
}

/* Under DISCARD an instance that may be wrong ends, and its key is free. */
static void losses_mark_who_was_there(void **state)
{
	(void)state;
	loses(PROGRAM_TAINT, "m/1@2=1 m/1@3=2! m/1@5=1 m/1@6=3! ");
	loses(PROGRAM_KEEP, "m/1@2=1 m/1@3=2 m/1@5=1 m/1@6=3 ");
	loses(PROGRAM_DISCARD, "m/1@2=1 m/1@5=1 m/1@6=1 ");
}

/* A rule of one event, C: what is emitted is seen by it. Its slot is the C's x. */
static void add_listener(void)
{
	struct maker_rule rule = { .name = "c",
				   .semantics = PROGRAM_SKIP_TILL_NEXT,
				   .pool = 1,
				   .slots = { { PROGRAM_I64, 8 }, { PROGRAM_I64, 8 }, { PROGRAM_I64, 8 } },
				   .slot_count = 3,
				   .state_count = 1,
				   .over_c = true };
	struct maker_transition *t = machines_add(&rule, 0, MAKER_C, PROGRAM_TARGET_MATCH);

	machines_set(t, SLOT_N, machines_field(&m, MAKER_C, MAKER_X));
	maker_add(m.build, &rule);
}

static void emit(struct maker_rule *rule, uint32_t notice, uint32_t node)
{
	rule->emit[rule->emit_count].type = MAKER_C;
	rule->emit[rule->emit_count].node = node;
	rule->emit[rule->emit_count].field = maker_field(MAKER_C, MAKER_X);
	rule->emit[rule->emit_count++].notice = notice;
}

static void notices_have_their_own_statements(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	rule.over_c = false;
	rule.classes[0].key_count = 2;
	rule.states[1].count = 2; /* A tells 1, B */
	rule.states[1].transitions[1].target = PROGRAM_TARGET_MATCH;
	machines_set(&rule.states[1].transitions[1], SLOT_NOTICE, machines_word(&m, 2));
	rule.notices[1] = PROGRAM_NOTICE_SILENT;
	emit(&rule, 1, machines_plus(&m, 100));
	emit(&rule, 2, machines_plus(&m, 200));
	maker_add(m.build, &rule);
	add_listener();
	machines_start(&m);
	machines_feed(&m, "A1 A1 B1 A1 B1");
	machines_assert(&m, "m/1@2=1 c/0@2=101 c/0@3=201 c/0@5=200 ");
	assert_int_equal(machines_stats(&m, 0).matches, 1);
	assert_int_equal(machines_stats(&m, 1).matches, 3);
	machines_fini(&m);
}

/* What an instance raises ends it while it is told of, and its memory is used for another one that does not last. */
static void may_be_ended_by_what_it_raises(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	rule.states[1].count = 2;
	machines_add(&rule, 1, MAKER_C, PROGRAM_TARGET_END);
	machines_open(&m, machines_add(&rule, 0, MAKER_C, PROGRAM_TARGET_END), 50);
	emit(&rule, 1, machines_slot(&m, SLOT_X));
	emit(&rule, 1, machines_int(&m, 77));
	emit(&rule, 1, machines_slot(&m, SLOT_N));
	maker_add(m.build, &rule);
	struct maker_rule other = counter("o");
	other.states[1].count = 1;
	maker_add(m.build, &other);
	add_listener();
	machines_start(&m);
	machines_feed(&m, "A5 A5 A5");
	machines_assert(&m, "m/1@2=1 o/1@2=1 c/0@2=5 c/0@2=77 c/0@2=1 o/1@3=2 ");
	assert_int_equal(machines_live(&m, 0), 1); /* opened by the last A */
	assert_int_equal(machines_stats(&m, 0).runs_opened, 2);
	machines_fini(&m);
}

static void a_callback_can_stop_it(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = counter("m");
	maker_add(m.build, &rule);
	machines_start(&m);
	m.result = -EINTR;
	assert_int_equal(machines_feed(&m, "A1 A1 A1"), -EINTR);
	machines_assert(&m, "m/1@2=1 ");
	machines_fini(&m);
}

/* A+ makes a copy for (x + 1, u), whose n is 10 more. */
static struct maker_rule family(void)
{
	struct maker_rule rule = machines_base("m");
	struct maker_transition *t = machines_add(&rule, 0, MAKER_A, 1);
	uint32_t x = machines_slot(&m, SLOT_X), u = machines_field(&m, MAKER_A, MAKER_U);
	uint32_t by = maker_node(m.build, PROGRAM_OP_CONVERT, PROGRAM_I64, u, 0);

	machines_open(&m, t, 0);
	t = machines_add(&rule, 1, MAKER_A, 1);
	t->fit = machines_field(&m, MAKER_A, MAKER_BOOL) + 1;
	t->flags = PROGRAM_COPY;
	machines_set(t, SLOT_X, maker_node(m.build, PROGRAM_OP_ADD, PROGRAM_I64, x, by));
	machines_set(t, SLOT_N, machines_plus(&m, 10));
	t = machines_add(&rule, 1, MAKER_A, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	t = machines_add(&rule, 1, MAKER_C, 1);
	machines_notice(&m, t, 1);
	return rule;
}

static void copies_inherit(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = family();
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1.1 A1.1+ C1.1 C2.1"); /* judged on its own slots, as if there were no copy */
	machines_assert(&m, "m/1@3=1 m/1@4=10 ");
	machines_feed(&m, "A1.1+ C1.1 C2.1"); /* 2.1 is there */
	machines_assert(&m, "m/1@6=2 m/1@7=10 ");
	machines_feed(&m, "A2.1+ C3.1 A5.0 A5.0+ C5.0"); /* nor is a copy made for the own key */
	machines_assert(&m, "m/1@9=20 m/1@12=1 ");
	assert_int_equal(machines_stats(&m, 0).runs_opened, 4);
	machines_feed(&m, "A9.1+ C9.1 C10.1"); /* opened by it, not copied */
	machines_assert(&m, "m/1@14=0 ");
	machines_fini(&m);
}

static void copies_need_a_place_and_inherit_losses(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = family();
	rule.pool = 2;
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1.1 A1.1+ A2.1+ A1.1+");
	assert_int_equal(machines_stats(&m, 0).runs_opened, 2);
	assert_int_equal(machines_stats(&m, 0).pool_exhausted, 1);
	machines_fini(&m);

	machines_init(&m);
	rule = family();
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1.1");
	engine_lose(m.engine, 1);
	machines_feed(&m, "A1.1+ C2.1");
	machines_assert(&m, "m/1@3=10! ");
	machines_fini(&m);
}

/* B says (x, *) and C (*, u). */
static struct maker_rule with_any(void)
{
	struct maker_rule rule = counter("m");

	rule.classes[0].keys[MAKER_B].fields[1] = PROGRAM_NONE;
	rule.classes[0].keys[MAKER_C].fields[0] = PROGRAM_NONE;
	rule.states[1].count = 1;
	machines_add(&rule, 1, MAKER_B, PROGRAM_TARGET_END);
	machines_add(&rule, 1, MAKER_C, PROGRAM_TARGET_END)->fit = machines_field(&m, MAKER_C, MAKER_BOOL) + 1;
	return rule;
}

static void any_value_ends_all_that_agree(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = with_any();
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "B1 C1.1+ A1.1 A1.2 A1.3 A2.1 A2.2 A3.3");
	machines_feed(&m, "C0.1 B7 C7.7+");
	assert_int_equal(machines_live(&m, 0), 6);
	machines_feed(&m, "B1.9");
	assert_int_equal(machines_live(&m, 0), 3);
	machines_feed(&m, "C9.3+");
	assert_int_equal(machines_live(&m, 0), 2);
	machines_feed(&m, "A1.1 A2.1 A2.2 A3.3");
	machines_assert(&m, "m/1@15=1 m/1@16=1 ");
	machines_fini(&m);
}

/* Several machines and rules on a type that only waiting ones want. */
static void many_machines_take_their_turns(void **state)
{
	static char names[6][2];

	(void)state;
	machines_init(&m);
	for (int i = 0; i < 6; i++) {
		names[i][0] = (char)('p' + i);
		struct maker_rule rule = counter(names[i]);
		rule.states[0].transitions[0].fit =
			maker_node(m.build, PROGRAM_OP_LE, PROGRAM_BOOL, machines_field(&m, MAKER_A, MAKER_X),
				   machines_int(&m, i)) +
			1;
		maker_add(m.build, &rule);
		if (i == 2)
			add_listener();
	}
	machines_start(&m);
	machines_feed(&m, "C4 A4 C4 C4");
	machines_assert(&m, "c/0@1=4 c/0@3=4 t/2@3=0 u/2@3=0 c/0@4=4 ");
	machines_fini(&m);
}

static void pool_bytes_count_everything(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule plain = counter("a"), timed = counter("b"), any = with_any();
	plain.flags = 0;
	plain.context_slot = plain.timer_slot = 0;
	plain.pool = timed.pool = any.pool = 1 << 16;
	any.name = "c";
	maker_add(m.build, &plain);
	maker_add(m.build, &timed);
	maker_add(m.build, &any);
	machines_start(&m);
	uint64_t bytes[3];
	for (uint32_t i = 0; i < 3; i++)
		bytes[i] = engine_pool_bytes(m.program, i);
	assert_true(bytes[0] > 65536 * 136);
	assert_true(bytes[1] >= bytes[0] + 65536 * 16);
	assert_true(bytes[2] >= bytes[1] + 65536 * 2 * (32 + 16));
	machines_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_one_instance_per_key),
		cmocka_unit_test(start_acts_without_opening),
		cmocka_unit_test(keys_are_compared_as_64_bits),
		cmocka_unit_test(a_full_pool_refuses_the_new),
		cmocka_unit_test(losses_mark_who_was_there),
		cmocka_unit_test(notices_have_their_own_statements),
		cmocka_unit_test(may_be_ended_by_what_it_raises),
		cmocka_unit_test(a_callback_can_stop_it),
		cmocka_unit_test(copies_inherit),
		cmocka_unit_test(copies_need_a_place_and_inherit_losses),
		cmocka_unit_test(any_value_ends_all_that_agree),
		cmocka_unit_test(many_machines_take_their_turns),
		cmocka_unit_test(pool_bytes_count_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
