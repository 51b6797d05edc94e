// SPDX-License-Identifier: BSD-2-Clause
/* Checks that a rule's own values, its slot area and its stream are sound, and that it shares no table rows. */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "event/type.h"

enum {
	RULE_FLAGS = PROGRAM_RULE_DROP | PROGRAM_RULE_SEQUENCE | PROGRAM_RULE_DEADLINE | PROGRAM_RULE_OVER_ALL |
		     PROGRAM_RULE_SILENT | PROGRAM_RULE_DROP_ALL | PROGRAM_RULE_REPLACE | PROGRAM_RULE_LATEST,
	MACHINE_FLAGS = PROGRAM_RULE_TIMER | PROGRAM_RULE_REPLACE,
	ELEMENT_FLAGS = PROGRAM_ELEMENT_ARRAY | PROGRAM_ELEMENT_NEGATED,
};

#define POOL_MAX (UINT64_C(1) << 24)

/* How runs share their places. */
static int check_places(struct check *check, struct check_item item, const struct program_rule *rule)
{
	if (rule->flags & PROGRAM_RULE_DROP_ALL && !(rule->flags & PROGRAM_RULE_DROP))
		return check_fail(check, item, "its matches drop both all runs and none");
	if (rule->per_key && rule->semantics == PROGRAM_MACHINE)
		return check_fail(check, item, "a machine has one instance per key");
	if (rule->flags & PROGRAM_RULE_LATEST &&
	    (rule->per_key || rule->flags & PROGRAM_RULE_SEQUENCE || rule->semantics == PROGRAM_SKIP_TILL_ANY))
		return check_fail(check, item, "it keeps only the latest run of a key, but also more than one");
	return 0;
}

static int check_values(struct check *check, struct check_item item, const struct program_rule *rule)
{
	int result = check_name(check, item, rule->name);

	if (!result)
		result = check_label(check, item, rule->place);
	if (!result)
		result = check_label(check, item, rule->source);
	if (result)
		return result;
	if (rule->semantics < PROGRAM_STRICT_SEQUENCE || rule->semantics > PROGRAM_MACHINE)
		return check_fail(check, item, "unknown semantics %u", rule->semantics);
	if (rule->mode > PROGRAM_ASYNCHRONOUS)
		return check_fail(check, item, "unknown mode %u", rule->mode);
	if (rule->loss > PROGRAM_KEEP)
		return check_fail(check, item, "unknown reaction %u to losses", rule->loss);
	if (rule->flags & ~(rule->semantics == PROGRAM_MACHINE ? MACHINE_FLAGS : RULE_FLAGS))
		return check_fail(check, item, "unknown flags %#x", rule->flags);
	if (rule->flags & PROGRAM_RULE_SILENT && (rule->flags & PROGRAM_RULE_SEQUENCE || rule->return_count))
		return check_fail(check, item, "it returns both something and nothing");
	if (rule->pool < 1 || rule->pool > POOL_MAX)
		return check_fail(check, item, "its pool has %llu runs, not between 1 and %llu",
				  (unsigned long long)rule->pool, (unsigned long long)POOL_MAX);
	if (rule->within_ns > INT64_MAX)
		return check_fail(check, item, "its time limit is longer than any time");
	if (rule->state_count < 1)
		return check_fail(check, item, "it has no start state");
	if (rule->reserved)
		return check_fail(check, item, "reserved bytes are not 0");
	return check_places(check, item, rule);
}

/* Everything a rule owns, so that no other rule does. */
static int claim_tables(struct check *check, struct check_item item, const struct program_rule *rule)
{
	const struct check_range ranges[] = {
		{ PROGRAM_ELEMENTS, rule->first_element, rule->element_count },
		{ PROGRAM_SLOTS, rule->first_slot, rule->slot_count },
		{ PROGRAM_STATES, rule->first_state, rule->state_count },
		{ PROGRAM_CLASSES, rule->first_class, rule->class_count },
		{ PROGRAM_RETURNS, rule->first_return, rule->return_count },
		{ PROGRAM_STATEMENTS, rule->first_statement, rule->statement_count },
		{ PROGRAM_NOTICES, rule->first_notice, rule->notice_count },
	};
	int result = 0;

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !result; i++)
		result = check_claim(check, item, ranges[i]);
	return result;
}

static int check_over(struct check *check, struct check_item item, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[index];
	const uint32_t *over = program_over(check->program, rule);
	int result =
		check_bounds(check, item, (struct check_range){ PROGRAM_INDICES, rule->first_over, rule->over_count });

	if (!result)
		result = check_work(check, item, rule->over_count);
	for (uint32_t i = 0; i < rule->over_count && !result; i++) {
		if (over[i] >= check->program->type_count)
			result = check_fail(check, item, "its stream names type %u, which does not exist", over[i]);
		else if (check->type_stream[over[i]] == index)
			result = check_fail(check, item, "its stream names type %u twice", over[i]);
		else
			check->type_stream[over[i]] = index;
	}
	return result;
}

