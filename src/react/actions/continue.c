// SPDX-License-Identifier: BSD-2-Clause
/* Continue: lets the process of the target go on */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <signal.h>

static const struct react_param continue_params[] = { { .name = "target", .type = REACT_TARGET } };

const struct react_action react_continue = {
	.name = "Continue",
	.aliases = { "ResumeThread" },
	REACT_PARAMS(continue_params),
	.summary = "continues the process of the target",
	.guarantee = "The process continues at once, whatever stopped it.",
	.changes_system = true,
	.primitive = REACT_SEND_SIGNAL,
	.signal = SIGCONT,
	.perform = agent_send_own,
};
