/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_PRIORITY_H
#define REACT_PRIORITY_H

/*
 * One scale for all priorities, as in the events of wmk.events: greater is more urgent. 0 to 39 are the nice values 19
 * to -20 (19 is nice 0) of a thread under the usual policy, 41 to 139 the real-time priorities 1 to 99 under
 * SCHED_FIFO. A kernel priority, as sched_switch tells it (prev_prio), is 139 minus that.
 */

#include <stdint.h>
#include <sys/types.h>

struct sched_attr;

#define PRIORITY_SCALE "priorities go from 0 to 139, without 40"

/* Stores the scheduling of a thread. Returns 0 or -errno. */
int priority_get(pid_t tid, struct sched_attr *attr);

/* What a priority means to the scheduler. Returns 0, or -EINVAL (beyond the scale). */
int priority_attr(int64_t priority, struct sched_attr *attr);

/* Gives a thread what priority_get or priority_attr stored, or a priority. Returns 0, -EINVAL as above, -errno. */
int priority_restore(pid_t tid, const struct sched_attr *attr);
int priority_set(pid_t tid, int64_t priority);

#endif
