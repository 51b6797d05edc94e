// SPDX-License-Identifier: BSD-2-Clause
/* Keeps slices as lists that lead back in time. */

#include "report/past.h"

#include "base/alloc.h"
#include "report/scratch.h"

#include <errno.h>
#include <string.h>

enum { IN_MEMORY = SCRATCH_BYTES_MIN / sizeof(struct past_item), NEAR_MAX = 64 };

/* The piece comes into memory, where there are too many in place of all others. They come back when they are used. */
static void bring_near(struct past *past, size_t piece)
{
	if (past->near_count == NEAR_MAX) {
		scratch_rest(past->items, past->most * sizeof *past->items);
		memset(past->near, 0, sizeof past->near);
		past->near_count = 0;
	}
	past->near[piece / 64] |= UINT64_C(1) << piece % 64;
	past->near_count++;
}

static struct past_item *past_item_of(struct past *past, uint64_t number)
{
	size_t place = number % past->most, piece = place / PAST_PIECE;

	if (past->is_mapped && !(past->near[piece / 64] >> piece % 64 & 1))
		bring_near(past, piece);
	return &past->items[place];
}

/* Many are in a file; where none can be made they stay in memory. */
static int make_past_room(struct past *past)
{
	struct past_item *mapped = NULL;

	if (past->count < past->capacity || past->count >= past->most)
		return 0;
	if (past->count == IN_MEMORY)
		mapped = scratch_map(past->most * sizeof *mapped);
	if (!mapped)
		return alloc_grow(&past->items, &past->capacity, past->count, sizeof *past->items);
	memcpy(mapped, past->items, past->count * sizeof *mapped);
	alloc_free(past->items);
	past->items = mapped;
	past->capacity = past->most;
	past->is_mapped = true;
	return 0;
}

/* The place of the last one's number, which exists from now on. */
static uint64_t *last_number_place(uint64_t **lasts, size_t *capacity, size_t *count, size_t index)
{
	while (*count <= index) {
		if (alloc_grow(lasts, capacity, *count, sizeof **lasts))
			return NULL;
		(*lasts)[(*count)++] = 0;
	}
	return &(*lasts)[index];
}

/* How far back it is from the next one; 0: it is not kept. */
static uint32_t steps_back(const struct past *past, uint64_t last)
{
	return last && past->count - (last - 1) < past->most ? (uint32_t)(past->count - (last - 1)) : 0;
}

int past_keep(struct past *past, const struct report_slice *slice)
{
	struct past_item kept = {
		slice->begin,
		slice->end,
		slice->thread,
		.state = slice->state,
		.prio = slice->prio,
		.waker = slice->state == REPORT_READY ? slice->waker : REPORT_NONE,
		.reason = (uint16_t)slice->reason,
		.cpu = slice->cpu,
	};
	struct past_item *place;
	uint64_t *last, *ran = NULL;

	if (slice->thread == REPORT_NONE)
		return 0;
	last = last_number_place(&past->threads, &past->thread_capacity, &past->thread_count, slice->thread);
	if (slice->state == REPORT_RUNNING)
		ran = last_number_place(&past->cpus, &past->cpu_capacity, &past->cpu_count, slice->cpu);
	if (!last || (slice->state == REPORT_RUNNING && !ran))
		return -ENOMEM;
	if (make_past_room(past))
		return -ENOMEM;
	place = past_item_of(past, past->count);
	if (past->count >= past->most && place->end > past->lost_until_ns)
		past->lost_until_ns = place->end;
	kept.back = steps_back(past, *last);
	if (ran)
		kept.ran = steps_back(past, *ran);
	*place = kept;
	*last = ++past->count;
	if (ran)
		*ran = past->count;
	return 0;
}

static bool is_past_kept(const struct past *past, uint64_t last)
{
	return last && past->count - (last - 1) <= past->most;
}

/* The number of the one so far back, and 1; 0: there is none. */
static uint64_t step_back(uint64_t last, uint32_t back)
{
	return back && back < last ? last - back : 0;
}

/* The number of that before it of its thread, and 1; 0: there is none. Who ended a wait is known from what follows it.
 */
static uint64_t before_item(struct past *past, uint64_t last)
{
	struct past_item item = *past_item_of(past, last - 1), *before;
	uint64_t number = step_back(last, item.back);

	if (item.state != REPORT_READY || item.waker == REPORT_NONE || !is_past_kept(past, number))
		return number;
	before = past_item_of(past, number - 1);
	if (before->state == REPORT_BLOCKED && before->end == item.begin)
		before->waker = item.waker;
	return number;
}

const struct past_item *past_find(struct past *past, uint32_t thread, uint64_t time)
{
	uint64_t *last = thread < past->thread_count ? &past->threads[thread] : NULL;

	while (last && is_past_kept(past, *last) && past_item_of(past, *last - 1)->begin >= time)
		*last = before_item(past, *last);
	return last && is_past_kept(past, *last) ? past_item_of(past, *last - 1) : NULL;
}

const struct past_item *past_find_run(struct past *past, uint32_t cpu, uint64_t time)
{
	uint64_t *last = cpu < past->cpu_count ? &past->cpus[cpu] : NULL;

	while (last && is_past_kept(past, *last) && past_item_of(past, *last - 1)->begin >= time)
		*last = step_back(*last, past_item_of(past, *last - 1)->ran);
	return last && is_past_kept(past, *last) ? past_item_of(past, *last - 1) : NULL;
}

const struct past_item *past_run_before(struct past *past, const struct past_item *run)
{
	uint64_t newest = past->count - 1, place = (uint64_t)(run - past->items);
	uint64_t age = (newest % past->most + past->most - place) % past->most;
	uint64_t before = step_back(newest - age + 1, run->ran);

	return is_past_kept(past, before) ? past_item_of(past, before - 1) : NULL;
}

uint32_t past_ran(struct past *past, uint32_t cpu, uint64_t begin, uint64_t end)
{
	const struct past_item *run = past_find_run(past, cpu, end);
	uint32_t thread = REPORT_NONE;
	uint64_t longest = 0;

	for (; run && run->end > begin; run = past_run_before(past, run)) {
		uint64_t from = run->begin > begin ? run->begin : begin, to = run->end < end ? run->end : end;

		if (to > from && to - from > longest) {
			longest = to - from;
			thread = run->thread;
		}
	}
	return thread;
}

size_t past_kept(const struct past *past)
{
	return past->count < past->most ? (size_t)past->count : past->most;
}

const struct past_item *past_at(struct past *past, size_t index)
{
	return past_item_of(past, index);
}

void past_fini(struct past *past)
{
	if (past->is_mapped)
		scratch_unmap(past->items, past->most * sizeof *past->items);
	else
		alloc_free(past->items);
	alloc_free(past->threads);
	alloc_free(past->cpus);
}
