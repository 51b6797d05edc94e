// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides the syntax of paths: recursive descent with a bounded depth, no memory. The grammar stands in
 * docs/formats/catalog.md, each function here is one line of it.
 */

#include "event/path-priv.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 12, TEXT_BYTES_MAX = 4000, CONDITIONS_MAX = 31, SCOPE_PATHS_MAX = 8, INDEX_MAX = 65536 };

static int scan_choice(struct event_scan *scan, unsigned depth, enum event_path_kind *kind);

/* The arguments that a function takes. */
enum shape {
	NOTHING,
	ONE_PATH,
	ONE_INTEGER,
	OFFSET_AND_BYTES,  /* bytes of an integer */
	OFFSET_AND_LENGTH, /* bytes of a string */
	STRUCT_AND_PATH,   /* what stands there; members may follow */
};

static const struct function {
	const char *name;
	enum shape shape;
	enum event_path_kind gives;
	uint64_t limit; /* integers must be below */
} functions[] = {
	{ "kstr", ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "ustr", ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "be16", ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "be32", ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "syscall_arg", ONE_INTEGER, EVENT_PATH_NUMBER, 6 },
	{ "user_arg", ONE_INTEGER, EVENT_PATH_NUMBER, 6 },
	{ "user_result", NOTHING, EVENT_PATH_NUMBER, 0 },
	{ "user_caller", NOTHING, EVENT_PATH_NUMBER, 0 },
	{ "user_word", ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "kernel_word", ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "cast", STRUCT_AND_PATH, EVENT_PATH_ANY, 0 },
	{ "ctx", OFFSET_AND_BYTES, EVENT_PATH_NUMBER, 65536 },
	{ "ctxs", OFFSET_AND_BYTES, EVENT_PATH_NUMBER, 65536 },
	{ "ctxstr", OFFSET_AND_LENGTH, EVENT_PATH_STRING, 65536 },
	{ "ctxloc", ONE_INTEGER, EVENT_PATH_STRING, 65536 },
};

/* The byte that comes next, or NUL at the end of the text. */
static char peek(struct event_scan *scan)
{
	event_scan_blank(scan);
	return scan->at < scan->end ? *scan->at : '\0';
}

static int scan_limited(struct event_scan *scan, uint64_t limit, uint64_t *value)
{
	struct event_span span;
	int result;

	event_scan_blank(scan);
	span.start = scan->at;
	result = event_scan_integer(scan, value);
	if (result < 0)
		return result;
	if (!result)
		return event_scan_expected(scan, "a number");
	span.length = (size_t)(scan->at - span.start);
	if (*value >= limit)
		return event_scan_error(scan, span, NULL, "this number must be below %llu", (unsigned long long)limit);
	return 0;
}

static int scan_numbers(struct event_scan *scan, const struct function *function)
{
	struct event_span span;
	uint64_t value;
	int result = scan_limited(scan, function->limit, &value);

	if (result || function->shape == ONE_INTEGER)
		return result;
	if (!event_scan_char(scan, ','))
		return event_scan_expected(scan, "','");
	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = scan_limited(scan, function->limit, &value);
	if (result)
		return result;
	if (value == 0 || (function->shape == OFFSET_AND_BYTES && (value > 8 || (value & (value - 1)))))
		return event_scan_error(scan, span, NULL, "%s() reads %s", function->name,
					function->shape == OFFSET_AND_BYTES ? "1, 2, 4 or 8 bytes"
									    : "at least one byte");
	return 0;
}

static int scan_struct(struct event_scan *scan)
{
	event_scan_blank(scan);
	if (!event_scan_name(scan).length)
		return event_scan_expected(scan, "the name of a struct");
	return event_scan_char(scan, ',') ? 0 : event_scan_expected(scan, "','");
}

static int scan_call(struct event_scan *scan, const struct function *function, unsigned depth)
{
	enum event_path_kind kind;
	struct event_span span;
	int result = function->shape == STRUCT_AND_PATH ? scan_struct(scan) : 0;

	if (result)
		return result;
	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	if (function->shape == ONE_PATH || function->shape == STRUCT_AND_PATH) {
		result = scan_choice(scan, depth + 1, &kind);
		if (!result && kind == EVENT_PATH_STRING)
			result = event_scan_error(scan, span, NULL, "%s() takes a number or a pointer, not a string",
						  function->name);
	} else if (function->shape != NOTHING) {
		result = scan_numbers(scan, function);
	}
	if (result)
		return result;
	return event_scan_char(scan, ')') ? 0 : event_scan_expected(scan, "')'");
}

