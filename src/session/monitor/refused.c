// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explains EPERM of the scheduler. The kernel looks at the privilege first - the capability, or for FIFO RLIMIT_RTPRIO
 * -, then at the budget of real-time threads, and for DEADLINE at the CPUs.
 */

#include "session/monitor/refused.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUDGET_HINT "; --policy best-effort needs no privilege, but gives no guarantee"

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) || data[0].effective >> capability & 1;
}

static int64_t read_us(const char *path)
{
	FILE *file = fopen(path, "re");
	int64_t us = -1;

	if (file && fscanf(file, "%" SCNd64, &us) != 1)
		us = -1;
	if (file)
		fclose(file);
	return us;
}

/* Of version 1's hierarchy; where there is none, nothing says it. */
static int64_t group_budget_us(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096], path[4200];
	int64_t us = -1;

	while (file && fgets(line, sizeof line, file)) {
		char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!name)
			continue;
		*name++ = 0;
		name[strcspn(name, "\n")] = 0;
		if (strcmp(controllers + 1, "cpu") != 0 && strncmp(controllers + 1, "cpu,", 4) != 0)
			continue;
		snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s/cpu.rt_runtime_us", controllers + 1, name);
		us = read_us(path);
	}
	if (file)
		fclose(file);
	return us;
}

void refused_look(struct refused_facts *facts)
{
	struct rlimit limit = { 0 };
	cpu_set_t set;

	getrlimit(RLIMIT_RTPRIO, &limit);
	*facts = (struct refused_facts){
		.has_capability = has_capability(CAP_SYS_NICE),
		.is_pinned =
			sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN),
		.priority_max = limit.rlim_cur,
		.group_us = group_budget_us(),
		.system_us = read_us("/proc/sys/kernel/sched_rt_runtime_us"),
	};
}

/* Where neither the capability nor a limit permits it. */
static int lacks_privilege(bool is_deadline, const struct refused_facts *facts, struct asterism_diag *diag)
{
	if (!is_deadline && facts->priority_max) {
		diag_error(diag, NULL, -EPERM,
			   "SCHED_FIFO is not permitted: its priority, %d, is above RLIMIT_RTPRIO, "
			   "%" PRIu64,
			   SCHEDULE_FIFO_PRIORITY, facts->priority_max);
		diag_hint(diag,
			  "raise the limit (ulimit -r 40, LimitRTPRIO=40 of a unit), or run it as root" BUDGET_HINT);
		return -EPERM;
	}
	diag_error(diag, NULL, -EPERM, "%s is not permitted: CAP_SYS_NICE is missing",
		   is_deadline ? "SCHED_DEADLINE" : "SCHED_FIFO");
	diag_hint(diag, "run it as root, or 'setcap cap_sys_nice,cap_ipc_lock+ep' on the program; --policy best-effort "
			"needs neither, but gives no guarantee");
	return -EPERM;
}

int refused_tell(enum schedule_policy policy, const struct refused_facts *facts, struct asterism_diag *diag)
{
	bool is_deadline = policy == SCHEDULE_DEADLINE;
	const char *kernel_name = is_deadline ? "SCHED_DEADLINE" : "SCHED_FIFO";

	if (!facts->has_capability && (is_deadline || facts->priority_max < SCHEDULE_FIFO_PRIORITY))
		return lacks_privilege(is_deadline, facts, diag);
	if (!is_deadline && facts->group_us == 0) {
		diag_error(diag, NULL, -EPERM,
			   "%s is not permitted: its cgroup has no real-time budget "
			   "(cpu.rt_runtime_us is 0)",
			   kernel_name);
		diag_hint(diag,
			  "set cpu.rt_runtime_us of the cgroup, or run the monitor in the root cgroup" BUDGET_HINT);
	} else if (is_deadline && facts->system_us == 0) {
		diag_error(diag, NULL, -EPERM,
			   "%s is not permitted: the system has no real-time budget "
			   "(/proc/sys/kernel/sched_rt_runtime_us is 0)",
			   kernel_name);
		diag_hint(diag, "raise it; the kernel's default is 950000" BUDGET_HINT);
	} else if (is_deadline && facts->is_pinned) {
		diag_error(diag, NULL, -EPERM,
			   "%s is not permitted for a process that may run on only some of the CPUs", kernel_name);
		diag_hint(diag, "run it without taskset or cpuset, or use --policy fifo");
	} else {
		diag_error(diag, NULL, -EPERM, "%s is not permitted here", kernel_name);
		diag_hint(diag, "a user namespace, a cgroup without real-time share (cpu.rt_runtime_us) or a seccomp "
				"filter forbids it: run the monitor outside of these" BUDGET_HINT);
	}
	return -EPERM;
}
