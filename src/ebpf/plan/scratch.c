// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the events at which slots are computed that may never become a run's: a `hold` needs them and may end the run,
 * which then must not have taken a place; or the run is complete, and something is done that must not need room in the
 * ring, or the match may be excepted. A machine's notice may be silent, so it is not put together in the ring, either;
 * and a copy is kept when its key is free. Where the runs of a key share places, it is asked for one by the key.
 */

#include "ebpf/plan/plan-priv.h"

/* A transition that makes a run: one from the start state, or a copy's. */
static bool makes_run(const struct plan_rule *rule, uint32_t state, const struct program_transition *transition)
{
	return state == 0 || (rule->rule->semantics == PROGRAM_SKIP_TILL_ANY &&
			      !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE)));
}

static bool computes_ahead(const struct plan_rule *rule, uint32_t state, const struct program_transition *transition)
{
	if (state == 0 && plan_lives_on(transition) && program_rule_shares(rule->rule))
		return true;
	if (makes_run(rule, state, transition) &&
	    (plan_lives_on(transition) ? transition->hold != PROGRAM_NONE : rule->aside))
		return true;
	return plan_is_machine(rule) &&
	       ((state == 0 && transition->target == PROGRAM_TARGET_MATCH) || transition->flags & PROGRAM_COPY);
}

bool plan_needs_scratch(const struct plan_draft *draft, const struct plan_rule *rule, uint32_t type)
{
	for (uint32_t state = 0; state < rule->rule->state_count; state++) {
		uint32_t count;
		const struct program_transition *transition = plan_transitions_on(draft, rule, state, type, &count);

		for (; count > 0; count--, transition++)
			if (computes_ahead(rule, state, transition))
				return true;
	}
	return false;
}
