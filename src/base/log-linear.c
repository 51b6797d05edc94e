// SPDX-License-Identifier: BSD-2-Clause
/* Computes where the buckets of logarithmic histograms begin. */

#include "base/log-linear.h"

enum { EXACT = 16, EXACT_BITS = 4, PER_POWER = 8, PER_POWER_BITS = 3 };

_Static_assert(EXACT + (64 - EXACT_BITS) * PER_POWER == LOG_LINEAR_BUCKETS, "every value has one");

uint32_t log_linear_bucket(uint64_t value)
{
	if (value < EXACT)
		return (uint32_t)value;
	uint32_t power = 63 - (uint32_t)__builtin_clzll(value);
	uint32_t part = (uint32_t)(value >> (power - PER_POWER_BITS)) & (PER_POWER - 1);

	return EXACT + (power - EXACT_BITS) * PER_POWER + part;
}

struct log_linear_range log_linear_range(uint32_t bucket)
{
	if (bucket < EXACT)
		return (struct log_linear_range){ bucket, bucket };
	uint32_t power = (bucket - EXACT) / PER_POWER + EXACT_BITS, part = (bucket - EXACT) % PER_POWER;
	uint64_t width = UINT64_C(1) << (power - PER_POWER_BITS), low = (UINT64_C(1) << power) + part * width;

	return (struct log_linear_range){ low, low + (width - 1) };
}
