/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CREW_H
#define BASE_CREW_H

/* Independent pieces of work, done side by side: for calls in which the kernel works, or waits. */

#include <stddef.h>

enum { CREW_MAX = 16 };

/* Members that keep the processors busy, where the kernel works: one for each of them, 4 at most. */
unsigned int crew_of_processors(void);

/*
 * Calls work for each index below count, once, in any order, in the caller and at most members - 1 threads, which take
 * no signals; where there can be none, the caller does it all. Returns when all is done.
 */
void crew_do(size_t count, unsigned int members, void (*work)(void *context, size_t index), void *context);

#endif
