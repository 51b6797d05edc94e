/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_STORE_STORE_H
#define REPORT_STORE_STORE_H

/*
 * What became of threads, for a reader who looks at all of a trace or at a microsecond of it: exact slices in tiles
 * (store/tiles.h), and what is too much to look at slice by slice in bins (store/bins.h). Fed in the order in which
 * slices end.
 */

#include "report/report.h"
#include "report/store/bins.h"
#include "report/store/tiles.h"

struct store {
	struct store_tiles tiles;
	struct store_bins bins;
	uint64_t slices;
	uint8_t *reasons; /* a bit each: slices have it */
	uint32_t reason_max;
	size_t reason_bytes;
};

/* origin_ns: what begins before it is cut. bytes_max: of deflated slices; 0: no limit. */
void store_init(struct store *store, uint64_t origin_ns, size_t bytes_max);
void store_fini(struct store *store);

/* All return 0 or -ENOMEM. */
int store_put(struct store *store, const struct report_slice *slice);

/* Something of interest happened at ns: slices around it are kept longest. */
int store_mark(struct store *store, uint64_t ns);

/* Whether any slice has that reason. */
bool store_has_reason(const struct store *store, uint32_t reason);

/* To be called before anything is written. */
int store_finish(struct store *store);

#endif
