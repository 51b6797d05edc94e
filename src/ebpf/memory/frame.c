// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stores numbers in the frame so that the verifier never knows them.
 *
 * What a verifier knows about a number on the stack it must follow through every turn of bpf_loop, and through every
 * access by another register than r10. Older ones do neither. Before 6.7 a callback is looked at for its first turn
 * only: where the frame then holds a constant, the branch for anything else is taken for dead and removed. Before 6.8
 * it is forgotten that a branch depended on a number of the stack, so that a path with another one is taken for a path
 * that was looked at already. Both load, and do something else than what is written here.
 *
 * So every number in the frame is the sum of what it shall be and a 0 that comes from a map, about whose content no
 * verifier makes assumptions. Newer ones know of copies of one register, and of its sums with constants, that they go
 * together, and one comparison would tell them all: an operation that changes nothing (xor 0) ends that. Code that
 * reads it must do with any number, on every kernel. Pointers are none of this: states that hold different ones are
 * different to all verifiers. A pointer is either in the frame before whatever reads it, or compared with 0 only in
 * code that runs after the functions that may set it.
 */

#include "ebpf/memory/frame.h"
#include "ebpf/memory/layout.h"

void memory_frame_begin(const struct memory *memory, struct ebpf_asm *as)
{
	ebpf_load_value(as, R0, memory->maps[memory->zero.map].fd, memory->zero.off);
	ebpf_load(as, BPF_DW, R0, R0, 0);
	ebpf_store(as, BPF_DW, R9, FRAME(zero), R0);
}

void memory_frame_put(struct ebpf_asm *as, size_t member, uint8_t src)
{
	uint8_t sum = src == R0 ? R1 : R0;

	ebpf_load(as, BPF_DW, sum, R9, FRAME(zero));
	ebpf_alu_imm(as, BPF_XOR, sum, 0);
	ebpf_alu(as, BPF_ADD, sum, src);
	ebpf_store(as, BPF_DW, R9, (int32_t)member, sum);
}

void memory_frame_set(struct ebpf_asm *as, size_t member, int32_t number)
{
	ebpf_load(as, BPF_DW, R0, R9, FRAME(zero));
	ebpf_alu_imm(as, BPF_XOR, R0, 0);
	if (number)
		ebpf_alu_imm(as, BPF_ADD, R0, number);
	ebpf_store(as, BPF_DW, R9, (int32_t)member, R0);
}

void memory_frame_point(struct ebpf_asm *as, size_t member, uint8_t src)
{
	ebpf_store(as, BPF_DW, R9, (int32_t)member, src);
}

void memory_frame_leave_rule(struct ebpf_asm *as)
{
	ebpf_mov_imm(as, R7, 0);
	ebpf_mov_imm(as, R8, 0);
	memory_frame_forget(as, FRAME(bucket));
	memory_frame_forget(as, FRAME(lock));
	memory_frame_forget(as, FRAME(scratch));
}

void memory_frame_forget(struct ebpf_asm *as, size_t member)
{
	ebpf_store_imm(as, BPF_DW, R9, (int32_t)member, 0);
}
