/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_ALLOWANCE_H
#define SESSION_OUTPUT_ALLOWANCE_H

/* Time that may be spent on looking: max_ns at a stretch, and a share of all time. Begins full. */

#include <stdint.h>

enum { ALLOWANCE_SHARE = 8 }; /* one in so many */

struct allowance {
	uint64_t max_ns, left_ns, asked_ns; /* asked_ns: when that was reckoned */
};

static inline struct allowance allowance_of(uint64_t max_ns)
{
	return (struct allowance){ .max_ns = max_ns, .left_ns = max_ns };
}

/* What is left now. */
static inline uint64_t allowance_left(struct allowance *allowance, uint64_t now_ns)
{
	uint64_t more = allowance->asked_ns ? (now_ns - allowance->asked_ns) / ALLOWANCE_SHARE : 0;

	allowance->asked_ns = now_ns;
	allowance->left_ns += more;
	if (allowance->left_ns > allowance->max_ns)
		allowance->left_ns = allowance->max_ns;
	return allowance->left_ns;
}

static inline void allowance_spend(struct allowance *allowance, uint64_t spent_ns)
{
	allowance->left_ns -= spent_ns < allowance->left_ns ? spent_ns : allowance->left_ns;
}

#endif
