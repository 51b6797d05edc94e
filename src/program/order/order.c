// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders the conditions of transitions, and makes an image that asks them in this order: transitions get new nodes,
 * everything else stays where it is.
 */

#include "program/order/order-priv.h"

#include "program/build.h"
#include "program/query.h"

#include <errno.h>

/* The greater, the earlier. Two more answers, one of each, stand for what was not measured, or hardly. */
static double asking_rank(const struct program_ranked *ranked)
{
	double share = ((double)ranked->was_true + 1) / ((double)ranked->asked + 2);

	return (1 - share) / ranked->cost;
}

uint32_t program_order_ask(const struct program_asking *asking, struct program_ranked *ranked)
{
	const struct program_transition *transition = asking->transition;
	struct program_why_conditions found;

	program_why_conditions(asking->program, asking->is_hold ? transition->hold : transition->fit, &found);
	for (uint32_t i = 0; i < found.count; i++) {
		ranked[i] = (struct program_ranked){
			.node = found.nodes[i],
			.cost = order_cost(asking->program, found.nodes[i]),
			.stays = program_may_fail(asking->program, found.nodes[i]),
		};
		order_measure(asking, &ranked[i]);
	}
	return found.count;
}

bool program_order_sort(struct program_ranked *ranked, uint32_t count)
{
	bool changes = false;

	for (uint32_t i = 1; i < count; i++) {
		struct program_ranked moved = ranked[i];
		uint32_t at = i;

		for (;
		     at && !moved.stays && !ranked[at - 1].stays && asking_rank(&ranked[at - 1]) < asking_rank(&moved);
		     at--)
			ranked[at] = ranked[at - 1];
		ranked[at] = moved;
		changes |= at != i;
	}
	return changes;
}

/* The node that asks all of them in turn; PROGRAM_NONE: it would be too deep. */
static uint32_t join_ranked(struct program_build *build, const struct program *program,
			    const struct program_ranked *ranked, uint32_t count)
{
	uint32_t all = ranked[0].node;
	unsigned depth = program->nodes[all].depth;

	for (uint32_t i = 1; i < count; i++) {
		unsigned next = program->nodes[ranked[i].node].depth;

		depth = (depth > next ? depth : next) + 1;
		if (depth > PROGRAM_DEPTH_MAX)
			return PROGRAM_NONE;
		struct program_node node = { .op = PROGRAM_OP_LAND,
					     .kind = PROGRAM_BOOL,
					     .depth = (uint16_t)depth,
					     .a = all,
					     .b = ranked[i].node };

		all = program_build_add(build, PROGRAM_NODES, &node, 1);
	}
	return all;
}

/* Returns whether the image changes. */
static bool order_one(struct program_build *build, const struct program_asking *asking)
{
	struct program_ranked ranked[PROGRAM_WHY_CONDITIONS_MAX];
	uint32_t count = program_order_ask(asking, ranked), index, node;
	struct program_transition *row;

	if (!program_order_sort(ranked, count))
		return false;
	node = join_ranked(build, asking->program, ranked, count);
	index = (uint32_t)(asking->transition - asking->program->transitions);
	row = program_build_get(build, PROGRAM_TRANSITIONS, index);
	if (!row || node == PROGRAM_NONE)
		return false;
	*(asking->is_hold ? &row->hold : &row->fit) = node;
	return true;
}

/* Whether an event of type ends a machine's instances under any value of the key: that is the same node in all states.
 */
static bool is_for_any(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	const struct program_class *classes = program_classes(program, rule);

	for (uint32_t c = 0; c < rule->class_count; c++) {
		for (uint32_t i = 0; i < classes[c].key_count; i++) {
			const struct program_key *key = &program_keys(program, &classes[c])[i];

			for (uint32_t slot = 0; slot < classes[c].slot_count && key->type == type; slot++) {
				if (program_key_fields(program, key)[slot] == PROGRAM_NONE)
					return true;
			}
		}
	}
	return false;
}

static bool order_rule(struct program_build *build, struct program_asking *asking)
{
	const struct program_state *states = program_states(asking->program, asking->rule);
	bool changes = false;

	for (asking->state = 0; asking->state < asking->rule->state_count; asking->state++) {
		const struct program_state *state = &states[asking->state];

		for (uint32_t i = 0; i < state->transition_count; i++) {
			asking->transition = &program_transitions(asking->program, state)[i];
			if (is_for_any(asking->program, asking->rule, asking->transition->type))
				continue;
			for (int is_hold = 0; is_hold < 2; is_hold++) {
				asking->is_hold = is_hold;
				changes |= order_one(build, asking);
			}
		}
	}
	return changes;
}

int program_order(const struct program *program, const struct program_measures *measures, void **image, size_t *length)
{
	struct program_build *build = program_build_of(program);
	bool changes = false;
	int result = 0;

	*image = NULL;
	if (!build)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		struct program_asking asking = { .program = program, .rule = &program->rules[i], .measures = measures };

		changes |= order_rule(build, &asking);
	}
	if (changes)
		result = program_build_finish(build, image, length);
	program_build_free(build);
	return result;
}
