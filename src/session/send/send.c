// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes elements to a peer, and counts those that cannot be written. Lines wait in one buffer of bounded size; each
 * has its end noted, so that what a peer got whole is known when it goes.
 */

#include "session/send/send.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/frame.h"
#include "monitor/queue.h"
#include "session/send/peer-priv.h"
#include "trace/jsonl/declare.h"
#include "trace/sink/event-text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

enum {
	QUEUE_BYTES = 1 << 22,
	WAITING_MAX = 1 << 20, /* bytes that are kept for a peer that is slow */
	DECLARE_FRAMES = 256,  /* on a line that loses bytes, types are said again after so many */
};

struct known {
	const struct event_type *type;
	bool is_said; /* to this peer */
};

struct sender {
	struct send_peer peer;
	bool is_twin;
	struct monitor_queue queue;
	struct known *types; /* per sensor */
	size_t type_count, type_capacity;
	struct text_buffer waiting, line;
	size_t written;  /* bytes of waiting that are out */
	uint64_t events; /* that wait there */
	uint64_t frame, said_at;
	uint64_t sent, unsent;
	uint64_t missing; /* events that the peer has to be told of */
	_Atomic uint64_t lost;
	uint64_t seen_lost, seen_overflowed;
};

int send_new(const char *to, struct asterism_diag *diag, struct sender **made)
{
	struct sender *sender = alloc_zero(1, sizeof *sender);
	int result;

	if (!sender)
		return diag_no_memory(diag);
	peer_init(&sender->peer);
	result = monitor_queue_init(&sender->queue, QUEUE_BYTES) ? diag_no_memory(diag)
								 : peer_open(&sender->peer, to, diag);
	if (result)
		send_free(sender);
	else
		*made = sender;
	return result;
}

void send_free(struct sender *sender)
{
	if (!sender)
		return;
	peer_fini(&sender->peer);
	monitor_queue_fini(&sender->queue);
	text_fini(&sender->waiting);
	text_fini(&sender->line);
	alloc_free(sender->types);
	alloc_free(sender);
}

int send_know(struct sender *sender, uint32_t sensor, const struct event_type *type)
{
	while (sender->type_count <= sensor) {
		if (alloc_grow(&sender->types, &sender->type_capacity, sender->type_count, sizeof *sender->types))
			return -ENOMEM;
		sender->types[sender->type_count++] = (struct known){ .type = NULL };
	}
	sender->types[sensor].type = type;
	return 0;
}

/* ---- the evaluator's */

static void commit_sent(void *context, bool ok, const struct monitor_element *element)
{
	struct sender *sender = context;
	struct event_header *copy;

	if (!ok || element->sensor >= sender->type_count || !sender->types[element->sensor].type)
		return;
	copy = monitor_queue_reserve(&sender->queue, element->bytes);
	if (!copy)
		return;
	memcpy(copy, element->data, element->bytes);
	copy->type = element->sensor;
	monitor_queue_send(&sender->queue);
}

static void lose_sent_events(void *context, uint64_t lost)
{
	struct sender *sender = context;

	atomic_fetch_add_explicit(&sender->lost, lost, memory_order_relaxed);
}

/* One that nobody empties, and that writes nowhere. */
static void *twin_sender(const void *context)
{
	const struct sender *sender = context;
	struct sender *made = alloc_zero(1, sizeof *made);

	if (!made)
		return NULL;
	peer_init(&made->peer);
	made->is_twin = true;
	bool has_all = monitor_queue_init(&made->queue, QUEUE_BYTES) == 0;

	for (uint32_t i = 0; i < sender->type_count && has_all; i++)
		has_all = send_know(made, i, sender->types[i].type) == 0;
	if (has_all)
		return made;
	send_free(made);
	return NULL;
}

/* What is sent is its owner's, who has more to write when nothing is evaluated any more. */
static void release_sender(void *context)
{
	struct sender *sender = context;

	if (sender->is_twin)
		send_free(sender);
}

const struct monitor_evaluation_kind send_kind = {
	.name = "send", .commit = commit_sent, .lose = lose_sent_events, .twin = twin_sender, .release = release_sender
};

/* ---- the owner's */

static void put_sent_line(struct sender *sender)
{
	if (!sender->peer.is_framed)
		text_append_bytes(&sender->waiting, sender->line.bytes, sender->line.length);
	else if (sender->line.length)
		frame_put(&sender->waiting, ++sender->frame, sender->line.bytes, sender->line.length - 1);
	sender->line.length = 0;
}

