/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_LOG_LINEAR_H
#define BASE_LOG_LINEAR_H

/*
 * The buckets of logarithmic histograms. Each value from 0 to 15 has its own, every power of two from there on eight of
 * equal width, so none is wider than an eighth of its values.
 */

#include <stdint.h>

enum { LOG_LINEAR_BUCKETS = 496 };

/* The least and the greatest value of a bucket. */
struct log_linear_range {
	uint64_t low, high;
};

uint32_t log_linear_bucket(uint64_t value);
struct log_linear_range log_linear_range(uint32_t bucket);

#endif
