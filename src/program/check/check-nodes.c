// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that expressions are well typed and cheap. What a node says of itself is judged once, for the table; what
 * depends on who uses it - the slots of the rule, the fields of the event - where it is used.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

static struct check_item node_item(uint32_t index)
{
	return (struct check_item){ PROGRAM_NODES, index };
}

static bool is_integer_kind(uint8_t kind)
{
	return kind == PROGRAM_I64 || kind == PROGRAM_U64;
}

static bool is_number_kind(uint8_t kind)
{
	return is_integer_kind(kind) || kind == PROGRAM_F64;
}

static bool is_leaf(uint8_t op)
{
	return op <= PROGRAM_OP_SLOT;
}

static bool has_one_operand(uint8_t op)
{
	return op == PROGRAM_OP_CONVERT || op == PROGRAM_OP_LNOT;
}

/* Whether an operation of kind takes operands of kinds a and b (0 where there is none). */
static bool kinds_fit(enum program_op op, uint8_t kind, uint8_t a, uint8_t b)
{
	bool integers = is_integer_kind(a) && is_integer_kind(b);

	switch (op) {
	case PROGRAM_OP_ADD:
	case PROGRAM_OP_SUB:
	case PROGRAM_OP_MUL:
	case PROGRAM_OP_DIV:
		return is_number_kind(kind) && a == kind && b == kind;
	case PROGRAM_OP_MOD:
		return is_integer_kind(kind) && a == kind && b == kind;
	case PROGRAM_OP_AND:
	case PROGRAM_OP_OR:
	case PROGRAM_OP_XOR:
		return (is_integer_kind(kind) || kind == PROGRAM_BOOL) && a == kind && b == kind;
	case PROGRAM_OP_SHL:
	case PROGRAM_OP_SHR:
		return integers && a == kind;
	case PROGRAM_OP_CONVERT:
		return is_number_kind(kind) && (is_number_kind(a) || a == PROGRAM_BOOL);
	case PROGRAM_OP_EQ:
	case PROGRAM_OP_NE:
		return kind == PROGRAM_BOOL && (integers || a == b);
	case PROGRAM_OP_LT:
	case PROGRAM_OP_LE:
	case PROGRAM_OP_GT:
	case PROGRAM_OP_GE:
		return kind == PROGRAM_BOOL && (integers || (a == PROGRAM_F64 && b == PROGRAM_F64));
	case PROGRAM_OP_LIKE:
		return kind == PROGRAM_BOOL && a == PROGRAM_STRING && b == PROGRAM_STRING;
	case PROGRAM_OP_LAND:
	case PROGRAM_OP_LOR:
		return kind == PROGRAM_BOOL && a == PROGRAM_BOOL && b == PROGRAM_BOOL;
	case PROGRAM_OP_LNOT:
		return kind == PROGRAM_BOOL && a == PROGRAM_BOOL;
	default:
		return false;
	}
}

static int check_leaf(struct check *check, uint32_t index)
{
	const struct program_node *node = &check->program->nodes[index];
	const struct program *program = check->program;

	check->node_size[index] = 1;
	check->node_reads[index] = READS_NOTHING;
	if (node->depth != 1)
		return check_fail(check, node_item(index), "the depth of a leaf is 1, not %u", node->depth);
	switch ((enum program_op)node->op) {
	case PROGRAM_OP_CONST:
		if (node->kind == PROGRAM_STRING || (node->kind == PROGRAM_BOOL && node->imm > 1))
			return check_fail(check, node_item(index), "its value is not of its kind");
		return 0;
	case PROGRAM_OP_TEXT:
		if (node->kind != PROGRAM_STRING)
			return check_fail(check, node_item(index), "a text constant is not of kind %u", node->kind);
		return check_constant(check, node_item(index), node->a, node->b);
	case PROGRAM_OP_FIELD:
		if (node->a >= program->field_count)
			return check_fail(check, node_item(index), "field %u does not exist", node->a);
		if (node->kind != check_kind_of(program->fields[node->a].value))
			return check_fail(check, node_item(index), "field %u is not of kind %u", node->a, node->kind);
		check->node_reads[index] = check->claims[PROGRAM_FIELDS][node->a];
		return 0;
	default: /* PROGRAM_OP_SLOT: judged where it is used */
		return 0;
	}
}

