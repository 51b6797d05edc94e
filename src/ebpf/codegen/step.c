// SPDX-License-Identifier: BSD-2-Clause
/* Decides what an event does to a run that waits for it: the transitions of its state, in order. */

#include "ebpf/codegen/machine.h"

#include "program/eval.h"

#include <string.h>

enum { CONDITION_SHOWN_BYTES = 160 };

static const char *state_name(const struct emit *emit, uint32_t target, char *buffer, size_t size)
{
	if (target == PROGRAM_TARGET_END)
		return "end";
	if (target == PROGRAM_TARGET_MATCH)
		return "match";
	snprintf(buffer, size, "state %u", target);
	(void)emit;
	return buffer;
}

/* What the verifier's log and bpftool show from here on. */
void emit_note_transition(struct emit *emit, uint32_t state, const struct program_transition *transition,
			  const char *part, uint32_t node)
{
	char condition[CONDITION_SHOWN_BYTES] = "", target[24];
	const struct program *program = emit->program;

	if (node != PROGRAM_NONE)
		program_print_node(program, emit->rule, node, condition, sizeof condition);
	ebpf_note(emit->as, "rule %s: state %u, on %s -> %s: %s %s", program_text(program, emit->rule->name), state,
		  transition->type == PROGRAM_TIMER ? "AFTER"
						    : program_text(program, program->types[transition->type].name),
		  state_name(emit, transition->target, target, sizeof target), part, condition);
}

/* Leaves for if_false unless node holds; a division by zero counts and makes it false. */
void emit_condition(struct emit *emit, uint32_t node, uint32_t if_false)
{
	struct ebpf_asm *as = emit->as;

	if (node == PROGRAM_NONE)
		return;
	if (!emit->matcher->nodes[node].divides) {
		ebpf_lower_branch(&emit->lower, node, false, if_false);
		return;
	}
	uint32_t holds = ebpf_label(as);

	emit->lower.on_zero = ebpf_label(as);
	ebpf_lower_branch(&emit->lower, node, false, if_false);
	ebpf_jump(as, holds);
	ebpf_bind(as, emit->lower.on_zero);
	emit_count(emit, offsetof(struct matcher_control, divisions), 1);
	ebpf_jump(as, if_false);
	ebpf_bind(as, holds);
}

/* A division by zero in an action leaves the slot as it is, and is counted. */
void emit_actions(struct emit *emit, const struct program_transition *transition)
{
	const struct program_action *actions = program_actions(emit->program, transition);

	for (uint32_t i = 0; i < transition->action_count; i++) {
		uint32_t done = ebpf_label(emit->as);

		emit->lower.on_zero = ebpf_label(emit->as);
		ebpf_lower_action(&emit->lower, &actions[i]);
		if (emit->matcher->nodes[actions[i].node].divides) {
			ebpf_jump(emit->as, done);
			ebpf_bind(emit->as, emit->lower.on_zero);
			emit_count(emit, offsetof(struct matcher_control, divisions), 1);
		}
		ebpf_bind(emit->as, done);
	}
}

uint32_t emit_group(const struct emit *emit, uint32_t state)
{
	return emit->place->group_of[program_states(emit->program, emit->rule)[state].class];
}

static bool writes_key(const struct emit *emit, const struct program_transition *transition)
{
	const struct program_state *target = &program_states(emit->program, emit->rule)[transition->target];
	const struct program_class *class = &program_classes(emit->program, emit->rule)[target->class];
	const uint32_t *slots = program_class_slots(emit->program, class);

	for (uint32_t i = 0; i < transition->action_count; i++) {
		uint32_t slot = program_actions(emit->program, transition)[i].slot;

		for (uint32_t j = 0; j < class->slot_count; j++)
			if (slots[j] == slot)
				return true;
	}
	return false;
}

/* Whether a run that takes the transition from a state waits elsewhere afterwards. */
bool emit_moves(const struct emit *emit, uint32_t from, const struct program_transition *transition)
{
	if (!emit_lives_on(transition) || emit_is_machine(emit))
		return false;
	return emit_group(emit, from) != emit_group(emit, transition->target) || writes_key(emit, transition);
}

static bool sets_timer(const struct emit *emit, const struct program_transition *transition)
{
	for (uint32_t i = 0; i < transition->action_count && emit->place->timed; i++)
		if (program_actions(emit->program, transition)[i].slot == emit->rule->timer_slot)
			return true;
	return false;
}

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
		bool moves = emit_moves(emit, from, transition);

		if (transition->target != from)
			ebpf_store_imm(as, BPF_H, R7, offsetof(struct matcher_run, state), (int32_t)transition->target);
		if (moves)
			ebpf_store_imm(as, BPF_H, R7, offsetof(struct matcher_run, group),
				       (int32_t)emit_group(emit, transition->target));
		if (transition->flags & PROGRAM_ARM) {
			emit_now(emit);
			ebpf_store(as, BPF_DW, R7, offsetof(struct matcher_run, made), R0);
		}
		if (transition->flags & PROGRAM_TELL)
			ebpf_jump(as, exits->tell);
		else if (sets_timer(emit, transition))
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

	emit_note_transition(emit, state, transition, "fit", transition->fit);
	emit_condition(emit, transition->fit, next);
	if (transition->action_count) {
		emit_note_transition(emit, state, transition, "actions", PROGRAM_NONE);
		emit_actions(emit, transition);
	}
	if (transition->hold != PROGRAM_NONE) {
		emit_note_transition(emit, state, transition, "hold", transition->hold);
		emit_condition(emit, transition->hold, exits->end);
	}
	emit_history_append(emit, transition);
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
		emit_note_transition(emit, state, &transitions[i], "fit", transitions[i].fit);
		emit_condition(emit, transitions[i].fit, next);
		emit_copy(emit, state, &transitions[i]);
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
void emit_overdue(struct emit *emit, uint32_t overdue)
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

void emit_step(struct emit *emit, uint32_t state, const struct emit_exits *exits)
{
	uint32_t count;
	const struct program_transition *transitions = emit_transitions(emit, state, &count);
	bool strict = emit->rule->semantics <= PROGRAM_STRICT_PARTITION;

	if (emit->rule->flags &
	    PROGRAM_RULE_DEADLINE) /* a match that is due is left to the sweep, which keeps the order */
		emit_overdue(emit, program_states(emit->program, emit->rule)[state].flags & PROGRAM_STATE_DEADLINE
					   ? exits->stay
					   : exits->end);
	if (emit->rule->semantics == PROGRAM_SKIP_TILL_ANY) {
		step_with_copies(emit, state, transitions, count, exits);
		return;
	}
	if (emit_is_machine(emit) && emit->type != PROGRAM_TIMER)
		emit_try_inherits(emit, state, transitions, count);
	for (uint32_t i = 0; i < count; i++)
		if (!(transitions[i].flags & PROGRAM_COPY))
			try_transition(emit, state, &transitions[i], exits);
	ebpf_jump(emit->as, strict ? exits->end : exits->stay);
}
