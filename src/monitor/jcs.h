/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_JCS_H
#define MONITOR_JCS_H

/*
 * What a producer may raise at most, and how many elements a periodic monitor must be able to evaluate so that each has
 * been evaluated within a wanted time: jitter-constrained streams (Hamann; the analysis is Riegel's, 2005). In integers
 * only; times in any one unit. Every figure is a bound that the densest permitted stream reaches.
 *
 * Element e of the densest stream (from 0) comes at max(e * distance, e * period - earliness).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JCS_TIME_MAX  (UINT64_C(1) << 50) /* 13 days of ns */
#define JCS_UNBOUNDED UINT64_MAX

struct jcs {
	uint64_t period;    /* on average at least, > 0 */
	uint64_t distance;  /* between two elements, <= period */
	uint64_t earliness; /* how much an element may come before its period */
};

/* It looks once in every period, and has finished what it then takes by the deadline after that. */
struct jcs_monitor {
	uint64_t period;   /* > 0 */
	uint64_t deadline; /* <= period */
};

/* Returns 0, or -EINVAL: these are none, or larger than JCS_TIME_MAX. */
int jcs_check(const struct jcs *stream);
int jcs_monitor_check(const struct jcs_monitor *monitor);

/*
 * As people say it: so many elements in so much time (both > 0), that many of them at once, with a spacing. The period
 * is rounded down, so that what is admitted is rather more than what was said. -EINVAL where that is none.
 */
struct jcs_rate {
	uint64_t count, time, burst, spacing;
};

int jcs_from_rate(const struct jcs_rate *rate, struct jcs *stream);

/* ---- what a stream may be. All that follows takes what the checks accept. */

/* Elements that may come at the distance from each other, one after the other (L); JCS_UNBOUNDED: all. */
uint64_t jcs_burst(const struct jcs *stream);

/* Elements that may come in a time, its end not included (E). */
uint64_t jcs_count(const struct jcs *stream, uint64_t time);

/* ---- what a monitor must do: R elements in each of its periods */

/* With less it gets further and further behind; with more nothing gets better. */
uint64_t jcs_least(const struct jcs *stream, const struct jcs_monitor *monitor);
uint64_t jcs_most(const struct jcs *stream, const struct jcs_monitor *monitor);

/* From an element to the end of its evaluation, at most (l(R)); JCS_UNBOUNDED for less than jcs_least. */
uint64_t jcs_latency(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t elements);

/* Elements that wait at once, at most (b(R)); JCS_UNBOUNDED for less than jcs_least. */
uint64_t jcs_backlog(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t elements);

/* The fewest elements per period with which the latency is at most wanted. -ERANGE: no number does; jcs_most's latency
 * is the shortest. */
int jcs_admit(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t wanted, uint64_t *elements);

/* ---- whether a stream is what it was said to be */

/* Zero: from the beginning. */
struct jcs_meter {
	uint64_t next; /* when the next element is due, were it neither early nor late */
	uint64_t last;
	bool has_begun;
};

/*
 * One more element, at a time not before the last one. Returns 0, or by how much it came too early; then it does not
 * count for those that follow.
 */
uint64_t jcs_meter_add(struct jcs_meter *meter, const struct jcs *stream, uint64_t at);

/* ---- what of a CPU several streams need together */

struct jcs_share {
	uint64_t elements; /* per period */
	uint64_t cost;     /* of an evaluation, at most */
};

/*
 * Time per period: all evaluations, the dearest once more, as one that does not end within a period delays others, and
 * waking up. JCS_UNBOUNDED where that overflows.
 */
uint64_t jcs_runtime(const struct jcs_share *shares, size_t count, uint64_t wake);

#endif
