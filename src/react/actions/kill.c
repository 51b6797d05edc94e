// SPDX-License-Identifier: BSD-2-Clause
/* Kill: ends the process of the target, with all its threads */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <signal.h>

static const struct react_param kill_params[] = { { .name = "target", .type = REACT_TARGET } };

const struct react_action react_kill = {
	.name = "Kill",
	.aliases = { "TerminateProcess", "TerminateThread" },
	REACT_PARAMS(kill_params),
	.summary = "ends the process of the target, with all its threads",
	.guarantee = "If the target completed the match, it runs no further instruction. A system call under way may "
		     "still have effects. Linux cannot end a single thread from outside.",
	.changes_system = true,
	.primitive = REACT_SEND_SIGNAL,
	.signal = SIGKILL,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = agent_send_own,
};
