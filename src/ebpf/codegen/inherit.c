// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a machine's instance is copied for another key. The copy is made aside, and a place taken for it, while
 * the original's bucket is locked; when that lock was given back, the other key's bucket is locked, and the copy goes
 * to its place unless there is an instance with its key. So no two locks are held at once; an event of the other key
 * may come in between.
 */

#include "ebpf/codegen/machine.h"

#define RUN(member)     offsetof(struct matcher_run, member)
#define FRAME(member)   offsetof(struct matcher_frame, member)
#define CONTROL(member) offsetof(struct matcher_control, member)

static bool inherits(const struct program_transition *transition)
{
	return transition->flags & PROGRAM_COPY;
}

bool emit_inherits(const struct emit *emit)
{
	for (uint32_t state = 1; state < emit->rule->state_count; state++) {
		uint32_t count;
		const struct program_transition *transition = emit_transitions(emit, state, &count);

		for (; count > 0; count--, transition++)
			if (inherits(transition) && emit_lives_on(transition))
				return true;
	}
	return false;
}

/* The copy in r8 has a place, or is to have one, unless its key is that of its original in r7. */
static void keep_if_other_key(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t other = ebpf_label(as), done = ebpf_label(as);

	ebpf_mov(as, R6, R8);
	emit_compare_runs(emit, 0, other);
	ebpf_jump(as, done);
	ebpf_bind(as, other);
	emit_control(emit, R1);
	ebpf_load(as, BPF_DW, R0, R1, CONTROL(used));
	emit_frame_put(as, FRAME(last), R0);
	emit_take_ahead(emit);
	ebpf_alu_imm(as, BPF_ADD, R8, 1);
	emit_frame_put(as, FRAME(copied), R8);
	ebpf_bind(as, done);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
}

/* What the transition makes of the instance in r7, aside. */
static void copy_aside(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words slots = { R8, R7, sizeof(struct matcher_run), sizeof(struct matcher_run),
				    emit->place->area_bytes / 8 };

	emit_aside(emit, R8);
	ebpf_lower_copy(as, &slots);
	emit_set_slots(emit, R8, sizeof(struct matcher_run));
	emit_actions(emit, transition);
	ebpf_store_imm(as, BPF_DW, R8, RUN(next), 0);
	ebpf_store_imm(as, BPF_W, R8, RUN(bucket), 0);
	ebpf_store_imm(as, BPF_W, R8, RUN(state), (int32_t)transition->target);
	ebpf_load(as, BPF_DW, R0, R7, RUN(first_ts));
	ebpf_store(as, BPF_DW, R8, RUN(first_ts), R0);
	emit_now(emit);
	ebpf_store(as, BPF_DW, R8, RUN(made), R0);
	ebpf_load(as, BPF_W, R0, R7, RUN(epoch));
	ebpf_store(as, BPF_W, R8, RUN(epoch), R0);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
	keep_if_other_key(emit);
}

/* The first that fits of the transitions that copies take. */
void emit_try_inherits(struct emit *emit, uint32_t state, const struct program_transition *transitions, uint32_t count)
{
	uint32_t done = ebpf_label(emit->as);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = ebpf_label(emit->as);

		if (!inherits(&transitions[i]))
			continue;
		emit_note_transition(emit, state, &transitions[i], "copy if", transitions[i].fit);
		emit_condition(emit, transitions[i].fit, next);
		if (emit_lives_on(&transitions[i]))
			copy_aside(emit, &transitions[i]);
		ebpf_jump(emit->as, done);
		ebpf_bind(emit->as, next);
	}
	ebpf_bind(emit->as, done);
}

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
	emit_aside(emit, R6);
	emit_compare_runs(emit, 0, other);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
	emit_if_stale(emit, stale);
	emit_timers(emit, gone);
	emit_frame_set(as, FRAME(found), 1);
	ebpf_jump(as, gone);
	ebpf_bind(as, stale);
	if (emit->rule->loss == PROGRAM_DISCARD)
		emit_remove_run(emit);
	ebpf_bind(as, gone);
	ebpf_mov_imm(as, R0, 1);
	ebpf_exit(as);
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

/* The copy in r7 goes to its place and is linked in the locked bucket. */
static void keep(struct emit *emit, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words whole = { R8, R7, 0, 0, emit->place->stride / 8 };
	uint32_t refused = ebpf_label(as), uncounted = ebpf_label(as);

	emit_count_opened(emit, uncounted);
	ebpf_store(as, BPF_W, R7, RUN(ordinal), R2);
	ebpf_bind(as, uncounted);
	load_place(emit, refused);
	emit_frame_put(as, FRAME(current), R8);
	emit_run_address(emit, R8, R8);
	ebpf_lower_copy(as, &whole);
	ebpf_mov(as, R7, R8);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(current));
	emit_link(emit, 0);
	emit_note_timer(emit, done);
	ebpf_jump(as, done);
	ebpf_bind(as, refused);
	emit_refuse(emit);
	ebpf_jump(as, done);
}

/* Nobody needs the copy's place. If it was the last that was ever taken, it was never taken. */
static void give_back(struct emit *emit)
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
void emit_inherit(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as), busy = ebpf_label(as), have = ebpf_label(as), empty = ebpf_label(as);
	uint32_t kept = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R9, FRAME(copied));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, done);
	ebpf_note(as, "machine %s: a copy for another key", program_text(emit->program, emit->rule->name));
	emit_aside(emit, R7);
	emit_hash_run(emit, 0);
	emit_lock_at(emit);
	emit_frame_set(as, FRAME(found), 0);
	emit_lock_held(emit, busy);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(bucket));
	ebpf_load(as, BPF_W, R0, R8, offsetof(struct matcher_bucket, head));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, empty);
	emit_loop_chain(emit, function_twin(emit));
	ebpf_load(as, BPF_DW, R0, R9, FRAME(found));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, have);
	ebpf_bind(as, empty);
	keep(emit, kept);
	ebpf_bind(as, have);
	give_back(emit);
	ebpf_bind(as, kept);
	emit_let_go(emit);
	ebpf_jump(as, done);
	ebpf_bind(as, busy);
	emit_lose(emit);
	give_back(emit);
	ebpf_bind(as, done);
}
