// SPDX-License-Identifier: BSD-2-Clause
/* Parses a binding: a machine's key, what stands before it, and a line for each transition and call. */

#include "smc/smc-priv.h"

#include <string.h>

/* Words in parentheses or braces; * among them where it may be. */
static bool parse_words(struct smc_reading *reading, enum lang_token_kind end, struct smc_words *words)
{
	smc_advance(reading);
	while (!smc_accept(reading, end)) {
		if (words->count == SMC_ARGS_MAX)
			return smc_refuse(reading, NULL, "there are at most 16");
		if (reading->token.kind != LANG_TOKEN_WORD &&
		    (reading->token.kind != LANG_TOKEN_STAR || end != LANG_TOKEN_RBRACE))
			return smc_refuse(reading, NULL, "a name is missing");
		words->items[words->count++] = smc_word_of(reading);
		smc_advance(reading);
		if (!smc_accept(reading, LANG_TOKEN_COMMA) && reading->token.kind != end)
			return smc_refuse(reading, NULL, "',' or the end of the list is missing");
	}
	return true;
}

/* The values of an event's arguments: pieces between commas. */
static bool parse_values(struct smc_reading *reading, struct smc_words *values)
{
	const char *text = reading->lexer.source->text;

	smc_advance(reading);
	while (reading->token.kind != LANG_TOKEN_RBRACE) {
		struct diag_location at = reading->token.location;
		size_t end = at.offset;

		while (reading->token.kind != LANG_TOKEN_COMMA && reading->token.kind != LANG_TOKEN_RBRACE) {
			if (reading->token.kind == LANG_TOKEN_END || reading->token.kind == LANG_TOKEN_BAD)
				return smc_refuse(reading, NULL, "the list of values does not end");
			end = reading->token.location.offset + reading->token.location.length;
			smc_advance(reading);
		}
		if (values->count == SMC_ARGS_MAX || end == at.offset)
			return smc_refuse(reading, NULL, "a value is missing, or there are more than 16");
		at.length = (uint32_t)(end - at.offset);
		values->items[values->count].at = at;
		values->items[values->count].text = arena_text(reading->arena, text + at.offset, at.length);
		if (!values->items[values->count++].text) {
			lang_no_memory(reading->report);
			return false;
		}
		smc_accept(reading, LANG_TOKEN_COMMA);
	}
	smc_advance(reading);
	return true;
}

/* type[:alias] [ { values } ] [ BY { } ] [ WHERE { } ], or AFTER. */
static bool parse_bound_event(struct smc_reading *reading, struct smc_bound *bound)
{
	size_t end;

	bound->meaning = smc_at_word(reading, "AFTER") ? SMC_AFTER : SMC_EVENT;
	bound->text = reading->token.location;
	if (!smc_take(reading, LANG_TOKEN_WORD, "an event type"))
		return false;
	end = bound->text.offset + bound->text.length;
	if (smc_accept(reading, LANG_TOKEN_COLON)) {
		end = reading->token.location.offset + reading->token.location.length;
		if (!smc_take(reading, LANG_TOKEN_WORD, "a name"))
			return false;
	}
	bound->text.length = (uint32_t)(end - bound->text.offset);
	if (reading->token.kind == LANG_TOKEN_LBRACE && !parse_values(reading, &bound->values))
		return false;
	if (smc_at_word(reading, "BY")) {
		smc_advance(reading);
		if (!smc_take_braces(reading, &bound->by))
			return false;
	}
	if (smc_at_word(reading, "WHERE")) {
		smc_advance(reading);
		if (!smc_take_braces(reading, &bound->where))
			return false;
	}
	if (bound->values.count == bound->params.count)
		return true;
	lang_error(reading->report, &bound->name.at, NULL, "'%s' has %u parameters and %u values", bound->name.text,
		   bound->params.count, bound->values.count);
	return false;
}

