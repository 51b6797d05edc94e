// SPDX-License-Identifier: BSD-2-Clause
/* Generates code that stores an event's values in the slots of a run. */

#include "ebpf/lower/lower-priv.h"
#include "program/query.h"

static void lower_least(struct ebpf_lower *lower, const struct program_action *action, const struct program_slot *slot)
{
	int32_t at = lower->slots_off + (int32_t)slot->offset;
	bool is_signed = slot->kind == PROGRAM_I64;
	uint8_t stays = action->op == PROGRAM_MIN ? (is_signed ? BPF_JSGE : BPF_JGE) : (is_signed ? BPF_JSLE : BPF_JLE);
	uint32_t done = ebpf_label(lower->as);

	lower_value(lower, action->node, 0);
	ebpf_load(lower->as, BPF_DW, R0, lower->slots, at);
	ebpf_jump_if(lower->as, stays, lower_register(0), R0, done);
	ebpf_store(lower->as, BPF_DW, lower->slots, at, lower_register(0));
	ebpf_bind(lower->as, done);
}

void ebpf_lower_action(struct ebpf_lower *lower, const struct program_action *action)
{
	const struct program_slot *slot = &program_slots(lower->program, lower->rule)[action->slot];
	int32_t imm, at = lower->slots_off + (int32_t)slot->offset;

	if (action->op != PROGRAM_SET) {
		lower_least(lower, action, slot);
	} else if (slot->kind == PROGRAM_STRING) {
		lower_set_text(lower, slot, action->node);
	} else if (lower_immediate(lower, action->node, &imm)) {
		ebpf_store_imm(lower->as, BPF_DW, lower->slots, at, imm);
	} else {
		lower_value(lower, action->node, 0);
		ebpf_store(lower->as, BPF_DW, lower->slots, at, lower_register(0));
	}
}
