/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_LEX_H
#define LANG_SYNTAX_LEX_H

/*
 * Text to tokens, one at a time. Words are not told apart here: a keyword is one only where the grammar asks for it,
 * so event types and fields may be called like keywords.
 */

#include "lang/syntax/report.h"

enum lang_token_kind {
	LANG_TOKEN_END, /* also returned when enough errors are known, so that parsing winds up */
	LANG_TOKEN_BAD, /* not a token; the error is reported already */
	LANG_TOKEN_WORD,
	LANG_TOKEN_INTEGER,
	LANG_TOKEN_REAL,
	LANG_TOKEN_STRING,
	LANG_TOKEN_LBRACE,
	LANG_TOKEN_RBRACE,
	LANG_TOKEN_LBRACKET,
	LANG_TOKEN_RBRACKET,
	LANG_TOKEN_LPAREN,
	LANG_TOKEN_RPAREN,
	LANG_TOKEN_COMMA,
	LANG_TOKEN_SEMICOLON,
	LANG_TOKEN_COLON,
	LANG_TOKEN_DOT,
	LANG_TOKEN_DOTS, /* .. */
	LANG_TOKEN_TILDE,
	LANG_TOKEN_HASH,
	LANG_TOKEN_QUESTION,
	LANG_TOKEN_STAR,
	LANG_TOKEN_SLASH,
	LANG_TOKEN_PERCENT,
	LANG_TOKEN_PLUS,
	LANG_TOKEN_MINUS,
	LANG_TOKEN_AMPERSAND,
	LANG_TOKEN_BAR,
	LANG_TOKEN_CARET,
	LANG_TOKEN_SHL,
	LANG_TOKEN_SHR,
	LANG_TOKEN_ASSIGN, /* = */
	LANG_TOKEN_EQ,
	LANG_TOKEN_NE,
	LANG_TOKEN_LT,
	LANG_TOKEN_LE,
	LANG_TOKEN_GT,
	LANG_TOKEN_GE,
	LANG_TOKEN_ARROW,  /* -> */
	LANG_TOKEN_TRUTH,  /* a parameter that is TRUE or FALSE; the lexer makes words of them */
	LANG_TOKEN_LAND_C, /* && || ! of other languages: known only to say what is right */
	LANG_TOKEN_LOR_C,
	LANG_TOKEN_LNOT_C,
	LANG_TOKEN_AT, /* of DESL alone: @ and a raised point */
	LANG_TOKEN_MIDDLE_DOT,
};

enum lang_unit_kind { LANG_PLAIN, LANG_TIME, LANG_SIZE };

struct lang_token {
	enum lang_token_kind kind;
	struct diag_location location;
	enum lang_unit_kind unit; /* INTEGER: what its unit makes of it; the value is in ns or bytes then */
	uint64_t integer;         /* INTEGER; TRUTH: 0 or 1 */
	double real;
	const char *text; /* STRING: decoded, NUL-terminated, without a NUL inside; WORD that a parameter was set to */
	bool negative;    /* INTEGER of a parameter: two's complement */
	const struct lang_param *param; /* whose value it is, where a parameter stands for a constant */
};

struct lang_lexer {
	const struct diag_source *source;
	struct lang_report *report;
	struct arena *arena; /* for decoded strings */
	size_t offset;
	size_t limit; /* where it ends: that of the source, or of the piece of it that is read */
	size_t line_start;
	uint32_t line;
	bool is_desl;             /* has its tokens, too */
	struct diag_location end; /* just behind the token read last */
};

void lang_lex_init(struct lang_lexer *lexer, const struct diag_source *source, struct arena *arena,
		   struct lang_report *report);
void lang_lex_next(struct lang_lexer *lexer, struct lang_token *token);

/* The bytes of the token in the source: place.length of them. */
const char *lang_token_bytes(const struct lang_token *token);

/* True for a word token that spells keyword in any case. */
bool lang_token_is(const struct lang_token *token, const char *keyword);

/* True when the length bytes at word spell keyword, in any case. */
bool lang_word_is(const char *word, size_t length, const char *keyword);

/* True for a word that is a unit of times or sizes. */
bool lang_is_unit(const struct lang_token *token);

/* Reads the number or string that starts at the lexer's offset. The token's place is set; false: an error was told. */
bool lang_lex_number(struct lang_lexer *lexer, struct lang_token *token);
bool lang_lex_string(struct lang_lexer *lexer, struct lang_token *token);

/* Decodes what stands from from to to into text, which has room for that and a NUL. False: an escape is wrong. */
bool lang_lex_decode(struct lang_lexer *lexer, size_t from, size_t to, char *text);

/* The byte at offset, 0 past the end. */
static inline unsigned char lang_lex_byte(const struct lang_lexer *lexer, size_t offset)
{
	return offset < lexer->limit ? (unsigned char)lexer->source->text[offset] : 0;
}

/* The place of length bytes from offset on, on the line the lexer is in. */
struct diag_location lang_lex_location(const struct lang_lexer *lexer, size_t offset, size_t length);

/*
 * Whether the source is text at all: no larger than LANG_FILE_BYTES_MAX, UTF-8, no control bytes but blanks. Reports
 * one error otherwise; hint says what is to be text ("a rule file is UTF-8 text").
 */
bool lang_text_check(const struct diag_source *source, const char *hint, struct lang_report *report);

static inline bool lang_is_digit(unsigned char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool lang_is_word_start(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static inline bool lang_is_word(unsigned char byte)
{
	return lang_is_word_start(byte) || lang_is_digit(byte);
}

#endif
