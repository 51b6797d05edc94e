// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how an event finds the runs that wait for it: one walk along one chain per key.
 */

#include "ebpf/codegen/machine.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

#define RUN(member)    offsetof(struct matcher_run, member)
#define BUCKET(member) offsetof(struct matcher_bucket, member)
#define FRAME(member)  offsetof(struct matcher_frame, member)

enum { LINEAR_STATES = 4 };

static bool same_fields(const struct emit *emit, const struct program_key *a, const struct program_key *b,
			uint32_t count)
{
	const uint32_t *fields = program_key_fields(emit->program, a);

	return memcmp(fields, program_key_fields(emit->program, b), count * sizeof *fields) == 0;
}

/* The key under which the event finds runs of class, or NULL. */
const struct program_key *emit_key_of(const struct emit *emit, uint32_t class)
{
	return program_key_for(emit->program, &program_classes(emit->program, emit->rule)[class], emit->type);
}

/* Whether runs of class are found by the walk. */
static bool in_walk(const struct emit *emit, const struct emit_walk *walk, uint32_t class)
{
	const struct program_key *key = emit_key_of(emit, class);

	return key && emit->place->group_of[class] == walk->group &&
	       same_fields(emit, key, walk->key, program_classes(emit->program, emit->rule)[class].slot_count);
}

/* Whether a run in state would be changed by the walk. */
static bool steps(const struct emit *emit, const struct emit_walk *walk, uint32_t state)
{
	const struct program_state *waits = &program_states(emit->program, emit->rule)[state];
	uint32_t count;

	if (emit->type != PROGRAM_TIMER && !in_walk(emit, walk, waits->class))
		return false;
	program_transitions_on(emit->program, waits, emit->type, &count);
	return count > 0 || emit->rule->semantics <= PROGRAM_STRICT_PARTITION;
}

/* The walk that begins with class, unless an earlier class has the same one or there is nothing to do. */
static bool walk_of(const struct emit *emit, uint32_t class, struct emit_walk *walk)
{
	const struct program_key *key = emit_key_of(emit, class);

	if (!key || !emit->place->has_runs)
		return false;
	*walk = (struct emit_walk){ .group = emit->place->group_of[class], .key = key };
	for (uint32_t i = 0; i < class; i++)
		if (in_walk(emit, walk, i))
			return false;
	if (emit_is_machine(emit)) /* that there is an instance is reason enough */
		return true;
	for (uint32_t state = 1; state < emit->rule->state_count; state++)
		if (steps(emit, walk, state))
			return true;
	return false;
}

/* Goes to the code of the run's state, which is in r0: a binary search where there are many. */
static void dispatch(struct emit *emit, const uint32_t *states, const uint32_t *labels, uint32_t count, uint32_t none)
{
	struct ebpf_asm *as = emit->as;

	if (count <= LINEAR_STATES) {
		for (uint32_t i = 0; i < count; i++)
			ebpf_jump_if_imm(as, BPF_JEQ, R0, (int32_t)states[i], labels[i]);
		ebpf_jump(as, none);
		return;
	}
	uint32_t upper = ebpf_label(as), half = count / 2;

	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)states[half], upper);
	dispatch(emit, states, labels, half, none);
	ebpf_bind(as, upper);
	dispatch(emit, states + half, labels + half, count - half, none);
}

void emit_step_states(struct emit *emit, const struct emit_walk *walk, const struct emit_exits *exits)
{
	uint32_t *states = alloc_zero(emit->rule->state_count, sizeof *states);
	uint32_t *labels = alloc_zero(emit->rule->state_count, sizeof *labels), count = 0;

	if (!states || !labels)
		ebpf_asm_fail(emit->as, -ENOMEM);
	for (uint32_t state = 1; state < emit->rule->state_count && !ebpf_asm_error(emit->as); state++)
		if (steps(emit, walk, state)) {
			states[count] = state;
			labels[count++] = ebpf_label(emit->as);
		}
	if (count) {
		ebpf_load(emit->as, BPF_H, R0, R7, RUN(state));
		dispatch(emit, states, labels, count, exits->stay);
	}
	for (uint32_t i = 0; i < count; i++) {
		ebpf_bind(emit->as, labels[i]);
		emit_step(emit, states[i], exits);
	}
	alloc_free(states);
	alloc_free(labels);
}

