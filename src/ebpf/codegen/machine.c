// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates what a machine does at an event (docs/internals/execution.md, "Machines"). There is one instance per key at
 * most, so the lock of its bucket is held from looking it up until what was opened in its stead is linked: no two
 * events can open it at once. Where it is found, whatever its state does with the event, nothing is opened.
 *
 * An event that names only some slots of the key ends all instances that agree on them. They lie in one stripe of
 * buckets, since the stripe is chosen by the slots that every such event names (memory/hash.c); a stripe has one lock.
 */

#include "ebpf/codegen/machine.h"
#include "ebpf/memory/places.h"

enum { LOOP_TURNS_MAX = 1 << 23 };

/* bpf_loop's callback (turn, frame), for the chain in which the instance of the event's key would be. */
static uint32_t function_instance(struct emit *emit, const struct plan_walk *walk)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "instance");

	ebpf_asm_enter(as, function);
	struct emit_exits exits = { .stay = ebpf_label(as),
				    .end = ebpf_label(as),
				    .match = ebpf_label(as),
				    .moves = ebpf_label(as),
				    .report = ebpf_label(as),
				    .timed = ebpf_label(as) };
	uint32_t end = ebpf_label(as), other = ebpf_label(as), gone = ebpf_label(as), stale = ebpf_label(as);

	ebpf_note(as, "machine %s: is this the instance", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, end);
	emit_check_key(emit, walk, other);
	emit_if_stale(emit, stale);
	memory_frame_set(as, FRAME(found), 1);
	codegen_timers(emit, gone);
	codegen_step_states(emit, walk, &exits);
	ebpf_jump(as, exits.stay);
	codegen_leave_instance(emit, &exits, codegen_match_fill);
	ebpf_bind(as, exits.stay);
	ebpf_return(as, 1);
	ebpf_bind(as, stale);
	if (emit->rule->loss == PROGRAM_DISCARD) {
		emit_why_rule(emit, PROGRAM_WHY_DISCARDED);
		emit_remove_run(emit);
	}
	ebpf_bind(as, gone);
	memory_frame_set(as, FRAME(found), 0);
	ebpf_jump(as, exits.stay);
	ebpf_bind(as, other);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* Leaves for none unless one of the transitions that end all instances of a part of the key fits. */
static void look_at_end(struct emit *emit, uint32_t none)
{
	uint32_t count, fits = ebpf_label(emit->as);
	const struct program_transition *transition = emit_transitions(emit, 1, &count);

	for (uint32_t i = 0; i < count; i++, transition++) {
		uint32_t next = ebpf_label(emit->as);

		codegen_note_transition(emit, 1, transition, "fit", transition->fit);
		codegen_condition(emit, transition->fit, next);
		ebpf_jump(emit->as, fits);
		ebpf_bind(emit->as, next);
	}
	ebpf_jump(emit->as, none);
	ebpf_bind(emit->as, fits);
}

/*
 * The frame's bucket = the next of the stripe, counted down; its chain is gone along next. Leaves for done. The
 * verifier follows what it knows about numbers on the stack through every turn of a loop, so the count is kept
 * elsewhere.
 */
static void next_chain(struct emit *emit, uint32_t done)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R2, R9, FRAME(lock));
	ebpf_load(as, BPF_W, R1, R2, BUCKET(moves));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, done);
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_store(as, BPF_W, R2, BUCKET(moves), R1);
	ebpf_load(as, BPF_DW, R0, R9, FRAME(opened));
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)((1u << emit->plan->bucket_bits) - 1));
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
	ebpf_load(as, BPF_W, R0, R8, BUCKET(head));
	memory_frame_put(as, FRAME(next), R0);
}

/* bpf_loop's callback (turn, frame): one chain's begin, or one run, of the stripe. */
static uint32_t function_end_part(struct emit *emit, const struct plan_walk *walk)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "end_part");

	ebpf_asm_enter(as, function);
	uint32_t none = ebpf_label(as), done = ebpf_label(as), stop = ebpf_label(as), count;
	const struct program_transition *first = emit_transitions(emit, 1, &count);

	ebpf_note(as, "machine %s: instances of a part of the key end", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, none);
	emit_compare_key(emit, walk, done);
	codegen_timers(emit, done);
	emit_why_taken(emit, 1, first);
	emit_remove_run(emit);
	ebpf_jump(as, done);
	ebpf_bind(as, none);
	next_chain(emit, stop);
	ebpf_bind(as, done);
	ebpf_return_0_or_1(as, stop);
	ebpf_asm_leave(as);
	return function;
}

static void end_part_of_machine(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	struct plan_walk walk = { .group = 0, .key = emit->event->key };
	uint64_t turns = emit->at->places + (UINT64_C(2) << emit->plan->inner_bits);
	uint32_t none = ebpf_label(as), busy = ebpf_label(as);

	emit_header_late(emit);
	emit->has_late = true;
	look_at_end(emit, none);
	emit_hash_stripe(emit, &walk);
	memory_frame_put(as, FRAME(opened), R1);
	memory_frame_set(as, FRAME(next), 0);
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
	memory_frame_point(as, FRAME(lock), R8);
	emit_lock_held(emit, busy);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(lock));
	ebpf_store_imm(as, BPF_W, R1, BUCKET(moves), 1 << emit->plan->inner_bits);
	ebpf_mov_imm(as, R1, turns < LOOP_TURNS_MAX ? turns : LOOP_TURNS_MAX);
	ebpf_load_function(as, R2, function_end_part(emit, &walk));
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	emit_let_go(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_bind(as, none);
}

static void step_or_open(struct emit *emit, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t found = ebpf_label(as), empty = ebpf_label(as);

	memory_frame_set(as, FRAME(found), 0);
	if (emit->event->copies)
		memory_frame_set(as, FRAME(copied), 0);
	codegen_hold(emit, done);
	if (emit->event->walk_count) {
		ebpf_load(as, BPF_DW, R8, R9, FRAME(bucket));
		ebpf_load(as, BPF_W, R0, R8, BUCKET(head));
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, empty);
		emit_loop_chain(emit, function_instance(emit, &emit->event->walks[0]));
		ebpf_load(as, BPF_DW, R0, R9, FRAME(found));
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, found);
		ebpf_bind(as, empty);
	}
	codegen_open(emit);
	ebpf_bind(as, found);
	emit_let_go(emit);
	if (emit->event->copies)
		codegen_inherit(emit);
	if (emit->rule->flags & PROGRAM_RULE_REPLACE && (emit->event->opens_runs || emit->event->copies))
		memory_free_spare(emit, emit->plan->timed ? codegen_timers : NULL);
}

void codegen_machine(struct emit *emit)
{
	uint32_t done = ebpf_label(emit->as);

	emit->holds = emit->event->holds;
	emit_functions_new(emit);
	ebpf_note(emit->as, "machine %s", program_text(emit->program, emit->rule->name));
	if (!emit->holds)
		codegen_open(emit); /* which keeps nothing */
	else if (emit->event->names_part)
		end_part_of_machine(emit);
	else
		step_or_open(emit, done);
	ebpf_bind(emit->as, done);
}
