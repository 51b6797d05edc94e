// SPDX-License-Identifier: BSD-2-Clause
/* Fetches one piece of a string and puts it before what is there. */

#include "ebpf/path/walk-priv.h"

void walk_begin_step(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_load(as, BPF_DW, R1, R10, walking->count);
	ebpf_jump_if_imm(as, BPF_JGE, R1, SOURCE_WALK_STEPS, walking->fail);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_store(as, BPF_DW, R10, walking->count, R1);
}

void walk_fetch(const struct walking *walking, uint8_t reg, uint32_t offset, uint32_t bytes)
{
	struct ebpf_asm *as = walking->as;

	ebpf_store_imm(as, BPF_DW, R10, walking->word, 0);
	ebpf_address(as, R1, R10, walking->word);
	ebpf_mov_imm(as, R2, bytes);
	ebpf_address(as, R3, reg, (int32_t)offset);
	ebpf_call(as, BPF_FUNC_probe_read_kernel);
	ebpf_load(as, BPF_DW, R0, R10, walking->word);
}

void walk_fetch_member(const struct walking *walking, uint8_t dst, uint8_t reg, int member)
{
	walk_fetch(walking, reg, walking->offsets[member], WALK_WORD);
	ebpf_mov(walking->as, dst, R0);
}

void walk_forget(const struct walking *walking, uint8_t reg)
{
	ebpf_store(walking->as, BPF_DW, R6, WALK_NAME, reg);
	ebpf_load(walking->as, BPF_DW, reg, R6, WALK_NAME);
}

void walk_prepend(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_jump_if(as, BPF_JGT, R2, R9, walking->fail);
	ebpf_alu(as, BPF_SUB, R9, R2);
	ebpf_alu_imm(as, BPF_AND, R9, WALK_LAST);
	ebpf_alu_imm(as, BPF_AND, R2, WALK_LAST);
	ebpf_mov(as, R1, R6);
	ebpf_alu(as, BPF_ADD, R1, R9);
	ebpf_call(as, BPF_FUNC_probe_read_kernel);
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, walking->fail);
}

void walk_prepend_byte(const struct walking *walking, int byte)
{
	struct ebpf_asm *as = walking->as;

	ebpf_jump_if_imm(as, BPF_JEQ, R9, 0, walking->fail);
	ebpf_alu_imm(as, BPF_SUB, R9, 1);
	ebpf_alu_imm(as, BPF_AND, R9, WALK_LAST);
	ebpf_alu_imm(as, BPF_XOR, R9, 0); /* the verifier forgets how many bytes there were before */
	ebpf_mov(as, R1, R6);
	ebpf_alu(as, BPF_ADD, R1, R9);
	if (byte >= 0)
		ebpf_store_imm(as, BPF_B, R1, 0, byte);
	else
		ebpf_store(as, BPF_B, R1, 0, R0);
}

void walk_prepend_text(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_address(as, R1, R6, WALK_NAME);
	ebpf_mov_imm(as, R2, SOURCE_WALK_TEXT_BYTES);
	ebpf_call(as, BPF_FUNC_probe_read_kernel_str);
	ebpf_jump_if_imm(as, BPF_JSLE, R0, 0, walking->fail);
	ebpf_mov(as, R2, R0);
	ebpf_alu_imm(as, BPF_SUB, R2, 1);
	ebpf_address(as, R3, R6, WALK_NAME);
	walk_prepend(walking);
}

void walk_return_start(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_mov(as, R0, R9);
	ebpf_exit(as);
	ebpf_bind(as, walking->fail);
	ebpf_return(as, UINT64_MAX);
}
