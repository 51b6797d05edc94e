// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiles expressions to the engine's operations. Conditions are compiled for control flow: "jump to this label if the
 * node yields this", else fall through, so AND, OR and NOT cost nothing themselves. Recursion is as deep as the
 * expression, which the loader bounds, as it bounds the number of nodes visited.
 */

#include "engine/code-priv.h"

#include "event/type.h"
#include "program/query.h"

#include <errno.h>
#include <string.h>

struct operand {
	enum engine_base base;
	uint32_t offset;
};

struct compiler {
	struct engine_code *code;
	const struct program *program;
	const struct program_rule *rule;
	uint32_t division;  /* label to go to when an integer is divided by zero */
	bool divides;       /* whether something may go there */
	uint32_t registers; /* in use */
	uint32_t known;     /* node that holds for certain, the first to be visited; PROGRAM_NONE: there is none */
};

/* The labels that every engine's code has. */
enum { LABEL_TRUE, LABEL_FALSE, LABEL_DIVIDED, LABEL_FIRST_FREE };

/* Actions may be shared, so a small image could unfold to any length: 128 MiB of code are more than any rules need. */
enum { OPS_MAX = 1 << 22 };

static const struct operand nothing = { 0 };

static void fail_compiling(struct compiler *compiler, int result)
{
	if (result && !compiler->code->failed)
		compiler->code->failed = result;
}

static uint32_t new_label(struct compiler *compiler)
{
	struct engine_code *code = compiler->code;

	if (alloc_grow(&code->labels, &code->label_room, code->label_count, sizeof *code->labels)) {
		fail_compiling(compiler, -ENOMEM);
		return LABEL_FALSE;
	}
	return (uint32_t)code->label_count++;
}

/* Lets label stand at the next operation. */
static void place_label(struct compiler *compiler, uint32_t label)
{
	if (!compiler->code->failed)
		compiler->code->labels[label] = (uint32_t)compiler->code->op_count;
}

/* Appends an operation and returns it, or NULL after a failure. */
static struct engine_op *append_op(struct compiler *compiler, enum engine_op_id id, uint32_t label)
{
	struct engine_code *code = compiler->code;
	struct engine_op *op;

	fail_compiling(compiler, code->op_count < OPS_MAX ? 0 : -E2BIG);
	fail_compiling(compiler, alloc_grow(&code->ops, &code->op_room, code->op_count, sizeof *code->ops));
	fail_compiling(compiler, alloc_grow(&code->targets, &code->target_room, code->op_count, sizeof *code->targets));
	if (code->failed)
		return NULL;
	code->targets[code->op_count] = label;
	op = &code->ops[code->op_count++];
	*op = (struct engine_op){ .run = engine_op_functions[id] };
	return op;
}

static void emit_jump(struct compiler *compiler, enum engine_op_id id, struct operand a, struct operand b,
		      uint32_t label)
{
	struct engine_op *op = append_op(compiler, id, label);

	if (!op)
		return;
	op->a_base = (uint8_t)a.base;
	op->a = a.offset;
	op->b_base = (uint8_t)b.base;
	op->b = b.offset;
}

/* A jump that is taken when its comparison yields sense. */
static void emit_sensed(struct compiler *compiler, enum engine_op_id id, const struct operand operands[2],
			uint32_t label, bool sense)
{
	emit_jump(compiler, id, operands[0], operands[1], label);
	if (!compiler->code->failed)
		compiler->code->ops[compiler->code->op_count - 1].sense = sense;
}

static void emit_value(struct compiler *compiler, enum engine_op_id id, struct operand a, struct operand b,
		       struct operand d)
{
	compiler->divides |= id >= ENGINE_OP_DIV_I && id <= ENGINE_OP_MOD_U;
	emit_jump(compiler, id, a, b, compiler->division);
	if (compiler->code->failed)
		return;
	struct engine_op *op = &compiler->code->ops[compiler->code->op_count - 1];
	op->d_base = (uint8_t)d.base;
	op->d = d.offset;
}

static struct operand constant(struct compiler *compiler, uint64_t value)
{
	struct engine_code *code = compiler->code;

