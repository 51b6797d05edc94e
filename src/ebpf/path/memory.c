// SPDX-License-Identifier: BSD-2-Clause
/* Generates code by which a program finds this CPU's part of its memory. */

#include "ebpf/path/value.h"

void path_emit_memory(struct ebpf_asm *as, const struct source_memory *memory, uint8_t reg, uint32_t none)
{
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)memory->cpu_count, none);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)memory->stride);
	ebpf_load_value(as, reg, memory->map, memory->offset);
	ebpf_alu(as, BPF_ADD, reg, R0);
}
