// SPDX-License-Identifier: BSD-2-Clause
/* Computes how wide bins are, and merges two of them. */

#include "report/store/bins.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>

enum { PARTS = 255, SCALE_BITS = 31, SHIFT_MAX = 62, BINS_FIRST = 8 };

/* Widths beyond 2^31 ns are counted in coarser units, so that amounts keep their 32 bits. */
static unsigned int scale_of(const struct store_bins *bins)
{
	return bins->shift > SCALE_BITS ? bins->shift - SCALE_BITS : 0;
}

static void free_lanes(struct store_lane *lanes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		alloc_free(lanes[i].bins);
		alloc_free(lanes[i].votes);
	}
	alloc_free(lanes);
}

void store_bins_fini(struct store_bins *bins)
{
	free_lanes(bins->cpus, bins->cpu_count);
	free_lanes(bins->threads, bins->thread_count);
	*bins = (struct store_bins){ 0 };
}

/* Of the thread seen most in two pieces of time: the winner's lead shrinks by what the other was ahead. */
static void vote(struct store_bin *bin, struct store_vote *lead, uint32_t thread, uint32_t weight)
{
	if (bin->other == thread) {
		lead->weight += weight;
	} else if (lead->weight >= weight) {
		lead->weight -= weight;
	} else {
		bin->other = thread;
		lead->weight = weight - lead->weight;
	}
}

/* A lane that had most of all bins may have few of them now. */
static void shrink_lane(struct store_lane *lane)
{
	size_t wanted = lane->count + lane->count / 4 + BINS_FIRST;
	struct store_bin *bins = wanted < lane->capacity / 2 ? alloc_resize(lane->bins, wanted, sizeof *bins) : NULL;
	if (!bins)
		return;
	lane->bins = bins;
	lane->capacity = wanted;
}

static void halve_lane(struct store_bins *bins, struct store_lane *lane)
{
	size_t kept = 0;
	unsigned int down = scale_of(bins) != 0;
	for (size_t i = 0; i < lane->count; i++) {
		struct store_bin bin = lane->bins[i];
		struct store_vote lead = lane->votes ? lane->votes[i] : (struct store_vote){ 0 };
		bin.index /= 2;
		bin.busy >>= down;
		bin.other >>= lane->votes ? 0 : down;
		lead.stranger >>= down;
		lead.weight >>= down;
		struct store_bin *last = kept != 0 ? &lane->bins[kept - 1] : NULL;
		if (!last || last->index != bin.index) {
			if (lane->votes)
				lane->votes[kept] = lead;
			lane->bins[kept++] = bin;
			continue;
		}
		last->busy += bin.busy;
		if (lane->votes) {
			lane->votes[kept - 1].stranger += lead.stranger;
			vote(last, &lane->votes[kept - 1], bin.other, lead.weight);
		} else {
			last->other += bin.other;
		}
	}
	bins->total -= lane->count - kept;
	lane->count = kept;
	shrink_lane(lane);
}

static void double_width(struct store_bins *bins)
{
	bins->shift++;
	for (size_t i = 0; i < bins->cpu_count; i++)
		halve_lane(bins, &bins->cpus[i]);
	for (size_t i = 0; i < bins->thread_count; i++)
		halve_lane(bins, &bins->threads[i]);
}

bool store_bins_widen(struct store_bins *bins)
{
	if (bins->shift == 0 || bins->total <= bins->cpu_count + bins->thread_count || bins->shift >= SHIFT_MAX)
		return false;
	double_width(bins);
	return true;
}

static int lane_of(struct store_lane **lanes, size_t *count, size_t *capacity, uint32_t wanted)
{
	while (*count <= wanted) {
		int code = alloc_grow(lanes, capacity, *count, sizeof **lanes);
		if (code != 0)
			return code;
		(*lanes)[(*count)++] = (struct store_lane){ 0 };
	}
	return 0;
}

/* By a quarter, as all lanes together have to be small. */
static int grow_lane(struct store_lane *lane, bool is_cpu)
{
	size_t wanted = lane->capacity + lane->capacity / 4 + BINS_FIRST;
	struct store_bin *bins = alloc_resize(lane->bins, wanted, sizeof *bins);
	if (!bins)
		return -ENOMEM;
	lane->bins = bins;
	if (is_cpu) {
		struct store_vote *votes = alloc_resize(lane->votes, wanted, sizeof *votes);
		if (!votes)
			return -ENOMEM;
		lane->votes = votes;
	}
	lane->capacity = wanted;
	return 0;
}

