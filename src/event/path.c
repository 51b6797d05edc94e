// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses paths: recursive descent with a bounded depth; memory only for trees. The grammar stands in
 * docs/formats/catalog.md, each function here is one line of it.
 */

#include "event/path-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_DEPTH_MAX = 12, PATH_TEXT_BYTES_MAX = 4000, INDEX_MAX = 65536 };

/* What is being taken: what it yields, and its tree. */
struct taken {
	enum event_path_kind kind;
	struct event_path *tree;
};

static int scan_choice(struct event_scan *scan, unsigned depth, struct taken *taken);

/* The arguments that a function takes. */
enum shape {
	NOTHING,
	ONE_PATH,
	ONE_STRING,
	TWO_PATHS,
	ONE_INTEGER,
	OFFSET_AND_BYTES,  /* bytes of an integer */
	OFFSET_AND_LENGTH, /* bytes of a string */
	STRUCT_AND_PATH,   /* what stands there; members may follow */
	PATH_AND_BYTES,    /* bytes of an integer */
	PATH_AND_LENGTH,   /* bytes of a string */
};

static const struct function {
	const char *name;
	enum source_op op;
	enum shape shape;
	enum event_path_kind gives;
	uint64_t limit; /* integers must be below */
} functions[] = {
	{ "kstr", SOURCE_KSTR, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "ustr", SOURCE_USTR, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "length", SOURCE_LENGTH, ONE_STRING, EVENT_PATH_NUMBER, 0 },
	{ "be16", SOURCE_BE16, ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "be32", SOURCE_BE32, ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "be64", SOURCE_BE64, ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "syscall_arg", SOURCE_SYSCALL_ARG, ONE_INTEGER, EVENT_PATH_NUMBER, 6 },
	{ "user_arg", SOURCE_USER_ARG, ONE_INTEGER, EVENT_PATH_NUMBER, 6 },
	{ "user_result", SOURCE_USER_RESULT, NOTHING, EVENT_PATH_NUMBER, 0 },
	{ "user_caller", SOURCE_USER_CALLER, NOTHING, EVENT_PATH_NUMBER, 0 },
	{ "usdt_arg", SOURCE_USDT_ARG, ONE_INTEGER, EVENT_PATH_NUMBER, 12 },
	{ "user_word", SOURCE_USER_WORD, ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "user_uint", SOURCE_USER_UINT, PATH_AND_BYTES, EVENT_PATH_NUMBER, 9 },
	{ "user_int", SOURCE_USER_INT, PATH_AND_BYTES, EVENT_PATH_NUMBER, 9 },
	{ "user_chars", SOURCE_USER_CHARS, PATH_AND_LENGTH, EVENT_PATH_STRING, 4096 },
	{ "kernel_word", SOURCE_KERNEL_WORD, ONE_PATH, EVENT_PATH_NUMBER, 0 },
	{ "file_path", SOURCE_FILE_PATH, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "cgroup_path", SOURCE_CGROUP_PATH, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "container_name", SOURCE_CONTAINER_NAME, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "socket_peer", SOURCE_SOCKET_PEER, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "ip_text", SOURCE_IP_TEXT, TWO_PATHS, EVENT_PATH_STRING, 0 },
	{ "user_sockaddr", SOURCE_USER_SOCKADDR, TWO_PATHS, EVENT_PATH_STRING, 0 },
	{ "user_args", SOURCE_USER_ARGS, ONE_PATH, EVENT_PATH_STRING, 0 },
	{ "cast", SOURCE_CAST, STRUCT_AND_PATH, EVENT_PATH_ANY, 0 },
	{ "ctx", SOURCE_CTX, OFFSET_AND_BYTES, EVENT_PATH_NUMBER, 65536 },
	{ "ctxs", SOURCE_CTXS, OFFSET_AND_BYTES, EVENT_PATH_NUMBER, 65536 },
	{ "ctxstr", SOURCE_CTXSTR, OFFSET_AND_LENGTH, EVENT_PATH_STRING, 65536 },
	{ "ctxloc", SOURCE_CTXLOC, ONE_INTEGER, EVENT_PATH_STRING, 65536 },
};

