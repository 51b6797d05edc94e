// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how places are taken and given back and how chains are changed.
 *
 * Lock: a bucket's word is 0 or 1 + CPU, taken by compare-and-exchange, which orders as a full barrier; given back by a
 * plain store where stores are never reordered with earlier accesses (x86), else by an exchange. Progress: an attempt
 * is bounded by SPIN_TURNS; a program that interrupts the holder on the same CPU gives up at once. Giving up is a
 * counted loss.
 *
 * Places: a stack of free ones, {index, tag} in one word changed by compare-and-exchange. The tag changes with every
 * change, so a word that reads the same is the same. Only when the stack is empty is a place used that never was:
 * `used` is therefore the most that were ever in use at once.
 */

#include "ebpf/emit-priv.h"

enum { SPIN_TURNS = 1 << 14, STACK_TRIES = 64 };

#define RUN(member)     offsetof(struct matcher_run, member)
#define BUCKET(member)  offsetof(struct matcher_bucket, member)
#define CONTROL(member) offsetof(struct matcher_control, member)
#define FRAME(member)   offsetof(struct matcher_frame, member)

static void load_region(struct emit *emit, uint8_t dst, const struct matcher_region *region)
{
	ebpf_load_value(emit->as, dst, emit->matcher->maps[region->map].fd, region->off);
}

void emit_control(struct emit *emit, uint8_t dst)
{
	load_region(emit, dst, &emit->place->control);
}

/* dst = the run of this number, which the verifier must know to be within the pool. Overwrites r0. */
void emit_run_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	ebpf_mov(emit->as, dst, index);
	ebpf_alu_imm(emit->as, BPF_MUL, dst, (int32_t)emit->place->stride);
	load_region(emit, R0, &emit->place->runs);
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* dst = the bucket of this number, which lies in its register below their count. Overwrites r0. */
void emit_bucket_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	_Static_assert(sizeof(struct matcher_bucket) == 1 << 4, "shifted below");

	ebpf_mov(emit->as, dst, index);
	ebpf_alu_imm(emit->as, BPF_LSH, dst, 4);
	load_region(emit, R0, &emit->place->buckets);
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* Jumps to bad if the number in index is beyond the pool, which it never is: the verifier wants to see it. */
static void check_index(struct emit *emit, uint8_t index, uint32_t bad)
{
	ebpf_jump_if_imm(emit->as, BPF_JGT, index, (int32_t)emit->rule->pool, bad);
}

/* Adds `by` to a counter. Overwrites r1, r2. */
void emit_count(struct emit *emit, size_t counter, int32_t by)
{
	emit_control(emit, R1);
	ebpf_mov_imm(emit->as, R2, (uint64_t)by);
	ebpf_atomic_add(emit->as, R1, (int32_t)counter, R2);
}

void emit_lose(struct emit *emit)
{
	emit_count(emit, CONTROL(lost), 1);
	ebpf_atomic_add(emit->as, R1, CONTROL(epoch), R2);
}

void emit_unlock(struct emit *emit, uint8_t bucket)
{
#if defined(__x86_64__)
	ebpf_store_imm(emit->as, BPF_W, bucket, BUCKET(lock), 0);
#else
	ebpf_mov_imm(emit->as, R0, 0);
	ebpf_emit(emit->as, insn_atomic(BPF_W, BPF_XCHG, bucket, BUCKET(lock), R0));
#endif
}

