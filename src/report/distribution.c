// SPDX-License-Identifier: BSD-2-Clause
/* Keeps and shows distributions. */

#include "report/distribution.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { COUNT_BITS = 48 };

static uint32_t used_bucket(uint64_t used)
{
	return (uint32_t)(used >> COUNT_BITS);
}

static uint64_t used_count(uint64_t used)
{
	return used & ((UINT64_C(1) << COUNT_BITS) - 1);
}

int report_sparse_add(struct report_sparse *sparse, uint64_t value)
{
	uint32_t bucket = log_linear_bucket(value);
	size_t at = sparse->used_count;

	while (at > 0 && used_bucket(sparse->used[at - 1]) > bucket)
		at--;
	if (at == 0 || used_bucket(sparse->used[at - 1]) != bucket) {
		if (alloc_grow(&sparse->used, &sparse->used_capacity, sparse->used_count, sizeof *sparse->used))
			return -ENOMEM;
		memmove(&sparse->used[at + 1], &sparse->used[at], (sparse->used_count - at) * sizeof *sparse->used);
		sparse->used[at++] = (uint64_t)bucket << COUNT_BITS;
		sparse->least = sparse->used_count++ == 0 ? value : sparse->least;
	}
	sparse->used[at - 1]++;
	sparse->sum += value;
	sparse->least = value < sparse->least ? value : sparse->least;
	sparse->most = value > sparse->most ? value : sparse->most;
	return 0;
}

struct report_distribution report_sparse_whole(const struct report_sparse *sparse)
{
	struct report_distribution whole = { 0, sparse->sum, sparse->least, sparse->most, { 0 } };

	for (size_t i = 0; i < sparse->used_count; i++)
		whole.buckets[used_bucket(sparse->used[i])] = used_count(sparse->used[i]);
	whole.count = report_sparse_count(sparse);
	return whole;
}

uint64_t report_sparse_count(const struct report_sparse *sparse)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sparse->used_count; i++)
		count += used_count(sparse->used[i]);
	return count;
}

void report_sparse_fini(struct report_sparse *sparse)
{
	alloc_free(sparse->used);
}

void report_distribution_add(struct report_distribution *distribution, uint64_t value)
{
	if (!distribution->count || value < distribution->least)
		distribution->least = value;
	if (value > distribution->most)
		distribution->most = value;
	distribution->count++;
	distribution->sum += value;
	distribution->buckets[log_linear_bucket(value)]++;
}

uint64_t report_distribution_quantile(const struct report_distribution *distribution, double part)
{
	uint64_t wanted = (uint64_t)(part * (double)distribution->count + 0.999999), met = 0;

	for (uint32_t i = 0; i < LOG_LINEAR_BUCKETS && distribution->count; i++) {
		uint64_t high = log_linear_range(i).high;

		met += distribution->buckets[i];
		if (met && met >= wanted)
			return high < distribution->most ? high : distribution->most;
	}
	return 0;
}

void report_distribution_cells(const struct report_distribution *distribution,
			       struct report_cell cells[DISTRIBUTION_CELLS])
{
	uint64_t count = distribution->count;

	cells[0] = report_cell_number(count);
	for (unsigned i = 1; i < DISTRIBUTION_CELLS && !count; i++)
		cells[i] = CELL_NONE;
	if (!count)
		return;
	cells[1] = report_cell_number(distribution->sum);
	cells[2] = report_cell_number(distribution->sum / count);
	cells[3] = report_cell_number(distribution->least);
	cells[4] = report_cell_number(report_distribution_quantile(distribution, 0.5));
	cells[5] = report_cell_number(report_distribution_quantile(distribution, 0.9));
	cells[6] = report_cell_number(report_distribution_quantile(distribution, 0.99));
	cells[7] = report_cell_number(distribution->most);
}

enum { POWERS = 64 };

static unsigned power_of(uint64_t value)
{
	return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
}

void report_distribution_write(const struct report_distribution *distribution, struct report_tables *tables,
			       const char *name, const char *title)
{
	static const struct report_column columns[] = {
		{ "from_ns", "from", CELL_DURATION, false },
		{ "to_ns", "to", CELL_DURATION, false },
		{ "count", "count", CELL_COUNT, false },
		{ "bar", "", CELL_BAR, false },
	};
	uint64_t counts[POWERS] = { 0 }, greatest = 1;

	for (uint32_t i = 0; i < LOG_LINEAR_BUCKETS; i++)
		counts[power_of(log_linear_range(i).low)] += distribution->buckets[i];
	for (unsigned i = 0; i < POWERS; i++)
		greatest = counts[i] > greatest ? counts[i] : greatest;
	report_table(tables, name, title, columns, 4);
	for (unsigned i = power_of(distribution->least); distribution->count && i <= power_of(distribution->most);
	     i++) {
		report_row(tables,
			   (struct report_cell[]){ report_cell_number(i ? UINT64_C(1) << i : 0),
						   report_cell_number((UINT64_C(2) << i) - 1),
						   report_cell_number(counts[i]),
						   report_cell_real((double)counts[i] / (double)greatest) },
			   0);
	}
	report_table_end(tables);
}
