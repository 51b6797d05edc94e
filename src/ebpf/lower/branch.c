// SPDX-License-Identifier: BSD-2-Clause
/* Generates jumps from conditions: AND, OR and NOT cost no instruction of their own. */

#include "ebpf/lower/lower-priv.h"

#include <errno.h>

/* The jump for a comparison, by operator: signed, unsigned, and the operator of the opposite. */
static const struct comparison {
	uint8_t if_signed, if_unsigned;
	enum program_op opposite;
} comparisons[PROGRAM_OP_COUNT] = {
	[PROGRAM_OP_EQ] = { BPF_JEQ, BPF_JEQ, PROGRAM_OP_NE },  [PROGRAM_OP_NE] = { BPF_JNE, BPF_JNE, PROGRAM_OP_EQ },
	[PROGRAM_OP_LT] = { BPF_JSLT, BPF_JLT, PROGRAM_OP_GE }, [PROGRAM_OP_LE] = { BPF_JSLE, BPF_JLE, PROGRAM_OP_GT },
	[PROGRAM_OP_GT] = { BPF_JSGT, BPF_JGT, PROGRAM_OP_LE }, [PROGRAM_OP_GE] = { BPF_JSGE, BPF_JGE, PROGRAM_OP_LT },
};

/* A constant below 2^63 is the same number in both kinds. */
static bool fits_both(const struct program_node *node)
{
	return node->op == PROGRAM_OP_CONST && node->imm <= INT64_MAX;
}

/* Two kinds of integers: a negative signed one is less than anything unsigned; else both compare as unsigned. */
static void compare_mixed(struct ebpf_lower *lower, const struct program_node *node, enum program_op op,
			  const uint8_t registers[2], uint32_t label)
{
	bool left_signed = lower_node(lower, node->a)->kind == PROGRAM_I64;
	bool less = op == PROGRAM_OP_LT || op == PROGRAM_OP_LE, greater = op == PROGRAM_OP_GT || op == PROGRAM_OP_GE;
	bool if_negative = op == PROGRAM_OP_NE || (left_signed ? less : greater);
	uint32_t skip = ebpf_label(lower->as);

	ebpf_jump_if_imm(lower->as, BPF_JSLT, registers[left_signed ? 0 : 1], 0, if_negative ? label : skip);
	ebpf_jump_if(lower->as, comparisons[op].if_unsigned, registers[0], registers[1], label);
	ebpf_bind(lower->as, skip);
}

static void branch_comparison(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
			      uint32_t k)
{
	const struct program_node *a = lower_node(lower, node->a), *b = lower_node(lower, node->b);
	enum program_op op = sense ? (enum program_op)node->op : comparisons[node->op].opposite;
	bool mixed = a->kind != b->kind && !fits_both(a) && !fits_both(b);
	/* Signed only if no side is really unsigned. */
	bool is_unsigned = (a->kind != PROGRAM_I64 && !fits_both(a)) || (b->kind != PROGRAM_I64 && !fits_both(b));
	uint8_t jump = is_unsigned ? comparisons[op].if_unsigned : comparisons[op].if_signed, registers[2];
	int32_t imm;

	if (!mixed && lower_immediate(lower, node->b, &imm)) {
		lower_value(lower, node->a, k);
		ebpf_jump_if_imm(lower->as, jump, lower_register(k), imm, label);
		return;
	}
	lower_pair(lower, node, k, registers);
	if (mixed)
		compare_mixed(lower, node, op, registers, label);
	else
		ebpf_jump_if(lower->as, jump, registers[0], registers[1], label);
}

/* a AND b, or by De Morgan NOT a AND NOT b for an OR whose `sense` is turned around. */
static void branch_lazy(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
			uint32_t k)
{
	bool decides = node->op == PROGRAM_OP_LOR; /* what of the left operand settles the result */

	if (sense == decides) {
		lower_branch(lower, node->a, sense, label, k);
		lower_branch(lower, node->b, sense, label, k);
		return;
	}
	uint32_t skip = ebpf_label(lower->as);

	lower_branch(lower, node->a, decides, skip, k);
	lower_branch(lower, node->b, sense, label, k);
	ebpf_bind(lower->as, skip);
}

void lower_branch(struct ebpf_lower *lower, uint32_t index, bool sense, uint32_t label, uint32_t k)
{
	const struct program_node *node = lower_node(lower, index);

	if (!lower->info[index].in_kernel) {
		ebpf_asm_fail(lower->as, -EOPNOTSUPP);
	} else if (node->op == PROGRAM_OP_LAND || node->op == PROGRAM_OP_LOR) {
		branch_lazy(lower, node, sense, label, k);
	} else if (node->op == PROGRAM_OP_LNOT) {
		lower_branch(lower, node->a, !sense, label, k);
	} else if (node->op == PROGRAM_OP_CONST) {
		if ((node->imm != 0) == sense)
			ebpf_jump(lower->as, label);
	} else if (node->op == PROGRAM_OP_LIKE ||
		   (comparisons[node->op].if_signed && lower_node(lower, node->a)->kind == PROGRAM_STRING)) {
		lower_branch_text(lower, node, sense, label, k);
	} else if (comparisons[node->op].if_signed) {
		branch_comparison(lower, node, sense, label, k);
	} else {
		lower_value(lower, index, k);
		ebpf_jump_if_imm(lower->as, sense ? BPF_JNE : BPF_JEQ, lower_register(k), 0, label);
	}
}

void ebpf_lower_branch(struct ebpf_lower *lower, uint32_t node, bool sense, uint32_t label)
{
	lower_branch(lower, node, sense, label, 0);
}
