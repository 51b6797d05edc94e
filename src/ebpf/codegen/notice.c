// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the rows of a machine's table that belong to the notice that is reported: its number is in the notice slot.
 */

#include "ebpf/codegen/machine.h"

static bool is_silent(const struct emit *emit, uint32_t notice)
{
	return program_notice(emit->program, emit->rule, notice)->flags & PROGRAM_NOTICE_SILENT;
}

/* r1 = the number of the notice, from 1. */
static void load_notice(struct emit *emit)
{
	const struct program_slot *slot = &program_slots(emit->program, emit->rule)[emit->rule->notice_slot];

	ebpf_load(emit->as, BPF_DW, R1, emit->lower.slots, emit->lower.slots_off + (int32_t)slot->offset);
}

void codegen_if_silent(struct emit *emit, uint32_t silent)
{
	ebpf_note(emit->as, "machine %s: is anything told", program_text(emit->program, emit->rule->name));
	load_notice(emit);
	for (uint32_t i = 0; i < emit->rule->notice_count; i++)
		if (is_silent(emit, i + 1))
			ebpf_jump_if_imm(emit->as, BPF_JEQ, R1, (int32_t)i + 1, silent);
}

void codegen_unless_notice(struct emit *emit, uint32_t notice, uint32_t other)
{
	load_notice(emit);
	ebpf_jump_if_imm(emit->as, BPF_JNE, R1, (int32_t)notice, other);
}
