// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends a run whose time is up. The list it comes from was made without locks, so everything is looked at again: is the
 * run still in the bucket it says it is in, and is it overdue? Only then it leaves the chain and, in a state that waits
 * for the deadline, matches: at first_ts + within, with the context of its last positive event.
 */

#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/machine.h"
#include "ebpf/codegen/part.h"

#define WORK(member)    offsetof(struct matcher_work, member)
#define OVERDUE(member) offsetof(struct matcher_overdue, member)

enum { SWEEP_CONTEXT_NUMBERS = 3 };

static void load_work(const struct memory *memory, struct ebpf_asm *as, uint8_t dst)
{
	ebpf_load_value(as, dst, memory->maps[memory->work.map].fd, memory->work.off);
}

/* r1 = r7's deadline; overwrites r0. */
static void load_deadline(struct emit *emit)
{
	ebpf_load(emit->as, BPF_DW, R1, R7, RUN(first_ts));
	ebpf_mov_imm(emit->as, R0, emit->rule->within_ns);
	ebpf_alu(emit->as, BPF_ADD, R1, R0);
}

/* What r8's record says of who and when. */
static void fill_context(struct emit *emit)
{
	const struct program_slot *context = &program_slots(emit->program, emit->rule)[emit->rule->context_slot];
	static const size_t numbers[SWEEP_CONTEXT_NUMBERS] = { MATCH(cpu), MATCH(pid), MATCH(tid) };
	struct ebpf_asm *as = emit->as;
	struct ebpf_words comm = { R8, R7, MATCH(comm), (int32_t)(sizeof(struct matcher_run) + context[3].offset),
				   EVENT_COMM_BYTES / 8 };

	for (uint32_t i = 0; i < SWEEP_CONTEXT_NUMBERS; i++) {
		ebpf_load(as, BPF_DW, R0, R7, (int32_t)(sizeof(struct matcher_run) + context[i].offset));
		ebpf_store(as, BPF_W, R8, (int32_t)numbers[i], R0);
	}
	ebpf_lower_copy(&emit->lower, &comm);
	load_deadline(emit);
	ebpf_store(as, BPF_DW, R8, MATCH(ts), R1);
	ebpf_store_imm(as, BPF_W, R8, MATCH(rule), (int32_t)emit->plan->index);
	ebpf_store_imm(as, BPF_H, R8, MATCH(at_deadline), 1);
	ebpf_store_imm(as, BPF_DW, R8, MATCH(done), 0);
}

static bool is_deadline(const struct emit *emit, uint32_t state)
{
	return program_states(emit->program, emit->rule)[state].flags & PROGRAM_STATE_DEADLINE;
}

/* Jumps to due if the run in r7 is in a state that matches at its deadline. */
static void jump_if_due(struct emit *emit, uint32_t due)
{
	ebpf_load(emit->as, BPF_H, R0, R7, RUN(state));
	for (uint32_t state = 1; state < emit->rule->state_count; state++)
		if (is_deadline(emit, state))
			ebpf_jump_if_imm(emit->as, BPF_JEQ, R0, (int32_t)state, due);
}

/*
 * bpf_loop's callback (turn, frame): ends the run in turn if it has the key of the one that matched, the frame's
 * record - unless it matches at the same instant, or was opened after it.
 */
static uint32_t function_drop_others(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "drop_others");
	bool all = emit->rule->flags & PROGRAM_RULE_DROP_ALL;

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), other = ebpf_label(as), drop = ebpf_label(as);

	ebpf_note(as, "rule %s: drop the run", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	if (all) {
		emit_fetch_place(emit, other, end);
	} else {
		emit_fetch_run(emit, end);
		emit_compare_runs(emit, 0, other);
	}
	ebpf_load(as, BPF_DW, R1, R7, RUN(first_ts));
	ebpf_load(as, BPF_DW, R2, R6, RUN(first_ts));
	ebpf_mov_imm(as, R0, emit->rule->within_ns);
	ebpf_alu(as, BPF_ADD, R0, R2);
	ebpf_jump_if(as, BPF_JGT, R1, R0, other);
	ebpf_jump_if(as, BPF_JNE, R1, R2, drop);
	jump_if_due(emit, other);
	ebpf_bind(as, drop);
	emit_why_rule(emit, PROGRAM_WHY_DROPPED);
	emit_remove_run(emit);
	ebpf_bind(as, other);
	if (all)
		ebpf_return_0_or_1(as, end);
	else
		emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* The run in r7, number in the frame's opened, is out of its chain and in a state that matches now. */
static void match(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t kept = ebpf_label(as);

	ebpf_note(as, "rule %s: match at the deadline", program_text(emit->program, emit->rule->name));
	memory_frame_set(as, FRAME(matched), 0);
	emit_control(emit, R1);
	ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_control, epoch));
	memory_frame_put(as, FRAME(epoch), R0);
	codegen_match_run(emit, fill_context);
	if (!(emit->rule->flags & PROGRAM_RULE_DROP))
		return;
	ebpf_load(as, BPF_DW, R0, R9, FRAME(matched));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, kept);
	memory_frame_point(as, FRAME(record), R7);
	if (emit->rule->flags & PROGRAM_RULE_DROP_ALL) {
		emit_loop_places(emit, function_drop_others(emit));
	} else {
		emit_hash_run(emit, 0);
		emit_bucket_address(emit, R8, R1);
		emit_loop_chain(emit, function_drop_others(emit));
	}
	ebpf_bind(as, kept);
}

