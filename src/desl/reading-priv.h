/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_READING_PRIV_H
#define DESL_READING_PRIV_H

/*
 * What reading a program knows. The tokens, literals and messages are those of the rule language; what it does with
 * them is DESL's own (docs/internals/decisions/0024-desl-has-its-own-grammar.md).
 */

#include "desl/program-priv.h"

#include "lang/syntax/lex.h"

enum { DESL_EDITS_MAX = 32 };

/* Text that a corrected program has in place of length bytes at offset. */
struct desl_edit {
	uint64_t offset;
	uint32_t length;
	const char *text;
};

struct desl_reading {
	struct lang_report *report;
	struct lang_lexer lexer;
	struct lang_token token, ahead;
	uint64_t end; /* behind the token consumed last */
	struct diag_location last;
	struct desl_program *program;
	struct desl_type **last_type;
	bool is_strict;
	unsigned depth, unclosed; /* of expressions; sections whose brace was taken as there */
	/* While checking: */
	struct desl_type *type;
	struct desl_edit edits[DESL_EDITS_MAX];
	unsigned edit_count;
	bool is_corrected; /* the text with the edits is worth showing */
};

enum desl_quirk {
	DESL_QUIRK_FILE,
	DESL_QUIRK_NESTED,
	DESL_QUIRK_ELLIPSIS,
	DESL_QUIRK_OPEN_CALL,
	DESL_QUIRK_CLOSED_CALL,
	DESL_QUIRK_KIND,
	DESL_QUIRK_SEMICOLON,
	DESL_QUIRK_GROUP,
	DESL_QUIRK_TYPE_NAME,
	DESL_QUIRK_FIELD_NAME,
	DESL_QUIRK_BINDING,
	DESL_QUIRK_EQUALITY,
	DESL_QUIRKS,
};

/*
 * Whether what stands there is this quirk of the printed programs; then it is told and repaired, or refused where that
 * is wanted or there is no repair. name: the expression or word that it is about, or NULL for the token.
 */
bool desl_repair(struct desl_reading *reading, enum desl_quirk quirk, struct desl_expr *about);

/* Passes the token, which the corrected program has not. */
void desl_drop(struct desl_reading *reading);

/* Notes what a corrected program has at offset in place of length bytes. */
void desl_edit(struct desl_reading *reading, uint64_t offset, uint32_t length, const char *text);

void desl_advance(struct desl_reading *reading);
void *desl_node(struct desl_reading *reading, size_t size);
void desl_parse(struct desl_reading *reading);
bool desl_parse_filter(struct desl_reading *reading, struct desl_expr **expr);
bool desl_parse_condition(struct desl_reading *reading, struct desl_expr **expr);
bool desl_parse_qualifier(struct desl_reading *reading, struct desl_expr **expr);
bool desl_unexpected(struct desl_reading *reading, const char *what, const char *hint);
bool desl_take(struct desl_reading *reading, enum lang_token_kind kind, const char *what);
bool desl_take_word(struct desl_reading *reading, struct desl_word *word, const char *what);

static inline bool desl_at(const struct desl_reading *reading, enum lang_token_kind kind)
{
	return reading->token.kind == kind;
}

static inline bool desl_at_word(const struct desl_reading *reading, const char *word)
{
	return lang_token_is(&reading->token, word);
}

#endif
