// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds hints where a word or sign stands that another tool's language, or a habit, put there. It is a hint beside an
 * error that is one anyway, so that names may be spelt like any of these words.
 */

#include "lang/parse/parser-priv.h"

/* What other tools compare strings with. */
static const char *const string_operators[] = {
	"contains", "icontains", "startswith", "endswith", "glob", "pmatch", "regex", "matches",
};

/* Whether the token consumed last is a number. */
static bool is_behind_number(const struct lang_parser *p)
{
	const char *text = p->lexer.source->text;
	uint64_t at = p->end;

	while (at > 0 && lang_is_word((unsigned char)text[at - 1]))
		at--;
	return at < p->end && lang_is_digit((unsigned char)text[at]);
}

const char *lang_hint_behind_number(const struct lang_parser *p)
{
	return is_behind_number(p) && lang_is_unit(&p->token) ? "write a unit directly after its number: '10ms'" : NULL;
}

const char *lang_hint_behind_value(const struct lang_parser *p)
{
	bool is_string_operator = p->token.kind == LANG_TOKEN_TILDE;

	for (size_t i = 0; i < sizeof string_operators / sizeof *string_operators; i++)
		is_string_operator |= lang_token_is(&p->token, string_operators[i]);
	return is_string_operator ? "strings are compared with == != IN and LIKE: 'a.x LIKE \"*part*\"'"
				  : lang_hint_behind_number(p);
}

const char *lang_hint_behind_structure(const struct lang_parser *p)
{
	if (p->token.kind == LANG_TOKEN_COMMA || p->token.kind == LANG_TOKEN_ARROW)
		return "a sequence is written '[A, B]'";
	return p->token.kind == LANG_TOKEN_BAR ? "an alternative is written '(A | B)'" : NULL;
}
