// SPDX-License-Identifier: BSD-2-Clause
/* Snapshot: a trace of what led to the match. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

static int perform_snapshot(struct react_agent *agent, struct react_call *call)
{
	if (!agent->options.snapshot)
		return agent_refuse(call, -ENODATA, "nothing is being recorded: run with --snapshot DIR");
	int result = agent->options.snapshot(agent->options.context, call->rule);

	return result ? agent_refuse(call, result, "a snapshot was taken within the last second") : 0;
}

const struct react_action react_snapshot = {
	.name = "Snapshot",
	.summary = "writes what was recorded up to the match as a trace, in a session with --snapshot",
	.guarantee = "Written by asterism after it learns of the match; the events in between are in it, too. At most "
		     "one per second.",
	.perform = perform_snapshot,
};
