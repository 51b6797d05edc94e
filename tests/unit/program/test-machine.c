// SPDX-License-Identifier: BSD-2-Clause
/* Machines in images: what the loader refuses of them, how they are told, what their notices and trails say. */

#include "sample-machine.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "program/calls.h"
#include "program/explain/explain.h"
#include "program/machine.h"
#include "program/returned.h"
#include "program/values.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* As in test-corrupt.c. */
struct corruption {
	enum program_section_id section;
	uint32_t index;
	size_t offset, size;
	uint64_t value;
	const char *text;
	int blamed_section;
	uint32_t blamed_index;
};

#define BAD(section_, index_, type, member, value_, text_, ...)                                  \
	{                                                                                        \
		PROGRAM_##section_, index_, offsetof(struct program_##type, member),             \
			sizeof(((struct program_##type *)0)->member), value_, text_, __VA_ARGS__ \
	}

/* The action of a transition that writes a slot. */
static uint32_t action_of(uint32_t transition, uint32_t slot)
{
	size_t length;
	void *image = sample_machine_image(&length);
	const struct program_transition *row = sample_item(image, PROGRAM_TRANSITIONS, transition);
	uint32_t found = PROGRAM_NONE;

	for (uint32_t i = row->first_action; i < row->first_action + row->action_count; i++) {
		const struct program_action *action = sample_item(image, PROGRAM_ACTIONS, i);

		if (action->slot == slot)
			found = i;
	}
	alloc_free(image);
	assert_int_not_equal(found, PROGRAM_NONE);
	return found;
}

static const struct corruption corruptions[] = {
	/* the machine as a whole */
	BAD(RULES, 0, rule, semantics, 6, "unknown semantics 6"),
	BAD(RULES, 0, rule, semantics, PROGRAM_SKIP_TILL_NEXT, "unknown flags"),
	BAD(RULES, 0, rule, flags, PROGRAM_RULE_TIMER | PROGRAM_RULE_DROP, "unknown flags"),
	BAD(RULES, 0, rule, flags, PROGRAM_RULE_OVER_ALL, "unknown flags"),
	BAD(RULES, 0, rule, flags, 0, "slots for a timer, but no timer"),
	BAD(RULES, 0, rule, mode, PROGRAM_SYNCHRONOUS, "a mode, a time limit"),
	BAD(RULES, 0, rule, within_ns, 5, "a time limit or elements"),
	BAD(RULES, 0, rule, class_count, 0, "one class, not 0"),
	BAD(RULES, 0, rule, aggregation, 1, "a machine cannot aggregate"),
	BAD(RULES, 0, rule, reserved, 1, "reserved"),
	BAD(RULES, 0, rule, context_slot, PROGRAM_NONE, "context slots"),
	BAD(RULES, 0, rule, context_slot, WATCH_PID, "context slot 2 is not"),
	BAD(RULES, 0, rule, timer_slot, WATCH_SLOTS, "no slots 15 to 15"),
	BAD(RULES, 0, rule, timer_slot, WATCH_X, "slot 1 is not of kind 2"),
	BAD(RULES, 0, rule, timer_slot, WATCH_PID, "its timer is in its key"),
	BAD(RULES, 0, rule, notice_slot, WATCH_SLOTS, "no slots"),
	BAD(RULES, 0, rule, notice_slot, WATCH_TID, "not of kind"),
	BAD(RULES, 0, rule, notice_slot, WATCH_TIMER, "writes to the notice slot", PROGRAM_TRANSITIONS, WATCH_OPENS),
	BAD(RULES, 0, rule, notice_slot, WATCH_TRAIL, "writes to the notice slot", PROGRAM_TRANSITIONS, WATCH_OPENS),
	BAD(RULES, 0, rule, notice_count, 4, "not in the image"),
	BAD(RULES, 0, rule, notice_count, 0, "no notices"),
	BAD(RULES, 0, rule, notice_count, 2, "writes to the notice slot", PROGRAM_TRANSITIONS, WATCH_ALONE),
	BAD(RULES, 0, rule, first_notice, 1, "not in the image"),
	BAD(RULES, 0, rule, trail_count, 17, "invalid trail: 17 entries"),
	BAD(RULES, 0, rule, trail_count, 0, "invalid trail: 0 entries from slot 9"),
	BAD(RULES, 0, rule, trail_count, 3, "no slots 9 to 17"),
	BAD(RULES, 0, rule, trail_slot, WATCH_COMM, "slot 6 is not of kind 2"),
	BAD(RULES, 0, rule, trail_slot, UINT32_MAX, "no slots"),
	/* its key */
	BAD(CLASSES, 0, class, slot_count, 9, "key has at most 8 slots, not 9", PROGRAM_RULES, 0),
	BAD(CLASSES, 0, class, first_slot, 100, "not in the image", PROGRAM_RULES, 0),
	BAD(CLASSES, 0, class, first_key, 100, "under another key", PROGRAM_TRANSITIONS, WATCH_OPENS),
	BAD(CLASSES, 0, class, key_count, 1, "under another key", PROGRAM_TRANSITIONS, WATCH_ALONE),
	BAD(CLASSES, 0, class, key_count, 2, "do not find", PROGRAM_TRANSITIONS, WATCH_ENDS),
	{ PROGRAM_INDICES, 1, 0, 4, WATCH_PID, "its key contains slot 0 twice", PROGRAM_RULES, 0 },
	{ PROGRAM_INDICES, 1, 0, 4, WATCH_TOLD, "set the whole key", PROGRAM_TRANSITIONS, WATCH_OPENS },
	{ PROGRAM_INDICES, 1, 0, 4, WATCH_SLOTS, "set the whole key", PROGRAM_TRANSITIONS, WATCH_OPENS },
	{ PROGRAM_INDICES, 3, 0, 4, FIELD_TID, "under another key", PROGRAM_TRANSITIONS, WATCH_OPENS },
	{ PROGRAM_INDICES, 3, 0, 4, PROGRAM_NONE, "under another key", PROGRAM_TRANSITIONS, WATCH_OPENS },
	{ PROGRAM_INDICES, 6, 0, 4, FIELD_COMM, "bit by bit", PROGRAM_KEYS, 2 },
	{ PROGRAM_INDICES, 6, 0, 4, PROGRAM_NONE, "names no field", PROGRAM_KEYS, 2 },
	{ PROGRAM_INDICES, 7, 0, 4, 1000, "field 1000 does not exist", PROGRAM_KEYS, 2 },
	BAD(KEYS, 2, key, type, PROGRAM_NONE, "outside the rule's stream"),
	BAD(KEYS, 1, key, first_field, 100, "under another key", PROGRAM_TRANSITIONS, WATCH_ALONE),
	/* states and transitions */
	BAD(STATES, 1, state, flags, PROGRAM_STATE_DEADLINE, "the rule has none"),
	BAD(STATES, 1, state, class, 1, "class 1 does not exist"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, type, PROGRAM_TIMER, "a timer, but the rule has none"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, type, PROGRAM_NONE, "does not exist"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, target, 0, "leads to state 0"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, PROGRAM_COPY, "it copies, but"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, PROGRAM_TELL, "does not set the notice slot"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, PROGRAM_FORBID, "invalid flags"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, PROGRAM_IN_PLACE, "invalid flags"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, PROGRAM_ARM, "arms a timer"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, flags, 32, "invalid flags"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, target, PROGRAM_TARGET_MATCH, "does not set the notice slot"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, hold, 0, "a condition to hold or an element"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, element, 0, "a condition to hold or an element"),
	BAD(TRANSITIONS, WATCH_OPENS, transition, action_count, 1, "does not set the whole key"),
	BAD(TRANSITIONS, WATCH_ALONE, transition, flags, PROGRAM_TELL, "leads to no state"),
	BAD(TRANSITIONS, WATCH_COPIES, transition, target, PROGRAM_TARGET_END, "leads to no state"),
	BAD(TRANSITIONS, WATCH_COPIES, transition, flags, PROGRAM_COPY | PROGRAM_TELL, "invalid flags"),
	BAD(TRANSITIONS, WATCH_COPIES, transition, flags, 0, "changes the key"),
	BAD(TRANSITIONS, WATCH_TELLS, transition, type, PROGRAM_TIMER, "does not have"),
	BAD(TRANSITIONS, WATCH_FIRES, transition, flags, PROGRAM_COPY, "leads to no state"),
	BAD(TRANSITIONS, WATCH_STAYS, transition, flags, PROGRAM_COPY, "it copies, but"),
	BAD(TRANSITIONS, WATCH_STAYS, transition, fit, 0, "is not a condition"),
	/* events for any value */
	BAD(TRANSITIONS, WATCH_ENDS, transition, target, 2, "may only end instances"),
	BAD(TRANSITIONS, WATCH_ENDS, transition, fit, PROGRAM_NONE, "the same in all states", PROGRAM_STATES, 2),
	BAD(TRANSITIONS, WATCH_ENDS_CLOSED, transition, type, TYPE_B, "the same in all states", PROGRAM_STATES, 2),
	BAD(TRANSITIONS, WATCH_ENDS, transition, action_count, 1, "may only end instances"),
	/* notices */
	BAD(NOTICES, 0, notice, flags, 2, "unknown flags"),
	BAD(NOTICES, 0, notice, reserved, 1, "reserved"),
	BAD(NOTICES, 0, notice, flags, PROGRAM_NOTICE_SILENT, "silent, but has"),
	BAD(NOTICES, 0, notice, piece_count, 5, "not in the image"),
	BAD(NOTICES, 0, notice, piece_count, 4, "belongs to another notice", PROGRAM_PIECES, 3),
	BAD(NOTICES, 2, notice, first_piece, 0, "already belongs to another one"),
	BAD(NOTICES, 1, notice, flags, 0, NULL),
	BAD(PIECES, 0, piece, text, 1, "no printable text"),
	BAD(PIECES, 0, piece, value, 3, "returned value 3 does not exist"),
	BAD(PIECES, 0, piece, value, 2, "belongs to another notice"),
	BAD(RETURNS, 0, return, notice, 0, "notice 0 does not exist"),
	BAD(RETURNS, 0, return, notice, 4, "notice 4 does not exist"),
	BAD(RETURNS, 0, return, there, 1, "reads an event"),
	BAD(RETURNS, 0, return, first, 1, "value 0 does not precede it"),
	BAD(RETURNS, 1, return, first, 1, NULL),
	BAD(RETURNS, 1, return, first, 2, "value 1 does not precede it"),
	BAD(RETURNS, 1, return, first, UINT32_MAX, "does not precede it"),
	BAD(RETURNS, 2, return, first, 1, "not the first of its notice"),
	BAD(RETURNS, 1, return, notice, WATCH_EMISSION, "belongs to another notice", PROGRAM_PIECES, 1),
	BAD(STATEMENTS, 0, statement, notice, 0, "notice 0 does not exist"),
	BAD(STATEMENTS, 1, statement, notice, 4, "notice 4 does not exist"),
	BAD(STATEMENTS, 0, statement, notice, WATCH_EMISSION, "it calls an action, but its notice is silent"),
};

/* Whether the image loads where text is NULL, else that one message has text and, unless at is 0, stands there. */
static bool is_judged(void *image, size_t length, const char *text, uint64_t at)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	const struct asterism_message *message;
	bool good;
	int result;

	sample_seal(image, length);
	result = program_load(image, length, "watch", diag, &program);
	message = asterism_diag_get(diag, 0);
	good = text ? result == -EINVAL && !program && message && strstr(message->text, text) &&
			       (!at || message->offset == at)
		    : result == 0;
	if (!good)
		print_error("expected \"%s\" at %lu, got %d \"%s\" at %lu\n", text ? text : "", (unsigned long)at,
			    result, message ? message->text : "", message ? (unsigned long)message->offset : 0);
	program_free(program);
	asterism_diag_free(diag);
	alloc_free(image);
	return good;
}

static void refuses_each_corruption(void **context)
{
	unsigned failures = 0;

	(void)context;
	for (size_t i = 0; i < sizeof corruptions / sizeof *corruptions; i++) {
		const struct corruption *c = &corruptions[i];
		size_t length;
		char *image = sample_machine_image(&length);
		char *item = sample_item(image, c->section, c->index), *blamed = item;

		if (c->blamed_section)
			blamed = sample_item(image, (enum program_section_id)c->blamed_section, c->blamed_index);
		memcpy(item + c->offset, &c->value, c->size);
		if (!is_judged(image, length, c->text, (uint64_t)(blamed - image))) {
			print_error("  by corruption %zu\n", i);
			failures++;
		}
	}
	assert_int_equal(failures, 0);
}

/* What only one action of many does wrong: slot is what it shall write, or NONE, node what with, or NONE. */
static void assert_action(uint32_t transition, uint32_t written, uint32_t op, uint32_t slot, const char *text)
{
	uint32_t index = action_of(transition, written);
	size_t length;
	void *image = sample_machine_image(&length);
	struct program_action *action = sample_item(image, PROGRAM_ACTIONS, index);

	action->op = op;
	if (slot != PROGRAM_NONE)
		action->slot = slot;
	assert_true(is_judged(image, length, text, 0));
}

static void judges_actions(void **context)
{
	(void)context;
	assert_action(WATCH_TELLS, WATCH_TRAIL, PROGRAM_SET, WATCH_PID, "changes the key of an instance");
	assert_action(WATCH_OPENS, WATCH_X, PROGRAM_MAX, PROGRAM_NONE, "computes with the key");
	assert_action(WATCH_COPIES, WATCH_X, PROGRAM_MIN, PROGRAM_NONE, "computes with the key");
	assert_action(WATCH_COPIES, WATCH_X, PROGRAM_SET, WATCH_TID, NULL);
	assert_action(WATCH_OPENS, WATCH_X, PROGRAM_SET, WATCH_TID, "does not set the whole key");
	assert_action(WATCH_OPENS, WATCH_TRAIL, PROGRAM_SET, WATCH_PID, "under another key");
	assert_action(WATCH_TELLS, WATCH_NOTICE, PROGRAM_SET, WATCH_TIMER, "does not set the notice slot");
	assert_action(WATCH_TELLS, WATCH_NOTICE, PROGRAM_MAX, PROGRAM_NONE, "writes to the notice slot");
	assert_action(WATCH_TELLS, WATCH_TRAIL, PROGRAM_SET, WATCH_NOTICE, "writes to the notice slot");
}

/* Notices, timers and trails are for machines. */
static void rules_have_none_of_it(void **context)
{
	static const size_t members[] = {
		offsetof(struct program_rule, notice_slot),
		offsetof(struct program_rule, timer_slot),
		offsetof(struct program_rule, trail_slot),
		offsetof(struct program_rule, trail_count),
	};

	(void)context;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		size_t length;
		void *image = sample_image(&length);
		char *rule = sample_item(image, PROGRAM_RULES, RULE_PAIR);

		memcpy(rule + members[i], &(uint32_t){ 1 }, sizeof(uint32_t));
		assert_true(is_judged(image, length, "is not a machine, but has notices", 0));
	}
	for (uint32_t flags = PROGRAM_TELL; flags <= PROGRAM_COPY; flags <<= 1) {
		size_t length;
		void *image = sample_image(&length);
		struct program_transition *row = sample_item(image, PROGRAM_TRANSITIONS, 1);

		row->flags = flags;
		assert_true(is_judged(image, length, "invalid flags", 0));
		image = sample_image(&length);
		row = sample_item(image, PROGRAM_TRANSITIONS, 1);
		row->type = PROGRAM_TIMER;
		assert_true(is_judged(image, length, "a timer, but the rule has none", 0));
	}
	size_t length;
	void *image = sample_image(&length);
	struct program_return *value = sample_item(image, PROGRAM_RETURNS, 0);

	value->notice = 1;
	assert_true(is_judged(image, length, "notice 1 does not exist", 0));
}

/* Integers of any width and sign are keys, and texts are cut unless they are keys. */
static void what_is_cut_is_no_key(void **context)
{
	size_t length;
	void *image = sample_machine_image(&length);
	struct program_slot *slot = sample_item(image, PROGRAM_SLOTS, WATCH_TOLD);

	(void)context;
	slot->bytes = 8;
	assert_true(is_judged(image, length, NULL, 0));
}

static char *explained(void (*explain)(const struct program *, uint32_t, const struct program_explain_facts *,
				       struct text_buffer *))
{
	static const struct program_explain_facts facts = { .where = "in user space" };
	struct program *program = sample_machine();
	struct text_buffer out = { 0 };
	char *text = NULL;

	explain(program, 0, &facts, &out);
	assert_int_equal(text_take(&out, &text), 0);
	program_free(program);
	return text;
}

static void text_reports_the_machine(void **context)
{
	char *text = explained(program_explain_text);

	(void)context;
	assert_string_equal(text, "machine watch (watch.rule:1)\n"
				  "  semantics  MACHINE, ON LOSS TAINT\n"
				  "  key        pid, x of A, B; pid, any x of C\n"
				  "  stream     A, B, C\n"
				  "  executed   in user space\n"
				  "  pool       16 instances, each remembers 136 bytes\n"
				  "\n"
				  "  no instance, as in state Open:\n"
				  "    A -> Open\n"
				  "      set   pid = u64(pid)\n"
				  "            x = x\n"
				  "            timer = 5\n"
				  "    B -> no instance\n"
				  "      set   pid = u64(pid)\n"
				  "            x = x\n"
				  "      warns \"lonely {x}\"\n"
				  "\n"
				  "  state Open:\n"
				  "    B -> Closed, a copy\n"
				  "      set   x = i64(big)\n"
				  "    B -> Closed\n"
				  "      if    ok\n"
				  "      set   told 1 = name\n"
				  "      warns \"{x} of {told}, {x}\"\n"
				  "      does  CALL Message(\"now\")\n"
				  "    C -> end\n"
				  "      if    cpu == 0\n"
				  "    AFTER 5ns -> end\n"
				  "      does  EMIT alarm(x = x)\n"
				  "\n"
				  "  state Closed:\n"
				  "    C -> end\n"
				  "      if    cpu == 0\n"
				  "    AFTER 5ns -> Closed\n");
	alloc_free(text);
}

static void json_reports_the_machine(void **context)
{
	char *text = explained(program_explain_json);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	(void)context;
	if (!root)
		fail_msg("%s at %d in %s", error.text, error.position, text);
	json_t *states = json_object_get(root, "states"), *open = json_array_get(states, 1);
	json_t *rows = json_object_get(open, "transitions");
	json_t *notices = json_object_get(root, "notices");

	assert_string_equal(json_string_value(json_object_get(root, "semantics")), "MACHINE");
	assert_int_equal(json_integer_value(json_object_get(root, "trail")), 2);
	assert_true(json_is_true(json_object_get(root, "timer")));
	assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "copy")));
	assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "notice")));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 1), "notice")), WATCH_WARNING);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 3), "type")), "AFTER");
	assert_int_equal(json_array_size(notices), WATCH_NOTICES);
	assert_string_equal(json_string_value(json_object_get(json_array_get(notices, 0), "warning")),
			    "{x} of {told}, {x}");
	assert_true(json_is_true(json_object_get(json_array_get(notices, 1), "silent")));
	assert_non_null(strstr(text, "{\"type\":\"C\",\"fields\":[\"pid\",null]}"));
	assert_non_null(strstr(text, "\"statement_notices\":[1,2]"));
	json_decref(root);
	alloc_free(text);
}

