// SPDX-License-Identifier: BSD-2-Clause
/* Computes the values of numbers, times, sizes and strings. Times and decimal fractions of them are exact. */

#include "lang/syntax/ast.h"
#include "lang/syntax/lex.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	enum lang_unit_kind kind;
	uint64_t factor;
};

static const struct unit units[] = {
	{ "ns", LANG_TIME, 1 },
	{ "us", LANG_TIME, 1000 },
	{ "ms", LANG_TIME, 1000000 },
	{ "s", LANG_TIME, 1000000000 },
	{ "min", LANG_TIME, UINT64_C(60) * 1000000000 },
	{ "h", LANG_TIME, UINT64_C(3600) * 1000000000 },
	{ "KiB", LANG_SIZE, 1 << 10 },
	{ "MiB", LANG_SIZE, 1 << 20 },
	{ "GiB", LANG_SIZE, 1 << 30 },
};

/* A number in pieces: whole part, fraction, exponent, unit, each a range of offsets. */
struct number {
	size_t start, whole_end, fraction, fraction_end, exponent_end, end;
};

static int digit_value(unsigned char byte)
{
	if (lang_is_digit(byte))
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return 16;
}

static bool bad(struct lang_lexer *lexer, const struct lang_token *token, const char *hint, const char *what)
{
	int shown = token->location.length < 48 ? (int)token->location.length : 48;

	lang_error(lexer->report, &token->location, hint, "'%.*s' %s", shown, lang_token_bytes(token), what);
	return false;
}

static const char largest[] = "the largest integer is 18446744073709551615";

static bool whole_value(const struct lang_lexer *lexer, size_t from, size_t to, unsigned base, uint64_t *value)
{
	*value = 0;
	for (size_t at = from; at < to; at++) {
		uint64_t digit = (uint64_t)digit_value(lang_lex_byte(lexer, at));

		if (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, digit, value))
			return false;
	}
	return true;
}

static bool lex_hex(struct lang_lexer *lexer, struct lang_token *token)
{
	size_t start = lexer->offset, end = start + 2;

	while (digit_value(lang_lex_byte(lexer, end)) < 16)
		end++;
	size_t digits_end = end;
	while (lang_is_word(lang_lex_byte(lexer, end)))
		end++;
	lexer->offset = end;
	token->kind = LANG_TOKEN_INTEGER;
	token->location = lang_lex_location(lexer, start, end - start);
	if (digits_end == start + 2 || digits_end != end)
		return bad(lexer, token, "a hexadecimal number is 0x and digits, without a unit", "is not a number");
	if (!whole_value(lexer, start + 2, digits_end, 16, &token->integer))
		return bad(lexer, token, largest, "is too large");
	return true;
}

static size_t skip_digits(const struct lang_lexer *lexer, size_t at)
{
	while (lang_is_digit(lang_lex_byte(lexer, at)))
		at++;
	return at;
}

/* Finds the pieces. A dot belongs to the number only before a digit: `1..5` is a range. */
static struct number split_literal(const struct lang_lexer *lexer)
{
	struct number n = { .start = lexer->offset };

	n.whole_end = skip_digits(lexer, n.start);
	n.fraction = n.fraction_end = n.whole_end;
	if (lang_lex_byte(lexer, n.whole_end) == '.' && lang_is_digit(lang_lex_byte(lexer, n.whole_end + 1))) {
		n.fraction = n.whole_end + 1;
		n.fraction_end = skip_digits(lexer, n.fraction);
	}
	n.exponent_end = n.fraction_end;
	if ((lang_lex_byte(lexer, n.fraction_end) | 0x20) == 'e') {
		size_t at = n.fraction_end + 1;

		if (lang_lex_byte(lexer, at) == '+' || lang_lex_byte(lexer, at) == '-')
			at++;
		if (lang_is_digit(lang_lex_byte(lexer, at)))
			n.exponent_end = skip_digits(lexer, at);
	}
	n.end = n.exponent_end;
	while (lang_is_word(lang_lex_byte(lexer, n.end)))
		n.end++;
	return n;
}

static bool lex_real(struct lang_lexer *lexer, struct lang_token *token, const struct number *n)
{
	char digits[64];
	size_t length = n->exponent_end - n->start;

	token->kind = LANG_TOKEN_REAL;
	if (length >= sizeof digits)
		return bad(lexer, token, "63 characters are enough for any real number", "is too long");
	memcpy(digits, lexer->source->text + n->start, length);
	digits[length] = 0;
	/* The C locale object is static: this neither allocates nor depends on the program's locale. */
	token->real = strtod_l(digits, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
	if (!isfinite(token->real))
		return bad(lexer, token, NULL, "is too large");
	return true;
}

bool lang_is_unit(const struct lang_token *token)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (lang_token_is(token, units[i].name))
			return true;
	}
	return false;
}

static const struct unit *find_literal_unit(const struct lang_lexer *lexer, const struct number *n)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (lang_word_is(lexer->source->text + n->exponent_end, n->end - n->exponent_end, units[i].name))
			return &units[i];
	}
	return NULL;
}

