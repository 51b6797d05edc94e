// SPDX-License-Identifier: BSD-2-Clause
/* Lists what programs do at a match of a rule, and whether user space gets to know of it. */

#include "ebpf/plan/plan-priv.h"
#include "program/calls.h"

#include <signal.h>

static const struct react_action *action_of(const struct program *program, uint32_t statement)
{
	return program_call(program, &program->statements[statement]);
}

/* Whether it leaves somebody behind who has to be let go on. */
static bool plan_stops_process(const struct react_action *action)
{
	return action->primitive == REACT_HOLD || (action->primitive == REACT_SEND_SIGNAL && action->signal == SIGSTOP);
}

static bool is_done_here(const struct plan_draft *draft, uint32_t statement, bool at_deadline)
{
	const struct react_action *action = action_of(draft->program, statement);

	if (!draft->options->allowed || !draft->options->allowed[statement] || !action)
		return false;
	if (plan_stops_process(action) && !draft->options->may_stop)
		return false;
	/* The sweep runs in our own process: there is no process to be met. */
	if (action->primitive == REACT_HOLD || action->primitive == REACT_STACK)
		return !at_deadline;
	if (!plan_can_act(draft->program, draft->nodes, statement))
		return false;
	return action->primitive == REACT_SEND_SIGNAL ? !at_deadline : action->primitive != REACT_NOT_IN_KERNEL;
}

/* The statements that change the system, where all of the rule's may wait once these are done; else 0. */
static uint64_t find_alone(const struct program *program, const struct plan_rule *rule, uint64_t done)
{
	uint64_t mask = 0;

	if (plan_is_machine(rule)) /* each notice has statements of its own */
		return 0;
	for (uint32_t i = 0; i < rule->rule->statement_count; i++) {
		const struct react_action *action = action_of(program, rule->rule->first_statement + i);

		if (!action || action->synchronous)
			return 0;
		if (action->changes_system)
			mask |= UINT64_C(1) << i;
	}
	return mask & ~done ? 0 : mask;
}

struct plan_acts plan_acts(const struct plan_draft *draft, const struct plan_rule *rule, bool at_deadline)
{
	const struct program_rule *row = rule->rule;
	struct plan_acts acts = { .reports = plan_is_machine(rule) || row->aggregation ||
					     !program_only_tallies(draft->program, row) };

	for (uint32_t i = 0; i < row->statement_count; i++)
		if (is_done_here(draft, row->first_statement + i, at_deadline))
			acts.done |= UINT64_C(1) << i;
		else
			acts.reports = true;
	acts.alone = find_alone(draft->program, rule, acts.done);
	return acts;
}
