// SPDX-License-Identifier: BSD-2-Clause
/*
 * Handles events in which a string could not be read: a rule that looks at it does not see the event, which is counted,
 * and its open runs are marked as after a loss. All other rules see it. A rule that asks how a string ends sees an
 * event in which it may have been cut as far as it goes; that is counted, too, and what comes of it is marked, with the
 * runs that might have been concerned. All this is rare, so what is asked of every event is one byte for each string
 * that some rule looks at, and another where one asks how it ends.
 */

#include "engine/engine-priv.h"
#include "program/query.h"
#include "program/reads.h"

#include <errno.h>
#include <string.h>

/* Notes which strings of type rules that run here look at, and of which they ask how they end. */
static void find_read(const struct engine *engine, const struct engine_dispatch *row, uint32_t type, bool *reads,
		      bool *ends)
{
	for (uint32_t i = 0; i < row->count; i++) {
		program_rule_reads(engine->program, row->entries[i].rule->index, type, reads);
		program_rule_ends(engine->program, row->entries[i].rule->index, type, ends);
	}
}

static int build_row(struct engine *engine, struct engine_dispatch *row, uint32_t type)
{
	const struct program_type *image = &engine->program->types[type];
	const struct program_field *fields = program_fields(engine->program, image);
	bool reads[EVENT_FIELDS_MAX] = { false }, ends[EVENT_FIELDS_MAX] = { false };
	struct engine_doubts *doubts;

	find_read(engine, row, type, reads, ends);
	for (uint32_t i = 0; i < image->field_count; i++) {
		row->doubt_count += reads[i] && fields[i].value == EVENT_STRING;
		row->doubt_count += ends[i] && event_string_may_be_cut(fields[i].bytes);
	}
	if (!row->doubt_count)
		return 0;
	doubts = arena_zero(engine->arena, 1, sizeof *doubts);
	row->doubts = doubts;
	if (!doubts || !(doubts->ends = arena_zero(engine->arena, row->doubt_count, sizeof *doubts->ends)) ||
	    !(doubts->entries = arena_zero(engine->arena, row->count, sizeof *doubts->entries)))
		return -ENOMEM;
	for (uint32_t i = 0, at = 0; i < image->field_count; i++) {
		if (reads[i] && fields[i].value == EVENT_STRING)
			doubts->ends[at++] = fields[i].offset + fields[i].bytes - 1;
		if (ends[i] && event_string_may_be_cut(fields[i].bytes))
			doubts->ends[at++] = fields[i].offset + fields[i].bytes - 2;
	}
	memcpy(doubts->entries, row->entries, row->count * sizeof *doubts->entries);
	doubts->entry_count = row->count;
	return 0;
}

int engine_unread_build(struct engine *engine, struct engine_dispatch *rows)
{
	int result = 0;

	for (uint32_t i = 0; i < engine->program->type_count && !result; i++)
		result = build_row(engine, &rows[i], i);
	return result;
}

/* How much of an event a rule knows. */
enum known { KNOWN_WHOLE, KNOWN_IN_PART, UNREAD };

static enum known known_of(const struct engine *engine, const struct engine_rule *rule,
			   const struct event_header *record)
{
	enum known known = KNOWN_WHOLE;
	const struct program_type *type = &engine->program->types[record->type];
	bool reads[EVENT_FIELDS_MAX] = { false }, ends[EVENT_FIELDS_MAX] = { false };

	program_rule_reads(engine->program, rule->index, record->type, reads);
	program_rule_ends(engine->program, rule->index, record->type, ends);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(engine->program, type)[i];

		if (field->value != EVENT_STRING)
			continue;
		if (reads[i] && event_string_is_unread(record, field->offset, field->bytes))
			return UNREAD;
		if (ends[i] && event_string_is_full(record, field->offset, field->bytes))
			known = KNOWN_IN_PART;
	}
	return known;
}

static void count_unread(struct engine_rule *rule, uint32_t type, uint32_t pid)
{
	engine_mark_all(rule);
	rule->stats.unread++;
	rule->stats.unread_type = type + 1;
	rule->stats.unread_pid = pid;
}

static bool takes_type(const struct engine *engine, const struct program_rule *rule, uint32_t type)
{
	for (uint32_t i = 0; i < rule->over_count; i++)
		if (engine->program->indices[rule->first_over + i] == type)
			return true;
	return rule->flags & PROGRAM_RULE_OVER_ALL;
}

void engine_unread_unknown(struct engine *engine, uint32_t type)
{
	for (uint32_t i = 0; i < engine->program->rule_count; i++)
		if ((!engine->options.rules || engine->options.rules[i]) &&
		    takes_type(engine, engine->rules[i].image, type))
			count_unread(&engine->rules[i], type, 0);
}

void engine_unread_pass(struct engine *engine, const struct engine_dispatch *row, const struct engine_event *event)
{
	for (uint32_t i = 0; i < row->doubts->entry_count && !engine->failed; i++) {
		const struct engine_entry *entry = &row->doubts->entries[i];
		enum known known = known_of(engine, entry->rule, event->record);

		entry->rule->doubts = known == KNOWN_IN_PART;
		if (known != UNREAD)
			engine_pass_one(engine, entry, event);
		entry->rule->doubts = false;
		if (known != KNOWN_WHOLE)
			count_unread(entry->rule, event->record->type, event->record->pid);
	}
}
