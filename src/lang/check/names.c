// SPDX-License-Identifier: BSD-2-Clause
/* Resolves names: event types, fields, elements of the pattern, array functions. */

#include "event/about.h"
#include "event/installed.h"
#include "lang/check/check-priv.h"
#include "lang/check/constants-priv.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * A shipped catalog that has the type; the type that stands where the event's name belongs, as in sched:sched_switch;
 * the events of a system call; else the type of the nearest name.
 */
static const char *what_is_meant(struct lang_check *c, const char *name, const char *label)
{
	const char *catalog = event_installed_with(name), *nearest;
	const char *enter = arena_format(c->scratch, "sys_enter_%s", name);

	if (catalog)
		return lang_hint(c->report, "EVENTS \"%s\" above the rules declares it", catalog);
	if (label && event_catalog_find(c->catalog, label))
		return lang_hint(c->report, "event types are written without the system of their tracepoint: '%s'",
				 label);
	if (enter && event_catalog_find(c->catalog, enter))
		return lang_hint(c->report, "a system call has two: '%s' where it begins, 'sys_exit_%s' where it ends",
				 enter, name);
	nearest = lang_did_you_mean(c->report, name, event_catalog_nearest(c->catalog, name));
	return nearest ? nearest : "'asterism events' lists all event types";
}

const struct event_type *lang_find_type(struct lang_check *c, const struct lang_word *word, const char *label)
{
	const struct event_type *type = event_catalog_find(c->catalog, word->text);

	if (type && event_about_reserve(c->catalog, type))
		lang_no_memory(c->report);
	if (type || lang_report_full(c->report) || c->catalog_failed)
		return type;
	if (lang_names_find(c->broken_types, word->text) == LANG_NO_NAME)
		lang_error(c->report, &word->location, what_is_meant(c, word->text, label), "unknown event type '%s'",
			   word->text);
	return NULL;
}

/* Whether this missing name was not told of yet. When the memory of names is full every one counts as new. */
__attribute__((format(printf, 2, 3))) static bool is_new(struct lang_check *c, const char *format, ...)
{
	char name[256];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof name, format, args);
	va_end(args);
	const char *copy = arena_text(c->scratch, name, strlen(name));

	return copy && lang_names_add(c->reported, copy, 0) == LANG_NO_NAME;
}

/* What an event that has no such field might have been asked for, with its hint. */
static const char *near_field(struct lang_check *c, const struct event_type *type, const char *wanted)
{
	const char *names[EVENT_FIELDS_MAX + EVENT_HEADER_FIELDS + EVENT_ABOUT_FIELDS + EVENT_SOCKADDR_SHOWN];
	const struct event_about *address = event_sockaddr_fields(type->name);
	size_t count = 0;

	for (uint32_t i = 0; i < type->field_count && i < EVENT_FIELDS_MAX; i++)
		names[count++] = type->fields[i].name;
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	for (uint32_t i = 0; i < EVENT_ABOUT_FIELDS && type->hook_count; i++)
		names[count++] = event_abouts[i].name;
	for (uint32_t i = 0; address && i < EVENT_SOCKADDR_SHOWN; i++)
		names[count++] = address[i].name;
	return lang_did_you_mean(c->report, wanted, diag_nearest(wanted, names, count));
}

/* Of an event of the pattern: another one that has what this one lacks. */
static const char *other_with_field(struct lang_check *c, const struct event_type *type, const char *wanted)
{
	const char *other = NULL;
	bool is_of_pattern = false;

	for (uint32_t i = 0; !c->scope && i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		is_of_pattern |= element->type == type;
		if (!other && element->type && element->name && event_field_find(element->type, wanted))
			other = element->name;
	}
	return is_of_pattern && other ? lang_hint(c->report, "write '%s.%s'", other, wanted) : NULL;
}

/* Whose path or peer was meant: that of the event's descriptor. */
static const char *part_of_descriptor(struct lang_check *c, const struct event_type *type, const char *wanted)
{
	if (!type->hook_count || (strcmp(wanted, "path") && strcmp(wanted, "peer")))
		return NULL;
	for (uint32_t i = 0; i < type->own_count; i++) {
		const struct event_field *field = &type->fields[i];

		if (field->meaning && field->meaning->form == MEANING_DESCRIPTOR)
			return lang_hint(c->report, "write '%s.%s' for the %s", field->name, wanted,
					 strcmp(wanted, "path") ? "other end of its socket" : "file of its descriptor");
	}
	return NULL;
}

