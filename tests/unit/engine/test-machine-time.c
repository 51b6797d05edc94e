// SPDX-License-Identifier: BSD-2-Clause
/* Timers of machines: when they go off, in which order, and that they come to an end. */

#include "machines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct machines m;

static void set_context(struct maker_transition *transition)
{
	machines_set(transition, SLOT_PID, maker_leaf(m.build, PROGRAM_OP_FIELD, PROGRAM_I64, 2));
}

/*
 * A opens with a timer after ns and sets it anew each time; B counts and leaves it; C ends. The timer adds 100, tells
 * and ends.
 */
static struct maker_rule alarm(const char *name, uint64_t after)
{
	struct maker_rule rule = machines_base(name);
	struct maker_transition *t = machines_add(&rule, 0, MAKER_A, 1);

	machines_open(&m, t, 0);
	machines_set(t, SLOT_TIMER, machines_later(&m, after));
	set_context(t);
	t = machines_add(&rule, 1, MAKER_A, 1);
	machines_set(t, SLOT_TIMER, machines_later(&m, after));
	t = machines_add(&rule, 1, MAKER_B, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	machines_add(&rule, 1, MAKER_C, PROGRAM_TARGET_END);
	t = machines_add(&rule, 1, PROGRAM_TIMER, PROGRAM_TARGET_MATCH);
	machines_set(t, SLOT_N, machines_plus(&m, 100));
	machines_notice(&m, t, 1);
	return rule;
}

static void run(struct maker_rule *rule, const char *events, const char *reported)
{
	maker_add(m.build, rule);
	machines_start(&m);
	assert_int_equal(machines_feed(&m, events), 0);
	machines_assert(&m, reported);
	machines_fini(&m);
}

static void goes_off_when_time_has_passed(void **state)
{
	static const struct {
		const char *events, *reported;
	} rows[] = {
		{ "A1@100 B1@109 B2@110", "" },
		{ "A1@100 B1@110 C2@111", "m/1@110=101 " }, /* what has that very time comes first */
		{ "A1@100 C1@110 C2@200", "" },
		{ "A1@100 C2@111 B1@111 C2@300", "m/1@110=100 " },
		{ "A1@100 A1@105 C2@115 C2@116", "m/1@115=100 " },
		{ "A1@100 A2@101 A3@102 A2@105 C9@200", "m/1@110=100 m/1@112=100 m/1@115=100 " },
		{ "A1@100 A2@100 A3@100 C2@101 C9@200 A2@300 C9@400", "m/1@110=100 m/1@110=100 m/1@310=100 " },
		{ "A1@100 A2@100 A1@102 A2@102 C9@200", "m/1@112=100 m/1@112=100 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		machines_init(&m);
		struct maker_rule rule = alarm("m", 10);
		run(&rule, rows[i].events, rows[i].reported);
	}
}

static void advance_and_deadline_know_timers(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10);
	maker_add(m.build, &rule);
	machines_start(&m);
	assert_true(machines_deadline(&m) == UINT64_MAX);
	machines_feed(&m, "A1@100 A2@103");
	assert_int_equal(machines_deadline(&m), 110);
	engine_advance(m.engine, 110);
	machines_assert(&m, "");
	engine_advance(m.engine, 111);
	machines_assert(&m, "m/1@110=100 ");
	assert_int_equal(machines_deadline(&m), 113);
	engine_advance(m.engine, 1000);
	machines_assert(&m, "m/1@113=100 ");
	assert_true(machines_deadline(&m) == UINT64_MAX);
	assert_int_equal(machines_live(&m, 0), 0);
	machines_fini(&m);
}

/* [A, ~B] WITHIN 10ns, told as "r". */
static void add_absence(void)
{
	uint32_t nothing = maker_const(m.build, PROGRAM_I64, 0);
	struct maker_rule rule = {
		.name = "r",
		.semantics = PROGRAM_SKIP_TILL_NEXT,
		.flags = PROGRAM_RULE_DEADLINE,
		.pool = 10,
		.within_ns = 10,
		.slots = { { PROGRAM_I64, 8 }, { PROGRAM_I64, 8 }, { PROGRAM_I64, 8 }, { PROGRAM_STRING, 16 } },
		.slot_count = 4,
		.context_slot = 1,
		.classes = { { .key_count = 0 } },
		.class_count = 1,
		.state_count = 2,
		.states = { [1] = { .flags = PROGRAM_STATE_DEADLINE } }
	};

	machines_set(machines_add(&rule, 0, MAKER_A, 1), 0, nothing);
	maker_add(m.build, &rule);
}

static void stands_in_line_with_rules(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule slow = alarm("s", 12), same = alarm("m", 10);
	maker_add(m.build, &slow);
	add_absence();
	maker_add(m.build, &same);
	machines_start(&m);
	/* Equal times: by the order of opening, not of the rules or of setting the timer. */
	machines_feed(&m, "A1@98 A1@99 A2@100 A1@100 C9@300");
	machines_assert(&m, "r/0@108=0 r/0@109=0 m/1@110=100 r/0@110=0 m/1@110=100 r/0@110=0 s/1@112=100 s/1@112=100 ");
	machines_fini(&m);
}

/* The timer sets itself again 10 ns later, four times, then tells and stops. */
static void may_go_off_again_and_again(void **state)
{
	struct maker_transition *t;

	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10);
	rule.states[1].count--;
	t = &rule.states[1].transitions[rule.states[1].count];
	memset(t, 0, sizeof *t);
	t = machines_add(&rule, 1, PROGRAM_TIMER, 1);
	t->fit = maker_node(m.build, PROGRAM_OP_LT, PROGRAM_BOOL, machines_slot(&m, SLOT_N), machines_int(&m, 4)) + 1;
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	machines_set(t, SLOT_TIMER, machines_later(&m, 10));
	machines_notice(&m, t, 1);
	t = machines_add(&rule, 1, PROGRAM_TIMER, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 100));
	machines_notice(&m, t, 2);
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1@100 A2@105 C9@1000000000");
	machines_assert(&m, "m/1@110=1 m/1@115=1 m/1@120=2 m/1@125=2 m/1@130=3 m/1@135=3 m/1@140=4 m/1@145=4 "
			    "m/2@150=104 m/2@155=104 ");
	assert_int_equal(machines_live(&m, 0), 2);
	assert_true(machines_deadline(&m) == UINT64_MAX);
	machines_feed(&m, "A1@1000000001 C9@2000000000");
	machines_assert(&m, "m/2@1000000011=204 ");
	machines_fini(&m);
}