/* NULL: no memory. */
static struct event_path *new_tree(struct event_scan *scan, enum source_op op)
{
	struct event_path *tree = scan->makes_trees ? arena_zero(scan->arena, 1, sizeof *tree) : &scan->nothing;

	if (tree)
		tree->op = op;
	return tree;
}

/* Puts an operation over what has been taken and right. */
static int join_taken_path(struct event_scan *scan, enum source_op op, struct taken *taken, struct event_path *right)
{
	struct event_path *left = taken->tree;

	taken->tree = new_tree(scan, op);
	if (!taken->tree)
		return -ENOMEM;
	taken->tree->left = left;
	taken->tree->right = right;
	return 0;
}

static int copy_name(struct event_scan *scan, struct event_span name, const char **copy)
{
	*copy = scan->makes_trees ? arena_text(scan->arena, name.start, name.length) : NULL;
	return *copy || !scan->makes_trees ? 0 : -ENOMEM;
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

/* A comma, and how many bytes are read. */
static int scan_bytes(struct event_scan *scan, const struct function *function, struct event_path *tree)
{
	bool is_integer = function->shape == OFFSET_AND_BYTES || function->shape == PATH_AND_BYTES;
	struct event_span span;
	uint64_t value = 0;
	int result;

	if (!event_scan_char(scan, ','))
		return event_scan_expected(scan, "','");
	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = scan_limited(scan, function->limit, &value);
	if (result)
		return result;
	if (value == 0 || (is_integer && (value > 8 || (value & (value - 1)))))
		return event_scan_error(scan, span, NULL, "%s() reads %s", function->name,
					is_integer ? "1, 2, 4 or 8 bytes" : "at least one byte");
	tree->bytes = (uint32_t)value;
	return 0;
}

static int scan_numbers(struct event_scan *scan, const struct function *function, struct event_path *tree)
{
	uint64_t value = 0;
	int result = scan_limited(scan, function->limit, &value);

	tree->value = (int64_t)value;
	return result || function->shape == ONE_INTEGER ? result : scan_bytes(scan, function, tree);
}

static int scan_struct(struct event_scan *scan, struct event_path *tree)
{
	struct event_span name;

	event_scan_blank(scan);
	name = event_scan_name(scan);
	if (!name.length)
		return event_scan_expected(scan, "the name of a struct");
	if (copy_name(scan, name, &tree->name))
		return -ENOMEM;
	return event_scan_char(scan, ',') ? 0 : event_scan_expected(scan, "','");
}

/* Whether it is a string where only something else makes sense. */
static bool is_string(const struct event_scan *scan, const struct taken *taken)
{
	return taken->kind == EVENT_PATH_STRING && !scan->makes_trees;
}

static int scan_argument(struct event_scan *scan, const struct function *function, unsigned depth,
			 struct event_path **argument)
{
	struct taken of = { 0 };
	struct event_span span;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = scan_choice(scan, depth + 1, &of);
	*argument = of.tree;
	if (!result && function->shape == ONE_STRING && of.kind == EVENT_PATH_NUMBER && !scan->makes_trees)
		return event_scan_error(scan, span, NULL, "%s() takes a string, not a number", function->name);
	if (!result && function->shape != ONE_STRING && is_string(scan, &of))
		result = event_scan_error(scan, span, NULL, "%s() takes a number or a pointer, not a string",
					  function->name);
	return result;
}

static int scan_path_call(struct event_scan *scan, const struct function *function, unsigned depth,
			  struct event_path *tree)
{
	bool is_sized = function->shape == PATH_AND_BYTES || function->shape == PATH_AND_LENGTH;
	bool is_single = function->shape == ONE_PATH || function->shape == ONE_STRING;
	int result = function->shape == STRUCT_AND_PATH ? scan_struct(scan, tree) : 0;

	if (result)
		return result;
	if (is_single || function->shape == TWO_PATHS || function->shape == STRUCT_AND_PATH || is_sized)
		result = scan_argument(scan, function, depth, &tree->left);
	else if (function->shape != NOTHING)
		result = scan_numbers(scan, function, tree);
	if (!result && is_sized)
		result = scan_bytes(scan, function, tree);
	if (!result && function->shape == TWO_PATHS) {
		result = event_scan_char(scan, ',') ? scan_argument(scan, function, depth, &tree->right)
						    : event_scan_expected(scan, "','");
	}
	if (result)
		return result;
	return event_scan_char(scan, ')') ? 0 : event_scan_expected(scan, "')'");
}

/* Takes one step. 1: taken, 0: none is there, else -EINVAL (reported) or -ENOMEM. */
static int scan_step(struct event_scan *scan, struct event_path_step *step)
{
	struct event_span name;
	uint64_t index = 0;
	int result;

	*step = (struct event_path_step){ 0 };
	if (event_scan_char(scan, '[')) {
		result = scan_limited(scan, INDEX_MAX, &index);
		step->index = (uint32_t)index;
		if (result)
			return result;
		return event_scan_char(scan, ']') ? 1 : event_scan_expected(scan, "']'");
	}
	if (!event_scan_char(scan, '.') && !event_scan_sign(scan, "->"))
		return 0;
	name = event_scan_name(scan);
	if (!name.length)
		return event_scan_expected(scan, "a member's name");
	result = copy_name(scan, name, &step->member);
	return result ? result : 1;
}

static int scan_steps(struct event_scan *scan, struct event_path *tree)
{
	struct event_path_step steps[EVENT_PATH_STEPS_MAX + 1];
	uint32_t count = 0;
	int result;

	while ((result = scan_step(scan, &steps[count])) > 0)
		if (++count > EVENT_PATH_STEPS_MAX)
			return event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL,
						"a path has at most %d members", EVENT_PATH_STEPS_MAX);
	if (result || !scan->makes_trees)
		return result;
	tree->steps = arena_zero(scan->arena, count, sizeof *steps);
	if (!tree->steps)
		return -ENOMEM;
	memcpy(tree->steps, steps, count * sizeof *steps);
	tree->step_count = count;
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
		 nearest && (strcmp(nearest, "user_arg") == 0 || strcmp(nearest, "usdt_arg") == 0) ? "0" : "");
	return event_scan_error(scan, name,
				nearest ? hint
				: scan->in_usdt
					? "write usdt_arg(0) for the first argument"
					: "write user_arg(0) for the first argument, user_result() for the result",
				"a probe in user code has no arguments by name");
}

