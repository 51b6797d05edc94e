// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that takes places for runs (memory/stock.c) and gives them back.
 *
 * An atomic exchange costs as much as thirty other instructions, so a CPU keeps the place given back last outside of
 * its stack, for itself alone. No other CPU can take it; so that is done only where pools are so large that it does not
 * matter when they are full by one place per CPU early.
 *
 * Where a rule replaces, each CPU has a spare place beyond the pool for a run that is opened when that is full. The
 * oldest then goes (memory/places.c), and its place is the next spare one.
 */

#include "ebpf/memory/places.h"
#include "ebpf/memory/stock.h"

static void forget_history(struct emit *emit, uint32_t stays)
{
	(void)stays;
	emit_log_forget(emit, R6, sizeof(struct matcher_run));
}

/* The places of runs. */
static struct emit_stock pool_stock_of(const struct emit *emit)
{
	return (struct emit_stock){
		.places = &emit->at->runs,
		.bytes = emit->at->stride,
		.count = emit->at->places,
		.fresh = (uint32_t)emit->rule->pool,
		.next = RUN(next),
		.free = CPU(free),
		.counter = &emit->at->control,
		.used = CONTROL(used),
		.take = "take",
		.release = "release",
		.before_release = emit->plan->history.log_entries ? forget_history : NULL,
	};
}

/* r8 = this CPU's spare place, which is not there any more then; falls through where it has been taken. */
static void take_spare(struct emit *emit, uint32_t taken)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as);

	emit_cpu_line(emit, R1, none);
	ebpf_load(as, BPF_W, R8, R1, CPU(spare));
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, none);
	ebpf_store_imm(as, BPF_W, R1, CPU(spare), 0);
	ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->at->places, taken);
	ebpf_bind(as, none);
}

/*
 * r8 = the number of a free place; leaves for none, with the refusal counted, where there is none. The commonest case,
 * a place that this CPU gave back, is dealt with here.
 */
static void take_pool_place(struct emit *emit, uint32_t none, bool spares)
{
	struct ebpf_asm *as = emit->as;
	uint32_t slow = ebpf_label(as), full = ebpf_label(as), busy = ebpf_label(as), taken = ebpf_label(as);
	struct emit_stock stock = pool_stock_of(emit);

	emit_cpu_line(emit, R1, slow);
	if (emit->at->keeps_one) {
		uint32_t none_kept = ebpf_label(as);

		ebpf_load(as, BPF_W, R8, R1, CPU(kept));
		ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, none_kept);
		ebpf_store_imm(as, BPF_W, R1, CPU(kept), 0);
		ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->at->places, taken);
		ebpf_bind(as, none_kept);
	}
	memory_stock_pop(emit, &stock, R8, &(struct emit_stock_exits){ slow, slow });
	ebpf_jump(as, taken);
	ebpf_bind(as, slow);
	ebpf_call_function(as, emit->functions.take);
	ebpf_mov(as, R8, R0);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, full);
	ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->at->places, taken);
	ebpf_jump(as, busy);
	ebpf_bind(as, full);
	if (spares)
		take_spare(emit, taken);
	emit_refuse(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, taken);
}

void emit_take(struct emit *emit, uint32_t none)
{
	take_pool_place(emit, none, false);
}

void emit_take_opened(struct emit *emit, uint32_t none)
{
	take_pool_place(emit, none, emit->rule->flags & PROGRAM_RULE_REPLACE);
}

/* The same for what may turn out not to be wanted: r8 = 0 where there is none. */
void emit_take_ahead(struct emit *emit, bool spares)
{
	struct ebpf_asm *as = emit->as;
	uint32_t taken = ebpf_label(as), full = ebpf_label(as);

	ebpf_call_function(as, emit->functions.take);
	ebpf_mov(as, R8, R0);
	if (spares)
		ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, full);
	ebpf_jump_if_imm(as, BPF_JLE, R8, (int32_t)emit->at->places, taken);
	ebpf_bind(as, full);
	if (spares)
		take_spare(emit, taken);
	ebpf_mov_imm(as, R8, 0);
	ebpf_bind(as, taken);
}

/* Gives back the run in r7, whose number is in the frame's member. Overwrites r0-r5. */
void emit_release(struct emit *emit, size_t number)
{
	struct ebpf_asm *as = emit->as;
	uint32_t slow = ebpf_label(as), done = ebpf_label(as);
	struct emit_stock stock = pool_stock_of(emit);

	emit_log_forget(emit, R7, sizeof(struct matcher_run));
	memory_count_opener(emit, -1);
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
	memory_stock_push(emit, &stock, R7, slow);
	ebpf_jump(as, done);
	ebpf_bind(as, slow);
	ebpf_load(as, BPF_DW, R1, R9, (int32_t)number);
	ebpf_call_function(as, emit->functions.release);
	ebpf_bind(as, done);
}

void emit_functions_new(struct emit *emit)
{
	struct emit_stock stock = pool_stock_of(emit);

	emit_log_functions(emit);
	emit->functions.take = memory_stock_function_take(emit, &stock);
	emit->functions.release = memory_stock_function_release(emit, &stock);
	emit->functions.link = emit_function_link(emit);
}
