// SPDX-License-Identifier: BSD-2-Clause
/* Checks a state machine's key: which fields of which event carry it, and of what kind the keys are. */

#include "lang/check/machine-priv.h"

#include <stdio.h>
#include <string.h>

/* Where a key's kind comes from. */
struct source {
	const struct event_type *type;
	const struct event_field *field;
};

static const char *sort_of_field(const struct event_field *field)
{
	enum lang_kind kind = lang_kind_of(field->value);

	return lang_kind_name(kind == LANG_U64 ? LANG_I64 : kind);
}

/* The field as a key: of the sort that the key has elsewhere. */
static bool take_field(struct lang_check *c, struct source *source, uint32_t index, const struct source *found,
		       const struct diag_location *location)
{
	struct lang_key *key = &c->scope->machine->keys[index];
	enum lang_kind kind = lang_kind_of(found->field->value);

	if (kind == LANG_F64) {
		lang_error(c->report, location, "keys are integers, strings, or true or false",
			   "'%s' is a real number and cannot be a key", found->field->name);
		return false;
	}
	if (source->field && strcmp(sort_of_field(source->field), sort_of_field(found->field)) != 0) {
		lang_error(c->report, location, NULL, "the key '%s' is %s in '%s' but %s in '%s'", key->name,
			   sort_of_field(source->field), source->type->name, sort_of_field(found->field),
			   found->type->name);
		return false;
	}
	if (!source->field)
		*source = *found;
	if (!key->kind || kind == LANG_U64)
		key->kind = kind;
	if (!key->meaning)
		key->meaning = found->field->meaning;
	if (kind == LANG_STRING && found->field->bytes > key->bytes)
		key->bytes = (found->field->bytes + 7) / 8 * 8;
	return true;
}

const char *lang_key_list(struct lang_check *c)
{
	const struct lang_machine *machine = c->scope->machine;
	const char *list = "";

	for (uint32_t i = 0; i < machine->key_count && list; i++)
		list = arena_format(c->scratch, "%s%s%s", list, i ? ", " : "", machine->keys[i].name);
	if (!list)
		lang_no_memory(c->report);
	return list ? list : "";
}

/* Without BY: the fields called like the keys. */
static bool take_named(struct lang_check *c, struct source *sources, const struct lang_syntax_transition *syntax,
		       struct lang_transition *transition)
{
	const struct lang_machine *machine = c->scope->machine;
	bool fine = true;

	for (uint32_t i = 0; i < machine->key_count; i++) {
		struct source found = { transition->type,
					lang_event_field(c, transition->type, machine->keys[i].name) };

		if (!found.field) {
			lang_error(c->report, &syntax->type.location,
				   lang_hint(c->report, "name the fields of the key { %s } with BY", lang_key_list(c)),
				   "event '%s' has no field '%s', which is a key", transition->type->name,
				   machine->keys[i].name);
			return false;
		}
		transition->by[i] = found.field;
		fine &= take_field(c, &sources[i], i, &found, &syntax->type.location);
	}
	return fine;
}

/* BY or COPY BY as written, into fields. */
static bool take_list(struct lang_check *c, struct source *sources, const struct lang_syntax_by_list *list,
		      const struct event_type *type, const struct event_field **fields)
{
	const struct lang_machine *machine = c->scope->machine;
	bool fine = true;
	uint32_t i = 0;

	if (!machine->key_count) {
		lang_error(c->report, &list->location,
			   "leave BY out: the machine has one instance, and every event is for it",
			   "BY names %u field%s, but the machine has no key", list->count, list->count == 1 ? "" : "s");
		return false;
	}
	if (list->count != machine->key_count) {
		lang_error(c->report, &list->location,
			   lang_hint(c->report, "in the order of KEY { %s }", lang_key_list(c)),
			   "BY names %u field%s, but the machine has %u key%s", list->count,
			   list->count == 1 ? "" : "s", machine->key_count, machine->key_count == 1 ? "" : "s");
		return false;
	}
	for (const struct lang_syntax_by *at = list->first; at; at = at->next, i++) {
		if (at->is_any)
			continue;
		if (at->name.text && !lang_is_event_name(c, &at->name)) {
			fine = false;
			continue;
		}
		fields[i] = lang_find_field(c, type, &at->field);
		struct source found = { type, fields[i] };

		fine = fields[i] && take_field(c, &sources[i], i, &found, &at->location) && fine;
	}
	return fine;
}

static const struct lang_syntax_by *find_any(const struct lang_syntax_by_list *list)
{
	const struct lang_syntax_by *at = list->first;

	while (at && !at->is_any)
		at = at->next;
	return at;
}