/* whole.fraction times the unit, exactly; what is left over is an error. */
static bool lex_with_unit(struct lang_lexer *lexer, struct lang_token *token, const struct number *n)
{
	static const char known[] = "the units are ns us ms s min h and KiB MiB GiB";
	const struct unit *unit = find_literal_unit(lexer, n);
	size_t fraction_end = n->fraction_end;
	uint64_t whole, fraction, scale = 1;

	if (!unit)
		return bad(lexer, token, known, "has an unknown unit");
	if (n->exponent_end != n->fraction_end)
		return bad(lexer, token, NULL, "has an exponent and a unit");
	while (fraction_end > n->fraction && lang_lex_byte(lexer, fraction_end - 1) == '0')
		fraction_end--;
	if (fraction_end - n->fraction > 18)
		return bad(lexer, token, NULL, "has more digits than its unit allows");
	for (size_t at = n->fraction; at < fraction_end; at++)
		scale *= 10;
	if (!whole_value(lexer, n->start, n->whole_end, 10, &whole))
		return bad(lexer, token, "at most 9223372036854775807 ns or bytes", "is too large");
	whole_value(lexer, n->fraction, fraction_end, 10, &fraction);
	unsigned __int128 part = (unsigned __int128)fraction * unit->factor;
	unsigned __int128 value = (unsigned __int128)whole * unit->factor + part / scale;
	if (part % scale)
		return bad(lexer, token, NULL,
			   unit->kind == LANG_TIME ? "is not a whole number of ns" : "is not a whole number of bytes");
	if (value > INT64_MAX)
		return bad(lexer, token, "at most 9223372036854775807 ns or bytes", "is too large");
	token->kind = LANG_TOKEN_INTEGER;
	token->unit = unit->kind;
	token->integer = (uint64_t)value;
	return true;
}

bool lang_lex_number(struct lang_lexer *lexer, struct lang_token *token)
{
	if (lang_lex_byte(lexer, lexer->offset) == '0' && (lang_lex_byte(lexer, lexer->offset + 1) | 0x20) == 'x')
		return lex_hex(lexer, token);
	struct number n = split_literal(lexer);

	token->kind = LANG_TOKEN_INTEGER;
	token->location = lang_lex_location(lexer, n.start, n.end - n.start);
	lexer->offset = n.end;
	if (n.end != n.exponent_end)
		return lex_with_unit(lexer, token, &n);
	if (n.exponent_end != n.whole_end)
		return lex_real(lexer, token, &n);
	if (n.whole_end - n.start > 1 && lang_lex_byte(lexer, n.start) == '0')
		return bad(lexer, token, "octal numbers are not supported: write it in decimal or with 0x",
			   "starts with a zero");
	if (!whole_value(lexer, n.start, n.whole_end, 10, &token->integer))
		return bad(lexer, token, largest, "is too large");
	return true;
}

/* One simple escape: the letter behind the backslash and its byte. */
static const char simple_escapes[] = "n\nt\tr\ra\ab\bf\fv\v\\\\\"\"''?\?";

/* The byte that the escape at offset (behind the backslash) stands for, or -1; *next is the offset behind it. */
static int escape_value(const struct lang_lexer *lexer, size_t offset, size_t *next)
{
	unsigned char byte = lang_lex_byte(lexer, offset);
	int value = 0;

	*next = offset + 1;
	for (size_t i = 0; i + 1 < sizeof simple_escapes; i += 2) {
		if ((unsigned char)simple_escapes[i] == byte)
			return (unsigned char)simple_escapes[i + 1];
	}
	if (byte == 'x') {
		while (*next < offset + 3 && digit_value(lang_lex_byte(lexer, *next)) < 16)
			value = value * 16 + digit_value(lang_lex_byte(lexer, (*next)++));
		return *next == offset + 1 ? -1 : value;
	}
	*next = offset;
	while (*next < offset + 3 && digit_value(lang_lex_byte(lexer, *next)) < 8)
		value = value * 8 + digit_value(lang_lex_byte(lexer, (*next)++));
	return *next == offset || value > 255 ? -1 : value;
}

/* The offset of the closing quote of the string at the lexer's offset, or of the line's end. */
static size_t string_end(const struct lang_lexer *lexer)
{
	size_t at = lexer->offset + 1;

	while (at < lexer->limit && lang_lex_byte(lexer, at) != '"' && lang_lex_byte(lexer, at) != '\n') {
		bool escaped = lang_lex_byte(lexer, at) == '\\' && lang_lex_byte(lexer, at + 1) != '\n';

		at += escaped && at + 1 < lexer->limit ? 2 : 1;
	}
	return at;
}

bool lang_lex_decode(struct lang_lexer *lexer, size_t from, size_t to, char *text)
{
	for (size_t at = from, next; at < to; at = next) {
		unsigned char byte = lang_lex_byte(lexer, at);
		int value = byte;

		next = at + 1;
		if (byte == '\\')
			value = escape_value(lexer, at + 1, &next);
		struct diag_location location = lang_lex_location(lexer, at, next > at + 1 ? next - at : 2);
		if (value < 0) {
			lang_error(lexer->report, &location, "the escapes are those of C",
				   "unknown escape in a string");
			return false;
		}
		if (value == 0) {
			lang_error(lexer->report, &location, NULL, "a string cannot contain a NUL byte");
			return false;
		}
		*text++ = (char)value;
	}
	*text = 0;
	return true;
}

bool lang_lex_string(struct lang_lexer *lexer, struct lang_token *token)
{
	size_t start = lexer->offset, end = string_end(lexer);
	bool closed = lang_lex_byte(lexer, end) == '"' && end < lexer->limit;

	lexer->offset = closed ? end + 1 : end;
	token->location = lang_lex_location(lexer, start, lexer->offset - start);
	if (!closed) {
		lang_error(lexer->report, &token->location, "end it with '\"' on the same line",
			   "the string is not closed");
		return false;
	}
	if (end - start - 1 > LANG_STRING_BYTES_MAX) {
		lang_error(lexer->report, &token->location, NULL, "a string has at most %d bytes",
			   LANG_STRING_BYTES_MAX);
		return false;
	}
	char *text = arena_zero(lexer->arena, end - start, 1);
	if (!text) {
		lang_no_memory(lexer->report);
		return false;
	}
	token->text = text;
	return lang_lex_decode(lexer, start + 1, end, text);
}
