// SPDX-License-Identifier: BSD-2-Clause
/*
 * Room in which slots are computed that may never become a run's (plan/scratch.c). Each type that needs it has room of
 * its own for each CPU, as a program is never run twice at once on one CPU; events that rules raise are dealt with by
 * one program and have theirs behind its queue.
 */

#include "ebpf/memory/emit.h"

/* dst = this CPU's room for the type, laid out like a run. Overwrites r0-r5. */
void emit_scratch(struct emit *emit, uint8_t dst)
{
	const struct memory *memory = emit->context->memory;
	const struct memory_region *scratch = &emit->at->scratch;
	struct ebpf_asm *as = emit->as;
	uint32_t known = ebpf_label(as);

	if (emit->is_derived) {
		ebpf_load(as, BPF_DW, dst, R9, FRAME(queue));
		ebpf_alu_imm(as, BPF_ADD, dst, (int32_t)emit->derived_scratch);
		return;
	}
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JLT, R0, (int32_t)memory->cpu_count, known);
	ebpf_mov_imm(as, R0, 0);
	ebpf_bind(as, known);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)emit->at->stride);
	ebpf_load_value(as, dst, memory->maps[scratch->map].fd,
			scratch->off + emit->event->scratch * memory->cpu_count * emit->at->stride);
	ebpf_alu(as, BPF_ADD, dst, R0);
}
