// SPDX-License-Identifier: BSD-2-Clause
/* Stack: the calls that the completing thread is in. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

/* The thread has gone on by now. */
static int perform(struct react_agent *agent, struct react_call *call)
{
	(void)agent;
	return agent_refuse(call, -ENODATA,
			    "only the kernel can take it, from a thread that completes the match there");
}

const struct react_action react_stack = {
	.name = "Stack",
	.summary = "reports the functions that the thread which completed the match is in, innermost first",
	.guarantee =
		"Taken in the kernel at the match, of the thread in user mode. A copy of the stack (16 KiB) is unwound "
		"by asterism; where that cannot be done the stack is what frame pointers give, and the match says so. "
		"At most 32. Not where the rule runs in user space, where time completes the match, or in a replay.",
	.primitive = REACT_STACK,
	.perform = perform,
};
