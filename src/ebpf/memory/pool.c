// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how places are taken and given back. Each CPU has a stack of free ones, {number, tag} in one word that is
 * changed by compare-and-exchange; the tag changes with every change, so a word that reads the same is the same. A
 * place goes to the stack of the CPU that gives it back, and is taken from that of the CPU that needs it, so CPUs meet
 * only when one has none: then a place is used that never was (`used` counts these), and when all were, another CPU's
 * is taken. The pool is full when no CPU has any.
 *
 * An atomic exchange costs as much as thirty other instructions, so a CPU keeps the place given back last outside of
 * its stack, for itself alone. No other CPU can take it; so that is done only where pools are so large that it does not
 * matter when they are full by one place per CPU early.
 */

#include "ebpf/memory/emit.h"

enum { STACK_TRIES = 16, STEAL_CPUS_MAX = 256 };

/* r4 = the word {r5, tag of r0 + 1}. */
static void next_word(struct ebpf_asm *as)
{
	ebpf_mov(as, R4, R0);
	ebpf_alu_imm(as, BPF_RSH, R4, 32);
	ebpf_alu_imm(as, BPF_ADD, R4, 1);
	ebpf_alu_imm(as, BPF_LSH, R4, 32);
	ebpf_alu(as, BPF_OR, R4, R5);
}

/*
 * Takes the top place from the stack whose line is in r1: its number is then in `number`, within the pool. Leaves for
 * empty, for missed when another CPU was faster. Overwrites r0, r2-r5.
 */
static void pop(struct emit *emit, uint8_t number, uint32_t empty, uint32_t missed)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R3, R1, CPU(free));
	ebpf_emit(as, insn_alu32(BPF_MOV, number, R3));
	ebpf_jump_if_imm(as, BPF_JEQ, number, 0, empty);
	emit_check_index(emit, number, empty);
	emit_run_address(emit, R2, number);
	ebpf_load(as, BPF_W, R5, R2, RUN(next));
	ebpf_mov(as, R0, R3);
	next_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, CPU(free), R4);
	ebpf_jump_if(as, BPF_JNE, R0, R3, missed);
}

/* Puts the run at address `run` with number r5 on the stack whose line is in r1. Overwrites r0, r3, r4. */
static void push(struct emit *emit, uint8_t run, uint32_t missed)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R0, R1, CPU(free));
	ebpf_mov(as, R3, R0);
	ebpf_store(as, BPF_W, run, RUN(next), R0);
	next_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, CPU(free), R4);
	ebpf_jump_if(as, BPF_JNE, R0, R3, missed);
}

/* Returns the number of a place that was never used; leaves for full when all were. */
static void take_unused(struct emit *emit, uint32_t full)
{
	struct ebpf_asm *as = emit->as;
	uint32_t beyond = ebpf_label(as);

	emit_control(emit, R1);
	ebpf_load(as, BPF_DW, R0, R1, CONTROL(used));
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)emit->rule->pool, full);
	ebpf_mov_imm(as, R2, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R1, CONTROL(used), R2));
	ebpf_jump_if_imm(as, BPF_JGE, R2, (int32_t)emit->rule->pool, beyond);
	ebpf_mov(as, R0, R2);
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_exit(as);
	ebpf_bind(as, beyond);
	ebpf_mov_imm(as, R2, UINT64_MAX);
	ebpf_atomic_add(as, R1, CONTROL(used), R2);
	ebpf_jump(as, full);
}

/* Returns a place from another CPU's stack; falls through when there is none. */
static void steal(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t again = ebpf_label(as), next = ebpf_label(as), cpus = emit->context->memory->cpu_count;

	ebpf_mov_imm(as, R7, 0);
	ebpf_bind(as, again);
	emit_line_of(emit, R1, R7);
	pop(emit, R8, next, next);
	ebpf_mov(as, R0, R8);
	ebpf_exit(as);
	ebpf_bind(as, next);
	ebpf_alu_imm(as, BPF_ADD, R7, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R7, (int32_t)(cpus < STEAL_CPUS_MAX ? cpus : STEAL_CPUS_MAX), again);
}

static uint32_t function_take(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, "take", 0);

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), unused = ebpf_label(as), missed = ebpf_label(as), full = ebpf_label(as);
	uint32_t busy = ebpf_label(as);

	ebpf_note(as, "take a place from the pool");
	emit_cpu_line(emit, R6, busy);
	ebpf_mov_imm(as, R7, STACK_TRIES);
	ebpf_bind(as, again);
	ebpf_mov(as, R1, R6);
	pop(emit, R8, unused, missed);
	ebpf_mov(as, R0, R8);
	ebpf_exit(as);
	ebpf_bind(as, missed);
	ebpf_alu_imm(as, BPF_SUB, R7, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R7, 0, again);
	ebpf_bind(as, busy);
	ebpf_mov_imm(as, R0, UINT32_MAX);
	ebpf_exit(as);
	ebpf_bind(as, unused);
	take_unused(emit, full);
	ebpf_bind(as, full);
	ebpf_note(as, "take a place that another CPU gave back");
	steal(emit);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

