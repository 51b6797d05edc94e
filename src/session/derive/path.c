// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the recorded value that a path means. Paths are compared as they are written: a catalog that says the same in
 * two ways is believed to mean two things.
 */

#include "session/derive/path.h"

#include "ebpf/path/path.h"

#include <errno.h>
#include <string.h>

enum node_kind { NODE_CONST, NODE_FIELD, NODE_ARG, NODE_LENGTH, NODE_OPERATION };

struct derive_node {
	enum node_kind kind;
	enum source_op op;
	const struct derive_node *left, *right;
	uint64_t value; /* CONST; ARG: which; FIELD, LENGTH: offset in the record */
	uint32_t bytes; /* LENGTH: of the string's field */
};

/* Whether a field obtained by recorded holds what path says: of choices the kernel had one, whichever. */
static bool stands_for(const struct event_path *recorded, const struct event_path *path)
{
	if (!recorded)
		return false;
	if (event_path_same(recorded, path))
		return true;
	return recorded->op == SOURCE_CHOICE && (stands_for(recorded->left, path) || stands_for(recorded->right, path));
}

bool derive_is_given(const struct derive_base *base, const struct event_path_condition *condition)
{
	for (uint32_t i = 0; i < base->when.count; i++) {
		const struct event_path_condition *given = &base->when.items[i];

		if (given->compare == condition->compare && given->value == condition->value &&
		    event_path_same(given->path, condition->path))
			return true;
	}
	return false;
}

static bool is_whole_field(const struct event_field *field)
{
	return field->value == EVENT_U64 || field->value == EVENT_I64 || field->value == EVENT_ADDR ||
	       field->value == EVENT_TIME;
}

/* The field of base that was obtained by path: one that has all 64 bits, or is as wide as wanted (NULL: no matter). */
static const struct event_field *find_base_field(const struct derive_base *base, const struct event_path *path,
						 const struct event_field *wanted)
{
	for (uint32_t i = 0; i < base->type->field_count; i++) {
		const struct event_field *field = &base->type->fields[i];
		bool fits = is_whole_field(field);

		if (wanted && wanted->value == EVENT_STRING)
			fits = field->value == EVENT_STRING && field->bytes >= wanted->bytes;
		else if (wanted)
			fits = fits || field->value == wanted->value;
		if (fits && stands_for(base->paths[i], path))
			return field;
	}
	return NULL;
}

const struct event_field *derive_field_of(const struct derive_base *base, const struct event_path *path)
{
	return find_base_field(base, path, NULL);
}

static int new_node(const struct derive_scope *scope, struct derive_node node, struct derive_node **made)
{
	struct derive_node *copy = arena_zero(scope->arena, 1, sizeof *copy);

	if (!copy)
		return -ENOMEM;
	*copy = node;
	*made = copy;
	return 0;
}

/* A path that is recorded as a whole. */
static int compile_field(const struct derive_scope *scope, const struct event_path *path,
			 const struct event_field *wanted, struct derive_node **made)
{
	const struct event_field *field = find_base_field(scope->base, path, wanted);

	if (field)
		return new_node(scope, (struct derive_node){ .kind = NODE_FIELD, .value = field->offset }, made);
	if (path->op == SOURCE_SYSCALL_ARG && scope->entry && find_base_field(scope->entry, path, NULL))
		return new_node(scope, (struct derive_node){ .kind = NODE_ARG, .value = (uint64_t)path->value }, made);
	return -ENOENT;
}

static int compile_operation(const struct derive_scope *scope, const struct event_path *path, struct derive_node **made)
{
	struct derive_node *left = NULL, *right = NULL;
	bool is_binary = path->op >= SOURCE_AND && path->op <= SOURCE_GE;
	int result;

	if (!is_binary && (path->op < SOURCE_BE16 || path->op > SOURCE_BE64))
		return -ENOENT;
	result = derive_integer_compile(scope, path->left, &left);
	if (!result && is_binary)
		result = derive_integer_compile(scope, path->right, &right);
	if (result)
		return result;
	return new_node(scope,
			(struct derive_node){ .kind = NODE_OPERATION, .op = path->op, .left = left, .right = right },
			made);
}

/* The length of a string that is recorded. */
static int compile_length(const struct derive_scope *scope, const struct event_path *path, struct derive_node **made)
{
	static const struct event_field any = { .value = EVENT_STRING };
	const struct event_field *field = find_base_field(scope->base, path->left, &any);

	if (!field)
		return -ENOENT;
	return new_node(scope,
			(struct derive_node){ .kind = NODE_LENGTH, .value = field->offset, .bytes = field->bytes },
			made);
}

int derive_integer_compile(const struct derive_scope *scope, const struct event_path *path, struct derive_node **made)
{
	int result = compile_field(scope, path, NULL, made);

	if (result != -ENOENT)
		return result;
	if (path->op == SOURCE_CONST)
		return new_node(scope, (struct derive_node){ .kind = NODE_CONST, .value = (uint64_t)path->value },
				made);
	if (path->op == SOURCE_LENGTH)
		return compile_length(scope, path, made);
	if (path->op != SOURCE_CHOICE)
		return compile_operation(scope, path, made);
	result = derive_integer_compile(scope, path->left, made);
	return result == -ENOENT ? derive_integer_compile(scope, path->right, made) : result;
}

int derive_path_compile(const struct derive_scope *scope, const struct event_path *path,
			const struct event_field *field, struct derive_node **made)
{
	int result = compile_field(scope, path, field, made);

	if (result != -ENOENT)
		return result;
	if (field->value == EVENT_STRING && path->op != SOURCE_CONST)
		return -ENOENT;
	return derive_integer_compile(scope, path, made);
}

static bool operate(const struct derive_node *node, const struct derive_event *event, uint64_t *value)
{
	uint64_t left = 0, right = 0;
	bool knows_left = derive_value(node->left, event, &left);
	bool knows_right = !node->right || derive_value(node->right, event, &right);
	bool is_product = node->op == SOURCE_MUL || node->op == SOURCE_AND;

	/* A factor of 0 is how catalogs choose, and what is not chosen need not be known. */
	if (is_product && ((knows_left && !left) || (knows_right && !right))) {
		*value = 0;
		return true;
	}
	*value = path_calculate(node->op, left, right);
	return knows_left && knows_right;
}

/* Of an unread string nothing is known, nor of one that was cut shorter than lengths go. */
static bool measure_string(const struct derive_node *node, const struct derive_event *event, uint64_t *value)
{
	const struct event_header *record = (const void *)event->record;
	uint32_t offset = (uint32_t)node->value;

	*value = strnlen(event->record + offset, node->bytes);
	if (*value > SOURCE_LENGTH_MAX)
		*value = SOURCE_LENGTH_MAX;
	return !event_string_is_unread(record, offset, node->bytes) &&
	       (node->bytes > SOURCE_LENGTH_MAX || !event_string_is_full(record, offset, node->bytes));
}

bool derive_value(const struct derive_node *node, const struct derive_event *event, uint64_t *value)
{
	switch (node->kind) {
	case NODE_CONST:
		*value = node->value;
		return true;
	case NODE_FIELD:
		memcpy(value, event->record + node->value, sizeof *value);
		return true;
	case NODE_ARG:
		*value = event->args ? event->args[node->value] : 0;
		return event->args != NULL;
	case NODE_LENGTH:
		return measure_string(node, event, value);
	default:
		return operate(node, event, value);
	}
}

const char *derive_text(const struct derive_node *node, const struct derive_event *event)
{
	return node->kind == NODE_FIELD ? event->record + node->value : NULL;
}