/* The words for what is not text. */
static bool parse_meaning(struct smc_reading *reading, struct smc_bound *bound)
{
	static const char *const words[] = {
		[SMC_KEY] = "KEY", [SMC_END] = "END", [SMC_NEW] = "NEW", [SMC_TIMER] = "TIMER", [SMC_STOP] = "STOP"
	};

	if (reading->token.kind == LANG_TOKEN_LBRACE)
		return smc_take_braces(reading, &bound->text);
	for (unsigned i = SMC_KEY; i <= SMC_STOP; i++) {
		if (!smc_at_word(reading, words[i]) || (bound->sort == 'G' && i != SMC_KEY))
			continue;
		bound->meaning = i;
		smc_advance(reading);
		if (i == SMC_TIMER)
			return smc_take_braces(reading, &bound->text);
		return i != SMC_KEY || (reading->token.kind == LANG_TOKEN_LBRACE
						? parse_words(reading, LANG_TOKEN_RBRACE, &bound->values)
						: smc_take(reading, LANG_TOKEN_LBRACE, "'{'"));
	}
	return smc_refuse(reading,
			  bound->sort == 'G' ? "{ condition }, or KEY { parameters }"
					     : "{ statements }, KEY { parameters }, END, NEW, TIMER { time } or STOP",
			  "the meaning of the call is missing");
}

static bool parse_bound(struct smc_reading *reading, char sort, struct smc_bound *bound)
{
	bound->sort = sort;
	if (!smc_take_word(reading, "a name", &bound->name))
		return false;
	if (reading->token.kind == LANG_TOKEN_LPAREN && !parse_words(reading, LANG_TOKEN_RPAREN, &bound->params))
		return false;
	return smc_take(reading, LANG_TOKEN_ASSIGN, "'='") &&
	       (sort == 'E' ? parse_bound_event(reading, bound) : parse_meaning(reading, bound));
}

/* One line; *sort is what it binds, 0: nothing. */
static bool parse_line(struct smc_reading *reading, struct smc_binding *binding, char *sort)
{
	struct smc_word word;

	*sort = 0;
	if (!smc_take_word(reading, "KEY, BEFORE, HEAD, EVENT, GUARD or ACTION", &word))
		return false;
	if (strcmp(word.text, "BEFORE") == 0)
		return smc_take_braces(reading, &binding->before);
	if (strcmp(word.text, "HEAD") == 0)
		return smc_take_braces(reading, &binding->head);
	if (strcmp(word.text, "KEY") == 0 && !binding->has_keys && reading->token.kind == LANG_TOKEN_LBRACE) {
		binding->has_keys = true;
		return parse_words(reading, LANG_TOKEN_RBRACE, &binding->keys);
	}
	*sort = strcmp(word.text, "EVENT") == 0    ? 'E'
		: strcmp(word.text, "GUARD") == 0  ? 'G'
		: strcmp(word.text, "ACTION") == 0 ? 'A'
						   : 0;
	if (!*sort)
		lang_error(reading->report, &word.at, "KEY { }, BEFORE { }, HEAD { }, EVENT, GUARD, ACTION",
			   "a line of a binding cannot begin like this");
	return *sort;
}

bool smc_parse_binding(struct smc_reading *reading, struct smc_binding *binding)
{
	struct smc_bound **last = &binding->bounds;
	char sort;

	while (reading->token.kind != LANG_TOKEN_END) {
		if (!parse_line(reading, binding, &sort))
			return false;
		if (!sort)
			continue;
		*last = arena_zero(reading->arena, 1, sizeof **last);
		if (!*last) {
			lang_no_memory(reading->report);
			return false;
		}
		if (!parse_bound(reading, sort, *last))
			return false;
		last = &(*last)->next;
	}
	if (!binding->has_keys || binding->keys.count > SMC_KEYS_MAX)
		return smc_refuse(reading, "KEY { } is a machine with one instance",
				  "the binding needs a KEY of at most 8");
	return true;
}
