// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks up the number that a name stands for beside a value with a meaning: the family's. An event's name, what a
 * machine calls its own, and a header field that may stand alone, come before it.
 */

#include "base/alloc.h"
#include "event/about.h"
#include "lang/check/constants-priv.h"

#include "lang/check/machine-priv.h"
#include "meaning/meaning.h"

#include <string.h>

static bool is_constant_name(const struct lang_syntax_expr *syntax)
{
	return syntax->syntax == LANG_SYNTAX_REFERENCE && !syntax->reference->first.text &&
	       !syntax->reference->brackets;
}

/* What a machine calls its own, or a field of the event at hand. */
static bool is_machine_value(struct lang_check *c, const char *name)
{
	const struct event_type *type = c->scope->type;

	return lang_names_find(c->scope->locals, name) != LANG_NO_NAME ||
	       (type && (event_field_find(type, name) || event_about_may_ask(type, name)));
}

bool lang_is_header(const struct lang_check *c, const struct lang_syntax_reference *reference)
{
	const char *name = reference->name.text;

	if (c->context != LANG_IN_EXCEPTION || reference->first.text || reference->brackets ||
	    lang_names_find(c->names, name) != LANG_NO_NAME)
		return false;
	const struct event_field *header = event_header_find(name);

	return header ? header->value != EVENT_TIME : event_about_find(name) != NULL;
}

static bool is_bit_operator(enum lang_op op)
{
	return op == LANG_AND || op == LANG_OR || op == LANG_XOR;
}

/* How many names syntax has; -1: it is more than names and integers. */
static int count_names(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	int left, right;

	switch (syntax->syntax) {
	case LANG_SYNTAX_CONST:
		return syntax->kind == LANG_I64 || syntax->kind == LANG_U64 ? 0 : -1;
	case LANG_SYNTAX_REFERENCE:
		return is_constant_name(syntax) && !(c->scope && is_machine_value(c, syntax->reference->name.text)) &&
				       !lang_is_header(c, syntax->reference)
			       ? 1
			       : -1;
	case LANG_SYNTAX_MINUS:
		return count_names(c, syntax->left);
	case LANG_SYNTAX_BINARY:
		left = is_bit_operator(syntax->op) ? count_names(c, syntax->left) : -1;
		right = left >= 0 ? count_names(c, syntax->right) : -1;
		return right >= 0 ? left + right : -1;
	default:
		return -1;
	}
}

bool lang_is_constant(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	return count_names(c, syntax) > 0;
}

/* An event's name is no value, so that it was meant as a constant is only likely. */
static bool is_event(struct lang_check *c, const struct lang_word *word, const struct meaning *meaning)
{
	int64_t number;

	if (c->scope || lang_names_find(c->names, word->text) == LANG_NO_NAME)
		return false;
	if (meaning_constant(meaning, word->text, &number))
		lang_warn(c->report, &word->location, "give the event another name",
			  "'%s' is an event here, not the constant of '%s'", word->text, meaning->text);
	lang_error(c->report, &word->location, lang_hint(c->report, "a field is written '%s.field'", word->text),
		   "'%s' is an event, not a value", word->text);
	return true;
}

static struct lang_expr *new_constant(struct lang_check *c, const struct diag_location *location, uint64_t number,
				      const struct meaning *meaning)
{
	struct lang_expr *expr = lang_new_expr(c, LANG_CONST, LANG_I64, location);

	if (expr) {
		expr->integer = number;
		expr->meaning = meaning;
	}
	return expr;
}

/* The number of a name that stands for the same one in all families that have it; NULL: it has none, or several. */
static struct lang_expr *of_any_family(struct lang_check *c, const struct lang_word *word)
{
	const struct meaning *meaning, *first = NULL;
	int64_t number, found = 0;

	for (size_t i = 0; (meaning = meaning_get(i)); i++) {
		if (meaning_is_of_host(meaning) || !meaning_constant(meaning, word->text, &number))
			continue;
		if (first && number != found)
			return NULL;
		first = meaning;
		found = number;
	}
	return first ? new_constant(c, &word->location, (uint64_t)found, NULL) : NULL;
}

struct lang_expr *lang_no_constant(struct lang_check *c, const struct lang_syntax_reference *reference,
				   const char *meant)
{
	const struct lang_word *word = &reference->name;
	const char *hint = reference->hint;
	struct lang_expr *any = reference->is_set ? of_any_family(c, word) : NULL;

	if (reference->is_set) {
		if (!any)
			lang_error(c->report, &word->location, "give its number",
				   "'%s' is not a constant, or the name of several in different families", word->text);
		return any;
	}
	if (!hint)
		hint = meant;
	if (!hint)
		hint = "write a field as 'a.field', where a is the name of an event; write a string in double quotes";
	if (!is_event(c, word, NULL))
		lang_error(c->report, &word->location, hint, "unknown name '%s'", word->text);
	return NULL;
}