/* Takes the run in r7 out of the chain of the locked bucket. Overwrites r0-r4. */
void emit_unlink(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), after = ebpf_label(as), last = ebpf_label(as), done = ebpf_label(as);

	ebpf_load(as, BPF_DW, R1, R9, FRAME(bucket));
	ebpf_load(as, BPF_W, R2, R7, RUN(next));
	ebpf_load(as, BPF_W, R3, R7, RUN(prev));
	ebpf_store_imm(as, BPF_W, R7, RUN(bucket), 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R3, 0, first);
	check_index(emit, R3, done);
	emit_run_address(emit, R4, R3);
	ebpf_store(as, BPF_W, R4, RUN(next), R2);
	ebpf_jump(as, after);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R1, BUCKET(head), R2);
	ebpf_bind(as, after);
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, last);
	check_index(emit, R2, done);
	emit_run_address(emit, R4, R2);
	ebpf_store(as, BPF_W, R4, RUN(prev), R3);
	ebpf_jump(as, done);
	ebpf_bind(as, last);
	ebpf_store(as, BPF_W, R1, BUCKET(tail), R3);
	ebpf_bind(as, done);
}

/* One turn of waiting: context is {bucket, me, 1 as long as it is not had}. */
static uint32_t function_spin(struct ebpf_asm *as)
{
	uint32_t function = ebpf_asm_function(as, "spin");

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as);

	ebpf_load(as, BPF_DW, R1, R2, 0);
	ebpf_load(as, BPF_W, R0, R1, BUCKET(lock));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, again);
	ebpf_load(as, BPF_DW, R3, R2, 8);
	ebpf_atomic_exchange_if(as, BPF_W, R1, BUCKET(lock), R3);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, again);
	ebpf_store_imm(as, BPF_DW, R2, 16, 0);
	ebpf_mov_imm(as, R0, 1);
	ebpf_exit(as);
	ebpf_bind(as, again);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

uint32_t emit_function_lock(struct ebpf_asm *as)
{
	uint32_t spin = function_spin(as), function = ebpf_asm_function(as, "lock");

	ebpf_asm_enter(as, function);
	uint32_t taken = ebpf_label(as), own = ebpf_label(as);
	int16_t wait = ebpf_stack_take(as, 24);

	ebpf_note(as, "lock the bucket");
	ebpf_mov(as, R6, R1);
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_mov(as, R7, R0);
	ebpf_alu_imm(as, BPF_ADD, R7, 1);
	ebpf_mov_imm(as, R0, 0);
	ebpf_atomic_exchange_if(as, BPF_W, R6, BUCKET(lock), R7);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, taken);
	ebpf_jump_if(as, BPF_JEQ, R0, R7, own);
	ebpf_store(as, BPF_DW, R10, wait, R6);
	ebpf_store(as, BPF_DW, R10, wait + 8, R7);
	ebpf_store_imm(as, BPF_DW, R10, wait + 16, 1);
	ebpf_mov_imm(as, R1, SPIN_TURNS);
	ebpf_load_function(as, R2, spin);
	ebpf_mov(as, R3, R10);
	ebpf_alu_imm(as, BPF_ADD, R3, wait);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_load(as, BPF_DW, R0, R10, wait + 16);
	ebpf_exit(as);
	ebpf_bind(as, taken);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_bind(as, own);
	ebpf_mov_imm(as, R0, 1);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/* r4 = the word {r5, tag of r0 + 1}. */
static void next_free_word(struct ebpf_asm *as)
{
	ebpf_mov(as, R4, R0);
	ebpf_alu_imm(as, BPF_RSH, R4, 32);
	ebpf_alu_imm(as, BPF_ADD, R4, 1);
	ebpf_alu_imm(as, BPF_LSH, R4, 32);
	ebpf_alu(as, BPF_OR, R4, R5);
}

static void take_unused(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t full = ebpf_label(as), beyond = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R6, CONTROL(used));
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)emit->rule->pool, full);
	ebpf_mov_imm(as, R1, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R6, CONTROL(used), R1));
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)emit->rule->pool, beyond);
	ebpf_mov(as, R0, R1);
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_exit(as);
	ebpf_bind(as, beyond);
	ebpf_mov_imm(as, R1, UINT64_MAX);
	ebpf_atomic_add(as, R6, CONTROL(used), R1);
	ebpf_bind(as, full);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
}

