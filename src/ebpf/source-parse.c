// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a catalog path says. Catalogs are untrusted: nesting is bounded, a text can only make as many nodes as
 * it has bytes, and numbers that do not fit are refused.
 */

#include "ebpf/source-path.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	NESTING_MAX = 16,
	TEXT_BYTES_MAX = 4096,
	HOPS_MAX = 64,
	CONDITIONS_MAX = 31,
	SCOPE_PATHS_MAX = 8,
	CTX_BYTES_MAX = 8192,
};

struct parser {
	const char *at;
	struct arena *arena;
	int depth;
	char *reason;
	size_t size;
};

static int parse_path(struct parser *parser, struct source_node **parsed);

__attribute__((format(printf, 2, 3))) static int refuse(struct parser *parser, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parser->reason, parser->size, format, args);
	va_end(args);
	return -EINVAL;
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

/* Passes over text where it comes next. */
static bool take(struct parser *parser, const char *text)
{
	skip_blanks(parser);
	if (strncmp(parser->at, text, strlen(text)) != 0)
		return false;
	parser->at += strlen(text);
	return true;
}

static int expect(struct parser *parser, const char *text)
{
	if (take(parser, text))
		return 0;
	if (*parser->at == '\0')
		return refuse(parser, "'%s' is missing at the end", text);
	return refuse(parser, "'%s' is missing before '%.20s'", text, parser->at);
}

static struct source_node *new_node(struct parser *parser, enum source_op op)
{
	struct source_node *node = arena_zero(parser->arena, 1, sizeof *node);

	if (node)
		node->op = op;
	return node;
}

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* Stores the length of the name that comes next; 0 where none does. */
static size_t name_length(struct parser *parser)
{
	size_t length = 0;

	skip_blanks(parser);
	if (!begins_name(*parser->at))
		return 0;
	while (begins_name(parser->at[length]) || isdigit((unsigned char)parser->at[length]))
		length++;
	return length;
}

static bool is_number(struct parser *parser)
{
	skip_blanks(parser);
	return isdigit((unsigned char)*parser->at) || (*parser->at == '-' && isdigit((unsigned char)parser->at[1]));
}

static int parse_number(struct parser *parser, int64_t *number)
{
	skip_blanks(parser);
	bool negative = *parser->at == '-';
	uint64_t value = 0;
	unsigned base = 10, digit;

	parser->at += negative;
	if (!isdigit((unsigned char)*parser->at))
		return refuse(parser, "a number is missing before '%.20s'", parser->at);
	if (parser->at[0] == '0' && (parser->at[1] == 'x' || parser->at[1] == 'X')) {
		base = 16;
		parser->at += 2;
		if (!isxdigit((unsigned char)*parser->at))
			return refuse(parser, "digits are missing after 0x");
	}
	for (; isxdigit((unsigned char)*parser->at); parser->at++) {
		char c = *parser->at;

		digit = isdigit((unsigned char)c) ? (unsigned)(c - '0')
						  : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
			return refuse(parser, "a number does not fit in 64 bits");
	}
	if (begins_name(*parser->at))
		return refuse(parser, "a number ends in '%.20s'", parser->at);
	if (negative && value > (uint64_t)INT64_MAX + 1)
		return refuse(parser, "a number does not fit in 64 bits");
	*number = (int64_t)(negative ? 0 - value : value);
	return 0;
}

static int parse_bounded(struct parser *parser, int64_t max, int64_t *number)
{
	int result = parse_number(parser, number);

	if (!result && (*number < 0 || *number > max))
		result = refuse(parser, "%lld is not between 0 and %lld", (long long)*number, (long long)max);
	return result;
}

static int parse_hops(struct parser *parser, struct source_node *node);

static int parse_cast(struct parser *parser, struct source_node *node)
{
	size_t length = name_length(parser);
	int result;

	if (length == 0)
		return refuse(parser, "the name of a struct is missing before '%.20s'", parser->at);
	node->name = arena_text(parser->arena, parser->at, length);
	if (!node->name)
		return -ENOMEM;
	parser->at += length;
	result = expect(parser, ",");
	if (!result)
		result = parse_path(parser, &node->left);
	if (!result)
		result = expect(parser, ")");
	return result ? result : parse_hops(parser, node);
}