/* Set for a time that is not beyond its own, or left as it is, a timer is off. */
static void never_goes_off_twice_at_one_time(void **state)
{
	for (int set = 0; set < 3; set++) {
		struct maker_transition *t;

		(void)state;
		machines_init(&m);
		struct maker_rule rule = alarm("m", 10);
		t = &rule.states[1].transitions[--rule.states[1].count];
		memset(t, 0, sizeof *t);
		t = machines_add(&rule, 1, PROGRAM_TIMER, 1);
		machines_set(t, SLOT_N, machines_plus(&m, 100));
		if (set)
			machines_set(t, SLOT_TIMER, set == 1 ? machines_later(&m, 0) : machines_word(&m, 3));
		machines_notice(&m, t, 1);
		run(&rule, "A1@100 C9@200 C9@300 B1 C9@400", "m/1@110=100 ");
	}
}

static void timers_without_transitions_are_off(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10);
	rule.states[1].count--;
	maker_add(m.build, &rule);
	machines_start(&m);
	machines_feed(&m, "A1@100 C9@200");
	assert_true(machines_deadline(&m) == UINT64_MAX);
	assert_int_equal(machines_live(&m, 0), 1);
	machines_fini(&m);
}

/* Beyond the end of the clock a timer wraps around and is set for the past; time does not go back for it. */
static void may_be_set_for_the_past(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10);
	rule.states[0].transitions[0].actions[3].node = machines_word(&m, 50) + 1;
	run(&rule, "A1@100 B1@100 C9@101 A1@100 B1@101 B1@102", "m/1@50=100 m/1@50=100 ");
}

/* cpu, pid, tid and comm of a timer are the slots'. */
static void has_the_context_of_the_last_event(void **state)
{
	struct maker_transition *t;

	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10);
	t = &rule.states[1].transitions[rule.states[1].count - 1];
	t->fit = maker_node(m.build, PROGRAM_OP_EQ, PROGRAM_BOOL, maker_leaf(m.build, PROGRAM_OP_FIELD, PROGRAM_I64, 2),
			    machines_int(&m, 77)) +
		 1;
	run(&rule, "A1@100#77 A2@100#78 C9@200", "m/1@110=100 ");
}

/* A timer raises an event, which opens what has a timer that is due before the event at hand. */
static void raises_at_its_time(void **state)
{
	(void)state;
	machines_init(&m);
	struct maker_rule rule = alarm("m", 10), seen = alarm("s", 5);
	rule.over_c = false;
	rule.classes[0].key_count = 2;
	memmove(&rule.states[1].transitions[2], &rule.states[1].transitions[3], sizeof rule.states[1].transitions[2]);
	rule.states[1].count--;
	rule.emit[0].type = MAKER_C;
	rule.emit[0].node = machines_slot(&m, SLOT_X);
	rule.emit[0].field = maker_field(MAKER_C, MAKER_X);
	rule.emit[0].notice = 1;
	rule.emit_count = 1;
	maker_add(m.build, &rule);
	memset(&seen.states[0], 0, sizeof seen.states[0]);
	struct maker_transition *t = machines_add(&seen, 0, MAKER_C, 1);
	machines_open(&m, t, 0);
	machines_set(t, SLOT_TIMER, machines_later(&m, 5));
	maker_add(m.build, &seen);
	machines_start(&m);
	machines_feed(&m, "A1@100 A2@103 A3@190 B9@200");
	machines_assert(&m, "m/1@110=100 m/1@113=100 s/1@115=100 s/1@118=100 ");
	machines_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_off_when_time_has_passed),
		cmocka_unit_test(advance_and_deadline_know_timers),
		cmocka_unit_test(stands_in_line_with_rules),
		cmocka_unit_test(may_go_off_again_and_again),
		cmocka_unit_test(never_goes_off_twice_at_one_time),
		cmocka_unit_test(timers_without_transitions_are_off),
		cmocka_unit_test(may_be_set_for_the_past),
		cmocka_unit_test(has_the_context_of_the_last_event),
		cmocka_unit_test(raises_at_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
