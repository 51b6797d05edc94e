// SPDX-License-Identifier: BSD-2-Clause
/*
 * Picks the run that gives its place to a newer one: the one of its key in a state, where a rule keeps the latest
 * alone; one of its key, where a key has had its share; the oldest of all, where the pool is full.
 */

#include "ebpf/memory/places.h"

/* Whether runs in some states of the group have more to their key than others. */
static bool has_several_keys(const struct emit *emit, uint32_t state)
{
	for (uint32_t i = 1; i < emit->rule->state_count; i++)
		if (emit_group(emit, i) == emit_group(emit, state) &&
		    !program_same_key(emit->program, emit->rule, i, state))
			return true;
	return false;
}

/* Leaves for other unless the run in r7 waits under the key that the one in r6 has in state. */
static void compare_keys(struct emit *emit, uint32_t state, uint32_t other)
{
	struct ebpf_asm *as = emit->as;
	uint32_t alike = ebpf_label(as);

	if (emit->plan->group_count > 1) {
		ebpf_load(as, BPF_H, R1, R7, RUN(group));
		ebpf_jump_if_imm(as, BPF_JNE, R1, (int32_t)emit_group(emit, state), other);
	}
	if (has_several_keys(emit, state)) {
		ebpf_load(as, BPF_H, R0, R7, RUN(state));
		for (uint32_t i = 1; i < emit->rule->state_count; i++)
			if (program_same_key(emit->program, emit->rule, i, state))
				ebpf_jump_if_imm(as, BPF_JEQ, R0, (int32_t)i, alike);
		ebpf_jump(as, other);
	}
	ebpf_bind(as, alike);
	emit_compare_runs(emit, emit_group(emit, state), other);
	emit_compare_more(emit, state, other);
}

/* bpf_loop's callback (turn, frame): ends the run in turn if it waits where the frame's scratch comes to wait. */
static uint32_t function_replace(struct emit *emit, uint32_t group)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "replace");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as), same = ebpf_label(as), dropped = ebpf_label(as);

	ebpf_note(as, "rule %s: a newer run in its state", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, end);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(scratch));
	ebpf_load(as, BPF_H, R0, R6, RUN(state));
	ebpf_load(as, BPF_H, R1, R7, RUN(state));
	ebpf_jump_if(as, BPF_JNE, R0, R1, other);
	emit_compare_runs(emit, group, other);
	for (uint32_t i = 1; i < emit->rule->state_count; i++) {
		uint32_t next = ebpf_label(as), count;

		program_state_more(emit->program, &program_states(emit->program, emit->rule)[i], &count);
		if (!count || emit_group(emit, i) != group)
			continue;
		ebpf_load(as, BPF_H, R0, R7, RUN(state));
		ebpf_jump_if_imm(as, BPF_JNE, R0, (int32_t)i, next);
		emit_compare_more(emit, i, other);
		ebpf_jump(as, same);
		ebpf_bind(as, next);
	}
	ebpf_bind(as, same);
	if (emit->rule->flags & PROGRAM_RULE_DROP) { /* a match will end it anyway */
		ebpf_load(as, BPF_DW, R1, R9, FRAME(matched));
		ebpf_jump_if_imm(as, BPF_JEQ, R1, MATCHER_DROPS, dropped);
	}
	emit_count_here(emit, CPU(replaced));
	ebpf_bind(as, dropped);
	emit_remove_run(emit);
	ebpf_bind(as, other);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

void memory_enter(struct emit *emit, uint32_t group)
{
	struct ebpf_asm *as = emit->as;

	if (!(emit->rule->flags & PROGRAM_RULE_LATEST)) {
		emit_link(emit, group);
		return;
	}
	memory_frame_put(as, FRAME(copied), R8);
	memory_frame_point(as, FRAME(scratch), R7);
	emit_hash_run(emit, group);
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
	emit_loop_locked(emit, function_replace(emit, group));
	ebpf_load(as, BPF_DW, R8, R9, FRAME(copied));
	emit_link(emit, group);
}

/* bpf_loop's callback (turn, frame): counts the run in turn if it is of the key of the frame's scratch, in state. */
static uint32_t function_share(struct emit *emit, uint32_t state)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "share");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as), older = ebpf_label(as);

	ebpf_note(as, "rule %s: a run of the same key", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, end);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(scratch));
	compare_keys(emit, state, other);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(shared));
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	memory_frame_put(as, FRAME(shared), R1);
	ebpf_load(as, BPF_DW, R2, R9, FRAME(oldest));
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, older);
	emit_check_index(emit, R2, older);
	emit_run_address(emit, R3, R2);
	ebpf_load(as, BPF_DW, R1, R3, RUN(made));
	ebpf_load(as, BPF_DW, R2, R7, RUN(made));
	ebpf_jump_if(as, BPF_JGE, R2, R1, other);
	ebpf_bind(as, older);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(current));
	memory_frame_put(as, FRAME(oldest), R1);
	ebpf_bind(as, other);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* The key of the frame's scratch has runs of its own in the chain of the bucket in r8: leaves for none if too many. */