	fail_compiling(compiler, alloc_grow(&code->consts, &code->const_room, code->const_count, sizeof *code->consts));
	if (code->failed)
		return nothing;
	code->consts[code->const_count] = value;
	return (struct operand){ ENGINE_BASE_CONSTS, (uint32_t)(code->const_count++ * sizeof value) };
}

static struct operand new_register(struct compiler *compiler)
{
	return (struct operand){ ENGINE_BASE_REGISTERS, (uint32_t)(compiler->registers++ * sizeof(uint64_t)) };
}

static const struct program_slot *compiled_slot(const struct compiler *compiler, uint32_t slot)
{
	return &program_slots(compiler->program, compiler->rule)[slot];
}

static struct operand node_operand(struct compiler *compiler, uint32_t index);
static void value_into(struct compiler *compiler, uint32_t index, struct operand d);
static void branch(struct compiler *compiler, uint32_t index, bool sense, uint32_t label);

static struct operand field_operand(struct compiler *compiler, const struct program_node *node)
{
	const struct program_field *field = &compiler->program->fields[node->a];
	struct operand from = { ENGINE_BASE_RECORD, field->offset };

	if (field->bytes != sizeof(uint32_t) || node->kind == PROGRAM_STRING)
		return from;
	struct operand wide = new_register(compiler);
	emit_value(compiler, ENGINE_OP_MOVE_32, from, nothing, wide);
	return wide;
}

/* Where the value of the node can be read: a leaf where it lies, anything else in a register. */
static struct operand node_operand(struct compiler *compiler, uint32_t index)
{
	const struct program_node *node = &compiler->program->nodes[index];

	switch (node->op) {
	case PROGRAM_OP_CONST:
		return constant(compiler, node->imm);
	case PROGRAM_OP_TEXT:
		return (struct operand){ ENGINE_BASE_TEXTS, node->a };
	case PROGRAM_OP_FIELD:
		return field_operand(compiler, node);
	case PROGRAM_OP_SLOT:
		return (struct operand){ ENGINE_BASE_SLOTS, compiled_slot(compiler, node->a)->offset };
	default:
		break;
	}
	/* The result takes the lowest register free now; the operands above it are read before it is written. */
	struct operand d = new_register(compiler);
	compiler->registers--;
	value_into(compiler, index, d);
	compiler->registers++;
	return d;
}

struct row {
	uint8_t i, u, f; /* operation by kind of the result */
};

static const struct row arithmetic[PROGRAM_OP_COUNT] = {
	[PROGRAM_OP_ADD] = { ENGINE_OP_ADD, ENGINE_OP_ADD, ENGINE_OP_ADD_F },
	[PROGRAM_OP_SUB] = { ENGINE_OP_SUB, ENGINE_OP_SUB, ENGINE_OP_SUB_F },
	[PROGRAM_OP_MUL] = { ENGINE_OP_MUL, ENGINE_OP_MUL, ENGINE_OP_MUL_F },
	[PROGRAM_OP_DIV] = { ENGINE_OP_DIV_I, ENGINE_OP_DIV_U, ENGINE_OP_DIV_F },
	[PROGRAM_OP_MOD] = { ENGINE_OP_MOD_I, ENGINE_OP_MOD_U, 0 },
	[PROGRAM_OP_AND] = { ENGINE_OP_AND, ENGINE_OP_AND, 0 },
	[PROGRAM_OP_OR] = { ENGINE_OP_OR, ENGINE_OP_OR, 0 },
	[PROGRAM_OP_XOR] = { ENGINE_OP_XOR, ENGINE_OP_XOR, 0 },
	[PROGRAM_OP_SHL] = { ENGINE_OP_SHL, ENGINE_OP_SHL, 0 },
	[PROGRAM_OP_SHR] = { ENGINE_OP_SHR_I, ENGINE_OP_SHR_U, 0 },
};

static enum engine_op_id by_kind(struct row row, enum program_kind kind)
{
	return kind == PROGRAM_F64 ? row.f : kind == PROGRAM_I64 ? row.i : row.u;
}

