/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_DISTRIBUTION_H
#define REPORT_DISTRIBUTION_H

/* A distribution of durations, kept as logarithmic counts: quantiles are true to an eighth. */

#include "report/table.h"

#include "base/log-linear.h"

struct report_distribution {
	uint64_t count, sum, least, most;
	uint64_t buckets[LOG_LINEAR_BUCKETS];
};

/* One of which there are many: only the buckets with something in them are kept. */
struct report_sparse {
	uint64_t sum, least, most;
	uint64_t *used; /* each the number of a bucket and, below that, its count; ascending */
	size_t used_count, used_capacity;
};

/* Returns 0 or -ENOMEM. */
int report_sparse_add(struct report_sparse *sparse, uint64_t value);
struct report_distribution report_sparse_whole(const struct report_sparse *sparse);
uint64_t report_sparse_count(const struct report_sparse *sparse);
void report_sparse_fini(struct report_sparse *sparse);

void report_distribution_add(struct report_distribution *distribution, uint64_t value);

/* The least value that so great a part (0 to 1) of all does not exceed, within its bucket; 0 where there are none. */
uint64_t report_distribution_quantile(const struct report_distribution *distribution, double part);

enum { DISTRIBUTION_CELLS = 8 };

/* count, sum, mean, least, median, 90, 99 %, most: columns and cells behind those of the caller. */
#define REPORT_DISTRIBUTION_COLUMNS                                                                         \
	{ "count", "count", CELL_COUNT, false }, { "sum_ns", "sum", CELL_DURATION, false },                 \
		{ "mean_ns", "mean", CELL_DURATION, false }, { "least_ns", "least", CELL_DURATION, false }, \
		{ "p50_ns", "p50", CELL_DURATION, false }, { "p90_ns", "p90", CELL_DURATION, false },       \
		{ "p99_ns", "p99", CELL_DURATION, false },                                                  \
	{                                                                                                   \
		"most_ns", "most", CELL_DURATION, false                                                     \
	}

void report_distribution_cells(const struct report_distribution *distribution,
			       struct report_cell cells[DISTRIBUTION_CELLS]);

/* A table of powers of two with bars. */
void report_distribution_write(const struct report_distribution *distribution, struct report_tables *tables,
			       const char *name, const char *title);

#endif
