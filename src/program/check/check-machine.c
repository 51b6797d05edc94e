// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that a machine keeps what execution.md promises of it: one instance per key, whose key only its beginning and
 * its copying write; what is told is there; events for any value only end instances.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "event/type.h"

static const struct program_class *class_of(const struct check *check, uint32_t rule)
{
	return program_classes(check->program, &check->program->rules[rule]);
}

/* Which slot of the key a slot is, or PROGRAM_NONE. */
static uint32_t key_place(const struct check *check, uint32_t rule, uint32_t slot)
{
	const struct program_class *class = class_of(check, rule);

	for (uint32_t i = 0; i < class->slot_count; i++) {
		if (program_class_slots(check->program, class)[i] == slot)
			return i;
	}
	return PROGRAM_NONE;
}

bool check_is_key_slot(const struct check *check, uint32_t rule, uint32_t slot)
{
	return key_place(check, rule, slot) != PROGRAM_NONE;
}

int check_words(struct check *check, struct check_item item, uint32_t first, uint32_t count)
{
	const struct program_rule *rule = &check->program->rules[item.index];

	if (rule->slot_count < count || first > rule->slot_count - count)
		return check_fail(check, item, "it has no slots %u to %u", first, first + count - 1);
	for (uint32_t i = first; i < first + count; i++) {
		if (program_slots(check->program, rule)[i].kind != PROGRAM_U64)
			return check_fail(check, item, "its slot %u is not of kind %u", i, PROGRAM_U64);
	}
	return 0;
}

/* The class and its slots are looked at again with all others; here is what actions must be able to rely on. */
static int check_machine_key(struct check *check, struct check_item item, const struct program_rule *rule)
{
	const struct program_class *class = class_of(check, item.index);
	struct check_range range = { PROGRAM_INDICES, class->first_slot, class->slot_count };
	int result = check_bounds(check, item, range);

	if (result)
		return result;
	if (class->slot_count > PROGRAM_KEY_SLOTS_MAX)
		return check_fail(check, item, "a machine's key has at most %d slots, not %u", PROGRAM_KEY_SLOTS_MAX,
				  class->slot_count);
	for (uint32_t i = 0; i < class->slot_count; i++) {
		uint32_t slot = program_class_slots(check->program, class)[i];

		if (key_place(check, item.index, slot) != i)
			return check_fail(check, item, "its key contains slot %u twice", slot);
		if (rule->flags & PROGRAM_RULE_TIMER && slot == rule->timer_slot)
			return check_fail(check, item, "its timer is in its key");
	}
	return 0;
}

static int check_timer(struct check *check, struct check_item item, const struct program_rule *rule)
{
	int result;

	if (!(rule->flags & PROGRAM_RULE_TIMER)) {
		if (rule->timer_slot || rule->context_slot != PROGRAM_NONE)
			return check_fail(check, item, "it has slots for a timer, but no timer");
		return 0;
	}
	result = check_words(check, item, rule->timer_slot, 1);
	return result ? result : check_context_slots(check, item, rule);
}

int check_machine(struct check *check, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[index];
	struct check_item item = { PROGRAM_RULES, index };
	int result = 0;

	if (rule->mode != PROGRAM_ANY_MODE || rule->within_ns || rule->element_count)
		return check_fail(check, item, "a machine must not have a mode, a time limit or elements");
	if (rule->class_count != 1)
		return check_fail(check, item, "a machine has one class, not %u", rule->class_count);
	if (rule->trail_count > PROGRAM_TRAIL_MAX || (!rule->trail_count && rule->trail_slot))
		return check_fail(check, item, "invalid trail: %u entries from slot %u on", rule->trail_count,
				  rule->trail_slot);
	if (!rule->notice_count && rule->notice_slot)
		return check_fail(check, item, "it has a slot for notices, but no notices");
	if (rule->trail_count)
		result = check_words(check, item, rule->trail_slot, rule->trail_count * PROGRAM_TRAIL_WORDS);
	if (!result && rule->notice_count)
		result = check_words(check, item, rule->notice_slot, 1);
	if (!result)
		result = check_timer(check, item, rule);
	return result ? result : check_machine_key(check, item, rule);
}

int check_machine_target(struct check *check, struct check_item item, uint32_t rule, bool opens)
{
	const struct program_transition *transition = &check->program->transitions[item.index];
	bool leaves = transition->target == PROGRAM_TARGET_END || transition->target == PROGRAM_TARGET_MATCH;
	bool reports = transition->flags & PROGRAM_TELL || transition->target == PROGRAM_TARGET_MATCH;

	if (transition->flags & ~(uint32_t)(PROGRAM_TELL | PROGRAM_ARM) && transition->flags != PROGRAM_COPY)
		return check_fail(check, item, "invalid flags %#x", transition->flags);
	if (transition->flags && leaves)
		return check_fail(check, item, "it reports, arms or copies, but leads to no state");
	if (transition->flags & PROGRAM_ARM && (opens || !(check->program->rules[rule].flags & PROGRAM_RULE_TIMER)))
		return check_fail(check, item, "it arms a timer, but it opens an instance or its machine has no timer");
	if (transition->flags & PROGRAM_COPY && (opens || transition->type == PROGRAM_TIMER))
		return check_fail(check, item, "it copies, but it opens an instance or belongs to a timer");
	if (reports && !check->program->rules[rule].notice_count)
		return check_fail(check, item, "it reports, but its machine has no notices");
	if (transition->hold != PROGRAM_NONE || transition->element != PROGRAM_NONE)
		return check_fail(check, item,
				  "a transition of a machine must not have a condition to hold or an element");
	return 0;
}

