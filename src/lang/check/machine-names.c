// SPDX-License-Identifier: BSD-2-Clause
/* Resolves a name in a machine's expression: a variable, or a field of the event. */

#include "lang/check/machine-priv.h"

bool lang_is_event_name(struct lang_check *c, const struct lang_word *word)
{
	const char *event = c->scope->event;
	const char *hint = NULL;

	if (event && strcmp(event, word->text) == 0)
		return true;
	if (event)
		hint = lang_hint(c->report, "the event is named '%s' here", event);
	else if (c->scope->location)
		hint = lang_hint(c->report,
				 "%s see variables, keys and ts cpu pid tid comm, without a name before them",
				 c->scope->location);
	else if (c->scope->type)
		hint = lang_hint(c->report, "give the event a name: 'ON %s:%s'", c->scope->type->name, word->text);
	lang_error(c->report, &word->location, hint, "no event is named '%s' here", word->text);
	return false;
}

static struct lang_expr *refer_in_machine(struct lang_check *c, const struct lang_syntax_expr *syntax, enum lang_op op,
					  uint32_t element, enum lang_kind kind)
{
	struct lang_expr *expr = kind ? lang_new_expr(c, op, kind, &syntax->location) : NULL;

	if (expr)
		expr->element = element;
	return expr;
}

/* A key or a variable. */
static struct lang_expr *refer_to(struct lang_check *c, const struct lang_syntax_expr *syntax, enum lang_op op,
				  uint32_t index)
{
	const struct lang_machine *machine = c->scope->machine;
	bool is_key = op == LANG_KEY;
	enum lang_kind kind = is_key ? machine->keys[index].kind : machine->variables[index].kind;
	struct lang_expr *expr = refer_in_machine(c, syntax, op, index, kind);

	if (expr)
		expr->meaning = is_key ? machine->keys[index].meaning : machine->variables[index].meaning;
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
		if (c->unit->parameters[i].location.source == word->location.source)
			names[count++] = c->unit->parameters[i].name;
	}
	for (uint32_t i = 0; i < type->field_count; i++)
		names[count++] = type->fields[i].name;
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	const char *hint = lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, count));

	if (!hint && c->scope->location)
		hint = lang_hint(c->report, "%s see variables, keys and ts cpu pid tid comm", c->scope->location);
	lang_error(c->report, &word->location, hint, "no variable, key, parameter or field is named '%s' here",
		   word->text);
}

static struct lang_expr *field_expr(struct lang_check *c, const struct lang_syntax_expr *syntax,
				    const struct event_field *field)
{
	struct lang_expr *expr =
		field ? refer_in_machine(c, syntax, LANG_FIELD, UINT32_MAX, lang_kind_of(field->value)) : NULL;

	if (expr) {
		expr->field = field;
		expr->meaning = field->meaning;
	}
	return expr;
}

static struct lang_expr *check_bare(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	const struct lang_word *word = &syntax->reference->name;
	uint32_t number = lang_names_find(c->scope->locals, word->text);

	if (number != LANG_NO_NAME && c->scope->event_only) {
		lang_error(c->report, &word->location, "write the event's name before its field",
			   "with '*', WHERE may use only the event, and '%s' is a %s", word->text,
			   number < LANG_FIRST_VARIABLE ? "key" : "variable");
		return NULL;
	}
	if (number < LANG_FIRST_VARIABLE)
		return refer_to(c, syntax, LANG_KEY, number);
	if (number != LANG_NO_NAME)
		return refer_to(c, syntax, LANG_VARIABLE, number - LANG_FIRST_VARIABLE);
	if (!c->scope->type)
		return NULL;
	const struct event_field *field = lang_event_field(c, c->scope->type, word->text);

	if (!field)
		no_name(c, word);
	return field_expr(c, syntax, field);
}

struct lang_expr *lang_check_machine_name(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	const struct lang_syntax_reference *reference = syntax->reference;

	if (reference->second.text && !reference->brackets && c->scope->type && c->scope->event &&
	    strcmp(c->scope->event, reference->name.text) == 0 &&
	    event_field_find(c->scope->type, reference->first.text))
		return field_expr(c, syntax, lang_find_path(c, c->scope->type, reference));
	if (reference->brackets || reference->second.text) {
		lang_error(c->report, &reference->name.location, "a field is written 'field' or 'event.field'",
			   "a machine has no arrays");
		return NULL;
	}
	if (!reference->first.text)
		return check_bare(c, syntax);
	if (!lang_is_event_name(c, &reference->name) || !c->scope->type)
		return NULL;
	return field_expr(c, syntax, lang_find_field(c, c->scope->type, &reference->first));
}
