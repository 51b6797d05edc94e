// SPDX-License-Identifier: BSD-2-Clause
/* Keeps numbers that JSON has and the library that reads it has not. */

#include "cmd/text/json.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As many digits as the least number beyond 63 bits has, 9223372036854775808. */
enum { DIGITS_MIN = 19, DIGITS_MAX = 20 };

static bool is_too_large(const char *digits, size_t length)
{
	static const char least[] = "9223372036854775808";

	if (length < DIGITS_MIN || length > DIGITS_MAX)
		return false;
	return length > DIGITS_MIN || memcmp(digits, least, DIGITS_MIN) >= 0;
}

/* The length of the string at text, quotes included. */
static size_t string_length(const char *text, size_t rest)
{
	size_t length = 1;

	while (length < rest && text[length] != '"')
		length += text[length] == '\\' && length + 1 < rest ? 2 : 1;
	return length < rest ? length + 1 : rest;
}

static size_t number_length(const char *text, size_t rest)
{
	size_t length = 1;

	while (length < rest && (isalnum((unsigned char)text[length]) || strchr("+-.", text[length])) && text[length])
		length++;
	return length;
}

static void quote_large(const char *text, size_t length, struct text_buffer *out)
{
	for (size_t at = 0, piece; at < length; at += piece) {
		const char *from = text + at;
		size_t digits = 0;

		piece = 1;
		if (*from == '"') {
			piece = string_length(from, length - at);
		} else if (isdigit((unsigned char)*from) || *from == '-') {
			piece = number_length(from, length - at);
			while (digits < piece && isdigit((unsigned char)from[digits]))
				digits++;
		}
		bool large = digits == piece && is_too_large(from, piece);

		text_append(out, large ? "\"" : "");
		text_append_bytes(out, from, piece);
		text_append(out, large ? "\"" : "");
	}
}

json_t *cmd_json_load(const char *text, size_t length, json_error_t *error)
{
	json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, error);
	struct text_buffer quoted = { 0 };

	if (value || json_error_code(error) != json_error_numeric_overflow)
		return value;
	quote_large(text, length, &quoted);
	if (!quoted.failure)
		value = json_loadb(quoted.bytes, quoted.length, JSON_REJECT_DUPLICATES, error);
	text_fini(&quoted);
	return value;
}

bool cmd_json_is_number(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);

	return json_is_number(value) || (text && strspn(text, "0123456789") == length && is_too_large(text, length));
}
