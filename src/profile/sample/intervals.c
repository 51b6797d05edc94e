// SPDX-License-Identifier: BSD-2-Clause
/* Selects the samples that lie in an interval of their thread. What was judged is never looked at again. */

#include "profile/sample/intervals.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct interval {
	uint32_t tid;
	uint64_t from, to;
};

struct intervals {
	struct interval *items;
	size_t count, capacity;
	bool is_sorted; /* by thread and time, and none touches another one of its thread */
	struct waiting_sample *samples;
	size_t sample_count, sample_capacity;
	size_t room;
	uint64_t judged; /* what is younger has not been judged */
	uint64_t outside, late;
	struct interval_taker taker;
};

struct intervals *intervals_new(size_t room, const struct interval_taker *taker)
{
	struct intervals *intervals = alloc_zero(1, sizeof *intervals);

	if (intervals)
		*intervals = (struct intervals){ .room = room, .is_sorted = true, .taker = *taker };
	return intervals;
}

void intervals_free(struct intervals *intervals)
{
	if (!intervals)
		return;
	alloc_free(intervals->items);
	alloc_free(intervals->samples);
	alloc_free(intervals);
}

static int by_thread(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static void sort_intervals(struct intervals *intervals)
{
	size_t count = 0;

	if (intervals->is_sorted)
		return;
	qsort(intervals->items, intervals->count, sizeof *intervals->items, by_thread);
	for (size_t i = 0; i < intervals->count; i++) {
		const struct interval *next = &intervals->items[i];
		struct interval *last = count ? &intervals->items[count - 1] : NULL;

		if (!last || last->tid != next->tid || next->from > last->to)
			intervals->items[count++] = *next;
		else if (next->to > last->to)
			last->to = next->to;
	}
	intervals->count = count;
	intervals->is_sorted = true;
}

/* Among sorted ones: the last that begins at the sample or before is the only one that may hold it. */
static bool is_inside(const struct intervals *intervals, const struct waiting_sample *sample)
{
	const struct interval at = { .tid = sample->tid, .from = sample->time };
	size_t low = 0, high = intervals->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread(&intervals->items[middle], &at) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && intervals->items[low - 1].tid == sample->tid && intervals->items[low - 1].to >= sample->time;
}

static int judge_intervals(struct intervals *intervals, size_t count)
{
	size_t kept = 0;
	int result = 0;

	sort_intervals(intervals);
	for (size_t i = 0; i < count && !result; i++) {
		const struct waiting_sample *sample = &intervals->samples[i];

		if (is_inside(intervals, sample))
			result = intervals->taker.take(intervals->taker.context, sample);
		else
			intervals->outside++;
	}
	if (!count)
		return 0;
	intervals->judged = intervals->samples[count - 1].time;
	intervals->sample_count -= count;
	memmove(intervals->samples, intervals->samples + count, intervals->sample_count * sizeof *intervals->samples);
	for (size_t i = 0; i < intervals->count; i++) {
		if (intervals->items[i].to >= intervals->judged)
			intervals->items[kept++] = intervals->items[i];
	}
	intervals->count = kept;
	return result;
}

int intervals_add(struct intervals *intervals, uint32_t tid, uint64_t from, uint64_t to)
{
	int result = 0;

	if (intervals->count >= intervals->room)
		sort_intervals(intervals);
	if (intervals->count >= intervals->room)
		result = judge_intervals(intervals, intervals->sample_count);
	if (intervals->count >= intervals->room) { /* none holds a sample that is here, but one that comes it might */
		intervals->late++;
		intervals->count--;
	}
	if (!result && alloc_grow(&intervals->items, &intervals->capacity, intervals->count, sizeof *intervals->items))
		result = -ENOMEM;
	if (result)
		return result;
	intervals->late += intervals->judged && from <= intervals->judged;
	intervals->items[intervals->count++] = (struct interval){ tid, from, to };
	intervals->is_sorted = false;
	return 0;
}

int intervals_keep(struct intervals *intervals, const struct waiting_sample *sample)
{
	int result = 0;

	if (intervals->sample_count >= intervals->room)
		result = judge_intervals(intervals, intervals->room / 2);
	if (!result && alloc_grow(&intervals->samples, &intervals->sample_capacity, intervals->sample_count,
				  sizeof *intervals->samples))
		result = -ENOMEM;
	if (!result)
		intervals->samples[intervals->sample_count++] = *sample;
	return result;
}

int intervals_end(struct intervals *intervals)
{
	return judge_intervals(intervals, intervals->sample_count);
}

uint64_t intervals_outside(const struct intervals *intervals)
{
	return intervals->outside;
}

uint64_t intervals_late(const struct intervals *intervals)
{
	return intervals->late;
}
