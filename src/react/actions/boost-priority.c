// SPDX-License-Identifier: BSD-2-Clause
/* BoostThreadPriority: for a time. The journal holds what was before the first of several boosts. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"
#include "react/priority.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>

#define USUAL_NS 100000000

static const struct react_param boost_priority_params[] = {
	{ .name = "thread", .type = REACT_TARGET },
	{ .name = "priority", .type = REACT_INTEGER },
	{ .name = "time", .type = REACT_TIME, .optional = true },
};

static struct react_boost *find_boost(struct react_agent *agent, pid_t tid)
{
	for (size_t i = 0; i < agent->boost_count; i++)
		if (agent->boosts[i].tid == tid)
			return &agent->boosts[i];
	return NULL;
}

static int perform_boost(struct react_agent *agent, struct react_call *call)
{
	int64_t time_ns = agent_integer(call, 2, USUAL_NS);
	struct react_target target;
	struct sched_attr attr;
	int result = agent_target(agent, call, 0, &target);
	struct react_boost *known;
	uint64_t until;

	if (result)
		return result;
	if (time_ns <= 0)
		return agent_refuse(call, -EINVAL, "the duration of a boost must be more than 0");
	if (alloc_grow(&agent->boosts, &agent->boost_capacity, agent->boost_count, sizeof *agent->boosts))
		return agent_refuse(call, -ENOMEM, "out of memory");
	if (priority_attr(agent_integer(call, 1, 0), &attr))
		return agent_refuse(call, -EINVAL, PRIORITY_SCALE);
	attr.sched_flags = SCHED_FLAG_RESET_ON_FORK; /* it is not passed on */
	result = agent_reschedule(agent, call, target.id, &attr);
	if (result)
		return result;
	until = clock_now_ns() + (uint64_t)time_ns;
	known = find_boost(agent, target.id);
	if (!known) {
		known = &agent->boosts[agent->boost_count++];
		*known = (struct react_boost){ .tid = target.id };
	}
	if (until > known->until_ns)
		known->until_ns = until;
	return 0;
}

static void remove_boost(struct react_agent *agent, struct react_boost *boost)
{
	*boost = agent->boosts[--agent->boost_count];
}

void agent_end_boost(struct react_agent *agent, pid_t tid)
{
	struct react_boost *boost = find_boost(agent, tid);

	if (boost)
		remove_boost(agent, boost);
}

void agent_poll_boosts(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns)
{
	for (size_t i = 0; i < agent->boost_count;) {
		struct react_boost *boost = &agent->boosts[i];

		if (boost->until_ns > now_ns) {
			if (boost->until_ns - now_ns < *wait_ns)
				*wait_ns = boost->until_ns - now_ns;
			i++;
			continue;
		}
		undo_one(agent->undo, &(struct undo_change){ .kind = UNDO_PRIORITY, .id = boost->tid });
		remove_boost(agent, boost);
	}
}

const struct react_action react_boost_priority = {
	.name = "BoostThreadPriority",
	REACT_PARAMS(boost_priority_params),
	.summary = "sets the priority of a thread for some time (100ms), then restores it",
	.guarantee = "Set by asterism when it learns of the match; the thread that completed it may have run on. A "
		     "second boost extends the first. Threads and processes created meanwhile do not inherit it. "
		     "Undone when the time is over, or when the session ends, however it ends.",
	.changes_system = true,
	.is_undone = true,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = perform_boost,
};