/* A function's arguments are where it begins, those of a USDT probe where this stands. */
static int check_probe(struct event_scan *scan, struct event_span name, enum source_op op)
{
	bool of_function = op == SOURCE_USER_ARG || op == SOURCE_USER_RESULT || op == SOURCE_USER_CALLER;

	if (scan->in_usdt && of_function)
		return event_scan_error(scan, name, "write usdt_arg(0) for the first argument",
					"a USDT probe has its own arguments, not those of a function");
	if (scan->in_probe && !scan->in_usdt && op == SOURCE_USDT_ARG)
		return event_scan_error(scan, name, "write user_arg(0) for the first argument",
					"this is a probe of a function, not a USDT probe");
	return 0;
}

static int scan_named(struct event_scan *scan, struct event_span name, unsigned depth, struct taken *taken)
{
	int result;

	*taken = (struct taken){ EVENT_PATH_ANY, new_tree(scan, SOURCE_ACCESS) };
	if (!taken->tree)
		return -ENOMEM;
	if (!event_scan_char(scan, '(')) {
		result = check_alone(scan, name);
		if (!result)
			result = copy_name(scan, name, &taken->tree->name);
		return result ? result : scan_steps(scan, taken->tree);
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (event_span_is(name, functions[i].name)) {
			taken->kind = functions[i].gives;
			taken->tree->op = functions[i].op;
			result = check_probe(scan, name, functions[i].op);
			if (!result)
				result = scan_path_call(scan, &functions[i], depth, taken->tree);

			return result || functions[i].shape != STRUCT_AND_PATH ? result : scan_steps(scan, taken->tree);
		}
	}
	return event_scan_error(scan, name,
				"known functions: kstr, ustr, length, be16, be32, be64, syscall_arg, user_arg, "
				"user_result, user_caller, usdt_arg, user_word, user_uint, user_int, user_chars, "
				"kernel_word, file_path, cgroup_path, container_name, socket_peer, ip_text, "
				"user_sockaddr, user_args, cast, ctx, ctxs, ctxstr, ctxloc",
				"unknown function in a path");
}