static int scan_steps(struct event_scan *scan)
{
	uint64_t index;

	for (char c; (c = peek(scan)) == '[' || c == '.' || c == '-';) {
		int result;

		if (c == '[') {
			scan->at++;
			result = scan_limited(scan, INDEX_MAX, &index);
			if (result)
				return result;
			if (!event_scan_char(scan, ']'))
				return event_scan_expected(scan, "']'");
		} else if (event_scan_char(scan, '.') || event_scan_sign(scan, "->")) {
			if (!event_scan_name(scan).length)
				return event_scan_expected(scan, "a member's name");
		} else {
			break; /* a minus */
		}
	}
	return 0;
}

/* What a name alone stands for: current, or an argument, which only tracepoints have by name. */
static int check_alone(struct event_scan *scan, struct event_span name)
{
	const char *names[sizeof functions / sizeof *functions], *nearest;
	char text[32] = "", hint[64];

	if (!scan->in_probe || event_span_is(name, "current"))
		return 0;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		names[i] = functions[i].name;
	memcpy(text, name.start, name.length < sizeof text ? name.length : sizeof text - 1);
	nearest = diag_nearest(text, names, sizeof functions / sizeof *functions);
	snprintf(hint, sizeof hint, "did you mean %s(%s)?", nearest ? nearest : "",
		 nearest && strcmp(nearest, "user_arg") == 0 ? "0" : "");
	return event_scan_error(scan, name,
				nearest ? hint : "user_arg(0) is the first argument, user_result() the result",
				"a probe in user code has no arguments by name");
}

static int scan_named(struct event_scan *scan, struct event_span name, unsigned depth, enum event_path_kind *kind)
{
	int result;

	*kind = EVENT_PATH_ANY;
	if (!event_scan_char(scan, '(')) {
		result = check_alone(scan, name);
		return result ? result : scan_steps(scan);
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (event_span_is(name, functions[i].name)) {
			*kind = functions[i].gives;
			result = scan_call(scan, &functions[i], depth);

			return result || functions[i].shape != STRUCT_AND_PATH ? result : scan_steps(scan);
		}
	}
	return event_scan_error(scan, name,
				"kstr, ustr, be16, be32, syscall_arg, user_arg, user_result, user_caller, user_word, "
				"kernel_word, cast, ctx, ctxs, ctxstr, ctxloc",
				"there is no function of this name in paths");
}

static bool scan_compare(struct event_scan *scan)
{
	switch (peek(scan)) {
	case '=':
	case '!':
		return event_scan_sign(scan, "==") || event_scan_sign(scan, "!=");
	case '<':
	case '>':
		scan->at++;
		if (scan->at < scan->end && *scan->at == '=')
			scan->at++;
		return true;
	default:
		return false;
	}
}

static int not_a_number(struct event_scan *scan, struct event_span span)
{
	return event_scan_error(scan, span, NULL, "a string cannot be calculated with");
}

static int scan_parentheses(struct event_scan *scan, struct event_span span, unsigned depth, enum event_path_kind *kind)
{
	enum event_path_kind right;
	int result;

	if (depth >= DEPTH_MAX)
		return event_scan_error(scan, span, NULL, "parentheses nest more than %d deep here", DEPTH_MAX);
	result = scan_choice(scan, depth + 1, kind);
	if (result)
		return result;
	if (scan_compare(scan)) {
		result = scan_choice(scan, depth + 1, &right);
		if (result)
			return result;
		if (*kind == EVENT_PATH_STRING || right == EVENT_PATH_STRING)
			return not_a_number(scan, span);
		*kind = EVENT_PATH_NUMBER;
	}
	return event_scan_char(scan, ')') ? 0 : event_scan_expected(scan, "')'");
}

static int scan_signed(struct event_scan *scan)
{
	uint64_t value;
	bool negative = event_scan_char(scan, '-');
	int result = event_scan_integer(scan, &value);

	return result || !negative ? result : event_scan_expected(scan, "a number");
}

