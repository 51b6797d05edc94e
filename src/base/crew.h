/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CREW_H
#define BASE_CREW_H

/* Independent pieces of work, done side by side: for calls in which a thread waits for the kernel. */

#include <stddef.h>

enum { CREW_MAX = 16 };

/*
 * Calls work for each index below count, once, in any order, in the caller and at most members - 1 threads, which take
 * no signals; where there can be none, the caller does it all. Returns when all is done.
 */
void crew_do(size_t count, unsigned int members, void (*work)(void *context, size_t index), void *context);

#endif
