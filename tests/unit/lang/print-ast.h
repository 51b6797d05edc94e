/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_LANG_PRINT_AST_H
#define TESTS_LANG_PRINT_AST_H

/* A checked rule as one compact text, so that a test can compare everything that parsing settled at once. */

#include "base/text.h"
#include "lang/syntax/ast.h"

/*
 * "skiptillnext [A:a B[1..]:b ~(C | D)]{1..2}" - semantics, then the pattern with inclusive bounds (`..` without an
 * end: unbounded).
 */
void print_pattern(struct text_buffer *text, const struct lang_rule *rule);

/* Fully parenthesised, every node but i64 marked with its kind: "((a.x + i64(b.r:f64)) < 3)". */
/* EMIT or CALL, with a line end. */
void print_statement(struct text_buffer *text, const struct lang_rule *rule, const struct lang_statement *statement);

void print_expr(struct text_buffer *text, const struct lang_rule *rule, const struct lang_expr *expr);

/* One line per join, condition, value, statement and modifier that is not the default. */
void print_rule(struct text_buffer *text, const struct lang_rule *rule);

#endif
