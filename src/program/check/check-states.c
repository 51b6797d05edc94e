// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that runs can only go from state to state as docs/internals/execution.md has it, and that actions fit their
 * slots.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

enum { TRANSITION_FLAGS = PROGRAM_FORBID | PROGRAM_IN_PLACE | PROGRAM_GONE };

/* The order of transitions of one type within a state. */
enum rank { RANK_FORBID, RANK_COPY = RANK_FORBID, RANK_POSITIVE, RANK_IN_PLACE };

/* Where the checks of one state stand. */
struct place {
	uint32_t rule, state;
	uint32_t mark; /* type_mark of the types whose group has begun */
	uint32_t type; /* of the transition before this one, or PROGRAM_NONE */
	bool timer;    /* the group of the timer has begun */
	enum rank rank;
};

/* The capacity that a text yielded by node may need. */
static uint32_t text_room(const struct program *program, const struct program_rule *rule,
			  const struct program_node *node)
{
	switch ((enum program_op)node->op) {
	case PROGRAM_OP_FIELD:
		return program->fields[node->a].bytes;
	case PROGRAM_OP_SLOT:
		return program_slots(program, rule)[node->a].bytes;
	default:
		return node->b + 1;
	}
}

static int check_action(struct check *check, const struct place *place, uint32_t index, uint32_t type)
{
	const struct program *program = check->program;
	const struct program_rule *rule = &program->rules[place->rule];
	const struct program_action *action = &program->actions[index];
	struct check_item item = { PROGRAM_ACTIONS, index };
	int result;

	if (action->op < PROGRAM_SET || action->op > PROGRAM_MAX)
		return check_fail(check, item, "unknown action %u", action->op);
	if (action->reserved)
		return check_fail(check, item, "reserved bytes are not 0");
	if (action->slot >= rule->slot_count)
		return check_fail(check, item, "slot %u does not exist", action->slot);
	result = check_expression(check, item, place->rule, action->node, type);
	if (result)
		return result;
	const struct program_slot *slot = &program_slots(program, rule)[action->slot];
	const struct program_node *node = &program->nodes[action->node];
	if (node->kind != slot->kind)
		return check_fail(check, item, "a value of kind %u is stored in slot %u of kind %u", node->kind,
				  action->slot, slot->kind);
	if (action->op != PROGRAM_SET && (slot->kind == PROGRAM_BOOL || slot->kind == PROGRAM_STRING))
		return check_fail(check, item, "kind %u has no minimum and maximum", slot->kind);
	/* A machine's texts are cut, but not those that it is found by. */
	if (slot->kind == PROGRAM_STRING && text_room(program, rule, node) > slot->bytes &&
	    (!check_is_machine(check, place->rule) || check_is_key_slot(check, place->rule, action->slot)))
		return check_fail(check, item, "slot %u is too small for the text", action->slot);
	return 0;
}

static int check_actions(struct check *check, const struct place *place, uint32_t index)
{
	const struct program_transition *transition = &check->program->transitions[index];
	struct check_item item = { PROGRAM_TRANSITIONS, index };
	uint32_t first = transition->first_action, count = transition->action_count;
	int result = check_bounds(check, item, (struct check_range){ PROGRAM_ACTIONS, first, count });

	if (!result)
		result = check_work(check, item, count);
	for (uint32_t i = first; i < first + count && !result; i++)
		result = check_action(check, place, i, transition->type);
	if (!result && check_is_machine(check, place->rule))
		result = check_machine_actions(check, item, place->rule, place->state == 0);
	return result;
}

