// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what of a transition needs no code. The first thing that its fit asks becomes a range if it can be one; so
 * does its hold as a whole. The first actions become copies as long as each stores a number that does not depend on
 * slots, so their order does not matter.
 */

#include "engine/plan-priv.h"

#include <errno.h>

static const struct engine_range everything = { .span = UINT64_MAX };

struct engine_field engine_field_of(const struct program_field *field)
{
	uint32_t within = field->offset % sizeof(uint64_t);

	return (struct engine_field){
		.offset = field->offset - within,
		.shift = within * 8,
		.mask = field->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX,
	};
}

static const struct program_node *node_of(const struct engine_planner *planner, uint32_t node)
{
	return &planner->program->nodes[node];
}

static const struct program_slot *slot_of(const struct engine_planner *planner, uint32_t slot)
{
	return &planner->program->slots[planner->rule->first_slot + slot];
}

static bool is_integer(const struct program_node *node)
{
	return node->kind == PROGRAM_I64 || node->kind == PROGRAM_U64 || node->kind == PROGRAM_BOOL;
}

static void read_field(const struct engine_planner *planner, const struct program_node *node,
		       struct engine_range *range)
{
	range->field = engine_field_of(&planner->program->fields[node->a]);
}

static void read_slot(const struct engine_planner *planner, const struct program_node *node, struct engine_range *range)
{
	range->slot = slot_of(planner, node->a)->offset;
	range->slot_mask = UINT64_MAX;
}

/* Whether the range can look at a - b, both integers. */
static bool read_difference(const struct engine_planner *planner, uint32_t a, uint32_t b, struct engine_range *range)
{
	if (node_of(planner, a)->op != PROGRAM_OP_FIELD || node_of(planner, b)->op != PROGRAM_OP_SLOT)
		return false;
	read_field(planner, node_of(planner, a), range);
	read_slot(planner, node_of(planner, b), range);
	return true;
}

/* Whether the range can look at what node yields. Of a slot alone it sees the negative. */
static bool read_value(const struct engine_planner *planner, const struct program_node *node,
		       struct engine_range *range)
{
	switch (node->op) {
	case PROGRAM_OP_FIELD:
		read_field(planner, node, range);
		return true;
	case PROGRAM_OP_SLOT:
		read_slot(planner, node, range);
		return true;
	case PROGRAM_OP_SUB:
		return read_difference(planner, node->a, node->b, range);
	default:
		return false;
	}
}

static const uint8_t mirrored[PROGRAM_OP_COUNT] = {
	[PROGRAM_OP_EQ] = PROGRAM_OP_EQ, [PROGRAM_OP_NE] = PROGRAM_OP_NE, [PROGRAM_OP_LT] = PROGRAM_OP_GT,
	[PROGRAM_OP_GT] = PROGRAM_OP_LT, [PROGRAM_OP_LE] = PROGRAM_OP_GE, [PROGRAM_OP_GE] = PROGRAM_OP_LE,
};

/* Fills in the values v for which `v relation constant` holds. False: none, which is no range. */
static bool bound(struct engine_range *range, enum program_op relation, uint64_t constant, bool is_signed)
{
	uint64_t lowest = is_signed ? (uint64_t)INT64_MIN : 0, highest = is_signed ? INT64_MAX : UINT64_MAX;
	uint64_t from = lowest, to = highest;

	switch (relation) {
	case PROGRAM_OP_EQ:
		from = to = constant;
		break;
	case PROGRAM_OP_NE:
		from = constant + 1;
		to = constant - 1;
		break;
	case PROGRAM_OP_LT:
		to = constant - 1;
		break;
	case PROGRAM_OP_LE:
		to = constant;
		break;
	case PROGRAM_OP_GT:
		from = constant + 1;
		break;
	default:
		from = constant;
		break;
	}
	range->least = from;
	range->span = to - from;
	return !(relation == PROGRAM_OP_LT && constant == lowest) &&
	       !(relation == PROGRAM_OP_GT && constant == highest);
}

/* Numbers are compared, not bits: where one side only is signed, a constant has to be what it is on the other, too. */
static bool bound_as(struct engine_range *range, enum program_op relation, const struct program_node *value,
		     const struct program_node *constant)
{
	bool is_signed = value->kind == PROGRAM_I64;

	if (is_signed != (constant->kind == PROGRAM_I64) && constant->imm > INT64_MAX)
		return false;
	return bound(range, relation, constant->imm, is_signed);
}

static bool is_comparison(const struct program_node *node)
{
	return mirrored[node->op] != 0;
}

