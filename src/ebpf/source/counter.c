// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the counters of a program: no other runs on its CPU meanwhile that has the same memory, so nothing is
 * atomic.
 */

#include "ebpf/source/counter.h"

void source_emit_count(struct ebpf_asm *as, uint8_t reg, int32_t offset)
{
	ebpf_load(as, BPF_DW, R0, reg, offset);
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_store(as, BPF_DW, reg, offset, R0);
}
