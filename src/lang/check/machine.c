// SPDX-License-Identifier: BSD-2-Clause
/* Checks a state machine, its states, and whether each of them can be reached. */

#include "lang/check/machine-priv.h"

#include <string.h>

static void check_state_name(struct lang_check *c, struct lang_names *states, const struct lang_word *word,
			     uint32_t index)
{
	static const char *const targets[] = { "END", "STAY" };
	uint32_t other = lang_names_add(states, word->text, index);

	for (size_t i = 0; i < 2; i++) {
		if (lang_word_is(word->text, strlen(word->text), targets[i]))
			lang_error(c->report, &word->location, "END and STAY are targets: write them after '->'",
				   "'%s' cannot name a state", word->text);
	}
	if (other == LANG_NO_NAME)
		return;
	lang_error(c->report, &word->location, NULL, "two states are named '%s'", word->text);
	lang_note(c->report, &c->scope->machine->states[other].location, "the other one is here");
	c->scope->lost = true;
}

static struct lang_names *check_states(struct lang_check *c)
{
	const struct lang_syntax_machine *syntax = c->scope->syntax;
	struct lang_machine *machine = c->scope->machine;
	struct lang_names *states = lang_names_new(c->scratch, syntax->state_count);

	machine->states = lang_keep(c, syntax->state_count, sizeof *machine->states);
	if (!states || !machine->states) {
		lang_no_memory(c->report);
		return NULL;
	}
	for (const struct lang_syntax_state *at = syntax->states; at; at = at->next) {
		machine->states[machine->state_count].name = at->name.text;
		machine->states[machine->state_count].location = at->name.location;
		check_state_name(c, states, &at->name, machine->state_count++);
	}
	return states;
}

static void check_frame_blocks(struct lang_check *c)
{
	struct lang_state *state = c->scope->machine->states;

	c->scope->type = &lang_no_event;
	c->scope->event = NULL;
	c->scope->location = "AFTER, ENTRY and EXIT";
	for (const struct lang_syntax_state *at = c->scope->syntax->states; at; at = at->next, state++) {
		lang_check_block(c, &at->entry, &state->entry);
		lang_check_block(c, &at->exit, &state->exit);
	}
}

static bool make_transitions(struct lang_check *c)
{
	struct lang_machine *machine = c->scope->machine;

	machine->transitions = lang_keep(c, c->scope->syntax->transition_count, sizeof *machine->transitions);
	if (!machine->transitions)
		return false;
	for (const struct lang_syntax_transition *at = c->scope->syntax->transitions; at; at = at->next)
		machine->transitions[machine->transition_count++] = (struct lang_transition){
			.state = at->state,
			.after_ns = at->after_ns,
			.name = at->name.text,
			.location = at->location,
		};
	return true;
}

static bool leads_from(const struct lang_transition *transition, uint32_t state)
{
	return transition->target == LANG_TO_STATE && transition->target_state != state &&
	       transition->target_state != LANG_NO_NAME;
}

/* Marks what the start leads to. Each round over the transitions finds at least one more state. */
static void mark_reached(const struct lang_machine *machine, bool *reached)
{
	bool more = true;

	reached[0] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < machine->transition_count; i++) {
			const struct lang_transition *transition = &machine->transitions[i];
			bool from = transition->state == LANG_OUTSIDE || reached[transition->state];

			if (!from || !leads_from(transition, UINT32_MAX) || reached[transition->target_state])
				continue;
			reached[transition->target_state] = more = true;
		}
	}
}

static bool has_way(const struct lang_machine *machine, uint32_t state)
{
	for (uint32_t i = 0; i < machine->transition_count; i++) {
		const struct lang_transition *transition = &machine->transitions[i];

		if (leads_from(transition, transition->state) && transition->target_state == state)
			return true;
	}
	return false;
}

