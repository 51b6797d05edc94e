// SPDX-License-Identifier: BSD-2-Clause
/* Keeps or discards the copy of a machine's instance for another key, made in scratch (codegen/inherit.c). */

#include "ebpf/codegen/machine.h"
#include "ebpf/memory/places.h"

/* bpf_loop's callback (turn, frame): is this run of the copy's key? */
static uint32_t function_twin(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "twin");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as), gone = ebpf_label(as), stale = ebpf_label(as);

	ebpf_note(as, "machine %s: is there an instance already", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, end);
	emit_scratch(emit, R6);
	emit_compare_runs(emit, 0, other);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
	emit_if_stale(emit, stale);
	codegen_timers(emit, gone);
	memory_frame_set(as, FRAME(found), 1);
	ebpf_jump(as, gone);
	ebpf_bind(as, stale);
	if (emit->rule->loss == PROGRAM_DISCARD) {
		emit_why_rule(emit, PROGRAM_WHY_DISCARDED);
		emit_remove_run(emit);
	}
	ebpf_bind(as, gone);
	ebpf_return(as, 1);
	ebpf_bind(as, other);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* r8 = the number of the copy's place; leaves for none. */
static void load_place(struct emit *emit, uint32_t none)
{
	ebpf_load(emit->as, BPF_DW, R8, R9, FRAME(copied));
	ebpf_alu_imm(emit->as, BPF_SUB, R8, 1);
	ebpf_jump_if_imm(emit->as, BPF_JEQ, R8, 0, none);
	emit_check_index(emit, R8, none);
}

/* The copy in r7 goes to its place and is linked in the locked bucket, or is refused and still has its place. */
static void keep_copy_place(struct emit *emit, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words whole = { R8, R7, 0, 0, emit->at->stride / 8 };
	uint32_t refused = ebpf_label(as), uncounted = ebpf_label(as);

	emit_count_opened(emit, uncounted);
	ebpf_store(as, BPF_W, R7, RUN(ordinal), R2);
	ebpf_bind(as, uncounted);
	memory_check_copy(emit, refused);
	load_place(emit, refused);
	memory_frame_put(as, FRAME(current), R8);
	emit_run_address(emit, R8, R8);
	ebpf_lower_copy(&emit->lower, &whole);
	ebpf_mov(as, R7, R8);
	if (emit->rule->flags & PROGRAM_RULE_REPLACE) {
		ebpf_load(as, BPF_DW, R1, R9, FRAME(current));
		ebpf_load(as, BPF_DW, R0, R7, RUN(first_ts));
		memory_age_begin(emit, R1);
	}
	memory_count_opener(emit, 1);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(current));
	emit_link(emit, 0);
	codegen_note_timer(emit, done);
	ebpf_jump(as, done);
	ebpf_bind(as, refused);
	emit_refuse(emit);
}

/* The copy's slot is not needed. If it was the last that was ever taken, it was never taken. */
static void give_copy_back(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as), old = ebpf_label(as);

	load_place(emit, none);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(last));
	ebpf_jump_if(as, BPF_JLE, R8, R0, old);
	emit_control(emit, R1);
	ebpf_mov(as, R0, R8);
	ebpf_mov(as, R2, R8);
	ebpf_alu_imm(as, BPF_SUB, R2, 1);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, CONTROL(used), R2);
	ebpf_jump_if(as, BPF_JEQ, R0, R8, none);
	ebpf_bind(as, old);
	ebpf_mov(as, R1, R8);
	ebpf_call_function(as, emit->functions.release);
	ebpf_bind(as, none);
}

/* When the original's lock was given back: the copy waits under its own key, unless there is an instance. */
void codegen_inherit(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as), busy = ebpf_label(as), have = ebpf_label(as), empty = ebpf_label(as);
	uint32_t kept = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R9, FRAME(copied));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, done);
	ebpf_note(as, "machine %s: a copy for another key", program_text(emit->program, emit->rule->name));
	emit_scratch(emit, R7);
	emit_hash_run(emit, 0);
	emit_lock_at(emit);
	memory_frame_set(as, FRAME(found), 0);
	emit_lock_held(emit, busy);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(bucket));
	ebpf_load(as, BPF_W, R0, R8, offsetof(struct matcher_bucket, head));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, empty);
	emit_loop_chain(emit, function_twin(emit));
	ebpf_load(as, BPF_DW, R0, R9, FRAME(found));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, have);
	ebpf_bind(as, empty);
	keep_copy_place(emit, kept);
	ebpf_bind(as, have);
	give_copy_back(emit);
	ebpf_bind(as, kept);
	emit_let_go(emit);
	ebpf_jump(as, done);
	ebpf_bind(as, busy);
	emit_lose(emit);
	give_copy_back(emit);
	ebpf_bind(as, done);
}
