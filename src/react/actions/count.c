// SPDX-License-Identifier: BSD-2-Clause
/* Count: a counter by name. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

static const struct react_param count_params[] = { { .name = "name", .type = REACT_TEXT } };

static int perform_count(struct react_agent *agent, struct react_call *call)
{
	struct react_tally *tally = react_tallies_get(&agent->tallies, call->args[0].text, false);

	if (!tally)
		return agent_refuse(call, -ENOMEM, "out of memory");
	tally->count++;
	return 0;
}

const struct react_action react_count = {
	.name = "Count",
	REACT_PARAMS(count_params),
	.summary = "adds one to a counter, which is reported at the end",
	.guarantee = "Counted in the kernel, per CPU. Matches of a rule that does nothing else and returns nothing are "
		     "not reported one by one.",
	.primitive = REACT_COUNT,
	.perform = perform_count,
};
