// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links the runs that this event sent elsewhere: they are linked when all walks are done, so that none is stepped twice
 * and no two buckets are ever locked at once.
 */

#include "ebpf/codegen/codegen.h"
#include "ebpf/memory/places.h"

/*
 * Adds a run, which is in no chain, to those to be linked; its number is in the frame's member. Its address is in
 * register run. They are kept in order only where order matters. Overwrites r0-r2.
 */
void codegen_push_moved(struct emit *emit, uint8_t run, size_t number)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), done = ebpf_label(as);

	if (emit->rule->semantics != PROGRAM_SKIP_TILL_ANY) {
		ebpf_load(as, BPF_DW, R1, R9, FRAME(moved));
		ebpf_store(as, BPF_W, run, RUN(next), R1);
		ebpf_load(as, BPF_DW, R1, R9, (int32_t)number);
		memory_frame_put(as, FRAME(moved), R1);
		return;
	}
	ebpf_store_imm(as, BPF_W, run, RUN(next), 0);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(moved));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, first);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(last));
	ebpf_jump_if_imm(as, BPF_JGT, R1, (int32_t)emit->at->places, first);
	emit_run_address(emit, R2, R1);
	ebpf_load(as, BPF_DW, R1, R9, (int32_t)number);
	ebpf_store(as, BPF_W, R2, RUN(next), R1);
	ebpf_jump(as, done);
	ebpf_bind(as, first);
	ebpf_load(as, BPF_DW, R1, R9, (int32_t)number);
	memory_frame_put(as, FRAME(moved), R1);
	ebpf_bind(as, done);
	memory_frame_put(as, FRAME(last), R1);
}

/* Links the run number r8 in r7 under the key of the group it says it belongs to. */
static void link_by_group(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as);

	for (uint32_t group = 0; group < emit->plan->group_count; group++) {
		uint32_t next = ebpf_label(as);

		if (group + 1 < emit->plan->group_count) {
			ebpf_load(as, BPF_H, R1, R7, RUN(group));
			ebpf_jump_if_imm(as, BPF_JNE, R1, (int32_t)group, next);
		}
		memory_enter(emit, group);
		ebpf_jump(as, done);
		ebpf_bind(as, next);
	}
	ebpf_bind(as, done);
}

/* r8 = the run number in the frame's member, r7 its address; leaves for none if it is 0. */
static void fetch_run_of_member(struct emit *emit, size_t member, uint32_t none)
{
	ebpf_load(emit->as, BPF_DW, R8, R9, (int32_t)member);
	ebpf_jump_if_imm(emit->as, BPF_JEQ, R8, 0, none);
	ebpf_jump_if_imm(emit->as, BPF_JGT, R8, (int32_t)emit->at->places, none);
	emit_run_address(emit, R7, R8);
}

/* bpf_loop's callback (turn, frame). */
static uint32_t function_settle(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "settle");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), keep = ebpf_label(as), turn = ebpf_label(as);

	ebpf_note(as, "rule %s: a run goes to its new key", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	fetch_run_of_member(emit, FRAME(moved), end);
	ebpf_load(as, BPF_W, R0, R7, RUN(next));
	memory_frame_put(as, FRAME(moved), R0);
	if (emit->rule->flags & PROGRAM_RULE_DROP) {
		ebpf_load(as, BPF_DW, R0, R9, FRAME(matched));
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, keep);
		if (emit->rule->loss == PROGRAM_TAINT)
			emit_mark_if(emit, keep);
		emit_why_rule(emit, PROGRAM_WHY_DROPPED);
		memory_count_opener(emit, -1);
		ebpf_mov(as, R1, R8);
		ebpf_call_function(as, emit->functions.release);
		ebpf_jump(as, turn);
	}
	ebpf_bind(as, keep);
	link_by_group(emit);
	ebpf_bind(as, turn);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(moved));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, end);
	ebpf_return_0_or_1(as, end);
	ebpf_asm_leave(as);
	return function;
}

static void settle_moved(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R9, FRAME(moved));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, done);
	emit_loop_turns(emit);
	ebpf_load_function(as, R2, function_settle(emit));
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_bind(as, done);
}

static void settle_opened(struct emit *emit)
{
	uint32_t none = ebpf_label(emit->as);

	fetch_run_of_member(emit, FRAME(opened), none);
	link_by_group(emit);
	ebpf_bind(emit->as, none);
}

void codegen_settle(struct emit *emit)
{
	if (emit->event->moves)
		settle_moved(emit);
	if (emit->event->links_late && emit->plan->has_runs)
		settle_opened(emit);
}
