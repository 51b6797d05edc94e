// SPDX-License-Identifier: BSD-2-Clause
/* Divides a catalog into tokens. Never reads at or past the end of the text. */

#include "event/scan-priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void event_scan_init(struct event_scan *scan, const struct diag_source *source, struct asterism_diag *diag,
		     struct arena *arena)
{
	*scan = (struct event_scan){
		.at = source->text,
		.end = source->text + source->length,
		.source = source,
		.diag = diag,
		.arena = arena,
	};
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_scan_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_scan_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_scan_digit(c) || c == '_';
}

static const char *after_blank(const char *at, const char *end)
{
	while (at < end) {
		if (*at == '#') {
			const char *newline = memchr(at, '\n', (size_t)(end - at));

			at = newline ? newline : end;
		} else if (is_blank(*at)) {
			at++;
		} else {
			break;
		}
	}
	return at;
}

void event_scan_pass_blank(struct event_scan *scan)
{
	scan->at = after_blank(scan->at, scan->end);
}

bool event_scan_char(struct event_scan *scan, char c)
{
	event_scan_blank(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

bool event_scan_sign(struct event_scan *scan, const char *sign)
{
	size_t length = strlen(sign);

	event_scan_blank(scan);
	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, sign, length))
		return false;
	scan->at += length;
	return true;
}

static struct event_span peek_name(struct event_scan *scan)
{
	struct event_span span;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 0 };
	if (scan->at == scan->end || is_scan_digit(*scan->at))
		return span;
	while (scan->at + span.length < scan->end && is_scan_name_char(scan->at[span.length]))
		span.length++;
	return span;
}

struct event_span event_scan_name(struct event_scan *scan)
{
	struct event_span span = peek_name(scan);

	scan->at += span.length;
	return span;
}

bool event_scan_keyword(struct event_scan *scan, const char *keyword)
{
	struct event_span span = peek_name(scan);

	if (span.length != strlen(keyword) || strncasecmp(span.start, keyword, span.length))
		return false;
	scan->at += span.length;
	return true;
}