static const char *list_fields(struct lang_check *c, const struct event_type *type)
{
	enum { SHOWN = 12 };
	const struct event_about *address = event_sockaddr_fields(type->name);
	const char *list = "";

	for (uint32_t i = 0; i < type->field_count && i < SHOWN && list; i++)
		list = arena_format(c->scratch, "%s %s", list, type->fields[i].name);
	for (uint32_t i = 0; address && i < EVENT_SOCKADDR_SHOWN && list; i++)
		list = arena_format(c->scratch, "%s %s", list, address[i].name);
	if (!list || !*list)
		return "it has ts cpu pid tid comm, and no fields of its own";
	return lang_hint(c->report, "it has%s%s, and ts cpu pid tid comm", list,
			 type->field_count > SHOWN ? " ..." : "");
}

/* What to write instead of a field that events of type do not have. */
static const char *hint_for_field(struct lang_check *c, const struct event_type *type, const char *wanted)
{
	const char *hint = other_with_field(c, type, wanted);

	if (!hint)
		hint = part_of_descriptor(c, type, wanted);
	if (!hint)
		hint = near_field(c, type, wanted);
	return hint ? hint : list_fields(c, type);
}

const struct event_field *lang_event_field(struct lang_check *c, const struct event_type *type, const char *name)
{
	const struct event_field *field;

	if (event_about_ask(c->catalog, type, name, &field) == -ENOMEM)
		lang_no_memory(c->report);
	return field;
}

const struct event_field *lang_find_field(struct lang_check *c, const struct event_type *type,
					  const struct lang_word *word)
{
	const struct event_field *field = lang_event_field(c, type, word->text);
	const char *hint, *absent;

	if (field || !is_new(c, "%s.%s", type->name, word->text))
		return field;
	absent = event_absent_find(type, word->text);
	if (absent) {
		lang_error(c->report, &word->location, absent, "'%s' of event '%s' has no counterpart on Linux",
			   word->text, type->name);
		return NULL;
	}
	if (!event_about_find(word->text) && !event_about_may_ask(type, word->text))
		hint = hint_for_field(c, type, word->text);
	else if (type->hook_count)
		hint = "the event's record has no space left for it";
	else
		hint = lang_hint(c->report, "only events of the kernel have it: declare a field in '%s'", type->name);
	lang_error(c->report, &word->location, hint, "event '%s' has no field '%s'", type->name, word->text);
	return NULL;
}

/* The names that the pattern gives: what looks like another one may be a string without its quotes. */
static const char *list_elements(struct lang_check *c)
{
	enum { SHOWN = 12 };
	const char *list = "";
	uint32_t shown = 0;

	for (uint32_t i = 0; i < c->rule->element_count && shown < SHOWN && list; i++) {
		if (!c->rule->elements[i].name)
			continue;
		list = arena_format(c->scratch, "%s %s", list, c->rule->elements[i].name);
		shown++;
	}
	if (!list || !*list)
		return "give the event a name: 'type:a'";
	return lang_hint(c->report, "its events are%s; write a string in double quotes", list);
}

/* A type's name used where the name of an event is wanted: the likeliest mistake of a newcomer. */
static const char *hint_for_name(struct lang_check *c, const struct lang_word *word)
{
	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (element->type && !element->name && strcmp(element->type->name, word->text) == 0)
			return lang_hint(c->report, "give the event a name: '%s:a'", word->text);
	}
	const char *nearest = lang_did_you_mean(c->report, word->text, lang_names_nearest(c->names, word->text));

	return nearest ? nearest : list_elements(c);
}

uint32_t lang_find_element(struct lang_check *c, const struct lang_word *word)
{
	uint32_t element = lang_names_find(c->names, word->text);

	if (element == LANG_NO_NAME && !lang_report_full(c->report) && is_new(c, "%s", word->text))
		lang_error(c->report, &word->location, hint_for_name(c, word), "no event of the pattern is named '%s'",
			   word->text);
	return element;
}

static const struct array_function {
	const char *name;
	enum lang_op op;
} functions[] = {
	{ "min", LANG_MIN }, { "max", LANG_MAX },     { "avg", LANG_AVG },
	{ "sum", LANG_SUM }, { "first", LANG_FIRST }, { "last", LANG_LAST },
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static const struct array_function *find_array_function(const struct lang_word *word)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		if (lang_word_is(word->text, strlen(word->text), functions[i].name))
			return &functions[i];
	}
	return NULL;
}