/* The field that carries place number place of the key in events of type; PROGRAM_NONE: none that is known. */
static uint32_t key_field_of_type(struct check *check, uint32_t rule, uint32_t type, uint32_t place)
{
	const struct program *program = check->program;
	const struct program_class *class = class_of(check, rule);

	for (uint32_t i = 0; i < class->key_count; i++) {
		uint64_t key = (uint64_t) class->first_key + i;

		if (key >= program->header->sections[PROGRAM_KEYS].count)
			break;
		if (program->keys[key].type != type)
			continue;
		uint64_t index = (uint64_t)program->keys[key].first_field + place;
		return index < program->header->sections[PROGRAM_INDICES].count ? program->indices[index]
										: PROGRAM_NONE;
	}
	return PROGRAM_NONE;
}

/* The field that a node yields, as it is or in another kind of integer; PROGRAM_NONE: it yields something else. */
static uint32_t yielded_field(const struct program *program, uint32_t index)
{
	const struct program_node *node = &program->nodes[index];

	if (node->op == PROGRAM_OP_CONVERT && node->kind != PROGRAM_F64)
		node = &program->nodes[node->a];
	return node->op == PROGRAM_OP_FIELD ? node->a : PROGRAM_NONE;
}

/* An action that writes a slot of the key. */
static int check_key_action(struct check *check, struct check_item item, uint32_t rule, bool opens, uint32_t index)
{
	const struct program_transition *transition = &check->program->transitions[item.index];
	const struct program_action *action = &check->program->actions[index];
	uint32_t place = key_place(check, rule, action->slot), field;

	if (!opens && !(transition->flags & PROGRAM_COPY))
		return check_fail(check, item, "it changes the key of an instance");
	if (action->op != PROGRAM_SET)
		return check_fail(check, item, "it computes with the key");
	field = yielded_field(check->program, action->node);
	if (opens && (field == PROGRAM_NONE || field != key_field_of_type(check, rule, transition->type, place)))
		return check_fail(check, item, "it opens an instance under another key than the event's");
	return 0;
}

static int check_notice_action(struct check *check, struct check_item item, uint32_t rule,
			       const struct program_action *action)
{
	const struct program_node *node = &check->program->nodes[action->node];

	if (action->op != PROGRAM_SET || node->op != PROGRAM_OP_CONST || node->imm < 1 ||
	    node->imm > check->program->rules[rule].notice_count)
		return check_fail(check, item, "it writes to the notice slot what is not the number of a notice");
	return 0;
}

int check_machine_actions(struct check *check, struct check_item item, uint32_t rule, bool opens)
{
	const struct program_transition *transition = &check->program->transitions[item.index];
	const struct program_rule *owner = &check->program->rules[rule];
	bool reports = transition->flags & PROGRAM_TELL || transition->target == PROGRAM_TARGET_MATCH, numbered = false;
	uint32_t places = 0;
	int result = 0;

	for (uint32_t i = transition->first_action; i < transition->first_action + transition->action_count; i++) {
		const struct program_action *action = &check->program->actions[i];

		if (check_is_key_slot(check, rule, action->slot)) {
			places |= UINT32_C(1) << key_place(check, rule, action->slot);
			result = check_work(check, item, class_of(check, rule)->key_count);
			if (!result)
				result = check_key_action(check, item, rule, opens, i);
		} else if (owner->notice_count && action->slot == owner->notice_slot) {
			numbered = true;
			result = check_notice_action(check, item, rule, action);
		}
		if (result)
			return result;
	}
	if (opens && places != (UINT32_C(1) << class_of(check, rule)->slot_count) - 1)
		return check_fail(check, item, "it does not set the whole key");
	if (reports && !numbered)
		return check_fail(check, item, "it reports, but does not set the notice slot");
	return 0;
}

/* Whether a node, which is judged, reads slots. The recursion is as deep as the node. */
static bool reads_slots(const struct program *program, uint32_t index)
{
	const struct program_node *node = &program->nodes[index];

	if (node->op <= PROGRAM_OP_SLOT)
		return node->op == PROGRAM_OP_SLOT;
	if (reads_slots(program, node->a))
		return true;
	return node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT && reads_slots(program, node->b);
}

static int check_any_transition(struct check *check, uint32_t index)
{
	const struct program_transition *transition = &check->program->transitions[index];
	struct check_item item = { PROGRAM_TRANSITIONS, index };
	int result = 0;

	if (transition->target != PROGRAM_TARGET_END || transition->action_count)
		return check_fail(check, item, "an event for any value of the key may only end instances");
	if (transition->fit != PROGRAM_NONE)
		result = check_work(check, item, check->node_size[transition->fit]);
	if (!result && transition->fit != PROGRAM_NONE && reads_slots(check->program, transition->fit))
		result = check_fail(check, item, "an event for any value of the key reads the slots of one instance");
	return result;
}

