// SPDX-License-Identifier: BSD-2-Clause
/* Generates what a rule that asks how strings end does with an event in which one may have been cut. */

#include "ebpf/memory/emit.h"

/* What fills its field has no NUL in the last byte but one; behind what is shorter there is nothing else. */
void emit_look_for_cut(struct emit *emit)
{
	const struct program_type *type = &emit->program->types[emit->event->type];
	struct ebpf_asm *as = emit->as;

	ebpf_note(as, "may strings have been cut for %s?", program_text(emit->program, emit->rule->name));
	ebpf_mov_imm(as, R1, 0);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(emit->program, type)[i];

		if (!emit->event->ends[i])
			continue;
		ebpf_load(as, BPF_B, R2, R6, (int32_t)(field->offset + field->bytes - 2));
		ebpf_alu(as, BPF_OR, R1, R2);
	}
	ebpf_mov_imm(as, R0, 0);
	ebpf_alu(as, BPF_SUB, R0, R1);
	ebpf_alu_imm(as, BPF_RSH, R0, 63);
	memory_frame_put(as, FRAME(cut), R0);
}

void emit_cut(struct emit *emit)
{
	if (emit->event->asks_ends && emit->rule->loss != PROGRAM_KEEP)
		ebpf_load(emit->as, BPF_DW, R3, R9, FRAME(cut));
	else
		ebpf_mov_imm(emit->as, R3, 0);
}

void emit_count_unread(struct emit *emit)
{
	ebpf_note(emit->as, "unread for %s", program_text(emit->program, emit->rule->name));
	emit_count(emit, CONTROL(unread), 1);
	ebpf_atomic_add(emit->as, R1, CONTROL(epoch), R2);
	ebpf_store_imm(emit->as, BPF_H, R1, CONTROL(unread) + MATCHER_UNREAD_BITS / 8, (int32_t)emit->event->type + 1);
}

void emit_count_cut(struct emit *emit)
{
	uint32_t whole = ebpf_label(emit->as);

	ebpf_load(emit->as, BPF_DW, R1, R9, FRAME(cut));
	ebpf_jump_if_imm(emit->as, BPF_JEQ, R1, 0, whole);
	emit_count_unread(emit);
	ebpf_bind(emit->as, whole);
}
