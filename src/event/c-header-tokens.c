// SPDX-License-Identifier: BSD-2-Clause
/*
 * Divides a C header into tokens, and follows the directives that matter - definitions, and what keeps parts of a
 * header out -, and numbers. Nothing is expanded and no other file is read.
 */

#include "event/c-header-priv.h"

#include <errno.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 1 << 20, DEFINES_MAX = 4096, DEPTH_MAX = 32 };

struct reading {
	struct event_scan *scan; /* at: where the reading is */
	struct c_tokens *tokens;
	bool open[DEPTH_MAX]; /* per #if: this part of it counts */
	bool done[DEPTH_MAX]; /* and a part has counted already */
	struct event_span begun[DEPTH_MAX];
	unsigned depth, shut; /* how many are open; how many of them keep out what stands here */
};

static bool is_token_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_token_digit(c) || c == '_';
}

static struct event_span take_while_name(const char **at, const char *end)
{
	struct event_span span = { *at, 0 };

	while (*at < end && is_token_char(**at))
		++*at;
	span.length = (size_t)(*at - span.start);
	return span;
}

/* The integer constant of C that span is, with its suffixes. */
static bool constant_number(struct event_span span, uint64_t *number)
{
	uint64_t base = 10;
	size_t i = 0;

	if (span.length > 2 && span.start[0] == '0' && (span.start[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	} else if (span.length > 1 && span.start[0] == '0') {
		base = 8;
	}
	while (span.length > i + 1 && strchr("uUlL", span.start[span.length - 1]))
		span.length--;
	*number = 0;
	for (; i < span.length; i++) {
		char c = span.start[i], low = (char)(c | 0x20);
		uint64_t digit = is_token_digit(c)          ? (uint64_t)(c - '0')
				 : low >= 'a' && low <= 'f' ? (uint64_t)(low - 'a' + 10)
							    : UINT64_MAX;

		if (digit >= base || __builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return span.length > 0;
}

/* Passes over blanks, comments and continued lines, up to the end of the line where stops says so. */
static int pass_blank(struct reading *reading, bool stops)
{
	struct event_scan *scan = reading->scan;

	while (scan->at < scan->end) {
		const char *at = scan->at;
		size_t left = (size_t)(scan->end - at);

		if (left > 1 && at[0] == '/' && at[1] == '*') {
			const char *close = memmem(at + 2, left - 2, "*/", 2);

			if (!close)
				return event_scan_error(scan, (struct event_span){ at, 2 }, NULL,
							"this comment is not closed");
			scan->at = close + 2;
		} else if (left > 1 && at[0] == '/' && at[1] == '/') {
			const char *newline = memchr(at, '\n', left);

			scan->at = newline ? newline : scan->end;
		} else if (left > 1 && at[0] == '\\' && (at[1] == '\n' || at[1] == '\r')) {
			scan->at += 2;
		} else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f' || *at == '\v' ||
			   (*at == '\n' && !stops)) {
			scan->at++;
		} else {
			break;
		}
	}
	return 0;
}

const struct c_define *c_header_tokens_define(const struct c_tokens *tokens, struct event_span name)
{
	for (size_t i = tokens->define_count; i-- > 0;) {
		const struct event_span *other = &tokens->defines[i].name;

		if (other->length == name.length && !memcmp(other->start, name.start, name.length))
			return &tokens->defines[i];
	}
	return NULL;
}

/* The value of a definition as a number, in parentheses or not, or as that of another definition. */
static void judge_define(const struct c_tokens *tokens, struct c_define *define)
{
	struct event_span value = define->value;

	while (value.length > 1 && value.start[0] == '(' && value.start[value.length - 1] == ')')
		value = (struct event_span){ value.start + 1, value.length - 2 };
	const struct c_define *other = c_header_tokens_define(tokens, value);

	define->is_number = other ? other->is_number : constant_number(value, &define->number);
	if (other)
		define->number = other->number;
}

/* What is left of the line, without comments behind it. */
static int take_value(struct reading *reading, struct event_span *value)
{
	struct event_scan *scan = reading->scan;
	int result = pass_blank(reading, true);
	const char *end = value->start = scan->at;

	while (!result && scan->at < scan->end && *scan->at != '\n') {
		end = ++scan->at;
		result = pass_blank(reading, true);
	}
	value->length = (size_t)(end - value->start);
	return result;
}

static int add_define(struct reading *reading, struct event_span name)
{
	struct event_scan *scan = reading->scan;
	struct c_tokens *tokens = reading->tokens;
	struct c_define define = { .name = name };
	bool has_parameters = scan->at < scan->end && *scan->at == '(';
	int result = take_value(reading, &define.value);

	if (result || has_parameters)
		return result;
	if (tokens->define_count == DEFINES_MAX)
		return event_scan_error(scan, name, NULL, "a header has at most %d definitions", DEFINES_MAX);
	judge_define(tokens, &define);
	if (alloc_grow(&tokens->defines, &tokens->define_capacity, tokens->define_count, sizeof define))
		return diag_no_memory(scan->diag);
	tokens->defines[tokens->define_count++] = define;
	return 0;
}

static int begin_part(struct reading *reading, struct event_span directive, bool counts)
{
	if (reading->depth == DEPTH_MAX)
		return event_scan_error(reading->scan, directive, NULL,
					"conditions are nested more than %d levels deep", DEPTH_MAX);
	reading->open[reading->depth] = reading->done[reading->depth] = counts;
	reading->begun[reading->depth++] = directive;
	reading->shut += !counts;
	return 0;
}

static int else_part(struct reading *reading, struct event_span directive)
{
	unsigned last = reading->depth - 1;

	if (!reading->depth)
		return event_scan_error(reading->scan, directive, NULL, "this has no #if before it");
	reading->shut -= !reading->open[last];
	reading->open[last] = !reading->done[last];
	reading->done[last] = true;
	reading->shut += !reading->open[last];
	return 0;
}

static int end_conditional(struct reading *reading, struct event_span directive)
{
	if (!reading->depth)
		return event_scan_error(reading->scan, directive, NULL, "this has no #if before it");
	reading->shut -= !reading->open[--reading->depth];
	return 0;
}

/* #ifdef and #ifndef ask for what this header has defined so far; #if knows 0 and 1. */
static int take_condition(struct reading *reading, struct event_span directive)
{
	struct event_span name;
	int result = take_value(reading, &name);

	if (result)
		return result;
	if (reading->shut)
		return begin_part(reading, directive, false);
	if (event_span_is(directive, "ifdef") || event_span_is(directive, "ifndef"))
		return begin_part(reading, directive,
				  (c_header_tokens_define(reading->tokens, name) != NULL) ==
					  event_span_is(directive, "ifdef"));
	if (event_span_is(name, "0") || event_span_is(name, "1"))
		return begin_part(reading, directive, event_span_is(name, "1"));
	return event_scan_error(reading->scan, directive, "#ifdef, #ifndef, #if 0 and #if 1 are",
				"cannot evaluate this condition");
}

/* Behind a #. */
static int take_directive(struct reading *reading)
{
	struct event_scan *scan = reading->scan;
	struct event_span rest = { NULL, 0 };
	int result = pass_blank(reading, true);
	struct event_span directive = take_while_name(&scan->at, scan->end);

	if (!result &&
	    (event_span_is(directive, "if") || event_span_is(directive, "ifdef") || event_span_is(directive, "ifndef")))
		return take_condition(reading, directive);
	if (!result && event_span_is(directive, "else"))
		result = else_part(reading, directive);
	else if (!result && event_span_is(directive, "endif"))
		result = end_conditional(reading, directive);
	else if (!result && event_span_is(directive, "elif"))
		result = event_scan_error(scan, directive, NULL, "cannot evaluate this condition");
	else if (!result && event_span_is(directive, "define") && !reading->shut &&
		 !(result = pass_blank(reading, true)))
		return add_define(reading, take_while_name(&scan->at, scan->end));
	if (!result)
		result = take_value(reading, &rest);
	if (!result && !reading->shut && event_span_is(directive, "pragma") && rest.length >= 4 &&
	    !memcmp(rest.start, "pack", 4))
		result = event_scan_error(scan, rest, NULL, "packed structs are not supported");
	return result;
}

static int add_token(struct reading *reading, const struct c_token *token)
{
	struct c_tokens *tokens = reading->tokens;

	if (reading->shut && token->kind != C_END)
		return 0;
	if (alloc_grow(&tokens->items, &tokens->capacity, tokens->count, sizeof *token))
		return diag_no_memory(reading->scan->diag);
	tokens->items[tokens->count++] = *token;
	return 0;
}

/* A text or a character in quotes. */
static int take_quoted(struct reading *reading, struct c_token *token)
{
	struct event_scan *scan = reading->scan;
	char quote = *scan->at++;

	while (scan->at < scan->end && *scan->at != quote && *scan->at != '\n')
		scan->at += *scan->at == '\\' && scan->at + 1 < scan->end ? 2 : 1;
	if (scan->at >= scan->end || *scan->at != quote) {
		if (reading->shut)
			return 0;
		return event_scan_error(scan, (struct event_span){ token->span.start, 1 }, NULL,
					"this is not closed on its line");
	}
	scan->at++;
	token->span.length = (size_t)(scan->at - token->span.start);
	return 0;
}

static int take_token(struct reading *reading)
{
	struct event_scan *scan = reading->scan;
	struct c_token token = { .kind = C_SIGN, .span = { scan->at, 1 } };
	int result = 0;

	if (is_token_char(*scan->at)) {
		token.kind = is_token_digit(*scan->at) ? C_NUMBER : C_NAME;
		token.span = take_while_name(&scan->at, scan->end);
		if (token.kind == C_NUMBER && !constant_number(token.span, &token.number))
			token.kind = C_OTHER;
	} else if (*scan->at == '"' || *scan->at == '\'') {
		token.kind = C_OTHER;
		result = take_quoted(reading, &token);
	} else {
		scan->at++;
	}
	return result ? result : add_token(reading, &token);
}

static bool begins_line(const struct event_scan *scan)
{
	const char *at = scan->at;

	while (at > scan->source->text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == scan->source->text || at[-1] == '\n' || at[-1] == '/';
}

int c_header_tokens_read(struct event_scan *scan, struct c_tokens *tokens)
{
	struct reading reading = { .scan = scan, .tokens = tokens };
	int result = 0;

	if (scan->end - scan->at > HEADER_BYTES_MAX)
		return event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL, "a header has at most %d bytes",
					HEADER_BYTES_MAX);
	while (!result && !(result = pass_blank(&reading, false)) && scan->at < scan->end) {
		if (*scan->at == '#' && begins_line(scan)) {
			scan->at++;
			result = take_directive(&reading);
		} else {
			result = take_token(&reading);
		}
	}
	if (!result && reading.depth)
		result = event_scan_error(scan, reading.begun[reading.depth - 1], NULL, "this has no #endif");
	return result ? result : add_token(&reading, &(struct c_token){ .kind = C_END, .span = { scan->end, 0 } });
}

void c_header_tokens_fini(struct c_tokens *tokens)
{
	alloc_free(tokens->items);
	alloc_free(tokens->defines);
}