/* Fills range if node, of kind BOOL, is a comparison that one can be. */
static bool find_range(const struct engine_planner *planner, uint32_t index, struct engine_range *found)
{
	const struct program_node *node = node_of(planner, index), *a, *b;
	struct engine_range range = { 0 };
	enum program_op relation = node->op;

	if (!is_comparison(node))
		return false;
	a = node_of(planner, node->a);
	b = node_of(planner, node->b);
	if (!is_integer(a) || !is_integer(b))
		return false;
	if (a->op == PROGRAM_OP_CONST) {
		const struct program_node *first = a;

		a = b;
		b = first;
		relation = mirrored[relation];
	}
	if (b->op == PROGRAM_OP_CONST) {
		if (!read_value(planner, a, &range) || !bound_as(&range, relation, a, b))
			return false;
		if (!range.field.mask)
			range.least = 0 - (range.least + range.span);
	} else {
		bool equality = relation == PROGRAM_OP_EQ || relation == PROGRAM_OP_NE;

		if (!equality || a->kind != b->kind ||
		    !(read_difference(planner, node->a, node->b, &range) ||
		      read_difference(planner, node->b, node->a, &range)))
			return false;
		bound(&range, relation, 0, false);
	}
	*found = range;
	return true;
}

/* Code is known by its index until it is linked, so the indices (plus one) stand in for the pointers. */
static const struct engine_op *as_pointer(uint32_t index)
{
	return (const struct engine_op *)((uintptr_t)index + 1);
}

static const struct engine_op *link(const struct engine_code *code, const struct engine_op *rest)
{
	return rest ? &code->ops[(uintptr_t)rest - 1] : NULL;
}

void engine_condition_plan(const struct engine_planner *planner, uint32_t node, struct engine_condition *planned)
{
	uint32_t first = node;

	*planned = (struct engine_condition){ .range = everything };
	if (node == PROGRAM_NONE)
		return;
	while (node_of(planner, first)->op == PROGRAM_OP_LAND)
		first = node_of(planner, first)->a;
	if (!find_range(planner, first, &planned->range))
		first = PROGRAM_NONE;
	if (first != node)
		planned->rest = as_pointer(
			engine_compile_condition(planner->code, planner->program, planner->rule, node, first));
}

/* Whether the action can be a copy. */
static bool find_copy(const struct engine_planner *planner, const struct program_action *action,
		      struct engine_copy *copy)
{
	const struct program_slot *slot = slot_of(planner, action->slot);
	const struct program_node *node = node_of(planner, action->node);

	if (action->op != PROGRAM_SET || slot->kind == PROGRAM_STRING)
		return false;
	*copy = (struct engine_copy){ .slot = slot->offset };
	if (node->op == PROGRAM_OP_CONVERT && is_integer(node) && is_integer(node_of(planner, node->a)))
		node = node_of(planner, node->a); /* integers share their bits */
	if (node->op == PROGRAM_OP_CONST) {
		copy->number = node->imm;
	} else if (node->op == PROGRAM_OP_FIELD) {
		copy->field = engine_field_of(&planner->program->fields[node->a]);
	} else {
		return false;
	}
	return true;
}

/* Whether every slot of the rule is the destination of a copy. */
static bool fills(const struct engine_planner *planner, const struct engine_effect *effect)
{
	for (uint32_t i = 0; i < planner->rule->slot_count; i++) {
		bool is_filled = false;

		for (uint32_t j = 0; j < effect->copy_count; j++)
			is_filled |= effect->copies[j].slot == slot_of(planner, i)->offset;
		if (!is_filled || slot_of(planner, i)->bytes != sizeof(uint64_t))
			return false;
	}
	return planner->rule->slot_bytes == planner->rule->slot_count * sizeof(uint64_t);
}

void engine_effect_plan(const struct engine_planner *planner, const struct program_transition *transition,
			struct engine_effect *planned)
{
	const struct program_action *actions = planner->program->actions + transition->first_action;
	struct program_transition rest = *transition;
	struct engine_copy *copies = arena_zero(planner->arena, transition->action_count, sizeof *copies);

	*planned = (struct engine_effect){ .copies = copies, .hold = everything };
	if (!copies) {
		planner->code->failed = planner->code->failed ? planner->code->failed : -ENOMEM;
		return;
	}
	while (planned->copy_count < transition->action_count &&
	       find_copy(planner, &actions[planned->copy_count], &copies[planned->copy_count]))
		planned->copy_count++;
	planned->fills = fills(planner, planned);
	rest.first_action += planned->copy_count;
	rest.action_count -= planned->copy_count;
	if (rest.hold != PROGRAM_NONE && find_range(planner, rest.hold, &planned->hold))
		rest.hold = PROGRAM_NONE;
	if (rest.action_count || rest.hold != PROGRAM_NONE)
		planned->rest =
			as_pointer(engine_compile_effect(planner->code, planner->program, planner->rule, &rest));
}

void engine_condition_link(const struct engine_code *code, struct engine_condition *planned)
{
	planned->rest = link(code, planned->rest);
}

void engine_effect_link(const struct engine_code *code, struct engine_effect *planned)
{
	planned->rest = link(code, planned->rest);
}
