// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that locks and changes the chains of a bucket.
 *
 * A bucket's lock is 0 when free. It is taken by compare-and-exchange, which orders as a full barrier, and given back
 * by a plain store where stores are never reordered with earlier accesses (x86), else by an exchange. Progress: an
 * attempt is bounded by SPIN_TURNS; a program that interrupts the holder on the same CPU gives up at once, for which
 * the lock holds 1 + CPU where such programs exist. Giving up is a counted loss, never a stall.
 */

#include "ebpf/memory/places.h"

enum { SPIN_TURNS = 1 << 20, LOCKED_BY_SOMEBODY = INT32_MAX };

/* Calls bpf_local_irq_save or bpf_local_irq_restore. Overwrites r0-r5. */
static void toggle_interrupts(struct emit *emit, int32_t function)
{
	if (!emit->plan->locks_out_interrupts)
		return;
	ebpf_address(emit->as, R1, R10, emit->irq_flags);
	ebpf_call_kernel(emit->as, function);
}

/* Unlocks the bucket whose address is in a register. Overwrites r0-r5. */
void emit_unlock(struct emit *emit, uint8_t bucket)
{
#if defined(__x86_64__)
	ebpf_store_imm(emit->as, BPF_W, bucket, BUCKET(lock), 0);
#else
	ebpf_mov_imm(emit->as, R0, 0);
	ebpf_emit(emit->as, insn_atomic(BPF_W, BPF_XCHG, bucket, BUCKET(lock), R0));
#endif
	toggle_interrupts(emit, emit->context->irq_restore);
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
	emit_check_index(emit, R3, done);
	emit_run_address(emit, R4, R3);
	ebpf_store(as, BPF_W, R4, RUN(next), R2);
	ebpf_jump(as, after);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R1, BUCKET(head), R2);
	ebpf_bind(as, after);
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, last);
	emit_check_index(emit, R2, done);
	emit_run_address(emit, R4, R2);
	ebpf_store(as, BPF_W, R4, RUN(prev), R3);
	ebpf_jump(as, done);
	ebpf_bind(as, last);
	ebpf_store(as, BPF_W, R1, BUCKET(tail), R3);
	ebpf_bind(as, done);
}

/* One turn of waiting: context is {bucket, me}. Ends the loop when the lock is had; never in the last turn. */
static uint32_t function_spin(struct ebpf_asm *as)
{
	uint32_t function = ebpf_asm_function(as, "spin");

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JGE, R1, SPIN_TURNS - 1, again);
	ebpf_load(as, BPF_DW, R1, R2, 0);
	ebpf_load(as, BPF_W, R0, R1, BUCKET(lock));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, again);
	ebpf_load(as, BPF_DW, R3, R2, 8);
	ebpf_atomic_exchange_if(as, BPF_W, R1, BUCKET(lock), R3);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, again);
	ebpf_return(as, 1);
	ebpf_bind(as, again);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

uint32_t emit_function_lock(struct ebpf_asm *as)
{
	uint32_t spin, function;

	if (ebpf_asm_find(as, "lock", &function))
		return function;
	spin = function_spin(as);
	function = ebpf_asm_function(as, "lock");
	ebpf_asm_enter(as, function);
	uint32_t taken = ebpf_label(as), own = ebpf_label(as);
	int16_t wait = ebpf_stack_take(as, 16);

	ebpf_note(as, "lock the bucket");
	ebpf_mov(as, R6, R1);
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_address(as, R7, R0, 1);
	ebpf_mov_imm(as, R0, 0);
	ebpf_atomic_exchange_if(as, BPF_W, R6, BUCKET(lock), R7);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, taken);
	ebpf_jump_if(as, BPF_JEQ, R0, R7, own);
	ebpf_store(as, BPF_DW, R10, wait, R6);
	ebpf_store(as, BPF_DW, R10, wait + 8, R7);
	ebpf_mov_imm(as, R1, SPIN_TURNS);
	ebpf_load_function(as, R2, spin);
	ebpf_address(as, R3, R10, wait);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, SPIN_TURNS, own);
	ebpf_bind(as, taken);
	ebpf_return_0_or_1(as, own);
	ebpf_asm_leave(as);
	return function;
}