static enum engine_op_id conversion(enum program_kind from, enum program_kind to)
{
	if (from == to || (from != PROGRAM_F64 && to != PROGRAM_F64))
		return ENGINE_OP_MOVE; /* I64 and U64 share their bits; BOOL is 0 or 1 */
	if (from == PROGRAM_F64)
		return to == PROGRAM_I64 ? ENGINE_OP_F_TO_I : ENGINE_OP_F_TO_U;
	return from == PROGRAM_I64 ? ENGINE_OP_I_TO_F : ENGINE_OP_U_TO_F;
}

/* A condition as a value: d becomes 1 or 0. Both writes come after everything that the condition reads. */
static void condition_into(struct compiler *compiler, uint32_t index, struct operand d)
{
	uint32_t otherwise = new_label(compiler), end = new_label(compiler);

	branch(compiler, index, false, otherwise);
	emit_value(compiler, ENGINE_OP_MOVE, constant(compiler, 1), nothing, d);
	append_op(compiler, ENGINE_OP_JUMP, end);
	place_label(compiler, otherwise);
	emit_value(compiler, ENGINE_OP_MOVE, constant(compiler, 0), nothing, d);
	place_label(compiler, end);
}

/* Computes a number or a truth value into d, writing it last. */
static void value_into(struct compiler *compiler, uint32_t index, struct operand d)
{
	const struct program_node *nodes = compiler->program->nodes, *node = &nodes[index];
	uint32_t registers = compiler->registers;

	if (node->op >= PROGRAM_OP_EQ) {
		condition_into(compiler, index, d);
	} else if (node->op == PROGRAM_OP_CONVERT) {
		struct operand a = node_operand(compiler, node->a);

		emit_value(compiler, conversion(nodes[node->a].kind, node->kind), a, nothing, d);
	} else if (node->op >= PROGRAM_OP_ADD) {
		struct operand a = node_operand(compiler, node->a), b = node_operand(compiler, node->b);

		emit_value(compiler, by_kind(arithmetic[node->op], node->kind), a, b, d);
	} else {
		emit_value(compiler, ENGINE_OP_MOVE, node_operand(compiler, index), nothing, d);
	}
	compiler->registers = registers;
}

static const uint8_t inverse[PROGRAM_OP_COUNT] = {
	[PROGRAM_OP_EQ] = PROGRAM_OP_NE, [PROGRAM_OP_NE] = PROGRAM_OP_EQ, [PROGRAM_OP_LT] = PROGRAM_OP_GE,
	[PROGRAM_OP_GE] = PROGRAM_OP_LT, [PROGRAM_OP_LE] = PROGRAM_OP_GT, [PROGRAM_OP_GT] = PROGRAM_OP_LE,
};

static void swap(struct operand operands[2])
{
	struct operand first = operands[0];

	operands[0] = operands[1];
	operands[1] = first;
}

/* Jumps if a relation b holds; relation is EQ, NE, LT or LE and the kinds are I64, U64 or both BOOL. */
static void branch_integers(struct compiler *compiler, enum program_op relation, const struct operand operands[2],
			    const enum program_kind kinds[2], uint32_t label)
{
	enum engine_op_id id;
	bool signed_a = kinds[0] == PROGRAM_I64, signed_b = kinds[1] == PROGRAM_I64;

	if (relation == PROGRAM_OP_EQ || relation == PROGRAM_OP_NE) {
		bool equal = relation == PROGRAM_OP_EQ;

		id = equal ? ENGINE_OP_JUMP_EQ : ENGINE_OP_JUMP_NE;
		if (signed_a != signed_b)
			id = equal ? ENGINE_OP_JUMP_EQ_IU : ENGINE_OP_JUMP_NE_IU;
		emit_jump(compiler, id, operands[signed_b && !signed_a], operands[!(signed_b && !signed_a)], label);
		return;
	}
	if (signed_a && signed_b)
		id = ENGINE_OP_JUMP_LT_I;
	else if (!signed_a && !signed_b)
		id = ENGINE_OP_JUMP_LT_U;
	else
		id = signed_a ? ENGINE_OP_JUMP_LT_IU : ENGINE_OP_JUMP_LT_UI;
	if (relation == PROGRAM_OP_LE)
		id++; /* the LE of each pair stands behind its LT */
	emit_jump(compiler, id, operands[0], operands[1], label);
}

