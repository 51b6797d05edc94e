// SPDX-License-Identifier: BSD-2-Clause
/* Decides what belongs to a match: its slots, the events of its sequence, its stack, what became of its calls. */

#include "session/kept-match.h"

#include "base/alloc.h"

#include <string.h>

struct whole {
	struct kept_match kept;
	char comm[EVENT_COMM_BYTES];
	void *slots;
	struct program_match_event *events;
	void **records;
	char **reasons;
	char **frames;
	uint32_t statement_count;
};

static void *copy(const void *from, size_t bytes)
{
	void *to = alloc_zero(bytes ? bytes : 1, 1);

	if (to && bytes)
		memcpy(to, from, bytes);
	return to;
}

static bool keep_events(struct whole *whole, const struct program *program, const struct program_match *match)
{
	whole->events = copy(match->events, match->event_count * sizeof *whole->events);
	whole->records = alloc_zero(match->event_count, sizeof *whole->records);
	if (!whole->events || !whole->records)
		return false;
	whole->kept.match.events = whole->events;
	for (uint32_t i = 0; i < match->event_count; i++) {
		const struct event_header *record = match->events[i].record;

		whole->records[i] = copy(record, program->types[record->type].record_bytes);
		if (!whole->records[i])
			return false;
		whole->events[i].record = whole->records[i];
	}
	return true;
}

static bool keep_reactions(struct whole *whole, const struct program_match *match)
{
	if (!match->reactions)
		return true;
	whole->kept.reactions = copy(match->reactions, whole->statement_count * sizeof *match->reactions);
	whole->reasons = alloc_zero(whole->statement_count, sizeof *whole->reasons);
	if (!whole->kept.reactions || !whole->reasons)
		return false;
	whole->kept.match.reactions = whole->kept.reactions;
	for (uint32_t i = 0; i < whole->statement_count; i++) {
		if (!match->reactions[i].why)
			continue;
		whole->reasons[i] = alloc_text(match->reactions[i].why);
		if (!whole->reasons[i])
			return false;
		whole->kept.reactions[i].why = whole->reasons[i];
	}
	return true;
}

static bool keep_frames(struct whole *whole, const struct program_match *match)
{
	whole->kept.match.stack = NULL;
	whole->kept.match.frames = NULL;
	whole->kept.match.stack_count = 0;
	if (!match->frames)
		return true;
	whole->frames = alloc_zero(match->stack_count, sizeof *whole->frames);
	whole->kept.match.frames = (const char *const *)whole->frames;
	for (uint32_t i = 0; whole->frames && i < match->stack_count; i++) {
		whole->frames[i] = alloc_text(match->frames[i]);
		if (!whole->frames[i])
			return false;
		whole->kept.match.stack_count++;
	}
	return whole->frames;
}

struct kept_match *kept_match_new(const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];
	struct whole *whole = alloc_zero(1, sizeof *whole);

	if (!whole)
		return NULL;
	whole->statement_count = rule->statement_count;
	whole->kept.match = *match;
	/* Nothing of the original is left behind where a copy fails. */
	whole->kept.match.event_count = 0;
	whole->slots = copy(match->slots, rule->slot_bytes);
	if (!whole->slots || !keep_events(whole, program, match) || !keep_reactions(whole, match) ||
	    !keep_frames(whole, match)) {
		whole->kept.match.event_count = match->event_count;
		kept_match_free(&whole->kept);
		return NULL;
	}
	whole->kept.match.event_count = match->event_count;
	whole->kept.match.slots = whole->slots;
	strncpy(whole->comm, match->comm, sizeof whole->comm - 1);
	whole->kept.match.comm = whole->comm;
	return &whole->kept;
}

void kept_match_free(struct kept_match *kept)
{
	struct whole *whole = (struct whole *)kept;

	if (!kept)
		return;
	for (uint32_t i = 0; whole->records && i < kept->match.event_count; i++)
		alloc_free(whole->records[i]);
	for (uint32_t i = 0; whole->reasons && i < whole->statement_count; i++)
		alloc_free(whole->reasons[i]);
	for (uint32_t i = 0; whole->frames && i < kept->match.stack_count; i++)
		alloc_free(whole->frames[i]);
	alloc_free(whole->frames);
	alloc_free(whole->records);
	alloc_free(whole->reasons);
	alloc_free(whole->events);
	alloc_free(kept->reactions);
	alloc_free(whole->slots);
	alloc_free(whole);
}