/* The arguments of a function, the opening parenthesis included. */
static int parse_arguments(struct parser *parser, struct source_node *node)
{
	int64_t bytes;
	int result = expect(parser, "(");

	if (result)
		return result;
	switch (node->op) {
	case SOURCE_CAST:
		return parse_cast(parser, node);
	case SOURCE_USER_RESULT:
	case SOURCE_USER_CALLER:
		break;
	case SOURCE_USER_ARG:
	case SOURCE_SYSCALL_ARG:
		result = parse_bounded(parser, 5, &node->value);
		break;
	case SOURCE_CTX:
	case SOURCE_CTXS:
	case SOURCE_CTXSTR:
		result = parse_bounded(parser, CTX_BYTES_MAX, &node->value);
		if (!result)
			result = expect(parser, ",");
		if (!result)
			result = parse_bounded(parser, CTX_BYTES_MAX, &bytes);
		if (result)
			return result;
		node->bytes = (uint32_t)bytes;
		if (node->op != SOURCE_CTXSTR && bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
			return refuse(parser, "integers have 1, 2, 4 or 8 bytes, not %lld", (long long)bytes);
		if (bytes == 0)
			return refuse(parser, "a string needs at least one byte");
		break;
	case SOURCE_CTXLOC:
		result = parse_bounded(parser, CTX_BYTES_MAX, &node->value);
		break;
	default:
		result = parse_path(parser, &node->left);
	}
	return result ? result : expect(parser, ")");
}

static const struct {
	const char *name;
	enum source_op op;
} functions[] = {
	{ "kstr", SOURCE_KSTR },
	{ "ustr", SOURCE_USTR },
	{ "be16", SOURCE_BE16 },
	{ "be32", SOURCE_BE32 },
	{ "syscall_arg", SOURCE_SYSCALL_ARG },
	{ "user_word", SOURCE_USER_WORD },
	{ "kernel_word", SOURCE_KERNEL_WORD },
	{ "cast", SOURCE_CAST },
	{ "user_arg", SOURCE_USER_ARG },
	{ "user_result", SOURCE_USER_RESULT },
	{ "user_caller", SOURCE_USER_CALLER },
	{ "ctx", SOURCE_CTX },
	{ "ctxs", SOURCE_CTXS },
	{ "ctxstr", SOURCE_CTXSTR },
	{ "ctxloc", SOURCE_CTXLOC },
};

static int parse_hops(struct parser *parser, struct source_node *node)
{
	struct btf_hop hops[HOPS_MAX];
	uint32_t count = 0;
	int64_t index;

	for (;; count++) {
		bool is_index = false;

		if (!take(parser, "->") && !take(parser, ".") && !(is_index = take(parser, "[")))
			break;
		if (count == HOPS_MAX)
			return refuse(parser, "a path has more than %d members", HOPS_MAX);
		hops[count] = (struct btf_hop){ 0 };
		if (is_index) {
			int result = parse_bounded(parser, INT32_MAX, &index);

			if (!result)
				result = expect(parser, "]");
			if (result)
				return result;
			hops[count].index = (uint32_t)index;
			continue;
		}
		size_t length = name_length(parser);

		if (length == 0)
			return refuse(parser, "a member is missing before '%.20s'", parser->at);
		hops[count].member = arena_text(parser->arena, parser->at, length);
		if (!hops[count].member)
			return -ENOMEM;
		parser->at += length;
	}
	node->hops = arena_zero(parser->arena, count, sizeof *hops);
	if (!node->hops)
		return -ENOMEM;
	memcpy(node->hops, hops, count * sizeof *hops);
	node->hop_count = count;
	return 0;
}

static int parse_named(struct parser *parser, size_t length, struct source_node *node)
{
	const char *name = arena_text(parser->arena, parser->at, length);

	if (!name)
		return -ENOMEM;
	parser->at += length;
	skip_blanks(parser);
	if (*parser->at == '(') {
		for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
			if (strcmp(functions[i].name, name) == 0) {
				node->op = functions[i].op;
				return parse_arguments(parser, node);
			}
		}
		return refuse(parser, "there is no function '%s'", name);
	}
	node->name = name;
	return parse_hops(parser, node);
}

static bool take_compare(struct parser *parser, enum source_op *op)
{
	static const struct {
		const char *text;
		enum source_op op;
	} compares[] = {
		{ "==", SOURCE_EQ }, { "!=", SOURCE_NE }, { "<=", SOURCE_LE },
		{ ">=", SOURCE_GE }, { "<", SOURCE_LT },  { ">", SOURCE_GT },
	};

	for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
		if (take(parser, compares[i].text)) {
			*op = compares[i].op;
			return true;
		}
	}
	return false;
}

static int parse_parentheses(struct parser *parser, struct source_node **parsed)
{
	struct source_node *node;
	enum source_op op;
	int result = parse_path(parser, parsed);

	if (!result && take_compare(parser, &op)) {
		node = new_node(parser, op);
		if (!node)
			return -ENOMEM;
		node->left = *parsed;
		result = parse_path(parser, &node->right);
		*parsed = node;
	}
	return result ? result : expect(parser, ")");
}

static int parse_term(struct parser *parser, struct source_node **parsed)
{
	size_t length;

	if (take(parser, "("))
		return parse_parentheses(parser, parsed);
	*parsed = new_node(parser, SOURCE_CONST);
	if (!*parsed)
		return -ENOMEM;
	if (is_number(parser))
		return parse_number(parser, &(*parsed)->value);
	length = name_length(parser);
	(*parsed)->op = SOURCE_ACCESS;
	if (length)
		return parse_named(parser, length, *parsed);
	if (*parser->at == '\0')
		return refuse(parser, "a value is missing at the end");
	return refuse(parser, "a value is missing before '%.20s'", parser->at);
}

