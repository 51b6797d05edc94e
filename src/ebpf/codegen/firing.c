// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fires the timer of a machine's instance: the transitions of its state for it, with a record that says when it was due
 * and who moved the instance last. The sweep does so one timer at a time; an event that comes before the sweep sees to
 * it itself, so that nothing depends on how late the sweep is.
 */

#include "ebpf/codegen/machine.h"

enum { CONTEXT_NUMBERS = 3 };

/* Where slot lies in the run in r7. */
static int32_t firing_slot_at(const struct emit *emit, uint32_t slot)
{
	return (int32_t)(sizeof(struct matcher_run) + program_slots(emit->program, emit->rule)[slot].offset);
}

/* The record at r6: nothing but a header, of the time in r1. */
static void make_firing_record(struct emit *emit)
{
	static const size_t numbers[CONTEXT_NUMBERS] = { HEADER(cpu), HEADER(pid), HEADER(tid) };
	struct ebpf_asm *as = emit->as;
	uint32_t context = emit->rule->context_slot;
	struct ebpf_words comm = { R6, R7, HEADER(comm), firing_slot_at(emit, context + CONTEXT_NUMBERS),
				   EVENT_COMM_BYTES / 8 };

	ebpf_store(as, BPF_DW, R6, HEADER(ts), R1);
	ebpf_store_imm(as, BPF_DW, R6, HEADER(seq), 0);
	ebpf_store_imm(as, BPF_W, R6, HEADER(type), 0);
	for (uint32_t i = 0; i < CONTEXT_NUMBERS; i++) {
		ebpf_load(as, BPF_DW, R0, R7, firing_slot_at(emit, context + i));
		ebpf_store(as, BPF_W, R6, (int32_t)numbers[i], R0);
	}
	ebpf_lower_copy(&emit->lower, &comm);
}

static void fill_firing(struct emit *emit)
{
	codegen_match_fill(emit);
	ebpf_store_imm(emit->as, BPF_H, R8, MATCH(at_deadline), 1);
}

/*
 * bpf_loop's callback (turn, frame): the timer of the frame's current instance goes off, if it is before the frame's
 * now; the frame's current is 0 where that ends the instance. The bucket is locked.
 */
uint32_t codegen_function_timer(const struct emit *outer)
{
	struct emit emit = *outer;
	struct ebpf_asm *as = emit.as;
	uint32_t function = ebpf_asm_function(as, "timer");

	emit.event = &emit.plan->timer;
	emit.header = (struct plan_header){ 0 };
	ebpf_asm_enter(as, function);
	struct emit_exits exits = { .stay = ebpf_label(as),
				    .end = ebpf_label(as),
				    .match = ebpf_label(as),
				    .moves = ebpf_label(as),
				    .report = ebpf_label(as),
				    .timed = ebpf_label(as) };
	uint32_t stop = ebpf_label(as), none = ebpf_label(as);
	int16_t record = ebpf_stack_take(as, sizeof(struct event_header));

	ebpf_note(as, "machine %s: did the timer go off", program_text(emit.program, emit.rule->name));
	ebpf_mov(as, R9, R2);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(current));
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, stop);
	emit_check_index(&emit, R8, stop);
	emit_run_address(&emit, R7, R8);
	codegen_load_timer(&emit, R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, stop);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(now));
	ebpf_jump_if(as, BPF_JGE, R1, R0, stop);
	ebpf_address(as, R6, R10, record);
	make_firing_record(&emit);
	codegen_step_states(&emit, &emit.event->walks[0], &exits);
	ebpf_jump(as, exits.stay);
	codegen_leave_instance(&emit, &exits, fill_firing);
	ebpf_bind(as, exits.stay);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(current));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, stop);
	codegen_clear_timer(&emit);
	codegen_note_timer(&emit, none);
	ebpf_bind(as, none);
	ebpf_return_0_or_1(as, stop);
	ebpf_asm_leave(as);
	return function;
}

/*
 * Timers of the instance in r7, the frame's current, that are before the event in r6 go off first. Leaves for gone
 * where one ends the instance. More than a few at once are a loss.
 */
void codegen_timers(struct emit *emit, uint32_t gone)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as);

	if (!emit->plan->timed)
		return;
	ebpf_note(as, "machine %s: timers before the event", program_text(emit->program, emit->rule->name));
	codegen_load_timer(emit, R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_load(as, BPF_DW, R0, R6, HEADER(ts));
	ebpf_jump_if(as, BPF_JGE, R1, R0, none);
	memory_frame_put(as, FRAME(now), R0);
	ebpf_mov_imm(as, R1, MATCHER_FIRINGS_MAX);
	ebpf_load_function(as, R2, codegen_function_timer(emit));
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(current));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, gone);
	codegen_load_timer(emit, R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_load(as, BPF_DW, R0, R6, HEADER(ts));
	ebpf_jump_if(as, BPF_JGE, R1, R0, none);
	emit_lose(emit);
	ebpf_bind(as, none);
}
