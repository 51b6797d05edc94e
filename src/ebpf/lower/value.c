// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that computes numbers. Registers are given out in the manner of Sethi and Ullman: the operand that
 * needs more goes first, a leaf is loaded into r0 when its turn comes, and what still does not fit waits on the stack.
 * Recursion is bounded by PROGRAM_DEPTH_MAX, the code by PROGRAM_EXPANSION_MAX; the loader has seen to both.
 */

#include "ebpf/lower/lower-priv.h"

#include "program/query.h"

#include <errno.h>

bool lower_immediate(const struct ebpf_lower *lower, uint32_t node, int32_t *imm)
{
	const struct program_node *constant = lower_node(lower, node);

	if (constant->op != PROGRAM_OP_CONST || (uint64_t)(int64_t)(int32_t)constant->imm != constant->imm)
		return false;
	*imm = (int32_t)constant->imm;
	return true;
}

static void load_leaf(struct ebpf_lower *lower, const struct program_node *node, uint8_t into)
{
	if (node->op == PROGRAM_OP_CONST) {
		ebpf_mov_imm(lower->as, into, node->imm);
	} else if (node->op == PROGRAM_OP_FIELD) {
		const struct program_field *field = &lower->program->fields[node->a];

		ebpf_load(lower->as, ebpf_width(field->bytes), into, R6, (int32_t)field->offset);
	} else if (lower->slots_zero) {
		ebpf_mov_imm(lower->as, into, 0);
	} else {
		const struct program_slot *slot = &program_slots(lower->program, lower->rule)[node->a];

		ebpf_load(lower->as, BPF_DW, into, lower->slots, lower->slots_off + (int32_t)slot->offset);
	}
}

/* Neither operand is a leaf: the one that needs more first; it waits in its register, or on the stack. */
static void lower_deep_pair(struct ebpf_lower *lower, const struct program_node *node, uint32_t k, uint8_t registers[2])
{
	bool swapped = lower->info[node->b].need > lower->info[node->a].need;
	uint32_t first = swapped ? node->b : node->a, second = swapped ? node->a : node->b;

	lower_value(lower, first, k);
	if (k + 1 < LOWER_TEMPS) {
		lower_value(lower, second, k + 1);
		registers[swapped] = lower_register(k);
		registers[!swapped] = lower_register(k + 1);
		return;
	}
	uint32_t mark = ebpf_stack_mark(lower->as);
	int16_t waits = ebpf_stack_take(lower->as, 8);

	ebpf_store(lower->as, BPF_DW, R10, waits, lower_register(k));
	lower_value(lower, second, k);
	ebpf_load(lower->as, BPF_DW, R0, R10, waits);
	ebpf_stack_release(lower->as, mark);
	registers[swapped] = R0;
	registers[!swapped] = lower_register(k);
}

void lower_pair(struct ebpf_lower *lower, const struct program_node *node, uint32_t k, uint8_t registers[2])
{
	const struct program_node *a = lower_node(lower, node->a), *b = lower_node(lower, node->b);

	if (lower_is_leaf(b)) {
		lower_value(lower, node->a, k);
		load_leaf(lower, b, R0);
		registers[0] = lower_register(k);
		registers[1] = R0;
	} else if (lower_is_leaf(a)) {
		lower_value(lower, node->b, k);
		load_leaf(lower, a, R0);
		registers[0] = R0;
		registers[1] = lower_register(k);
	} else {
		lower_deep_pair(lower, node, k, registers);
	}
}

/*
 * dst = dst / src (or %) of signed numbers by way of unsigned ones, for every kernel. Overwrites src, which is not 0.
 * The one quotient that does not fit wraps, as it should.
 */
static void divide_signed(struct ebpf_asm *as, uint8_t op, uint8_t dst, uint8_t src)
{
	uint32_t dst_plus = ebpf_label(as), src_plus = ebpf_label(as), plain = ebpf_label(as), done = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JSGE, dst, 0, dst_plus);
	ebpf_alu_imm(as, BPF_NEG, dst, 0);
	ebpf_jump_if_imm(as, BPF_JSGE, src, 0, src_plus);
	ebpf_alu_imm(as, BPF_NEG, src, 0); /* both negative */
	ebpf_alu(as, op, dst, src);
	if (op == BPF_MOD)
		ebpf_alu_imm(as, BPF_NEG, dst, 0);
	ebpf_jump(as, done);
	ebpf_bind(as, src_plus);
	ebpf_alu(as, op, dst, src);
	ebpf_alu_imm(as, BPF_NEG, dst, 0);
	ebpf_jump(as, done);
	ebpf_bind(as, dst_plus);
	ebpf_jump_if_imm(as, BPF_JSGE, src, 0, plain);
	ebpf_alu_imm(as, BPF_NEG, src, 0);
	ebpf_alu(as, op, dst, src);
	if (op == BPF_DIV)
		ebpf_alu_imm(as, BPF_NEG, dst, 0);
	ebpf_jump(as, done);
	ebpf_bind(as, plain);
	ebpf_alu(as, op, dst, src);
	ebpf_bind(as, done);
}

