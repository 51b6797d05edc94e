// SPDX-License-Identifier: BSD-2-Clause
/* Checks where transitions of a state machine lead, under what guard, and which cannot coexist. */

#include "lang/check/machine-priv.h"

#include <string.h>

static void check_target(struct lang_check *c, const struct lang_names *states,
			 const struct lang_syntax_transition *syntax, struct lang_transition *transition)
{
	transition->target = syntax->target;
	if (syntax->target != LANG_TO_STATE)
		return;
	transition->target_state = lang_names_find(states, syntax->target_state.text);
	if (transition->target_state != LANG_NO_NAME)
		return;
	const char *hint = lang_did_you_mean(c->report, syntax->target_state.text,
					     lang_names_nearest(states, syntax->target_state.text));

	lang_error(c->report, &syntax->target_state.location,
		   hint ? hint : "a transition leads to a state, END or STAY", "unknown state '%s'",
		   syntax->target_state.text);
	c->scope->lost = true;
}

/* Copies are made beside what happens to the original, which alone is told. */
static void check_transition_copy(struct lang_check *c, const struct lang_transition *transition)
{
	static const char hint[] = "let the original report it, by another transition for the event";
	const struct lang_machine *machine = c->scope->machine;
	const struct lang_block *block = &transition->block;

	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind != LANG_ASSIGN)
			lang_error(c->report, &block->actions[i].location, hint,
				   "a copy reports nothing, so its block can only assign variables");
	}
	if (transition->target != LANG_TO_STATE || transition->target_state == LANG_NO_NAME)
		return;
	const struct lang_state *state = &machine->states[transition->target_state];

	if (lang_block_reports(&state->entry))
		lang_error(c->report, &transition->location, hint, "a copy reports nothing, but ENTRY of '%s' does",
			   state->name);
	state = transition->state == LANG_OUTSIDE ? NULL : &machine->states[transition->state];
	if (state && lang_block_reports(&state->exit))
		lang_error(c->report, &transition->location, hint, "a copy reports nothing, but EXIT of '%s' does",
			   state->name);
}

static void check_transition(struct lang_check *c, const struct lang_names *states,
			     const struct lang_syntax_transition *syntax, struct lang_transition *transition)
{
	c->scope->type = syntax->type.text ? transition->type : &lang_no_event;
	c->scope->event = syntax->name.text;
	c->scope->location = syntax->type.text ? NULL : "AFTER, ENTRY and EXIT";
	c->scope->event_only = transition->is_any;
	c->context = LANG_IN_CONDITION;
	if (syntax->guard)
		transition->guard = lang_check_condition(c, syntax->guard);
	c->scope->event_only = false;
	check_target(c, states, syntax, transition);
	if (!transition->is_any)
		lang_check_block(c, &syntax->block, &transition->block);
	if (transition->copy_by)
		check_transition_copy(c, transition);
}

/* Two transitions without WHERE for one event: the second is never taken. */
static void check_unguarded(struct lang_check *c, struct lang_names *names, const struct lang_syntax_transition *syntax,
			    uint32_t index)
{
	const struct lang_machine *machine = c->scope->machine;
	const struct lang_transition *transition = &machine->transitions[index];
	bool outside = syntax->state == LANG_OUTSIDE;

	if (syntax->guard || !syntax->type.text)
		return;
	const char *name =
		arena_format(c->scratch, "%u %d %s", syntax->state, transition->copy_by != NULL, syntax->type.text);

	if (!name) {
		lang_no_memory(c->report);
		return;
	}
	uint32_t other = lang_names_add(names, name, index);

	if (other == LANG_NO_NAME)
		return;
	lang_error(c->report, &transition->location, "one of them needs a WHERE",
		   outside ? "two transitions for '%s' outside of states have no WHERE"
			   : "two transitions for '%s' in state '%s' have no WHERE",
		   syntax->type.text, outside ? "" : machine->states[syntax->state].name);
	lang_note(c->report, &machine->transitions[other].location, "the other one is here");
}

static uint32_t count_raised(const struct lang_block *block)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < block->count; i++)
		count += block->actions[i].kind == LANG_RAISE;
	return count;
}

/* What one transition raises, with EXIT and ENTRY. */
static void check_raised(struct lang_check *c, const struct lang_transition *transition)
{
	const struct lang_machine *machine = c->scope->machine;
	uint32_t count = count_raised(&transition->block), most = 0;

	if (transition->target == LANG_TO_STATE && transition->target_state != LANG_NO_NAME)
		count += count_raised(&machine->states[transition->target_state].entry);
	for (uint32_t i = 0; i < machine->state_count && transition->target != LANG_STAYS; i++) {
		uint32_t raised = count_raised(&machine->states[i].exit);

		if ((transition->state == LANG_OUTSIDE || transition->state == i) && raised > most)
			most = raised;
	}
	if (count + most > REACT_STATEMENTS_MAX)
		lang_error(
			c->report, &transition->location, NULL,
			"the transition has %u EMITs and CALLs, with those of EXIT and ENTRY; at most %d are possible",
			count + most, REACT_STATEMENTS_MAX);
}

void lang_check_transitions(struct lang_check *c, const struct lang_names *states)
{
	const struct lang_syntax_machine *syntax = c->scope->syntax;
	struct lang_names *unguarded = lang_names_new(c->scratch, syntax->transition_count);
	uint32_t index = 0;

	if (!unguarded) {
		lang_no_memory(c->report);
		return;
	}
	for (const struct lang_syntax_transition *at = syntax->transitions; at && !lang_report_full(c->report);
	     at = at->next, index++) {
		check_transition(c, states, at, &c->scope->machine->transitions[index]);
		check_unguarded(c, unguarded, at, index);
		check_raised(c, &c->scope->machine->transitions[index]);
	}
}