struct sign {
	const char *text;
	enum source_op op;
};

/* Takes the first of the signs that is there. */
static bool scan_signs(struct event_scan *scan, const struct sign *signs, size_t count, enum source_op *op)
{
	event_scan_blank(scan);
	for (size_t i = 0; scan->at < scan->end && i < count; i++) {
		if (*scan->at == signs[i].text[0] && event_scan_sign(scan, signs[i].text)) {
			*op = signs[i].op;
			return true;
		}
	}
	return false;
}

static bool scan_compare(struct event_scan *scan, enum source_op *op)
{
	static const struct sign signs[] = {
		{ "==", SOURCE_EQ }, { "!=", SOURCE_NE }, { "<=", SOURCE_LE },
		{ ">=", SOURCE_GE }, { "<", SOURCE_LT },  { ">", SOURCE_GT },
	};

	return scan_signs(scan, signs, sizeof signs / sizeof *signs, op);
}

static int not_a_number(struct event_scan *scan, struct event_span span)
{
	return event_scan_error(scan, span, NULL, "strings cannot be used in calculations");
}

static int scan_parentheses(struct event_scan *scan, struct event_span span, unsigned depth, struct taken *taken)
{
	struct taken right;
	enum source_op op;
	int result;

	if (depth >= PATH_DEPTH_MAX)
		return event_scan_error(scan, span, NULL, "parentheses are nested more than %d levels deep here",
					PATH_DEPTH_MAX);
	result = scan_choice(scan, depth + 1, taken);
	if (result)
		return result;
	if (scan_compare(scan, &op)) {
		result = scan_choice(scan, depth + 1, &right);
		if (result)
			return result;
		if (is_string(scan, taken) || is_string(scan, &right))
			return not_a_number(scan, span);
		taken->kind = EVENT_PATH_NUMBER;
		result = join_taken_path(scan, op, taken, right.tree);
		if (result)
			return result;
	}
	return event_scan_char(scan, ')') ? 0 : event_scan_expected(scan, "')'");
}

/* 1: taken, 0: none is there */
static int scan_signed(struct event_scan *scan, int64_t *number)
{
	struct event_span span;
	uint64_t value = 0;
	bool negative;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	negative = event_scan_char(scan, '-');
	result = event_scan_integer(scan, &value);
	if (result > 0 && negative && value > (uint64_t)INT64_MAX + 1)
		return event_scan_error(scan, span, NULL, "this number does not fit 64 bits");
	*number = (int64_t)(negative ? 0 - value : value);
	return result || !negative ? result : event_scan_expected(scan, "a number");
}

static int scan_term(struct event_scan *scan, unsigned depth, struct taken *taken)
{
	struct event_span span;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	if (event_scan_char(scan, '('))
		return scan_parentheses(scan, span, depth, taken);
	span = event_scan_name(scan);
	if (span.length)
		return scan_named(scan, span, depth, taken);
	*taken = (struct taken){ EVENT_PATH_NUMBER, new_tree(scan, SOURCE_CONST) };
	if (!taken->tree)
		return -ENOMEM;
	result = scan_signed(scan, &taken->tree->value);
	return result > 0 ? 0 : result ? result : event_scan_expected(scan, "a path");
}

static bool scan_operator(struct event_scan *scan, enum source_op *op)
{
	static const struct sign signs[] = {
		{ "<<", SOURCE_SHL }, { ">>", SOURCE_SHR }, { "&", SOURCE_AND }, { "|", SOURCE_OR },
		{ "+", SOURCE_ADD },  { "-", SOURCE_SUB },  { "*", SOURCE_MUL },
	};

	return scan_signs(scan, signs, sizeof signs / sizeof *signs, op);
}

