// SPDX-License-Identifier: BSD-2-Clause
/* Reads the notes of the kernel's programs, and lets the processes in them continue. */

#include "react/stops.h"

#include "base/proc.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* Where interrupts are off, the kernel sends a signal when they are on again. */
static const struct timespec interrupts_pause = { .tv_nsec = 5 * 1000 * 1000 };

void react_stops_find(const struct react_stop_table *table, pid_t pid, bool for_good, struct react_stop_notes *notes)
{
	*notes = (struct react_stop_notes){ 0 };
	for (uint32_t i = 0; i < REACT_STOP_PROBES; i++) {
		uint32_t slot = ((uint32_t)pid + i) % REACT_STOP_SLOTS;
		uint64_t word = __atomic_load_n(&table->slots[slot].word, __ATOMIC_ACQUIRE);

		if (word >> 32 == 0 || (word & REACT_STOP_PID_MASK) != (uint32_t)pid ||
		    !(word & REACT_STOP_FOR_GOOD) == for_good)
			continue;
		notes->slots[notes->slot_count] = slot;
		notes->counts[notes->slot_count++] = (uint32_t)(word >> 32);
		notes->sum += (uint32_t)(word >> 32);
	}
}

void react_stops_forget(struct react_stop_table *table, const struct react_stop_notes *notes, uint32_t most)
{
	for (uint32_t i = 0; i < notes->slot_count && most; i++) {
		uint32_t count = notes->counts[i] < most ? notes->counts[i] : most;

		__atomic_fetch_sub(&table->slots[notes->slots[i]].word, (uint64_t)count << 32, __ATOMIC_RELEASE);
		most -= count;
	}
}

static uint64_t ns_of_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* A time in the ticks since boot in which /proc tells when processes began. */
static uint64_t ticks_at(uint64_t ts)
{
	uint64_t awake = ns_of_clock(CLOCK_MONOTONIC), slept = ns_of_clock(CLOCK_BOOTTIME) - awake;

	return (ts + slept) / (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool react_stops_is_newer(pid_t pid, uint64_t ts)
{
	uint64_t birth;

	return proc_birth(pid, &birth) == 0 && birth > ticks_at(ts);
}

char react_thread_state(pid_t pid, pid_t tid, uint64_t ts)
{
	struct proc_stat stat;

	return proc_stat(pid, tid, &stat) == 0 && stat.birth_ticks <= ticks_at(ts) ? stat.state : 0;
}

int react_stops_take_signal(struct react_stop_table *table, uint32_t slot)
{
	uint64_t *at = &table->slots[slot].word, word = __atomic_load_n(at, __ATOMIC_ACQUIRE), without;

	do {
		if (word >> 32 == 0 || !((uint32_t)word >> REACT_STOP_SIGNAL_SHIFT))
			return 0;
		without = word & ~(UINT64_C(0xff) << REACT_STOP_SIGNAL_SHIFT);
	} while (!__atomic_compare_exchange_n(at, &word, without, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return (int)((uint32_t)word >> REACT_STOP_SIGNAL_SHIFT);
}

void react_stops_continue(struct react_stop_table *table)
{
	for (uint32_t i = 0; i < REACT_STOP_SLOTS; i++) {
		struct react_stop *slot = &table->slots[i];
		uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
		pid_t pid = (pid_t)(word & REACT_STOP_PID_MASK);

		if (word >> 32 == 0)
			continue;
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		if (fd < 0) {
			if (errno != ESRCH) /* no descriptor left */
				kill(pid, SIGCONT);
			continue;
		}
		int signal = react_stops_take_signal(table, i);

		if (signal && !react_stops_is_newer(pid, slot->ts))
			syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
		syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
		close(fd);
	}
}

void react_stops_settle(void)
{
	/* A program runs inside a read-side section of RCU, and this waits for all of them. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	nanosleep(&interrupts_pause, NULL);
}
