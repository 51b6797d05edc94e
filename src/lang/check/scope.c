// SPDX-License-Identifier: BSD-2-Clause
/* Resolves a name in a state machine: a variable, a key, or a field of the event at hand. */

#include "lang/check/machine-priv.h"

#include <string.h>

const struct event_type lang_no_event = { .name = "header" };

/* Words that mean something else where the name of a value could stand. */
static const char *const reserved[] = { "AND",         "OR",           "NOT",   "IN",     "LIKE",
					"AS",          "TRUE",         "FALSE", "RULE",   "MACHINE",
					"SYNCHRONOUS", "ASYNCHRONOUS", "EVENT", "EVENTS", "PARAM",
					"STATE",       "ENTRY",        "EXIT",  "ON" };

static void add_local(struct lang_check *c, const struct lang_word *word, uint32_t number)
{
	uint32_t other = lang_names_add(c->scope->locals, word->text, number);
	const struct lang_machine *machine = c->scope->machine;

	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		if (lang_word_is(word->text, strlen(word->text), reserved[i]))
			lang_error(c->report, &word->location, NULL, "'%s' is a keyword and cannot name a value",
				   word->text);
	}
	if (other == LANG_NO_NAME)
		return;
	bool is_key = other < LANG_FIRST_VARIABLE;
	const char *what = number < LANG_FIRST_VARIABLE ? "two keys are"
			   : is_key                     ? "a key and a variable are"
							: "two variables are";

	lang_error(c->report, &word->location, NULL, "%s named '%s'", what, word->text);
	lang_note(c->report,
		  is_key ? &machine->keys[other].location : &machine->variables[other - LANG_FIRST_VARIABLE].location,
		  "the other one is here");
}

static void check_initial(struct lang_check *c, const struct lang_syntax_variable *syntax,
			  struct lang_variable *variable)
{
	struct event_field field = { .name = variable->name, .value = variable->type };

	if (!syntax->initial || !variable->type)
		return;
	variable->initial = lang_check_value(c, syntax->initial);
	if (variable->initial)
		variable->initial = lang_type_assign(c, variable->initial, &field);
}

bool lang_check_locals(struct lang_check *c)
{
	const struct lang_syntax_machine *syntax = c->scope->syntax;
	struct lang_machine *machine = c->scope->machine;

	c->scope->locals = lang_names_new(c->scratch, syntax->key_count + syntax->variable_count);
	machine->keys = lang_keep(c, syntax->key_count, sizeof *machine->keys);
	machine->variables = lang_keep(c, syntax->variable_count, sizeof *machine->variables);
	if (!c->scope->locals || !machine->keys || !machine->variables) {
		lang_no_memory(c->report);
		return false;
	}
	if (syntax->key_count > LANG_KEYS_MAX || syntax->variable_count > LANG_VARIABLES_MAX)
		return false;
	for (const struct lang_syntax_key *at = syntax->keys; at; at = at->next) {
		machine->keys[machine->key_count] =
			(struct lang_key){ .name = at->name.text, .location = at->name.location };
		add_local(c, &at->name, machine->key_count++);
	}
	for (const struct lang_syntax_variable *at = syntax->variables; at; at = at->next) {
		struct lang_variable *variable = &machine->variables[machine->variable_count];

		*variable = (struct lang_variable){
			.name = at->name.text,
			.location = at->name.location,
			.type = at->type,
			.kind = at->type ? lang_kind_of(at->type) : 0,
			.bytes = at->bytes,
			.meaning = at->meaning,
		};
		add_local(c, &at->name, LANG_FIRST_VARIABLE + machine->variable_count++);
		check_initial(c, at, variable);
	}
	return true;
}

uint32_t lang_find_variable(struct lang_check *c, const struct lang_word *word)
{
	uint32_t number = lang_names_find(c->scope->locals, word->text);
	const struct lang_machine *machine = c->scope->machine;

	if (number != LANG_NO_NAME && number >= LANG_FIRST_VARIABLE)
		return number - LANG_FIRST_VARIABLE;
	const char *names[LANG_VARIABLES_MAX] = { NULL };

	for (uint32_t i = 0; i < machine->variable_count; i++)
		names[i] = machine->variables[i].name;
	const char *hint =
		lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, machine->variable_count));
	const struct event_type *type = c->scope->type;

	if (number != LANG_NO_NAME)
		lang_error(c->report, &word->location, "keys identify the instance",
			   "'%s' is a key and cannot be assigned", word->text);
	else if (type && event_field_find(type, word->text))
		lang_error(c->report, &word->location, hint, "'%s' is a field of the event and cannot be assigned",
			   word->text);
	else
		lang_error(c->report, &word->location,
			   hint ? hint : lang_hint(c->report, "variables are declared: 'VAR %s: u64'", word->text),
			   "no variable is named '%s'", word->text);
	return LANG_NO_NAME;
}