/* A state that is cut off only because another one is, is not worth a message. */
static void check_reached(struct lang_check *c)
{
	const struct lang_machine *machine = c->scope->machine;
	bool *reached = arena_zero(c->scratch, machine->state_count, sizeof *reached);
	uint32_t first = UINT32_MAX, reported = 0;

	if (!reached) {
		lang_no_memory(c->report);
		return;
	}
	mark_reached(machine, reached);
	for (uint32_t i = 0; i < machine->state_count; i++) {
		if (reached[i])
			continue;
		first = first == UINT32_MAX ? i : first;
		if (has_way(machine, i))
			continue;
		reported++;
		lang_error(c->report, &machine->states[i].location, NULL, "no transition leads to the state '%s'",
			   machine->states[i].name);
	}
	if (first != UINT32_MAX && reported == 0)
		lang_error(c->report, &machine->states[first].location, NULL,
			   "no transitions lead from the first state to the state '%s'", machine->states[first].name);
}

static bool takes_events(const struct lang_syntax_machine *syntax)
{
	const struct lang_syntax_transition *at = syntax->transitions;

	while (at && !at->type.text)
		at = at->next;
	return at != NULL;
}

static void check_machine_parts(struct lang_check *c)
{
	const struct lang_syntax_machine *syntax = c->scope->syntax;
	struct lang_names *states;

	if (!lang_check_locals(c) || syntax->state_count > LANG_STATES_MAX ||
	    syntax->transition_count > LANG_TRANSITIONS_MAX)
		return;
	states = check_states(c);
	if (!states || !make_transitions(c))
		return;
	if (syntax->state_count == 0 && !syntax->broken)
		lang_error(c->report, &syntax->name.location, "a state is written 'STATE name { ON event -> other }'",
			   "the machine '%s' has no states", syntax->name.text);
	if (syntax->state_count > 0 && !syntax->broken && !takes_events(syntax))
		lang_error(c->report, &syntax->name.location, "write a transition as 'ON event -> state'",
			   "the machine '%s' has no transition on an event", syntax->name.text);
	lang_check_keys(c);
	check_frame_blocks(c);
	lang_check_transitions(c, states);
	if (syntax->state_count > 0 && !c->scope->lost && !syntax->broken && !lang_report_full(c->report))
		check_reached(c);
}

static bool changes_system(const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct lang_machine_action *action = &block->actions[i];

		if (action->kind == LANG_RAISE && action->statement.action && action->statement.action->changes_system)
			return true;
	}
	return false;
}

/* As for rules: REPLACE where a flood must not keep the machine from seeing what comes after it. */
static enum lang_full full_of_scope(const struct lang_scope *scope)
{
	const struct lang_machine *machine = scope->machine;
	bool acts = false;

	if (scope->syntax->full != LANG_FULL_DEFAULT)
		return scope->syntax->full;
	for (uint32_t i = 0; i < machine->state_count; i++)
		acts |= changes_system(&machine->states[i].entry) || changes_system(&machine->states[i].exit);
	for (uint32_t i = 0; i < machine->transition_count; i++)
		acts |= changes_system(&machine->transitions[i].block);
	return acts || machine->properties.severity >= SEVERITY_HIGH ? LANG_REPLACE : LANG_REFUSE;
}

void lang_check_machine(struct lang_check *c, const struct lang_syntax_machine *syntax, struct lang_machine *machine)
{
	struct lang_scope scope = { .machine = machine, .syntax = syntax };

	*machine = (struct lang_machine){
		.name = syntax->name.text,
		.location = syntax->name.location,
		.loss = syntax->loss,
		.pool = syntax->pool,
		.per_process = syntax->per_process,
		.trail = syntax->trail,
	};
	c->reported = lang_names_new(c->scratch, LANG_ERRORS_MAX);
	if (!c->reported) {
		lang_no_memory(c->report);
		return;
	}
	lang_check_properties(c, &syntax->properties, &machine->properties);
	c->scope = &scope;
	check_machine_parts(c);
	machine->full = full_of_scope(&scope);
	c->scope = NULL;
}
