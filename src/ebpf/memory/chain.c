// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the walk along a chain: bpf_loop calls a function for each run, with the bucket locked; between turns the
 * frame tells where it stands. The run of a turn may leave the chain, as the next one was noted before.
 */

#include "ebpf/memory/emit.h"

enum { LOOP_TURNS_MAX = 1 << 23 };

/* The frame's next run becomes the current one, r7 its address, and the one after it becomes next; leaves for end at
 * the end. */
void emit_fetch_run(struct emit *emit, uint32_t end)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R8, R9, FRAME(next));
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, end);
	ebpf_jump_if_imm(as, BPF_JGT, R8, (int32_t)emit->at->places, end);
	emit_run_address(emit, R7, R8);
	memory_frame_put(as, FRAME(current), R8);
	ebpf_load(as, BPF_W, R0, R7, RUN(next));
	memory_frame_put(as, FRAME(next), R0);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
}

/* The end of a turn: go on if there is a next run. */
void emit_turn_end(struct emit *emit, uint32_t end)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R1, R9, FRAME(next));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, end);
	ebpf_return_0_or_1(as, end);
}

/* The run in r7 leaves the chain for good. */
void emit_remove_run(struct emit *emit)
{
	emit_unlink(emit);
	emit_release(emit, FRAME(current));
}

/* Leaves for other unless the run in r7 has the event's key. */
void emit_check_key(struct emit *emit, const struct plan_walk *walk, uint32_t other)
{
	if (emit->plan->group_count > 1) {
		ebpf_load(emit->as, BPF_H, R1, R7, RUN(group));
		ebpf_jump_if_imm(emit->as, BPF_JNE, R1, (int32_t)walk->group, other);
	}
	emit_compare_key(emit, walk, other);
}

/* The most turns that a walk over all runs can take. */
void emit_loop_turns(struct emit *emit)
{
	uint64_t turns = (uint64_t)emit->at->places + 1;

	ebpf_mov_imm(emit->as, R1, turns < LOOP_TURNS_MAX ? turns : LOOP_TURNS_MAX);
}

/* Calls function for the runs in the chain of the bucket in r8, which is locked. */
void emit_loop_locked(struct emit *emit, uint32_t function)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_W, R0, R8, offsetof(struct matcher_bucket, head));
	memory_frame_put(as, FRAME(next), R0);
	memory_frame_point(as, FRAME(bucket), R8);
	emit_loop_turns(emit);
	ebpf_load_function(as, R2, function);
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
}

/* The same for a chain that is not empty, where it may still have to be locked. A lock that cannot be had is a loss. */
void emit_loop_chain(struct emit *emit, uint32_t function)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as), busy = ebpf_label(as);

	if (emit->holds) {
		emit_loop_locked(emit, function);
		return;
	}
	emit_header_late(emit);
	emit_lock(emit, R8, busy);
	emit_loop_locked(emit, function);
	emit_unlock(emit, R8);
	ebpf_jump(as, done);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_bind(as, done);
}

/*
 * The callback of bpf_loop over all places (turn in r1, frame in r9): the run in turn becomes the current one, r7 its
 * address, its bucket the frame's; leaves for none where it waits in no chain, for end behind the last one.
 */
void emit_fetch_place(struct emit *emit, uint32_t none, uint32_t end)
{
	struct ebpf_asm *as = emit->as;

	ebpf_address(as, R8, R1, 1);
	ebpf_jump_if_imm(as, BPF_JGT, R8, (int32_t)emit->at->places, end);
	emit_run_address(emit, R7, R8);
	ebpf_load(as, BPF_W, R1, R7, RUN(bucket));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	memory_frame_put(as, FRAME(current), R8);
	ebpf_load(as, BPF_W, R1, R7, RUN(bucket));
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)((1u << emit->plan->bucket_bits) - 1));
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
}

/* Calls function for all places that were ever taken; all buckets are locked. */
void emit_loop_places(struct emit *emit, uint32_t function)
{
	struct ebpf_asm *as = emit->as;
	uint32_t some = ebpf_label(as);

	emit_control(emit, R1);
	ebpf_load(as, BPF_DW, R1, R1, CONTROL(used));
	ebpf_jump_if_imm(as, BPF_JLT, R1, (int32_t)emit->rule->pool, some);
	ebpf_mov_imm(as, R1, emit->at->places);
	ebpf_bind(as, some);
	ebpf_load_function(as, R2, function);
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
}

/* Lets the run number r8 in r7 wait in its bucket. */
void emit_link(struct emit *emit, uint32_t group)
{
	emit_hash_run(emit, group);
	ebpf_mov(emit->as, R2, R1);
	ebpf_mov(emit->as, R1, R8);
	ebpf_call_function(emit->as, emit->functions.link);
}