/* The transitions of a state for type: how many, and the first. */
static uint32_t group(const struct program *program, const struct program_state *state, uint32_t type, uint32_t *first)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->transition_count; i++) {
		if (program_transitions(program, state)[i].type != type)
			continue;
		if (!count++)
			*first = state->first_transition + i;
	}
	return count;
}

/* That what an event of type, which is for any value, does is the same in all states. */
static int check_any(struct check *check, uint32_t rule, uint32_t type)
{
	const struct program *program = check->program;
	const struct program_rule *owner = &program->rules[rule];
	uint32_t wanted = 0, model = 0;
	int result = 0;

	for (uint32_t s = 0; s < owner->state_count && !result; s++) {
		const struct program_state *state = &program_states(program, owner)[s];
		struct check_item item = { PROGRAM_STATES, owner->first_state + s };
		uint32_t first = 0, count = group(program, state, type, &first);

		result = check_work(check, item, state->transition_count + 1);
		if (!result && s == 1) {
			wanted = count;
			model = first;
		}
		if (!result && count != (s == 0 ? 0 : wanted))
			result = check_fail(check, item,
					    "an event for any value of the key must do the same in all states");
		for (uint32_t i = 0; i < count && !result; i++) {
			result = check_any_transition(check, first + i);
			if (!result && program->transitions[first + i].fit != program->transitions[model + i].fit)
				result = check_fail(check, item,
						    "an event for any value of the key must do the same in all states");
		}
	}
	return result;
}

int check_machine_keys(struct check *check, uint32_t rule)
{
	const struct program *program = check->program;
	const struct program_class *class = class_of(check, rule);
	int result = 0;

	for (uint32_t i = 0; i < class->key_count && !result; i++) {
		const struct program_key *key = &program_keys(program, class)[i];
		uint32_t any = 0;

		for (uint32_t j = 0; j < class->slot_count; j++)
			any += program_key_fields(program, key)[j] == PROGRAM_NONE;
		if (any && any == class->slot_count)
			result = check_fail(check, (struct check_item){ PROGRAM_KEYS, class->first_key + i },
					    "its key names no field");
		else if (any)
			result = check_any(check, rule, key->type);
	}
	return result;
}

static int check_piece(struct check *check, const struct program_rule *rule, uint32_t number, uint32_t index)
{
	const struct program_piece *piece = &check->program->pieces[index];
	struct check_item item = { PROGRAM_PIECES, index };
	int result = check_label(check, item, piece->text);

	if (result || piece->value == PROGRAM_NONE)
		return result;
	if (piece->value >= rule->return_count)
		return check_fail(check, item, "returned value %u does not exist", piece->value);
	if (program_returns(check->program, rule)[piece->value].notice != number)
		return check_fail(check, item, "returned value %u belongs to another notice", piece->value);
	return 0;
}

static int check_notice(struct check *check, const struct program_rule *rule, uint32_t number)
{
	uint32_t index = rule->first_notice + number - 1;
	const struct program_notice *notice = &check->program->notices[index];
	struct check_item item = { PROGRAM_NOTICES, index };
	struct check_range range = { PROGRAM_PIECES, notice->first_piece, notice->piece_count };
	int result;

	if (notice->flags & ~(uint32_t)PROGRAM_NOTICE_SILENT || notice->reserved)
		return check_fail(check, item, "unknown flags %#x, or reserved bytes are not 0", notice->flags);
	if (notice->flags & PROGRAM_NOTICE_SILENT && notice->piece_count)
		return check_fail(check, item, "it is silent, but has a text");
	result = check_claim(check, item, range);
	for (uint32_t i = 0; i < notice->piece_count && !result; i++)
		result = check_piece(check, rule, number, notice->first_piece + i);
	return result;
}

static bool is_silent(const struct check *check, const struct program_rule *rule, uint32_t number)
{
	return program_notice(check->program, rule, number)->flags & PROGRAM_NOTICE_SILENT;
}

int check_notices(struct check *check, uint32_t index)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[index];
	int result = 0;

	for (uint32_t i = 1; i <= rule->notice_count && !result; i++)
		result = check_notice(check, rule, i);
	for (uint32_t i = rule->first_return; i < rule->first_return + rule->return_count && !result; i++) {
		if (is_silent(check, rule, program->returns[i].notice))
			result = check_fail(check, (struct check_item){ PROGRAM_RETURNS, i },
					    "it returns a value, but its notice is silent");
	}
	for (uint32_t i = rule->first_statement; i < rule->first_statement + rule->statement_count && !result; i++) {
		if (program->statements[i].type == PROGRAM_NONE &&
		    is_silent(check, rule, program->statements[i].notice))
			result = check_fail(check, (struct check_item){ PROGRAM_STATEMENTS, i },
					    "it calls an action, but its notice is silent");
	}
	return result;
}
