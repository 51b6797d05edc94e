// SPDX-License-Identifier: BSD-2-Clause
/*
 * Detects that a heartbeat is missing. All have the same limit, so those that are awaited stand in the order of their
 * last elements in a list, and only its head can be due.
 */

#include "monitor/heartbeat.h"

#include "base/alloc.h"

#include <errno.h>

enum beat_state { BEAT_NEW, BEAT_AWAITED, BEAT_MISSING };

#define END UINT32_MAX

struct beat {
	enum beat_state state;
	uint32_t before, next; /* in the list */
	uint64_t last_ns;
};

struct heartbeat {
	_Atomic uint32_t owners;
	struct heartbeat_shape shape;
	struct monitor_keys keys;
	struct beat *beats;
	uint32_t head, tail;
	_Atomic uint64_t elements, missed, missing, other, untold, lost;
	/* One puts, one takes: put and taken count for ever, and the puts are seen after what they put. */
	_Atomic uint32_t put, taken;
	struct heartbeat_news news[HEARTBEAT_NEWS];
};

int heartbeat_new(const struct heartbeat_shape *shape, struct heartbeat **made)
{
	struct heartbeat *heartbeat;

	if (!shape->limit_ns || !shape->keys_most)
		return -EINVAL;
	heartbeat = alloc_zero(1, sizeof *heartbeat);
	if (!heartbeat)
		return -ENOMEM;
	atomic_init(&heartbeat->owners, 1);
	heartbeat->shape = *shape;
	heartbeat->head = heartbeat->tail = END;
	int result = monitor_keys_init(&heartbeat->keys, &shape->key, shape->keys_most);

	heartbeat->beats = alloc_zero(heartbeat->keys.most, sizeof *heartbeat->beats);
	if (result || !heartbeat->beats) {
		heartbeat_free(heartbeat);
		return -ENOMEM;
	}
	*made = heartbeat;
	return 0;
}

struct heartbeat *heartbeat_share(struct heartbeat *heartbeat)
{
	atomic_fetch_add(&heartbeat->owners, 1);
	return heartbeat;
}

void heartbeat_free(struct heartbeat *heartbeat)
{
	if (!heartbeat || atomic_fetch_sub(&heartbeat->owners, 1) != 1)
		return;
	monitor_keys_fini(&heartbeat->keys);
	alloc_free(heartbeat->beats);
	alloc_free(heartbeat);
}