/* r7 = the run of the item in r6, the frame's bucket = its own, locked; leaves for out where it does not wait in one.
 */
static void lock_run(struct emit *emit, uint32_t out)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_W, R8, R6, OVERDUE(run));
	ebpf_jump_if_imm(as, BPF_JGT, R8, (int32_t)emit->at->places, out);
	memory_frame_put(as, FRAME(opened), R8);
	emit_run_address(emit, R7, R8);
	ebpf_load(as, BPF_W, R1, R7, RUN(bucket));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, out);
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)((1u << emit->plan->bucket_bits) - 1));
	memory_frame_put(as, FRAME(next), R1);
	if (emit_is_machine(emit)) {
		emit_lock_at(emit);
	} else {
		emit_bucket_address(emit, R8, R1);
		memory_frame_point(as, FRAME(bucket), R8);
	}
	emit_lock_held(emit, out);
}

/* With the bucket locked: leaves for stays unless the run in r7 is still in it. */
static void check_bucket(struct emit *emit, uint32_t stays)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_W, R0, R7, RUN(bucket));
	ebpf_alu_imm(as, BPF_SUB, R0, 1);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(next));
	ebpf_jump_if(as, BPF_JNE, R0, R1, stays);
}

/* ... and overdue, or spoiled by a loss. */
static void look_again(struct emit *emit, uint32_t stays)
{
	uint32_t stale = ebpf_label(emit->as);

	check_bucket(emit, stays);
	emit_if_stale(emit, stale);
	if (emit->rule->within_ns) {
		load_deadline(emit);
		ebpf_load(emit->as, BPF_DW, R0, R9, FRAME(now));
		ebpf_jump_if(emit->as, BPF_JGE, R1, R0, stays);
	} else {
		ebpf_jump(emit->as, stays);
	}
	ebpf_bind(emit->as, stale);
}

/* A machine's: one timer goes off, if it is due. */
static void let_timer_go(struct emit *emit, uint32_t out, uint32_t raised)
{
	struct ebpf_asm *as = emit->as;
	uint32_t stays = ebpf_label(as), stale = ebpf_label(as);

	ebpf_note(as, "machine %s: a timer may be due", program_text(emit->program, emit->rule->name));
	emit->holds = true;
	emit_functions_new(emit);
	lock_run(emit, out);
	check_bucket(emit, stays);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(opened));
	memory_frame_put(as, FRAME(current), R0);
	emit_if_stale(emit, stale);
	if (emit->plan->timed) {
		ebpf_mov_imm(as, R1, 0);
		ebpf_mov(as, R2, R9);
		ebpf_call_function(as, codegen_function_timer(emit));
	}
	ebpf_jump(as, stays);
	ebpf_bind(as, stale);
	if (emit->rule->loss == PROGRAM_DISCARD) {
		emit_why_rule(emit, PROGRAM_WHY_DISCARDED);
		emit_remove_run(emit);
	}
	ebpf_bind(as, stays);
	emit_let_go(emit);
	ebpf_jump(as, codegen_raises(emit) ? raised : out);
}

/* The run in r7 ends without a match: its time is up, or a loss has spoiled it. */
static void count_end(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done;

	if (!emit->context->plan->counts_why)
		return;
	done = ebpf_label(as);
	codegen_end_stale(emit, done);
	if (emit->rule->flags & PROGRAM_RULE_DEADLINE)
		jump_if_due(emit, done);
	emit_why_expired(emit);
	ebpf_bind(as, done);
}