static bool take_operator(struct parser *parser, enum source_op *op)
{
	static const struct {
		const char *text;
		enum source_op op;
	} operators[] = {
		{ "<<", SOURCE_SHL }, { ">>", SOURCE_SHR }, { "&", SOURCE_AND }, { "|", SOURCE_OR },
		{ "+", SOURCE_ADD },  { "-", SOURCE_SUB },  { "*", SOURCE_MUL },
	};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (take(parser, operators[i].text)) {
			*op = operators[i].op;
			return true;
		}
	}
	return false;
}

static int parse_sum(struct parser *parser, struct source_node **parsed)
{
	enum source_op op;
	int result = parse_term(parser, parsed);

	while (!result && take_operator(parser, &op)) {
		struct source_node *node = new_node(parser, op);

		if (!node)
			return -ENOMEM;
		node->left = *parsed;
		result = parse_term(parser, &node->right);
		*parsed = node;
	}
	return result;
}

static int parse_path(struct parser *parser, struct source_node **parsed)
{
	int result;

	if (++parser->depth > NESTING_MAX)
		return refuse(parser, "parentheses nest more than %d deep", NESTING_MAX);
	result = parse_sum(parser, parsed);
	while (!result && take(parser, "?")) {
		struct source_node *node = new_node(parser, SOURCE_CHOICE);

		if (!node)
			return -ENOMEM;
		node->left = *parsed;
		result = parse_sum(parser, &node->right);
		*parsed = node;
	}
	parser->depth--;
	return result;
}

static int begin(struct parser *parser, const char *text, struct arena *arena, char *reason, size_t size)
{
	*parser = (struct parser){ .at = text, .arena = arena, .reason = reason, .size = size };
	return strnlen(text, TEXT_BYTES_MAX) == TEXT_BYTES_MAX ? refuse(parser, "the path is too long") : 0;
}

static int finish(struct parser *parser, int result)
{
	skip_blanks(parser);
	if (!result && *parser->at != '\0')
		result = refuse(parser, "'%.20s' is not understood", parser->at);
	return result;
}

int source_parse_path(const char *text, struct arena *arena, struct source_node **parsed, char *reason, size_t size)
{
	struct parser parser;
	int result = begin(&parser, text, arena, reason, size);

	if (!result)
		result = parse_path(&parser, parsed);
	return finish(&parser, result);
}

static int parse_condition(struct parser *parser, struct source_condition *condition)
{
	int result = parse_path(parser, &condition->path);

	if (!result && !take_compare(parser, &condition->compare))
		result = refuse(parser, "a comparison is missing before '%.20s'", parser->at);
	return result ? result : parse_number(parser, &condition->value);
}

static bool take_and(struct parser *parser)
{
	size_t length = name_length(parser);

	if (length != 3 || strncasecmp(parser->at, "AND", 3) != 0)
		return false;
	parser->at += length;
	return true;
}

int source_parse_when(const char *text, struct arena *arena, struct source_conditions *parsed, char *reason,
		      size_t size)
{
	struct source_condition conditions[CONDITIONS_MAX];
	struct parser parser;
	uint32_t count = 0;
	int result;

	*parsed = (struct source_conditions){ 0 };
	if (!text)
		return 0;
	result = begin(&parser, text, arena, reason, size);
	do {
		if (!result && count == CONDITIONS_MAX)
			result = refuse(&parser, "there are more than %d conditions", CONDITIONS_MAX);
		if (!result)
			result = parse_condition(&parser, &conditions[count++]);
	} while (!result && take_and(&parser));
	result = finish(&parser, result);
	if (result)
		return result;
	parsed->items = arena_zero(arena, count, sizeof *conditions);
	if (!parsed->items)
		return -ENOMEM;
	memcpy(parsed->items, conditions, count * sizeof *conditions);
	parsed->count = count;
	return 0;
}

int source_parse_scope(const char *text, struct arena *arena, struct source_paths *parsed, char *reason, size_t size)
{
	struct source_node *paths[SCOPE_PATHS_MAX];
	struct parser parser;
	uint32_t count = 0;
	int result;

	*parsed = (struct source_paths){ 0 };
	if (!text)
		return 0;
	result = begin(&parser, text, arena, reason, size);
	do {
		if (!result && count == SCOPE_PATHS_MAX)
			result = refuse(&parser, "there are more than %d scope paths", SCOPE_PATHS_MAX);
		if (!result)
			result = parse_path(&parser, &paths[count++]);
	} while (!result && take(&parser, ","));
	result = finish(&parser, result);
	if (result)
		return result;
	parsed->items = arena_zero(arena, count, sizeof *paths);
	if (!parsed->items)
		return -ENOMEM;
	memcpy(parsed->items, paths, count * sizeof *paths);
	parsed->count = count;
	return 0;
}
