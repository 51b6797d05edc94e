// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns the first thing that a condition asks into a range check where that is possible, which needs no code.
 * plan-effect.c does the same for actions.
 */

#include "engine/plan-priv.h"
#include "program/query.h"

const struct engine_range engine_everything = { .span = UINT64_MAX };

struct engine_field engine_field_of(const struct program_field *field)
{
	uint32_t within = field->offset % sizeof(uint64_t);

	return (struct engine_field){
		.offset = field->offset - within,
		.turn = within * 8,
		.mask = field->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX,
	};
}

static const struct program_node *planned_node(const struct engine_planner *planner, uint32_t node)
{
	return &planner->program->nodes[node];
}

static const struct program_slot *planned_slot(const struct engine_planner *planner, uint32_t slot)
{
	return &program_slots(planner->program, planner->rule)[slot];
}

static bool is_planned_integer(const struct program_node *node)
{
	return node->kind == PROGRAM_I64 || node->kind == PROGRAM_U64 || node->kind == PROGRAM_BOOL;
}

static void plan_field_range(const struct engine_planner *planner, const struct program_node *node,
			     struct engine_range *range)
{
	range->field = engine_field_of(&planner->program->fields[node->a]);
}

static void read_slot(const struct engine_planner *planner, const struct program_node *node, struct engine_range *range)
{
	range->slot = planned_slot(planner, node->a)->offset;
	range->slot_mask = UINT64_MAX;
}

/* Whether the range can look at a - b, both integers. */
static bool read_difference(const struct engine_planner *planner, uint32_t a, uint32_t b, struct engine_range *range)
{
	if (planned_node(planner, a)->op != PROGRAM_OP_FIELD || planned_node(planner, b)->op != PROGRAM_OP_SLOT)
		return false;
	plan_field_range(planner, planned_node(planner, a), range);
	read_slot(planner, planned_node(planner, b), range);
	return true;
}

/* Whether the range can look at what node yields. Of a slot alone it sees the negative. */
static bool is_range_readable(const struct engine_planner *planner, const struct program_node *node,
			      struct engine_range *range)
{
	switch (node->op) {
	case PROGRAM_OP_FIELD:
		plan_field_range(planner, node, range);
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

bool engine_range_find(const struct engine_planner *planner, uint32_t index, struct engine_range *found)
{
	const struct program_node *node = planned_node(planner, index), *a, *b;
	struct engine_range range = { 0 };
	enum program_op relation = node->op;

	if (!is_comparison(node))
		return false;
	a = planned_node(planner, node->a);
	b = planned_node(planner, node->b);
	if (!is_planned_integer(a) || !is_planned_integer(b))
		return false;
	if (a->op == PROGRAM_OP_CONST) {
		const struct program_node *first = a;

		a = b;
		b = first;
		relation = mirrored[relation];
	}
	if (b->op == PROGRAM_OP_CONST) {
		if (!is_range_readable(planner, a, &range) || !bound_as(&range, relation, a, b))
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

void engine_condition_plan(const struct engine_planner *planner, uint32_t node, struct engine_condition *planned)
{
	uint32_t first = node;

	*planned = (struct engine_condition){ .range = engine_everything };
	if (node == PROGRAM_NONE)
		return;
	while (planned_node(planner, first)->op == PROGRAM_OP_LAND)
		first = planned_node(planner, first)->a;
	if (!engine_range_find(planner, first, &planned->range))
		first = PROGRAM_NONE;
	if (first != node)
		planned->rest =
			1 + engine_compile_condition(planner->code, planner->program, planner->rule, node, first);
}
