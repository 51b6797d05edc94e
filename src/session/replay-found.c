// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a match is kept: a fixed head, the run's slots, then each event of the sequence with its whole record,
 * all in one piece of memory at multiples of 8.
 */

#include "session/replay-found.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

struct head {
	struct found_place place;
	size_t bytes; /* of everything, head included */
	uint64_t ts, done;
	uint32_t rule, notice, cpu, pid, tid;
	uint32_t slot_bytes, event_count;
	char comm[EVENT_COMM_BYTES];
	bool tainted;
};

/* Before each event's record. */
struct event_head {
	uint32_t element, bytes;
};

_Static_assert(sizeof(struct head) % 8 == 0 && sizeof(struct event_head) == 8, "records stay aligned");

static uint32_t record_bytes(const struct program *program, const struct event_header *record)
{
	return record->type < program->type_count ? program->types[record->type].record_bytes
						  : (uint32_t)sizeof *record;
}

static size_t size_of(const struct program *program, const struct program_match *match)
{
	size_t size = sizeof(struct head) + program->rules[match->rule].slot_bytes;

	for (uint32_t i = 0; i < match->event_count; i++)
		size += sizeof(struct event_head) + record_bytes(program, match->events[i].record);
	return size;
}

static int make_room(struct found_list *list, size_t bytes)
{
	size_t room = list->room * 2 > list->used + bytes ? list->room * 2 : list->used + bytes;
	char *larger;

	if (bytes <= list->room - list->used)
		return 0;
	larger = alloc_resize(list->bytes, room, 1);
	if (!larger)
		return -ENOMEM;
	list->bytes = larger;
	list->room = room;
	return 0;
}

int found_add(struct found_list *list, const struct program *program, struct found_place place,
	      const struct program_match *match)
{
	struct head head = {
		.place = place,
		.bytes = size_of(program, match),
		.ts = match->ts,
		.done = match->done,
		.rule = match->rule,
		.notice = match->notice,
		.cpu = match->cpu,
		.pid = match->pid,
		.tid = match->tid,
		.slot_bytes = program->rules[match->rule].slot_bytes,
		.event_count = match->event_count,
		.tainted = match->tainted,
	};
	char *to;

	if (make_room(list, head.bytes))
		return -ENOMEM;
	memcpy(head.comm, match->comm, strnlen(match->comm, sizeof head.comm - 1));
	to = list->bytes + list->used;
	list->used += head.bytes;
	memcpy(to, &head, sizeof head);
	to += sizeof head;
	memcpy(to, match->slots, head.slot_bytes);
	to += head.slot_bytes;
	for (uint32_t i = 0; i < match->event_count; i++) {
		const struct program_match_event *event = &match->events[i];
		struct event_head event_head = { event->element, record_bytes(program, event->record) };

		memcpy(to, &event_head, sizeof event_head);
		memcpy(to + sizeof event_head, event->record, event_head.bytes);
		to += sizeof event_head + event_head.bytes;
	}
	return 0;
}

void found_clear(struct found_list *list)
{
	list->used = 0;
}

void found_fini(struct found_list *list)
{
	alloc_free(list->bytes);
	*list = (struct found_list){ 0 };
}

bool found_peek(const struct found_reader *reader, struct found_place *place)
{
	if (reader->at == reader->list->used)
		return false;
	*place = ((const struct head *)(reader->list->bytes + reader->at))->place;
	return true;
}

int found_take(struct found_reader *reader, struct found_events *events, struct program_match *match)
{
	const struct head *head = (const struct head *)(reader->list->bytes + reader->at);
	const char *slots = (const char *)(head + 1), *from = slots + head->slot_bytes;

	if (head->event_count &&
	    alloc_grow(&events->items, &events->room, head->event_count - 1, sizeof *events->items))
		return -ENOMEM;
	for (uint32_t i = 0; i < head->event_count; i++) {
		const struct event_head *event = (const struct event_head *)from;

		events->items[i] = (struct program_match_event){
			.record = (const struct event_header *)(event + 1),
			.element = event->element,
		};
		from += sizeof *event + event->bytes;
	}
	*match = (struct program_match){
		.rule = head->rule,
		.notice = head->notice,
		.tainted = head->tainted,
		.ts = head->ts,
		.done = head->done,
		.cpu = head->cpu,
		.pid = head->pid,
		.tid = head->tid,
		.comm = head->comm,
		.slots = slots,
		.events = events->items,
		.event_count = head->event_count,
	};
	reader->at += head->bytes;
	return 0;
}
