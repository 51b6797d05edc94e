// SPDX-License-Identifier: BSD-2-Clause
/* Decides what a name in a state machine stands for: a variable, a key, or a field of the event at hand. */

#include "lang/check/machine-priv.h"

#include <string.h>

enum { FIRST_VARIABLE = LANG_KEYS_MAX + 1 };

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
			lang_error(c->report, &word->place, NULL, "'%s' is a keyword and cannot name a value",
				   word->text);
	}
	if (other == LANG_NO_NAME)
		return;
	bool is_key = other < FIRST_VARIABLE;
	const char *what = number < FIRST_VARIABLE ? "two keys are"
			   : is_key                ? "a key and a variable are"
						   : "two variables are";

	lang_error(c->report, &word->place, NULL, "%s named '%s'", what, word->text);
	lang_note(c->report, is_key ? &machine->keys[other].place : &machine->variables[other - FIRST_VARIABLE].place,
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
		machine->keys[machine->key_count] = (struct lang_key){ .name = at->name.text, .place = at->name.place };
		add_local(c, &at->name, machine->key_count++);
	}
	for (const struct lang_syntax_variable *at = syntax->variables; at; at = at->next) {
		struct lang_variable *variable = &machine->variables[machine->variable_count];

		*variable = (struct lang_variable){
			.name = at->name.text,
			.place = at->name.place,
			.type = at->type,
			.kind = at->type ? lang_kind_of(at->type) : 0,
			.bytes = at->bytes,
		};
		add_local(c, &at->name, FIRST_VARIABLE + machine->variable_count++);
		check_initial(c, at, variable);
	}
	return true;
}

bool lang_is_event_name(struct lang_check *c, const struct lang_word *word)
{
	const char *event = c->scope->event;
	const char *hint = NULL;

	if (event && strcmp(event, word->text) == 0)
		return true;
	if (event)
		hint = lang_hint(c->report, "the event is named '%s' here", event);
	else if (c->scope->place)
		hint = lang_hint(c->report,
				 "%s see variables, keys and ts cpu pid tid comm, without a name before them",
				 c->scope->place);
	else if (c->scope->type)
		hint = lang_hint(c->report, "give the event a name: 'ON %s:%s'", c->scope->type->name, word->text);
	lang_error(c->report, &word->place, hint, "no event is named '%s' here", word->text);
	return false;
}

static struct lang_expr *refer(struct lang_check *c, const struct lang_syntax_expr *syntax, enum lang_op op,
			       uint32_t element, enum lang_kind kind)
{
	struct lang_expr *expr = kind ? lang_new_expr(c, op, kind, &syntax->place) : NULL;

	if (expr)
		expr->element = element;
	return expr;
}

static struct lang_expr *field_of(struct lang_check *c, const struct lang_syntax_expr *syntax,
				  const struct event_field *field)
{
	struct lang_expr *expr = field ? refer(c, syntax, LANG_FIELD, UINT32_MAX, lang_kind_of(field->value)) : NULL;

	if (expr)
		expr->field = field;
	return expr;
}

static void no_name(struct lang_check *c, const struct lang_word *word)
{
	const struct lang_machine *machine = c->scope->machine;
	const struct event_type *type = c->scope->type;
	size_t count = 0, room = machine->key_count + machine->variable_count + c->unit->parameter_count +
				 type->field_count + EVENT_HEADER_FIELDS;
	const char **names = arena_zero(c->scratch, room, sizeof *names);

	if (!names) {
		lang_no_memory(c->report);
		return;
	}
	for (uint32_t i = 0; i < machine->variable_count; i++)
		names[count++] = machine->variables[i].name;
	for (uint32_t i = 0; i < machine->key_count; i++)
		names[count++] = machine->keys[i].name;
	for (uint32_t i = 0; i < c->unit->parameter_count; i++) {
		if (c->unit->parameters[i].place.source == word->place.source)
			names[count++] = c->unit->parameters[i].name;
	}
	for (uint32_t i = 0; i < type->field_count; i++)
		names[count++] = type->fields[i].name;
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	const char *hint = lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, count));

	if (!hint && c->scope->place)
		hint = lang_hint(c->report, "%s see variables, keys and ts cpu pid tid comm", c->scope->place);
	lang_error(c->report, &word->place, hint, "no variable, key, parameter or field is named '%s' here",
		   word->text);
}

static struct lang_expr *check_bare(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	const struct lang_word *word = &syntax->reference->name;
	uint32_t number = lang_names_find(c->scope->locals, word->text);
	const struct lang_machine *machine = c->scope->machine;

	if (number != LANG_NO_NAME && c->scope->event_only) {
		lang_error(c->report, &word->place, "a field of the event is meant with the event's name before it",
			   "beside '*', WHERE may look at the event alone, and '%s' is a %s", word->text,
			   number < FIRST_VARIABLE ? "key" : "variable");
		return NULL;
	}
	if (number < FIRST_VARIABLE)
		return refer(c, syntax, LANG_KEY, number, machine->keys[number].kind);
	if (number != LANG_NO_NAME)
		return refer(c, syntax, LANG_VARIABLE, number - FIRST_VARIABLE,
			     machine->variables[number - FIRST_VARIABLE].kind);
	if (!c->scope->type)
		return NULL;
	const struct event_field *field = event_field_find(c->scope->type, word->text);

	if (!field)
		no_name(c, word);
	return field_of(c, syntax, field);
}

struct lang_expr *lang_check_machine_name(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	const struct lang_syntax_reference *reference = syntax->reference;

	if (reference->brackets || reference->second.text) {
		lang_error(c->report, &reference->name.place, "a field is written 'field' or 'event.field'",
			   "a machine has no arrays");
		return NULL;
	}
	if (!reference->first.text)
		return check_bare(c, syntax);
	if (!lang_is_event_name(c, &reference->name) || !c->scope->type)
		return NULL;
	return field_of(c, syntax, lang_find_field(c, c->scope->type, &reference->first));
}

uint32_t lang_find_variable(struct lang_check *c, const struct lang_word *word)
{
	uint32_t number = lang_names_find(c->scope->locals, word->text);
	const struct lang_machine *machine = c->scope->machine;

	if (number != LANG_NO_NAME && number >= FIRST_VARIABLE)
		return number - FIRST_VARIABLE;
	const char *names[LANG_VARIABLES_MAX] = { NULL };

	for (uint32_t i = 0; i < machine->variable_count; i++)
		names[i] = machine->variables[i].name;
	const char *hint =
		lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, machine->variable_count));
	const struct event_type *type = c->scope->type;

	if (number != LANG_NO_NAME)
		lang_error(c->report, &word->place, "keys say which instance it is",
			   "'%s' is a key and cannot be assigned", word->text);
	else if (type && event_field_find(type, word->text))
		lang_error(c->report, &word->place, hint, "'%s' is a field of the event and cannot be assigned",
			   word->text);
	else
		lang_error(c->report, &word->place,
			   hint ? hint : lang_hint(c->report, "variables are declared: 'VAR %s: u64'", word->text),
			   "no variable is named '%s'", word->text);
	return LANG_NO_NAME;
}
