// SPDX-License-Identifier: BSD-2-Clause
/* Steps a run that waits for an event: the transitions of its state, in order. */

#include "ebpf/codegen/machine.h"

/* The run in r7, its actions done, goes where the transition leads. */
static void go_to_target(struct emit *emit, uint32_t from, const struct program_transition *transition,
			 const struct emit_exits *exits)
{
	struct ebpf_asm *as = emit->as;

	if (transition->target == PROGRAM_TARGET_END) {
		ebpf_jump(as, exits->end);
	} else if (transition->target == PROGRAM_TARGET_MATCH) {
		ebpf_jump(as, exits->match);
	} else {
		bool renews = emit_is_machine(emit) && emit->rule->flags & PROGRAM_RULE_REPLACE &&
			      emit->event->type != PROGRAM_TIMER;
		bool arms = transition->flags & PROGRAM_ARM;
		bool moves = plan_transition(emit->context->plan, transition)->moves;

		if (transition->target != from)
			ebpf_store_imm(as, BPF_H, R7, offsetof(struct matcher_run, state), (int32_t)transition->target);
		if (moves)
			ebpf_store_imm(as, BPF_H, R7, offsetof(struct matcher_run, group),
				       (int32_t)emit_group(emit, transition->target));
		if (arms || renews)
			emit_now(emit);
		if (arms)
			ebpf_store(as, BPF_DW, R7, offsetof(struct matcher_run, made), R0);
		if (renews)
			ebpf_store(as, BPF_DW, R7, offsetof(struct matcher_run, first_ts), R0);
		if (transition->flags & PROGRAM_TELL)
			ebpf_jump(as, exits->report);
		else if (plan_transition(emit->context->plan, transition)->sets_timer)
			ebpf_jump(as, exits->timed);
		else
			ebpf_jump(as, moves ? exits->moves : exits->stay);
	}
}

/* Takes the run in r7 through transition if it fits; falls through if it does not. */
static void try_transition(struct emit *emit, uint32_t state, const struct program_transition *transition,
			   const struct emit_exits *exits)
{
	uint32_t next = ebpf_label(emit->as);

	codegen_note_transition(emit, state, transition, "fit", transition->fit);
	codegen_require_fit(emit, transition, next);
	emit_why_taken(emit, state, transition);
	if (transition->action_count) {
		codegen_note_transition(emit, state, transition, "actions", PROGRAM_NONE);
		codegen_actions(emit, transition);
	}
	if (transition->hold != PROGRAM_NONE) {
		codegen_note_transition(emit, state, transition, "hold", transition->hold);
		codegen_require_hold(emit, state, transition, exits->end);
	}
	emit_history_append(emit, transition, exits->end);
	go_to_target(emit, state, transition, exits);
	ebpf_bind(emit->as, next);
}

static bool is_progress(const struct program_transition *transition)
{
	return !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE));
}

/* The first that fits of those that move on: a copy takes it, the run in r7 stays. */
static void try_copies(struct emit *emit, uint32_t state, const struct program_transition *transitions, uint32_t count)
{
	uint32_t done = ebpf_label(emit->as);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = ebpf_label(emit->as);

		if (!is_progress(&transitions[i]))
			continue;
		codegen_note_transition(emit, state, &transitions[i], "fit", transitions[i].fit);
		codegen_require_fit(emit, &transitions[i], next);
		emit_why_taken(emit, state, &transitions[i]);
		codegen_copy(emit, state, &transitions[i]);
		ebpf_jump(emit->as, done);
		ebpf_bind(emit->as, next);
	}
	ebpf_bind(emit->as, done);
}

static void step_with_copies(struct emit *emit, uint32_t state, const struct program_transition *transitions,
			     uint32_t count, const struct emit_exits *exits)
{
	for (uint32_t i = 0; i < count; i++)
		if (transitions[i].flags & PROGRAM_FORBID)
			try_transition(emit, state, &transitions[i], exits);
	try_copies(emit, state, transitions, count);
	for (uint32_t i = 0; i < count; i++)
		if (transitions[i].flags & PROGRAM_IN_PLACE)
			try_transition(emit, state, &transitions[i], exits);
	ebpf_jump(emit->as, exits->stay);
}

