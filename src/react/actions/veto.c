// SPDX-License-Identifier: BSD-2-Clause
/* Veto: the system call that completes the match is not executed */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

static const struct react_param veto_params[] = { { .name = "errno", .type = REACT_ERRNO, .optional = true } };

/* The verdict falls while the call is held, long before an agent hears of the match; what comes here was not held. */
static int perform_veto(struct react_agent *agent, struct react_call *call)
{
	(void)agent;
	return agent_refuse(call, -EOPNOTSUPP, "the call starts the command itself, or its thread ended meanwhile");
}

const struct react_action react_veto = {
	.name = "Veto",
	REACT_PARAMS(veto_params),
	.summary = "the system call that completes the match fails with errno (EPERM) instead of being executed",
	.guarantee = "The call is not executed; its thread sees it fail. Works for commands that asterism launches, "
		     "and for rules over the beginnings of system calls. docs/veto.md says what can get past it.",
	.changes_system = true,
	.fails_call = true,
	.perform = perform_veto,
};