static uint32_t function_take(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "take");

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), unused = ebpf_label(as), taken = ebpf_label(as), busy = ebpf_label(as);

	ebpf_note(as, "take a place from the pool");
	emit_control(emit, R6);
	ebpf_mov_imm(as, R7, STACK_TRIES);
	ebpf_bind(as, again);
	ebpf_load(as, BPF_DW, R0, R6, CONTROL(free));
	ebpf_mov(as, R8, R0);
	ebpf_emit(as, insn_alu32(BPF_MOV, R1, R0));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, unused);
	check_index(emit, R1, busy);
	ebpf_mov(as, R9, R0);
	emit_run_address(emit, R2, R1);
	ebpf_mov(as, R0, R9);
	ebpf_load(as, BPF_W, R5, R2, RUN(next));
	next_free_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R6, CONTROL(free), R4);
	ebpf_jump_if(as, BPF_JEQ, R0, R8, taken);
	ebpf_alu_imm(as, BPF_SUB, R7, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R7, 0, again);
	ebpf_bind(as, busy);
	ebpf_mov_imm(as, R0, UINT32_MAX);
	ebpf_exit(as);
	ebpf_bind(as, taken);
	ebpf_mov(as, R0, R1);
	ebpf_exit(as);
	ebpf_bind(as, unused);
	take_unused(emit);
	ebpf_asm_leave(as);
	return function;
}

static uint32_t function_release(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "release");

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), done = ebpf_label(as);

	ebpf_note(as, "give the place back to the pool");
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R5, R2);
	emit_control(emit, R1);
	ebpf_mov_imm(as, R7, STACK_TRIES);
	ebpf_bind(as, again);
	ebpf_load(as, BPF_DW, R0, R1, CONTROL(free));
	ebpf_mov(as, R8, R0);
	ebpf_store(as, BPF_W, R6, RUN(next), R0);
	next_free_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, CONTROL(free), R4);
	ebpf_jump_if(as, BPF_JEQ, R0, R8, done);
	ebpf_alu_imm(as, BPF_SUB, R7, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R7, 0, again);
	emit_lose(emit); /* the place stays out of use */
	ebpf_bind(as, done);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/* Appends the run in r6 with number r7 to the chain of the locked bucket in r8. */
static void append(struct emit *emit, uint32_t bad)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), done = ebpf_label(as);

	ebpf_load(as, BPF_W, R1, R8, BUCKET(tail));
	ebpf_store_imm(as, BPF_W, R6, RUN(next), 0);
	ebpf_store(as, BPF_W, R6, RUN(prev), R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, first);
	check_index(emit, R1, bad);
	emit_run_address(emit, R2, R1);
	ebpf_store(as, BPF_W, R2, RUN(next), R7);
	ebpf_jump(as, done);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R8, BUCKET(head), R7);
	ebpf_bind(as, done);
	ebpf_store(as, BPF_W, R8, BUCKET(tail), R7);
}

static uint32_t function_link(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "link");

	ebpf_asm_enter(as, function);
	uint32_t busy = ebpf_label(as), bad = ebpf_label(as);

	ebpf_note(as, "let the run wait in its bucket");
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R7, R2);
	ebpf_mov(as, R9, R3);
	ebpf_alu_imm(as, BPF_AND, R9, (int32_t)((1u << emit->place->bucket_bits) - 1));
	emit_bucket_address(emit, R8, R9);
	ebpf_mov(as, R1, R8);
	ebpf_call_function(as, emit->functions.lock);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, busy);
	append(emit, bad);
	ebpf_alu_imm(as, BPF_ADD, R9, 1);
	ebpf_store(as, BPF_W, R6, RUN(bucket), R9);
	ebpf_bind(as, bad);
	emit_unlock(emit, R8);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_mov(as, R1, R6);
	ebpf_mov(as, R2, R7);
	ebpf_call_function(as, emit->functions.release);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

void emit_functions_new(struct emit *emit)
{
	emit->functions.take = function_take(emit);
	emit->functions.release = function_release(emit);
	emit->functions.link = function_link(emit);
}
