/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_CLOCK_H
#define SENSOR_STREAM_CLOCK_H

/*
 * What the processor's counter says, as CLOCK_MONOTONIC: straight lines between moments at which both were read, and
 * the last line goes on. Whoever reads both often enough is right within some tens of ns. Converted times keep their
 * order between two looks; a look may move what lies behind the last moment by the error of the line.
 */

#include <stdint.h>

enum { STREAM_CLOCK_POINTS = 64 };

struct stream_clock_point {
	uint64_t raw, ns;
	uint64_t slope; /* from here on, ns * 2^32 per count */
};

/* Zeroed, nothing is known. */
struct stream_clock {
	struct stream_clock_point points[STREAM_CLOCK_POINTS]; /* the oldest first */
	uint32_t count;
};

/* Both were read at one moment; one that is not behind those before is left out. */
void stream_clock_note(struct stream_clock *clock, uint64_t raw, uint64_t ns);

/* Reads both. */
void stream_clock_look(struct stream_clock *clock);

/* Before two moments are known: ns of the one, or 0. */
uint64_t stream_clock_ns(const struct stream_clock *clock, uint64_t raw);

#endif
