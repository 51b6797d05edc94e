// SPDX-License-Identifier: BSD-2-Clause
/* What a match plan says of rules and their events. Needs no kernel and no privilege. */

#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/plan/can-run.h"
#include "ebpf/plan/cascade.h"
#include "ebpf/plan/guards.h"
#include "ebpf/plan/plan.h"
#include "program/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EVENTS                                    \
	"EVENT A { x: i64, y: i64, s: string }\n" \
	"EVENT B { x: i64, y: i64, s: string }\n" \
	"EVENT C { x: i64, y: i64 }\n"            \
	"EVENT D { x: i64 }\n"

struct planned {
	struct rules rules;
	struct plan *plan;
};

static void plan_with(struct planned *planned, const char *text, const struct plan_options *options)
{
	char all[2048];

	snprintf(all, sizeof all, EVENTS "%s\n", text);
	rules_init(&planned->rules, all);
	assert_int_equal(plan_new(planned->rules.program, options, &planned->plan), 0);
}

static void plan_of(struct planned *planned, const char *text)
{
	const struct plan_options options = { .live = true };

	plan_with(planned, text, &options);
}

static void fini(struct planned *planned)
{
	plan_free(planned->plan);
	rules_fini(&planned->rules);
}

static uint32_t type_of(const struct planned *planned, const char *name)
{
	uint32_t type = program_type_find(planned->rules.program, name);

	assert_int_not_equal(type, PROGRAM_NONE);
	return type;
}

static const struct plan_event *event_of(const struct planned *planned, uint32_t rule, const char *type)
{
	const struct plan_event *event = plan_event(planned->plan, rule, type_of(planned, type));

	assert_non_null(event);
	assert_int_equal(event->rule, rule);
	return event;
}

/* Letters for what is true of an event, in this order. */
static const struct {
	size_t offset;
	char letter;
} letters[] = {
	{ offsetof(struct plan_event, wants), 'w' },      { offsetof(struct plan_event, opens), 'o' },
	{ offsetof(struct plan_event, opens_runs), 'r' }, { offsetof(struct plan_event, moves), 'm' },
	{ offsetof(struct plan_event, copies), 'c' },     { offsetof(struct plan_event, names_part), 'p' },
	{ offsetof(struct plan_event, holds), 'h' },      { offsetof(struct plan_event, links_late), 'l' },
	{ offsetof(struct plan_event, in_order), 'i' },   { offsetof(struct plan_event, once), '1' },
	{ offsetof(struct plan_event, doubtful), 'u' },   { offsetof(struct plan_event, guard.is_there), 'g' },
};

static void assert_flags(const struct planned *planned, const char *type, const char *expected)
{
	const struct plan_event *event = event_of(planned, 0, type);
	char flags[sizeof letters / sizeof *letters + 1] = "";

	for (size_t i = 0, length = 0; i < sizeof letters / sizeof *letters; i++)
		if (*(const bool *)((const char *)event + letters[i].offset))
			flags[length++] = letters[i].letter;
	assert_string_equal(flags, expected);
}

