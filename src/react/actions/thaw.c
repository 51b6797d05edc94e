// SPDX-License-Identifier: BSD-2-Clause
/* Thaw: lets a frozen cgroup go on. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>
#include <string.h>

static const struct react_param params[] = { { .name = "process", .type = REACT_TARGET } };

static int perform(struct react_agent *agent, struct react_call *call)
{
	struct cgroup cgroup;
	int result = agent_cgroup(agent, call, &cgroup);

	if (result)
		return result;
	result = cgroup_freeze(&cgroup, false);
	if (result)
		return agent_refuse(call, result, "%s cannot be written: %s", cgroup.file, strerror(-result));
	undo_drop(agent->undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = cgroup.file });
	return 0;
}

const struct react_action react_thaw = {
	.name = "Thaw",
	REACT_PARAMS(params),
	.summary = "lets the frozen cgroup of a process go on",
	.guarantee = "Done by asterism as soon as it hears of the match, whatever froze it.",
	.changes_system = true,
	.perform = perform,
};
