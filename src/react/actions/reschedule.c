// SPDX-License-Identifier: BSD-2-Clause
/* Schedules a thread otherwise until the end: what was before is written down first. */

#include "react/actions/agent-priv.h"
#include "react/priority.h"

#include <linux/sched/types.h>
#include <string.h>

int agent_reschedule(struct react_agent *agent, struct react_call *call, pid_t tid, const struct sched_attr *attr)
{
	struct sched_attr before;
	struct undo_change change = { .kind = UNDO_PRIORITY, .id = tid, .before = &before };
	int result = priority_get(tid, &before), added;

	if (result)
		return agent_refuse(call, result, "%s", strerror(-result));
	added = agent_remember(agent, call, &change);
	if (added < 0)
		return added;
	result = priority_restore(tid, attr);
	if (result && added)
		undo_drop(agent->undo, &change);
	return result ? agent_refuse(call, result, "%s", strerror(-result)) : 0;
}
