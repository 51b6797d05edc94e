// SPDX-License-Identifier: BSD-2-Clause
/* Generates the actions of a transition: stored fields, counts, array functions, joins, presence, context. */

#include "automaton/rule/rule-priv.h"

#include <errno.h>

static void add_action(struct rule_build *build, struct pending_transition *pending, enum program_action_op op,
		       uint32_t slot, uint32_t node)
{
	struct program_action action = { .op = op, .slot = slot, .node = node };
	uint32_t index = program_build_add(build->unit->out, PROGRAM_ACTIONS, &action, 1);

	if (!pending->action_count)
		pending->first_action = index;
	pending->action_count++;
}

/* The value of field in slot's kind. */
static uint32_t value(struct rule_build *build, const struct pending_transition *pending, uint32_t slot,
		      const struct event_field *field)
{
	uint32_t node = node_field(build, pending->type, field);
	enum program_kind kind = unit_kind(field->value);

	if (kind == build->slots[slot].kind)
		return node;
	return node_op(build, PROGRAM_OP_CONVERT, build->slots[slot].kind, node, PROGRAM_NONE);
}

static void count_in_slot(struct rule_build *build, struct pending_transition *pending, const struct count_step *step)
{
	uint32_t slot, node;

	if (!step->node->counted)
		return;
	slot = slots_counter(build, step->node);
	node = node_const(build, PROGRAM_I64, 1);
	if (!step->begins)
		node = node_op(build, PROGRAM_OP_ADD, PROGRAM_I64, node_slot(build, slot), node);
	add_action(build, pending, PROGRAM_SET, slot, node);
}

static uint64_t flags_below(const struct rule_build *build, const struct pattern_node *node)
{
	uint64_t bits = 0;

	if (node->position && build->flags[node->position->element] != PROGRAM_NONE)
		bits = UINT64_C(1) << build->flags[node->position->element];
	for (uint32_t i = 0; i < node->child_count; i++)
		bits |= flags_below(build, node->children[i]);
	return bits;
}

/* Bits of what the edge unbinds go, the bit of what it binds comes. */
static void add_presence(struct rule_build *build, struct pending_transition *pending, const struct edge *edge)
{
	uint32_t slot = slots_find(build, SLOT_BOUND, 0, NULL), node;
	uint32_t element = edge->target->element;
	uint64_t gone = 0, come = 0;

	if (slot == PROGRAM_NONE)
		return;
	for (const struct count_step *step = edge->path.steps; step; step = step->next)
		gone |= step->node->position ? 0 : flags_below(build, step->node);
	if (build->flags[element] != PROGRAM_NONE)
		come = UINT64_C(1) << build->flags[element];
	if (!(gone | come))
		return;
	node = node_slot(build, slot);
	if (gone)
		node = node_op(build, PROGRAM_OP_AND, PROGRAM_U64, node, node_const(build, PROGRAM_U64, ~gone));
	if (come)
		node = node_op(build, PROGRAM_OP_OR, PROGRAM_U64, node, node_const(build, PROGRAM_U64, come));
	add_action(build, pending, PROGRAM_SET, slot, node);
}

/* The first event of an array sets its functions, the later ones update them. */
static void keep_slot(struct rule_build *build, struct pending_transition *pending, uint32_t slot, bool first)
{
	const struct slot kept = build->slots[slot];
	uint32_t node = value(build, pending, slot, kept.what);

	switch (kept.purpose) {
	case SLOT_FIELD:
	case SLOT_LAST:
		add_action(build, pending, PROGRAM_SET, slot, node);
		break;
	case SLOT_FIRST:
		if (first)
			add_action(build, pending, PROGRAM_SET, slot, node);
		break;
	case SLOT_SUM:
		if (!first)
			node = node_op(build, PROGRAM_OP_ADD, kept.kind, node_slot(build, slot), node);
		add_action(build, pending, PROGRAM_SET, slot, node);
		break;
	case SLOT_MIN:
		add_action(build, pending, first ? PROGRAM_SET : PROGRAM_MIN, slot, node);
		break;
	case SLOT_MAX:
		add_action(build, pending, first ? PROGRAM_SET : PROGRAM_MAX, slot, node);
		break;
	default:
		break;
	}
}

static void add_context(struct rule_build *build, struct pending_transition *pending)
{
	for (uint32_t slot = 0; slot < build->slot_count; slot++) {
		if (build->slots[slot].purpose == SLOT_CONTEXT)
			add_action(build, pending, PROGRAM_SET, slot,
				   node_field(build, pending->type,
					      slots_context_field(pending->type, &build->slots[slot])));
	}
}

void actions_opener(struct rule_build *build, struct pending_transition *pending)
{
	uint32_t slot = slots_find(build, SLOT_OPENER, 0, NULL);

	if (slot != PROGRAM_NONE)
		add_action(build, pending, PROGRAM_SET, slot, value(build, pending, slot, &event_header_fields[2]));
}

static bool goes_round(const struct edge *edge)
{
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (step->node == edge->target->node)
			return !step->begins;
	}
	return false;
}

void actions_take(struct rule_build *build, struct pending_transition *pending, const struct edge *edge,
		  bool with_context)
{
	uint32_t element = edge->target->element;
	bool first = !goes_round(edge);
	size_t slots = build->slot_count;

	for (const struct count_step *step = edge->path.steps; step; step = step->next)
		count_in_slot(build, pending, step);
	add_presence(build, pending, edge);
	for (uint32_t i = 0; i < slots; i++) {
		if (build->slots[i].purpose <= SLOT_LAST && build->slots[i].what && build->slots[i].number == element)
			keep_slot(build, pending, i, first);
	}
	if (with_context)
		add_context(build, pending);
}