static void drawings_show_the_machine(void **context)
{
	char *text = explained(program_explain_dot);

	(void)context;
	assert_non_null(strstr(text, "s0 [label=\"0 Open\\nno instance\""));
	assert_non_null(strstr(text, "s1 -> s2 [label=\"B\\nif ok\\ntold 1 = name\\nwarns {x} of {told}, {x}\\n"
				     "CALL Message(\\\"now\\\")\", style=bold];"));
	assert_non_null(strstr(text, "s1 -> match [label=\"AFTER 5ns\\nEMIT alarm(x = x)\", style=bold];"));
	assert_non_null(strstr(text, "s1 -> s2 [label=\"B\\nx = i64(big)\", style=dotted];"));
	alloc_free(text);
}

/* The words of an instance. */
struct instance {
	uint64_t pid, x;
	char reported[16];
	uint64_t context[3];
	char comm[16];
	uint64_t timer, notice, trail[6];
};

static void trails_are_read_oldest_first(void **context)
{
	struct program *program = sample_machine();
	struct instance instance = {
		.notice = WATCH_WARNING,
		.trail = { 20, (uint64_t)(WATCH_TELLS + 1) << 32 | 1, UINT64_C(7) << 32 | 8, 10,
			   (uint64_t)(WATCH_OPENS + 1) << 32 | 3, UINT64_C(5) << 32 | 6 },
	};
	struct program_match match = { .notice = WATCH_WARNING, .slots = &instance };
	struct program_trail_event events[PROGRAM_TRAIL_MAX];

	(void)context;
	assert_int_equal(program_notice_of(program, &program->rules[0], &instance), WATCH_WARNING);
	assert_ptr_equal(program_match_notice(program, &match), &program->notices[0]);
	assert_int_equal(program_trail(program, &match, events), 2);
	assert_string_equal(events[0].name, "A");
	assert_string_equal(events[0].from, "Open");
	assert_string_equal(events[0].to, "Open");
	assert_int_equal(events[0].ts, 10);
	assert_int_equal(events[0].cpu, 3);
	assert_int_equal(events[0].pid, 5);
	assert_int_equal(events[0].tid, 6);
	assert_string_equal(events[1].name, "B");
	assert_string_equal(events[1].to, "Closed");
	assert_int_equal(events[1].ts, 20);
	instance.trail[4] = 0; /* nothing there yet */
	instance.trail[1] = (uint64_t)(WATCH_FIRES + 1) << 32;
	assert_int_equal(program_trail(program, &match, events), 1);
	assert_int_equal(events[0].type, PROGRAM_TIMER);
	assert_string_equal(events[0].name, "AFTER");
	assert_string_equal(events[0].to, "END");
	instance.trail[1] = (uint64_t)(WATCH_ALONE + 1) << 32; /* out of "no instance", which it does not leave */
	assert_int_equal(program_trail(program, &match, events), 1);
	assert_string_equal(events[0].to, "Open");
	for (uint64_t number = WATCH_TRANSITIONS + 1; number <= UINT32_MAX; number = number * 3 + 1) {
		instance.trail[1] = number << 32;
		assert_int_equal(program_trail(program, &match, events), 0);
	}
	instance.notice = WATCH_NOTICES + 1;
	assert_int_equal(program_notice_of(program, &program->rules[0], &instance), 0);
	match.notice = WATCH_NOTICES + 1;
	assert_null(program_match_notice(program, &match));
	match.notice = 0;
	assert_null(program_match_notice(program, &match));
	program_free(program);
}

