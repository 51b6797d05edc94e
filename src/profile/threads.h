/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_THREADS_H
#define PROFILE_THREADS_H

/*
 * Which thread caused which part of a sampled profile's self costs. Each part is of one thread and one function; the
 * parts of a function add up to its self cost of the first event. A number that was used again is another thread.
 */

#include "profile/profile.h"

enum { PROFILE_THREADS_MAX = 1 << 20 };

/* One more thread. 0, -ENOMEM, or -E2BIG where there are too many. */
int profile_add_thread(struct profile *profile, uint32_t pid, uint32_t tid, uint32_t name, uint32_t *thread);

/* Adds to the part of a thread and a function. As above. */
int profile_add_part(struct profile *profile, uint32_t thread, uint32_t function, double cost);

/* The cost of each thread, for alloc_free. NULL: out of memory. */
double *profile_thread_costs(const struct profile *profile);

/*
 * Leaves the costs of threads with that number alone, and what is said of them, "thread". Where in functions costs are
 * is no longer known. 0, -ENOMEM, or -ENOENT where there are none.
 */
int profile_keep_thread(struct profile *profile, uint32_t tid);

#endif
