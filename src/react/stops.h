/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_STOPS_H
#define REACT_STOPS_H

/*
 * Whom the kernel's programs have stopped: a table in memory that they share with this process and with the watchdog. A
 * program notes a process before it sends SIGSTOP, so every stopped process is in the table, whatever ends when.
 *
 * A slot's word holds a count in its upper half and whom it is about in its lower half; a slot whose count is 0 is
 * free. Programs only add (and take back what they have just added), this process only subtracts what it has seen
 * added. A process may be in several slots, all of them within REACT_STOP_PROBES of its own place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	REACT_STOP_SLOTS = 1024,   /* a power of two */
	REACT_STOP_PROBES = 16,    /* so far from its place a process may be */
	REACT_STOP_PROGRAMS = 1008 /* that may write to the table */
};

/* The lower half of a word. Process ids have 22 bits at most (PID_MAX_LIMIT). */
enum {
	REACT_STOP_PID_MASK = (1 << 22) - 1,
	REACT_STOP_FOR_GOOD = 1 << 22, /* by Stop; else by Ask */
	REACT_STOP_SIGNAL_SHIFT = 24,  /* what a process gets without an answer; 0: it goes on */
};

struct react_stop {
	uint64_t word;
	uint64_t ts; /* CLOCK_MONOTONIC, when it was noted last */
};

struct react_stop_table {
	uint32_t open; /* 0: no process is to be stopped any more */
	uint32_t program_count;
	uint64_t refused; /* stops that found no free slot */
	uint64_t pad[6];
	uint32_t programs[REACT_STOP_PROGRAMS]; /* their ids */
	struct react_stop slots[REACT_STOP_SLOTS];
};

_Static_assert(sizeof(struct react_stop) == 16, "shared with generated code");
_Static_assert(offsetof(struct react_stop_table, slots) == 4096, "shared with generated code");

/* Notes about one process, as they were when they were looked at. */
struct react_stop_notes {
	uint32_t slots[REACT_STOP_PROBES], counts[REACT_STOP_PROBES];
	uint32_t slot_count;
	uint32_t sum;
};

/* Finds what is noted about pid: by Stop (for_good), or by Ask. */
void react_stops_find(const struct react_stop_table *table, pid_t pid, bool for_good, struct react_stop_notes *notes);

/* Subtracts what was found, most at most. */
void react_stops_forget(struct react_stop_table *table, const struct react_stop_notes *notes, uint32_t most);

/*
 * Lets every process of the table go on; one that was to get a signal without an answer gets it, once. Nothing is
 * forgotten, so it may be called again. Allocates nothing, as a child may that was forked from many threads.
 */
void react_stops_continue(struct react_stop_table *table);

/* The signal that the note in a slot asks for, once: the note loses it. 0: none. */
int react_stops_take_signal(struct react_stop_table *table, uint32_t slot);

/* Whether the process was started after ts (CLOCK_MONOTONIC), so that it cannot be the one that was meant then. */
bool react_stops_is_newer(pid_t pid, uint64_t ts);

/* Returns when every program of the kernel that ran when it was called has come to its end. */
void react_stops_settle(void);

/*
 * The state of a thread as /proc tells it ('R', 'T', ...); 0: there is none that was there at ts (CLOCK_MONOTONIC).
 * One look, as it is taken while somebody waits.
 */
char react_thread_state(pid_t pid, pid_t tid, uint64_t ts);

#endif
