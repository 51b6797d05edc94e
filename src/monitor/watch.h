/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_WATCH_H
#define MONITOR_WATCH_H

/*
 * Holds a monitor to its promise: every element evaluated within a bound of its time. For each that was not, it finds
 * the cause. What delays elements is measured while it happens - a wake-up that came late, evaluations that took longer
 * than they may, elements that came faster than declared, a writer that was in between - and summed up as long as the
 * delay lasts: until a turn has ended in its time with nothing left to do. The largest sum is the cause.
 *
 * No call allocates, waits or reads a clock; a thread that answers in real time makes them, and who wants to know reads
 * the counts at any time.
 */

#include "monitor/jcs.h"

#include <stdatomic.h>

enum watch_cause {
	WATCH_OVER_RATE,   /* elements of a declared sensor came earlier than declared */
	WATCH_UNDECLARED,  /* elements of sensors that nothing is declared of */
	WATCH_OVER_COST,   /* evaluations took longer than they may */
	WATCH_HELD,        /* a writer was in between and held up others, or its own element */
	WATCH_LATE_WAKE,   /* the system woke the monitor late */
	WATCH_NEWCOMER,    /* its process was not known yet when it was raised */
	WATCH_UNEXPLAINED, /* none of these */
	WATCH_CAUSES,
};

/* A few words for each. */
extern const char *const watch_cause_texts[WATCH_CAUSES];
extern const char *const watch_cause_names[WATCH_CAUSES]; /* for machines */

enum { WATCH_BUCKETS = 1024, WATCH_WORST = 8 };

struct watch_sensor {
	struct jcs stream;
	bool is_declared;
	uint64_t cost_ns; /* of an evaluation, at most; 0: not known */
	struct jcs_meter meter;
	uint64_t last_ns;
	_Atomic uint64_t elements, excess; /* excess: earlier than declared */
	_Atomic uint64_t worst_ns;         /* the longest evaluation */
};

struct watch_violation {
	uint64_t at_ns, response_ns;
	uint32_t sensor, pid;
	enum watch_cause cause;
	uint64_t share_ns; /* how much of it was measured */
};

struct watch_options {
	struct watch_sensor *sensors; /* borrowed, by number */
	uint32_t sensor_count;
	uint64_t bound_ns; /* 0: nothing is promised */
	uint64_t late_ns;  /* a wake-up that is later than this is late */
	uint64_t period_ns;
	uint64_t bucket_ns; /* of the histogram, > 0 */
};

struct watch {
	struct watch_options options;
	uint64_t shares[WATCH_CAUSES]; /* ns of delay that still lasts */
	uint64_t due_ns;               /* when this turn has to have ended */
	uint64_t held_since_ns;        /* 0: nothing is held up */
	_Atomic uint64_t elements, lost, violations, turns;
	_Atomic uint64_t most_ns, sum_ns;          /* responses */
	_Atomic uint64_t latest_ns;                /* the latest wake-up */
	_Atomic uint64_t least_ns;                 /* of all responses; UINT64_MAX: none */
	_Atomic uint64_t causes[WATCH_CAUSES];     /* violations */
	_Atomic uint64_t histogram[WATCH_BUCKETS]; /* of responses; the last: all above */
	struct watch_violation worst[WATCH_WORST]; /* the worst first; for after the end */
	uint32_t worst_count;
};

void watch_init(struct watch *watch, const struct watch_options *options);

/* A turn begins: it was due at due_ns, the monitor had nothing to do from idle_ns on, and woke up at now_ns. */
void watch_wake(struct watch *watch, uint64_t due_ns, uint64_t idle_ns, uint64_t now_ns);

/* What was evaluated between begin_ns and end_ns. */
struct watch_element {
	uint64_t at_ns, begin_ns, end_ns;
	uint32_t sensor, pid;
	bool is_late; /* its own writer had not finished it in time */
	bool is_new;  /* its process was not known when it was raised */
};

/* Returns whether it was in time, or nothing is promised; else *violation is filled. */
bool watch_take(struct watch *watch, const struct watch_element *element, struct watch_violation *violation);

void watch_lose(struct watch *watch, uint64_t lost);

/* The turn has ended at now_ns. is_held: a writer that is in between keeps elements from being evaluated. */
void watch_rest(struct watch *watch, uint64_t now_ns, bool is_held);

/* The response that share of all (0 to 1) did not exceed, as far as buckets tell; the most where they do not. */
uint64_t watch_quantile(const struct watch *watch, double share);

#endif
