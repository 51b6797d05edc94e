// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans how the runs of a rule are kept: how much each remembers, how many buckets their keys are spread over, which
 * classes share chains, and which transitions take a run from one chain to another.
 */

#include "ebpf/plan/runs.h"
#include "ebpf/plan/plan-priv.h"

#include <errno.h>
#include <string.h>

enum { STRIPES_BITS_MIN = 6, STRIPE_BITS_MAX = 12, BUCKET_BITS_MAX = 24 };

static bool same_slots(const struct program *program, const struct program_class *a, const struct program_class *b)
{
	return a->slot_count == b->slot_count &&
	       memcmp(program_class_slots(program, a), program_class_slots(program, b),
		      a->slot_count * sizeof *program->indices) == 0;
}

static int group_classes(struct plan_draft *draft, struct plan_rule *rule)
{
	const struct program_class *classes = program_classes(draft->program, rule->rule);
	uint32_t *group_of = arena_zero(draft->plan->arena, rule->rule->class_count, sizeof *group_of);
	struct plan_group *groups = arena_zero(draft->plan->arena, rule->rule->class_count, sizeof *groups);

	if (!group_of || !groups)
		return -ENOMEM;
	for (uint32_t class = 0; class < rule->rule->class_count; class ++) {
		uint32_t group = 0;

		while (group < rule->group_count &&
		       !same_slots(draft->program, &classes[class], &classes[groups[group].class]))
			group++;
		if (group == rule->group_count)
			groups[rule->group_count++] = (struct plan_group){ .class = class };
		group_of[class] = group;
	}
	rule->group_of = group_of;
	rule->groups = groups;
	return 0;
}

static uint32_t bits_for(uint64_t count)
{
	uint32_t bits = 0;

	while (bits < BUCKET_BITS_MAX && (uint64_t)1 << bits < count)
		bits++;
	return bits;
}

/*
 * Whether a machine has events that name a part of the key only; the slots of the key, a bit each, that all of these
 * name.
 */
static bool find_stripe(const struct program *program, const struct program_rule *rule, uint32_t *slots)
{
	const struct program_class *class = rule->class_count ? &program_classes(program, rule)[0] : NULL;
	uint32_t all = class ? program_class_whole(class) : 0;

	*slots = all;
	if (rule->semantics != PROGRAM_MACHINE || !class)
		return false;
	for (uint32_t i = 0; i < class->key_count; i++)
		*slots &= program_key_given(program, class, &program_keys(program, class)[i]);
	return *slots != all;
}

/*
 * How many bits choose a bucket within a stripe: many, so that the chains of one that has most instances (a process
 * with thousands of descriptors) stay short; few, so that there are locks for many CPUs, and that going along a
 * stripe takes microseconds.
 */
static uint32_t inner_bits(uint32_t bits)
{
	uint32_t wanted = bits > STRIPES_BITS_MIN + STRIPE_BITS_MAX ? STRIPE_BITS_MAX
			  : bits > STRIPES_BITS_MIN                 ? bits - STRIPES_BITS_MIN
								    : 0;

	return wanted > bits / 2 ? wanted : bits / 2;
}

/* Without a slot that chooses a stripe, events that name a part of the key go along every chain. */
static void lay_out_stripes(const struct program *program, struct plan_rule *rule)
{
	uint32_t slots;

	if (!find_stripe(program, rule->rule, &slots))
		return;
	rule->stripe_slots = slots;
	rule->inner_bits = slots ? inner_bits(rule->bucket_bits) : rule->bucket_bits;
}

static bool has_keys(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->class_count; i++)
		if (program_classes(program, rule)[i].slot_count)
			return true;
	return false;
}

int plan_sizes(const struct program *program, const struct program_rule *rule, struct plan_sizes *sizes)
{
	int error;

	*sizes = (struct plan_sizes){ .area_bytes = rule->slot_bytes, .has_runs = rule->state_count > 1 };
	error = plan_history(program, rule, &sizes->history);
	if (sizes->history.entries || sizes->history.log_entries)
		sizes->area_bytes += 8 + sizes->history.entries * sizes->history.entry_bytes;
	if (sizes->has_runs)
		sizes->bucket_bits = bits_for(has_keys(program, rule) ? rule->pool : rule->class_count);
	return error;
}

static bool writes_key(const struct program *program, const struct plan_rule *rule,
		       const struct program_transition *transition)
{
	const struct program_state *target = &program_states(program, rule->rule)[transition->target];
	const struct program_class *class = &program_classes(program, rule->rule)[target->class];
	const uint32_t *slots = program_class_slots(program, class);

	for (uint32_t i = 0; i < transition->action_count; i++) {
		uint32_t slot = program_actions(program, transition)[i].slot;

		for (uint32_t j = 0; j < class->slot_count; j++)
			if (slots[j] == slot)
				return true;
	}
	return false;
}

static bool sets_timer(const struct program *program, const struct plan_rule *rule,
		       const struct program_transition *transition)
{
	for (uint32_t i = 0; i < transition->action_count && rule->timed; i++)
		if (program_actions(program, transition)[i].slot == rule->rule->timer_slot)
			return true;
	return false;
}

/* What becomes of a run in state, which is not the start state. */
static struct plan_transition transition_from(const struct program *program, const struct plan_rule *rule,
					      uint32_t state, const struct program_transition *transition)
{
	struct plan_transition found = { .sets_timer = sets_timer(program, rule, transition) };

	if (!plan_lives_on(transition))
		return found;
	found.copies = rule->rule->semantics == PROGRAM_SKIP_TILL_ANY &&
		       !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE));
	found.leaves = !plan_is_machine(rule) &&
		       (plan_group_of(program, rule, state) != plan_group_of(program, rule, transition->target) ||
			writes_key(program, rule, transition));
	found.moves = found.leaves || (rule->rule->flags & PROGRAM_RULE_LATEST && transition->target != state);
	return found;
}

static void follow_run_transitions(struct plan_draft *draft, const struct plan_rule *rule)
{
	const struct program *program = draft->program;

	for (uint32_t i = 1; i < rule->rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule->rule)[i];
		const struct program_transition *transition = program_transitions(program, state);

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			draft->transitions[transition - program->transitions] =
				transition_from(program, rule, i, transition);
	}
}

int plan_runs(struct plan_draft *draft, struct plan_rule *rule)
{
	struct plan_sizes sizes;
	int error = plan_sizes(draft->program, rule->rule, &sizes);

	if (error)
		return error;
	rule->history = sizes.history;
	rule->area_bytes = sizes.area_bytes;
	if (draft->options->counts_why && !plan_is_machine(rule)) {
		rule->keeps_who = true;
		rule->area_bytes += PLAN_WHO_BYTES;
	}
	rule->has_runs = sizes.has_runs;
	rule->bucket_bits = sizes.bucket_bits;
	if (!rule->has_runs)
		return 0;
	rule->timed = rule->rule->flags & PROGRAM_RULE_TIMER;
	rule->due = rule->rule->within_ns || rule->timed;
	rule->swept = rule->due || rule->rule->loss == PROGRAM_DISCARD;
	lay_out_stripes(draft->program, rule);
	error = group_classes(draft, rule);
	if (!error)
		follow_run_transitions(draft, rule);
	return error;
}
