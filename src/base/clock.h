/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* The clock that events carry. */

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
