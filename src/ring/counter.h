/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_COUNTER_H
#define RING_COUNTER_H

/* The CPU's counter, which RING_CLOCK_TSC means: read as soon as may be, or after all that is before it in the
 * program. 0 where there is none. C11 and C++11. */

#include <stdint.h>

static inline uint64_t ring_counter(int is_ordered)
{
#if defined(__x86_64__)
	if (is_ordered)
		__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	if (is_ordered)
		__asm__ volatile("isb" ::: "memory");
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	(void)is_ordered;
	return 0;
#endif
}

#endif
