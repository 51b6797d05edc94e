// SPDX-License-Identifier: BSD-2-Clause
/* StackOf: the calls that threads are in, whoever completes the match. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>
#include <string.h>

static const struct react_param stack_of_params[] = {
	{ .name = "thread", .type = REACT_TARGET },
	{ .name = "thread", .type = REACT_TARGET, .repeats = true },
};

static int take_thread_stack(struct react_agent *agent, struct react_call *call, uint32_t index)
{
	const struct react_agent_options *options = &agent->options;
	struct react_target target;
	int result = agent_target(agent, call, index, &target);

	if (result)
		return result;
	if (!options->stack)
		return agent_refuse(call, -EOPNOTSUPP, "stacks cannot be taken here");
	return options->stack(options->stack_context, target.id, call->why, sizeof call->why);
}

/* All are taken that can be; the first that cannot is told. */
static int perform_stack_of(struct react_agent *agent, struct react_call *call)
{
	char why[REACT_WHY_BYTES];
	int first = 0;

	for (uint32_t i = 0; i < call->arg_count; i++) {
		int result = take_thread_stack(agent, call, i);

		if (!result || first)
			continue;
		first = result;
		memcpy(why, call->why, sizeof why);
	}
	if (first)
		memcpy(call->why, why, sizeof why);
	return first;
}

const struct react_action react_stack_of = {
	.name = "StackOf",
	REACT_PARAMS(stack_of_params),
	.summary = "reports the stacks of threads (a#TID), which need not have completed the match",
	.guarantee = "Taken by asterism when it learns of the match, of threads that wait: a running thread has none, "
		     "and the match says so. The match also says how much later the stack was taken; the thread may "
		     "have run on in between. A copy of the stack (16 KiB) is unwound, at most 32 functions of at most "
		     "8 threads. Not available in a replay.",
	.per_second = 100,
	.perform = perform_stack_of,
};