static void rules_have_no_trail(void **context)
{
	struct program *program = sample_program();
	struct program_match match = { .rule = RULE_PAIR };
	struct program_trail_event events[PROGRAM_TRAIL_MAX];

	(void)context;
	assert_int_equal(program_trail(program, &match, events), 0);
	assert_int_equal(program_notice_of(program, &program->rules[RULE_PAIR], NULL), 0);
	assert_null(program_match_notice(program, &match));
	assert_true(program_statement_applies(&program->statements[0], &match));
	program_free(program);
}

static void values_of_other_notices_are_missing(void **context)
{
	struct program *program = sample_machine();
	struct instance instance = { .x = 42, .reported = "tell" };
	struct program_match match = { .notice = WATCH_LONELY, .slots = &instance };
	struct program_values layout;
	uint64_t memory[6];

	(void)context;
	program_values_layout(program, 0, &layout);
	assert_int_equal(layout.bytes, sizeof memory);
	program_values_fill(program, &match, &layout, memory);
	assert_int_equal(memory[1], 3);
	assert_int_equal(memory[2], 0);
	assert_int_equal(memory[5], 42);
	match.notice = WATCH_WARNING;
	program_values_fill(program, &match, &layout, memory);
	assert_int_equal(memory[1], 4);
	assert_int_equal(memory[2], 42);
	assert_string_equal((char *)&memory[3], "tell");
	assert_false(program_only_tallies(program, &program->rules[0]));
	program_free(program);
}

