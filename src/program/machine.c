// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads notice slots and trails. The loader knows where these slots are, but a trail's words are whatever actions put
 * there, so each is judged again.
 */

#include "program/machine.h"
#include "program/query.h"

#include <string.h>

static uint64_t word(const struct program *program, const struct program_rule *rule, const void *slots, uint32_t slot)
{
	uint64_t value;

	memcpy(&value, (const char *)slots + program_slots(program, rule)[slot].offset, sizeof value);
	return value;
}

uint32_t program_notice_of(const struct program *program, const struct program_rule *rule, const void *slots)
{
	uint64_t number;

	if (!rule->notice_count)
		return 0;
	number = word(program, rule, slots, rule->notice_slot);
	return number <= rule->notice_count ? (uint32_t)number : 0;
}

const struct program_notice *program_match_notice(const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];

	if (match->notice < 1 || match->notice > rule->notice_count)
		return NULL;
	return program_notice(program, rule, match->notice);
}

/* The state of rule that a row of TRANSITIONS belongs to, or PROGRAM_NONE. */
static uint32_t owner(const struct program *program, const struct program_rule *rule, uint64_t row)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		if (row >= state->first_transition && row - state->first_transition < state->transition_count)
			return i;
	}
	return PROGRAM_NONE;
}

static const char *program_state_label(const struct program *program, const struct program_rule *rule, uint32_t state)
{
	return program_text(program, program_states(program, rule)[state].label);
}

/* Reads the place of the trail that begins with slot. Returns false when nothing stands there. */
static bool read_place(const struct program *program, const struct program_match *match, uint32_t slot,
		       struct program_trail_event *event)
{
	const struct program_rule *rule = &program->rules[match->rule];
	uint64_t what = word(program, rule, match->slots, slot + 1), who = word(program, rule, match->slots, slot + 2);
	uint64_t row = program_states(program, rule)[0].first_transition + (what >> 32) - 1;
	uint32_t from = what >> 32 ? owner(program, rule, row) : PROGRAM_NONE;
	const struct program_transition *transition;

	if (from == PROGRAM_NONE)
		return false;
	transition = &program->transitions[row];
	event->type = transition->type;
	event->name = "AFTER";
	if (transition->type != PROGRAM_TIMER)
		event->name = program_text(program, program->types[transition->type].name);
	event->from = program_state_label(program, rule, from);
	event->to = "END";
	if (transition->target < rule->state_count)
		event->to = program_state_label(program, rule, transition->target);
	else if (from == 0)
		event->to = event->from;
	event->ts = word(program, rule, match->slots, slot);
	event->cpu = (uint32_t)what;
	event->pid = (uint32_t)(who >> 32);
	event->tid = (uint32_t)who;
	return true;
}

uint32_t program_trail(const struct program *program, const struct program_match *match,
		       struct program_trail_event *events)
{
	const struct program_rule *rule = &program->rules[match->rule];
	uint32_t count = 0;

	for (uint32_t i = rule->trail_count; i > 0; i--) {
		uint32_t slot = rule->trail_slot + (i - 1) * PROGRAM_TRAIL_WORDS;

		if (read_place(program, match, slot, &events[count]))
			count++;
	}
	return count;
}