static bool is_len(const struct lang_word *word)
{
	return lang_word_is(word->text, strlen(word->text), "len");
}

static struct lang_expr *no_function(struct lang_check *c, const struct lang_word *word)
{
	const char *names[FUNCTION_COUNT + 1] = { "len" };

	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		names[i + 1] = functions[i].name;
	const char *hint =
		lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, FUNCTION_COUNT + 1));

	if (!hint)
		hint = "the array functions are len and, of a field, min max avg sum first last";
	lang_error(c->report, &word->location, hint, "'%s' is not an array function", word->text);
	return NULL;
}

static struct lang_expr *refer(struct lang_check *c, const struct lang_syntax_expr *syntax, enum lang_op op,
			       enum lang_kind kind)
{
	uint32_t element = lang_names_find(c->names, syntax->reference->name.text);
	struct lang_expr *expr = lang_new_expr(c, op, kind, &syntax->location);

	if (expr)
		expr->element = element;
	return expr;
}

/* The field, or what a function makes of it, means what the field means. */
static struct lang_expr *of_field(struct lang_expr *expr, const struct event_field *field)
{
	if (expr) {
		expr->field = field;
		expr->meaning = field->meaning;
	}
	return expr;
}

/* name.function.field */
static struct lang_expr *check_function(struct lang_check *c, const struct lang_syntax_expr *syntax,
					const struct lang_element *element)
{
	const struct array_function *function = find_array_function(&syntax->reference->first);

	if (!function && is_len(&syntax->reference->first)) {
		lang_error(c->report, &syntax->reference->second.location, "write 'name.len'", "'len' takes no field");
		return NULL;
	}
	if (!function)
		return no_function(c, &syntax->reference->first);
	const struct event_field *field = lang_find_field(c, element->type, &syntax->reference->second);

	if (!field)
		return NULL;
	enum lang_kind kind = lang_kind_of(field->value);
	bool ordered = kind != LANG_STRING && kind != LANG_BOOL;

	if (!ordered && function->op != LANG_FIRST && function->op != LANG_LAST) {
		lang_error(c->report, &syntax->reference->second.location, "first and last take any field",
			   "'%s' needs a number, but '%s' is %s", function->name, field->name, lang_kind_name(kind));
		return NULL;
	}
	return of_field(refer(c, syntax, function->op, function->op == LANG_AVG ? LANG_F64 : kind), field);
}

bool lang_is_part_of_match(struct lang_check *c, const struct lang_word *word, const struct lang_element *element)
{
	if (element->is_negated)
		lang_error(c->report, &word->location, NULL, "'%s' is negated, so no match has it", element->name);
	else if (element->group)
		lang_error(c->report, &word->location, NULL,
			   "'%s' lies inside a repeat and cannot be used outside of it", element->name);
	return !element->is_negated && !element->group;
}

static struct lang_expr *check_element_field(struct lang_check *c, const struct lang_syntax_expr *syntax,
					     const struct lang_element *element)
{
	const struct event_field *field = lang_find_field(c, element->type, &syntax->reference->first);

	if (!field)
		return NULL;
	if (element->is_array && c->context != LANG_IN_CONDITION) {
		lang_error(c->report, &syntax->location,
			   "write which: '.first.', '.last.', '.min.', '.max.', '.sum.' or '.avg.'",
			   "'%s' is an array, so '%s' has many values", element->name, field->name);
		return NULL;
	}
	return of_field(refer(c, syntax, LANG_FIELD, lang_kind_of(field->value)), field);
}

static bool is_array_form(const struct lang_syntax_expr *syntax, const struct lang_element *element)
{
	return syntax->reference->brackets || syntax->reference->second.text ||
	       (element->is_array && is_len(&syntax->reference->first));
}

/* What descriptors have. */
static bool is_path(const struct lang_word *word)
{
	return strcmp(word->text, "path") == 0 || strcmp(word->text, "peer") == 0;
}

