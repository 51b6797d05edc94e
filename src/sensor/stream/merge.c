// SPDX-License-Identifier: BSD-2-Clause
/* Merges events by time, each when its turn has come: nobody else can still bring one that is before it. */

#include "sensor/stream/merge.h"

#include "base/alloc.h"
#include "base/heap.h"

#include <errno.h>

static bool is_element_before(const void *left, const void *right)
{
	const struct merge_input *a = *(struct merge_input *const *)left, *b = *(struct merge_input *const *)right;

	return a->key_ns < b->key_ns;
}

static struct heap merge_heap(struct merge *merge)
{
	return (struct heap){
		.items = merge->heap,
		.count = merge->heap_count,
		.item_bytes = sizeof(struct merge_input *),
		.children = 2,
		.is_before = is_element_before,
	};
}

void merge_fini(struct merge *merge)
{
	alloc_free(merge->inputs);
	alloc_free(merge->heap);
	*merge = (struct merge){ 0 };
}

int merge_add(struct merge *merge, struct merge_input *input)
{
	if (alloc_grow(&merge->inputs, &merge->input_capacity, merge->input_count, sizeof(struct merge_input *)) ||
	    alloc_grow(&merge->heap, &merge->heap_capacity, merge->input_count, sizeof(struct merge_input *)))
		return -ENOMEM;
	merge->inputs[merge->input_count++] = input;
	return 0;
}

static void push_merge_input(struct merge *merge, struct merge_input *input)
{
	size_t at = merge->heap_count++;
	struct heap heap = merge_heap(merge);

	heap_up(&heap, at, &input);
}

void merge_remove(struct merge *merge, struct merge_input *input)
{
	size_t count = merge->heap_count, kept = 0;

	merge->heap_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct merge_input *other = merge->heap[i];

		if (other != input)
			push_merge_input(merge, other);
	}
	for (size_t i = 0; i < merge->input_count; i++)
		if (merge->inputs[i] != input)
			merge->inputs[kept++] = merge->inputs[i];
	merge->input_count = kept;
}

/* The least floor of those that have no event. */
static uint64_t look_at_all(struct merge *merge)
{
	uint64_t least = MERGE_NEVER;

	for (size_t i = 0; i < merge->input_count; i++) {
		struct merge_input *input = merge->inputs[i];

		if (input->head)
			continue;
		input->look(input);
		if (input->head)
			push_merge_input(merge, input);
		else if (input->floor_ns < least)
			least = input->floor_ns;
	}
	return least;
}

/* The first of the heap has another event, or none. */
static void replace_first_element(struct merge *merge)
{
	struct merge_input *input = merge->heap[0];
	struct heap heap;

	if (!input->head)
		input = merge->heap[--merge->heap_count];
	heap = merge_heap(merge);
	if (heap.count)
		heap_down(&heap, 0, &input);
}

static int hand_out_element(struct merge *merge, struct merge_input *input, merge_event_fn *on_event, void *context)
{
	if (input->key_ns < merge->watermark_ns || input->key_ns < merge->last_ns) {
		input->head->type |= EVENT_LATE;
		merge->late++;
	} else {
		merge->last_ns = input->key_ns;
	}
	return on_event(context, input, input->head);
}

int merge_turn(struct merge *merge, uint32_t limit, merge_event_fn *on_event, void *context)
{
	uint64_t least = look_at_all(merge);
	int result = 0;

	while (merge->heap_count && merge->heap[0]->key_ns <= least && !result && limit--) {
		struct merge_input *input = merge->heap[0];

		result = hand_out_element(merge, input, on_event, context);
		input->head = NULL;
		input->look(input);
		if (!input->head && input->floor_ns < least)
			least = input->floor_ns;
		replace_first_element(merge);
	}
	merge->has_more = merge->heap_count && merge->heap[0]->key_ns <= least;
	if (merge->has_more)
		least = merge->heap[0]->key_ns;
	if (least != MERGE_NEVER && least > merge->watermark_ns)
		merge->watermark_ns = least;
	return result;
}
