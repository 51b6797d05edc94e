// SPDX-License-Identifier: BSD-2-Clause
/*
 * Divides a text into tokens. Never reads past the source's length; every call moves forward or returns LANG_TOKEN_END.
 * A token lies within one line.
 */

#include "lang/syntax/ast.h"
#include "lang/syntax/lex.h"

#include <string.h>

struct punctuation {
	const char *text;
	enum lang_token_kind kind;
};

/* Longer ones first: the first that fits is taken. */
static const struct punctuation punctuations[] = {
	{ "..", LANG_TOKEN_DOTS },    { "<<", LANG_TOKEN_SHL },      { ">>", LANG_TOKEN_SHR },
	{ "<=", LANG_TOKEN_LE },      { ">=", LANG_TOKEN_GE },       { "==", LANG_TOKEN_EQ },
	{ "!=", LANG_TOKEN_NE },      { "->", LANG_TOKEN_ARROW },    { "&&", LANG_TOKEN_LAND_C },
	{ "||", LANG_TOKEN_LOR_C },   { "{", LANG_TOKEN_LBRACE },    { "}", LANG_TOKEN_RBRACE },
	{ "[", LANG_TOKEN_LBRACKET }, { "]", LANG_TOKEN_RBRACKET },  { "(", LANG_TOKEN_LPAREN },
	{ ")", LANG_TOKEN_RPAREN },   { ",", LANG_TOKEN_COMMA },     { ";", LANG_TOKEN_SEMICOLON },
	{ ":", LANG_TOKEN_COLON },    { ".", LANG_TOKEN_DOT },       { "~", LANG_TOKEN_TILDE },
	{ "#", LANG_TOKEN_HASH },     { "?", LANG_TOKEN_QUESTION },  { "*", LANG_TOKEN_STAR },
	{ "/", LANG_TOKEN_SLASH },    { "%", LANG_TOKEN_PERCENT },   { "+", LANG_TOKEN_PLUS },
	{ "-", LANG_TOKEN_MINUS },    { "&", LANG_TOKEN_AMPERSAND }, { "|", LANG_TOKEN_BAR },
	{ "^", LANG_TOKEN_CARET },    { "=", LANG_TOKEN_ASSIGN },    { "<", LANG_TOKEN_LT },
	{ ">", LANG_TOKEN_GT },       { "!", LANG_TOKEN_LNOT_C },
};

static const struct punctuation punctuations_of_desl[] = {
	{ "@", LANG_TOKEN_AT },
	{ "\xc2\xb7", LANG_TOKEN_MIDDLE_DOT },
};

static const char byte_order_mark[] = "\xef\xbb\xbf";

void lang_lex_init(struct lang_lexer *lexer, const struct diag_source *source, struct arena *arena,
		   struct lang_report *report)
{
	*lexer = (struct lang_lexer){ .source = source, .report = report, .arena = arena, .line = 1 };
	lexer->limit = source->length;
	if (source->length >= 3 && memcmp(source->text, byte_order_mark, 3) == 0)
		lexer->offset = lexer->line_start = 3;
	lexer->end = lang_lex_location(lexer, lexer->offset, 1);
}

static void newline(struct lang_lexer *lexer)
{
	lexer->line++;
	lexer->line_start = lexer->offset + 1;
}

/* Passes a comment of C; false: it does not end. */
static bool skip_comment(struct lang_lexer *lexer)
{
	struct diag_location start = lang_lex_location(lexer, lexer->offset, 2);

	for (lexer->offset += 2; lexer->offset < lexer->limit; lexer->offset++) {
		unsigned char byte = lang_lex_byte(lexer, lexer->offset);

		if (byte == '\n')
			newline(lexer);
		if (byte == '*' && lang_lex_byte(lexer, lexer->offset + 1) == '/') {
			lexer->offset += 2;
			return true;
		}
	}
	lang_error(lexer->report, &start, "end it with '*/'", "the comment is not closed");
	return false;
}