/*
 * Locks the bucket whose address is in a register that calls preserve; leaves for busy when it cannot be had.
 * Overwrites r0-r5.
 */
void emit_lock(struct emit *emit, uint8_t bucket, uint32_t busy)
{
	struct ebpf_asm *as = emit->as;
	bool by_cpu = emit->plan->interrupted && !emit->plan->locks_out_interrupts;
	uint32_t locked = ebpf_label(as);

	toggle_interrupts(emit, emit->context->irq_save);
	if (!by_cpu) {
		ebpf_mov_imm(as, R0, 0);
		ebpf_mov_imm(as, R1, LOCKED_BY_SOMEBODY);
		ebpf_atomic_exchange_if(as, BPF_W, bucket, BUCKET(lock), R1);
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, locked);
	}
	ebpf_mov(as, R1, bucket);
	ebpf_call_function(as, emit->functions.lock);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, locked);
	toggle_interrupts(emit, emit->context->irq_restore);
	ebpf_jump(as, busy);
	ebpf_bind(as, locked);
}

/* Appends the run in r6 with number r7 to the chain of the locked bucket in r8. */
static void append_waiting_run(struct emit *emit, uint32_t bad)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), done = ebpf_label(as);

	ebpf_load(as, BPF_W, R1, R8, BUCKET(tail));
	ebpf_store_imm(as, BPF_W, R6, RUN(next), 0);
	ebpf_store(as, BPF_W, R6, RUN(prev), R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, first);
	emit_check_index(emit, R1, bad);
	emit_run_address(emit, R2, R1);
	ebpf_store(as, BPF_W, R2, RUN(next), R7);
	ebpf_jump(as, done);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R8, BUCKET(head), R7);
	ebpf_bind(as, done);
	ebpf_store(as, BPF_W, R8, BUCKET(tail), R7);
}

/*
 * A function of the rule that the verifier need not follow from every call. While interrupts are locked out it insists
 * on doing so.
 */
uint32_t emit_function_of_numbers(struct emit *emit, const char *name, uint32_t numbers)
{
	if (emit->plan->locks_out_interrupts)
		return ebpf_asm_function(emit->as, name);
	return ebpf_asm_global(emit->as, name, numbers);
}

uint32_t emit_function_link(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, "link", 2);

	ebpf_asm_enter(as, function);
	uint32_t busy = ebpf_label(as), bad = ebpf_label(as), none = ebpf_label(as);
	int16_t outer_flags = emit->irq_flags;
	bool locks = !emit->holds && !program_rule_shares(emit->rule); /* or else whoever opens a run does */

	if (emit->plan->locks_out_interrupts && locks)
		emit->irq_flags = ebpf_stack_take(as, 8);
	ebpf_note(as, "let the run wait in its bucket");
	ebpf_mov(as, R7, R1);
	ebpf_mov(as, R9, R2);
	emit_check_index(emit, R7, none);
	emit_run_address(emit, R6, R7);
	ebpf_alu_imm(as, BPF_AND, R9, (int32_t)((1u << emit->plan->bucket_bits) - 1));
	emit_bucket_address(emit, R8, R9);
	if (locks)
		emit_lock(emit, R8, busy);
	append_waiting_run(emit, bad);
	ebpf_alu_imm(as, BPF_ADD, R9, 1);
	ebpf_store(as, BPF_W, R6, RUN(bucket), R9);
	ebpf_bind(as, bad);
	if (locks)
		emit_unlock(emit, R8);
	ebpf_return(as, 0);
	if (locks) {
		ebpf_bind(as, busy);
		emit_lose(emit);
		if (emit->rule->per_process) {
			ebpf_mov(as, R8, R7);
			ebpf_mov(as, R7, R6);
			memory_count_opener(emit, -1);
			ebpf_mov(as, R7, R8);
		}
		ebpf_mov(as, R1, R7);
		ebpf_call_function(as, emit->functions.release);
	}
	ebpf_bind(as, none);
	ebpf_return(as, 0);
	emit->irq_flags = outer_flags;
	ebpf_asm_leave(as);
	return function;
}
