// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that waiting runs are found: by every event they have a transition for, and by nothing that compares wrongly.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "event/type.h"

#include <string.h>

/* One class under check. */
struct subject {
	uint32_t rule, class; /* class: index in CLASSES */
	uint32_t mark;        /* type_mark of the types that have a key */
	bool any;             /* it has a key for types without one of their own */
};

static bool is_unsigned(uint32_t value)
{
	return value == EVENT_U8 || value == EVENT_U16 || value == EVENT_U32;
}

/*
 * Whether a field of value is equal to a slot of kind exactly when their 64 bits are (texts: their bytes). Machines
 * compare all integers as 64 bits.
 */
static bool compares_alike(enum program_kind kind, uint32_t value, bool machine)
{
	enum program_kind other = check_kind_of(value);

	if (kind == PROGRAM_F64)
		return false;
	if (machine && (kind == PROGRAM_I64 || kind == PROGRAM_U64))
		return other == PROGRAM_I64 || other == PROGRAM_U64;
	return kind == other || (kind == PROGRAM_U64 && is_unsigned(value));
}

static int check_key_fields(struct check *check, struct check_item item, const struct subject *subject)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[subject->rule];
	const struct program_class *class = &program->classes[subject->class];
	const struct program_key *key = &program->keys[item.index];
	bool machine = check_is_machine(check, subject->rule);

	for (uint32_t i = 0; i < class->slot_count; i++) {
		uint32_t field = program_key_fields(program, key)[i];
		uint32_t slot = program_class_slots(program, class)[i];

		if (field == PROGRAM_NONE && machine)
			continue;
		if (field >= program->field_count)
			return check_fail(check, item, "field %u does not exist", field);
		if (field >= EVENT_HEADER_FIELDS && check->claims[PROGRAM_FIELDS][field] != key->type)
			return check_fail(check, item, "field %u is of another type", field);
		if (!compares_alike(program_slots(program, rule)[slot].kind, program->fields[field].value, machine))
			return check_fail(check, item, "field %u cannot be compared bit by bit with slot %u", field,
					  slot);
	}
	return 0;
}

static int check_class_key(struct check *check, uint32_t index, struct subject *subject)
{
	const struct program *program = check->program;
	const struct program_key *key = &program->keys[index];
	struct check_item item = { PROGRAM_KEYS, index };
	uint32_t slots = program->classes[subject->class].slot_count;
	int result = check_bounds(check, item, (struct check_range){ PROGRAM_INDICES, key->first_field, slots });

	if (result)
		return result;
	if (key->type == PROGRAM_NONE) {
		if (!(program->rules[subject->rule].flags & PROGRAM_RULE_OVER_ALL))
			return check_fail(check, item, "it names types outside the rule's stream");
		if (subject->any)
			return check_fail(check, item, "another key of the class is also for all other types");
		subject->any = true;
	} else {
		if (key->type >= program->type_count || !check_in_stream(check, subject->rule, key->type))
			return check_fail(check, item, "type %u is not in the rule's stream", key->type);
		if (check->type_mark[key->type] == subject->mark)
			return check_fail(check, item, "another key of the class is also for type %u", key->type);
		check->type_mark[key->type] = subject->mark;
	}
	return check_key_fields(check, item, subject);
}

static bool has_key(const struct check *check, const struct subject *subject, uint32_t type)
{
	return subject->any || check->type_mark[type] == subject->mark;
}

/* Every transition of a waiting run is for a type that finds it. */
static int check_found(struct check *check, const struct subject *subject)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[subject->rule];
	int result = check_work(check, (struct check_item){ PROGRAM_CLASSES, subject->class }, rule->state_count);

	for (uint32_t i = 0; i < rule->state_count && !result; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		/* An event is to find a machine's instance before it may open one. */
		if (i == 0 ? rule->semantics != PROGRAM_MACHINE : state->class != subject->class - rule->first_class)
			continue;
		for (uint32_t j = 0; j < state->transition_count; j++) {
			uint32_t index = state->first_transition + j;

			if (program->transitions[index].type == PROGRAM_TIMER)
				continue;
			if (!has_key(check, subject, program->transitions[index].type))
				return check_fail(check, (struct check_item){ PROGRAM_TRANSITIONS, index },
						  "events of its type do not find the runs that wait for them");
		}
	}
	return result;
}

