// SPDX-License-Identifier: BSD-2-Clause
/* Stack: the calls that the completing thread is in. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

/* The thread has gone on by now. */
static int perform_stack(struct react_agent *agent, struct react_call *call)
{
	(void)agent;
	return agent_refuse(call, -ENODATA,
			    "only the kernel can take the stack, from the thread that completes the match there");
}

const struct react_action react_stack = {
	.name = "Stack",
	.summary = "reports the stack of the thread that completed the match, innermost function first",
	.guarantee = "The user stack, taken in the kernel at the match. asterism unwinds a copy of it (16 KiB); where "
		     "that fails, the stack comes from frame pointers, and the match says so. At most 32 functions. "
		     "Not available if the rule runs in user space, if time completes the match, or in a replay.",
	.primitive = REACT_STACK,
	.perform = perform_stack,
};