static const struct {
	const char *rule;
	bool wide;
	const char *a, *b; /* flags at A and B; NULL: not of the stream */
	uint32_t a_walks, b_walks;
} cases[] = {
	/* A opens, B steps: one bucket each time, and each takes its lock when it comes to that. */
	{ "RULE r PATTERN { [A, B] } WHERE { [tid] }", false, "wori1", "wi1", 0, 1 },
	/* An event that does both holds the bucket's lock; where it opens in another bucket, one lock for all. */
	{ "RULE r PATTERN { [A: a, A: b] } WHERE { [x] } OVER { A, B }", false, "worhi1", "i1", 1, 0 },
	{ "RULE r PATTERN { [A: a, A: b] } WHERE { a.x == b.y }", true, "worhi1", NULL, 1, 0 },
	/* What waits by x goes to wait by y: another bucket, and matches are not found in the order of the runs. */
	{ "RULE r PATTERN { [A: a, B: b, C: c] } WHERE { a.x == b.x, b.y == c.y }", true, "worh1", "wmh1", 0, 1 },
	/* Copies of runs go to new places; a run that is opened comes after them. */
	{ "RULE r SKIPTILLANY PATTERN { [A, B, C] } WHERE { [tid] }", false, "wor1", "wmhl1", 0, 1 },
	/* Dropping looks for others of the key. */
	{ "RULE r PATTERN { [A, B] } WHERE { [tid] } AFTER MATCH DROP", false, "worli", "whli1", 0, 1 },
	/* A match of one event, and what keeps it out; a string that may be unread. */
	{ "RULE r PATTERN { A: a } WHERE { a.x == 3, a.y > 1 }", false, "woi1g", NULL, 0, 0 },
	{ "RULE r PATTERN { A: a } WHERE { a.s == \"b\" }", false, "woi1u", NULL, 0, 0 },
	{ "MACHINE m KEY { x } STATE O { ON A -> C } STATE C { ON B -> O }", false, "worhi1", "whi1", 1, 1 },
	{ "MACHINE m KEY { x, y } STATE O { ON A -> C } ON B BY { x, * } -> END STATE C { }", false, "worhi1", "wphi",
	  1, 1 },
};

static void events_are_distinguished(void **state)
{
	struct planned planned;
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		plan_of(&planned, cases[i].rule);
		assert_int_equal(planned.plan->rules[0].wide, cases[i].wide);
		assert_flags(&planned, "A", cases[i].a);
		assert_int_equal(event_of(&planned, 0, "A")->walk_count, cases[i].a_walks);
		if (cases[i].b) {
			assert_flags(&planned, "B", cases[i].b);
			assert_int_equal(event_of(&planned, 0, "B")->walk_count, cases[i].b_walks);
		}
		fini(&planned);
	}
}

static void a_walk_names_its_states(void **state)
{
	struct planned planned;
	const struct plan_event *event;
	(void)state;

	plan_of(&planned, "RULE r PATTERN { [A: a, B: b, B: c] } WHERE { a.x == b.x, b.y == c.y }");
	event = event_of(&planned, 0, "B");
	assert_int_equal(event->walk_count, 2); /* by x in state 1, by y in state 2 */
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(event->walks[i].state_count, 1);
		assert_int_equal(event->walks[i].states[0], i + 1);
		assert_int_equal(event->walks[i].group, i);
	}
	assert_int_equal(planned.plan->rules[0].group_count, 2);
	fini(&planned);
}

static void a_machine_has_stripes_and_a_timer(void **state)
{
	struct planned planned;
	const struct plan_rule *rule;
	(void)state;

	plan_of(&planned, "MACHINE m KEY { x, y } STATE O { ON A -> C } ON B BY { x, * } -> END "
			  "STATE C { AFTER 1s -> END }");
	rule = &planned.plan->rules[0];
	assert_int_equal(rule->stripe_slots, 1);
	assert_true(rule->inner_bits > 0 && rule->inner_bits < rule->bucket_bits);
	assert_true(rule->timed && rule->due && rule->swept);
	assert_int_equal(rule->timer.walk_count, 1);
	assert_int_equal(rule->timer.walks[0].state_count, 1);
	assert_int_equal(rule->timer.walks[0].states[0], 1);
	fini(&planned);
}

