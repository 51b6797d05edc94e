// SPDX-License-Identifier: BSD-2-Clause
/* Stop: stops the process of the target, with all its threads */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <signal.h>

static const struct react_param stop_params[] = { { .name = "target", .type = REACT_TARGET } };

const struct react_action react_stop = {
	.name = "Stop",
	.aliases = { "SuspendThread" },
	REACT_PARAMS(stop_params),
	.summary = "stops the process of the target, with all its threads",
	.guarantee = "If the target completed the match, it runs no further instruction; its other threads stop when "
		     "they enter or leave the kernel. A system call under way still completes. Undone when the session "
		     "ends, however it ends.",
	.changes_system = true,
	.is_undone = true,
	.primitive = REACT_SEND_SIGNAL,
	.signal = SIGSTOP,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = agent_send_own,
};
