// SPDX-License-Identifier: BSD-2-Clause
/* Checks whether a live session can see what a rule waits for. What this kernel lacks is the kernel side's to tell. */

#include "session/load/rules.h"

#include "base/diag.h"
#include "program/emissions.h"

#include <errno.h>

/* Whether the program can see events of type: a kernel raises them, or a rule emits them. */
static bool is_raised(const struct program *program, struct event_catalog *catalog, uint32_t type)
{
	const struct event_type *known = event_catalog_find(catalog, program_text(program, program->types[type].name));

	return !known || known->hook_count || known->sensor || program_is_emitted(program, type);
}

/* Every element of a pattern counts. Returns the first type in vain, or NONE. */
static uint32_t unraised_element(const struct program *program, struct event_catalog *catalog,
				 const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->element_count; i++) {
		uint32_t type = program_elements(program, rule)[i].type;

		if (!is_raised(program, catalog, type))
			return type;
	}
	return PROGRAM_NONE;
}

/* A machine may serve traces as well: it waits in vain where no transition's event is raised. */
static uint32_t unraised_transition(const struct program *program, struct event_catalog *catalog,
				    const struct program_rule *machine)
{
	uint32_t unraised = PROGRAM_NONE;

	for (uint32_t i = 0; i < machine->state_count; i++) {
		const struct program_state *state = &program_states(program, machine)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			uint32_t type = program_transitions(program, state)[j].type;

			if (type == PROGRAM_TIMER)
				continue;
			if (is_raised(program, catalog, type))
				return PROGRAM_NONE;
			if (unraised == PROGRAM_NONE)
				unraised = type;
		}
	}
	return unraised;
}

static bool sees_anything(const struct program *program, struct event_catalog *catalog)
{
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct event_type *known =
			event_catalog_find(catalog, program_text(program, program->types[i].name));

		if (known && (known->hook_count || known->sensor))
			return true;
	}
	return false;
}

/* What the rule waits for in vain, or NONE. */
static uint32_t unraised(const struct program *program, struct event_catalog *catalog, const struct program_rule *rule)
{
	return rule->semantics == PROGRAM_MACHINE ? unraised_transition(program, catalog, rule)
						  : unraised_element(program, catalog, rule);
}

static void report_raised(const struct program *program, const struct program_rule *rule, uint32_t type,
			  enum asterism_severity severity, struct asterism_diag *diag)
{
	diag_add(diag, severity, NULL, NULL,
		 "%s %s waits for %s, which is only declared: the kernel does not raise it, and no rule or machine "
		 "emits it",
		 program_sort(rule), program_text(program, rule->name),
		 program_text(program, program->types[type].name));
}

void session_warn_unraised(const struct program *program, struct event_catalog *catalog, struct asterism_diag *diag)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		uint32_t type = unraised(program, catalog, &program->rules[i]);

		if (type != PROGRAM_NONE)
			report_raised(program, &program->rules[i], type, ASTERISM_WARNING, diag);
	}
}

int session_check_raised(const struct program *program, struct event_catalog *catalog, uint32_t index,
			 struct asterism_diag *diag)
{
	const struct program_rule *rule = &program->rules[index];
	uint32_t type = unraised(program, catalog, rule);
	bool warns;

	if (type == PROGRAM_NONE)
		return 0;
	/* Beside others a machine that is for traces, such as one of the library's, ends no session. */
	warns = rule->semantics == PROGRAM_MACHINE && sees_anything(program, catalog);
	report_raised(program, rule, type, warns ? ASTERISM_WARNING : ASTERISM_ERROR, diag);
	return warns ? 0 : -EINVAL;
}