const struct event_field *lang_find_path(struct lang_check *c, const struct event_type *type,
					 const struct lang_syntax_reference *reference)
{
	const struct lang_word *of = &reference->first, *word = &reference->second;
	const struct event_field *field = lang_find_field(c, type, of), *path = NULL;
	const char *name = field ? arena_format(c->scratch, "%s_%s", of->text, word->text) : NULL;

	if (!field || !is_path(word) || !field->meaning || field->meaning->form != MEANING_DESCRIPTOR) {
		if (field)
			lang_error(c->report, &word->location, "descriptors have '.path' and '.peer': 'name.fd.path'",
				   "'%s' has no '%s'", of->text, word->text);
		return NULL;
	}
	if (name)
		path = lang_event_field(c, type, name);
	if (!path)
		lang_error(c->report, &word->location,
			   type->hook_count ? "the event's record has no space left for it"
					    : "only events of the kernel have it",
			   "'%s' of event '%s' has no '%s'", of->text, type->name, word->text);
	return path;
}

/* The first event of the pattern that has a field of the name, as it is to be written. */
static const char *field_of_pattern(struct lang_check *c, const char *name)
{
	bool is_condition = c->context != LANG_IN_VALUE;

	for (uint32_t i = 0; !c->scope && i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (!element->type || !lang_event_field(c, element->type, name))
			continue;
		if (!element->name)
			return lang_hint(c->report, "give the event a name, '%s:a', and write 'a.%s'",
					 element->type->name, name);
		return is_condition && c->rule->element_count > 1
			       ? lang_hint(c->report, "write '%s.%s', or '[%s]' where all events agree on it",
					   element->name, name, name)
			       : lang_hint(c->report, "write '%s.%s'", element->name, name);
	}
	return NULL;
}

/* What every event that may complete the match says of who raised it; NULL after an error. */
static const struct event_field *check_about(struct lang_check *c, const struct lang_word *word)
{
	const struct event_field *first = NULL;

	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (!element->type || element->is_negated)
			continue;
		const struct event_field *field = lang_find_field(c, element->type, word);

		if (!field)
			return NULL;
		if (!first)
			first = field;
		if (field->bytes == first->bytes && lang_kind_of(field->value) == lang_kind_of(first->value))
			continue;
		lang_error(c->report, &word->location, lang_hint(c->report, "write 'name.%s' of one event", word->text),
			   "the events of the pattern differ too much in '%s'", word->text);
		return NULL;
	}
	return first;
}

struct lang_expr *lang_check_header(struct lang_check *c, const struct lang_word *word,
				    const struct diag_location *location)
{
	const struct event_field *field = event_header_find(word->text);

	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS && !field; i++)
		if (lang_word_is(word->text, strlen(word->text), event_header_fields[i].name))
			field = &event_header_fields[i];
	if (!field)
		field = check_about(c, word);
	struct lang_expr *expr = field ? lang_new_expr(c, LANG_CONTEXT, lang_kind_of(field->value), location) : NULL;

	if (expr) {
		expr->field = field;
		expr->meaning = event_field_is_header(field) ? NULL : field->meaning;
	}
	return expr;
}

struct lang_expr *lang_check_reference(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	if (!syntax->reference->first.text)
		return lang_is_header(c, syntax->reference)
			       ? lang_check_header(c, &syntax->reference->name, &syntax->location)
			       : lang_no_constant(c, syntax->reference,
						  field_of_pattern(c, syntax->reference->name.text));
	uint32_t index = lang_find_element(c, &syntax->reference->name);

	if (index == LANG_NO_NAME)
		return NULL;
	const struct lang_element *element = &c->rule->elements[index];

	if (!element->type ||
	    (c->context != LANG_IN_CONDITION && !lang_is_part_of_match(c, &syntax->reference->name, element)))
		return NULL;
	if (!is_array_form(syntax, element)) {
		if (element->is_array || !is_len(&syntax->reference->first) ||
		    lang_event_field(c, element->type, syntax->reference->first.text))
			return check_element_field(c, syntax, element);
	}
	if (!element->is_array && syntax->reference->second.text && !syntax->reference->brackets &&
	    (event_field_find(element->type, syntax->reference->first.text) || is_path(&syntax->reference->second))) {
		const struct event_field *path = lang_find_path(c, element->type, syntax->reference);

		return path ? of_field(refer(c, syntax, LANG_FIELD, lang_kind_of(path->value)), path) : NULL;
	}
	if (!element->is_array) {
		lang_error(c->report, &syntax->reference->name.location, "an array is written 'A[]:name'",
			   "'%s' is not an array, so it has no array functions", element->name);
		return NULL;
	}
	if (syntax->reference->second.text)
		return check_function(c, syntax, element);
	return is_len(&syntax->reference->first) ? refer(c, syntax, LANG_LEN, LANG_I64)
						 : no_function(c, &syntax->reference->first);
}