/* Two rows of one text: the second name is there only where the second value is another one. */
static void equal_values_have_one_name(void **context)
{
	size_t length;
	void *image = sample_machine_image(&length);
	struct program_return *rows = sample_item(image, PROGRAM_RETURNS, 0);
	struct instance instance = { .x = 42, .reported = "tell" };
	struct program_match match = { .notice = WATCH_WARNING, .slots = &instance };
	struct program_value value;
	struct program *program;

	(void)context;
	rows[1].first = 1;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "watch", NULL, &program), 0);
	assert_int_equal(program_returned(program, &match, 0, &value), 0);
	assert_int_equal(value.i64, 42);
	assert_int_equal(program_returned(program, &match, 1, &value), 0); /* of another kind */
	assert_string_equal(value.text, "tell");
	assert_int_equal(program_returned(program, &match, 2, &value), -ENOENT);
	program_free(program);
	rows[1].node = rows[0].node;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "watch", NULL, &program), 0);
	assert_int_equal(program_returned(program, &match, 0, &value), 0);
	assert_int_equal(program_returned(program, &match, 1, &value), -ENOENT);
	program_free(program);
	alloc_free(image);
}

static void short_memory_is_reported(void **context)
{
	size_t length;
	void *image = sample_machine_image(&length);
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	unsigned long n = 0;
	int result;

	(void)context;
	do {
		asterism_diag_clear(diag);
		alloc_fail_at(++n);
		result = program_load(image, length, "sample", diag, &program);
		alloc_fail_at(0);
		if (result) {
			assert_int_equal(result, -ENOMEM);
			assert_null(program);
			assert_string_equal(asterism_diag_get(diag, 0)->text, "out of memory");
		}
	} while (result);
	assert_true(n > 15);
	program_free(program);
	asterism_diag_free(diag);
	alloc_free(image);
}

