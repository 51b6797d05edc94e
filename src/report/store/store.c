// SPDX-License-Identifier: BSD-2-Clause
/* Stores slices. */

#include "report/store/store.h"

#include "base/alloc.h"

#include <errno.h>

void store_init(struct store *store, uint64_t origin_ns, size_t bytes_max)
{
	*store = (struct store){ .tiles = { .origin_ns = origin_ns, .bytes_max = bytes_max },
				 .bins.origin_ns = origin_ns };
}

void store_fini(struct store *store)
{
	store_tiles_fini(&store->tiles);
	store_bins_fini(&store->bins);
	alloc_free(store->reasons);
	*store = (struct store){ 0 };
}

static int put_bins(struct store *store, const struct report_slice *slice)
{
	struct store_span on_cpu = { slice->begin, slice->end, slice->cpu };
	struct store_span span = { slice->begin, slice->end, slice->thread };
	if (slice->state == REPORT_READY)
		return store_bins_ready(&store->bins, &span);
	if (slice->state == REPORT_OTHERS)
		return store_bins_cpu(&store->bins, &on_cpu, REPORT_NONE);
	if (slice->state != REPORT_RUNNING)
		return 0;
	int code = store_bins_running(&store->bins, &span);
	return code != 0 ? code : store_bins_cpu(&store->bins, &on_cpu, slice->thread);
}

/* Reasons are indices of a table of names: there are as many as names at most. */
static int note_reason(struct store *store, uint32_t reason)
{
	int code = alloc_grow(&store->reasons, &store->reason_bytes, reason / 8, 1);
	if (code != 0)
		return code;
	store->reasons[reason / 8] |= (uint8_t)(1u << reason % 8);
	store->reason_max = reason > store->reason_max ? reason : store->reason_max;
	return 0;
}

bool store_has_reason(const struct store *store, uint32_t reason)
{
	return reason / 8 < store->reason_bytes && store->reasons[reason / 8] >> reason % 8 & 1;
}

int store_put(struct store *store, const struct report_slice *slice)
{
	struct report_slice cut = *slice;
	if (cut.begin < store->tiles.origin_ns)
		cut.begin = store->tiles.origin_ns;
	if (cut.end <= cut.begin || cut.state == REPORT_IDLE)
		return 0;
	int code = note_reason(store, cut.reason);
	if (code == 0)
		code = put_bins(store, &cut);
	if (code == 0)
		code = store_tiles_put(&store->tiles, &cut);
	store->slices += code == 0;
	return code;
}

int store_mark(struct store *store, uint64_t ns)
{
	return store_tiles_mark(&store->tiles, ns);
}

int store_finish(struct store *store)
{
	return store_tiles_finish(&store->tiles);
}
