// SPDX-License-Identifier: BSD-2-Clause
/* The fields that types of C, of its library and of the reference's headers become: sizes are those of 64 bits. */

#include "event/c-header-priv.h"

#include <string.h>

/* Of one word. */
static const struct {
	const char *name;
	struct c_type type;
} known[] = {
	{ "_Bool", { EVENT_BOOL, 1, false, false } },        { "bool", { EVENT_BOOL, 1, false, false } },
	{ "int8_t", { EVENT_I8, 1, false, false } },         { "uint8_t", { EVENT_U8, 1, false, false } },
	{ "int16_t", { EVENT_I16, 2, false, false } },       { "uint16_t", { EVENT_U16, 2, false, false } },
	{ "int32_t", { EVENT_I32, 4, false, false } },       { "uint32_t", { EVENT_U32, 4, false, false } },
	{ "int64_t", { EVENT_I64, 8, false, false } },       { "uint64_t", { EVENT_U64, 8, false, false } },
	{ "intptr_t", { EVENT_I64, 8, false, false } },      { "uintptr_t", { EVENT_U64, 8, false, false } },
	{ "size_t", { EVENT_U64, 8, false, false } },        { "ssize_t", { EVENT_I64, 8, false, false } },
	{ "off_t", { EVENT_I64, 8, false, false } },         { "time_t", { EVENT_I64, 8, false, false } },
	{ "pid_t", { EVENT_I32, 4, false, false } },         { "uid_t", { EVENT_U32, 4, false, false } },
	{ "gid_t", { EVENT_U32, 4, false, false } },         { "float", { EVENT_U32, 4, false, true } },
	{ "double", { EVENT_F64, 8, false, false } },        { "CHAR", { EVENT_I8, 1, true, false } },
	{ "UCHAR", { EVENT_U8, 1, false, false } },          { "BYTE", { EVENT_U8, 1, false, false } },
	{ "BOOLEAN", { EVENT_U8, 1, false, false } },        { "SHORT", { EVENT_I16, 2, false, false } },
	{ "USHORT", { EVENT_U16, 2, false, false } },        { "WORD", { EVENT_U16, 2, false, false } },
	{ "INT", { EVENT_I32, 4, false, false } },           { "UINT", { EVENT_U32, 4, false, false } },
	{ "LONG", { EVENT_I32, 4, false, false } },          { "ULONG", { EVENT_U32, 4, false, false } },
	{ "DWORD", { EVENT_U32, 4, false, false } },         { "NTSTATUS", { EVENT_I32, 4, false, false } },
	{ "LONGLONG", { EVENT_I64, 8, false, false } },      { "ULONGLONG", { EVENT_U64, 8, false, false } },
	{ "LARGE_INTEGER", { EVENT_I64, 8, false, false } }, { "ULARGE_INTEGER", { EVENT_U64, 8, false, false } },
	{ "HANDLE", { EVENT_U64, 8, false, false } },        { "PVOID", { EVENT_ADDR, 8, false, false } },
};

/* Words that integers are put together from, and how often each has come. */
enum word { SIGNED, UNSIGNED, CHAR, SHORT, INT, LONG, WORDS };

static const char *const words[WORDS] = { "signed", "unsigned", "char", "short", "int", "long" };

static int token_word(const struct c_token *token)
{
	for (int i = 0; i < WORDS; i++)
		if (c_is(token, words[i]))
			return i;
	return -1;
}

static bool is_qualifier(const struct c_token *token)
{
	return c_is(token, "const") || c_is(token, "volatile") || c_is(token, "__extension__");
}

/* The integer that was said with so many of each word. */
static bool make_integer(const unsigned *said, struct c_type *type)
{
	bool is_unsigned = said[UNSIGNED] || (said[CHAR] && !said[SIGNED] && (char)-1 > 0);

	if (said[SIGNED] + said[UNSIGNED] > 1 || said[CHAR] + said[SHORT] > 1 || said[INT] > 1 || said[LONG] > 2 ||
	    (said[CHAR] && (said[INT] || said[LONG])) || (said[SHORT] && said[LONG]))
		return false;
	if (said[CHAR])
		*type = (struct c_type){ is_unsigned ? EVENT_U8 : EVENT_I8, 1, !said[SIGNED] && !said[UNSIGNED],
					 false };
	else if (said[SHORT])
		*type = (struct c_type){ is_unsigned ? EVENT_U16 : EVENT_I16, 2, false, false };
	else if (said[LONG])
		*type = (struct c_type){ is_unsigned ? EVENT_U64 : EVENT_I64, 8, false, false };
	else
		*type = (struct c_type){ is_unsigned ? EVENT_U32 : EVENT_I32, 4, false, false };
	return true;
}

static int take_type_name(const struct c_types *types, const struct c_token **at, struct c_type *type)
{
	for (size_t i = types->count; i-- > 0;) {
		const struct event_span *name = &types->items[i].name;

		if (name->length == (*at)->span.length && !memcmp(name->start, (*at)->span.start, name->length)) {
			*type = types->items[i].type;
			++*at;
			return 1;
		}
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (c_is(*at, known[i].name)) {
			*type = known[i].type;
			++*at;
			return 1;
		}
	}
	return 0;
}

int c_header_types_take(const struct c_types *types, const struct c_token **at, struct c_type *type)
{
	unsigned said[WORDS] = { 0 };
	bool any = false;
	int word, result = 0;

	while (is_qualifier(*at))
		++*at;
	while ((word = token_word(*at)) >= 0 || is_qualifier(*at)) {
		any |= word >= 0;
		if (word >= 0)
			said[word]++;
		++*at;
	}
	if (any)
		result = make_integer(said, type);
	else if (c_is(*at, "enum") && (*at)[1].kind == C_NAME && !c_is(&(*at)[2], "{")) {
		*type = (struct c_type){ EVENT_I32, 4, false, false };
		*at += 2;
		result = 1;
	} else if ((c_is(*at, "struct") || c_is(*at, "union")) && (*at)[1].kind == C_NAME && c_is(&(*at)[2], "*")) {
		*type = (struct c_type){ 0, 0, false, false };
		*at += 2;
		result = 1;
	} else if (c_is(*at, "void") && c_is(&(*at)[1], "*")) {
		*type = (struct c_type){ 0, 0, false, false };
		++*at;
		result = 1;
	} else if ((*at)->kind == C_NAME) {
		result = take_type_name(types, at, type);
	}
	while (result && is_qualifier(*at))
		++*at;
	return result;
}