static void fields_are_asked_for_when_they_are_needed(void **state)
{
	const struct plan_part all = { .first = 0, .end = 1 };
	struct plan_header header;
	struct planned planned;
	uint32_t type;
	(void)state;

	plan_of(&planned, "RULE r PATTERN { [A: a, B: b] } WHERE { [cpu], a.y > 1, b.ts - a.ts > 5 }");
	type = type_of(&planned, "A");
	header = plan_part_header(planned.plan, type, &all);
	assert_int_equal(header.early, 0);
	assert_int_equal(header.late, 1 << 0 | 1 << 1); /* ts and cpu, for the run that it opens */
	assert_int_equal(header.match, 0);
	assert_false(event_of(&planned, 0, "A")->reads[0]);
	assert_true(event_of(&planned, 0, "A")->reads[1]);
	header = plan_part_header(planned.plan, type_of(&planned, "B"), &all);
	assert_int_equal(header.early, 1 << 1); /* the key */
	assert_int_equal(header.late, 1 << 0);
	assert_int_equal(header.match, 1 << 2 | 1 << 3 | 1 << 4);
	fini(&planned);
}

/* A tree over the number would keep the division from being made, and counted. */
static void no_number_keeps_a_division_from_being_counted(void **state)
{
	struct planned planned;
	(void)state;

	plan_of(&planned, "RULE r0 PATTERN { A: a } WHERE { 9 / a.y > 1, a.x == 9 }\n"
			  "RULE r1 PATTERN { A: a } WHERE { a.x == 9, 9 / a.y > 1 }\n"
			  "RULE r2 PATTERN { A: a } WHERE { a.y / 9 > 1, a.x == 9 }");
	assert_false(event_of(&planned, 0, "A")->guard.is_there);
	assert_true(event_of(&planned, 1, "A")->guard.is_there);
	assert_true(event_of(&planned, 2, "A")->guard.is_there);
	fini(&planned);
}

static void one_number_distinguishes_rules(void **state)
{
	const struct plan_part all = { .first = 0, .end = 6 };
	const bool excluded[6] = { false, false, true, false, false, false };
	const struct plan_options options = { .live = true, .excluded = excluded };
	struct plan_guards guards;
	struct planned planned;
	uint32_t type;
	(void)state;

	plan_with(&planned,
		  "RULE r0 PATTERN { A: a } WHERE { a.x == 9 }\nRULE r1 PATTERN { A: a } WHERE { 2 == a.x, a.y > 1 }\n"
		  "RULE r2 PATTERN { A: a } WHERE { a.x == 7 }\nRULE r3 PATTERN { A: a } WHERE { a.x == 5 }\n"
		  "RULE r4 PATTERN { A: a } WHERE { a.x > 5 }\nRULE r5 PATTERN { A: a } WHERE { a.x == 2 }",
		  &options);
	type = type_of(&planned, "A");
	assert_int_equal(plan_guards(planned.plan, type, &all, &guards), 0);
	assert_int_equal(guards.count, 4);
	assert_int_equal(guards.events[0]->rule, 1);
	assert_int_equal(guards.events[1]->rule, 5);
	assert_int_equal(guards.events[2]->guard.value, 5);
	assert_int_equal(guards.events[3]->rule, 0);
	assert_false(plan_guards_has(&guards, event_of(&planned, 4, "A")));
	assert_null(plan_event(planned.plan, 2, type)); /* it runs elsewhere */
	assert_int_equal(plan_wanting(planned.plan, type, &all), 5);
	plan_guards_fini(&guards);
	fini(&planned);
}

static void what_is_raised_is_followed(void **state)
{
	const struct plan_part first = { .first = 0, .end = 1 };
	struct plan_cascade cascade = { 0 };
	struct planned planned;
	(void)state;

	plan_of(&planned, "RULE one PATTERN { A: a } DO { EMIT B(x = a.x) }\n"
			  "RULE two PATTERN { B: b } DO { EMIT C(x = b.x); CALL Message(\"n\", b.x) }\n"
			  "RULE three PATTERN { [C, C] } WHERE { [x] }");
	assert_true(planned.plan->rules[0].raises && planned.plan->rules[1].raises);
	assert_true(planned.plan->rules[1].raised && planned.plan->rules[2].raised);
	assert_false(planned.plan->rules[0].raised || planned.plan->rules[2].raises);
	assert_int_equal(plan_cascade(planned.plan, type_of(&planned, "A"), &first, &cascade), 1);
	assert_true(cascade.rules[0] && cascade.rules[1] && !cascade.rules[2]);
	assert_int_equal(cascade.place_count, 4); /* an event of each, and two types */
	assert_int_equal(cascade.rule_places[1], 2);
	assert_int_equal(cascade.type_places[type_of(&planned, "A")], PROGRAM_NONE);
	assert_int_equal(cascade.type_places[type_of(&planned, "C")], 4);
	plan_cascade_fini(&cascade);
	fini(&planned);
}

