/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_CHECK_CONSTANTS_PRIV_H
#define LANG_CHECK_CONSTANTS_PRIV_H

/* Names of a family, and addresses, in place of numbers. They are numbers by the time that an expression is checked. */

#include "lang/check/check-priv.h"

/* Whether syntax is put together, by minus and bit operators, of integers and of names that may be constants. */
bool lang_is_constant(struct lang_check *c, const struct lang_syntax_expr *syntax);

/* Such an expression beside other, whose meaning says which constants there are. NULL after an error. */
struct lang_expr *lang_check_constant(struct lang_check *c, const struct lang_syntax_expr *syntax,
				      const struct lang_expr *other);

/* A name in quotes beside other, where the host says what other's values are called, as its number: NULL after an
 * error. Any other text as it is. */
struct lang_expr *lang_check_quoted(struct lang_check *c, struct lang_expr *text, const struct lang_expr *other);

/* Warns where syntax is a name that a machine has, but that is a constant of what the other side means as well. */
void lang_warn_of_hidden(struct lang_check *c, const struct lang_syntax_expr *syntax, const struct lang_expr *other);

/* Whether reference, alone, is a header field of the event that completes the match, as in exceptions. */
bool lang_is_header(const struct lang_check *c, const struct lang_syntax_reference *reference);

/* A name alone that no constant can be meant by; meant: what to write instead, NULL where that is not known. */
struct lang_expr *lang_no_constant(struct lang_check *c, const struct lang_syntax_reference *reference,
				   const char *meant);

/* Whether text is an address in quotes beside a value that is one. */
bool lang_is_address(const struct lang_expr *value, const struct lang_expr *text);

/* value == text of such a pair; may_be_net: "10.0.0.0/8" stands for all addresses of the net. NULL after an error. */
struct lang_expr *lang_check_address(struct lang_check *c, struct lang_expr *value, struct lang_expr *text,
				     bool may_be_net);

#endif
