// SPDX-License-Identifier: BSD-2-Clause
/* Reads a token: its place, its bytes, which word it is. */

#include "lang/syntax/lex.h"

#include <string.h>

struct diag_location lang_lex_location(const struct lang_lexer *lexer, size_t offset, size_t length)
{
	return (struct diag_location){
		.source = lexer->source,
		.offset = offset,
		.line = lexer->line,
		.column = (uint32_t)(offset - lexer->line_start + 1),
		.length = (uint32_t)length,
	};
}

const char *lang_token_bytes(const struct lang_token *token)
{
	return token->location.source->text + token->location.offset;
}

static unsigned char lower(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte - 'A' + 'a') : byte;
}

bool lang_word_is(const char *word, size_t length, const char *keyword)
{
	if (strlen(keyword) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (lower((unsigned char)word[i]) != lower((unsigned char)keyword[i]))
			return false;
	}
	return true;
}

bool lang_token_is(const struct lang_token *token, const char *keyword)
{
	return token->kind == LANG_TOKEN_WORD && lang_word_is(lang_token_bytes(token), token->location.length, keyword);
}