static void add_to_beat_count(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

static void tell_heartbeat_news(struct heartbeat *heartbeat, const struct heartbeat_news *news)
{
	uint32_t put = atomic_load_explicit(&heartbeat->put, memory_order_relaxed);

	if (put - atomic_load_explicit(&heartbeat->taken, memory_order_acquire) == HEARTBEAT_NEWS) {
		add_to_beat_count(&heartbeat->untold, 1);
		return;
	}
	heartbeat->news[put % HEARTBEAT_NEWS] = *news;
	atomic_store_explicit(&heartbeat->put, put + 1, memory_order_release);
}

bool heartbeat_next(struct heartbeat *heartbeat, struct heartbeat_news *news)
{
	uint32_t taken = atomic_load_explicit(&heartbeat->taken, memory_order_relaxed);

	if (taken == atomic_load_explicit(&heartbeat->put, memory_order_acquire))
		return false;
	*news = heartbeat->news[taken % HEARTBEAT_NEWS];
	atomic_store_explicit(&heartbeat->taken, taken + 1, memory_order_release);
	return true;
}

static void leave_beat(struct heartbeat *heartbeat, uint32_t row)
{
	struct beat *beat = &heartbeat->beats[row];

	*(beat->before == END ? &heartbeat->head : &heartbeat->beats[beat->before].next) = beat->next;
	*(beat->next == END ? &heartbeat->tail : &heartbeat->beats[beat->next].before) = beat->before;
}

/* Nearly always behind all others; an element that is late goes before those that are later. */
static void join_beat(struct heartbeat *heartbeat, uint32_t row, uint64_t at_ns)
{
	struct beat *beat = &heartbeat->beats[row];
	uint32_t before = heartbeat->tail;

	while (before != END && heartbeat->beats[before].last_ns > at_ns)
		before = heartbeat->beats[before].before;
	*beat = (struct beat){ .state = BEAT_AWAITED, .before = before, .last_ns = at_ns };
	beat->next = before == END ? heartbeat->head : heartbeat->beats[before].next;
	*(before == END ? &heartbeat->head : &heartbeat->beats[before].next) = row;
	*(beat->next == END ? &heartbeat->tail : &heartbeat->beats[beat->next].before) = row;
}

/* Nothing from before now_ns will come; at now_ns it may. */
static void pass_heartbeat(void *context, uint64_t now_ns)
{
	struct heartbeat *heartbeat = context;
	uint64_t limit_ns = heartbeat->shape.limit_ns;

	if (heartbeat->shape.key.word == MONITOR_NONE && heartbeat->beats[0].state == BEAT_NEW)
		join_beat(heartbeat, 0, now_ns);
	while (heartbeat->head != END) {
		uint32_t row = heartbeat->head;
		struct beat *beat = &heartbeat->beats[row];

		if (now_ns <= beat->last_ns || now_ns - beat->last_ns <= limit_ns)
			return;
		leave_beat(heartbeat, row);
		beat->state = BEAT_MISSING;
		add_to_beat_count(&heartbeat->missed, 1);
		add_to_beat_count(&heartbeat->missing, 1);
		tell_heartbeat_news(heartbeat,
				    &(struct heartbeat_news){ beat->last_ns + limit_ns, beat->last_ns, row, false });
	}
}

static bool prepare_heartbeat(void *context, const struct monitor_element *element)
{
	struct heartbeat *heartbeat = context;

	return monitor_keys_read(&heartbeat->keys, element);
}

static void commit_heartbeat(void *context, bool ok, const struct monitor_element *element)
{
	struct heartbeat *heartbeat = context;
	uint32_t row = ok ? monitor_keys_row(&heartbeat->keys) : MONITOR_NO_ROW;

	add_to_beat_count(&heartbeat->elements, 1);
	pass_heartbeat(heartbeat, element->at_ns);
	if (row == MONITOR_NO_ROW) {
		add_to_beat_count(&heartbeat->other, 1);
		return;
	}
	struct beat *beat = &heartbeat->beats[row];

	if (beat->state == BEAT_MISSING) {
		add_to_beat_count(&heartbeat->missing, UINT64_MAX);
		tell_heartbeat_news(heartbeat, &(struct heartbeat_news){ element->at_ns, beat->last_ns, row, true });
	} else if (beat->state == BEAT_AWAITED) {
		if (element->at_ns < beat->last_ns)
			return;
		leave_beat(heartbeat, row);
	}
	join_beat(heartbeat, row, element->at_ns);
}

static void lose_heartbeat_events(void *context, uint64_t lost)
{
	struct heartbeat *heartbeat = context;

	add_to_beat_count(&heartbeat->lost, lost);
}

static void *twin_heartbeat(const void *context)
{
	const struct heartbeat *heartbeat = context;
	struct heartbeat *made;

	return heartbeat_new(&heartbeat->shape, &made) ? NULL : made;
}

static void release_heartbeat(void *context)
{
	heartbeat_free(context);
}

const struct monitor_evaluation_kind heartbeat_kind = {
	.name = "heartbeat",
	.prepare = prepare_heartbeat,
	.commit = commit_heartbeat,
	.lose = lose_heartbeat_events,
	.pass = pass_heartbeat,
	.twin = twin_heartbeat,
	.release = release_heartbeat,
};

const struct monitor_keys *heartbeat_keys(const struct heartbeat *heartbeat)
{
	return &heartbeat->keys;
}

void heartbeat_count(const struct heartbeat *heartbeat, struct heartbeat_counts *counts)
{
	*counts = (struct heartbeat_counts){
		.elements = atomic_load_explicit(&heartbeat->elements, memory_order_relaxed),
		.missed = atomic_load_explicit(&heartbeat->missed, memory_order_relaxed),
		.missing = atomic_load_explicit(&heartbeat->missing, memory_order_relaxed),
		.other = atomic_load_explicit(&heartbeat->other, memory_order_relaxed),
		.untold = atomic_load_explicit(&heartbeat->untold, memory_order_relaxed),
		.lost = atomic_load_explicit(&heartbeat->lost, memory_order_relaxed),
	};
}
