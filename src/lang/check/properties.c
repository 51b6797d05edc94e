// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the texts that a rule or a machine gives to people: printable ones, so that every output can show them. And
 * what an exception may say: conditions over what a match returns, all of which hold where it applies. A rule has that
 * of its EXCEPT and those of the lines that name it; one of them is enough.
 */

#include "lang/check/check-priv.h"
#include "lang/syntax/ast-machine.h"

#include "base/text.h"

#include <string.h>

static bool is_property_shown(const char *text)
{
	while (*text && text_is_shown(text))
		text += text_character(text);
	return !*text;
}

static bool check_text(struct lang_check *c, const struct lang_word *word, const char *what)
{
	if (!*word->text)
		lang_error(c->report, &word->location, NULL, "%s is empty", what);
	else if (!is_property_shown(word->text))
		lang_error(c->report, &word->location, NULL, "%s has characters that are not shown", what);
	else
		return true;
	return false;
}

static void check_tag(struct lang_check *c, const struct lang_word *word, struct lang_properties *properties)
{
	if (!check_text(c, word, "a tag"))
		return;
	for (uint32_t i = 0; i < properties->tag_count; i++) {
		if (strcmp(properties->tags[i], word->text) == 0) {
			lang_error(c->report, &word->location, NULL, "the tag '%s' is given twice", word->text);
			return;
		}
	}
	properties->tags[properties->tag_count++] = word->text;
}

void lang_check_properties(struct lang_check *c, const struct lang_syntax_properties *syntax,
			   struct lang_properties *properties)
{
	properties->severity = syntax->severity;
	if (syntax->description.text && check_text(c, &syntax->description, "DESCRIPTION"))
		properties->description = syntax->description.text;
	if (syntax->tag_count > LANG_TAGS_MAX) {
		lang_error(c->report, &syntax->tags->word.location, NULL, "more than %d tags", LANG_TAGS_MAX);
		return;
	}
	properties->tags = lang_keep(c, syntax->tag_count, sizeof *properties->tags);
	for (const struct lang_syntax_tag *at = syntax->tags; at && properties->tags; at = at->next)
		check_tag(c, &at->word, properties);
}

static uint32_t count_conditions(const struct lang_syntax_condition *conditions)
{
	uint32_t count = 0;

	for (; conditions; conditions = conditions->next)
		count++;
	return count;
}

static void check_exception(struct lang_check *c, const struct lang_syntax_condition *conditions)
{
	uint32_t wanted = count_conditions(conditions);
	struct lang_exception exception = { .conditions = lang_keep(c, wanted, sizeof *exception.conditions) };

	for (; conditions && exception.conditions; conditions = conditions->next) {
		struct lang_expr *condition = lang_check_condition(c, conditions->expr);

		if (condition)
			exception.conditions[exception.count++] = condition;
	}
	if (wanted && exception.count == wanted)
		c->rule->properties.exceptions[c->rule->properties.exception_count++] = exception;
}

static bool is_property_meant(const struct lang_check *c, const struct lang_syntax_exception *exception)
{
	return strcmp(exception->rule.text, c->rule->name) == 0;
}

void lang_check_except(struct lang_check *c)
{
	uint32_t count = c->syntax->except != NULL;

	for (const struct lang_syntax_exception *at = c->exceptions; at; at = at->next)
		count += is_property_meant(c, at);
	if (count > LANG_EXCEPTIONS_MAX) {
		lang_error(c->report, &c->rule->location, NULL, "rule '%s' has more than %d exceptions", c->rule->name,
			   LANG_EXCEPTIONS_MAX);
		return;
	}
	c->rule->properties.exceptions = lang_keep(c, count, sizeof *c->rule->properties.exceptions);
	if (!c->rule->properties.exceptions)
		return;
	c->context = LANG_IN_EXCEPTION;
	check_exception(c, c->syntax->except);
	for (struct lang_syntax_exception *at = c->exceptions; at; at = at->next) {
		if (!is_property_meant(c, at))
			continue;
		at->is_taken = true;
		check_exception(c, at->conditions);
	}
}

/* What else the name is, or what is meant. */
static void refuse_exception(struct lang_check *c, const struct lang_syntax_exception *exception)
{
	const struct lang_unit *unit = c->unit;
	const char **names = arena_zero(c->scratch, unit->rule_count + 1, sizeof *names);
	const struct lang_word *word = &exception->rule;

	for (uint32_t i = 0; i < unit->machine_count; i++) {
		if (strcmp(unit->machines[i].name, word->text) == 0) {
			lang_error(c->report, &word->location, "give the transition that reports a WHERE",
				   "'%s' is a machine, and only rules have exceptions", word->text);
			return;
		}
	}
	for (uint32_t i = 0; i < unit->rule_count && names; i++)
		names[i] = unit->rules[i].name;
	lang_error(c->report, &word->location,
		   names ? lang_did_you_mean(c->report, word->text, diag_nearest(word->text, names, unit->rule_count))
			 : NULL,
		   "the exception is for an unknown rule '%s'", word->text);
}

void lang_check_exceptions_taken(struct lang_check *c)
{
	for (const struct lang_syntax_exception *at = c->exceptions; at; at = at->next)
		if (!at->is_taken && !lang_report_full(c->report))
			refuse_exception(c, at);
}