/* STRICTSEQUENCE: every event of the stream steps every run. */
static int check_sequence(struct check *check, struct check_item item, const struct subject *subject)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[subject->rule];

	if (program->classes[subject->class].slot_count)
		return check_fail(check, item, "it has keys, which a strict sequence must not have");
	if (rule->flags & PROGRAM_RULE_OVER_ALL && !subject->any)
		return check_fail(check, item, "its strict sequence is over all types, but not all types find it");
	for (uint32_t i = 0; i < rule->over_count; i++) {
		uint32_t type = program_over(program, rule)[i];

		if (!has_key(check, subject, type))
			return check_fail(check, item,
					  "its strict sequence is over type %u, whose events do not find it", type);
	}
	return 0;
}

static int check_class_slots(struct check *check, struct check_item item, uint32_t rule_index)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[rule_index];
	const struct program_class *class = &program->classes[item.index], *first = program_classes(program, rule);
	const uint32_t *slots = program_class_slots(program, class);
	struct check_range range = { PROGRAM_INDICES, class->first_slot, class->slot_count };
	int result = check_bounds(check, item, range);

	if (result)
		return result;
	if (class->slot_count > PROGRAM_KEY_SLOTS_MAX)
		return check_fail(check, item, "it has %u key slots, more than %u", class->slot_count,
				  PROGRAM_KEY_SLOTS_MAX);
	for (uint32_t i = 0; i < class->slot_count; i++) {
		if (slots[i] >= rule->slot_count)
			return check_fail(check, item, "slot %u does not exist", slots[i]);
	}
	/* Dropping by join key asks every class for the same key. */
	if (rule->flags & PROGRAM_RULE_DROP && !(rule->flags & PROGRAM_RULE_DROP_ALL) &&
	    (class->slot_count != first->slot_count ||
	     memcmp(slots, program_class_slots(program, first), class->slot_count * sizeof *slots) != 0))
		return check_fail(check, item, "the rule drops runs by key, but its classes have different keys");
	return 0;
}

static int check_class(struct check *check, uint32_t rule_index, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[rule_index];
	const struct program_class *class = &check->program->classes[index];
	struct check_item item = { PROGRAM_CLASSES, index };
	struct subject subject = { rule_index, index, check_new_mark(check), false };
	int result = check_label(check, item, class->label);

	if (!result && class->reserved)
		result = check_fail(check, item, "reserved bytes are not 0");
	if (!result)
		result = check_class_slots(check, item, rule_index);
	if (!result)
		result = check_claim(check, item,
				     (struct check_range){ PROGRAM_KEYS, class->first_key, class->key_count });
	for (uint32_t i = 0; i < class->key_count && !result; i++)
		result = check_class_key(check, class->first_key + i, &subject);
	if (!result && rule->semantics == PROGRAM_STRICT_SEQUENCE)
		result = check_sequence(check, item, &subject);
	return result ? result : check_found(check, &subject);
}

int check_classes(struct check *check, uint32_t rule_index)
{
	const struct program_rule *rule = &check->program->rules[rule_index];
	bool strict = rule->semantics <= PROGRAM_STRICT_PARTITION;
	int result = 0;

	if (strict && rule->class_count > 1)
		return check_fail(check, (struct check_item){ PROGRAM_RULES, rule_index },
				  "strict semantics need one class, not %u", rule->class_count);
	for (uint32_t i = 0; i < rule->class_count && !result; i++)
		result = check_class(check, rule_index, rule->first_class + i);
	return result;
}