static bool find_number_constant(struct lang_check *c, const struct lang_syntax_reference *reference,
				 const struct meaning *meaning, int64_t *number)
{
	const struct lang_word *word = &reference->name;
	char nearest[MEANING_NAME_BYTES];
	const char *hint = reference->hint;

	if (meaning_constant(meaning, word->text, number)) {
		if (meaning_is_of_host(meaning) && *number != 0 && !c->host_name)
			c->host_name = arena_text(c->arena, word->text, strlen(word->text));
		return true;
	}
	if (meaning_nearest_constant(meaning, word->text, nearest))
		hint = lang_hint(c->report, "did you mean '%s'?", nearest);
	else if (meaning_is_of_host(meaning))
		hint = "names of users and groups are looked up on this host";
	lang_error(c->report, &word->location, hint, "no constant of '%s' is named '%s'", meaning->text, word->text);
	return false;
}

static bool find_constant_name(struct lang_check *c, const struct lang_syntax_reference *reference,
			       const struct meaning *meaning, int64_t *number)
{
	return !is_event(c, &reference->name, meaning) && find_number_constant(c, reference, meaning, number);
}

static bool evaluate_constant(struct lang_check *c, const struct lang_syntax_expr *syntax,
			      const struct meaning *meaning, uint64_t *number)
{
	uint64_t left = 0, right = 0;
	int64_t named;

	switch (syntax->syntax) {
	case LANG_SYNTAX_CONST:
		*number = syntax->integer;
		return true;
	case LANG_SYNTAX_REFERENCE:
		if (!find_constant_name(c, syntax->reference, meaning, &named))
			return false;
		*number = (uint64_t)named;
		return true;
	case LANG_SYNTAX_MINUS:
		if (!evaluate_constant(c, syntax->left, meaning, &left))
			return false;
		*number = -left;
		return true;
	default:
		if (!evaluate_constant(c, syntax->left, meaning, &left) ||
		    !evaluate_constant(c, syntax->right, meaning, &right))
			return false;
		*number = syntax->op == LANG_AND ? left & right : syntax->op == LANG_OR ? left | right : left ^ right;
		return true;
	}
}

/* Of what calls give back, errors are the negative ones. */
static void warn_of_sign(struct lang_check *c, const struct lang_syntax_expr *syntax, const struct meaning *meaning,
			 uint64_t number)
{
	if (meaning->form == MEANING_RESULT && is_constant_name(syntax) && (int64_t)number > 0)
		lang_warn(c->report, &syntax->location, lang_hint(c->report, "write -%s", syntax->reference->name.text),
			  "a result is an error if it is negative");
}

struct lang_expr *lang_check_constant(struct lang_check *c, const struct lang_syntax_expr *syntax,
				      const struct lang_expr *other)
{
	uint64_t number = 0;

	if (!other || !evaluate_constant(c, syntax, other->meaning, &number))
		return NULL;
	warn_of_sign(c, syntax, other->meaning, number);
	return new_constant(c, &syntax->location, number, other->meaning);
}

struct lang_expr *lang_check_quoted(struct lang_check *c, struct lang_expr *text, const struct lang_expr *other)
{
	if (!other || !text || text->op != LANG_CONST || text->kind != LANG_STRING ||
	    !meaning_is_of_host(other->meaning))
		return text;
	const struct lang_syntax_reference quoted = { .name = { .text = text->text, .location = text->location } };
	int64_t number;

	if (!find_number_constant(c, &quoted, other->meaning, &number))
		return NULL;
	return new_constant(c, &text->location, (uint64_t)number, other->meaning);
}

void lang_warn_of_hidden(struct lang_check *c, const struct lang_syntax_expr *syntax, const struct lang_expr *other)
{
	int64_t number;

	if (!c->scope || !is_constant_name(syntax) || !is_machine_value(c, syntax->reference->name.text) ||
	    !meaning_constant(other->meaning, syntax->reference->name.text, &number))
		return;
	lang_warn(c->report, &syntax->location, "rename the value or the event",
		  "'%s' is a value of the machine or the event here, not the constant of '%s'",
		  syntax->reference->name.text, other->meaning->text);
}
