// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders the conditions of a unit's entries: what all entries demand is asked once; where several entries demand that
 * one and the same path equals a constant, they become a tree over the constants. What reads memory of the user is
 * neither: each entry asks for itself, as the event may then be unread.
 */

#include "ebpf/source/dispatch.h"

#include <errno.h>
#include <stdlib.h>

enum { TREE_MIN = 2 }; /* entries; fewer are asked one by one */

/* The number of the entry's condition that is wanted, or -1. */
static int find_condition(const struct source_entry *entry, const struct source_condition *wanted)
{
	for (uint32_t i = 0; i < entry->when.count; i++) {
		if (path_same_condition(&entry->when.items[i], wanted))
			return (int)i;
	}
	return -1;
}

/* The number of the entry's undecided condition `path == small constant`, or -1. */
static int find_equality(const struct dispatch_entry *item, const struct source_node *path)
{
	for (uint32_t i = 0; i < item->entry->when.count; i++) {
		const struct source_condition *condition = &item->entry->when.items[i];

		if (!(item->decided & UINT32_C(1) << i) && condition->compare == SOURCE_EQ &&
		    !path_reads_user(condition->path) && condition->value >= INT32_MIN &&
		    condition->value <= INT32_MAX && (!path || path_same(condition->path, path)))
			return (int)i;
	}
	return -1;
}

static void decide(struct dispatch_entry *item, int condition)
{
	if (item->decided & UINT32_C(1) << condition)
		return;
	item->decided |= UINT32_C(1) << condition;
	item->undecided--;
}

/* Takes the conditions of the first entry that every other has too. */
static void take_shared(struct dispatch *dispatch, struct dispatch_entry *items, size_t count)
{
	const struct source_conditions *first = &items[0].entry->when;

	for (uint32_t i = 0; i < first->count; i++) {
		size_t with = 0;

		if (path_reads_user(first->items[i].path))
			continue;
		while (with < count && find_condition(items[with].entry, &first->items[i]) >= 0)
			with++;
		if (with < count || (items[0].decided & UINT32_C(1) << i))
			continue;
		dispatch->shared[dispatch->shared_count++] = first->items[i];
		for (size_t j = 0; j < count; j++)
			decide(&items[j], find_condition(items[j].entry, &first->items[i]));
	}
}

/* The path that most entries compare with a constant. Units have one such path or none, so the first will do. */
static const struct source_node *choose_path(const struct dispatch_entry *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int found = find_equality(&items[i], NULL);
		size_t users = 0;

		if (found < 0)
			continue;
		const struct source_node *path = items[i].entry->when.items[found].path;

		for (size_t j = i; j < count; j++)
			users += find_equality(&items[j], path) >= 0;
		if (users >= TREE_MIN)
			return path;
	}
	return NULL;
}

static int by_constant(const void *a, const void *b)
{
	const struct dispatch_entry *left = a, *right = b;

	if (left->constant != right->constant)
		return left->constant < right->constant ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int by_certainty(const void *a, const void *b)
{
	const struct dispatch_entry *left = a, *right = b;

	if ((left->undecided == 0) != (right->undecided == 0))
		return left->undecided == 0 ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static void distribute(struct dispatch *dispatch, struct dispatch_entry *items, size_t count)
{
	take_shared(dispatch, items, count);
	dispatch->path = choose_path(items, count);
	for (size_t i = 0; i < count; i++) {
		int found = dispatch->path ? find_equality(&items[i], dispatch->path) : -1;

		if (found < 0) {
			dispatch->line[dispatch->line_count++] = items[i];
			continue;
		}
		items[i].constant = items[i].entry->when.items[found].value;
		decide(&items[i], found);
		dispatch->tree[dispatch->tree_count++] = items[i];
	}
	qsort(dispatch->line, dispatch->line_count, sizeof *dispatch->line, by_certainty);
	qsort(dispatch->tree, dispatch->tree_count, sizeof *dispatch->tree, by_constant);
}

int dispatch_new(const struct source_unit *unit, struct dispatch **made)
{
	struct dispatch *dispatch = alloc_zero(1, sizeof *dispatch);
	size_t count = unit->entry_count;
	struct dispatch_entry *items = alloc_zero(count, sizeof *items);

	if (dispatch) {
		dispatch->shared = alloc_zero(unit->entries[0].when.count, sizeof *dispatch->shared);
		dispatch->line = alloc_zero(count, sizeof *dispatch->line);
		dispatch->tree = alloc_zero(count, sizeof *dispatch->tree);
	}
	if (!items || !dispatch || !dispatch->shared || !dispatch->line || !dispatch->tree) {
		alloc_free(items);
		dispatch_free(dispatch);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		items[i].entry = &unit->entries[i];
		items[i].undecided = unit->entries[i].when.count;
		items[i].order = i;
	}
	distribute(dispatch, items, count);
	alloc_free(items);
	*made = dispatch;
	return 0;
}

void dispatch_free(struct dispatch *dispatch)
{
	if (!dispatch)
		return;
	alloc_free(dispatch->shared);
	alloc_free(dispatch->line);
	alloc_free(dispatch->tree);
	alloc_free(dispatch);
}

static bool is_left_to_ask(const struct dispatch_entry *item, uint32_t condition, bool of_user)
{
	return !(item->decided & UINT32_C(1) << condition) &&
	       path_reads_user(item->entry->when.items[condition].path) == of_user;
}

void dispatch_note_conditions(const struct dispatch_entry *item, struct path_memo *memo)
{
	for (int of_user = 0; of_user < 2; of_user++)
		for (uint32_t i = 0; i < item->entry->when.count; i++)
			if (is_left_to_ask(item, i, of_user))
				path_memo_note(memo, item->entry->when.items[i].path);
}

void dispatch_emit_conditions(struct ebpf_asm *as, const struct source_style *style, const struct dispatch_entry *item,
			      bool of_user, uint32_t next)
{
	for (uint32_t i = 0; i < item->entry->when.count; i++)
		if (is_left_to_ask(item, i, of_user))
			path_emit_condition(as, style, &item->entry->when.items[i], next);
}