static int scan_term(struct event_scan *scan, unsigned depth, enum event_path_kind *kind)
{
	struct event_span span;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	if (event_scan_char(scan, '('))
		return scan_parentheses(scan, span, depth, kind);
	span = event_scan_name(scan);
	if (span.length)
		return scan_named(scan, span, depth, kind);
	*kind = EVENT_PATH_NUMBER;
	result = scan_signed(scan);
	return result > 0 ? 0 : result ? result : event_scan_expected(scan, "a path");
}

static bool scan_operator(struct event_scan *scan)
{
	switch (peek(scan)) {
	case '&':
	case '|':
	case '+':
	case '-':
	case '*':
		scan->at++;
		return true;
	case '<':
		return event_scan_sign(scan, "<<");
	case '>':
		return event_scan_sign(scan, ">>");
	default:
		return false;
	}
}

static int scan_sum(struct event_scan *scan, unsigned depth, enum event_path_kind *kind)
{
	struct event_span span;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = scan_term(scan, depth, kind);
	while (!result && scan_operator(scan)) {
		enum event_path_kind right;

		result = scan_term(scan, depth, &right);
		if (!result && (*kind == EVENT_PATH_STRING || right == EVENT_PATH_STRING))
			return not_a_number(scan, span);
		*kind = EVENT_PATH_NUMBER;
	}
	return result;
}

static int scan_choice(struct event_scan *scan, unsigned depth, enum event_path_kind *kind)
{
	struct event_span span;
	enum event_path_kind other;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	if (depth > DEPTH_MAX)
		return event_scan_error(scan, span, NULL, "parentheses nest more than %d deep here", DEPTH_MAX);
	result = scan_sum(scan, depth, kind);
	while (!result && event_scan_char(scan, '?')) {
		result = scan_sum(scan, depth, &other);
		if (result || other == EVENT_PATH_ANY)
			continue;
		if (*kind != EVENT_PATH_ANY && *kind != other)
			return event_scan_error(scan, span, NULL, "some choices give a string and some a number");
		*kind = other;
	}
	return result;
}

/* Evaluators need not take longer texts than this. */
static int check_length(struct event_scan *scan, struct event_span span)
{
	if (span.length < TEXT_BYTES_MAX)
		return 0;
	return event_scan_error(scan, (struct event_span){ span.start, 1 }, NULL, "this is longer than %d bytes",
				TEXT_BYTES_MAX);
}

int event_path_scan(struct event_scan *scan, struct event_span *span, enum event_path_kind *kind)
{
	int result;

	event_scan_blank(scan);
	span->start = scan->at;
	result = scan_choice(scan, 0, kind);
	span->length = (size_t)(scan->at - span->start);
	return result ? result : check_length(scan, *span);
}

static int scan_condition(struct event_scan *scan)
{
	enum event_path_kind kind;
	struct event_span path;
	int result = event_path_scan(scan, &path, &kind);

	if (result)
		return result;
	if (kind == EVENT_PATH_STRING)
		return event_scan_error(scan, path, NULL, "conditions of WHEN compare numbers, not strings");
	if (!scan_compare(scan))
		return event_scan_expected(scan, "a comparison");
	result = scan_signed(scan);
	return result > 0 ? 0 : result ? result : event_scan_expected(scan, "an integer");
}

int event_path_scan_when(struct event_scan *scan, struct event_span *span)
{
	unsigned count = 0;

	event_scan_blank(scan);
	span->start = scan->at;
	do {
		int result = count++ < CONDITIONS_MAX
				     ? scan_condition(scan)
				     : event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL,
							"a WHEN has at most %d conditions", CONDITIONS_MAX);

		if (result)
			return result;
		span->length = (size_t)(scan->at - span->start);
	} while (event_scan_keyword(scan, "AND"));
	return check_length(scan, *span);
}

int event_path_scan_scope(struct event_scan *scan, struct event_span *span)
{
	enum event_path_kind kind;
	struct event_span path;
	unsigned count = 0;

	event_scan_blank(scan);
	span->start = scan->at;
	do {
		int result = event_path_scan(scan, &path, &kind);

		if (result)
			return result;
		if (kind == EVENT_PATH_STRING)
			return event_scan_error(scan, path, NULL, "a process id is a number, not a string");
		if (++count > SCOPE_PATHS_MAX)
			return event_scan_error(scan, path, NULL, "a SCOPE has at most %d paths", SCOPE_PATHS_MAX);
		span->length = (size_t)(scan->at - span->start);
	} while (event_scan_char(scan, ','));
	return check_length(scan, *span);
}
