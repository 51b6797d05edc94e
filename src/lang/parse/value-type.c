// SPDX-License-Identifier: BSD-2-Clause
/* The words for types of values, and for what the values mean. */

#include "lang/parse/parser-priv.h"

#include "event/type.h"
#include "meaning/meaning.h"

#include <stdio.h>

/* In the order in which they are suggested. */
static const char *const value_types[] = { "i32", "i64", "u32",  "u64",  "i16",  "u16",   "i8",
					   "u8",  "f64", "bool", "time", "addr", "string" };

enum { VALUE_TYPE_COUNT = sizeof value_types / sizeof *value_types };

bool lang_parse_value_type(struct lang_parser *p, enum event_value *value)
{
	struct lang_word type;

	if (!lang_take_word(p, &type, "a type"))
		return false;
	*value = event_value_find(type.text);
	if (*value)
		return true;
	const char *hint =
		lang_did_you_mean(p->report, type.text, diag_nearest(type.text, value_types, VALUE_TYPE_COUNT));

	if (!hint)
		hint = "the types are u8 u16 u32 u64 i8 i16 i32 i64 f64 bool time addr string";
	lang_error(p->report, &type.location, hint, "'%s' is not a type", type.text);
	return true;
}

bool lang_parse_meaning(struct lang_parser *p, enum event_value value, const struct meaning **meaning)
{
	struct lang_word first, second = { 0 };
	char text[MEANING_NAME_BYTES];

	*meaning = event_value_meaning(value);
	if (p->token.kind != LANG_TOKEN_WORD || p->ahead.kind == LANG_TOKEN_COLON || lang_at_modifier(p) ||
	    lang_at_statement(p))
		return true;
	if (!lang_take_word(p, &first, "a meaning"))
		return false;
	snprintf(text, sizeof text, "%s", first.text);
	if (meaning_has_second(text)) {
		if (!lang_take_word(p, &second, "the name of a family"))
			return false;
		snprintf(text, sizeof text, "%s %s", first.text, second.text);
	}
	*meaning = meaning_find(text);
	if (!*meaning)
		lang_error(p->report, &first.location, lang_did_you_mean(p->report, text, meaning_nearest(text)),
			   "unknown meaning '%s'", text);
	else if (event_value_lacks(value, *meaning))
		lang_error(p->report, &first.location, NULL, "%s", event_value_lacks(value, *meaning));
	return true;
}
