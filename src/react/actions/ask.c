// SPDX-License-Identifier: BSD-2-Clause
/* Ask: user space decides what becomes of the process that completed the match. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

static const struct react_param ask_params[] = {
	{ .name = "limit", .type = REACT_TIME, .optional = true },
	{ .name = "default", .type = REACT_VERDICT, .optional = true },
	{ .name = "signal", .type = REACT_SIGNAL_NAME, .optional = true },
};

/* Where no process could be stopped, the watchdog of the questions gives the default answer; an agent alone has none.
 */
static int perform_ask(struct react_agent *agent, struct react_call *call)
{
	(void)agent;
	return agent_refuse(call, -ENOTSUP, "this program does not answer questions of Ask");
}

const struct react_action react_ask = {
	.name = "Ask",
	REACT_PARAMS(ask_params),
	.summary = "stops the process and asks user space: CONTINUE or ABORT",
	.guarantee =
		"The thread that completed the match runs no further instruction until the answer arrives; a system "
		"call under way still completes. Without an answer within the limit (1s), the default (CONTINUE) "
		"applies. ABORT sends the signal (KILL). No process stays stopped, however the session ends.",
	.changes_system = true,
	.is_undone = true,
	.synchronous = true,
	.primitive = REACT_HOLD,
	.perform = perform_ask,
};
