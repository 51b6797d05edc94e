// SPDX-License-Identifier: BSD-2-Clause
/* Limits how long a thread in real time may run without waiting. */

#include "cmd/monitor/guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { PERIODS = 20, LEAST_US = 200 * 1000 };

static _Atomic(struct monitor *) guarded;

static void guard_on_signal(int signal_number)
{
	struct monitor *monitor = atomic_load(&guarded);

	(void)signal_number;
	if (monitor)
		monitor_overrun(monitor);
}

void guard_take_signal(void)
{
	const struct sigaction action = { .sa_handler = guard_on_signal, .sa_flags = (int)SA_RESTART };

	sigaction(SIGXCPU, &action, NULL);
}

void guard_begin(struct monitor *monitor, uint64_t period_ns)
{
	struct rlimit limit;
	uint64_t us = PERIODS * period_ns / 1000;

	atomic_store(&guarded, monitor);
	guard_take_signal();
	if (getrlimit(RLIMIT_RTTIME, &limit))
		return;
	us = us < LEAST_US ? LEAST_US : us;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < us)
		return;
	limit.rlim_cur = us;
	setrlimit(RLIMIT_RTTIME, &limit);
}

void guard_end(void)
{
	atomic_store(&guarded, NULL);
}
