/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_CGROUP_H
#define REACT_CGROUP_H

/*
 * The cgroup of a process, as far as it can be frozen: one of version 2, or else one of version 1's freezer. The root
 * of a hierarchy cannot be.
 */

#include "react/undo.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CGROUP_PATH_BYTES = UNDO_PATH_BYTES };

struct cgroup {
	char folder[CGROUP_PATH_BYTES]; /* where its files are */
	char path[CGROUP_PATH_BYTES];   /* in its hierarchy; begins with a slash */
	char file[CGROUP_PATH_BYTES];   /* the one that freezes it */
	bool is_v1;
};

/*
 * Finds the cgroup of a process. Returns 0; -ENOENT: it is in root cgroups only, or none is mounted; -ESRCH;
 * -ENAMETOOLONG; -errno.
 */
int cgroup_find(pid_t pid, struct cgroup *cgroup);

/* Whether a process is in the cgroup or one below it: 1, 0, -errno. */
int cgroup_holds(const struct cgroup *cgroup, pid_t pid);

/*
 * Calls each for every process in the cgroup and those below it, until it returns other than 0. Returns that, 0 or
 * -errno.
 */
typedef int cgroup_each_fn(void *context, pid_t pid);
int cgroup_each(const struct cgroup *cgroup, cgroup_each_fn *each, void *context);

/* Whether it is frozen by a wish of its own: 1, 0, -errno. */
int cgroup_is_frozen(const struct cgroup *cgroup);

int cgroup_freeze(const struct cgroup *cgroup, bool frozen);

#endif
