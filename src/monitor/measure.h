/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_MEASURE_H
#define MONITOR_MEASURE_H

/*
 * A measure: what elements of a type come to, for each value of a key. How many there are and when, and of a field's
 * values the least, the greatest, their sum and a histogram. As an evaluation it allocates nothing and never waits;
 * measure_read takes what it has come to from another thread, at any time, and it is never half an element.
 *
 * Intervals are the times between an element and the one before it. Jitter is that of RFC 3550 (section 6.4.1, and
 * appendix A.8 for the arithmetic): a mean of absolute differences that forgets by a sixteenth with each element. The
 * RFC takes the difference between how far apart two packets arrive and how far apart they were sent; here, where
 * nobody says when an element should have been raised, it is the difference between an interval and the one before
 * (cycle-to-cycle jitter). The greatest such difference is kept as well.
 */

#include "monitor/keys.h"

enum measure_buckets {
	MEASURE_NO_BUCKETS,
	MEASURE_LINEAR, /* count buckets of equal width from low on, to before high */
	MEASURE_LOG,    /* base/log-linear.h; negative values are counted as below all */
};

enum { MEASURE_KEYS = 256, MEASURE_KEYS_MAX = 65536, MEASURE_BUCKETS_MAX = 4096 };

/* What is measured. */
struct measure_shape {
	struct monitor_field value; /* MONITOR_NONE: the intervals between elements are the values */
	struct monitor_field key;
	uint32_t keys_most;
	enum measure_buckets buckets;
	int64_t low, high;     /* linear */
	uint32_t bucket_count; /* linear */
};

/* What it has come to for one key. All zero: there was no element. Words, as they are shared. */
struct measure_sum {
	uint64_t count; /* elements */
	uint64_t late;  /* of them; they are in no interval */
	uint64_t first_ns, last_ns;
	uint64_t interval_ns; /* the last one; the least, the greatest */
	uint64_t interval_least_ns, interval_most_ns;
	uint64_t jitter16_ns;    /* 16 times the jitter */
	uint64_t jitter_most_ns; /* the greatest difference */
	uint64_t values;         /* there may be fewer than elements */
	union monitor_value least, most;
	union monitor_value sum; /* the lower half, but of reals all */
	uint64_t sum_high;       /* of whole numbers, in two's complement of 128 bits */
	uint64_t below, above;   /* the buckets */
};

struct measure;

extern const struct monitor_evaluation_kind measure_kind;

/* Borrows nothing. Returns 0; -EINVAL: a shape that makes no sense; -ENOMEM. */
int measure_new(const struct measure_shape *shape, struct measure **made);

/* It lives until measure_free has been called once more than this. */
struct measure *measure_share(struct measure *measure);
void measure_free(struct measure *measure);

const struct measure_shape *measure_shape(const struct measure *measure);
const struct monitor_keys *measure_keys(const struct measure *measure);

/* How many buckets a row has. */
uint32_t measure_bucket_count(const struct measure *measure);

/* Elements whose key found no place, and elements that were lost before they came here. */
uint64_t measure_other(const struct measure *measure);
uint64_t measure_lost(const struct measure *measure);

/*
 * What row of the keys has come to. counts: room for the buckets, or NULL. Those may be some elements ahead of sum.
 * False: elements come too fast for it; sum is half of two.
 */
bool measure_read(const struct measure *measure, uint32_t row, struct measure_sum *sum, uint64_t *counts);

/* The mean of the values, in their unit; of the intervals, in ns. 0: there are none. */
double measure_mean(const struct measure *measure, const struct measure_sum *sum);
double measure_interval_mean_ns(const struct measure_sum *sum);

/* The first value of a linear bucket; of count buckets the end of the last. */
double measure_linear_low(const struct measure_shape *shape, uint32_t bucket);

#endif