static void what_only_opens_a_run_raises_nothing(void **state)
{
	const struct plan_part first = { .first = 0, .end = 1 };
	struct plan_cascade cascade = { 0 };
	struct planned planned;
	(void)state;

	plan_of(&planned, "RULE one PATTERN { [A: a, C: c] } WHERE { [x] } DO { EMIT B(x = a.x) }\n"
			  "RULE two PATTERN { [B: b, C: c] } WHERE { [x] } DO { EMIT D(x = b.x) }\n"
			  "RULE three PATTERN { [D, D] } WHERE { [x] }");
	assert_true(planned.plan->rules[0].raises && planned.plan->rules[1].raises);
	assert_false(plan_cascade_begins(planned.plan, type_of(&planned, "A"), &first));
	assert_int_equal(plan_cascade(planned.plan, type_of(&planned, "A"), &first, &cascade), 0);
	assert_null(cascade.rules);
	/* At C, the first rule matches; its B opens a run of the second, which raises nothing yet. */
	assert_int_equal(plan_cascade(planned.plan, type_of(&planned, "C"), &first, &cascade), 1);
	assert_true(cascade.rules[0] && !cascade.rules[1]);
	assert_int_equal(cascade.place_count, 2);
	plan_cascade_fini(&cascade);
	fini(&planned);
}

static void acts_are_those_that_are_allowed(void **state)
{
	bool allowed[3] = { true, true, true };
	struct plan_options options = { .live = true, .allowed = allowed, .may_stop = true };
	const char *rule = "RULE r PATTERN { A: a } DO { CALL Stop(a.pid); CALL Kill(a.pid); "
			   "CALL Count(\"n\") }";
	struct planned planned;
	(void)state;

	plan_with(&planned, rule, &options);
	assert_int_equal(planned.plan->rules[0].at_event.done, 7);
	assert_int_equal(planned.plan->rules[0].at_event.alone, 3);
	assert_int_equal(planned.plan->rules[0].at_deadline.done, 4); /* nobody is there to be met */
	assert_int_equal(event_of(&planned, 0, "A")->scratch, 0);
	assert_true(planned.plan->waits);
	fini(&planned);
	options.may_stop = false;
	allowed[1] = false;
	plan_with(&planned, rule, &options);
	assert_int_equal(planned.plan->rules[0].at_event.done, 4);
	assert_int_equal(planned.plan->rules[0].at_event.alone, 0);
	assert_true(planned.plan->rules[0].at_event.reports);
	fini(&planned);
	options.allowed = NULL;
	plan_with(&planned, rule, &options);
	assert_int_equal(planned.plan->rules[0].at_event.done, 0);
	assert_int_equal(event_of(&planned, 0, "A")->scratch, PROGRAM_NONE);
	fini(&planned);
}

static void interrupts_are_passed_on(void **state)
{
	bool from_interrupt[8] = { false };
	struct plan_options options = { .live = true, .from_interrupt = from_interrupt, .can_lock_out = true };
	const char *rules = "RULE one PATTERN { A: a } DO { EMIT B(x = a.x) }\nRULE two PATTERN { [B, B] }\n"
			    "RULE three PATTERN { [C, C] }";
	struct planned planned;
	(void)state;

	plan_with(&planned, rules, &options);
	assert_false(planned.plan->rules[0].interrupted);
	from_interrupt[type_of(&planned, "A")] = true;
	fini(&planned);
	plan_with(&planned, rules, &options);
	assert_true(planned.plan->rules[0].interrupted && planned.plan->rules[0].locks_out_interrupts);
	assert_true(planned.plan->rules[1].interrupted);
	assert_false(planned.plan->rules[2].interrupted);
	fini(&planned);
}