static int scan_digit(char c)
{
	if (is_scan_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

int event_scan_integer(struct event_scan *scan, uint64_t *value)
{
	struct event_span span;
	uint64_t result = 0;
	unsigned base = 10;
	size_t i = 0;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 0 };
	if (scan->at == scan->end || !is_scan_digit(*scan->at))
		return 0;
	while (span.start + span.length < scan->end && is_scan_name_char(span.start[span.length]))
		span.length++;
	if (span.length > 2 && span.start[0] == '0' && (span.start[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	}
	for (; i < span.length; i++) {
		unsigned digit = (unsigned)scan_digit(span.start[i]);

		if (digit >= base)
			return event_scan_error(scan, span, NULL, "'%.*s' is not a number", (int)span.length,
						span.start);
		if (__builtin_mul_overflow(result, base, &result) || __builtin_add_overflow(result, digit, &result))
			return event_scan_error(scan, span, NULL, "this number does not fit 64 bits");
	}
	scan->at += span.length;
	*value = result;
	return 1;
}

static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '"':
	case '\\':
		return c;
	default:
		return '\0';
	}
}

int event_scan_text(struct event_scan *scan, const char **text)
{
	const char *start, *at;
	size_t length = 0;
	char *copy;

	event_scan_blank(scan);
	if (scan->at == scan->end || *scan->at != '"')
		return 0;
	start = scan->at;
	for (at = start + 1; at < scan->end && *at != '"' && *at != '\n' && *at != '\0'; at++)
		at += *at == '\\' && at + 1 < scan->end;
	if (at >= scan->end || *at != '"')
		return event_scan_error(scan, (struct event_span){ start, 1 }, NULL,
					"this string is not closed on its line");
	copy = arena_text(scan->arena, start + 1, (size_t)(at - start - 1));
	if (!copy)
		return -ENOMEM;
	for (const char *from = start + 1; from < at; from++) {
		char c = *from;

		if (c == '\\' && !(c = unescape(*++from)))
			return event_scan_error(scan, (struct event_span){ from - 1, 2 }, NULL,
						"the only escapes in strings are \\n \\t \\\" \\\\");
		copy[length++] = c;
	}
	copy[length] = '\0';
	scan->at = at + 1;
	*text = copy;
	return 1;
}

const char *event_scan_copy(struct event_scan *scan, struct event_span span)
{
	const char *end = span.start + span.length;
	char *copy = arena_text(scan->arena, span.start, span.length), *to = copy;

	if (!copy)
		return NULL;
	for (const char *from = span.start; from < end;) {
		if (is_blank(*from) || *from == '#') {
			from = after_blank(from, end);
			*to++ = ' ';
		} else {
			*to++ = *from++;
		}
	}
	while (to > copy && to[-1] == ' ')
		to--;
	*to = '\0';
	return copy;
}

bool event_span_is(struct event_span span, const char *text)
{
	return strlen(text) == span.length && !memcmp(span.start, text, span.length);
}

/* Line and column are only worked out for texts with errors. */
static struct diag_location span_location(const struct event_scan *scan, struct event_span span)
{
	const char *line = scan->source->text;
	struct diag_location location = {
		.source = scan->source,
		.offset = (uint64_t)(span.start - line),
		.line = 1,
		.length = span.length && span.length < 200 ? (uint32_t)span.length : 1,
	};

	for (const char *newline; (newline = memchr(line, '\n', (size_t)(span.start - line)));) {
		location.line++;
		line = newline + 1;
	}
	location.column = (uint32_t)(span.start - line) + 1;
	return location;
}

uint32_t event_scan_line(const struct event_scan *scan, struct event_span span)
{
	return span_location(scan, span).line;
}

int event_scan_error(struct event_scan *scan, struct event_span span, const char *hint, const char *format, ...)
{
	struct diag_location location = span_location(scan, span);
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	diag_add(scan->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

void event_scan_warn(struct event_scan *scan, struct event_span span, const char *format, ...)
{
	struct diag_location location = span_location(scan, span);
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	diag_add(scan->diag, ASTERISM_WARNING, &location, NULL, "%s", text);
}

int event_scan_expected(struct event_scan *scan, const char *what)
{
	struct event_span span = peek_name(scan);
	unsigned char c;

	if (scan->at == scan->end)
		return event_scan_error(scan, span, NULL, "expected %s, found the end%s", what,
					scan->source->file ? " of the file" : "");
	if (span.length)
		return event_scan_error(scan, span, NULL, "expected %s, found '%.*s'", what,
					span.length < 80 ? (int)span.length : 80, span.start);
	c = (unsigned char)*scan->at;
	if (c < ' ' || c > '~')
		return event_scan_error(scan, span, NULL, "expected %s, found the byte 0x%02x", what, c);
	return event_scan_error(scan, span, NULL, "expected %s, found '%c'", what, c);
}

int event_scan_value(struct event_scan *scan, enum event_value *value)
{
	static const char *const names[] = { "u8",  "u16", "u32",  "u64",  "i8",   "i16",   "i32",
					     "i64", "f64", "bool", "time", "addr", "string" };
	struct event_span span = event_scan_name(scan);
	char name[16] = "";

	if (!span.length)
		return event_scan_expected(scan, "a type");
	memcpy(name, span.start, span.length < sizeof name ? span.length : sizeof name - 1);
	*value = event_value_find(name);
	if (!*value)
		return event_scan_error(scan, span, diag_nearest(name, names, sizeof names / sizeof *names),
					"unknown type '%.*s'", (int)(span.length < 80 ? span.length : 80), span.start);
	return 0;
}

void event_scan_paragraph(struct event_scan *scan)
{
	while (scan->at < scan->end) {
		const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));

		scan->at = newline ? newline + 1 : scan->end;
		size_t left = (size_t)(scan->end - scan->at);

		if ((left >= 5 && !memcmp(scan->at, "EVENT", 5)) || (left >= 7 && !memcmp(scan->at, "SYSCALL", 7)))
			return;
	}
}
