// SPDX-License-Identifier: BSD-2-Clause
/* Every promise of an image, broken one at a time: the loader must name the item that breaks it. */

#include "sample.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "event/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* size bytes at an offset of an item become value; the message holds text and blames the item, or another one. */
struct corruption {
	enum program_section_id section;
	uint32_t index;
	size_t offset, size;
	uint64_t value;
	const char *text;
	int blamed_section; /* with blamed_index; 0: the item itself (nobody is told that a text is to blame) */
	uint32_t blamed_index;
};

#define BAD(section_, index_, type, member, value_, text_, ...)                                  \
	{                                                                                        \
		PROGRAM_##section_, index_, offsetof(struct program_##type, member),             \
			sizeof(((struct program_##type *)0)->member), value_, text_, __VA_ARGS__ \
	}

static const struct corruption corruptions[] = {
	/* types and fields */
	BAD(TYPES, TYPE_A, type, name, PROGRAM_NONE, "no name begins"),
	BAD(TYPES, TYPE_A, type, name, 1, "no name begins"), /* within "ts" */
	BAD(TYPES, TYPE_A, type, name, 1 << 30, "no name begins"),
	BAD(TYPES, TYPE_A, type, first_field, 0, "belongs to another"),
	BAD(TYPES, TYPE_A, type, first_field, 1000, "not in the image"),
	BAD(TYPES, TYPE_B, type, first_field, FIELD_A_X, "belongs to another"),
	BAD(TYPES, TYPE_A, type, field_count, UINT32_MAX, "more than an event"),
	BAD(TYPES, TYPE_A, type, field_count, 129, "more than an event"),
	BAD(TYPES, TYPE_A, type, field_count, 120, "not in the image"),
	BAD(TYPES, TYPE_A, type, field_count, 1, "fields need 56"),
	BAD(TYPES, TYPE_A, type, record_bytes, 71, "its records have 71 bytes"),
	BAD(TYPES, TYPE_C, type, field_count, 1, "fields need 56"),
	BAD(TYPES, TYPE_C, type, field_count, 3, "its records have 48 bytes"),
	BAD(FIELDS, FIELD_TS, field, name, PROGRAM_NONE, "no name begins"),
	BAD(FIELDS, FIELD_TS, field, value, EVENT_U64, "must be the header field ts"),
	BAD(FIELDS, FIELD_CPU, field, offset, 24, "must be the header field cpu"),
	BAD(FIELDS, FIELD_TID, field, bytes, 8, "must be the header field tid"),
	BAD(FIELDS, FIELD_COMM, field, bytes, 24, "must be the header field comm"),
	BAD(FIELDS, FIELD_A_X, field, name, PROGRAM_NONE, "no name begins"),
	BAD(FIELDS, FIELD_A_X, field, value, 0, "its value type 0 is unknown"),
	BAD(FIELDS, FIELD_A_X, field, value, EVENT_STRING + 1, "is unknown"),
	BAD(FIELDS, FIELD_A_X, field, offset, 0, "in the record is 0,"),
	BAD(FIELDS, FIELD_A_X, field, offset, 52, "in the record is 52,"),
	BAD(FIELDS, FIELD_A_X, field, bytes, 4, "it takes 4 bytes"),
	BAD(FIELDS, FIELD_A_NAME, field, bytes, 0, "a text of 0 bytes"),
	BAD(FIELDS, FIELD_A_NAME, field, bytes, 15, "a text of 15 bytes"),
	BAD(FIELDS, FIELD_A_NAME, field, bytes, 8200, "a text of 8200 bytes"),
	/* rules */
	BAD(RULES, 0, rule, name, PROGRAM_NONE, "no name begins"),
	BAD(RULES, 0, rule, place, 1, "no printable text begins"),
	BAD(RULES, 0, rule, source, UINT32_MAX - 1, "no printable text begins"),
	BAD(RULES, 0, rule, semantics, 0, "unknown semantics 0"),
	BAD(RULES, 0, rule, semantics, 6, "unknown semantics 6"),
	BAD(RULES, 0, rule, mode, 3, "unknown mode 3"),
	BAD(RULES, 0, rule, loss, 3, "unknown reaction 3"),
	BAD(RULES, 0, rule, flags, 16, "unknown flags"),
	BAD(RULES, 0, rule, pool, 0, "pool has 0 runs"),
	BAD(RULES, 0, rule, pool, (1 << 24) + 1, "pool has 16777217 runs"),
	BAD(RULES, 0, rule, within_ns, UINT64_MAX, "longer than any time"),
	BAD(RULES, 0, rule, first_element, 100, "not in the image"),
	BAD(RULES, 0, rule, element_count, 4, "belongs to another", PROGRAM_RULES, 1),
	BAD(RULES, 0, rule, first_slot, 14, "not in the image"),
	BAD(RULES, 0, rule, slot_count, UINT32_MAX, "not in the image"),
	BAD(RULES, 0, rule, slot_count, 4, "slot 4 does not exist", PROGRAM_ACTIONS, 2),
	BAD(RULES, 0, rule, slot_bytes, 60, "slot area has 60 bytes"),
	BAD(RULES, 0, rule, slot_bytes, 4104, "slot area has 4104 bytes"),
	BAD(RULES, 0, rule, slot_bytes, 48, "beyond the slot area of 48 bytes", PROGRAM_SLOTS, 5),
	BAD(RULES, 0, rule, first_state, UINT32_MAX, "not in the image"),
	BAD(RULES, 0, rule, state_count, 0, "no start state"),
	BAD(RULES, 0, rule, state_count, 2, "leads to state 2", PROGRAM_TRANSITIONS, 1),
	BAD(RULES, 1, rule, first_state, 2, "belongs to another"),
	BAD(RULES, 0, rule, first_class, 6, "not in the image"),
	BAD(RULES, 0, rule, class_count, 0, "class 0 does not exist", PROGRAM_STATES, 1),
	BAD(RULES, 0, rule, first_over, 18, "not in the image"),
	BAD(RULES, 0, rule, over_count, 2, "not in the rule's stream", PROGRAM_ELEMENTS, 2),
	BAD(RULES, 0, rule, return_count, 3, "not in the image"),
	BAD(RULES, 0, rule, statement_count, 4, "not in the image"),
	BAD(RULES, 0, rule, context_slot, 0, "but no deadline"),
	BAD(RULES, 0, rule, severity, 6, "unknown severity 6"),
	BAD(RULES, 0, rule, severity, UINT32_MAX, "unknown severity 4294967295"),
	BAD(RULES, 0, rule, description, 2, "no printable text begins"),
	BAD(RULES, 0, rule, except, 1 << 20, "does not exist"),
	BAD(RULES, 0, rule, except, UINT32_MAX, "does not exist"),
	BAD(RULES, 0, rule, except, 2, "reads an event, but no event"),
	BAD(RULES, 0, rule, tag_count, 65, "more than 64 tags"),
	BAD(RULES, 0, rule, first_tag, UINT32_MAX, "not in the image"),
	BAD(RULES, RULE_DROPPING, rule, tag_count, 3, "not in the image"),
	BAD(RULES, RULE_DROPPING, rule, reserved, 1, "reserved"),
	BAD(RULES, RULE_DROPPING, rule, flags, PROGRAM_RULE_DROP_ALL, "all runs and none"),
	BAD(RULES, 1, rule, name, 1, "no name begins"),
	BAD(RULES, RULE_SILENCE, rule, within_ns, 0, "no time limit"),
	BAD(RULES, RULE_SILENCE, rule, context_slot, PROGRAM_NONE, "context slots"),
	BAD(RULES, RULE_SILENCE, rule, context_slot, 1, "context slot 3 is not"),
	BAD(RULES, RULE_SILENCE, rule, context_slot, 2, "context slots"),
	BAD(RULES, RULE_SILENCE, rule, semantics, PROGRAM_STRICT_PARTITION, "not have progress in place",
	    PROGRAM_TRANSITIONS, 6),
	BAD(RULES, RULE_STRICT, rule, class_count, 2, "one class, not "),
	BAD(RULES, RULE_STRICT, rule, flags, 0, "not in the rule's stream", PROGRAM_ELEMENTS, 7),
	BAD(RULES, RULE_PAIR, rule, flags, PROGRAM_RULE_DEADLINE, "no time limit"),
	BAD(RULES, RULE_PAIR, rule, semantics, PROGRAM_STRICT_SEQUENCE, "must not have", PROGRAM_CLASSES, 0),
	/* elements */
	BAD(ELEMENTS, 0, element, type, SAMPLE_TYPES, "type 4 does not exist"),
	BAD(ELEMENTS, 0, element, type, TYPE_ALARM, "not in the rule's stream"),
	BAD(ELEMENTS, 0, element, name, 1, "no name begins"),
	BAD(ELEMENTS, 0, element, flags, 4, "unknown flags"),
	BAD(ELEMENTS, 0, element, reserved, 1, "reserved"),
	/* slots */
	BAD(SLOTS, 0, slot, name, 1, "no printable text"),
	BAD(SLOTS, 0, slot, kind, 0, "unknown kind 0"),
	BAD(SLOTS, 0, slot, kind, 6, "unknown kind 6"),
	BAD(SLOTS, 0, slot, offset, 4, "not aligned"),
	BAD(SLOTS, 0, slot, offset, 8, "overlaps another slot", PROGRAM_SLOTS, 1),
	BAD(SLOTS, 0, slot, offset, UINT32_MAX - 7, "beyond the slot area of 64 bytes"),
	BAD(SLOTS, 0, slot, offset, 64, "beyond the slot area of 64 bytes"),
	BAD(SLOTS, 0, slot, bytes, 16, "is not that of its kind"),
	BAD(SLOTS, 4, slot, bytes, 0, "is not that of its kind"),
	BAD(SLOTS, 4, slot, bytes, 9, "is not that of its kind"),
	BAD(SLOTS, 4, slot, bytes, 24, "overlaps another slot", PROGRAM_SLOTS, 5),
	BAD(SLOTS, 4, slot, bytes, 8, "too small for the text", PROGRAM_ACTIONS, 2),
	BAD(SLOTS, 0, slot, kind, PROGRAM_U64, "of kind 2", PROGRAM_ACTIONS, 0),
	BAD(SLOTS, 6, slot, kind, PROGRAM_BOOL, "context slot 0", PROGRAM_RULES, RULE_SILENCE),
	/* states */
	BAD(STATES, 0, state, label, 1, "no printable text"),
	BAD(STATES, 0, state, first_transition, 100, "not in the image"),
	BAD(STATES, 0, state, transition_count, 2, "belongs to another", PROGRAM_STATES, 1),
	BAD(STATES, 0, state, class, 0, "start state"),
	BAD(STATES, 0, state, flags, PROGRAM_STATE_DEADLINE, "start state"),
	BAD(STATES, 0, state, flags, 2, "unknown flags"),
	BAD(STATES, 0, state, key, 1 << 20, "not in the image"),
	BAD(STATES, 1, state, class, 1, "class 1 does not exist"),
	BAD(STATES, 1, state, class, PROGRAM_NONE, "does not exist"),
	BAD(STATES, 1, state, flags, PROGRAM_STATE_DEADLINE, "the rule has none"),
	BAD(STATES, 9, state, class, 1, "do not find the runs", PROGRAM_TRANSITIONS, 13),
	/* transitions */
	BAD(TRANSITIONS, 0, transition, type, SAMPLE_TYPES, "type 4 does not exist"),
	BAD(TRANSITIONS, 0, transition, type, PROGRAM_NONE, "does not exist"),
	BAD(TRANSITIONS, 0, transition, type, TYPE_ALARM, "not in the rule's stream"),
	BAD(TRANSITIONS, 0, transition, type, TYPE_B, "element 0 is of another type"),
	BAD(TRANSITIONS, 0, transition, target, 0, "leads to state 0"),
	BAD(TRANSITIONS, 0, transition, target, 3, "leads to state 3"),
	BAD(TRANSITIONS, 0, transition, target, PROGRAM_NONE, "in which no run can wait"),
	BAD(TRANSITIONS, 0, transition, fit, 1 << 20, "does not exist"),
	BAD(TRANSITIONS, 0, transition, hold, 1 << 20, "does not exist"),
	BAD(TRANSITIONS, 0, transition, first_action, 100, "not in the image"),
	BAD(TRANSITIONS, 0, transition, action_count, 100, "not in the image"),
	BAD(TRANSITIONS, 0, transition, element, 3, "element 3 does not exist"),
	BAD(TRANSITIONS, 0, transition, element, 1, "another type"),
	BAD(TRANSITIONS, 0, transition, flags, PROGRAM_FORBID, "start state"),
	BAD(TRANSITIONS, 0, transition, flags, PROGRAM_IN_PLACE, "start state"),
	BAD(TRANSITIONS, 0, transition, flags, 4, "invalid flags"),
	BAD(TRANSITIONS, 0, transition, note, 1, "no printable text"),
	BAD(TRANSITIONS, 0, transition, reserved, 1, "reserved"),
	BAD(TRANSITIONS, 1, transition, flags, PROGRAM_FORBID, "does not end the run"),
	BAD(TRANSITIONS, 4, transition, flags, PROGRAM_IN_PLACE, "progress in place, but ends"),
	BAD(TRANSITIONS, 6, transition, flags, PROGRAM_FORBID | PROGRAM_IN_PLACE, "invalid flags"),
	BAD(TRANSITIONS, 6, transition, element, 1, "negated event"),
	BAD(TRANSITIONS, 7, transition, element, 3, "negated event"),
	BAD(TRANSITIONS, 7, transition, target, PROGRAM_TARGET_MATCH, "does not end the run"),
	BAD(TRANSITIONS, 7, transition, type, TYPE_B, "out of order"),
	BAD(TRANSITIONS, 7, transition, type, TYPE_A, "do not find the runs"),
	BAD(TRANSITIONS, 8, transition, type, TYPE_C, "reads fields"),
	/* actions */
	BAD(ACTIONS, 0, action, op, 0, "unknown action 0"),
	BAD(ACTIONS, 0, action, op, 4, "unknown action 4"),
	BAD(ACTIONS, 2, action, op, PROGRAM_MIN, "no minimum"),
	BAD(ACTIONS, 0, action, slot, 6, "slot 6 does not exist"),
	BAD(ACTIONS, 0, action, slot, 3, "of kind 3"),
	BAD(ACTIONS, 0, action, node, 1 << 20, "does not exist"),
	BAD(ACTIONS, 0, action, reserved, 1, "reserved"),
	/* classes, keys and lists */
	BAD(CLASSES, 0, class, first_slot, 100, "not in the image"),
	BAD(CLASSES, 0, class, slot_count, 9, "more than 8"),
	BAD(CLASSES, 0, class, slot_count, UINT32_MAX, "not in the image"),
	BAD(CLASSES, 0, class, first_slot, 10, "slot 6 does not exist"),
	BAD(CLASSES, 0, class, first_key, 100, "not in the image"),
	BAD(CLASSES, 0, class, key_count, 3, "also for type 2", PROGRAM_KEYS, 2),
	BAD(CLASSES, 1, class, first_key, 1, "belongs to another"),
	BAD(CLASSES, 0, class, key_count, 1, "do not find the runs", PROGRAM_TRANSITIONS, 4),
	BAD(CLASSES, 0, class, label, 1, "no printable text"),
	BAD(CLASSES, 0, class, reserved, 1, "reserved"),
	BAD(CLASSES, 2, class, key_count, 1, "not all types find it"),
	BAD(CLASSES, 4, class, slot_count, 1, "drops runs by key"),
	BAD(KEYS, 0, key, type, SAMPLE_TYPES, "not in the rule's stream"),
	BAD(KEYS, 0, key, type, TYPE_ALARM, "not in the rule's stream"),
	BAD(KEYS, 0, key, type, TYPE_C, "also for type 2", PROGRAM_KEYS, 1),
	BAD(KEYS, 0, key, type, PROGRAM_NONE, "outside the rule's stream"),
	BAD(KEYS, 4, key, type, PROGRAM_NONE, "all other types", PROGRAM_KEYS, 5),
	BAD(KEYS, 0, key, first_field, 100, "not in the image"),
	BAD(KEYS, 6, key, type, TYPE_ALARM, "field 6 is of another type"),
	{ PROGRAM_INDICES, 0, 0, 4, SAMPLE_TYPES, "type 4, which does not exist", PROGRAM_RULES, 0 },
	{ PROGRAM_INDICES, 0, 0, 4, TYPE_B, "type 1 twice", PROGRAM_RULES, 0 },
	{ PROGRAM_INDICES, 3, 0, 4, 1000, "field 1000 does not exist", PROGRAM_KEYS, 0 },
	{ PROGRAM_INDICES, 3, 0, 4, FIELD_A_X, "field 5 is of another type", PROGRAM_KEYS, 0 },
	{ PROGRAM_INDICES, 3, 0, 4, FIELD_COMM, "bit by bit", PROGRAM_KEYS, 0 },
	{ PROGRAM_INDICES, 3, 0, 4, FIELD_B_BIG, "bit by bit", PROGRAM_KEYS, 0 },
	{ PROGRAM_INDICES, 4, 0, 4, 6, "slot 6 does not exist", PROGRAM_CLASSES, 0 },
	{ PROGRAM_INDICES, 4, 0, 4, 3, "bit by bit", PROGRAM_KEYS, 0 },
	{ PROGRAM_INDICES, SAMPLE_TAG, 0, 4, PROGRAM_NONE, "tag 0 is not a text", PROGRAM_RULES, RULE_DROPPING },
	{ PROGRAM_INDICES, SAMPLE_TAG, 0, 4, 1, "no printable text begins", PROGRAM_RULES, RULE_DROPPING },
	{ PROGRAM_INDICES, 14, 0, 4, 1, "drops runs by key", PROGRAM_CLASSES, 4 },
	/* what a match tells */
	BAD(RETURNS, 0, return, name, PROGRAM_NONE, "no name"),
	BAD(RETURNS, 0, return, name, 1, "no printable text"),
	BAD(RETURNS, 0, return, node, 1 << 20, "does not exist"),
	BAD(RETURNS, 1, return, first, 1, "value 0 does not precede it"),
	/* what is added up */
	BAD(RULES, RULE_SILENCE, rule, aggregation, 2, "not in the image"),
	BAD(RULES, RULE_STRICT, rule, aggregation, 1, "belongs to another"),
	BAD(AGGREGATIONS, 0, aggregation, first_by, 100, "not in the image"),
	BAD(AGGREGATIONS, 0, aggregation, by_count, 9, "more than 8 values"),
	BAD(AGGREGATIONS, 0, aggregation, first_by, 1, "belongs to another"),
	BAD(AGGREGATIONS, 0, aggregation, aggregate_count, 0, "not between 1 and 32"),
	BAD(AGGREGATIONS, 0, aggregation, aggregate_count, 33, "not between 1 and 32"),
	BAD(AGGREGATIONS, 0, aggregation, flags, 2, "unknown flags"),
	BAD(AGGREGATIONS, 0, aggregation, every_ns, 0, "DELTA, but no EVERY"),
	BAD(AGGREGATIONS, 0, aggregation, every_ns, UINT64_MAX, "longer than any time"),
	BAD(AGGREGATES, 0, aggregate, name, PROGRAM_NONE, "no name"),
	BAD(AGGREGATES, 0, aggregate, op, PROGRAM_COUNT_OF, "not a value of a key"),
	BAD(AGGREGATES, 0, aggregate, node, 1 << 20, "does not exist"),
	BAD(AGGREGATES, 1, aggregate, op, PROGRAM_BY, "unknown aggregate 1"),
	BAD(AGGREGATES, 1, aggregate, op, PROGRAM_QUANTILES_OF + 1, "unknown aggregate 9"),
	BAD(AGGREGATES, 1, aggregate, node, 0, "COUNT has no value"),
	BAD(AGGREGATES, 2, aggregate, there, 1 << 20, "does not exist"),
	BAD(STATEMENTS, 0, statement, type, SAMPLE_TYPES, "type 4 does not exist"),
	BAD(STATEMENTS, 0, statement, type, TYPE_A, "field 12 cannot be set by EMIT", PROGRAM_ARGS, 0),
	BAD(STATEMENTS, 0, statement, type, PROGRAM_NONE, "no name begins"),
	BAD(STATEMENTS, 0, statement, first_arg, 100, "not in the image"),
	BAD(STATEMENTS, 0, statement, arg_count, 3, "cannot be set by EMIT", PROGRAM_ARGS, 2),
	BAD(STATEMENTS, 1, statement, function, PROGRAM_NONE, "no name begins"),
	BAD(STATEMENTS, 1, statement, first_arg, 1, "belongs to another"),
	BAD(ARGS, 0, arg, node, 1 << 20, "does not exist"),
	BAD(ARGS, 0, arg, field, FIELD_TS, "field 0 cannot be set by EMIT"),
	BAD(ARGS, 0, arg, field, FIELD_A_X, "field 5 cannot be set by EMIT"),
	BAD(ARGS, 0, arg, field, FIELD_ALARM_WHO, "not of the field's kind"),
	BAD(ARGS, 0, arg, field, FIELD_ALARM_RATIO, "not of the field's kind"),
	BAD(ARGS, 2, arg, field, 7, "unknown way 7 to name a target"),
	BAD(ARGS, 2, arg, field, UINT32_MAX, "to name a target"),
};

/* Whether image is refused with one message that holds text and stands at offset; tells what was wrong if not. */
static bool is_refused(const void *image, size_t length, const char *text, uint64_t offset)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	int result = program_load(image, length, "sample", diag, &program);
	const struct asterism_message *message = asterism_diag_get(diag, 0);
	bool good = result == -EINVAL && !program && message && asterism_diag_count(diag, ASTERISM_NOTE) == 1 &&
		    strstr(message->text, text) && !strcmp(message->file, "sample") && message->line == 0 &&
		    message->offset == offset;

	if (!good)
		print_error("expected \"%s\" at %lu, got %d \"%s\" at %lu\n", text, (unsigned long)offset, result,
			    message ? message->text : "", message ? (unsigned long)message->offset : 0);
	program_free(program);
	asterism_diag_free(diag);
	return good;
}

static void refuses_each_corruption(void **context)
{
	unsigned failures = 0;

	(void)context;
	for (size_t i = 0; i < sizeof corruptions / sizeof *corruptions; i++) {
		const struct corruption *c = &corruptions[i];
		size_t length;
		char *image = sample_image(&length);
		char *item = sample_item(image, c->section, c->index);
		char *blamed = item;

		if (c->blamed_section)
			blamed = sample_item(image, (enum program_section_id)c->blamed_section, c->blamed_index);
		memcpy(item + c->offset, &c->value, c->size);
		sample_seal(image, length);
		failures += !is_refused(image, length, c->text, (uint64_t)(blamed - image));
		alloc_free(image);
	}
	assert_int_equal(failures, 0);
}

static void refuses_a_tag_given_twice(void **context)
{
	size_t length;
	char *image = sample_image(&length);
	uint32_t *tags = sample_item(image, PROGRAM_INDICES, SAMPLE_TAG);
	const char *rule = sample_item(image, PROGRAM_RULES, RULE_DROPPING);

	(void)context;
	tags[1] = tags[0];
	sample_seal(image, length);
	assert_true(is_refused(image, length, "it has tag 0 twice", (uint64_t)(rule - image)));
	alloc_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_each_corruption),
		cmocka_unit_test(refuses_a_tag_given_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
