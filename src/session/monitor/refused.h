/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_REFUSED_H
#define SESSION_MONITOR_REFUSED_H

/* Why the kernel does not permit a policy: what is known of this thread, and what is told of it. */

#include "session/monitor/schedule.h"

enum { SCHEDULE_FIFO_PRIORITY = 40 };

struct refused_facts {
	bool has_capability;   /* CAP_SYS_NICE, or it cannot be asked whether */
	bool is_pinned;        /* may not run on all CPUs */
	uint64_t priority_max; /* RLIMIT_RTPRIO */
	int64_t group_us;      /* the real-time budget of its cgroup; -1: unlimited or unknown */
	int64_t system_us;     /* that of the system */
};

/* Of the calling thread. */
void refused_look(struct refused_facts *facts);

/* Returns -EPERM, with a sentence. */
int refused_tell(enum schedule_policy policy, const struct refused_facts *facts, struct asterism_diag *diag);

#endif
