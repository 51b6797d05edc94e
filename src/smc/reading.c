// SPDX-License-Identifier: BSD-2-Clause
/* Takes tokens one by one. There is no look ahead: behind the current token raw text may stand. */

#include "smc/smc-priv.h"

#include <string.h>

void smc_begin(struct smc_reading *reading, const struct diag_source *source)
{
	lang_lex_init(&reading->lexer, source, reading->arena, reading->report);
	smc_advance(reading);
}

void smc_advance(struct smc_reading *reading)
{
	lang_lex_next(&reading->lexer, &reading->token);
}

bool smc_at_word(const struct smc_reading *reading, const char *word)
{
	return reading->token.kind == LANG_TOKEN_WORD && reading->token.location.length == strlen(word) &&
	       memcmp(lang_token_bytes(&reading->token), word, strlen(word)) == 0;
}

bool smc_accept(struct smc_reading *reading, enum lang_token_kind kind)
{
	if (reading->token.kind != kind)
		return false;
	smc_advance(reading);
	return true;
}

bool smc_refuse(struct smc_reading *reading, const char *hint, const char *what)
{
	if (reading->token.kind != LANG_TOKEN_BAD)
		lang_error(reading->report, &reading->token.location, hint, "%s", what);
	return false;
}

bool smc_take(struct smc_reading *reading, enum lang_token_kind kind, const char *what)
{
	return smc_accept(reading, kind) ||
	       smc_refuse(reading, NULL, lang_hint(reading->report, "%s is missing", what));
}

struct smc_word smc_word_of(struct smc_reading *reading)
{
	struct smc_word word = { .at = reading->token.location };

	word.text = arena_text(reading->arena, lang_token_bytes(&reading->token), word.at.length);
	if (!word.text) {
		lang_no_memory(reading->report);
		word.text = "";
	}
	return word;
}

bool smc_take_word(struct smc_reading *reading, const char *what, struct smc_word *word)
{
	if (reading->token.kind != LANG_TOKEN_WORD)
		return smc_take(reading, LANG_TOKEN_WORD, what);
	*word = smc_word_of(reading);
	smc_advance(reading);
	return true;
}

bool smc_skip_raw(struct smc_reading *reading, const char *end)
{
	struct lang_lexer *lexer = &reading->lexer;
	size_t length = strlen(end);

	for (; lexer->offset < lexer->limit; lexer->offset++) {
		const char *at = lexer->source->text + lexer->offset;

		if (lexer->limit - lexer->offset >= length && memcmp(at, end, length) == 0) {
			lexer->offset += *end == '\n' ? 0 : length; /* the lexer counts the line */
			smc_advance(reading);
			return true;
		}
		if (*at == '\n') {
			lexer->line++;
			lexer->line_start = lexer->offset + 1;
		}
	}
	if (*end != '\n')
		return smc_refuse(reading, lang_hint(reading->report, "end it with %s", end), "this does not end");
	smc_advance(reading);
	return true;
}

bool smc_take_braces(struct smc_reading *reading, struct diag_location *text)
{
	unsigned depth = 1;

	if (reading->token.kind != LANG_TOKEN_LBRACE)
		return smc_take(reading, LANG_TOKEN_LBRACE, "'{'");
	smc_advance(reading);
	*text = reading->token.location;
	while (reading->token.kind != LANG_TOKEN_END && reading->token.kind != LANG_TOKEN_BAD) {
		depth += reading->token.kind == LANG_TOKEN_LBRACE;
		depth -= reading->token.kind == LANG_TOKEN_RBRACE;
		if (!depth)
			break;
		smc_advance(reading);
	}
	text->length = (uint32_t)(reading->token.location.offset - text->offset);
	return smc_take(reading, LANG_TOKEN_RBRACE, "'}'");
}
