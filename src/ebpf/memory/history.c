// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps an event with the run that it becomes part of: a copy of its record behind the slots, where runs keep few, or
 * in the rule's log.
 */

#include "ebpf/memory/emit.h"

#define KEPT(member) offsetof(struct matcher_kept, member)

/* Where the history lies behind the base that emit->lower.slots_off is relative to. */
static int32_t history_off(const struct emit *emit)
{
	return emit->lower.slots_off + (int32_t)emit->rule->slot_bytes;
}

/* A fresh run has no events. */
void emit_history_begin(struct emit *emit)
{
	if (emit->plan->history.entries || emit->plan->history.log_entries)
		ebpf_store_imm(emit->as, BPF_DW, emit->lower.slots, history_off(emit), 0);
}

/* r2 = the address of a new entry minus the history's distance from it; leaves for full, which no run ever is. */
static void new_entry(struct emit *emit, uint32_t full)
{
	struct ebpf_asm *as = emit->as;
	uint8_t base = emit->lower.slots;

	ebpf_load(as, BPF_DW, R1, base, history_off(emit));
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)emit->plan->history.entries, full);
	ebpf_address(as, R0, R1, 1);
	ebpf_store(as, BPF_DW, base, history_off(emit), R0);
	ebpf_alu_imm(as, BPF_MUL, R1, (int32_t)emit->plan->history.entry_bytes);
	ebpf_mov(as, R2, base);
	ebpf_alu(as, BPF_ADD, R2, R1);
}

static void append_in_run(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;
	uint32_t full = ebpf_label(as);
	int32_t entry = history_off(emit) + 8, record = entry + (int32_t)sizeof(struct matcher_kept);
	struct ebpf_words words = { R2, R6, record, 0, emit->program->types[transition->type].record_bytes / 8 };

	new_entry(emit, full);
	ebpf_store_imm(as, BPF_DW, R2, entry + (int32_t)KEPT(element), (int32_t)transition->element);
	if (emit->context->plan->live) /* live events are not numbered */
		ebpf_store_imm(as, BPF_DW, R6, offsetof(struct event_header, seq), 0);
	ebpf_lower_copy(&emit->lower, &words);
	ebpf_bind(as, full);
}

void emit_history_append(struct emit *emit, const struct program_transition *transition, uint32_t full)
{
	const struct plan_history *history = &emit->plan->history;

	if (transition->element == PROGRAM_NONE || transition->target == PROGRAM_TARGET_END ||
	    (!history->entries && !history->log_entries))
		return;
	ebpf_note(emit->as, "rule %s: keep the event", program_text(emit->program, emit->rule->name));
	if (history->log_entries)
		emit_log_append(emit, transition, full);
	else
		append_in_run(emit, transition);
}
