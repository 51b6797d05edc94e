/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_STORE_BINS_H
#define REPORT_STORE_BINS_H

/*
 * How much happened in pieces of time of equal width, bins, on lanes: one per CPU, one per thread. Only bins in which
 * something happened are there. The width doubles, and pairs of bins become one, when time goes beyond the last
 * of STORE_BINS, or there are more than STORE_BINS_TOTAL of them on all lanes. So memory is bounded whatever the trace.
 */

#include "report/store/bytes.h"

#include <stdbool.h>

enum { STORE_BINS = 1 << 16, STORE_BINS_TOTAL = 1 << 20, STORE_BINS_BITS = 14 };

struct store_bin {
	uint32_t index;
	uint32_t busy;  /* ns, of at most 2^shift */
	uint32_t other; /* ns that a thread was ready; for a CPU the thread that was seen there most, REPORT_NONE: a
			   stranger */
};

/* What a bin of a CPU has beside that. */
struct store_vote {
	uint32_t weight;   /* of that thread's lead, ns (Boyer and Moore's vote, weighted) */
	uint32_t stranger; /* of busy: ns of strangers, or of nobody that is known */
};

struct store_lane {
	struct store_bin *bins;   /* ascending */
	struct store_vote *votes; /* of a CPU, as many; NULL for a thread */
	size_t count, capacity;
};

struct store_bins {
	struct store_lane *cpus, *threads;
	size_t cpu_count, cpu_capacity, thread_count, thread_capacity;
	uint64_t origin_ns;
	unsigned int shift; /* 0 before the first */
	size_t total;
};

/* A piece of time on a lane; begin is at least the origin. */
struct store_span {
	uint64_t begin, end;
	uint32_t lane; /* a CPU or a thread, by its number */
};

void store_bins_fini(struct store_bins *bins);

/* All return 0 or -ENOMEM. Spans of a lane come in order. */
int store_bins_cpu(struct store_bins *bins, const struct store_span *span, uint32_t thread);
int store_bins_running(struct store_bins *bins, const struct store_span *span);
int store_bins_ready(struct store_bins *bins, const struct store_span *span);

/* Makes bins twice as wide; false: they are as few as can be. */
bool store_bins_widen(struct store_bins *bins);

/*
 * A lane: count, then LEB128: index (difference to the one before), busy and other of 255 parts of the width each; for
 * a CPU other is thread + 1, 0: a stranger, and behind it stand the parts of busy that are of strangers.
 */
void store_bins_put_cpu(const struct store_bins *bins, uint32_t cpu, struct store_bytes *to);
void store_bins_put_thread(const struct store_bins *bins, uint32_t thread, struct store_bytes *to);

#endif