/*
 * Leaves for overdue if the time of the run in r7 is up: more than within has passed. Times are compared as signed:
 * another CPU's event may have read its clock before the opening one did.
 */
void codegen_overdue(struct emit *emit, uint32_t overdue)
{
	struct ebpf_asm *as = emit->as;
	uint64_t within = emit->rule->within_ns;

	if (!within || within > INT64_MAX)
		return;
	ebpf_note(as, "rule %s: WITHIN %llu ns", program_text(emit->program, emit->rule->name),
		  (unsigned long long)within);
	ebpf_load(as, BPF_DW, R1, R6, offsetof(struct event_header, ts));
	ebpf_load(as, BPF_DW, R0, R7, offsetof(struct matcher_run, first_ts));
	ebpf_alu(as, BPF_SUB, R1, R0);
	if (within <= INT32_MAX) {
		ebpf_jump_if_imm(as, BPF_JSGT, R1, (int32_t)within, overdue);
	} else {
		ebpf_mov_imm(as, R0, within);
		ebpf_jump_if(as, BPF_JSGT, R1, R0, overdue);
	}
}

/* Counts, in between, whatever leaves for counted. */
static void count_leaving(struct emit *emit, uint32_t counted, uint32_t end, bool expired)
{
	uint32_t stays = ebpf_label(emit->as);

	ebpf_jump(emit->as, stays);
	ebpf_bind(emit->as, counted);
	if (expired)
		emit_why_expired(emit);
	else
		emit_why_rule(emit, PROGRAM_WHY_DISCARDED);
	ebpf_jump(emit->as, end);
	ebpf_bind(emit->as, stays);
}

void codegen_end_overdue(struct emit *emit, uint32_t end)
{
	bool counts = emit->context->plan->counts_why && emit->rule->within_ns;
	uint32_t counted = counts ? ebpf_label(emit->as) : end;

	codegen_overdue(emit, counted);
	if (counts)
		count_leaving(emit, counted, end, true);
}

void codegen_end_stale(struct emit *emit, uint32_t end)
{
	bool counts = emit->context->plan->counts_why && emit->rule->loss == PROGRAM_DISCARD;
	uint32_t counted = counts ? ebpf_label(emit->as) : end;

	emit_if_stale(emit, counted);
	if (counts)
		count_leaving(emit, counted, end, false);
}

/* A run whose match is due is left to the sweep, which keeps the order. */
static void end_overdue_in(struct emit *emit, uint32_t state, const struct emit_exits *exits)
{
	if (program_states(emit->program, emit->rule)[state].flags & PROGRAM_STATE_DEADLINE)
		codegen_overdue(emit, exits->stay);
	else
		codegen_end_overdue(emit, exits->end);
}

void codegen_step(struct emit *emit, uint32_t state, const struct emit_exits *exits)
{
	uint32_t count;
	const struct program_transition *transitions = emit_transitions(emit, state, &count);
	bool strict = emit->rule->semantics <= PROGRAM_STRICT_PARTITION;

	if (emit->rule->flags & PROGRAM_RULE_DEADLINE)
		end_overdue_in(emit, state, exits);
	if (count)
		emit_why_met(emit, transitions);
	if (emit->rule->semantics == PROGRAM_SKIP_TILL_ANY) {
		step_with_copies(emit, state, transitions, count, exits);
		return;
	}
	if (emit_is_machine(emit) && emit->event->type != PROGRAM_TIMER)
		codegen_try_inherits(emit, state, transitions, count);
	for (uint32_t i = 0; i < count; i++)
		if (!(transitions[i].flags & PROGRAM_COPY))
			try_transition(emit, state, &transitions[i], exits);
	if (strict)
		emit_why_broke(emit);
	ebpf_jump(emit->as, strict ? exits->end : exits->stay);
}
