// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merges probes in user code into shared programs, since the verifier takes most of a session's beginning. A probe is
 * attached with a number of its own, the cookie, in which each bit stands for an entry of the program: those that are
 * asked where it is met. So a dozen functions that take locks have one program with each entry once, and what follows
 * from their events once.
 */

#include "ebpf/source/merge.h"

#include <errno.h>
#include <string.h>

enum { MERGED_ENTRIES_MAX = 31 }; /* bits of an immediate operand */

int source_unit_add_entry(struct source_unit *unit, const struct source_entry *entry)
{
	if (alloc_grow(&unit->entries, &unit->entry_capacity, unit->entry_count, sizeof *entry))
		return -ENOMEM;
	unit->entries[unit->entry_count++] = *entry;
	return 0;
}

static bool same_conditions(const struct source_conditions *a, const struct source_conditions *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		if (!path_same_condition(&a->items[i], &b->items[i]))
			return false;
	return a->count == b->count;
}

static bool same_entry(const struct source_entry *a, const struct source_entry *b)
{
	if (a->want != b->want || a->extent != b->extent || !same_conditions(&a->when, &b->when))
		return false;
	for (uint32_t i = 0; i < a->want->type->field_count; i++)
		if (!path_same(a->paths[i], b->paths[i]))
			return false;
	return true;
}

static bool same_scope(const struct source_unit *a, const struct source_unit *b)
{
	for (uint32_t i = 0; i < a->scope.count && i < b->scope.count; i++)
		if (!path_same(a->scope.items[i], b->scope.items[i]))
			return false;
	return a->scope.count == b->scope.count;
}

static struct source_entry *find_entry(const struct source_unit *unit, const struct source_entry *wanted)
{
	for (size_t i = 0; i < unit->entry_count; i++)
		if (same_entry(&unit->entries[i], wanted))
			return &unit->entries[i];
	return NULL;
}

/* Whether unit's program can have the entries of the other probe. */
static bool may_share(const struct source_unit *unit, const struct source_unit *other)
{
	size_t entries = unit->entry_count;

	if (!unit->spot_count || !other->spot_count || unit->is_own != other->is_own || unit->group != other->group ||
	    !same_scope(unit, other))
		return false;
	for (size_t i = 0; i < other->entry_count; i++)
		entries += !find_entry(unit, &other->entries[i]);
	return entries <= MERGED_ENTRIES_MAX;
}

/* A unit with more entries than there are bits has one probe, where all of them are asked. */
static void number_entries(struct source_unit *unit)
{
	unit->spots[0].cookie = 0;
	for (size_t i = 0; i < unit->entry_count; i++) {
		unit->entries[i].bit = unit->entry_count <= MERGED_ENTRIES_MAX ? UINT64_C(1) << i : 1;
		unit->spots[0].cookie |= unit->entries[i].bit;
	}
}

static int add_spot(struct source_plan *plan, struct source_unit *unit, const struct source_spot *spot)
{
	size_t count = unit->spot_count;

	if ((count & (count - 1)) == 0) { /* it is full: there are twice as many places from here on */
		struct source_spot *spots = arena_zero(plan->arena, 2 * count, sizeof *spots);

		if (!spots)
			return -ENOMEM;
		memcpy(spots, unit->spots, count * sizeof *spots);
		unit->spots = spots;
	}
	unit->spots[unit->spot_count++] = *spot;
	return 0;
}

/* The entries and the probe of the other unit are unit's, too. */
static int take_over(struct source_plan *plan, struct source_unit *unit, const struct source_unit *other)
{
	struct source_spot spot = other->spots[0];

	spot.cookie = 0;
	for (size_t i = 0; i < other->entry_count; i++) {
		struct source_entry *entry = find_entry(unit, &other->entries[i]);

		if (!entry) {
			if (source_unit_add_entry(unit, &other->entries[i]))
				return -ENOMEM;
			entry = &unit->entries[unit->entry_count - 1];
			entry->bit = UINT64_C(1) << (unit->entry_count - 1);
		}
		spot.cookie |= entry->bit;
	}
	return add_spot(plan, unit, &spot);
}

/* The last unit goes to the first one that may have it, if there is one. */
static int merge_last(struct source_plan *plan)
{
	struct source_unit *last = &plan->units[plan->unit_count - 1], *unit = plan->units;

	if (!last->spot_count)
		return 0;
	while (unit < last && !may_share(unit, last))
		unit++;
	if (unit == last) {
		number_entries(last);
		return 0;
	}
	if (take_over(plan, unit, last))
		return -ENOMEM;
	alloc_free(last->entries);
	plan->unit_count--;
	return 0;
}

static bool is_everywhere(const struct source_unit *unit, const struct source_entry *entry)
{
	for (size_t i = 0; i < unit->spot_count; i++)
		if (!(unit->spots[i].cookie & entry->bit))
			return false;
	return true;
}

/* The entry's first condition is (cookie & bit) != 0. */
static int ask_cookie(struct source_plan *plan, struct source_unit *unit, struct source_entry *entry)
{
	struct source_condition *items = arena_zero(plan->arena, entry->when.count + 1, sizeof *items);
	struct source_node *masked = arena_zero(plan->arena, 2, sizeof *masked), *bit = masked ? masked + 1 : NULL;

	if (!unit->cookie)
		unit->cookie = arena_zero(plan->arena, 1, sizeof *unit->cookie);
	if (!items || !masked || !unit->cookie)
		return -ENOMEM;
	*unit->cookie = (struct source_node){ .op = SOURCE_COOKIE };
	*bit = (struct source_node){ .op = SOURCE_CONST, .value = (int64_t)entry->bit };
	*masked = (struct source_node){ .op = SOURCE_AND, .left = unit->cookie, .right = bit };
	items[0] = (struct source_condition){ .path = masked, .compare = SOURCE_NE };
	if (entry->when.count)
		memcpy(&items[1], entry->when.items, entry->when.count * sizeof *items);
	entry->when.items = items;
	entry->when.count++;
	return 0;
}

int source_merge_units(struct source_plan *plan)
{
	size_t count = plan->unit_count;
	int result = 0;

	plan->unit_count = 0;
	for (size_t i = 0; i < count; i++) {
		plan->units[plan->unit_count++] = plan->units[i];
		if (!result)
			result = merge_last(plan);
	}
	for (size_t i = 0; i < plan->unit_count && !result; i++) {
		struct source_unit *unit = &plan->units[i];

		for (size_t j = 0; j < unit->entry_count && unit->spot_count && !result; j++)
			if (!is_everywhere(unit, &unit->entries[j]))
				result = ask_cookie(plan, unit, &unit->entries[j]);
	}
	return result;
}