static uint32_t join_reads(uint32_t a, uint32_t b)
{
	if (a == b || b == READS_NOTHING)
		return a;
	if (a == READS_NOTHING || a == READS_HEADER)
		return b;
	return b == READS_HEADER ? a : READS_MIXED;
}

static int check_operation(struct check *check, uint32_t index)
{
	const struct program_node *nodes = check->program->nodes, *node = &nodes[index];
	bool single = has_one_operand(node->op);

	if (node->a >= index || (!single && node->b >= index))
		return check_fail(check, node_item(index), "its operand does not precede it");
	const struct program_node *a = &nodes[node->a], *b = single ? a : &nodes[node->b];
	if (!kinds_fit(node->op, node->kind, a->kind, single ? 0 : b->kind))
		return check_fail(check, node_item(index), "operation %u of kind %u does not take kinds %u and %u",
				  node->op, node->kind, a->kind, single ? 0 : b->kind);
	if (node->op == PROGRAM_OP_LIKE && b->op != PROGRAM_OP_TEXT)
		return check_fail(check, node_item(index), "the pattern of LIKE is not a constant");
	uint32_t depth = 1u + (a->depth > b->depth ? a->depth : b->depth);
	if (node->depth != depth || depth > PROGRAM_DEPTH_MAX)
		return check_fail(check, node_item(index), "declared depth %u, actual depth %u, at most %u allowed",
				  node->depth, depth, PROGRAM_DEPTH_MAX);
	uint32_t size = 1 + check->node_size[node->a] + (single ? 0 : check->node_size[node->b]);
	if (size > PROGRAM_EXPANSION_MAX)
		return check_fail(check, node_item(index), "evaluating it takes more than %u steps",
				  PROGRAM_EXPANSION_MAX);
	check->node_size[index] = size;
	check->node_reads[index] =
		join_reads(check->node_reads[node->a], check->node_reads[single ? node->a : node->b]);
	return 0;
}

int check_nodes(struct check *check)
{
	uint32_t count = check->program->header->sections[PROGRAM_NODES].count;
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		const struct program_node *node = &check->program->nodes[i];

		if (node->op < PROGRAM_OP_CONST || node->op >= PROGRAM_OP_COUNT)
			result = check_fail(check, node_item(i), "unknown operation %u", node->op);
		else if (node->kind < PROGRAM_I64 || node->kind > PROGRAM_STRING)
			result = check_fail(check, node_item(i), "unknown kind %u", node->kind);
		else if (node->reserved)
			result = check_fail(check, node_item(i), "reserved bytes are not 0");
		else
			result = is_leaf(node->op) ? check_leaf(check, i) : check_operation(check, i);
	}
	return result;
}

/* Whether the slots that a node uses are rule's. The recursion is as deep as the node. */
static int check_slots_used(struct check *check, struct check_item item, uint32_t rule, uint32_t index)
{
	const struct program_node *node = &check->program->nodes[index];
	const struct program_rule *owner = &check->program->rules[rule];
	int result = 0;

	if (check->node_rule[index] == rule)
		return 0;
	result = check_work(check, item, 1);
	if (result)
		return result;
	if (node->op == PROGRAM_OP_SLOT) {
		if (node->a >= owner->slot_count)
			return check_fail(check, item, "node %u uses slot %u of %u", index, node->a, owner->slot_count);
		if (program_slots(check->program, owner)[node->a].kind != node->kind)
			return check_fail(check, item, "node %u reads slot %u as kind %u, which it is not", index,
					  node->a, node->kind);
	} else if (!is_leaf(node->op)) {
		result = check_slots_used(check, item, rule, node->a);
		if (!result && !has_one_operand(node->op))
			result = check_slots_used(check, item, rule, node->b);
	}
	if (!result)
		check->node_rule[index] = rule;
	return result;
}

int check_expression(struct check *check, struct check_item item, uint32_t rule, uint32_t node, uint32_t type)
{
	if (node >= check->program->header->sections[PROGRAM_NODES].count)
		return check_fail(check, item, "node %u does not exist", node);
	uint32_t reads = check->node_reads[node];
	if (reads != READS_NOTHING && type == READS_NOTHING)
		return check_fail(check, item, "node %u reads an event, but no event is available here", node);
	if (reads != READS_NOTHING && reads != READS_HEADER && reads != type)
		return check_fail(check, item, "node %u reads fields that the event does not have", node);
	return check_slots_used(check, item, rule, node);
}