/* The bin of that index, which is the last one or comes behind it; what is older counts as the last one. */
static struct store_bin *bin_of(struct store_bins *bins, struct store_lane *lane, uint32_t index, bool is_cpu)
{
	if (lane->count != 0 && lane->bins[lane->count - 1].index >= index)
		return &lane->bins[lane->count - 1];
	if (lane->count == lane->capacity && grow_lane(lane, is_cpu) != 0)
		return NULL;
	bins->total++;
	lane->bins[lane->count] = (struct store_bin){ .index = index };
	if (is_cpu)
		lane->votes[lane->count] = (struct store_vote){ 0 };
	return &lane->bins[lane->count++];
}

enum kind { ON_CPU, RUNNING, READY };

static void add_time_to_bin(struct store_lane *lane, struct store_bin *bin, enum kind kind, uint32_t thread,
			    uint32_t ns)
{
	if (kind == READY) {
		bin->other += ns;
		return;
	}
	bin->busy += ns;
	if (kind != ON_CPU)
		return;
	struct store_vote *lead = &lane->votes[bin - lane->bins];
	vote(bin, lead, thread, ns);
	if (thread == UINT32_MAX)
		lead->stranger += ns;
}

/* With so many lanes that even few bins each are too many, those few it is. */
static bool has_too_many(const struct store_bins *bins, uint64_t length)
{
	return bins->total + (length >> bins->shift) > STORE_BINS_TOTAL && bins->total > bins->thread_count * 8;
}

static int put_span(struct store_bins *bins, const struct store_span *span, enum kind kind, uint32_t thread)
{
	uint64_t begin = span->begin - bins->origin_ns, end = span->end - bins->origin_ns;
	if (bins->shift == 0)
		bins->shift = STORE_BINS_BITS;
	while (end >> bins->shift >= STORE_BINS || has_too_many(bins, end - begin))
		double_width(bins);
	struct store_lane *lane = kind == ON_CPU ? &bins->cpus[span->lane] : &bins->threads[span->lane];
	while (begin < end) {
		uint64_t index = begin >> bins->shift, next = (index + 1) << bins->shift;
		/* The end of time is in the last bin. */
		if (next < begin || next > end)
			next = end;
		struct store_bin *bin = bin_of(bins, lane, (uint32_t)index, kind == ON_CPU);
		if (!bin)
			return -ENOMEM;
		add_time_to_bin(lane, bin, kind, thread, (uint32_t)((next - begin) >> scale_of(bins)));
		begin = next;
	}
	return 0;
}

int store_bins_cpu(struct store_bins *bins, const struct store_span *span, uint32_t thread)
{
	int code = lane_of(&bins->cpus, &bins->cpu_count, &bins->cpu_capacity, span->lane);
	return code != 0 ? code : put_span(bins, span, ON_CPU, thread);
}

int store_bins_running(struct store_bins *bins, const struct store_span *span)
{
	int code = lane_of(&bins->threads, &bins->thread_count, &bins->thread_capacity, span->lane);
	return code != 0 ? code : put_span(bins, span, RUNNING, 0);
}

int store_bins_ready(struct store_bins *bins, const struct store_span *span)
{
	int code = lane_of(&bins->threads, &bins->thread_count, &bins->thread_capacity, span->lane);
	return code != 0 ? code : put_span(bins, span, READY, 0);
}

/* What happened at all is seen. */
static uint64_t parts(const struct store_bins *bins, uint64_t ns)
{
	uint64_t part = (ns * PARTS) >> (bins->shift - scale_of(bins));
	if (part == 0 && ns != 0)
		return 1;
	return part < PARTS ? part : PARTS;
}

static void put_lane(const struct store_bins *bins, const struct store_lane *lane, bool is_cpu, struct store_bytes *to)
{
	store_bytes_varint(to, lane->count);
	uint32_t last = 0;
	for (size_t i = 0; i < lane->count; i++) {
		store_bytes_varint(to, lane->bins[i].index - last);
		last = lane->bins[i].index;
	}
	for (size_t i = 0; i < lane->count; i++)
		store_bytes_varint(to, parts(bins, lane->bins[i].busy));
	for (size_t i = 0; i < lane->count; i++)
		store_bytes_varint(to, is_cpu ? (uint32_t)(lane->bins[i].other + 1) : parts(bins, lane->bins[i].other));
	for (size_t i = 0; is_cpu && i < lane->count; i++)
		store_bytes_varint(to, parts(bins, lane->votes[i].stranger));
}

void store_bins_put_cpu(const struct store_bins *bins, uint32_t cpu, struct store_bytes *to)
{
	static const struct store_lane empty;
	put_lane(bins, cpu < bins->cpu_count ? &bins->cpus[cpu] : &empty, true, to);
}

void store_bins_put_thread(const struct store_bins *bins, uint32_t thread, struct store_bytes *to)
{
	static const struct store_lane empty;
	put_lane(bins, thread < bins->thread_count ? &bins->threads[thread] : &empty, false, to);
}