static int check_target(struct check *check, const struct place *place, struct check_item item,
			const struct program_transition *transition)
{
	const struct program_rule *rule = &check->program->rules[place->rule];
	bool leaves = transition->target == PROGRAM_TARGET_END || transition->target == PROGRAM_TARGET_MATCH;
	int result = 0;

	if (check_is_machine(check, place->rule))
		result = check_machine_target(check, item, place->rule, place->state == 0);
	else if (transition->flags & ~(uint32_t)TRANSITION_FLAGS ||
		 (transition->flags & PROGRAM_FORBID && transition->flags & PROGRAM_IN_PLACE) ||
		 (transition->flags & PROGRAM_GONE && !(transition->flags & PROGRAM_FORBID)))
		result = check_fail(check, item, "invalid flags %#x", transition->flags);
	if (result)
		return result;
	if (!leaves && (transition->target == 0 || transition->target >= rule->state_count))
		return check_fail(check, item, "it leads to state %u, in which no run can wait", transition->target);
	if (transition->flags & TRANSITION_FLAGS && place->state == 0)
		return check_fail(check, item, "it leaves the start state, so it must not forbid or stay in place");
	if (transition->flags & PROGRAM_FORBID && transition->target != PROGRAM_TARGET_END)
		return check_fail(check, item, "it forbids, but does not end the run");
	if (transition->flags & PROGRAM_IN_PLACE && leaves)
		return check_fail(check, item, "it is progress in place, but ends the run");
	if (transition->flags & PROGRAM_IN_PLACE && rule->semantics <= PROGRAM_STRICT_PARTITION)
		return check_fail(check, item, "strict semantics do not have progress in place");
	return 0;
}

/* What becomes part of the match is a positive event of the element's type. */
static int check_element(struct check *check, const struct place *place, struct check_item item,
			 const struct program_transition *transition)
{
	const struct program_rule *rule = &check->program->rules[place->rule];

	if (transition->element == PROGRAM_NONE)
		return 0;
	if (transition->element >= rule->element_count)
		return check_fail(check, item, "element %u does not exist", transition->element);
	const struct program_element *element = &program_elements(check->program, rule)[transition->element];
	if (element->type != transition->type)
		return check_fail(check, item, "element %u is of another type", transition->element);
	if (transition->flags || element->flags & PROGRAM_ELEMENT_NEGATED)
		return check_fail(check, item, "a negated event cannot become element %u of a match",
				  transition->element);
	return 0;
}

static enum rank rank_of(const struct program_transition *transition)
{
	if (transition->flags & PROGRAM_FORBID)
		return RANK_FORBID;
	if (transition->flags & PROGRAM_COPY)
		return RANK_COPY;
	return transition->flags & PROGRAM_IN_PLACE ? RANK_IN_PLACE : RANK_POSITIVE;
}

static int check_order(struct check *check, struct place *place, struct check_item item,
		       const struct program_transition *transition)
{
	enum rank rank = rank_of(transition);
	bool timer = transition->type == PROGRAM_TIMER;

	if (timer && (!(check->program->rules[place->rule].flags & PROGRAM_RULE_TIMER) || place->state == 0))
		return check_fail(check, item, "it waits for a timer, but the rule has none");
	if (timer && transition->type != place->type && place->timer)
		return check_fail(check, item, "the transitions of the timer are not adjacent");
	place->timer |= timer;
	if (!timer && transition->type >= check->program->type_count)
		return check_fail(check, item, "type %u does not exist", transition->type);
	if (!timer && !check_in_stream(check, place->rule, transition->type))
		return check_fail(check, item, "type %u is not in the rule's stream", transition->type);
	if (!timer && transition->type != place->type) {
		if (check->type_mark[transition->type] == place->mark)
			return check_fail(check, item, "the transitions of type %u are not adjacent", transition->type);
		check->type_mark[transition->type] = place->mark;
	} else if (transition->type == place->type && rank < place->rank) {
		return check_fail(check, item, "it is out of order: it follows transitions that must come after it");
	}
	place->type = transition->type;
	place->rank = rank;
	return 0;
}

static int check_condition(struct check *check, const struct place *place, struct check_item item, uint32_t node)
{
	const struct program_transition *transition = &check->program->transitions[item.index];
	int result;

	if (node == PROGRAM_NONE)
		return 0;
	result = check_expression(check, item, place->rule, node, transition->type);
	if (!result && check->program->nodes[node].kind != PROGRAM_BOOL)
		result = check_fail(check, item, "node %u is not a condition", node);
	return result;
}

