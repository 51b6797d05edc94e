/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_CLOCK_H
#define SENSOR_STREAM_CLOCK_H

/*
 * What the CPU's counter says, as CLOCK_MONOTONIC: straight lines from moments at which both were read, each
 * along what the counter did before. Its beginning, up to the bend, makes good what the lines before were off by; so
 * however long it is until the next one begins, that does not grow. Whoever reads both often enough is right within
 * some tens of ns. A line is never changed, and the next one begins where it ends: so converted times keep their
 * order, and a moment has one time, whenever and by whomever it is asked for, as long as the line is remembered.
 *
 * Readers in several threads that are to say the same share one: then the conversions of all, and the looks, are under
 * one lock, and a count that was read before a line began is never converted along it.
 */

#include <pthread.h>
#include <stdint.h>

/* Some seconds of lines. */
enum { STREAM_CLOCK_POINTS = 4096 };

struct stream_clock_point {
	uint64_t raw, ns;           /* where the line begins */
	uint64_t slope;             /* up to the bend, ns * 2^32 per count */
	uint64_t bend_raw, bend_ns; /* bend_raw 0: there is none */
	uint64_t rest;              /* slope from there on */
	uint64_t read_ns;           /* CLOCK_MONOTONIC at raw */
};

/* Zeroed, nothing is known. */
struct stream_clock {
	struct stream_clock *shared; /* NULL: it is for itself; else that one is asked, and locked */
	pthread_mutex_t lock;
	struct stream_clock_point points[STREAM_CLOCK_POINTS]; /* a ring, the oldest first */
	uint32_t first, count;
};

/* Both were read at one moment; one that is not behind those before is left out, as are most that are close to them. */
void stream_clock_note(struct stream_clock *clock, uint64_t raw, uint64_t ns);

/* Reads both; the first time it takes a ms. */
void stream_clock_look(struct stream_clock *clock);

/* Before two moments are known: ns of the one, or 0. */
uint64_t stream_clock_ns(struct stream_clock *clock, uint64_t raw);

#endif
