// SPDX-License-Identifier: BSD-2-Clause
/* Freeze: the cgroup of a process, with everything in it. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct react_param freeze_params[] = { { .name = "process", .type = REACT_TARGET } };

/* As agent_target for everyone in a cgroup. */
struct company {
	struct react_agent *agent;
	struct react_call *call;
};

static int check_member(void *context, pid_t pid)
{
	const struct company *company = context;
	const struct react_agent_options *options = &company->agent->options;

	if (options->anywhere || options->in_scope(options->context, pid))
		return 0;
	return agent_refuse(company->call, -EPERM, "process %d in the same cgroup is out of scope", pid);
}

static int check_company(struct react_agent *agent, struct react_call *call, const struct cgroup *cgroup)
{
	struct company company = { agent, call };
	int first = cgroup_holds(cgroup, 1), own = cgroup_holds(cgroup, getpid());

	if (first != 0)
		return agent_refuse(call, -EPERM, "process 1 may be in the same cgroup");
	if (own != 0)
		return agent_refuse(call, -EPERM, "asterism is in the same cgroup");
	call->why[0] = 0;
	int result = cgroup_each(cgroup, check_member, &company);

	return result && !call->why[0] ? agent_refuse(call, result, "%s: %s", cgroup->path, strerror(-result)) : result;
}

int agent_cgroup(struct react_agent *agent, struct react_call *call, struct cgroup *cgroup)
{
	struct react_target target;
	int result = agent_target(agent, call, 0, &target);

	if (result)
		return result;
	result = cgroup_find(target.pid, cgroup);
	if (result == -ENOENT)
		return agent_refuse(call, result, "process %d is not in a cgroup that can be frozen", target.pid);
	if (result == -ESRCH)
		return agent_refuse(call, result, "process %d has ended", target.pid);
	return result ? agent_refuse(call, result, "%s", strerror(-result)) : 0;
}

static int perform_freeze(struct react_agent *agent, struct react_call *call)
{
	struct cgroup cgroup;
	struct undo_change change = { .kind = UNDO_FROZEN, .path = cgroup.file };
	int result = agent_cgroup(agent, call, &cgroup), added;

	if (!result)
		result = check_company(agent, call, &cgroup);
	if (result || cgroup_is_frozen(&cgroup) > 0) /* who froze it will thaw it */
		return result;
	added = agent_remember(agent, call, &change);
	if (added < 0)
		return added;
	result = cgroup_freeze(&cgroup, true);
	if (!result)
		return 0;
	if (added)
		undo_drop(agent->undo, &change);
	return agent_refuse(call, result, "cannot write %s: %s", cgroup.file, strerror(-result));
}

const struct react_action react_freeze = {
	.name = "Freeze",
	REACT_PARAMS(freeze_params),
	.summary = "freezes the cgroup of a process, with all its processes",
	.guarantee = "Requested by asterism when it learns of the match; the thread that completed it may have run on. "
		     "Undone when the session ends, however it ends. Refused for a root cgroup, and for one that "
		     "contains process 1, asterism or a process out of scope.",
	.changes_system = true,
	.is_undone = true,
	.per_second = REACT_CALLS_PER_SECOND,
	.perform = perform_freeze,
};
