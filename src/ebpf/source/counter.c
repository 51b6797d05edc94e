// SPDX-License-Identifier: BSD-2-Clause
/* Decides how a program counts: no other runs on its CPU meanwhile that has the same memory, so nothing is atomic. */

#include "ebpf/source/counter.h"

void source_emit_memory(struct ebpf_asm *as, const struct source_memory *memory, uint8_t reg, uint32_t none)
{
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)memory->cpu_count, none);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)memory->stride);
	ebpf_load_value(as, reg, memory->map, 0);
	ebpf_alu(as, BPF_ADD, reg, R0);
}

void source_emit_count(struct ebpf_asm *as, uint8_t reg, int32_t offset)
{
	ebpf_load(as, BPF_DW, R0, reg, offset);
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_store(as, BPF_DW, reg, offset, R0);
}
