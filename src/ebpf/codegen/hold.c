// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what is locked while a rule deals with an event, so that some order of the events explains what they did.
 *
 * A rule is narrow if every event touches one bucket at most: then the bucket's lock is enough. An event that only
 * opens, or only steps, takes it when it comes to that; one that may do several things takes it once and holds it
 * through all of them. In a wide rule one lock, that of the first bucket, is held by every event for everything.
 *
 * Before that an event looks, without the lock, whether there is anything for it to do. An event that finds nothing in
 * one chain has its place in the order when it looked. One that looks at several could miss a run that is on its way
 * from one to another; so moves are counted, and the counter is looked at again.
 */

#include "ebpf/codegen/machine.h"

#define BUCKET(member) offsetof(struct matcher_bucket, member)
#define FRAME(member)  offsetof(struct matcher_frame, member)

/* Whether node is the field, at most in another kind of integer. */
static bool is_field(const struct emit *emit, const struct program_node *node, uint32_t field)
{
	if (node->op == PROGRAM_OP_CONVERT && node->kind != PROGRAM_F64)
		node = &emit->program->nodes[node->a];
	return node->op == PROGRAM_OP_FIELD && node->kind != PROGRAM_F64 && node->a == field;
}

/* Whether the transition sets the slot to the event's field, and to nothing else. */
static bool sets_to_field(const struct emit *emit, const struct program_transition *transition, uint32_t slot,
			  uint32_t field)
{
	const struct program_action *actions = program_actions(emit->program, transition);
	bool set = false;

	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_node *node = &emit->program->nodes[actions[i].node];

		if (actions[i].slot != slot)
			continue;
		if (set || actions[i].op != PROGRAM_SET || !is_field(emit, node, field))
			return false;
		set = true;
	}
	return set;
}

/* Whether the run that the transition opens waits where the walk goes. */
static bool opens_in_walk(const struct emit *emit, const struct program_transition *transition,
			  const struct emit_walk *walk)
{
	const struct program_class *class = emit_class_of(emit, walk->group);
	const uint32_t *slots = program_class_slots(emit->program, class);
	const uint32_t *fields = program_key_fields(emit->program, walk->key);

	if (emit_group(emit, transition->target) != walk->group)
		return false;
	for (uint32_t i = 0; i < class->slot_count; i++)
		if (!sets_to_field(emit, transition, slots[i], fields[i]))
			return false;
	return true;
}

/* Whether an event of the type touches at most one bucket. */
static bool touches_one(const struct emit *emit)
{
	struct emit_walk walk;
	uint32_t count, walks = emit_find_walks(emit, &walk);
	const struct program_transition *opening = emit_transitions(emit, 0, &count);

	if (walks == 0)
		return true;
	if (emit_is_machine(emit) && emit_names_part(emit))
		return emit->place->stripe_slots != 0;
	for (uint32_t i = 0; i < count; i++)
		if (emit_lives_on(&opening[i]) && !opens_in_walk(emit, &opening[i], &walk))
			return false;
	for (uint32_t state = 1; state < emit->rule->state_count; state++) {
		const struct program_transition *transition = emit_transitions(emit, state, &count);

		for (; count > 0; count--, transition++)
			if (emit_moves(emit, state, transition))
				return false;
	}
	return walks == 1;
}

bool matcher_is_wide(struct ebpf_matcher *matcher, uint32_t rule)
{
	for (uint32_t type = 0; type < matcher->program->type_count; type++) {
		struct emit emit = matcher_emit_of(matcher, NULL, rule, type);

		if (program_rule_sees(matcher->program, emit.rule, type) && !touches_one(&emit))
			return true;
	}
	return false;
}

/* Whether an event may open a run that lives on. */
static bool opens_runs(const struct emit *emit)
{
	uint32_t count;
	const struct program_transition *opening = emit_transitions(emit, 0, &count);

	for (; count > 0; count--, opening++)
		if (emit_lives_on(opening))
			return true;
	return false;
}