/* NaN makes every comparison of reals but NE false, so these are not inverted but told which result to jump at. */
static void branch_reals(struct compiler *compiler, enum program_op relation, struct operand operands[2], bool sense,
			 uint32_t label)
{
	enum engine_op_id id = ENGINE_OP_JUMP_EQ_F;

	if (relation == PROGRAM_OP_NE)
		sense = !sense;
	else if (relation == PROGRAM_OP_LT || relation == PROGRAM_OP_GT)
		id = ENGINE_OP_JUMP_LT_F;
	else if (relation == PROGRAM_OP_LE || relation == PROGRAM_OP_GE)
		id = ENGINE_OP_JUMP_LE_F;
	if (relation == PROGRAM_OP_GT || relation == PROGRAM_OP_GE)
		swap(operands);
	emit_sensed(compiler, id, operands, label, sense);
}

static void branch_comparison(struct compiler *compiler, const struct program_node *node, bool sense, uint32_t label)
{
	const struct program_node *nodes = compiler->program->nodes;
	enum program_kind kinds[2] = { nodes[node->a].kind, nodes[node->b].kind };
	struct operand operands[2];
	enum program_op relation = node->op;

	operands[0] = node_operand(compiler, node->a);
	operands[1] = node_operand(compiler, node->b);
	if (kinds[0] == PROGRAM_STRING) {
		enum engine_op_id id = relation == PROGRAM_OP_LIKE ? ENGINE_OP_JUMP_LIKE_T : ENGINE_OP_JUMP_EQ_T;

		emit_sensed(compiler, id, operands, label, (relation == PROGRAM_OP_NE) != sense);
	} else if (kinds[0] == PROGRAM_F64) {
		branch_reals(compiler, relation, operands, sense, label);
	} else {
		if (!sense)
			relation = inverse[relation];
		if (relation == PROGRAM_OP_GT || relation == PROGRAM_OP_GE) {
			enum program_kind first = kinds[0];

			kinds[0] = kinds[1];
			kinds[1] = first;
			swap(operands);
			relation = relation == PROGRAM_OP_GT ? PROGRAM_OP_LT : PROGRAM_OP_LE;
		}
		branch_integers(compiler, relation, operands, kinds, label);
	}
}

/* LAND and LOR: one operand's value decides early, false for LAND, true for LOR. */
static void branch_logic(struct compiler *compiler, const struct program_node *node, bool sense, uint32_t label)
{
	bool deciding = node->op == PROGRAM_OP_LOR;

	if (sense == deciding) {
		branch(compiler, node->a, sense, label);
		branch(compiler, node->b, sense, label);
		return;
	}
	uint32_t skip = new_label(compiler);
	branch(compiler, node->a, deciding, skip);
	branch(compiler, node->b, sense, label);
	place_label(compiler, skip);
}

/* Jumps to label if the node yields sense, else falls through. */
static void branch(struct compiler *compiler, uint32_t index, bool sense, uint32_t label)
{
	const struct program_node *node = &compiler->program->nodes[index];
	uint32_t registers = compiler->registers;

	if (index == compiler->known) {
		compiler->known = PROGRAM_NONE; /* it may be met again under what asks for its opposite */
		return;
	}
	switch (node->op) {
	case PROGRAM_OP_LNOT:
		branch(compiler, node->a, !sense, label);
		break;
	case PROGRAM_OP_LAND:
	case PROGRAM_OP_LOR:
		branch_logic(compiler, node, sense, label);
		break;
	case PROGRAM_OP_EQ:
	case PROGRAM_OP_NE:
	case PROGRAM_OP_LT:
	case PROGRAM_OP_LE:
	case PROGRAM_OP_GT:
	case PROGRAM_OP_GE:
	case PROGRAM_OP_LIKE:
		branch_comparison(compiler, node, sense, label);
		break;
	default:
		emit_jump(compiler, sense ? ENGINE_OP_JUMP_NE : ENGINE_OP_JUMP_EQ, node_operand(compiler, index),
			  constant(compiler, 0), label);
		break;
	}
	compiler->registers = registers;
}

