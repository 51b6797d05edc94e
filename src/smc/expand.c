// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inserts arguments into a bound text: a word that is a parameter's name stands for the argument, unless it is a field
 * of something or is assigned to; so it does between the braces of a string.
 */

#include "smc/smc-priv.h"

#include <string.h>

static int find_param(const struct smc_arguments *arguments, const char *word, size_t length)
{
	for (unsigned i = 0; arguments->params && i < arguments->params->count; i++) {
		const char *name = arguments->params->items[i].text;

		if (strlen(name) == length && memcmp(name, word, length) == 0)
			return (int)i;
	}
	return -1;
}

/* A string's text within another string, whose braces stand for values. */
static void append_words(struct text_buffer *text, const char *literal)
{
	size_t length = strlen(literal);

	for (size_t i = 1; i + 1 < length; i++) {
		if (literal[i] == '{' || literal[i] == '}')
			text_append_bytes(text, &literal[i], 1);
		text_append_bytes(text, &literal[i], 1);
	}
}

/* What stands between the braces of a string; returns what is behind it. */
static const char *expand_value(struct text_buffer *text, const char *at, const char *end,
				const struct smc_arguments *arguments)
{
	const char *close = memchr(at, '}', (size_t)(end - at));
	int whole = close ? find_param(arguments, at, (size_t)(close - at)) : -1;
	char before = 0;

	if (whole >= 0 && arguments->are_strings[whole]) {
		append_words(text, arguments->texts[whole]);
		return close + 1;
	}
	text_append(text, "{");
	for (end = close ? close : end; at < end;) {
		size_t length = 0;
		int param;

		while (at + length < end && lang_is_word((unsigned char)at[length]))
			length++;
		param = length && before != '.' ? find_param(arguments, at, length) : -1;
		if (param >= 0)
			text_append(text, arguments->texts[param]);
		else
			text_append_bytes(text, at, length ? length : 1);
		at += length ? length : 1;
		before = at[-1];
	}
	if (close)
		text_append(text, "}");
	return close ? close + 1 : end;
}

static void expand_string(struct text_buffer *text, const char *at, size_t length,
			  const struct smc_arguments *arguments)
{
	const char *end = at + length;

	while (at < end) {
		if (*at == '{' && at + 1 < end && at[1] != '{') {
			at = expand_value(text, at + 1, end, arguments);
			continue;
		}
		length = *at == '{' || *at == '\\' ? 2 : 1; /* {{ and escapes */
		length = length > (size_t)(end - at) ? (size_t)(end - at) : length;
		text_append_bytes(text, at, length);
		at += length;
	}
}

/* What is assigned, and a field of EMIT, keep their names. */
static bool is_assigned(const struct lang_lexer *lexer)
{
	size_t at = lexer->offset;

	while (lang_lex_byte(lexer, at) == ' ')
		at++;
	return lang_lex_byte(lexer, at) == '=' && lang_lex_byte(lexer, at + 1) != '=';
}

static void expand_token(struct text_buffer *text, const struct lang_token *token, bool is_name,
			 const struct smc_arguments *arguments)
{
	const char *bytes = lang_token_bytes(token);
	size_t length = token->location.length;
	int param = token->kind == LANG_TOKEN_WORD && !is_name ? find_param(arguments, bytes, length) : -1;

	if (param >= 0)
		text_append(text, arguments->texts[param]);
	else if (token->kind == LANG_TOKEN_STRING)
		expand_string(text, bytes, length, arguments);
	else
		text_append_bytes(text, bytes, length);
}

const char *smc_made(struct smc_work *work, const char *text)
{
	if (!text) {
		lang_no_memory(work->report);
		return NULL;
	}
	work->made_bytes += strlen(text);
	if (work->made_bytes <= SMC_MADE_BYTES_MAX)
		return text;
	lang_error(work->report, &work->file->class.at, NULL, "the translation is longer than 16 MiB on the way");
	return NULL;
}

const char *smc_expand(struct smc_work *work, const struct diag_location *place, const struct smc_arguments *arguments)
{
	struct lang_lexer lexer;
	struct lang_token token;
	struct text_buffer text = { 0 };
	enum lang_token_kind before = LANG_TOKEN_END;
	uint64_t at = place->offset;
	const char *made;
	char *taken;

	lang_lex_init(&lexer, place->source, work->arena, work->report);
	lexer.offset = place->offset;
	lexer.limit = place->offset + place->length;
	lexer.line = place->line;
	lexer.line_start = place->offset + 1 - place->column;
	for (lang_lex_next(&lexer, &token); token.kind != LANG_TOKEN_END; lang_lex_next(&lexer, &token)) {
		text_append(&text, token.location.offset > at ? " " : "");
		expand_token(&text, &token, before == LANG_TOKEN_DOT || is_assigned(&lexer), arguments);
		at = token.location.offset + token.location.length;
		before = token.kind;
	}
	if (text_take(&text, &taken)) {
		lang_no_memory(work->report);
		return NULL;
	}
	if (strlen(taken) > SMC_TEXT_BYTES_MAX) {
		lang_error(work->report, place, NULL, "with its arguments this is longer than %d bytes",
			   SMC_TEXT_BYTES_MAX);
		made = NULL;
	} else {
		made = smc_made(work, arena_text(work->arena, taken, strlen(taken)));
	}
	alloc_free(taken);
	return made;
}
