// SPDX-License-Identifier: BSD-2-Clause
/* Translates a priority to the scheduler's. */

#include "react/priority.h"

#include <errno.h>
#include <linux/sched/types.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_OF_0 = 19, REAL_TIME_0 = 40, PRIORITY_MAX = 139 };

int priority_get(pid_t tid, struct sched_attr *attr)
{
	*attr = (struct sched_attr){ .size = sizeof *attr };
	return syscall(SYS_sched_getattr, tid, attr, sizeof *attr, 0) ? -errno : 0;
}

int priority_restore(pid_t tid, const struct sched_attr *attr)
{
	return syscall(SYS_sched_setattr, tid, attr, 0) ? -errno : 0;
}

int priority_attr(int64_t priority, struct sched_attr *attr)
{
	if (priority < 0 || priority > PRIORITY_MAX || priority == REAL_TIME_0)
		return -EINVAL;
	*attr = (struct sched_attr){ .size = sizeof *attr };
	if (priority > REAL_TIME_0) {
		attr->sched_policy = SCHED_FIFO;
		attr->sched_priority = (uint32_t)(priority - REAL_TIME_0);
	} else {
		attr->sched_policy = SCHED_NORMAL;
		attr->sched_nice = (int32_t)(NICE_OF_0 - priority);
	}
	return 0;
}

int priority_set(pid_t tid, int64_t priority)
{
	struct sched_attr attr;
	int result = priority_attr(priority, &attr);

	return result ? result : priority_restore(tid, &attr);
}
