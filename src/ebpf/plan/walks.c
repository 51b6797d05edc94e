// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans which runs an event finds: a walk along one chain for every key that it gives, with the states in which runs
 * there are concerned. A rule in which every event touches one bucket at most needs no lock but the bucket's.
 */

#include "ebpf/plan/plan-priv.h"

#include <errno.h>
#include <string.h>

static bool same_fields(const struct program *program, const struct program_key *a, const struct program_key *b,
			uint32_t count)
{
	const uint32_t *fields = program_key_fields(program, a);

	return memcmp(fields, program_key_fields(program, b), count * sizeof *fields) == 0;
}

/* Whether runs of class are found by the walk of an event of type. */
static bool in_walk(const struct plan_draft *draft, const struct plan_rule *rule, const struct plan_walk *walk,
		    uint32_t class, uint32_t type)
{
	const struct program_class *row = &program_classes(draft->program, rule->rule)[class];
	const struct program_key *key = program_key_for(draft->program, row, type);

	return key && rule->group_of[class] == walk->group &&
	       same_fields(draft->program, key, walk->key, row->slot_count);
}

/* The states in which runs that the walk finds are changed by the event. Returns 0, -ENOMEM. */
static int find_states(const struct plan_draft *draft, const struct plan_rule *rule, uint32_t type,
		       struct plan_walk *walk)
{
	bool strict = rule->rule->semantics <= PROGRAM_STRICT_PARTITION;
	uint32_t *states = arena_zero(draft->plan->arena, rule->rule->state_count, sizeof *states);

	if (!states)
		return -ENOMEM;
	for (uint32_t state = 1; state < rule->rule->state_count; state++) {
		uint32_t class = program_states(draft->program, rule->rule)[state].class, count;

		if (walk->key && !in_walk(draft, rule, walk, class, type))
			continue;
		plan_transitions_on(draft, rule, state, type, &count);
		if (count > 0 || strict)
			states[walk->state_count++] = state;
	}
	walk->states = states;
	return 0;
}

/* Whether a walk before this one finds the runs of class, too. */
static bool is_found(const struct plan_draft *draft, const struct plan_rule *rule, const struct plan_walk *walk,
		     uint32_t class, uint32_t type)
{
	for (uint32_t i = 0; i < class; i++)
		if (in_walk(draft, rule, walk, i, type))
			return true;
	return false;
}

int plan_walks(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event)
{
	struct plan_walk *walks;
	uint32_t count = 0;
	int error = 0;

	if (!rule->has_runs)
		return 0;
	event->walks = walks = arena_zero(draft->plan->arena, rule->rule->class_count + 1, sizeof *walks);
	if (!walks)
		return -ENOMEM;
	if (event->type == PROGRAM_TIMER) {
		event->walk_count = 1;
		return find_states(draft, rule, event->type, walks);
	}
	for (uint32_t class = 0; class < rule->rule->class_count && !error; class ++) {
		const struct program_class *row = &program_classes(draft->program, rule->rule)[class];
		struct plan_walk *walk = &walks[count];

		*walk = (struct plan_walk){ .group = rule->group_of[class],
					    .key = program_key_for(draft->program, row, event->type) };
		if (!walk->key || is_found(draft, rule, walk, class, event->type))
			continue;
		error = find_states(draft, rule, event->type, walk);
		/* that there is an instance of a machine is reason enough */
		count += walk->state_count || plan_is_machine(rule);
	}
	event->walk_count = count;
	return error;
}

/* Whether node is the field, at most in another kind of integer. */
static bool is_field(const struct program *program, const struct program_node *node, uint32_t field)
{
	if (node->op == PROGRAM_OP_CONVERT && node->kind != PROGRAM_F64)
		node = &program->nodes[node->a];
	return node->op == PROGRAM_OP_FIELD && node->kind != PROGRAM_F64 && node->a == field;
}

/* Whether the transition sets the slot to the event's field, and to nothing else. */
static bool sets_to_field(const struct program *program, const struct program_transition *transition, uint32_t slot,
			  uint32_t field)
{
	const struct program_action *actions = program_actions(program, transition);
	bool set = false;

	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_node *node = &program->nodes[actions[i].node];

		if (actions[i].slot != slot)
			continue;
		if (set || actions[i].op != PROGRAM_SET || !is_field(program, node, field))
			return false;
		set = true;
	}
	return set;
}

/* Whether the run that the transition opens waits where the walk goes. */
static bool opens_in_walk(const struct program *program, const struct plan_rule *rule,
			  const struct program_transition *transition, const struct plan_walk *walk)
{
	const struct program_class *class = &program_classes(program, rule->rule)[rule->groups[walk->group].class];
	const uint32_t *slots = program_class_slots(program, class);
	const uint32_t *fields = program_key_fields(program, walk->key);

	if (plan_group_of(program, rule, transition->target) != walk->group)
		return false;
	for (uint32_t i = 0; i < class->slot_count; i++)
		if (!sets_to_field(program, transition, slots[i], fields[i]))
			return false;
	return true;
}

bool plan_touches_one(const struct plan_draft *draft, const struct plan_rule *rule, const struct plan_event *event)
{
	uint32_t count;
	const struct program_transition *opening = plan_transitions_on(draft, rule, 0, event->type, &count);

	if (event->walk_count == 0)
		return true;
	if (event->names_part)
		return rule->stripe_slots != 0;
	for (uint32_t i = 0; i < count; i++)
		if (plan_lives_on(&opening[i]) &&
		    !opens_in_walk(draft->program, rule, &opening[i], &event->walks[event->walk_count - 1]))
			return false;
	for (uint32_t state = 1; state < rule->rule->state_count; state++) {
		const struct program_transition *transition =
			plan_transitions_on(draft, rule, state, event->type, &count);

		for (; count > 0; count--, transition++)
			if (draft->transitions[transition - draft->program->transitions].leaves)
				return false;
	}
	return event->walk_count == 1;
}
