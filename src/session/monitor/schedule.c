// SPDX-License-Identifier: BSD-2-Clause
/* Asks the kernel's scheduler for real-time execution, and explains its refusals. */

#include "session/monitor/schedule.h"

#include "monitor/admission.h"
#include "session/monitor/refused.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RUNTIME_MIN_NS = 1024, TRIES = 12 };

/* The kernel's limits of periods, where nobody has changed them. */
enum { PERIOD_MIN_US = 100, PERIOD_MAX_US = 1 << 22 };

/* As the kernel has it: no header that goes with <sched.h> does. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

_Static_assert(sizeof(struct attributes) == 48, "the kernel knows this layout");

enum { POLICY_DEADLINE = 6, RESET_ON_FORK = 1, SIGNAL_OVERRUN = 4 };

const char *const schedule_names[SCHEDULE_POLICIES] = { "deadline", "fifo", "best-effort" };

static int set_attributes(pid_t tid, const struct attributes *attributes)
{
	return syscall(SYS_sched_setattr, tid, attributes, 0) ? -errno : 0;
}

static int set_deadline(const struct schedule *schedule, uint64_t runtime_ns)
{
	const struct attributes attributes = {
		.size = sizeof attributes,
		.policy = POLICY_DEADLINE,
		.flags = RESET_ON_FORK | (schedule->signals ? SIGNAL_OVERRUN : 0),
		.runtime = runtime_ns < RUNTIME_MIN_NS ? RUNTIME_MIN_NS : runtime_ns,
		.deadline = schedule->deadline_ns,
		.period = schedule->period_ns,
	};

	return set_attributes(0, &attributes);
}

void schedule_leave(pid_t tid)
{
	const struct attributes attributes = { .size = sizeof attributes, .policy = SCHED_OTHER };

	set_attributes(tid, &attributes);
}

/* The most that the kernel takes now; 0: nothing. The thread is an ordinary one again. */
static uint64_t find_fitting(const struct schedule *schedule)
{
	uint64_t low = 0, high = schedule->runtime_ns;

	for (int i = 0; i < TRIES && high - low > 1000; i++) {
		uint64_t middle = low + (high - low) / 2;

		if (set_deadline(schedule, middle))
			high = middle;
		else
			low = middle;
	}
	schedule_leave(0);
	return low;
}

static int refuse_room(const struct schedule *schedule, struct asterism_diag *diag)
{
	char runtime[ADMISSION_TIME_BYTES], period[ADMISSION_TIME_BYTES], fits[ADMISSION_TIME_BYTES], hint[200];
	uint64_t fitting = find_fitting(schedule);

	diag_error(diag, NULL, -EBUSY, "the kernel does not admit %s per %s: its real-time budget is taken by others",
		   admission_time(runtime, schedule->runtime_ns), admission_time(period, schedule->period_ns));
	snprintf(hint, sizeof hint,
		 "%s would fit: lower the rates, ask for more --latency, or raise "
		 "/proc/sys/kernel/sched_rt_runtime_us",
		 admission_time(fits, fitting));
	diag_hint(diag, hint);
	return -EBUSY;
}

/* A limit in us, or fallback where it cannot be read. */
static uint64_t limit_ns(const char *path, uint64_t fallback_us)
{
	FILE *file = fopen(path, "re");
	uint64_t us = fallback_us;

	if (!file)
		return us * 1000;
	if (fscanf(file, "%" SCNu64, &us) != 1)
		us = fallback_us;
	fclose(file);
	return us * 1000;
}

static int refuse_period(const struct schedule *schedule, struct asterism_diag *diag)
{
	char period[ADMISSION_TIME_BYTES], least[ADMISSION_TIME_BYTES], most[ADMISSION_TIME_BYTES];
	uint64_t from = limit_ns("/proc/sys/kernel/sched_deadline_period_min_us", PERIOD_MIN_US);
	uint64_t to = limit_ns("/proc/sys/kernel/sched_deadline_period_max_us", PERIOD_MAX_US);

	if (schedule->period_ns >= from && schedule->period_ns <= to)
		return diag_error(
			diag, NULL, -EINVAL, "the kernel's scheduler refuses --policy deadline: %s per %s, deadline %s",
			admission_time(period, schedule->runtime_ns), admission_time(least, schedule->period_ns),
			admission_time(most, schedule->deadline_ns));
	diag_error(diag, NULL, -EINVAL,
		   "the kernel accepts periods from %s to %s for SCHED_DEADLINE, but --period is %s",
		   admission_time(least, from), admission_time(most, to), admission_time(period, schedule->period_ns));
	diag_hint(diag,
		  schedule->period_ns > to
			  ? "shorten it, raise /proc/sys/kernel/sched_deadline_period_max_us, or use --policy fifo"
			  : "lengthen it, or use --policy fifo");
	return -EINVAL;
}

int schedule_enter(const struct schedule *schedule, struct asterism_diag *diag)
{
	const struct attributes fifo = {
		.size = sizeof fifo,
		.policy = SCHED_FIFO,
		.flags = RESET_ON_FORK,
		.priority = SCHEDULE_FIFO_PRIORITY,
	};
	int result = 0;

	prctl(PR_SET_TIMERSLACK, 1ul); /* of ordinary threads */
	if (schedule->policy == SCHEDULE_DEADLINE)
		result = set_deadline(schedule, schedule->runtime_ns);
	else if (schedule->policy == SCHEDULE_FIFO)
		result = set_attributes(0, &fifo);
	if (result == -EBUSY)
		return refuse_room(schedule, diag);
	if (result == -EINVAL && schedule->policy == SCHEDULE_DEADLINE)
		return refuse_period(schedule, diag);
	if (result == -EPERM) {
		struct refused_facts facts;

		refused_look(&facts);
		return refused_tell(schedule->policy, &facts, diag);
	}
	return result ? diag_error(diag, NULL, result, "the kernel's scheduler refuses --policy %s: %s",
				   schedule_names[schedule->policy], strerror(-result))
		      : 0;
}
