// SPDX-License-Identifier: BSD-2-Clause
/*
 * A queue of the events that were handed over, by time; one that had to wait for its strings is placed where it came
 * in. Only what lies before the floor is shown to the merge, so what was shown stays the first.
 */

#include "sensor/stream/queue.h"

#include "base/alloc.h"
#include "base/heap.h"

#include <errno.h>

enum { ROOM_BYTES = 4 << 20, SLOTS_MIN = 64, SLOTS_MAX = 65536, SLOT_NONE = UINT32_MAX };

static bool is_queued_before(const void *left, const void *right)
{
	const struct queue_item *a = left, *b = right;

	return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->order < b->order;
}

static struct heap queue_heap(struct queue *queue)
{
	return (struct heap){
		.items = queue->items,
		.count = queue->count,
		.item_bytes = sizeof *queue->items,
		.children = 4,
		.is_before = is_queued_before,
	};
}

static struct event_header *record_at(const struct queue *queue, uint32_t slot)
{
	return (struct event_header *)(queue->records + (size_t)slot * queue->stride);
}

static void look_at_input(struct merge_input *input)
{
	struct queue *queue = (struct queue *)input;
	struct heap heap;

	if (queue->given != SLOT_NONE)
		queue->free[queue->free_count++] = queue->given;
	queue->given = SLOT_NONE;
	input->floor_ns = queue->floor_ns;
	if (!queue->count || queue->items[0].key_ns > queue->floor_ns)
		return;
	queue->given = queue->items[0].slot;
	input->head = record_at(queue, queue->given);
	input->key_ns = queue->items[0].key_ns;
	queue->count--;
	heap = queue_heap(queue);
	if (heap.count) {
		struct queue_item last = queue->items[queue->count];

		heap_down(&heap, 0, &last);
	}
}

int queue_init(struct queue *queue, uint32_t record_bytes)
{
	uint32_t slots = ROOM_BYTES / record_bytes;

	slots = slots < SLOTS_MIN ? SLOTS_MIN : slots > SLOTS_MAX ? SLOTS_MAX : slots;
	*queue = (struct queue){
		.input.look = look_at_input, .stride = record_bytes, .slots = slots, .given = SLOT_NONE
	};
	queue->records = alloc_zero(slots, record_bytes);
	queue->free = alloc_zero(slots, sizeof *queue->free);
	queue->items = alloc_zero(slots, sizeof *queue->items);
	if (!queue->records || !queue->free || !queue->items)
		return -ENOMEM;
	while (queue->free_count < slots) {
		queue->free[queue->free_count] = queue->free_count;
		queue->free_count++;
	}
	return 0;
}

void queue_fini(struct queue *queue)
{
	alloc_free(queue->records);
	alloc_free(queue->free);
	alloc_free(queue->items);
	*queue = (struct queue){ 0 };
}

bool queue_is_full(const struct queue *queue)
{
	return !queue->free_count;
}

void queue_put(struct queue *queue, const struct event_header *record, uint32_t bytes)
{
	struct queue_item item = { .key_ns = record->ts, .order = queue->order++ };
	size_t at = queue->count++;
	struct heap heap = queue_heap(queue);

	item.slot = queue->free[--queue->free_count];
	memcpy(record_at(queue, item.slot), record, bytes < queue->stride ? bytes : queue->stride);
	if (event_is_late(record) && item.key_ns < queue->last_ns)
		item.key_ns = queue->last_ns;
	if (item.key_ns > queue->last_ns)
		queue->last_ns = item.key_ns;
	heap_up(&heap, at, &item);
}

void queue_settle(struct queue *queue, uint64_t floor_ns)
{
	if (floor_ns > queue->floor_ns)
		queue->floor_ns = floor_ns;
}

void queue_push_on(struct queue *queue)
{
	if (queue->count)
		queue_settle(queue, queue->items[0].key_ns);
}
