/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_INTERVALS_H
#define PROFILE_SAMPLE_INTERVALS_H

/*
 * Which samples lie in intervals of their thread. An interval may become known long after the samples in it, so samples
 * wait; where too many do, the older half is judged by what is known then. One thread.
 */

#include <stddef.h>
#include <stdint.h>

struct intervals;

struct waiting_sample {
	uint64_t time;
	uint32_t tid, spot; /* spot: of the profile */
	double weight;
};

/* What a sample in an interval is handed to. 0 or -errno. */
struct interval_taker {
	int (*take)(void *context, const struct waiting_sample *sample);
	void *context;
};

/* room: how many samples, and how many intervals, are kept at most; 2 at least. NULL: out of memory. */
struct intervals *intervals_new(size_t room, const struct interval_taker *taker);
void intervals_free(struct intervals *intervals);

/* Both ends belong to it. Returns 0, -ENOMEM, or what the callback returned. */
int intervals_add(struct intervals *intervals, uint32_t tid, uint64_t from, uint64_t to);

/* Samples come in the order of their time. Returns as intervals_add. */
int intervals_keep(struct intervals *intervals, const struct waiting_sample *sample);

/* Judges all that wait. Returns as intervals_add. */
int intervals_end(struct intervals *intervals);

/* Samples in no interval. */
uint64_t intervals_outside(const struct intervals *intervals);

/* Intervals that began before samples that had been judged by then: what was in their first part is outside. */
uint64_t intervals_late(const struct intervals *intervals);

#endif