/* Moves to the next token's first byte. */
static void skip_source_blanks(struct lang_lexer *lexer)
{
	while (lexer->offset < lexer->limit) {
		unsigned char byte = lang_lex_byte(lexer, lexer->offset),
			      next = lang_lex_byte(lexer, lexer->offset + 1);

		if (byte == '/' && next == '*') {
			if (!skip_comment(lexer))
				return;
			continue;
		}
		if (byte == '/' && next == '/') {
			while (lexer->offset < lexer->limit && lang_lex_byte(lexer, lexer->offset) != '\n')
				lexer->offset++;
			continue;
		}
		if (byte == '\n')
			newline(lexer);
		else if (byte != ' ' && (byte < '\t' || byte > '\r'))
			return;
		lexer->offset++;
	}
}

static void lex_word(struct lang_lexer *lexer, struct lang_token *token)
{
	size_t start = lexer->offset;

	while (lang_is_word(lang_lex_byte(lexer, lexer->offset)))
		lexer->offset++;
	token->kind = LANG_TOKEN_WORD;
	token->location = lang_lex_location(lexer, start, lexer->offset - start);
	if (token->location.length > LANG_WORD_BYTES_MAX) {
		token->kind = LANG_TOKEN_BAD;
		lang_error(lexer->report, &token->location, NULL, "a name has at most %d bytes", LANG_WORD_BYTES_MAX);
	}
}

/* A run of the same byte, or of bytes beyond ASCII, is taken together and gives one error. */
static void lex_unknown(struct lang_lexer *lexer, struct lang_token *token)
{
	size_t start = lexer->offset;

	do {
		lexer->offset++;
	} while (lang_lex_byte(lexer, lexer->offset) >= 0x80 ||
		 lang_lex_byte(lexer, lexer->offset) == lang_lex_byte(lexer, start));
	token->kind = LANG_TOKEN_BAD;
	token->location = lang_lex_location(lexer, start, lexer->offset - start);
	size_t shown = token->location.length < 32 ? token->location.length : 32;
	while ((lang_lex_byte(lexer, start + shown) & 0xc0) == 0x80)
		shown--;
	lang_error(lexer->report, &token->location,
		   *lang_token_bytes(token) == '\'' ? "write strings in double quotes" : NULL,
		   "unexpected character '%.*s'", (int)shown, lang_token_bytes(token));
}

/* Takes the first of the rows that fits. */
static bool lex_one_of(struct lang_lexer *lexer, const struct punctuation *rows, size_t count, struct lang_token *token)
{
	const char *text = lexer->source->text + lexer->offset;
	size_t left = lexer->limit - lexer->offset;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].text[0] != text[0])
			continue;
		size_t length = strlen(rows[i].text);

		if (length <= left && memcmp(text, rows[i].text, length) == 0) {
			token->kind = rows[i].kind;
			token->location = lang_lex_location(lexer, lexer->offset, length);
			lexer->offset += length;
			return true;
		}
	}
	return false;
}

static void lex_punctuation(struct lang_lexer *lexer, struct lang_token *token)
{
	if (lex_one_of(lexer, punctuations, sizeof punctuations / sizeof *punctuations, token))
		return;
	if (lexer->is_desl &&
	    lex_one_of(lexer, punctuations_of_desl, sizeof punctuations_of_desl / sizeof *punctuations_of_desl, token))
		return;
	lex_unknown(lexer, token);
}

void lang_lex_next(struct lang_lexer *lexer, struct lang_token *token)
{
	*token = (struct lang_token){ .kind = LANG_TOKEN_END, .location = lexer->end };
	skip_source_blanks(lexer);
	if (lexer->offset >= lexer->limit || lang_report_full(lexer->report))
		return;
	unsigned char byte = lang_lex_byte(lexer, lexer->offset);

	if (lang_is_word_start(byte))
		lex_word(lexer, token);
	else if (lang_is_digit(byte))
		token->kind = lang_lex_number(lexer, token) ? token->kind : LANG_TOKEN_BAD;
	else if (byte == '"')
		token->kind = lang_lex_string(lexer, token) ? LANG_TOKEN_STRING : LANG_TOKEN_BAD;
	else
		lex_punctuation(lexer, token);
	lexer->end = lang_lex_location(lexer, lexer->offset, 1);
}
