// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps the events of open runs for RETURN SEQUENCE. A history is a list from the youngest event to the oldest; copies
 * of a run share what they have in common, by reference counts, and all runs of a rule share one copy of an event.
 * Memory comes from chunks in a few block sizes and is bounded per rule; when it is used up, the run that wanted more
 * is refused like one that found the pool full.
 */

#include "engine/engine-priv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	HISTORY_BYTES_MAX = 64 << 20, /* per rule */
	CHUNK_BYTES = 64 << 10,
	FIRST_CHUNKS = 16,
	SMALLEST_BLOCK_SHIFT = 5, /* 32 bytes, up to a record of the greatest size with its count */
	SIZE_COUNT = 10,
};

/* A copy of an event. */
struct event_copy {
	uint32_t references;
	uint32_t bytes;             /* of all this */
	struct event_header record; /* the body follows */
};

struct engine_history_node {
	struct engine_history_node *older; /* or NULL */
	struct event_copy *event;
	uint32_t references;
	uint32_t count; /* nodes from here to the oldest */
	uint32_t element;
};

struct free_block {
	struct free_block *next;
};

struct engine_history {
	void **chunks;
	size_t chunk_count, chunk_room;
	struct free_block *free[SIZE_COUNT];
	struct event_copy *last; /* the copy made last, NULL when it has been given back */
	uint64_t last_number;    /* the event that it is of */
};

static uint32_t size_of(size_t bytes)
{
	uint32_t size = 0;

	while (((size_t)1 << (SMALLEST_BLOCK_SHIFT + size)) < bytes)
		size++;
	return size;
}

static int grow_history(struct engine_history *history, uint32_t size)
{
	size_t block = (size_t)1 << (SMALLEST_BLOCK_SHIFT + size);
	char *chunk;

	if (history->chunk_count >= HISTORY_BYTES_MAX / CHUNK_BYTES ||
	    alloc_grow(&history->chunks, &history->chunk_room, history->chunk_count, sizeof *history->chunks))
		return -ENOMEM;
	chunk = alloc_zero(1, CHUNK_BYTES);
	if (!chunk)
		return -ENOMEM;
	history->chunks[history->chunk_count++] = chunk;
	for (size_t at = CHUNK_BYTES; at; at -= block) {
		struct free_block *free = (struct free_block *)(chunk + at - block);

		free->next = history->free[size];
		history->free[size] = free;
	}
	return 0;
}

static void *take_history_bytes(struct engine_history *history, size_t bytes)
{
	uint32_t size = size_of(bytes);
	struct free_block *block;

	if (!history->free[size] && grow_history(history, size))
		return NULL;
	block = history->free[size];
	history->free[size] = block->next;
	return block;
}

static void give_history_bytes(struct engine_history *history, void *memory, size_t bytes)
{
	struct free_block *block = memory;
	uint32_t size = size_of(bytes);

	block->next = history->free[size];
	history->free[size] = block;
}

int engine_history_new(struct engine_history **made)
{
	*made = alloc_zero(1, sizeof **made);
	return *made ? 0 : -ENOMEM;
}

void engine_history_free(struct engine_history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->chunk_count; i++)
		alloc_free(history->chunks[i]);
	alloc_free(history->chunks);
	alloc_free(history);
}

void engine_history_share(struct engine_history_node *node)
{
	if (node)
		node->references++;
}

static void release_event(struct engine_history *history, struct event_copy *copy)
{
	if (--copy->references)
		return;
	if (history->last == copy)
		history->last = NULL;
	give_history_bytes(history, copy, copy->bytes);
}

/* A copy of the event with one more reference, or NULL. */
static struct event_copy *copy_of(struct engine_history *history, const struct engine_event *event)
{
	size_t bytes = offsetof(struct event_copy, record) + event->record_bytes;
	struct event_copy *copy = history->last;

	if (copy && history->last_number == event->number) {
		copy->references++;
		return copy;
	}
	copy = take_history_bytes(history, bytes);
	if (!copy)
		return NULL;
	copy->references = 1;
	copy->bytes = (uint32_t)bytes;
	memcpy(&copy->record, event->record, event->record_bytes);
	history->last = copy;
	history->last_number = event->number;
	return copy;
}

int engine_history_append(struct engine_history *history, struct engine_history_node **youngest,
			  const struct engine_event *event, uint32_t element)
{
	struct event_copy *copy = copy_of(history, event);
	struct engine_history_node *node = copy ? take_history_bytes(history, sizeof *node) : NULL;

	if (!node) {
		if (copy)
			release_event(history, copy);
		return -ENOMEM;
	}
	*node = (struct engine_history_node){
		.older = *youngest, /* the run's reference moves from there to here */
		.event = copy,
		.references = 1,
		.count = *youngest ? (*youngest)->count + 1 : 1,
		.element = element,
	};
	*youngest = node;
	return 0;
}

void engine_history_release(struct engine_history *history, struct engine_history_node *node)
{
	while (node && --node->references == 0) {
		struct engine_history_node *older = node->older;

		release_event(history, node->event);
		give_history_bytes(history, node, sizeof *node);
		node = older;
	}
}

uint32_t engine_history_count(const struct engine_history_node *node)
{
	return node ? node->count : 0;
}

void engine_history_list(const struct engine_history_node *node, struct program_match_event *events)
{
	for (; node; node = node->older)
		events[node->count - 1] = (struct program_match_event){ &node->event->record, node->element };
}
