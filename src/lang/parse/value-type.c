// SPDX-License-Identifier: BSD-2-Clause
/* Decides which words are types of values. */

#include "lang/parse/parser-priv.h"

#include "event/type.h"

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
