/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_EXCEPT_PRIV_H
#define LANG_PARSE_EXCEPT_PRIV_H

/* Exceptions given apart from the rules: lines `RULE: condition, ...`. */

#include "lang/parse/parser-priv.h"

/*
 * Parses the lines of source; blank lines and those that begin with `#` or `//` do not count. The exceptions are added
 * at *end, with memory and report of like. What is wrong is reported.
 */
void lang_parse_exceptions(const struct lang_parser *like, const struct diag_source *source,
			   struct lang_syntax_exception ***end);

#endif