static int scan_sum(struct event_scan *scan, unsigned depth, struct taken *taken)
{
	struct event_span span;
	enum source_op op;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = scan_term(scan, depth, taken);
	while (!result && scan_operator(scan, &op)) {
		struct taken right;

		result = scan_term(scan, depth, &right);
		if (!result && (is_string(scan, taken) || is_string(scan, &right)))
			return not_a_number(scan, span);
		taken->kind = EVENT_PATH_NUMBER;
		if (!result)
			result = join_taken_path(scan, op, taken, right.tree);
	}
	return result;
}

static int scan_choice(struct event_scan *scan, unsigned depth, struct taken *taken)
{
	struct event_span span;
	struct taken other;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	if (depth > PATH_DEPTH_MAX)
		return event_scan_error(scan, span, NULL, "parentheses are nested more than %d levels deep here",
					PATH_DEPTH_MAX);
	result = scan_sum(scan, depth, taken);
	while (!result && event_scan_char(scan, '?')) {
		result = scan_sum(scan, depth, &other);
		if (!result)
			result = join_taken_path(scan, SOURCE_CHOICE, taken, other.tree);
		if (result || other.kind == EVENT_PATH_ANY)
			continue;
		if (taken->kind != EVENT_PATH_ANY && taken->kind != other.kind && !scan->makes_trees)
			return event_scan_error(scan, span, NULL, "some choices give a string and some a number");
		taken->kind = other.kind;
	}
	return result;
}

/* Evaluators need not take longer texts than this. */
static int check_length(struct event_scan *scan, struct event_span span)
{
	if (span.length < PATH_TEXT_BYTES_MAX)
		return 0;
	return event_scan_error(scan, (struct event_span){ span.start, 1 }, NULL, "this is longer than %d bytes",
				PATH_TEXT_BYTES_MAX);
}

static int scan_path(struct event_scan *scan, struct event_span *span, struct taken *taken)
{
	int result;

	event_scan_blank(scan);
	span->start = scan->at;
	result = scan_choice(scan, 0, taken);
	span->length = (size_t)(scan->at - span->start);
	return result ? result : check_length(scan, *span);
}

int event_path_scan(struct event_scan *scan, struct event_span *span, enum event_path_kind *kind)
{
	struct taken taken = { 0 };
	int result = scan_path(scan, span, &taken);

	*kind = taken.kind;
	return result;
}

int event_path_scan_tree(struct event_scan *scan, struct event_path **made)
{
	struct event_span span;
	struct taken taken = { 0 };
	int result = scan_path(scan, &span, &taken);

	*made = taken.tree;
	return result;
}

int event_path_scan_condition(struct event_scan *scan, struct event_path_condition *condition)
{
	struct event_span path;
	struct taken taken = { 0 };
	int result = scan_path(scan, &path, &taken);

	if (result)
		return result;
	if (is_string(scan, &taken))
		return event_scan_error(scan, path, NULL, "conditions of WHEN compare numbers, not strings");
	if (!scan_compare(scan, &condition->compare))
		return event_scan_expected(scan, "a comparison");
	condition->path = taken.tree;
	result = scan_signed(scan, &condition->value);
	return result > 0 ? 0 : result ? result : event_scan_expected(scan, "an integer");
}

int event_path_scan_when(struct event_scan *scan, struct event_span *span)
{
	struct event_path_condition condition;
	unsigned count = 0;

	event_scan_blank(scan);
	span->start = scan->at;
	do {
		int result = count++ < EVENT_PATH_CONDITIONS_MAX
				     ? event_path_scan_condition(scan, &condition)
				     : event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL,
							"a WHEN has at most %d conditions", EVENT_PATH_CONDITIONS_MAX);

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
		if (++count > EVENT_PATH_SCOPE_MAX)
			return event_scan_error(scan, path, NULL, "a SCOPE has at most %d paths", EVENT_PATH_SCOPE_MAX);
		span->length = (size_t)(scan->at - span->start);
	} while (event_scan_char(scan, ','));
	return check_length(scan, *span);
}
