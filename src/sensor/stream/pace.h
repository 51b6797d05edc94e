/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_PACE_H
#define SENSOR_STREAM_PACE_H

/*
 * How often rings are looked at that nobody tells us have filled: seldom while little comes, and before any is more
 * than a quarter full while much does. The other three are for a look that comes late.
 */

#include <stdint.h>

enum { PACE_MAX_NS = 2500 * 1000, PACE_MIN_NS = 200 * 1000 };

/* A ring of so many units that has filled by so many in took_ns. */
struct pace_ring {
	uint64_t units, filled;
};

/* When the next look is due, where wait_ns was the last answer. */
uint64_t pace_begin(uint64_t wait_ns);                                                 /* no ring has filled */
uint64_t pace_limit(uint64_t wait_ns, const struct pace_ring *ring, uint64_t took_ns); /* this one has, too */

#endif