/* Where a step leads: out of the chain for good, or to wait elsewhere. */
static void leave_chain(struct emit *emit, const struct emit_exits *exits)
{
	struct ebpf_asm *as = emit->as;
	const char *name = program_text(emit->program, emit->rule->name);

	ebpf_bind(as, exits->match);
	ebpf_note(as, "rule %s: the run matches", name);
	emit_match_run(emit, emit_match_fill);
	ebpf_bind(as, exits->end);
	ebpf_note(as, "rule %s: the run ends", name);
	emit_remove_run(emit);
	ebpf_jump(as, exits->stay);
	ebpf_bind(as, exits->moves);
	ebpf_note(as, "rule %s: the run waits for another key", name);
	emit_unlink(emit);
	emit_push_moved(emit, R7, FRAME(current));
}

/* bpf_loop's callback (turn, frame). */
static uint32_t function_step(struct emit *emit, const struct emit_walk *walk)
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
	emit_if_stale(emit, exits.end);
	if (!(emit->rule->flags & PROGRAM_RULE_DEADLINE))
		emit_overdue(emit, exits.end);
	emit_step_states(emit, walk, &exits);
	leave_chain(emit, &exits);
	ebpf_bind(as, exits.stay);
	emit_turn_end(emit, end);
	ebpf_asm_leave(as);
	return function;
}

/* r8 = the bucket of the event's key. */
static void find_bucket(struct emit *emit, const struct emit_walk *walk)
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
static void look_at_chain(struct emit *emit, const struct emit_walk *walk, uint32_t none)
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
void emit_look_at_walks(struct emit *emit, uint32_t some)
{
	struct emit_walk walk;

	for (uint32_t class = 0; class < emit->rule->class_count; class ++) {
		uint32_t none = ebpf_label(emit->as);

		if (!walk_of(emit, class, &walk))
			continue;
		find_bucket(emit, &walk);
		emit_frame_point(emit->as, FRAME(bucket), R8);
		look_at_chain(emit, &walk, none);
		ebpf_jump(emit->as, some);
		ebpf_bind(emit->as, none);
	}
}

/* Calls function for the runs in the chain of the event's key. */
void emit_walk_chain(struct emit *emit, const struct emit_walk *walk, uint32_t function)
{
	uint32_t done = ebpf_label(emit->as);

	find_bucket(emit, walk);
	if (!emit->holds)
		look_at_chain(emit, walk, done);
	emit_loop_chain(emit, function);
	ebpf_bind(emit->as, done);
}

uint32_t emit_find_walks(const struct emit *emit, struct emit_walk *last)
{
	struct emit_walk walk;
	uint32_t count = 0;

	for (uint32_t class = 0; class < emit->rule->class_count; class ++)
		if (walk_of(emit, class, &walk)) {
			*last = walk;
			count++;
		}
	return count;
}

uint32_t emit_walk_count(const struct emit *emit)
{
	struct emit_walk walk;

	return emit_find_walks(emit, &walk);
}

/* Whether some walk makes runs wait under another key. */
bool emit_has_moves(const struct emit *emit)
{
	for (uint32_t i = 1; i < emit->rule->state_count; i++) {
		const struct program_state *state = &program_states(emit->program, emit->rule)[i];
		uint32_t count;
		const struct program_transition *transition =
			program_transitions_on(emit->program, state, emit->type, &count);

		for (; count > 0; count--, transition++)
			if (emit_moves(emit, i, transition) || emit_copies(emit, transition))
				return true;
	}
	return false;
}

void emit_walks(struct emit *emit)
{
	struct emit_walk walk;

	for (uint32_t class = 0; class < emit->rule->class_count; class ++)
		if (walk_of(emit, class, &walk))
			emit_walk_chain(emit, &walk, function_step(emit, &walk));
}