static void share_key(struct emit *emit, uint32_t state, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t room = ebpf_label(as), full = ebpf_label(as);

	memory_frame_set(as, FRAME(shared), 0);
	memory_frame_set(as, FRAME(oldest), 0);
	emit_loop_locked(emit, function_share(emit, state));
	ebpf_load(as, BPF_DW, R1, R9, FRAME(shared));
	ebpf_jump_if_imm(as, BPF_JLT, R1, (int32_t)emit->rule->per_key, room);
	if (!(emit->rule->flags & PROGRAM_RULE_REPLACE)) {
		emit_refuse(emit);
		ebpf_jump(as, none);
		ebpf_bind(as, room);
		return;
	}
	ebpf_load(as, BPF_DW, R8, R9, FRAME(oldest));
	emit_check_index(emit, R8, full);
	memory_frame_put(as, FRAME(current), R8);
	emit_run_address(emit, R7, R8);
	emit_remove_run(emit);
	emit_count_here(emit, CPU(replaced));
	emit_count_here(emit, CPU(crowded));
	emit_depend(emit);
	ebpf_bind(as, full);
	ebpf_bind(as, room);
}

void memory_find_place(struct emit *emit, uint32_t state, uint32_t none)
{
	if (emit->rule->flags & PROGRAM_RULE_LATEST)
		emit_loop_locked(emit, function_replace(emit, emit_group(emit, state)));
	else
		share_key(emit, state, none);
}

/* bpf_loop's callback (turn, frame): the run in turn depends on the one that gave way, unless it is the opened one. */
static uint32_t function_depend(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	bool all = emit->rule->flags & PROGRAM_RULE_DROP_ALL;
	uint32_t function = ebpf_asm_function(as, "depend");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as);

	ebpf_note(as, "rule %s: the run depends on another", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	if (all)
		emit_fetch_place(emit, other, end);
	else
		emit_fetch_run(emit, end);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(current));
	ebpf_load(as, BPF_DW, R2, R9, FRAME(opened));
	ebpf_jump_if(as, BPF_JEQ, R1, R2, other);
	if (!all) {
		ebpf_load(as, BPF_DW, R6, R9, FRAME(scratch));
		emit_compare_runs(emit, 0, other);
	}
	if (emit->rule->loss == PROGRAM_TAINT) {
		ebpf_mov_imm(as, R0, MATCHER_MARKS);
		emit_mark_if(emit, other);
	} else {
		emit_why_rule(emit, PROGRAM_WHY_DROPPED);
		emit_remove_run(emit);
	}
	ebpf_bind(as, other);
	if (all)
		ebpf_return_0_or_1(as, end);
	else
		emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* What the runs of its join key are that depend on the run in r7, which is in no chain any more. */
static void depend_on_oldest(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	if (!(emit->rule->flags & PROGRAM_RULE_DROP) || emit->rule->loss == PROGRAM_KEEP)
		return;
	memory_frame_point(as, FRAME(scratch), R7);
	if (emit->rule->flags & PROGRAM_RULE_DROP_ALL) {
		emit_loop_places(emit, function_depend(emit));
		return;
	}
	ebpf_load(as, BPF_DW, R8, R9, FRAME(bucket));
	emit_loop_locked(emit, function_depend(emit));
}

/* r7 = the run number r8, its bucket the frame's, locked; leaves for none where it is in none any more. */
static void lock_oldest(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t gone = ebpf_label(as), there = ebpf_label(as);

	emit_check_index(emit, R8, none);
	memory_frame_put(as, FRAME(current), R8);
	emit_run_address(emit, R7, R8);
	ebpf_load(as, BPF_W, R1, R7, RUN(bucket));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)((1u << emit->plan->bucket_bits) - 1));
	memory_frame_put(as, FRAME(next), R1);
	emit_lock_at(emit);
	if (emit->plan->wide)
		return;
	emit_lock_held(emit, none);
	ebpf_load(as, BPF_W, R0, R7, RUN(bucket));
	ebpf_alu_imm(as, BPF_SUB, R0, 1);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(next));
	ebpf_jump_if(as, BPF_JNE, R0, R1, gone);
	ebpf_jump(as, there);
	ebpf_bind(as, gone);
	emit_let_go(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, there);
}

/*
 * Where this CPU's spare place has been taken, the oldest run gives way to it. Wide rules are locked; others are not.
 */
void memory_free_spare(struct emit *emit, void (*before)(struct emit *emit, uint32_t gone))
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as), found = ebpf_label(as), gone = ebpf_label(as);

	ebpf_note(as, "rule %s: is there a spare place", program_text(emit->program, emit->rule->name));
	emit_cpu_line(emit, R1, done);
	ebpf_load(as, BPF_W, R0, R1, CPU(spare));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, done);
	emit_take_ahead(emit, false); /* others may have ended since */
	ebpf_jump_if_imm(as, BPF_JNE, R8, 0, found);
	emit_now(emit);
	ebpf_mov(as, R1, R0);
	ebpf_call_function(as, memory_function_oldest(emit));
	ebpf_mov(as, R8, R0);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, done);
	lock_oldest(emit, done);
	if (before)
		before(emit, gone);
	emit_unlink(emit);
	memory_count_opener(emit, -1);
	emit_count_here(emit, CPU(replaced));
	emit_count_here(emit, CPU(crowded));
	emit_log_forget(emit, R7, sizeof(struct matcher_run));
	memory_frame_point(as, FRAME(scratch), R7);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(current));
	memory_frame_put(as, FRAME(copied), R8);
	depend_on_oldest(emit);
	if (!emit->plan->wide)
		emit_let_go(emit);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(copied));
	ebpf_bind(as, found);
	emit_cpu_line(emit, R1, done);
	ebpf_store(as, BPF_W, R1, CPU(spare), R8);
	if (before) {
		ebpf_jump(as, done);
		ebpf_bind(as, gone);
		emit_let_go(emit); /* its place is free like any other */
	}
	ebpf_bind(as, done);
}