static void expire_run(struct emit *emit, uint32_t out, uint32_t raised)
{
	struct ebpf_asm *as = emit->as;
	uint32_t stays = ebpf_label(as), due = ebpf_label(as), release = ebpf_label(as);

	ebpf_note(as, "rule %s: a run whose time may be up", program_text(emit->program, emit->rule->name));
	emit->holds = true;
	emit_functions_new(emit);
	lock_run(emit, out);
	look_again(emit, stays);
	count_end(emit);
	emit_unlink(emit);
	if (emit->rule->flags & PROGRAM_RULE_DEADLINE) {
		jump_if_due(emit, due);
		ebpf_jump(as, release);
		ebpf_bind(as, due);
		match(emit);
	}
	ebpf_bind(as, release);
	emit_release(emit, FRAME(opened));
	ebpf_bind(as, stays);
	emit_let_go(emit);
	ebpf_jump(as, codegen_raises(emit) && emit->rule->flags & PROGRAM_RULE_DEADLINE ? raised : out);
}

/* What a rule does about the item in r6 that is one of its own. */
static void emit_item(struct emit *emit, uint32_t out, uint32_t raised)
{
	if (emit_is_machine(emit))
		let_timer_go(emit, out, raised);
	else
		expire_run(emit, out, raised);
}

/* r6 = the item of the list with the number in r1. r9 = a new frame, for the time of the sweep. */
static void begin_item(const struct emit_context *context, struct ebpf_asm *as, uint32_t out)
{
	int16_t frame = ebpf_stack_take(as, sizeof(struct matcher_frame));

	ebpf_jump_if_imm(as, BPF_JGE, R1, MATCHER_WORK_MAX, out);
	load_work(context->memory, as, R6);
	ebpf_load(as, BPF_DW, R8, R6, WORK(now));
	ebpf_alu_imm(as, BPF_MUL, R1, sizeof(struct matcher_overdue));
	ebpf_alu(as, BPF_ADD, R6, R1);
	ebpf_alu_imm(as, BPF_ADD, R6, WORK(items));
	ebpf_address(as, R9, R10, frame);
	memory_frame_begin(context->memory, as);
	memory_frame_put(as, FRAME(now), R8);
	if (!context->derived)
		return;
	memory_frame_set(as, FRAME(raised), 0);
	memory_frame_forget(as, FRAME(queue));
}

/* A function (number): deals with one item of the list, and says whether that raised anything. */
static uint32_t function_item(const struct emit_context *context, struct ebpf_asm *as)
{
	uint32_t function = ebpf_asm_function(as, "item"), lock = emit_function_lock(as);

	ebpf_asm_enter(as, function);
	uint32_t out = ebpf_label(as), raised = ebpf_label(as);
	int16_t irq_flags = ebpf_stack_take(as, 8);

	begin_item(context, as, out);
	for (uint32_t i = 0; i < context->plan->program->rule_count; i++) {
		struct emit emit = emit_of(context, as, &context->plan->rules[i].deadline);
		uint32_t next = ebpf_label(as);

		if (!emit.plan->swept)
			continue;
		emit.functions.lock = lock;
		emit.irq_flags = irq_flags;
		emit.derived = context->derived;
		ebpf_load(as, BPF_W, R0, R6, OVERDUE(rule));
		ebpf_jump_if_imm(as, BPF_JNE, R0, (int32_t)i, next);
		emit_item(&emit, out, raised);
		ebpf_bind(as, next);
	}
	ebpf_jump(as, out);
	ebpf_bind(as, raised);
	if (context->derived) {
		struct emit emit = emit_of(context, as, &context->plan->rules[0].deadline);

		emit.derived = context->derived;
		memory_frame_leave_rule(as);
		codegen_derived_later(&emit);
		ebpf_load(as, BPF_DW, R0, R9, FRAME(raised));
		ebpf_exit(as);
	}
	ebpf_bind(as, out);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

/* bpf_loop's callback (turn, nothing): one item of the list, and all that it raises. */
static uint32_t function_expire(const struct emit_context *context, struct ebpf_asm *as)
{
	uint32_t function = ebpf_asm_function(as, "expire"), item = function_item(context, as);

	ebpf_asm_enter(as, function);
	uint32_t none = ebpf_label(as);

	ebpf_call_function(as, item);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	if (context->derived)
		ebpf_call_function(as, context->derived->drain);
	ebpf_bind(as, none);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

void codegen_sweep(const struct emit_context *context, struct ebpf_asm *as)
{
	const struct plan_part all = { .first = 0, .end = context->plan->program->rule_count };
	struct emit_context here = *context;
	struct emit_derived derived = { .map = -1 };
	int error = codegen_derived_add(context, PROGRAM_NONE, &all, &derived);

	if (error < 0)
		ebpf_asm_fail(as, error);
	codegen_begin(&here, as, &derived, true);
	load_work(context->memory, as, R8);
	ebpf_load(as, BPF_DW, R1, R8, WORK(count));
	ebpf_load_function(as, R2, function_expire(&here, as));
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_return(as, 0);
	codegen_derived_fini(&derived);
}
