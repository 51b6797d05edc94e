// SPDX-License-Identifier: BSD-2-Clause
/* Accepts the parsed paths that a program can be made of, and gives them room for what resolving finds. */

#include "ebpf/path/path.h"

#include <errno.h>
#include <stdio.h>

enum { CTX_BYTES_MAX = 8192 };

struct making {
	struct arena *arena;
	char *reason;
	size_t size;
};

/* Recursion is bounded by the parser, but for chains of operators, which go to the left. */
static int make_path_node(const struct making *making, const struct event_path *path, struct source_node **made)
{
	struct source_node *node = arena_zero(making->arena, 1, sizeof *node);
	bool in_record = path->op >= SOURCE_CTX && path->op <= SOURCE_CTXLOC;
	int result = 0;

	if (!node)
		return -ENOMEM;
	*node = (struct source_node){ .op = path->op,
				      .value = path->value,
				      .bytes = path->bytes,
				      .name = path->name,
				      .hops = path->steps,
				      .hop_count = path->step_count };
	*made = node;
	if (path->op == SOURCE_USER_UINT || path->op == SOURCE_USER_INT) {
		node->op = SOURCE_USER_WORD;
		node->is_signed = path->op == SOURCE_USER_INT;
	} else if (path->op == SOURCE_USER_CHARS) {
		node->op = SOURCE_USTR;
	}
	if (in_record && (path->value > CTX_BYTES_MAX || path->bytes > CTX_BYTES_MAX)) {
		snprintf(making->reason, making->size, "the record of a tracepoint has at most %d bytes",
			 CTX_BYTES_MAX);
		return -EINVAL;
	}
	if (path->left)
		result = make_path_node(making, path->left, &node->left);
	if (!result && path->right)
		result = make_path_node(making, path->right, &node->right);
	return result;
}

int path_parse_path(const char *text, struct arena *arena, struct source_node **parsed, char *reason, size_t size)
{
	const struct making making = { arena, reason, size };
	struct event_path *path;
	int result = event_path_parse(text, arena, &path, reason, size);

	return result ? result : make_path_node(&making, path, parsed);
}

int path_parse_when(const char *text, struct arena *arena, struct source_conditions *parsed, char *reason, size_t size)
{
	const struct making making = { arena, reason, size };
	struct event_path_conditions when;
	int result = event_path_parse_when(text, arena, &when, reason, size);

	*parsed = (struct source_conditions){ 0 };
	if (result || !when.count)
		return result;
	parsed->items = arena_zero(arena, when.count, sizeof *parsed->items);
	if (!parsed->items)
		return -ENOMEM;
	for (; !result && parsed->count < when.count; parsed->count++) {
		const struct event_path_condition *from = &when.items[parsed->count];
		struct source_condition *to = &parsed->items[parsed->count];

		*to = (struct source_condition){ .compare = from->compare, .value = from->value };
		result = make_path_node(&making, from->path, &to->path);
	}
	return result;
}

int path_parse_scope(const char *text, struct arena *arena, struct source_paths *parsed, char *reason, size_t size)
{
	const struct making making = { arena, reason, size };
	struct event_paths scope;
	int result = event_path_parse_scope(text, arena, &scope, reason, size);

	*parsed = (struct source_paths){ 0 };
	if (result || !scope.count)
		return result;
	parsed->items = arena_zero(arena, scope.count, sizeof *parsed->items);
	if (!parsed->items)
		return -ENOMEM;
	for (; !result && parsed->count < scope.count; parsed->count++)
		result = make_path_node(&making, scope.items[parsed->count], &parsed->items[parsed->count]);
	return result;
}
