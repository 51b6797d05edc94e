// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects the fields of an event that a rule reads, so that nothing else is fetched, and those of them that may be
 * unread.
 */

#include "ebpf/plan/plan-priv.h"
#include "event/type.h"
#include "program/reads.h"

#include <errno.h>

enum { HEADER_ALL = (1 << EVENT_HEADER_FIELDS) - 1, HEADER_IDS = 1 << 2 | 1 << 3 };

/* Where what one rule looks at is noted. */
struct asking {
	const struct program_type *type;
	struct plan_header *header;
	bool *body; /* per body field of type */
};

static void need_field(void *context, uint32_t field, enum program_read what_for)
{
	const struct asking *asking = context;

	if (field >= EVENT_HEADER_FIELDS)
		asking->body[field - asking->type->first_field] = true;
	else if (what_for == PROGRAM_READ_TO_FIND)
		asking->header->early |= (uint8_t)(1u << field);
	else
		asking->header->late |= (uint8_t)(1u << field);
}

/* What the executor itself wants of the header: when a run began, and what is told of a match. */
static void need_transition(const struct program_transition *transition, bool opens, struct plan_header *header)
{
	if (opens && transition->target != PROGRAM_TARGET_MATCH)
		header->late |= PLAN_HEADER_TS;
	if (transition->target == PROGRAM_TARGET_MATCH || transition->flags & PROGRAM_TELL)
		header->match = HEADER_ALL;
}

static bool may_be_unread(const struct plan_draft *draft, uint32_t field)
{
	return draft->options->may_be_unread ? draft->options->may_be_unread[field]
					     : draft->program->fields[field].value == EVENT_STRING;
}

int plan_fields(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event)
{
	const struct program_type *type = &draft->program->types[event->type];
	bool *reads = arena_zero(draft->plan->arena, type->field_count, sizeof *reads);
	bool *doubtful = arena_zero(draft->plan->arena, type->field_count, sizeof *doubtful);
	bool *ends = arena_zero(draft->plan->arena, type->field_count, sizeof *ends);
	struct asking asking = { type, &event->header, reads };

	if (!reads || !doubtful || !ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < rule->rule->state_count; i++) {
		uint32_t count;
		const struct program_transition *transitions = plan_transitions_on(draft, rule, i, event->type, &count);

		for (uint32_t j = 0; j < count; j++)
			need_transition(&transitions[j], i == 0, &event->header);
	}
	if (rule->rule->within_ns || rule->rule->flags & PROGRAM_RULE_TIMER || rule->sums.halves > 1)
		event->header.late |= PLAN_HEADER_TS;
	if (draft->options->counts_why)
		event->header.early |= HEADER_IDS;
	program_each_read(draft->program, rule->index, event->type, need_field, &asking);
	program_rule_ends(draft->program, rule->index, event->type, ends);
	for (uint32_t i = 0; i < type->field_count; i++) {
		ends[i] &= event_string_may_be_cut(draft->program->fields[type->first_field + i].bytes);
		event->asks_ends |= ends[i];
		doubtful[i] = reads[i] && may_be_unread(draft, type->first_field + i);
		event->doubtful |= doubtful[i];
	}
	event->reads = reads;
	event->may_be_unread = doubtful;
	event->ends = ends;
	return 0;
}

struct plan_header plan_part_header(const struct plan *plan, uint32_t type, const struct plan_part *part)
{
	const struct plan_type *events = &plan->types[type];
	struct plan_header header = { 0 };

	for (uint32_t i = 0; i < events->event_count; i++) {
		const struct plan_event *event = &events->events[i];

		if (event->rule < part->first || event->rule >= part->end)
			continue;
		header.early |= event->header.early;
		header.late |= event->header.late;
		header.match |= event->header.match;
	}
	if (plan->live)
		header.early |= header.late & HEADER_IDS; /* the scope asks for them anyway */
	else
		header.early |= header.late | header.match;
	header.late &= (uint8_t)~header.early;
	header.match &= (uint8_t) ~(header.early | header.late);
	return header;
}
