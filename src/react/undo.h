/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_UNDO_H
#define REACT_UNDO_H

/*
 * The journal of what has to be undone when a session ends, however it ends. It lies in memory that a forked process
 * shares, so that one can undo everything after the owner was killed, at whatever instruction.
 *
 * An entry is written before the change that it undoes is made, and published with a release store: a process that
 * finds it published (acquire) finds it whole. To undo what was not done yet, or twice, changes nothing. Only the owner
 * adds and drops; undo_all is for the owner, or for another process once the owner is gone. Undoing neither allocates
 * nor locks.
 *
 * Processes are told by id and time of birth, so that no entry ever meets the next one of that id. The table is
 * bounded: where it is full, entries of the dead make room, and if there are none, the change must not be made.
 */

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct undo;
struct sched_attr;

enum { UNDO_ENTRIES = 1024, UNDO_PATH_BYTES = 512 };

enum undo_kind {
	UNDO_STOPPED = 1, /* the process id was stopped: let it go on */
	UNDO_PRIORITY,    /* the thread id was scheduled as in before */
	UNDO_FROZEN,      /* a cgroup: path is its cgroup.freeze or freezer.state */
};

struct undo_change {
	enum undo_kind kind;
	pid_t id;                        /* STOPPED, PRIORITY */
	const struct sched_attr *before; /* undo_add of PRIORITY */
	const char *path;                /* FROZEN */
};

int undo_new(struct asterism_diag *diag, struct undo **made);

/* Gives the memory back, of this process; undoes nothing. */
void undo_free(struct undo *undo);

/*
 * To be called before a change is made. Returns 1 when an entry was made; 0 when there was one, which stays as it is:
 * what was before the first change is what counts; -ESRCH (no such process or thread), -ENOSPC (full of living ones),
 * -ENAMETOOLONG.
 */
int undo_add(struct undo *undo, const struct undo_change *change);

/* The change was not made, or somebody has reverted it. */
void undo_drop(struct undo *undo, const struct undo_change *change);

/* Undoes one change, if there is such an entry, and drops it. Returns 0, -ENOENT, or -errno: it could not be undone. */
int undo_one(struct undo *undo, const struct undo_change *change);

/* Undoes everything. Returns how much could not be, though its process or cgroup was there. */
size_t undo_all(struct undo *undo);

/* Whether there is such an entry. */
bool undo_has(const struct undo *undo, const struct undo_change *change);

/* How much there is to be undone. */
size_t undo_count(const struct undo *undo);

#endif
