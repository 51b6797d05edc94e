// SPDX-License-Identifier: BSD-2-Clause
/* Signal: any signal to a thread or process. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

static const struct react_param signal_params[] = {
	{ .name = "target", .type = REACT_TARGET },
	{ .name = "signal", .type = REACT_SIGNAL },
};

static int perform_signal(struct react_agent *agent, struct react_call *call)
{
	const struct react_value *signal = &call->args[1];

	return agent_signal(agent, call,
			    signal->kind == REACT_STRING ? react_signal_number(signal->text) : (int)signal->i64);
}

const struct react_action react_signal = {
	.name = "Signal",
	REACT_PARAMS(signal_params),
	.summary = "sends a signal to a thread (a#TID) or a process",
	.guarantee = "If the target completed the match, the signal arrives before its next instruction; a system call "
		     "under way still completes. Any other target gets it at the match if the kernel can do that "
		     "(Linux 6.13), otherwise when asterism learns of the match. Not undone at the end.",
	.changes_system = true,
	.primitive = REACT_SEND_SIGNAL,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = perform_signal,
};