static void put_lost(struct sender *sender)
{
	if (!sender->missing)
		return;
	text_printf(&sender->line, "{\"lost\":%" PRIu64 "}\n", sender->missing);
	sender->missing = 0;
	put_sent_line(sender);
}

/* What the peer does not know yet: that events are missing, and what this one is. */
static void put_before(struct sender *sender, struct known *known)
{
	put_lost(sender);
	if (sender->peer.is_framed && sender->frame - sender->said_at >= DECLARE_FRAMES) {
		sender->said_at = sender->frame;
		for (size_t i = 0; i < sender->type_count; i++)
			sender->types[i].is_said = false;
	}
	if (known->is_said)
		return;
	known->is_said = true;
	trace_jsonl_put_declaration(&sender->line, known->type);
	put_sent_line(sender);
}

static void send_event(struct sender *sender, const struct event_header *record)
{
	struct known *known = &sender->types[record->type];
	const struct event event = { .record = (struct event_header *)(uintptr_t)record, .type = known->type };

	put_before(sender, known);
	event_text_json(&sender->line, &event);
	put_sent_line(sender);
	sender->events++;
}

/* Nobody is there who got the rest of it. */
static void give_sending_up(struct sender *sender)
{
	sender->unsent += sender->events;
	sender->missing += sender->events;
	sender->events = 0;
	sender->waiting.length = sender->written = 0;
	for (size_t i = 0; i < sender->type_count; i++)
		sender->types[i].is_said = false;
}

static void note_losses(struct sender *sender)
{
	uint64_t lost = atomic_load_explicit(&sender->lost, memory_order_relaxed);
	uint64_t overflowed = atomic_load_explicit(&sender->queue.overflowed, memory_order_relaxed);

	sender->missing += lost - sender->seen_lost + overflowed - sender->seen_overflowed;
	sender->unsent += overflowed - sender->seen_overflowed;
	sender->seen_lost = lost;
	sender->seen_overflowed = overflowed;
}

/* Returns whether all is written. */
static bool write_waiting(struct sender *sender, struct asterism_diag *diag)
{
	int64_t count = peer_write(&sender->peer, sender->waiting.bytes + sender->written,
				   sender->waiting.length - sender->written, diag);

	if (count < 0) {
		give_sending_up(sender);
		return false;
	}
	sender->written += (size_t)count;
	if (sender->written < sender->waiting.length)
		return false;
	sender->sent += sender->events;
	sender->events = 0;
	sender->waiting.length = sender->written = 0;
	return true;
}

void send_step(struct sender *sender, struct asterism_diag *diag)
{
	bool is_there = peer_step(&sender->peer, diag);
	const void *record;
	size_t bytes;

	note_losses(sender);
	if (!is_there)
		return;
	do {
		if (sender->waiting.length && !write_waiting(sender, diag))
			return;
		while (sender->waiting.length < WAITING_MAX &&
		       (record = monitor_queue_look(&sender->queue, &bytes)) != NULL) {
			send_event(sender, record);
			monitor_queue_drop(&sender->queue);
		}
		if (sender->waiting.failure || sender->line.failure) { /* no memory: this peer gets nothing more */
			text_fini(&sender->waiting);
			text_fini(&sender->line);
			give_sending_up(sender);
		}
	} while (sender->waiting.length);
}

/* Until all is written that waits, or time is up. Returns whether it is. */
static bool write_until(struct sender *sender, uint64_t until, struct asterism_diag *diag)
{
	size_t bytes;

	for (;;) {
		send_step(sender, diag);
		if (!sender->waiting.length && !monitor_queue_look(&sender->queue, &bytes))
			return true;
		if (clock_now_ns() >= until)
			return false;
		peer_wait(&sender->peer, 20);
	}
}

void send_finish(struct sender *sender, uint64_t wait_ns, struct asterism_diag *diag)
{
	uint64_t until = clock_now_ns() + wait_ns;
	const void *record;
	size_t bytes;

	/* Who gets no end mark knows that something is missing. */
	if (write_until(sender, until, diag) && peer_step(&sender->peer, diag)) {
		put_lost(sender);
		text_append(&sender->line, "{\"end\":true}\n");
		put_sent_line(sender);
		write_until(sender, until, diag);
	}
	give_sending_up(sender);
	while ((record = monitor_queue_look(&sender->queue, &bytes)) != NULL) {
		monitor_queue_drop(&sender->queue);
		sender->unsent++;
	}
}

void send_count(const struct sender *sender, struct send_counts *counts)
{
	*counts = (struct send_counts){ sender->sent, sender->unsent, sender->seen_lost };
}
