/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_STOPPED_H
#define SESSION_VERDICT_STOPPED_H

/*
 * Processes that programs of the kernel have stopped for a question. One process may be asked about several times, by
 * several threads at once: it goes on when every question about it is answered, and not while a Stop is to last.
 *
 * The order of things keeps a crash harmless at every point: first the process goes on, then its notes in the table are
 * given back. A note that has come in between stops it once more.
 */

#include "react/stops.h"
#include "react/undo.h"

struct stopped {
	pid_t pid;
	int fd;            /* a pidfd */
	uint32_t requests; /* unanswered */
	uint32_t notes;    /* that are ours to give back */
	bool unsure;       /* was never seen stopped: the signal may still come */
	bool went_on;      /* was let go on, but may be stopped late */
	uint64_t until_ns; /* went_on: how long it is watched */
	uint64_t idle_ns;  /* since when nothing is known to be asked */
};

struct stopped_list {
	struct react_stop_table *table;
	const struct undo *undo; /* whom a Stop is to last; may be NULL */
	struct stopped **items;
	size_t count, capacity;
	uint64_t looked_ns;
	bool look_again;
	uint64_t orphans; /* stops of which no match told, let go on by themselves */
};

void stopped_list_init(struct stopped_list *stopped_list, struct react_stop_table *table, const struct undo *undo);
/* Lets no process go on. */
void stopped_list_fini(struct stopped_list *stopped_list);

/*
 * The process that a question is about, with one more question and note. Returns 0; -ESRCH: it is gone, and the note
 * was given back; another error: it cannot be held, so its note will be found later and the default answer given.
 */
int stopped_list_ask(struct stopped_list *stopped_list, pid_t pid, struct stopped **asked);

/* One question is answered. Lets the process go on if it was the last; then it may be freed. */
void stopped_list_answer(struct stopped_list *stopped_list, struct stopped *stopped);

/* Sends it a signal, if it is still the process that it was. */
void stopped_signal(const struct stopped *stopped, int signal);

/* Whether it has ended. */
bool stopped_is_gone(const struct stopped *stopped);

/* What is due: second looks, and processes that are stopped though no match tells of it. */
void stopped_list_poll(struct stopped_list *stopped_list, uint64_t now_ns, uint64_t *wait_ns);

#endif