static int check_transition(struct check *check, struct place *place, uint32_t index)
{
	const struct program_transition *transition = &check->program->transitions[index];
	struct check_item item = { PROGRAM_TRANSITIONS, index };
	int result = check_label(check, item, transition->note);

	if (!result && transition->reserved)
		result = check_fail(check, item, "reserved bytes are not 0");
	if (!result)
		result = check_order(check, place, item, transition);
	if (!result)
		result = check_target(check, place, item, transition);
	if (!result)
		result = check_element(check, place, item, transition);
	if (!result)
		result = check_condition(check, place, item, transition->fit);
	if (!result)
		result = check_condition(check, place, item, transition->hold);
	return result ? result : check_actions(check, place, index);
}

static int check_state_key(struct check *check, struct check_item item, const struct program_rule *rule,
			   const struct program_state *state)
{
	struct check_range range = { PROGRAM_INDICES, state->key - 1, 1 };
	const uint32_t *slots = check->program->indices;
	int result;

	if (!state->key)
		return 0;
	if (rule->semantics == PROGRAM_MACHINE)
		return check_fail(check, item, "a machine's instances have one key");
	result = check_bounds(check, item, range);
	if (result)
		return result;
	range.count += slots[range.first];
	if (slots[range.first] > PROGRAM_KEY_SLOTS_MAX)
		return check_fail(check, item, "it has %u key slots, more than %u", slots[range.first],
				  PROGRAM_KEY_SLOTS_MAX);
	result = check_bounds(check, item, range);
	for (uint32_t i = range.first + 1; i < range.first + range.count && !result; i++) {
		if (slots[i] >= rule->slot_count)
			result = check_fail(check, item, "slot %u does not exist", slots[i]);
	}
	return result;
}

static int check_state(struct check *check, uint32_t rule_index, uint32_t index)
{
	const struct program_rule *rule = &check->program->rules[rule_index];
	const struct program_state *state = &program_states(check->program, rule)[index];
	struct check_item item = { PROGRAM_STATES, rule->first_state + index };
	struct check_range range = { PROGRAM_TRANSITIONS, state->first_transition, state->transition_count };
	struct place place = {
		.rule = rule_index, .state = index, .mark = check_new_mark(check), .type = PROGRAM_NONE
	};
	int result = check_label(check, item, state->label);

	if (result)
		return result;
	if (state->flags & ~(uint32_t)PROGRAM_STATE_DEADLINE)
		return check_fail(check, item, "unknown flags %#x", state->flags);
	if (index == 0 && (state->class != PROGRAM_NONE || state->flags))
		return check_fail(check, item, "the start state must not have a class or a deadline");
	if (index != 0 && state->class >= rule->class_count)
		return check_fail(check, item, "class %u does not exist", state->class);
	if (state->flags && !(rule->flags & PROGRAM_RULE_DEADLINE))
		return check_fail(check, item, "it has a deadline, but the rule has none");
	result = check_state_key(check, item, rule, state);
	if (!result)
		result = check_claim(check, item, range);
	for (uint32_t i = 0; i < range.count && !result; i++)
		result = check_transition(check, &place, range.first + i);
	return result;
}

int check_states(struct check *check, uint32_t rule)
{
	const struct program_rule *owner = &check->program->rules[rule];
	bool deadline = false;
	int result = 0;

	for (uint32_t i = 0; i < owner->state_count && !result; i++) {
		result = check_state(check, rule, i);
		deadline |= program_states(check->program, owner)[i].flags & PROGRAM_STATE_DEADLINE;
	}
	if (!result && !deadline && owner->flags & PROGRAM_RULE_DEADLINE)
		result = check_fail(check, (struct check_item){ PROGRAM_RULES, rule },
				    "it declares a deadline, but no state has one");
	return result;
}
