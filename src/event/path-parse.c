// SPDX-License-Identifier: BSD-2-Clause
/* Parses texts of paths, and of lists of them, into trees: the grammar is path.c's. */

#include "event/path-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is parsed, and into what. */
struct parsing {
	const char *text;
	struct arena *arena;
	int (*take)(struct event_scan *scan, void *parsed);
	void *parsed;
};

static int parse_all(const struct parsing *parsing, struct asterism_diag *diag)
{
	const struct diag_source source = { .text = parsing->text, .length = strlen(parsing->text) };
	struct event_scan scan;
	int result;

	event_scan_init(&scan, &source, diag, parsing->arena);
	scan.makes_trees = true;
	result = parsing->take(&scan, parsing->parsed);
	event_scan_blank(&scan);
	if (!result && scan.at != scan.end)
		result = event_scan_expected(&scan, "the end of the path");
	return result;
}

/* Only what is wrong is looked at twice, the second time for what to say. */
static int parse_path(const struct parsing *parsing, char *reason, size_t size)
{
	struct asterism_diag *diag;
	int result = parse_all(parsing, NULL);

	if (result != -EINVAL)
		return result;
	diag = asterism_diag_new();
	result = diag ? parse_all(parsing, diag) : -ENOMEM;
	if (result == -EINVAL && asterism_diag_get(diag, 0))
		snprintf(reason, size, "%s", asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return result;
}

static int take_path(struct event_scan *scan, void *parsed)
{
	return event_path_scan_tree(scan, parsed);
}

int event_path_parse(const char *text, struct arena *arena, struct event_path **parsed, char *reason, size_t size)
{
	return parse_path(&(struct parsing){ text, arena, take_path, parsed }, reason, size);
}

static int take_when(struct event_scan *scan, void *parsed)
{
	struct event_path_conditions *when = parsed;
	struct event_path_condition conditions[EVENT_PATH_CONDITIONS_MAX];
	int result;

	when->count = 0;
	do {
		if (when->count == EVENT_PATH_CONDITIONS_MAX)
			return event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL,
						"a WHEN has at most %d conditions", EVENT_PATH_CONDITIONS_MAX);
		result = event_path_scan_condition(scan, &conditions[when->count]);
		if (result)
			return result;
		when->count++;
	} while (event_scan_keyword(scan, "AND"));
	when->items = arena_zero(scan->arena, when->count, sizeof *conditions);
	if (!when->items)
		return -ENOMEM;
	memcpy(when->items, conditions, when->count * sizeof *conditions);
	return 0;
}

int event_path_parse_when(const char *text, struct arena *arena, struct event_path_conditions *parsed, char *reason,
			  size_t size)
{
	int result = text ? parse_path(&(struct parsing){ text, arena, take_when, parsed }, reason, size) : 0;

	if (!text || result)
		*parsed = (struct event_path_conditions){ 0 };
	return result;
}

static int take_scope(struct event_scan *scan, void *parsed)
{
	struct event_paths *scope = parsed;
	struct event_path *paths[EVENT_PATH_SCOPE_MAX];
	int result;

	scope->count = 0;
	do {
		if (scope->count == EVENT_PATH_SCOPE_MAX)
			return event_scan_error(scan, (struct event_span){ scan->at, 1 }, NULL,
						"a SCOPE has at most %d paths", EVENT_PATH_SCOPE_MAX);
		result = event_path_scan_tree(scan, &paths[scope->count]);
		if (result)
			return result;
		scope->count++;
	} while (event_scan_char(scan, ','));
	scope->items = arena_zero(scan->arena, scope->count, sizeof *paths);
	if (!scope->items)
		return -ENOMEM;
	memcpy(scope->items, paths, scope->count * sizeof *paths);
	return 0;
}

int event_path_parse_scope(const char *text, struct arena *arena, struct event_paths *parsed, char *reason, size_t size)
{
	int result = text ? parse_path(&(struct parsing){ text, arena, take_scope, parsed }, reason, size) : 0;

	if (!text || result)
		*parsed = (struct event_paths){ 0 };
	return result;
}

static bool same_steps(const struct event_path *a, const struct event_path *b)
{
	if (strcmp(a->name, b->name) != 0 || a->step_count != b->step_count)
		return false;
	for (uint32_t i = 0; i < a->step_count; i++) {
		const struct event_path_step *x = &a->steps[i], *y = &b->steps[i];

		if ((x->member == NULL) != (y->member == NULL) || x->index != y->index ||
		    (x->member && strcmp(x->member, y->member) != 0))
			return false;
	}
	return true;
}

bool event_path_same(const struct event_path *a, const struct event_path *b)
{
	if (!a || !b)
		return a == b;
	if (a->op != b->op || a->value != b->value || a->bytes != b->bytes)
		return false;
	if ((a->op == SOURCE_ACCESS || a->op == SOURCE_CAST) && !same_steps(a, b))
		return false;
	return event_path_same(a->left, b->left) && event_path_same(a->right, b->right);
}

bool event_path_has(const struct event_path *path, enum source_op op, int64_t value)
{
	if (!path)
		return false;
	return (path->op == op && path->value == value) || event_path_has(path->left, op, value) ||
	       event_path_has(path->right, op, value);
}
