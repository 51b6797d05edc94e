// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans where the events of a match are kept (RETURN SEQUENCE): in its run, where the ways through the automaton
 * collect few, else in a log of bounded size, of which all runs of the rule take as much as they need.
 */

#include "ebpf/plan/plan-priv.h"

#include <errno.h>

enum { UNREACHED = -1 };

/* A log has this many bytes for each so many runs of POOL. */
enum { LOG_BYTES = 4 << 20, LOG_RUNS = 16384, LOG_SHARES_MAX = 16 };

static bool is_transition_kept(const struct program_transition *transition)
{
	return transition->element != PROGRAM_NONE && transition->target != PROGRAM_TARGET_END;
}

static uint32_t largest_record(const struct program *program, const struct program_rule *rule)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];
		const struct program_transition *transition = program_transitions(program, state);

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			if (is_transition_kept(transition) && program->types[transition->type].record_bytes > largest)
				largest = program->types[transition->type].record_bytes;
	}
	return largest;
}

/*
 * Follows the transitions of state with `kept` records behind it. Returns whether some state was found to be reachable
 * with more records than known; the most that a match has is noted in *most.
 */
static bool follow_history(const struct program *program, const struct program_rule *rule, uint32_t index, int *known,
			   int *most)
{
	const struct program_state *state = &program_states(program, rule)[index];
	const struct program_transition *transition = program_transitions(program, state);
	bool changed = false;

	for (uint32_t j = 0; j < state->transition_count; j++, transition++) {
		int kept = known[index] + is_transition_kept(transition);

		if (transition->target == PROGRAM_TARGET_END)
			continue;
		if (kept > *most)
			*most = kept;
		if (transition->target == PROGRAM_TARGET_MATCH || known[transition->target] >= kept)
			continue;
		known[transition->target] = kept;
		changed = true;
	}
	return changed;
}

/* The most records that a run can hold; more than PLAN_HISTORY_MAX where there is no bound or a high one. -ENOMEM.
 */
static int longest(const struct program *program, const struct program_rule *rule)
{
	int *known = alloc_zero(rule->state_count, sizeof *known), most = 0;
	bool changed = true;

	if (!known)
		return -ENOMEM;
	for (uint32_t i = 1; i < rule->state_count; i++)
		known[i] = UNREACHED;
	while (changed && most <= PLAN_HISTORY_MAX) {
		changed = false;
		for (uint32_t i = 0; i < rule->state_count; i++)
			if (known[i] != UNREACHED && follow_history(program, rule, i, known, &most))
				changed = true;
	}
	alloc_free(known);
	return most;
}

/* As many as it holds but for number 0, whose place is another's. */
static uint32_t log_entries(const struct program_rule *rule, uint32_t entry_bytes)
{
	uint64_t shares = rule->pool / LOG_RUNS;

	if (shares < 1)
		shares = 1;
	if (shares > LOG_SHARES_MAX)
		shares = LOG_SHARES_MAX;
	return (uint32_t)(shares * LOG_BYTES / entry_bytes - 1);
}

int plan_history(const struct program *program, const struct program_rule *rule, struct plan_history *history)
{
	uint32_t record_bytes, kept_bytes;
	int most;

	*history = (struct plan_history){ 0 };
	if (!(rule->flags & PROGRAM_RULE_SEQUENCE))
		return 0;
	most = longest(program, rule);
	if (most < 0)
		return most;
	record_bytes = (largest_record(program, rule) + 7) / 8 * 8;
	kept_bytes = PLAN_KEPT_BYTES + record_bytes;
	if (most <= PLAN_HISTORY_MAX && (uint32_t)most * kept_bytes <= PLAN_HISTORY_BYTES_MAX) {
		*history = (struct plan_history){ .entries = (uint32_t)most, .entry_bytes = kept_bytes };
		return 0;
	}
	history->entry_bytes = PLAN_ENTRY_BYTES + record_bytes;
	history->log_entries = log_entries(rule, history->entry_bytes);
	return 0;
}
