// SPDX-License-Identifier: BSD-2-Clause
/* Parses JSON. Strict, by the letter of RFC 8259, with nesting bounded; never reads past the line. */

#include "trace/jsonl/json-priv.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { NESTING_MAX = 64 };

struct scan {
	const char *at, *end;
	struct json_error *error;
};

static int fail_json(struct scan *scan, const char *text)
{
	*scan->error = (struct json_error){ text, scan->at };
	return -EINVAL;
}

static bool is_at(const struct scan *scan, char c)
{
	return scan->at < scan->end && *scan->at == c;
}

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
		scan->at++;
}

static bool is_json_digit(const struct scan *scan)
{
	return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* The value of the four hexadecimal digits at text, or -1. */
static int hex_of(const char *text, const char *end)
{
	int value = 0;

	if (end - text < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static bool is_high_surrogate(int unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_surrogate(int unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* Behind the backslash. */
static int scan_escape(struct scan *scan)
{
	if (scan->at == scan->end)
		return fail_json(scan, "the string is not closed");
	char c = *scan->at++;
	if (c != 'u') {
		if (c && strchr("\"\\/bfnrt", c))
			return 0;
		scan->at--;
		return fail_json(scan, "unknown escape in a string");
	}
	int unit = hex_of(scan->at, scan->end);
	if (unit < 0)
		return fail_json(scan, "\\u takes four hexadecimal digits");
	if (is_low_surrogate(unit))
		return fail_json(scan, "half of a surrogate pair is missing");
	scan->at += 4;
	if (!is_high_surrogate(unit))
		return 0;
	bool has_next = scan->end - scan->at >= 6 && scan->at[0] == '\\' && scan->at[1] == 'u';
	if (!has_next || !is_low_surrogate(hex_of(scan->at + 2, scan->end)))
		return fail_json(scan, "half of a surrogate pair is missing");
	scan->at += 6;
	return 0;
}

/* The bytes of the UTF-8 character at the scan's place, or 0. A copy with a NUL behind it cannot be read past. */
static size_t character(const struct scan *scan)
{
	size_t left = (size_t)(scan->end - scan->at);
	char copy[5] = { 0 };

	memcpy(copy, scan->at, left < 4 ? left : 4);
	return text_character(copy);
}

static int scan_string(struct scan *scan, struct json_piece *piece)
{
	if (!is_at(scan, '"'))
		return fail_json(scan, "expected a string");
	const char *start = ++scan->at;
	piece->has_escape = false;
	while (scan->at < scan->end && *scan->at != '"') {
		unsigned char c = (unsigned char)*scan->at;

		if (c < 0x20)
			return fail_json(scan, "control characters in strings must be escaped");
		if (c < 0x80) {
			scan->at++;
			if (c != '\\')
				continue;
			piece->has_escape = true;
			int result = scan_escape(scan);
			if (result)
				return result;
			continue;
		}
		size_t length = character(scan);
		if (!length)
			return fail_json(scan, "invalid UTF-8");
		scan->at += length;
	}
	if (scan->at == scan->end)
		return fail_json(scan, "the string is not closed");
	piece->text = start;
	piece->length = (uint32_t)(scan->at++ - start);
	return 0;
}

static void skip_digits(struct scan *scan)
{
	while (is_json_digit(scan))
		scan->at++;
}

static int scan_number(struct scan *scan, enum json_kind *kind)
{
	*kind = JSON_INTEGER;
	if (is_at(scan, '-'))
		scan->at++;
	if (!is_json_digit(scan))
		return fail_json(scan, "expected a value");
	if (is_at(scan, '0')) {
		scan->at++;
		if (is_json_digit(scan))
			return fail_json(scan, "a number must not begin with 0");
	}
	skip_digits(scan);
	if (is_at(scan, '.')) {
		*kind = JSON_REAL;
		scan->at++;
		if (!is_json_digit(scan))
			return fail_json(scan, "expected a digit");
		skip_digits(scan);
	}
	if (is_at(scan, 'e') || is_at(scan, 'E')) {
		*kind = JSON_REAL;
		scan->at++;
		if (is_at(scan, '+') || is_at(scan, '-'))
			scan->at++;
		if (!is_json_digit(scan))
			return fail_json(scan, "expected a digit");
		skip_digits(scan);
	}
	return 0;
}

static bool skip_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
		return false;
	scan->at += length;
	return true;
}

/* A key and its colon. */
static int scan_key(struct scan *scan, struct json_piece *key)
{
	int result = scan_string(scan, key);

	if (result)
		return result;
	skip_space(scan);
	if (!is_at(scan, ':'))
		return fail_json(scan, "expected ':'");
	scan->at++;
	skip_space(scan);
	return 0;
}

/* A string, number or word. */
static int scan_scalar(struct scan *scan, struct json_piece *piece, enum json_kind *kind)
{
	int result = 0;

	if (is_at(scan, '"')) {
		*kind = JSON_STRING;
		return scan_string(scan, piece);
	}
	piece->text = scan->at;
	if (skip_word(scan, "true"))
		*kind = JSON_TRUE;
	else if (skip_word(scan, "false"))
		*kind = JSON_FALSE;
	else if (skip_word(scan, "null"))
		*kind = JSON_NULL;
	else
		result = scan_number(scan, kind);
	piece->length = (uint32_t)(scan->at - piece->text);
	return result;
}

/* What may follow a value inside the container closed by close: 1 for another value, 0 for the end. */
static int scan_separator(struct scan *scan, char close)
{
	skip_space(scan);
	if (is_at(scan, ',')) {
		scan->at++;
		skip_space(scan);
		return 1;
	}
	if (!is_at(scan, close))
		return fail_json(scan, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
	scan->at++;
	return 0;
}

/* The inside of an object or array that no event can use, judged all the same. Opened already. */
static int skip_container(struct scan *scan, char close, int depth)
{
	struct json_piece piece;
	enum json_kind kind;
	int result;

	if (depth > NESTING_MAX)
		return fail_json(scan, "values are nested too deep");
	skip_space(scan);
	if (is_at(scan, close)) {
		scan->at++;
		return 0;
	}
	do {
		result = close == '}' ? scan_key(scan, &piece) : 0;
		if (result)
			return result;
		if (is_at(scan, '{') || is_at(scan, '[')) {
			char inner = *scan->at++ == '{' ? '}' : ']';

			result = skip_container(scan, inner, depth + 1);
		} else {
			result = scan_scalar(scan, &piece, &kind);
		}
		if (!result)
			result = scan_separator(scan, close);
	} while (result > 0);
	return result;
}

static int scan_member(struct scan *scan, struct json_member *member)
{
	int result = scan_key(scan, &member->key);

	if (result)
		return result;
	if (!is_at(scan, '{') && !is_at(scan, '['))
		return scan_scalar(scan, &member->value, &member->kind);
	const char *start = scan->at++;
	member->kind = *start == '{' ? JSON_OBJECT : JSON_ARRAY;
	result = skip_container(scan, *start == '{' ? '}' : ']', 2);
	member->value = (struct json_piece){ .text = start, .length = (uint32_t)(scan->at - start) };
	return result;
}

int json_read_object(const char *line, size_t length, struct json_members *members, struct json_error *error)
{
	struct scan scan = { line, line + length, error };
	int result;

	members->count = 0;
	skip_space(&scan);
	if (scan.at == scan.end)
		return 0;
	if (!is_at(&scan, '{'))
		return fail_json(&scan, "expected '{': an event is an object");
	scan.at++;
	skip_space(&scan);
	result = is_at(&scan, '}') ? 0 : 1;
	scan.at += !result;
	while (result > 0) {
		if (alloc_grow(&members->items, &members->room, members->count, sizeof *members->items))
			return -ENOMEM;
		result = scan_member(&scan, &members->items[members->count]);
		if (result)
			return result;
		members->count++;
		result = scan_separator(&scan, '}');
	}
	if (result)
		return result;
	skip_space(&scan);
	return scan.at == scan.end ? 1 : fail_json(&scan, "unexpected text after the object");
}

/* Writes the character as UTF-8 and returns its bytes. */
static size_t encode(uint32_t character, char to[4])
{
	if (character < 0x80) {
		to[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		to[0] = (char)(0xc0 | character >> 6);
		to[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		to[0] = (char)(0xe0 | character >> 12);
		to[1] = (char)(0x80 | (character >> 6 & 0x3f));
		to[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | character >> 18);
	to[1] = (char)(0x80 | (character >> 12 & 0x3f));
	to[2] = (char)(0x80 | (character >> 6 & 0x3f));
	to[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

/* Resolves the escape at from, behind its backslash; returns the bytes it took. The scan has found it sound. */
static size_t decode(const char *from, const char *end, uint32_t *character)
{
	static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";

	if (*from != 'u') {
		*character = (unsigned char)values[strchr(letters, *from) - letters];
		return 1;
	}
	int unit = hex_of(from + 1, end);
	if (!is_high_surrogate(unit)) {
		*character = (uint32_t)unit;
		return 5;
	}
	*character = 0x10000 + (uint32_t)((unit - 0xd800) << 10 | (hex_of(from + 7, end) - 0xdc00));
	return 11;
}

int64_t json_read_string(const struct json_piece *piece, char *to, size_t size)
{
	const char *from = piece->text, *end = from + piece->length;
	size_t length = 0;

	if (!piece->has_escape) {
		size_t kept = piece->length < size ? piece->length : size - 1;

		memcpy(to, from, kept);
		memset(to + kept, 0, size - kept);
		return piece->length;
	}
	memset(to, 0, size);
	while (from < end) {
		char bytes[4] = { *from++ };
		size_t count = 1;
		uint32_t character;

		if (bytes[0] == '\\') {
			from += decode(from, end, &character);
			if (!character)
				return -EINVAL;
			count = encode(character, bytes);
		}
		for (size_t i = 0; i < count; i++, length++) {
			if (length + 1 < size)
				to[length] = bytes[i];
		}
	}
	return (int64_t)length;
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const names[] = {
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number with a fraction",
		[JSON_TRUE] = "true",        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
	};

	return names[kind];
}
