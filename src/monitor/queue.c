// SPDX-License-Identifier: BSD-2-Clause
/*
 * A queue of messages in shared bytes: one after the other, each behind its size, in multiples of 16 bytes. One that
 * would be cut by the end of the bytes begins at their beginning, and a size that says so stands where it would have
 * been.
 */

#include "monitor/queue.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { UNIT = 16 };

#define SKIP UINT64_MAX

int monitor_queue_init(struct monitor_queue *queue, size_t bytes)
{
	uint64_t capacity = 4 * UNIT;

	while (capacity < bytes)
		capacity *= 2;
	memset(queue, 0, sizeof *queue);
	queue->capacity = capacity;
	queue->bytes = alloc_zero(capacity, 1);
	return queue->bytes ? 0 : -ENOMEM;
}

void monitor_queue_fini(struct monitor_queue *queue)
{
	alloc_free(queue->bytes);
	queue->bytes = NULL;
}

static uint64_t *size_at(const struct monitor_queue *queue, uint64_t position)
{
	return (uint64_t *)(void *)(queue->bytes + (position & (queue->capacity - 1)));
}

void *monitor_queue_reserve(struct monitor_queue *queue, size_t bytes)
{
	uint64_t written = atomic_load_explicit(&queue->written, memory_order_relaxed);
	uint64_t read = atomic_load_explicit(&queue->read, memory_order_acquire);
	uint64_t room = queue->capacity - (written - read);
	uint64_t until_end = queue->capacity - (written & (queue->capacity - 1));
	uint64_t needed = UNIT + ((uint64_t)bytes + UNIT - 1) / UNIT * UNIT;
	uint64_t skipped = needed > until_end ? until_end : 0;

	if (needed + skipped > room) {
		atomic_fetch_add_explicit(&queue->overflowed, 1, memory_order_relaxed);
		return NULL;
	}
	if (skipped)
		*size_at(queue, written) = SKIP;
	*size_at(queue, written + skipped) = bytes;
	queue->reserved = written + skipped + needed;
	return (uint8_t *)size_at(queue, written + skipped) + UNIT;
}

void monitor_queue_send(struct monitor_queue *queue)
{
	atomic_store_explicit(&queue->written, queue->reserved, memory_order_release);
}

const void *monitor_queue_look(struct monitor_queue *queue, size_t *bytes)
{
	uint64_t read = atomic_load_explicit(&queue->read, memory_order_relaxed);

	if (read == atomic_load_explicit(&queue->written, memory_order_acquire))
		return NULL;
	if (*size_at(queue, read) == SKIP)
		read += queue->capacity - (read & (queue->capacity - 1));
	*bytes = *size_at(queue, read);
	queue->next = read + UNIT + (*bytes + UNIT - 1) / UNIT * UNIT;
	return (uint8_t *)size_at(queue, read) + UNIT;
}

void monitor_queue_drop(struct monitor_queue *queue)
{
	atomic_store_explicit(&queue->read, queue->next, memory_order_release);
}
