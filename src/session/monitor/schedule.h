/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_SCHEDULE_H
#define SESSION_MONITOR_SCHEDULE_H

/* Under which promise of the kernel a thread gets a CPU. */

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum schedule_policy {
	SCHEDULE_DEADLINE, /* so much time in each period, admitted and enforced by the kernel */
	SCHEDULE_FIFO,     /* before all ordinary threads; whether that is enough is for the user to know */
	SCHEDULE_BEST_EFFORT,
	SCHEDULE_POLICIES,
};

extern const char *const schedule_names[SCHEDULE_POLICIES];

struct schedule {
	enum schedule_policy policy;
	uint64_t runtime_ns, deadline_ns, period_ns; /* DEADLINE */
	bool signals;                                /* DEADLINE: SIGXCPU tells of an overrun */
};

/* Of the calling thread, which children do not inherit. Returns 0; -EPERM: the privilege is missing; -EBUSY: the kernel
 * has no room for it; -errno; with a sentence that says what would fit. */
int schedule_enter(const struct schedule *schedule, struct asterism_diag *diag);

/* Makes thread tid an ordinary one. May be called by a signal handler. */
void schedule_leave(pid_t tid);

#endif
