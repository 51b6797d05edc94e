// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packs a match: a head, the run's slots, then each event of the sequence with its whole record, the reactions and the
 * other threads, and the texts of reactions and frames; all in one piece of memory at multiples of 8.
 */

#include "program/match-copy.h"

#include "base/alloc.h"

#include <string.h>

struct head {
	size_t bytes;               /* of everything, head included */
	struct program_match match; /* what it points to is not from here */
	uint32_t slot_bytes, reaction_count, frame_count;
	uint32_t reserved; /* 0 */
	char comm[EVENT_COMM_BYTES];
};

/* Before each event's record. */
struct event_head {
	uint32_t element, bytes;
};

_Static_assert(sizeof(struct head) % 8 == 0 && sizeof(struct event_head) == 8, "records stay aligned");
_Static_assert(sizeof(struct program_match_event) % 8 == 0 && sizeof(struct program_reaction) % 8 == 0 &&
		       sizeof(struct program_thread) % 8 == 0,
	       "arrays, too");

static uint32_t record_bytes(const struct program *program, const struct event_header *record)
{
	return record->type < program->type_count ? program->types[record->type].record_bytes
						  : (uint32_t)sizeof *record;
}

static uint32_t reaction_count(const struct program *program, const struct program_match *match)
{
	return match->reactions ? program->rules[match->rule].statement_count : 0;
}

/* Of all stacks. */
static uint32_t frame_count(const struct program_match *match)
{
	uint32_t count = match->named_stack.frame_count;

	for (uint32_t i = 0; i < match->thread_count; i++)
		count += match->threads[i].stack.frame_count;
	return count;
}

static size_t text_bytes_or_none(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t stack_bytes(const struct program_stack *stack)
{
	size_t size = text_bytes_or_none(stack->end);

	for (uint32_t i = 0; i < stack->frame_count; i++)
		size += text_bytes_or_none(stack->frames[i]);
	return size;
}

size_t program_match_bytes(const struct program *program, const struct program_match *match)
{
	uint32_t reactions = reaction_count(program, match);
	size_t size = sizeof(struct head) + program->rules[match->rule].slot_bytes;

	for (uint32_t i = 0; i < match->event_count; i++)
		size += sizeof(struct event_head) + record_bytes(program, match->events[i].record);
	size += reactions * sizeof *match->reactions;
	for (uint32_t i = 0; i < reactions; i++)
		size += text_bytes_or_none(match->reactions[i].why);
	size += stack_bytes(&match->named_stack) + match->thread_count * sizeof *match->threads;
	for (uint32_t i = 0; i < match->thread_count; i++)
		size += text_bytes_or_none(match->threads[i].comm) + stack_bytes(&match->threads[i].stack);
	return (size + 7) / 8 * 8;
}

static char *put_match_bytes(char *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return to + bytes;
}

static char *copy_events(const struct program *program, const struct program_match *match, char *to)
{
	for (uint32_t i = 0; i < match->event_count; i++) {
		const struct program_match_event *event = &match->events[i];
		struct event_head head = { event->element, record_bytes(program, event->record) };

		to = put_match_bytes(to, &head, sizeof head);
		to = put_match_bytes(to, event->record, head.bytes);
	}
	return to;
}

static char *copy_stack(const struct program_stack *stack, char *to)
{
	for (uint32_t i = 0; i < stack->frame_count; i++)
		to = put_match_bytes(to, stack->frames[i], text_bytes_or_none(stack->frames[i]));
	return put_match_bytes(to, stack->end, text_bytes_or_none(stack->end));
}

void program_match_pack(const struct program *program, const struct program_match *match, void *packed)
{
	struct head head = {
		.bytes = program_match_bytes(program, match),
		.match = *match,
		.slot_bytes = program->rules[match->rule].slot_bytes,
		.reaction_count = reaction_count(program, match),
		.frame_count = frame_count(match),
	};
	char *to = packed;

	memcpy(head.comm, match->comm, strnlen(match->comm, sizeof head.comm - 1));
	to = put_match_bytes(to, &head, sizeof head);
	to = put_match_bytes(to, match->slots, head.slot_bytes);
	to = copy_events(program, match, to);
	to = put_match_bytes(to, match->reactions, head.reaction_count * sizeof *match->reactions);
	for (uint32_t i = 0; i < head.reaction_count; i++)
		to = put_match_bytes(to, match->reactions[i].why, text_bytes_or_none(match->reactions[i].why));
	to = put_match_bytes(to, match->threads, match->thread_count * sizeof *match->threads);
	to = copy_stack(&match->named_stack, to);
	for (uint32_t i = 0; i < match->thread_count; i++) {
		to = put_match_bytes(to, match->threads[i].comm, text_bytes_or_none(match->threads[i].comm));
		to = copy_stack(&match->threads[i].stack, to);
	}
}

static size_t room_bytes(const struct program_match *match, uint32_t reactions, uint32_t frames)
{
	return match->event_count * sizeof(struct program_match_event) + reactions * sizeof(struct program_reaction) +
	       match->thread_count * sizeof(struct program_thread) + frames * sizeof(char *);
}

struct program_packed program_match_packed(const void *packed)
{
	const struct head *head = packed;
	size_t room = room_bytes(&head->match, head->reaction_count, head->frame_count);

	return (struct program_packed){ head->bytes, room };
}

/* Takes a text that stands at *from. */
static const char *take_text(const char **from)
{
	const char *text = *from;

	*from += strlen(text) + 1;
	return text;
}

static const char *take_events(const char *from, uint32_t count, struct program_match_event *events)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct event_head *head = (const struct event_head *)from;

		events[i] = (struct program_match_event){
			.record = (const struct event_header *)(head + 1),
			.element = head->element,
		};
		from += sizeof *head + head->bytes;
	}
	return from;
}

