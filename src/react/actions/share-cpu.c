// SPDX-License-Identifier: BSD-2-Clause
/*
 * ShareCpu: so much of a CPU, no less while it is wanted and no more. The scheduler's constant bandwidth server
 * (SCHED_DEADLINE) keeps the share; it grants only what it can guarantee, so the sum of all shares is bounded.
 */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"
#include "react/priority.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>

/* What the scheduler takes: 1 us of run time at least, by default periods of 100 us to 4 s. */
#define USUAL_PERIOD_NS 100000000
#define PERIOD_MIN_NS   1000000
#define PERIOD_MAX_NS   4000000000

static const struct react_param share_cpu_params[] = {
	{ .name = "thread", .type = REACT_TARGET },
	{ .name = "percent", .type = REACT_INTEGER },
	{ .name = "period", .type = REACT_TIME, .optional = true },
};

static int perform_share_cpu(struct react_agent *agent, struct react_call *call)
{
	int64_t percent = agent_integer(call, 1, 0), period_ns = agent_integer(call, 2, USUAL_PERIOD_NS);
	struct react_target target;
	int result = agent_target(agent, call, 0, &target);

	if (result)
		return result;
	if (percent < 1 || percent > 95)
		return agent_refuse(call, -EINVAL, "a share must be 1 to 95 percent of a CPU");
	if (period_ns < PERIOD_MIN_NS || period_ns > PERIOD_MAX_NS)
		return agent_refuse(call, -EINVAL, "the period must be 1ms to 4s");
	const struct sched_attr attr = {
		.size = sizeof attr,
		.sched_policy = SCHED_DEADLINE,
		.sched_flags = SCHED_FLAG_RESET_ON_FORK, /* or else the thread could make no other */
		.sched_runtime = (uint64_t)(period_ns / 100 * percent),
		.sched_deadline = (uint64_t)period_ns,
		.sched_period = (uint64_t)period_ns,
	};

	result = agent_reschedule(agent, call, target.id, &attr);
	if (result == -EBUSY)
		return agent_refuse(call, result,
				    "not enough CPU time is left: guaranteed shares may take 95 %% of all CPUs");
	if (result == -EPERM)
		return agent_refuse(call, result, "a thread that is bound to some of the CPUs cannot have a share");
	if (!result)
		agent_end_boost(agent, target.id);
	return result;
}

const struct react_action react_share_cpu = {
	.name = "ShareCpu",
	REACT_PARAMS(share_cpu_params),
	.summary = "gives a thread a share of a CPU, in percent, in every period (100ms): no less, no more",
	.guarantee = "Set by asterism when it learns of the match; from then on the scheduler guarantees it "
		     "(SCHED_DEADLINE), and refuses shares it cannot guarantee. Threads and processes that the thread "
		     "creates have no share. Undone when the session ends, however it ends.",
	.changes_system = true,
	.per_second = REACT_CALLS_PER_SECOND,
	.is_undone = true,
	.perform = perform_share_cpu,
};
