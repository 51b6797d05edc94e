// SPDX-License-Identifier: BSD-2-Clause
/* Writes a match to the ring: who and when from the event, everything else through the slots. */

#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/machine.h"
#include "ebpf/sums/sums.h"

void codegen_match_reserve(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t there = ebpf_label(as);

	if (codegen_raises(emit)) {
		codegen_derived_reserve(emit, none);
		return;
	}
	ebpf_load_map(as, R1, emit->context->memory->ring_fd);
	ebpf_mov_imm(as, R2, codegen_derived_match_bytes(emit->plan));
	ebpf_mov_imm(as, R3, 0);
	ebpf_call(as, BPF_FUNC_ringbuf_reserve);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, there);
	emit_count(emit, CONTROL(lost), 1);
	ebpf_jump(as, none);
	ebpf_bind(as, there);
	ebpf_mov(as, R8, R0);
}

/* Everything of the record in r8 that comes from the event in r6. */
void codegen_match_fill(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words comm = { R8, R6, MATCH(comm), HEADER(comm), EVENT_COMM_BYTES / 8 };

	emit_header_match(emit);
	ebpf_store_imm(as, BPF_W, R8, MATCH(rule), (int32_t)emit->plan->index);
	ebpf_store_imm(as, BPF_DW, R8, MATCH(done), 0);
	if (emit->is_derived) { /* as the match that raised the event */
		ebpf_load(as, BPF_DW, R1, R9, offsetof(struct matcher_frame, node));
		ebpf_load(as, BPF_H, R0, R1, sizeof(struct matcher_raised) + MATCH(at_deadline));
		ebpf_store(as, BPF_H, R8, MATCH(at_deadline), R0);
	} else {
		ebpf_store_imm(as, BPF_H, R8, MATCH(at_deadline), 0);
	}
	ebpf_load(as, BPF_DW, R0, R6, HEADER(ts));
	ebpf_store(as, BPF_DW, R8, MATCH(ts), R0);
	ebpf_load(as, BPF_W, R0, R6, HEADER(cpu));
	ebpf_store(as, BPF_W, R8, MATCH(cpu), R0);
	ebpf_load(as, BPF_W, R0, R6, HEADER(pid));
	ebpf_store(as, BPF_W, R8, MATCH(pid), R0);
	ebpf_load(as, BPF_W, R0, R6, HEADER(tid));
	ebpf_store(as, BPF_W, R8, MATCH(tid), R0);
	ebpf_lower_copy(&emit->lower, &comm);
}

/* AFTER MATCH DROP has something to do. */
static void mark_matched(struct emit *emit)
{
	if (emit->rule->flags & PROGRAM_RULE_DROP)
		memory_frame_set(emit->as, offsetof(struct matcher_frame, matched), MATCHER_DROPS);
}

/*
 * r2 = how the match is handed over. Waking this process costs the thread that completed it some microseconds before it
 * goes on, so where everything is done already (done, on the stack), that waits until somebody looks.
 */
static void load_flags(struct emit *emit, int16_t done)
{
	struct ebpf_asm *as = emit->as;
	uint64_t mask = done ? emit->acts->alone : 0;
	uint32_t wait = ebpf_label(as);

	ebpf_mov_imm(as, R2, emit->context->silent || mask ? BPF_RB_NO_WAKEUP : 0);
	if (emit->context->silent || !mask)
		return;
	ebpf_mov_imm(as, R1, mask);
	ebpf_load(as, BPF_DW, R0, R10, done);
	ebpf_alu(as, BPF_AND, R0, R1);
	ebpf_jump_if(as, BPF_JEQ, R0, R1, wait);
	ebpf_mov_imm(as, R2, 0);
	ebpf_bind(as, wait);
}

static void submit(struct emit *emit, int16_t done)
{
	mark_matched(emit);
	codegen_derived_origin(emit);
	if (codegen_raises(emit)) {
		codegen_derived_submit(emit);
		return;
	}
	emit_count(emit, CONTROL(matches), 1);
	load_flags(emit, done);
	ebpf_mov(emit->as, R1, R8);
	ebpf_call(emit->as, BPF_FUNC_ringbuf_submit);
}

void codegen_match_submit(struct emit *emit)
{
	submit(emit, 0);
}