/* Takes the texts of stack; its frames are listed in room, which then is what is left of it. */
static void take_stack(const char **from, struct program_stack *stack, const char ***room)
{
	const char **frames = *room;

	for (uint32_t i = 0; i < stack->frame_count; i++)
		frames[i] = take_text(from);
	if (stack->frames)
		stack->frames = frames;
	if (stack->end)
		stack->end = take_text(from);
	*room += stack->frame_count;
}

void program_match_unpack(const void *packed, void *room, struct program_match_copy *copy)
{
	const struct head *head = packed;
	struct program_match_event *events = room;
	struct program_reaction *reactions = (struct program_reaction *)(events + head->match.event_count);
	struct program_thread *threads = (struct program_thread *)(reactions + head->reaction_count);
	const char **frames = (const char **)(threads + head->match.thread_count);
	const char *from = (const char *)(head + 1) + head->slot_bytes;

	*copy = (struct program_match_copy){ .match = head->match,
					     .reactions = head->match.reactions ? reactions : NULL };
	from = take_events(from, head->match.event_count, events);
	put_match_bytes((char *)reactions, from, head->reaction_count * sizeof *reactions);
	from += head->reaction_count * sizeof *reactions;
	for (uint32_t i = 0; i < head->reaction_count; i++)
		if (reactions[i].why)
			reactions[i].why = take_text(&from);
	put_match_bytes((char *)threads, from, head->match.thread_count * sizeof *threads);
	from += head->match.thread_count * sizeof *threads;
	take_stack(&from, &copy->match.named_stack, &frames);
	for (uint32_t i = 0; i < head->match.thread_count; i++) {
		threads[i].comm = take_text(&from);
		take_stack(&from, &threads[i].stack, &frames);
	}
	copy->match.slots = head + 1;
	copy->match.comm = head->comm;
	copy->match.events = events;
	copy->match.reactions = copy->reactions;
	copy->match.stack = NULL;
	copy->match.stack_count = 0;
	copy->match.stack_copy = NULL;
	copy->match.threads = threads;
	copy->match.namer = NULL;
}

/* A copy, its room and its packed bytes. */
struct program_match_copy *program_match_keep(const struct program *program, const struct program_match *match)
{
	size_t room = room_bytes(match, reaction_count(program, match), frame_count(match));
	struct program_match_copy *copy = alloc_zero(sizeof *copy + room + program_match_bytes(program, match), 1);
	char *behind;

	if (!copy)
		return NULL;
	behind = (char *)(copy + 1);
	program_match_pack(program, match, behind + room);
	program_match_unpack(behind + room, behind, copy);
	return copy;
}
