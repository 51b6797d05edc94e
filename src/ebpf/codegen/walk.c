// SPDX-License-Identifier: BSD-2-Clause
/* Generates the walks by which an event finds the runs that wait for it: one walk along one chain per key. */

#include "ebpf/codegen/codegen.h"

/* Where a step leads: out of the chain for good, or to wait elsewhere. */
static void leave_chain(struct emit *emit, const struct emit_exits *exits)
{
	struct ebpf_asm *as = emit->as;
	const char *name = program_text(emit->program, emit->rule->name);

	ebpf_bind(as, exits->match);
	ebpf_note(as, "rule %s: the run matches", name);
	codegen_match_run(emit, codegen_match_fill);
	ebpf_bind(as, exits->end);
	ebpf_note(as, "rule %s: the run ends", name);
	emit_remove_run(emit);
	ebpf_jump(as, exits->stay);
	ebpf_bind(as, exits->moves);
	ebpf_note(as, "rule %s: the run waits for another key", name);
	emit_unlink(emit);
	codegen_push_moved(emit, R7, FRAME(current));
}

/* bpf_loop's callback (turn, frame). */
static uint32_t function_step(struct emit *emit, const struct plan_walk *walk)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "step");

	ebpf_asm_enter(as, function);
	struct emit_exits exits = { ebpf_label(as), ebpf_label(as), ebpf_label(as), ebpf_label(as), 0, 0 };
	uint32_t end = ebpf_label(as);

	ebpf_note(as, "rule %s: next run", program_text(emit->program, emit->rule->name));
	ebpf_mov(as, R9, R2);
	emit_fetch_run(emit, end);
	emit_check_key(emit, walk, exits.stay);
	codegen_end_stale(emit, exits.end);
	if (!(emit->rule->flags & PROGRAM_RULE_DEADLINE))
		codegen_end_overdue(emit, exits.end);
	codegen_step_states(emit, walk, &exits);
	leave_chain(emit, &exits);
	ebpf_bind(as, exits.stay);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* r8 = the bucket of the event's key. */
static void find_bucket(struct emit *emit, const struct plan_walk *walk)
{
	const struct program_class *class = emit_class_of(emit, walk->group);

	ebpf_note(emit->as, "rule %s: look up the key %s", program_text(emit->program, emit->rule->name),
		  program_text(emit->program, class->label));
	emit_hash_event(emit, walk);
	if (emit_is_machine(emit))
		emit_lock_at(emit);
	else
		emit_bucket_address(emit, R8, R1);
}

/*
 * Leaves for none if the chain of the bucket in r8 is empty or one run that waits for another key, as most chains are
 * that an event finds by chance. Looked at without the lock: what changes at the same moment comes after this event.
 * A run that is still the first after it was looked at was so at some moment in between with what was seen of it; or
 * else the chain was empty at another.
 */
static void look_at_chain(struct emit *emit, const struct plan_walk *walk, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t some = ebpf_label(as), stranger = ebpf_label(as);

	ebpf_load(as, BPF_W, R2, R8, BUCKET(head));
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, none);
	if (emit_class_of(emit, walk->group)->slot_count == 0)
		return;
	emit_check_index(emit, R2, some);
	emit_run_address(emit, R7, R2);
	ebpf_load(as, BPF_W, R0, R7, RUN(next));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, some);
	emit_check_key(emit, walk, stranger);
	ebpf_jump(as, some);
	ebpf_bind(as, stranger);
	ebpf_load(as, BPF_W, R0, R8, BUCKET(head));
	ebpf_jump_if(as, BPF_JEQ, R0, R2, none);
	ebpf_bind(as, some);
}

/* Leaves for some if a walk may find a run. The frame's bucket is that of the last walk. */
void codegen_look_at_walks(struct emit *emit, uint32_t some)
{
	for (uint32_t i = 0; i < emit->event->walk_count; i++) {
		uint32_t none = ebpf_label(emit->as);

		find_bucket(emit, &emit->event->walks[i]);
		memory_frame_point(emit->as, FRAME(bucket), R8);
		look_at_chain(emit, &emit->event->walks[i], none);
		ebpf_jump(emit->as, some);
		ebpf_bind(emit->as, none);
	}
}

/* Calls function for the runs in the chain of the event's key. */
void codegen_walk_chain(struct emit *emit, const struct plan_walk *walk, uint32_t function)
{
	uint32_t done = ebpf_label(emit->as);

	find_bucket(emit, walk);
	if (!emit->holds)
		look_at_chain(emit, walk, done);
	emit_loop_chain(emit, function);
	ebpf_bind(emit->as, done);
}

void codegen_walks(struct emit *emit)
{
	for (uint32_t i = 0; i < emit->event->walk_count; i++) {
		const struct plan_walk *walk = &emit->event->walks[i];

		codegen_walk_chain(emit, walk, function_step(emit, walk));
	}
}