void codegen_match_discard(struct emit *emit)
{
	if (codegen_raises(emit)) {
		codegen_derived_discard(emit);
		return;
	}
	ebpf_mov(emit->as, R1, R8);
	ebpf_mov_imm(emit->as, R2, BPF_RB_NO_WAKEUP);
	ebpf_call(emit->as, BPF_FUNC_ringbuf_discard);
}

/*
 * r3 = whether a loss happened while the run in r7 was open, as it stood when this event arrived, or the event is not
 * known whole.
 */
void codegen_tainted(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as);

	emit_cut(emit);
	if (emit->rule->loss == PROGRAM_KEEP)
		return;
	if (emit->event->asks_ends)
		ebpf_jump_if_imm(as, BPF_JNE, R3, 0, done);
	if (emit->rule->semantics == PROGRAM_SKIP_TILL_ANY) {
		ebpf_load(as, BPF_W, R1, R9, offsetof(struct matcher_frame, epoch));
	} else {
		emit_control(emit, R1);
		ebpf_load(as, BPF_W, R1, R1, CONTROL(epoch));
	}
	ebpf_load(as, BPF_W, R2, R7, offsetof(struct matcher_run, epoch));
	ebpf_jump_if(as, BPF_JEQ, R1, R2, done);
	ebpf_mov_imm(as, R3, 1);
	ebpf_bind(as, done);
}

/* The record in r8 takes the place of the run in r7 among the matches of its event. */
void codegen_match_order(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R0, R7, offsetof(struct matcher_run, made));
	ebpf_store(as, BPF_DW, R8, MATCH(made), R0);
	ebpf_load(as, BPF_W, R0, R7, offsetof(struct matcher_run, ordinal));
	ebpf_store(as, BPF_W, R8, MATCH(ordinal), R0);
}

/* A match that is not reported. */
static void count_quietly(struct emit *emit)
{
	mark_matched(emit);
	emit_count(emit, CONTROL(matches), 1);
}

/* Reports the run in r7. done, on the stack: what was done at the match; 0: nothing was. */
static void report_run_match(struct emit *emit, void (*fill)(struct emit *emit), int16_t done, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words slots = { R8, R7, sizeof(struct matcher_match), sizeof(struct matcher_run),
				    emit->plan->area_bytes / 8 };

	codegen_match_reserve(emit, none);
	fill(emit);
	if (done) {
		ebpf_load(as, BPF_DW, R0, R10, done);
		ebpf_store(as, BPF_DW, R8, MATCH(done), R0);
	}
	codegen_tainted(emit);
	ebpf_store(as, BPF_H, R8, MATCH(tainted), R3);
	codegen_match_order(emit);
	ebpf_lower_copy(&emit->lower, &slots);
	emit_log_share(emit, R8, sizeof(struct matcher_match));
	submit(emit, done);
}

/* A match that an exception keeps from being told and from acting; leaves for none. */
static void except(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t reported = ebpf_label(as);

	if (!emit->rule->except)
		return;
	ebpf_note(as, "rule %s: is the match excepted", program_text(emit->program, emit->rule->name));
	codegen_condition(emit, emit->rule->except - 1, reported);
	mark_matched(emit);
	emit_cpu_line(emit, R1, none);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, CPU(excepted), R2);
	ebpf_jump(as, none);
	ebpf_bind(as, reported);
}

/* A match that programs add up: leaves for none, unless there is no room for it. */
static void add_up_match(struct emit *emit, uint32_t none)
{
	uint32_t deliver = ebpf_label(emit->as);

	if (!emit->plan->sums.here)
		return;
	sums_emit_match(emit, deliver);
	count_quietly(emit);
	ebpf_jump(emit->as, none);
	ebpf_bind(emit->as, deliver);
}

/* Unless the rule discards what a loss may have spoiled. */
void codegen_match_run(struct emit *emit, void (*fill)(struct emit *emit))
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as), mark = ebpf_stack_mark(as);
	int16_t done = 0;

	if (emit->rule->loss == PROGRAM_DISCARD) {
		codegen_tainted(emit);
		ebpf_jump_if_imm(as, BPF_JNE, R3, 0, none);
	}
	except(emit, none);
	if (emit->plan->silences && !codegen_raises(emit))
		codegen_if_silent(emit, none);
	if (emit->acts->done) {
		done = ebpf_stack_take(as, 8);
		codegen_act(emit, done);
	}
	add_up_match(emit, none);
	if (emit->acts->reports)
		report_run_match(emit, fill, done, none);
	else
		count_quietly(emit);
	ebpf_bind(as, none);
	ebpf_stack_release(as, mark);
}
