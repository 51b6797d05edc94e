// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that compares numbers without a jump, so that the verifier has one way to follow and not two: a
 * condition may have dozens of these.
 */

#include "ebpf/path/value-priv.h"

/* r0 = 1 if r0 and r1 differ, else 0. */
static void emit_differs(struct ebpf_asm *as)
{
	ebpf_alu(as, BPF_XOR, R0, R1);
	ebpf_mov(as, R1, R0);
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R1, 0));
	ebpf_alu(as, BPF_OR, R0, R1);
	ebpf_alu_imm(as, BPF_RSH, R0, 63);
}

/* r0 = 1 if low < high, else 0, both signed and one of them r0, the other r1: the sign of the difference, but where
 * that overflows. */
static void emit_is_less(struct ebpf_asm *as, uint8_t low, uint8_t high)
{
	ebpf_mov(as, R2, low);
	ebpf_alu(as, BPF_SUB, R2, high);
	ebpf_mov(as, R3, low);
	ebpf_alu(as, BPF_XOR, R3, high);
	ebpf_mov(as, R4, low);
	ebpf_alu(as, BPF_XOR, R4, R2);
	ebpf_alu(as, BPF_AND, R3, R4);
	ebpf_alu(as, BPF_XOR, R2, R3);
	ebpf_mov(as, R0, R2);
	ebpf_alu_imm(as, BPF_RSH, R0, 63);
}

void path_compare(struct ebpf_asm *as, enum source_op op)
{
	if (op == SOURCE_EQ || op == SOURCE_NE)
		emit_differs(as);
	else if (op == SOURCE_LT || op == SOURCE_GE)
		emit_is_less(as, R0, R1);
	else
		emit_is_less(as, R1, R0);
	if (op == SOURCE_EQ || op == SOURCE_GE || op == SOURCE_LE)
		ebpf_alu_imm(as, BPF_XOR, R0, 1);
}
