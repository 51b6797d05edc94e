// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the notes of the kernel's programs mean, and how whoever is in them goes on. */

#include "react/stops.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, START_FIELD = 22, STATE_FIELD = 3 };

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

/* Decimal digits into text; only what stands in paths of /proc. */
static char *put_number(char *text, uint32_t number)
{
	char digits[10];
	int count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*text++ = digits[--count];
	*text = 0;
	return text;
}

static char *put_text(char *text, const char *part)
{
	size_t length = strlen(part);

	memcpy(text, part, length + 1);
	return text + length;
}

/* A field of a line of /proc/.../stat, counted from 1 as in proc(5); the name, which is the second, may hold anything.
 */
static const char *field_of(const char *line, int field)
{
	const char *at = strrchr(line, ')');

	for (int i = 2; at && i < field; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* The line of a thread; false: there is no such thread. */
static bool read_stat(pid_t pid, pid_t tid, char line[STAT_BYTES])
{
	char path[64], *end = put_number(put_text(path, "/proc/"), (uint32_t)pid);
	ssize_t got;
	int fd;

	if (tid)
		end = put_number(put_text(end, "/task/"), (uint32_t)tid);
	put_text(end, "/stat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, line, STAT_BYTES - 1);
	close(fd);
	line[got > 0 ? got : 0] = 0;
	return got > 0;
}

char react_thread_state(pid_t pid, pid_t tid)
{
	char line[STAT_BYTES];
	const char *state = read_stat(pid, tid, line) ? field_of(line, STATE_FIELD) : NULL;

	return state ? *state : 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

bool react_stops_is_newer(pid_t pid, uint64_t ts)
{
	char line[STAT_BYTES];
	const char *start = read_stat(pid, 0, line) ? field_of(line, START_FIELD) : NULL;
	uint64_t ticks = 0, slept = now_ns(CLOCK_BOOTTIME) - now_ns(CLOCK_MONOTONIC);

	for (; start && *start >= '0' && *start <= '9'; start++)
		ticks = ticks * 10 + (uint64_t)(*start - '0');
	return ticks * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK)) > ts + slept;
}

/* Takes the signal out of a note, so that it is sent only once. */
static int take_signal(struct react_stop *slot, uint64_t word)
{
	int signal = (int)((uint32_t)word >> REACT_STOP_SIGNAL_SHIFT);
	uint64_t without = word & ~((UINT64_C(0xff)) << REACT_STOP_SIGNAL_SHIFT);

	if (!signal || !__atomic_compare_exchange_n(&slot->word, &word, without, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED))
		return 0;
	return signal;
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

		if (fd < 0)
			continue;
		int signal = take_signal(slot, word);

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
