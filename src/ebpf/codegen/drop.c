// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drops open runs on account of another one: a match ends those of its key (AFTER MATCH DROP), a run that found no
 * place marks those that its match might have ended, and where a rule discards what a loss may have spoiled, runs that
 * were open then end when they are next met, by an event or the sweep.
 */

#include "ebpf/codegen/codegen.h"

/* Every run of the event's key ends, or is marked; walk NULL: every run. */
static uint32_t function_drop(struct emit *emit, const struct plan_walk *walk)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "drop");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as);

	ebpf_note(as, "rule %s: drop the run", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	if (walk) {
		emit_fetch_run(emit, end);
		emit_check_key(emit, walk, other);
	} else {
		emit_fetch_place(emit, other, end);
	}
	if (emit->rule->loss == PROGRAM_TAINT) {
		ebpf_load(as, BPF_DW, R0, R9, FRAME(matched));
		emit_mark_if(emit, other);
	}
	emit_why_rule(emit, PROGRAM_WHY_DROPPED);
	emit_remove_run(emit);
	ebpf_bind(as, other);
	if (walk)
		emit_turn_end(emit, end);
	else
		ebpf_return_0_or_1(as, end);
	ebpf_asm_leave(as);
	return function;
}

/* The runs of the event's key that are still in the chain. One class, as keys are those of the joins; or all runs. */
void codegen_drop(struct emit *emit)
{
	struct plan_walk walk = { .group = 0, .key = emit->event->key };
	uint32_t done = ebpf_label(emit->as);

	ebpf_load(emit->as, BPF_DW, R0, R9, FRAME(matched));
	ebpf_jump_if_imm(emit->as, BPF_JEQ, R0, 0, done);
	if (emit->rule->flags & PROGRAM_RULE_DROP_ALL)
		emit_loop_places(emit, function_drop(emit, NULL));
	else
		codegen_walk_chain(emit, &walk, function_drop(emit, &walk));
	ebpf_bind(emit->as, done);
}