/* What cannot be told for want of memory is a failure of the text, never half of it. */
static void short_memory_reports_nothing(void **context)
{
	static void (*const explains[])(const struct program *, uint32_t, const struct program_explain_facts *,
					struct text_buffer *) = {
		program_explain_text,
		program_explain_dot,
		program_explain_json,
	};
	const struct program_explain_facts facts = { .where = "here", .kernel_bytes = 1 };
	struct program *program = sample_machine();

	(void)context;
	for (size_t i = 0; i < sizeof explains / sizeof *explains; i++) {
		unsigned long n = 0;
		int failure;

		do {
			struct text_buffer out = { 0 };

			alloc_fail_at(++n);
			explains[i](program, 0, &facts, &out);
			alloc_fail_at(0);
			failure = out.failure;
			assert_true(failure == -ENOMEM || (failure == 0 && out.length > 100));
			text_fini(&out);
		} while (failure);
		assert_true(n > 2);
	}
	program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_each_corruption),      cmocka_unit_test(judges_actions),
		cmocka_unit_test(rules_have_none_of_it),        cmocka_unit_test(what_is_cut_is_no_key),
		cmocka_unit_test(text_reports_the_machine),     cmocka_unit_test(json_reports_the_machine),
		cmocka_unit_test(drawings_show_the_machine),    cmocka_unit_test(trails_are_read_oldest_first),
		cmocka_unit_test(rules_have_no_trail),          cmocka_unit_test(values_of_other_notices_are_missing),
		cmocka_unit_test(equal_values_have_one_name),   cmocka_unit_test(short_memory_is_reported),
		cmocka_unit_test(short_memory_reports_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