static void divide_value(struct ebpf_lower *lower, const struct program_node *node, uint8_t dst, uint8_t src)
{
	uint8_t op = node->op == PROGRAM_OP_DIV ? BPF_DIV : BPF_MOD;

	ebpf_jump_if_imm(lower->as, BPF_JEQ, src, 0, lower->on_zero);
	if (node->kind == PROGRAM_U64)
		ebpf_alu(lower->as, op, dst, src);
	else
		divide_signed(lower->as, op, dst, src);
}

/* What an operator is in BPF. DIV and MOD go their own way. */
static uint8_t alu_op(const struct program_node *node)
{
	switch ((enum program_op)node->op) {
	case PROGRAM_OP_ADD:
		return BPF_ADD;
	case PROGRAM_OP_SUB:
		return BPF_SUB;
	case PROGRAM_OP_MUL:
		return BPF_MUL;
	case PROGRAM_OP_AND:
		return BPF_AND;
	case PROGRAM_OP_OR:
		return BPF_OR;
	case PROGRAM_OP_XOR:
		return BPF_XOR;
	case PROGRAM_OP_SHL:
		return BPF_LSH;
	default:
		return node->kind == PROGRAM_I64 ? BPF_ARSH : BPF_RSH;
	}
}

static bool is_division(const struct program_node *node)
{
	return node->op == PROGRAM_OP_DIV || node->op == PROGRAM_OP_MOD;
}

static bool is_shift(const struct program_node *node)
{
	return node->op == PROGRAM_OP_SHL || node->op == PROGRAM_OP_SHR;
}

static void lower_arithmetic(struct ebpf_lower *lower, const struct program_node *node, uint32_t k)
{
	uint8_t registers[2], result = lower_register(k);
	int32_t imm;

	if (!is_division(node) && lower_immediate(lower, node->b, &imm)) {
		lower_value(lower, node->a, k);
		ebpf_alu_imm(lower->as, alu_op(node), result, is_shift(node) ? imm & 63 : imm);
		return;
	}
	lower_pair(lower, node, k, registers);
	if (is_division(node)) {
		divide_value(lower, node, registers[0], registers[1]);
	} else {
		if (is_shift(node))
			ebpf_alu_imm(lower->as, BPF_AND, registers[1], 63);
		ebpf_alu(lower->as, alu_op(node), registers[0], registers[1]);
	}
	ebpf_mov(lower->as, result, registers[0]);
}

/* A condition as a number. */
static void lower_truth(struct ebpf_lower *lower, uint32_t node, uint32_t k)
{
	uint32_t yes = ebpf_label(lower->as), done = ebpf_label(lower->as);

	lower_branch(lower, node, true, yes, k);
	ebpf_mov_imm(lower->as, lower_register(k), 0);
	ebpf_jump(lower->as, done);
	ebpf_bind(lower->as, yes);
	ebpf_mov_imm(lower->as, lower_register(k), 1);
	ebpf_bind(lower->as, done);
}

void lower_value(struct ebpf_lower *lower, uint32_t index, uint32_t k)
{
	const struct program_node *node = lower_node(lower, index);

	if (!lower->info[index].in_kernel)
		ebpf_asm_fail(lower->as, -EOPNOTSUPP);
	else if (lower_is_leaf(node))
		load_leaf(lower, node, lower_register(k));
	else if (node->op == PROGRAM_OP_CONVERT) /* between integers, or from truth: the bits stay */
		lower_value(lower, node->a, k);
	else if (node->op < PROGRAM_OP_CONVERT)
		lower_arithmetic(lower, node, k);
	else
		lower_truth(lower, index, k);
}

void ebpf_lower_value(struct ebpf_lower *lower, uint32_t node)
{
	lower_value(lower, node, 0);
}

void ebpf_lower_bit_length(struct ebpf_asm *as)
{
	ebpf_mov_imm(as, R0, 1);
	for (int32_t bits = 32; bits > 0; bits /= 2) {
		uint32_t less = ebpf_label(as);

		ebpf_mov(as, R2, R1);
		ebpf_alu_imm(as, BPF_RSH, R2, bits);
		ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, less);
		ebpf_mov(as, R1, R2);
		ebpf_alu_imm(as, BPF_ADD, R0, bits);
		ebpf_bind(as, less);
	}
}
