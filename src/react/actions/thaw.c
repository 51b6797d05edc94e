// SPDX-License-Identifier: BSD-2-Clause
/* Thaw: lets a frozen cgroup go on. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>
#include <string.h>

static const struct react_param thaw_params[] = { { .name = "process", .type = REACT_TARGET } };

static int perform_thaw(struct react_agent *agent, struct react_call *call)
{
	struct cgroup cgroup;
	int result = agent_cgroup(agent, call, &cgroup);

	if (result)
		return result;
	result = cgroup_freeze(&cgroup, false);
	if (result)
		return agent_refuse(call, result, "cannot write %s: %s", cgroup.file, strerror(-result));
	undo_drop(agent->undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = cgroup.file });
	return 0;
}

const struct react_action react_thaw = {
	.name = "Thaw",
	REACT_PARAMS(thaw_params),
	.summary = "thaws the frozen cgroup of a process",
	.guarantee = "Done by asterism when it learns of the match, whatever froze the cgroup.",
	.changes_system = true,
	.perform = perform_thaw,
};