/* The blocks that all others share, at the start of the code. */
static void compile_shared(struct compiler *compiler)
{
	struct engine_op *op;

	if (compiler->code->op_count)
		return;
	for (int i = 0; i < LABEL_FIRST_FREE; i++)
		new_label(compiler);
	place_label(compiler, LABEL_TRUE);
	op = append_op(compiler, ENGINE_OP_END, LABEL_TRUE);
	if (op)
		op->sense = true;
	place_label(compiler, LABEL_FALSE);
	append_op(compiler, ENGINE_OP_END, LABEL_FALSE);
	place_label(compiler, LABEL_DIVIDED);
	append_op(compiler, ENGINE_OP_DIVIDED, LABEL_FALSE);
}

static void compile_condition(struct compiler *compiler, uint32_t node)
{
	compiler->division = LABEL_DIVIDED;
	if (node != PROGRAM_NONE)
		branch(compiler, node, false, LABEL_FALSE);
	struct engine_op *op = append_op(compiler, ENGINE_OP_END, LABEL_TRUE);
	if (op)
		op->sense = true;
}

static const struct row least = { ENGINE_OP_MIN_I, ENGINE_OP_MIN_U, ENGINE_OP_MIN_F };
static const struct row greatest = { ENGINE_OP_MAX_I, ENGINE_OP_MAX_U, ENGINE_OP_MAX_F };

/* A division by zero leaves the slot as it is, and is counted: it goes on behind the action. */
static void compile_action(struct compiler *compiler, const struct program_action *action)
{
	const struct program_slot *slot = compiled_slot(compiler, action->slot);
	struct operand to = { ENGINE_BASE_SLOTS, slot->offset };
	uint32_t next = new_label(compiler), divided = new_label(compiler);

	compiler->division = divided;
	compiler->divides = false;
	compiler->registers = 0;
	if (slot->kind == PROGRAM_STRING) {
		struct operand capacity = { 0, slot->bytes };

		emit_value(compiler, ENGINE_OP_MOVE_T, node_operand(compiler, action->node), capacity, to);
	} else if (action->op == PROGRAM_SET) {
		value_into(compiler, action->node, to);
	} else {
		struct operand value = node_operand(compiler, action->node);

		emit_value(compiler, by_kind(action->op == PROGRAM_MIN ? least : greatest, slot->kind), value, to, to);
	}
	if (compiler->divides)
		append_op(compiler, ENGINE_OP_JUMP, next);
	place_label(compiler, divided);
	if (compiler->divides)
		append_op(compiler, ENGINE_OP_DIVIDED, next);
	place_label(compiler, next);
}

uint32_t engine_compile_condition(struct engine_code *code, const struct program *program,
				  const struct program_rule *rule, uint32_t node, uint32_t known)
{
	struct compiler compiler = { .code = code, .program = program, .rule = rule, .known = known };

	compile_shared(&compiler);
	uint32_t first = (uint32_t)code->op_count;
	compile_condition(&compiler, node);
	return first;
}

uint32_t engine_compile_effect(struct engine_code *code, const struct program *program, const struct program_rule *rule,
			       const struct engine_work *work)
{
	struct compiler compiler = { .code = code, .program = program, .rule = rule, .known = PROGRAM_NONE };

	compile_shared(&compiler);
	uint32_t first = (uint32_t)code->op_count;
	for (uint32_t i = 0; i < work->count; i++)
		compile_action(&compiler, &work->actions[i]);
	compiler.registers = 0;
	compile_condition(&compiler, work->hold);
	return first;
}

int engine_code_link(struct engine_code *code)
{
	if (code->failed)
		return code->failed;
	for (size_t i = 0; i < code->op_count; i++)
		code->ops[i].target = &code->ops[code->labels[code->targets[i]]];
	alloc_free(code->targets);
	alloc_free(code->labels);
	code->targets = NULL;
	code->labels = NULL;
	return 0;
}

void engine_code_fini(struct engine_code *code)
{
	alloc_free(code->ops);
	alloc_free(code->targets);
	alloc_free(code->consts);
	alloc_free(code->labels);
	*code = (struct engine_code){ 0 };
}

void engine_frame_init(struct engine_frame *frame, const struct program *program, const struct engine_code *code)
{
	frame->base[ENGINE_BASE_CONSTS] = (char *)code->consts;
	frame->base[ENGINE_BASE_REGISTERS] = (char *)frame->registers;
	frame->base[ENGINE_BASE_TEXTS] = (char *)program->strings; /* read only */
}
