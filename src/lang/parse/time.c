// SPDX-License-Identifier: BSD-2-Clause
/* Parses the times of modifiers. */

#include "lang/parse/parser-priv.h"

bool lang_parse_time(struct lang_parser *p, const char *modifier, uint64_t *ns, bool *broken)
{
	struct lang_token token;

	lang_substitute(p);
	token = p->token;
	if (token.kind == LANG_TOKEN_INTEGER && token.unit == LANG_SIZE) {
		lang_error(p->report, &token.location, "write a time such as 2s", "%s takes a time, not a size",
			   modifier);
		*broken = true;
		lang_advance(p);
		return true;
	}
	if (!lang_take_integer(p, &token, "a time", "a time is written '2s' or '100us'; a bare number is in ns"))
		return false;
	*ns = token.integer;
	if (token.integer == 0)
		lang_error(p->report, &token.location, NULL, "%s must be longer than 0", modifier);
	else if (token.integer > INT64_MAX)
		lang_error(p->report, &token.location, "at most 9223372036854775807 ns, which is 292 years",
			   "%s is too long", modifier);
	*broken = token.integer == 0 || token.integer > INT64_MAX;
	return true;
}