static int check_elements(struct check *check, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[index];
	int result = 0;

	for (uint32_t i = rule->first_element; i < rule->first_element + rule->element_count && !result; i++) {
		const struct program_element *element = &check->program->elements[i];
		struct check_item item = { PROGRAM_ELEMENTS, i };

		if (element->type >= check->program->type_count)
			result = check_fail(check, item, "type %u does not exist", element->type);
		else if (!check_in_stream(check, index, element->type))
			result = check_fail(check, item, "its type %u is not in the rule's stream", element->type);
		else if (element->flags & ~(uint32_t)ELEMENT_FLAGS)
			result = check_fail(check, item, "unknown flags %#x", element->flags);
		else if (element->reserved)
			result = check_fail(check, item, "reserved bytes are not 0");
		else if (element->name != PROGRAM_NONE)
			result = check_name(check, item, element->name);
	}
	return result;
}

static int check_slot(struct check *check, struct check_item item, const struct program_rule *rule)
{
	const struct program_slot *slot = &check->program->slots[item.index];
	int result = check_label(check, item, slot->name);

	if (result)
		return result;
	if (slot->kind < PROGRAM_I64 || slot->kind > PROGRAM_STRING)
		return check_fail(check, item, "unknown kind %u", slot->kind);
	if (slot->kind == PROGRAM_STRING ? !slot->bytes || slot->bytes % 8 : slot->bytes != 8)
		return check_fail(check, item, "its size of %u bytes is not that of its kind", slot->bytes);
	if (slot->offset % 8)
		return check_fail(check, item, "its offset %u is not aligned", slot->offset);
	if (slot->offset > rule->slot_bytes || slot->bytes > rule->slot_bytes - slot->offset)
		return check_fail(check, item, "bytes %u+%u are beyond the slot area of %u bytes", slot->offset,
				  slot->bytes, rule->slot_bytes);
	return 0;
}

static int check_slots(struct check *check, struct check_item item, const struct program_rule *rule)
{
	bool used[PROGRAM_SLOT_BYTES_MAX / 8] = { false };

	if (rule->slot_bytes > PROGRAM_SLOT_BYTES_MAX || rule->slot_bytes % 8)
		return check_fail(check, item, "its slot area has %u bytes", rule->slot_bytes);
	for (uint32_t i = rule->first_slot; i < rule->first_slot + rule->slot_count; i++) {
		const struct program_slot *slot = &check->program->slots[i];
		struct check_item slot_item = { PROGRAM_SLOTS, i };
		int result = check_slot(check, slot_item, rule);

		if (result)
			return result;
		for (uint32_t word = slot->offset / 8; word < (slot->offset + slot->bytes) / 8; word++) {
			if (used[word])
				return check_fail(check, slot_item, "it overlaps another slot");
			used[word] = true;
		}
	}
	return 0;
}

/* Of whose runs there are only so many. */
static int check_opener(struct check *check, struct check_item item, const struct program_rule *rule)
{
	if (!rule->per_process)
		return rule->opener_slot
			       ? check_fail(check, item, "it has a slot for openers, but no limit of runs per process")
			       : 0;
	if (rule->semantics == PROGRAM_SKIP_TILL_ANY)
		return check_fail(check, item, "it limits the runs of a process, but copies runs");
	return check_words(check, item, rule->opener_slot, 1);
}

/* What only rules have, and only machines. */
static int check_sort(struct check *check, struct check_item item, const struct program_rule *rule)
{
	if (rule->semantics == PROGRAM_MACHINE)
		return check_machine(check, item.index);
	if (rule->first_notice || rule->notice_count || rule->notice_slot || rule->timer_slot || rule->trail_slot ||
	    rule->trail_count)
		return check_fail(check, item, "it is not a machine, but has notices, a timer or a trail");
	if (!(rule->flags & PROGRAM_RULE_DEADLINE)) {
		if (rule->context_slot != PROGRAM_NONE)
			return check_fail(check, item, "it has context slots, but no deadline");
		return 0;
	}
	if (!rule->within_ns)
		return check_fail(check, item, "it has a deadline, but no time limit");
	return check_context_slots(check, item, rule);
}

static int check_rule(struct check *check, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[index];
	struct check_item item = { PROGRAM_RULES, index };
	int result = check_values(check, item, rule);

	if (!result)
		result = check_properties(check, item, rule);
	if (!result)
		result = claim_tables(check, item, rule);
	if (!result)
		result = check_over(check, item, index);
	if (!result)
		result = check_elements(check, index);
	if (!result)
		result = check_slots(check, item, rule);
	if (!result)
		result = check_opener(check, item, rule);
	if (!result)
		result = check_sort(check, item, rule);
	if (!result)
		result = check_states(check, index);
	if (!result)
		result = check_classes(check, index);
	if (!result)
		result = check_results(check, index);
	if (!result)
		result = check_aggregation(check, index);
	if (!result && check_is_machine(check, index))
		result = check_machine_keys(check, index);
	if (!result && check_is_machine(check, index))
		result = check_notices(check, index);
	return result;
}

int check_rules(struct check *check)
{
	int result = 0;

	if (check->program->rule_count > PROGRAM_RULES_MAX)
		return check_fail(check, (struct check_item){ PROGRAM_RULES, PROGRAM_RULES_MAX }, "too many rules");
	for (uint32_t i = 0; i < check->program->rule_count && !result; i++)
		result = check_rule(check, i);
	return result ? result : check_unique(check, PROGRAM_RULES);
}