/* By the plan for all at once as one by one: what EMIT connects runs in one place. */
static void connected_rules_are_judged_together(void **state)
{
	struct planned planned;
	char reason[200];
	(void)state;

	plan_of(&planned, "RULE one PATTERN { A: a } DO { EMIT B(x = a.x) }\nRULE two PATTERN { [B, B] }\n"
			  "RULE three PATTERN { [B, B] } POOL 16777216\nRULE four PATTERN { [C, C] }");
	for (uint32_t i = 0; i < planned.rules.program->rule_count; i++) {
		assert_int_equal(planned.plan->rules[i].here, i == 3);
		assert_int_equal(ebpf_can_run(planned.rules.program, i, reason, sizeof reason), i == 3);
	}
	fini(&planned);
}

/* Whom an event is about costs nothing where no rule asks: neither a read nor room in the record. */
static void what_is_not_asked_for_is_not_read(void **state)
{
	static const struct {
		const char *rule;
		uint32_t gained;
	} rows[] = {
		{ "RULE r PATTERN { [sys_enter_close: a, B: b] } WHERE { [tid] } RETURN { a.fd }", 0 },
		{ "RULE r PATTERN { [sys_enter_close: a, B: b] } WHERE { a.uid == 0 } RETURN { a.fd }", 1 },
		{ "RULE r PATTERN { [sys_enter_close: a, sys_enter_close: b] } WHERE { [uid] } RETURN { b.ppid }", 2 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct planned planned;
		char text[300];

		snprintf(text, sizeof text, "EVENTS \"linux.events\"\n%s", rows[i].rule);
		plan_of(&planned, text);
		const struct plan_event *event = event_of(&planned, 0, "sys_enter_close");
		uint32_t fields = planned.rules.program->types[type_of(&planned, "sys_enter_close")].field_count;
		uint32_t read = 0;

		assert_int_equal(fields, 1 + rows[i].gained);
		for (uint32_t j = 1; j < fields; j++)
			read += event->reads[j];
		assert_int_equal(read, rows[i].gained);
		fini(&planned);
	}
}

static void memory_that_is_short_leaves_no_plan(void **state)
{
	const struct plan_options options = { .live = true };
	struct rules rules;
	struct plan *plan = NULL;
	unsigned long failing = 0;
	int result;
	(void)state;

	rules_init(&rules, EVENTS "RULE r PATTERN { [A, B] } WHERE { [x] } RETURN SEQUENCE\n");
	do {
		alloc_fail_at(++failing);
		result = plan_new(rules.program, &options, &plan);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		assert_int_equal(plan != NULL, result == 0);
	} while (result);
	assert_true(failing > 3);
	plan_free(plan);
	rules_fini(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_distinguished),
		cmocka_unit_test(a_walk_names_its_states),
		cmocka_unit_test(a_machine_has_stripes_and_a_timer),
		cmocka_unit_test(fields_are_asked_for_when_they_are_needed),
		cmocka_unit_test(no_number_keeps_a_division_from_being_counted),
		cmocka_unit_test(one_number_distinguishes_rules),
		cmocka_unit_test(what_is_raised_is_followed),
		cmocka_unit_test(what_only_opens_a_run_raises_nothing),
		cmocka_unit_test(acts_are_those_that_are_allowed),
		cmocka_unit_test(interrupts_are_passed_on),
		cmocka_unit_test(connected_rules_are_judged_together),
		cmocka_unit_test(what_is_not_asked_for_is_not_read),
		cmocka_unit_test(memory_that_is_short_leaves_no_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
