// SPDX-License-Identifier: BSD-2-Clause
/* Decides what names stand for: event types, fields, elements of the pattern, array functions. */

#include "event/installed.h"
#include "lang/check/check-priv.h"
#include "lang/check/constants-priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A shipped catalog that has the type, else the type of the nearest name. */
static const char *what_is_meant(struct lang_check *c, const char *name)
{
	const char *catalog = event_installed_with(name);

	if (catalog)
		return arena_format(c->report->arena, "EVENTS \"%s\" above the rules declares it", catalog);
	return lang_did_you_mean(c->report, name, event_catalog_nearest(c->catalog, name));
}

const struct event_type *lang_find_type(struct lang_check *c, const struct lang_word *word)
{
	const struct event_type *type = event_catalog_find(c->catalog, word->text);

	if (type || lang_report_full(c->report) || c->catalog_failed)
		return type;
	if (lang_names_find(c->broken_types, word->text) == LANG_NO_NAME)
		lang_error(c->report, &word->location, what_is_meant(c, word->text), "unknown event type '%s'",
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

	return copy && lang_names_add(c->told, copy, 0) == LANG_NO_NAME;
}

const struct event_field *lang_find_field(struct lang_check *c, const struct event_type *type,
					  const struct lang_word *word)
{
	const char *names[EVENT_FIELDS_MAX + EVENT_HEADER_FIELDS];
	const struct event_field *field = event_field_find(type, word->text);
	size_t count = 0;

	if (field)
		return field;
	for (uint32_t i = 0; i < type->field_count && i < EVENT_FIELDS_MAX; i++)
		names[count++] = type->fields[i].name;
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	if (is_new(c, "%s.%s", type->name, word->text))
		lang_error(c->report, &word->location,
			   lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, count)),
			   "event '%s' has no field '%s'", type->name, word->text);
	return NULL;
}

/* A type's name used where the name of an event is wanted: the likeliest mistake of a newcomer. */
static const char *hint_for_name(struct lang_check *c, const struct lang_word *word)
{
	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (element->type && !element->name && strcmp(element->type->name, word->text) == 0)
			return lang_hint(c->report, "give the event a name: '%s:a'", word->text);
	}
	return lang_did_you_mean(c->report, word->text, lang_names_nearest(c->names, word->text));
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

static const struct array_function *find_function(const struct lang_word *word)
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
	const struct array_function *function = find_function(&syntax->reference->first);

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

static struct lang_expr *check_field(struct lang_check *c, const struct lang_syntax_expr *syntax,
				     const struct lang_element *element)
{
	const struct event_field *field = lang_find_field(c, element->type, &syntax->reference->first);

	if (!field)
		return NULL;
	if (element->is_array && c->context == LANG_IN_VALUE) {
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

struct lang_expr *lang_check_reference(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	if (!syntax->reference->first.text)
		return lang_no_constant(c, syntax->reference);
	uint32_t index = lang_find_element(c, &syntax->reference->name);

	if (index == LANG_NO_NAME)
		return NULL;
	const struct lang_element *element = &c->rule->elements[index];

	if (!element->type ||
	    (c->context == LANG_IN_VALUE && !lang_is_part_of_match(c, &syntax->reference->name, element)))
		return NULL;
	if (!is_array_form(syntax, element)) {
		if (element->is_array || !is_len(&syntax->reference->first) ||
		    event_field_find(element->type, syntax->reference->first.text))
			return check_field(c, syntax, element);
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
