// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts a whole chain of runs in one step, for the classes that allow it. In `[pagefault[>1000]:a] WITHIN 1s` every
 * event opens a run and adds one to each that is open: a thousand steps that all do the same. Where a class has one
 * state, whose runs all begin with the same count and go on by the same transition `count = count + 1`, the runs of a
 * chain differ in their counts alone, and the oldest has the greatest. So a chain keeps one number of pending
 * increments, a run's slot holds what its count is beyond that, and an event steps the oldest runs as long as they are
 * ripe for something else than counting, then adds one to the number. A reader of the slots adds the number first; a
 * run that leaves its chain always does. Results are the same.
 */

#include "engine/engine-priv.h"
#include "program/query.h"

#include <string.h>

struct subject {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t state; /* of the rule: the one state of the class */
	uint32_t slot;  /* of the rule: the count; PROGRAM_NONE until known */
	int64_t first;  /* the count that every run begins with */
};

static const struct program_node *counted_node(const struct subject *subject, uint32_t node)
{
	return &subject->program->nodes[node];
}

static bool is_constant(const struct subject *subject, uint32_t node)
{
	return counted_node(subject, node)->op == PROGRAM_OP_CONST && counted_node(subject, node)->kind == PROGRAM_I64;
}

static bool is_slot(const struct subject *subject, uint32_t node, uint32_t slot)
{
	const struct program_node *found = counted_node(subject, node);

	return found->op == PROGRAM_OP_SLOT && found->kind == PROGRAM_I64 && found->a == slot;
}

/* Whether the transition does nothing but add one to a slot, which it stores, and stay. */
static bool is_loop(const struct subject *subject, const struct program_transition *transition, uint32_t *slot)
{
	const struct program_action *action = program_actions(subject->program, transition);

	if (transition->target != subject->state || transition->flags || transition->hold != PROGRAM_NONE ||
	    transition->action_count != 1 || action->op != PROGRAM_SET)
		return false;
	const struct program_node *sum = counted_node(subject, action->node);
	*slot = action->slot;
	return sum->op == PROGRAM_OP_ADD && sum->kind == PROGRAM_I64 && is_slot(subject, sum->a, action->slot) &&
	       is_constant(subject, sum->b) && counted_node(subject, sum->b)->imm == 1;
}

/* Whether node is `slot op constant`, and the constant. */
static bool compares(const struct subject *subject, uint32_t node, enum program_op op, uint32_t slot, int64_t *constant)
{
	if (node == PROGRAM_NONE || counted_node(subject, node)->op != op ||
	    !is_slot(subject, counted_node(subject, node)->a, slot) ||
	    !is_constant(subject, counted_node(subject, node)->b))
		return false;
	*constant = (int64_t)counted_node(subject, counted_node(subject, node)->b)->imm;
	return true;
}

/*
 * Whether the transitions of one type count up to a threshold, from which on they do something that leaves the state:
 * counting alone; "c >= K: leave", then counting; or counting while c < M, then "c == M: leave".
 */
static bool counts_up_to(const struct subject *subject, const struct program_transition *group, uint32_t count,
			 struct engine_counting *found)
{
	uint32_t slot;
	int64_t limit;

	found->threshold = INT64_MAX;
	if (count == 1) {
		found->slot = slot = PROGRAM_NONE;
		return group->fit == PROGRAM_NONE && is_loop(subject, group, &found->slot);
	}
	if (count != 2)
		return false;
	if (is_loop(subject, &group[1], &slot) && group[1].fit == PROGRAM_NONE && group[0].target != subject->state &&
	    compares(subject, group[0].fit, PROGRAM_OP_GE, slot, &found->threshold)) {
		found->slot = slot;
		return true;
	}
	found->slot = PROGRAM_NONE;
	return is_loop(subject, &group[0], &found->slot) && group[1].target != subject->state &&
	       compares(subject, group[0].fit, PROGRAM_OP_LT, found->slot, &found->threshold) &&
	       compares(subject, group[1].fit, PROGRAM_OP_EQ, found->slot, &limit) && limit == found->threshold;
}

/* Whether the transition gives slot a constant, its last word on it. */
static bool sets_constant(struct subject *subject, const struct program_transition *transition)
{
	bool begun = false;

	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_action *action = &program_actions(subject->program, transition)[i];

		if (action->slot != subject->slot)
			continue;
		if (begun || action->op != PROGRAM_SET || !is_constant(subject, action->node))
			return false;
		begun = true;
		int64_t first = (int64_t)counted_node(subject, action->node)->imm;
		if (subject->first != INT64_MIN && subject->first != first)
			return false;
		subject->first = first;
	}
	return begun;
}

/* Whether runs come to the state from the start alone, all with one count. */
static bool is_entered_alike(struct subject *subject, const struct program_transition *loop)
{
	const struct program_state *states = program_states(subject->program, subject->rule);

	for (uint32_t i = 0; i < subject->rule->state_count; i++) {
		for (uint32_t j = 0; j < states[i].transition_count; j++) {
			const struct program_transition *transition =
				&program_transitions(subject->program, &states[i])[j];

			if (transition->target != subject->state || transition == loop)
				continue;
			if (i != 0 || !sets_constant(subject, transition))
				return false;
		}
	}
	return subject->first != INT64_MIN;
}

/* The one state of the class, or PROGRAM_NONE. */
static uint32_t only_state(const struct program *program, const struct program_rule *rule, uint32_t class)
{
	uint32_t found = PROGRAM_NONE;

	for (uint32_t i = 1; i < rule->state_count; i++) {
		if (program_states(program, rule)[i].class != class)
			continue;
		if (found != PROGRAM_NONE)
			return PROGRAM_NONE;
		found = i;
	}
	return found;
}

static bool is_key(const struct program *program, const struct program_class *class, uint32_t slot)
{
	for (uint32_t i = 0; i < class->slot_count; i++) {
		if (program_class_slots(program, class)[i] == slot)
			return true;
	}
	return false;
}

/* The transitions of the type at first, and how many. */
static uint32_t group_length(const struct program_transition *first, uint32_t left)
{
	uint32_t count = 0;

	while (count < left && first[count].type == first->type)
		count++;
	return count;
}

bool engine_counting_find(const struct program *program, const struct program_rule *rule, uint32_t class,
			  struct engine_counting *found)
{
	struct subject subject = { .program = program, .rule = rule, .first = INT64_MIN };
	uint32_t length;

	subject.state = only_state(program, rule, class);
	if (subject.state == PROGRAM_NONE || rule->semantics > PROGRAM_SKIP_TILL_NEXT ||
	    rule->flags & PROGRAM_RULE_SEQUENCE)
		return false;
	const struct program_state *state = &program_states(program, rule)[subject.state];
	const struct program_transition *group = program_transitions(program, state);
	for (uint32_t left = state->transition_count; left > 0; left -= length, group += length) {
		const struct program_transition *loop = group;

		length = group_length(group, left);
		if (!counts_up_to(&subject, group, length, found))
			continue;
		if (loop->target != subject.state)
			loop++;
		subject.slot = found->slot;
		found->type = group->type;
		return !is_key(program, &program_classes(program, rule)[class], found->slot) &&
		       is_entered_alike(&subject, loop) && subject.first <= found->threshold;
	}
	return false;
}
