// SPDX-License-Identifier: BSD-2-Clause
/* SetThreadPriority: for good. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"
#include "react/priority.h"

#include <errno.h>
#include <string.h>

static const struct react_param set_priority_params[] = {
	{ .name = "thread", .type = REACT_TARGET },
	{ .name = "priority", .type = REACT_INTEGER },
};

static int perform_set_priority(struct react_agent *agent, struct react_call *call)
{
	struct react_target target;
	int result = agent_target(agent, call, 0, &target);

	if (result)
		return result;
	result = priority_set(target.id, agent_integer(call, 1, 0));
	if (result == -EINVAL)
		return agent_refuse(call, result, PRIORITY_SCALE);
	if (result)
		return agent_refuse(call, result, "%s", strerror(-result));
	undo_drop(agent->undo, &(struct undo_change){ .kind = UNDO_PRIORITY, .id = target.id });
	agent_end_boost(agent, target.id);
	return 0;
}

const struct react_action react_set_priority = {
	.name = "SetThreadPriority",
	REACT_PARAMS(set_priority_params),
	.summary = "sets the priority of a thread: 0..39 are nice 19..-20, 41..139 real-time 1..99",
	.guarantee = "Set by asterism when it learns of the match; the thread that completed it may have run on. Not "
		     "undone at the end.",
	.changes_system = true,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = perform_set_priority,
};
