// SPDX-License-Identifier: BSD-2-Clause
/* The names of what calls take that wait for something or somebody: futexes, epoll, clocks, System V IPC. */

#include "meaning/family-priv.h"

#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/time.h>
#include <time.h>

static const struct meaning_row futex_rows[] = {
	MEANING_PART(0x7f, FUTEX_WAIT),
	MEANING_PART(0x7f, FUTEX_WAKE),
	MEANING_PART(0x7f, FUTEX_FD),
	MEANING_PART(0x7f, FUTEX_REQUEUE),
	MEANING_PART(0x7f, FUTEX_CMP_REQUEUE),
	MEANING_PART(0x7f, FUTEX_WAKE_OP),
	MEANING_PART(0x7f, FUTEX_LOCK_PI),
	MEANING_PART(0x7f, FUTEX_UNLOCK_PI),
	MEANING_PART(0x7f, FUTEX_TRYLOCK_PI),
	MEANING_PART(0x7f, FUTEX_WAIT_BITSET),
	MEANING_PART(0x7f, FUTEX_WAKE_BITSET),
	MEANING_PART(0x7f, FUTEX_WAIT_REQUEUE_PI),
	MEANING_PART(0x7f, FUTEX_CMP_REQUEUE_PI),
	MEANING_PART(0x7f, FUTEX_LOCK_PI2),
	MEANING_BIT(FUTEX_PRIVATE_FLAG),
	MEANING_BIT(FUTEX_CLOCK_REALTIME),
};

const struct meaning_family meaning_futex = MEANING_FAMILY(futex_rows);

static const struct meaning_row epoll_rows[] = {
	MEANING_ONE(EPOLL_CTL_ADD),
	MEANING_ONE(EPOLL_CTL_DEL),
	MEANING_ONE(EPOLL_CTL_MOD),
};

const struct meaning_family meaning_epoll = MEANING_FAMILY(epoll_rows);

static const struct meaning_row clock_rows[] = {
	MEANING_ONE(CLOCK_REALTIME),          MEANING_ONE(CLOCK_MONOTONIC),     MEANING_ONE(CLOCK_PROCESS_CPUTIME_ID),
	MEANING_ONE(CLOCK_THREAD_CPUTIME_ID), MEANING_ONE(CLOCK_MONOTONIC_RAW), MEANING_ONE(CLOCK_REALTIME_COARSE),
	MEANING_ONE(CLOCK_MONOTONIC_COARSE),  MEANING_ONE(CLOCK_BOOTTIME),      MEANING_ONE(CLOCK_REALTIME_ALARM),
	MEANING_ONE(CLOCK_BOOTTIME_ALARM),    MEANING_ONE(CLOCK_TAI),
};

const struct meaning_family meaning_clock = MEANING_FAMILY(clock_rows);

static const struct meaning_row timer_rows[] = { MEANING_BIT(TIMER_ABSTIME) };

const struct meaning_family meaning_timer = MEANING_FAMILY(timer_rows);

static const struct meaning_row timerfd_rows[] = {
	MEANING_BIT_AS("TFD_TIMER_ABSTIME", 1),
	MEANING_BIT_AS("TFD_TIMER_CANCEL_ON_SET", 2),
};

const struct meaning_family meaning_timerfd = MEANING_FAMILY(timerfd_rows);

static const struct meaning_row itimer_rows[] = {
	MEANING_ONE(ITIMER_REAL),
	MEANING_ONE(ITIMER_VIRTUAL),
	MEANING_ONE(ITIMER_PROF),
};

const struct meaning_family meaning_itimer = MEANING_FAMILY(itimer_rows);

static const struct meaning_row ipc_rows[] = {
	MEANING_BIT(IPC_CREAT),
	MEANING_BIT(IPC_EXCL),
	MEANING_BIT(IPC_NOWAIT),
};

const struct meaning_family meaning_ipc = MEANING_FAMILY(ipc_rows);

static const struct meaning_row ipc_command_rows[] = {
	MEANING_ONE(IPC_RMID),      MEANING_ONE(IPC_SET),       MEANING_ONE(IPC_STAT),
	MEANING_AS("IPC_INFO", 3),  MEANING_AS("SHM_LOCK", 11), MEANING_AS("SHM_UNLOCK", 12),
	MEANING_AS("SHM_STAT", 13), MEANING_AS("SHM_INFO", 14),
};

const struct meaning_family meaning_ipc_command = MEANING_FAMILY(ipc_command_rows);

static const struct meaning_row event_rows[] = {
	MEANING_BIT(EFD_CLOEXEC),
	MEANING_BIT(EFD_NONBLOCK),
	MEANING_BIT(EFD_SEMAPHORE),
};

const struct meaning_family meaning_event = MEANING_FAMILY(event_rows);
