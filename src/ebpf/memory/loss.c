// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks open runs that a loss may have spoiled, and ends them: a run that found no place marks those that its match
 * might have ended, and where a rule discards what a loss may have spoiled, runs that were open then end when they are
 * next met, by an event or the sweep.
 *
 * Also when a process has had its share (PER PROCESS), so that its next run is lost: each run carries the process that
 * opened it, and a table counts them. Two CPUs that open runs for one process at once may both find its last place.
 */

#include "ebpf/memory/places.h"

/* Leaves for stale if the run in r7 was open at a loss, and its rule discards such runs. Overwrites r1, r2. */
void emit_if_stale(struct emit *emit, uint32_t stale)
{
	if (emit->rule->loss != PROGRAM_DISCARD)
		return;
	emit_control(emit, R1);
	ebpf_load(emit->as, BPF_W, R1, R1, CONTROL(epoch));
	ebpf_load(emit->as, BPF_W, R2, R7, RUN(epoch));
	ebpf_jump_if(emit->as, BPF_JNE, R1, R2, stale);
}

/* Given what is said in r0: marks the run in r7 and leaves for marked, unless it is to end. Overwrites r1. */
void emit_mark_if(struct emit *emit, uint32_t marked)
{
	struct ebpf_asm *as = emit->as;
	uint32_t ends = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JNE, R0, MATCHER_MARKS, ends);
	emit_control(emit, R1);
	ebpf_load(as, BPF_W, R1, R1, CONTROL(epoch));
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_store(as, BPF_W, R7, RUN(epoch), R1);
	ebpf_jump(as, marked);
	ebpf_bind(as, ends);
}

/*
 * A run that there is no place for, or no room for what it keeps. Others depend on it only where its match might have
 * dropped them: these, all of its key, are marked when all walks are done, or dropped where the rule discards them.
 */
void emit_refuse(struct emit *emit)
{
	emit_count(emit, CONTROL(refused), 1);
	emit_count(emit, CONTROL(lost), 1);
	emit_depend(emit);
}

void emit_depend(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t known = ebpf_label(as);

	if (!(emit->rule->flags & PROGRAM_RULE_DROP) || emit->rule->loss == PROGRAM_KEEP)
		return;
	ebpf_load(as, BPF_DW, R0, R9, FRAME(matched));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, known);
	memory_frame_set(as, FRAME(matched), emit->rule->loss == PROGRAM_DISCARD ? MATCHER_DROPS : MATCHER_MARKS);
	ebpf_bind(as, known);
}

/*
 * dst = the address of the count of the process in r1. Overwrites r0, r1. Which numbers share a count is drawn: who
 * wants to take up the share of another process cannot look for a number that does.
 */
static void count_address(struct emit *emit, uint8_t dst)
{
	struct ebpf_asm *as = emit->as;
	int32_t bits = __builtin_ctz(PROGRAM_OPENERS);

	ebpf_mov(as, dst, R1);
	ebpf_alu_imm(as, BPF_RSH, dst, bits);
	ebpf_mov_imm(as, R0, emit->context->memory->multiplier);
	ebpf_alu(as, BPF_MUL, dst, R0);
	ebpf_alu_imm(as, BPF_RSH, dst, 64 - bits);
	ebpf_alu(as, BPF_XOR, R1, dst);
	ebpf_alu_imm(as, BPF_AND, R1, PROGRAM_OPENERS - 1);
	emit_item_address(emit, &emit->at->opened, sizeof(uint64_t), dst, R1);
}

/* r1 = the process that opened the run in r7. */
static void load_opener(struct emit *emit)
{
	const struct program_slot *slot = &program_slots(emit->program, emit->rule)[emit->rule->opener_slot];

	ebpf_load(emit->as, BPF_DW, R1, R7, (int32_t)(sizeof(struct matcher_run) + slot->offset));
}

static void check_process_limit(struct emit *emit, uint32_t full)
{
	count_address(emit, R2);
	ebpf_load(emit->as, BPF_DW, R0, R2, 0);
	ebpf_jump_if_imm(emit->as, BPF_JGE, R0, (int32_t)emit->rule->per_process, full);
}

void memory_check_opener(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t full = ebpf_label(as), room = ebpf_label(as);

	if (!emit->rule->per_process)
		return;
	ebpf_load(as, BPF_W, R1, R6, offsetof(struct event_header, pid));
	check_process_limit(emit, full);
	ebpf_jump(as, room);
	ebpf_bind(as, full);
	emit_refuse(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, room);
}

void memory_check_copy(struct emit *emit, uint32_t full)
{
	if (!emit->rule->per_process)
		return;
	load_opener(emit);
	check_process_limit(emit, full);
}

void memory_count_opener(struct emit *emit, int32_t by)
{
	if (!emit->rule->per_process)
		return;
	load_opener(emit);
	count_address(emit, R2);
	ebpf_mov_imm(emit->as, R1, (uint64_t)(int64_t)by);
	ebpf_atomic_add(emit->as, R2, 0, R1);
}
