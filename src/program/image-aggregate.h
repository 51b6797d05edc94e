/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_IMAGE_AGGREGATE_H
#define PROGRAM_IMAGE_AGGREGATE_H

/* AGGREGATE in an image: rows of PROGRAM_AGGREGATIONS and PROGRAM_AGGREGATES. */

#include <stdint.h>

enum program_aggregation_flag {
	PROGRAM_AGGREGATION_DELTA = 1 << 0, /* what is reported is forgotten */
};

/* AGGREGATE of a rule: what is added up of its matches, by which key, and when that is reported. */
struct program_aggregation {
	uint32_t first_by, by_count; /* in AGGREGATES: the values of the key */
	uint32_t first_aggregate, aggregate_count;
	uint32_t top; /* how many keys are reported; 0: all */
	uint32_t flags;
	uint64_t every_ns; /* 0: at the end alone */
};

enum program_aggregate_op {
	PROGRAM_BY = 1,
	PROGRAM_COUNT_OF, /* of the matches */
	PROGRAM_SUM_OF,
	PROGRAM_MIN_OF,
	PROGRAM_MAX_OF,
	PROGRAM_AVG_OF,
	PROGRAM_HISTOGRAM_OF,
	PROGRAM_QUANTILES_OF,
};

struct program_aggregate {
	uint32_t name;
	uint32_t op;
	uint32_t node;    /* over slots only; COUNT_OF: NONE */
	uint32_t there;   /* as program_return's */
	uint32_t meaning; /* as program_field's; COUNT_OF: 0 */
};

/* At most so many values, and so many bytes that they take in a key. */
enum { PROGRAM_BY_MAX = 8, PROGRAM_BY_BYTES_MAX = 1024, PROGRAM_AGGREGATES_MAX = 32 };

_Static_assert(sizeof(struct program_aggregation) == 32, "on-disk layout");

#endif