static uint32_t function_release(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, "release", 1);

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), missed = ebpf_label(as), lost = ebpf_label(as);

	ebpf_note(as, "give the place back to the pool");
	ebpf_mov(as, R7, R1);
	emit_check_index(emit, R7, lost);
	emit_run_address(emit, R6, R7);
	emit_cpu_line(emit, R1, lost);
	ebpf_mov(as, R5, R7);
	ebpf_mov_imm(as, R8, STACK_TRIES);
	ebpf_bind(as, again);
	push(emit, R6, missed);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_bind(as, missed);
	ebpf_alu_imm(as, BPF_SUB, R8, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R8, 0, again);
	ebpf_bind(as, lost);
	emit_lose(emit); /* the place stays out of use */
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/*
 * A run that the pool has no place for. Others depend on it only where its match might have dropped them: these, all of
 * its key, are marked when all walks are done, or dropped where the rule discards them.
 */
void emit_refuse(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t known = ebpf_label(as);

	emit_count(emit, CONTROL(refused), 1);
	emit_count(emit, CONTROL(lost), 1);
	if (!(emit->rule->flags & PROGRAM_RULE_DROP) || emit->rule->loss == PROGRAM_KEEP)
		return;
	ebpf_load(as, BPF_DW, R0, R9, FRAME(matched));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, known);
	emit_frame_set(as, FRAME(matched), emit->rule->loss == PROGRAM_DISCARD ? MATCHER_DROPS : MATCHER_MARKS);
	ebpf_bind(as, known);
}

/*
 * r8 = the number of a free place; leaves for none, with the refusal counted, where there is none. The commonest case,
 * a place that this CPU gave back, is dealt with here.
 */
void emit_take(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t slow = ebpf_label(as), full = ebpf_label(as), busy = ebpf_label(as), taken = ebpf_label(as);

	emit_cpu_line(emit, R1, slow);
	if (emit->at->keeps_one) {
		uint32_t none_kept = ebpf_label(as);

		ebpf_load(as, BPF_W, R8, R1, CPU(kept));
		ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, none_kept);
		ebpf_store_imm(as, BPF_W, R1, CPU(kept), 0);
		ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->rule->pool, taken);
		ebpf_bind(as, none_kept);
	}
	pop(emit, R8, slow, slow);
	ebpf_jump(as, taken);
	ebpf_bind(as, slow);
	ebpf_call_function(as, emit->functions.take);
	ebpf_mov(as, R8, R0);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, full);
	ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->rule->pool, taken);
	ebpf_jump(as, busy);
	ebpf_bind(as, full);
	emit_refuse(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, taken);
}

/* The same for what may turn out not to be wanted: r8 = 0 where there is none. */
void emit_take_ahead(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t taken = ebpf_label(as);

	ebpf_call_function(as, emit->functions.take);
	ebpf_mov(as, R8, R0);
	ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->rule->pool, taken);
	ebpf_mov_imm(as, R8, 0);
	ebpf_bind(as, taken);
}

/* Gives back the run in r7, whose number is in the frame's member. Overwrites r0-r5. */
void emit_release(struct emit *emit, size_t number)
{
	struct ebpf_asm *as = emit->as;
	uint32_t slow = ebpf_label(as), done = ebpf_label(as);

	emit_cpu_line(emit, R1, slow);
	ebpf_load(as, BPF_DW, R5, R9, (int32_t)number);
	if (emit->at->keeps_one) {
		uint32_t has_one = ebpf_label(as);

		ebpf_load(as, BPF_W, R0, R1, CPU(kept));
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, has_one);
		ebpf_store(as, BPF_W, R1, CPU(kept), R5);
		ebpf_jump(as, done);
		ebpf_bind(as, has_one);
	}
	push(emit, R7, slow);
	ebpf_jump(as, done);
	ebpf_bind(as, slow);
	ebpf_load(as, BPF_DW, R1, R9, (int32_t)number);
	ebpf_call_function(as, emit->functions.release);
	ebpf_bind(as, done);
}

void emit_functions_new(struct emit *emit)
{
	emit->functions.take = function_take(emit);
	emit->functions.release = function_release(emit);
	emit->functions.link = emit_function_link(emit);
}