bool emit_needs_hold(const struct emit *emit)
{
	struct emit_walk walk;

	if (!emit->place->has_runs)
		return false;
	if (emit->place->wide)
		return true;
	return emit_find_walks(emit, &walk) == 1 &&
	       (opens_runs(emit) || emit_has_moves(emit) || emit->rule->flags & PROGRAM_RULE_DROP);
}

/* r8 = what is locked: the frame's bucket, or the first one. */
static void load_held(struct emit *emit)
{
	if (!emit->place->wide && emit->place->stripe_slots) {
		ebpf_load(emit->as, BPF_DW, R8, R9, FRAME(lock));
		return;
	}
	if (!emit->place->wide) {
		ebpf_load(emit->as, BPF_DW, R8, R9, FRAME(bucket));
		return;
	}
	ebpf_mov_imm(emit->as, R1, 0);
	emit_bucket_address(emit, R8, R1);
}

void emit_lock_at(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	if (emit->place->stripe_slots) {
		ebpf_mov(as, R2, R1);
		ebpf_alu_imm(as, BPF_RSH, R2, (int32_t)emit->place->inner_bits);
		ebpf_alu_imm(as, BPF_LSH, R2, (int32_t)emit->place->inner_bits);
		emit_bucket_address(emit, R8, R2);
		emit_frame_point(as, FRAME(lock), R8);
	}
	emit_bucket_address(emit, R8, R1);
	emit_frame_point(as, FRAME(bucket), R8);
}

/* Locks it; leaves for busy when it cannot be had. Overwrites r0-r5, r8. */
void emit_lock_held(struct emit *emit, uint32_t busy)
{
	load_held(emit);
	emit_lock(emit, R8, busy);
}

/* Leaves for busy unless the event finds nothing to do; then for none. */
static void look(struct emit *emit, uint32_t busy, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	bool several = emit_walk_count(emit) > 1;

	ebpf_note(as, "rule %s: is there anything to do", program_text(emit->program, emit->rule->name));
	if (several) {
		load_held(emit);
		ebpf_load(as, BPF_W, R2, R8, BUCKET(moves));
		emit_frame_put(as, FRAME(moves), R2);
	}
	emit_look_at_walks(emit, busy);
	emit_look_at_openings(emit, busy);
	if (several) {
#if !defined(__x86_64__) /* elsewhere loads may pass each other: an exchange orders them */
		ebpf_mov_imm(as, R0, 0);
		ebpf_emit(as, insn_atomic(BPF_DW, BPF_XCHG, R9, FRAME(bucket), R0));
#endif
		/* the lock first: it is given back after the move was counted */
		load_held(emit);
		ebpf_load(as, BPF_W, R1, R8, BUCKET(lock));
		ebpf_jump_if_imm(as, BPF_JNE, R1, 0, busy);
		ebpf_load(as, BPF_W, R2, R8, BUCKET(moves));
		ebpf_load(as, BPF_DW, R1, R9, FRAME(moves));
		ebpf_jump_if(as, BPF_JNE, R1, R2, busy);
	}
	ebpf_jump(as, none);
}

void emit_hold(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t busy = ebpf_label(as), lost = ebpf_label(as), held = ebpf_label(as);

	look(emit, busy, none);
	ebpf_bind(as, busy);
	emit_lock_held(emit, lost);
	ebpf_jump(as, held);
	ebpf_bind(as, lost);
	emit_lose(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, held);
	emit_header_late(emit);
	emit->has_late = true;
}

void emit_let_go(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	load_held(emit);
	if (emit->place->wide && emit->type != PROGRAM_NONE && emit_has_moves(emit)) {
		ebpf_load(as, BPF_W, R0, R8, BUCKET(moves));
		ebpf_alu_imm(as, BPF_ADD, R0, 1);
		ebpf_store(as, BPF_W, R8, BUCKET(moves), R0);
	}
	emit_unlock(emit, R8);
}