/* What `*` demands of the transition around it. */
static void check_any(struct lang_check *c, const struct lang_syntax_transition *syntax)
{
	const struct lang_syntax_by *any = find_any(&syntax->by);
	uint32_t count = 0;

	for (const struct lang_syntax_by *at = syntax->by.first; at; at = at->next)
		count += at->is_any;
	if (count == syntax->by.count)
		lang_error(c->report, &syntax->by.location, "at least one field must not be '*'", "BY names no field");
	if (syntax->state != LANG_OUTSIDE)
		lang_error(c->report, &any->location, "write the transition after the states",
			   "'*' ends instances of every state, so it cannot be inside one");
	if (syntax->target != LANG_TO_END)
		lang_error(c->report, syntax->target_state.text ? &syntax->target_state.location : &syntax->location,
			   "write '-> END'", "a transition with '*' ends its instances");
	if (syntax->block.count > 0)
		lang_error(c->report, &syntax->block.location, NULL, "a transition with '*' has no actions");
	if (syntax->copy_by.location.line)
		lang_error(c->report, &syntax->copy_by.location, NULL, "a transition with '*' copies nothing");
}

static void check_copied_key(struct lang_check *c, struct source *sources, const struct lang_syntax_transition *syntax,
			     struct lang_transition *transition)
{
	const struct lang_syntax_by *any = find_any(&syntax->copy_by);

	if (any)
		lang_error(c->report, &any->location, NULL, "'*' cannot be the key of a copy");
	if (syntax->target == LANG_TO_END)
		lang_error(c->report, &syntax->target_state.location, NULL, "a copy must not end at the same event");
	transition->copy_by = lang_keep(c, c->scope->machine->key_count, sizeof *transition->copy_by);
	if (transition->copy_by)
		c->scope->lost |= !take_list(c, sources, &syntax->copy_by, transition->type, transition->copy_by);
}

static void check_key_fields(struct lang_check *c, struct source *sources, const struct lang_syntax_transition *syntax,
			     struct lang_transition *transition)
{
	bool fine;

	c->scope->type = transition->type;
	c->scope->event = syntax->name.text;
	c->scope->location = NULL;
	transition->by = lang_keep(c, c->scope->machine->key_count, sizeof *transition->by);
	if (!transition->by)
		return;
	transition->is_any = find_any(&syntax->by) != NULL;
	if (transition->is_any)
		check_any(c, syntax);
	if (syntax->by.location.line)
		fine = take_list(c, sources, &syntax->by, transition->type, transition->by);
	else
		fine = take_named(c, sources, syntax, transition);
	c->scope->lost |= !fine;
	if (syntax->copy_by.location.line)
		check_copied_key(c, sources, syntax, transition);
}

/* An event concerns one instance, or those that one BY finds, wherever it is named. */
static void check_alike(struct lang_check *c, struct lang_names *types, uint32_t index)
{
	const struct lang_machine *machine = c->scope->machine;
	const struct lang_transition *transition = &machine->transitions[index];
	uint32_t other = lang_names_add(types, transition->type->name, index);

	for (uint32_t i = 0; i < machine->key_count && other != LANG_NO_NAME; i++) {
		if (transition->by[i] == machine->transitions[other].by[i])
			continue;
		lang_error(c->report, &transition->location,
			   "an event must find its instance by the same fields in every state",
			   "'%s' has another key elsewhere in the machine", transition->type->name);
		lang_note(c->report, &machine->transitions[other].location, "here");
		return;
	}
}

void lang_check_keys(struct lang_check *c)
{
	const struct lang_syntax_machine *syntax = c->scope->syntax;
	struct lang_machine *machine = c->scope->machine;
	struct source *sources = arena_zero(c->scratch, machine->key_count, sizeof *sources);
	struct lang_names *types = lang_names_new(c->scratch, syntax->transition_count);
	uint32_t index = 0;

	if (!sources || !types) {
		lang_no_memory(c->report);
		return;
	}
	for (const struct lang_syntax_transition *at = syntax->transitions; at; at = at->next, index++) {
		struct lang_transition *transition = &machine->transitions[index];
		bool lost = c->scope->lost;

		if (!at->type.text)
			continue;
		transition->type = lang_find_type(c, &at->type, at->name.text);
		c->scope->lost = false;
		if (transition->type)
			check_key_fields(c, sources, at, transition);
		if (transition->type && transition->by && !c->scope->lost)
			check_alike(c, types, index);
		c->scope->lost |= lost;
	}
}
