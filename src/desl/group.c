// SPDX-License-Identifier: BSD-2-Clause
/* Finds which combinations are one group, and counts each record of a source once in it. */

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "desl/check-priv.h"

#include <errno.h>
#include <string.h>

enum { KEYS_MAX = 64 };

struct grouping {
	struct desl_making *making;
	const struct desl_expr *keys[KEYS_MAX];
	unsigned key_count;
	union desl_cell *cells; /* of keys, by group */
	uint32_t *first;        /* combination of a group */
	struct desl_sum *sums;
	size_t count, cell_capacity, first_capacity, sum_capacity;
	struct hash_table known;
	uint64_t *seen; /* group and candidate + 1, of one source after the other */
	size_t seen_mask, seen_count;
};

static const uint32_t *group_row(const struct desl_making *making, size_t index)
{
	return making->rows + index * making->type->source_count;
}

static int add_group(struct grouping *grouping, const union desl_cell *cells, uint32_t index)
{
	unsigned slots = grouping->making->type->aggregate_count;

	if (alloc_grow(&grouping->first, &grouping->first_capacity, grouping->count, sizeof *grouping->first) ||
	    alloc_grow(&grouping->cells, &grouping->cell_capacity, (grouping->count + 1) * (grouping->key_count + 1),
		       sizeof *grouping->cells) ||
	    alloc_grow(&grouping->sums, &grouping->sum_capacity, (grouping->count + 1) * (slots + 1),
		       sizeof *grouping->sums) ||
	    hash_table_reserve(&grouping->known, NULL, grouping->count + 1))
		return -ENOMEM;
	memcpy(grouping->cells + grouping->count * grouping->key_count, cells,
	       grouping->key_count * sizeof *grouping->cells);
	memset(grouping->sums + grouping->count * slots, 0, slots * sizeof *grouping->sums);
	grouping->first[grouping->count++] = index;
	return 0;
}

static int find_row_group(struct grouping *grouping, uint32_t index, uint32_t *group)
{
	struct desl_at at = { .making = grouping->making, .row = group_row(grouping->making, index) };
	union desl_cell cells[KEYS_MAX] = { { 0 } };
	uint64_t hash = grouping->making->program->texts.seed;
	int result;

	for (unsigned i = 0; i < grouping->key_count; i++) {
		cells[i] = desl_value(grouping->keys[i], &at);
		hash = desl_hash(hash, grouping->keys[i]->kind, cells[i]);
	}
	for (size_t step = 0; (*group = hash_table_next(&grouping->known, hash, &step)) != HASH_NONE;) {
		bool is_same = true;

		for (unsigned i = 0; i < grouping->key_count && is_same; i++)
			is_same = desl_is_equal(grouping->keys[i]->kind, cells[i],
						grouping->cells[(size_t)*group * grouping->key_count + i]);
		if (is_same)
			return 0;
	}
	result = add_group(grouping, cells, index);
	*group = (uint32_t)grouping->count - 1;
	if (!result)
		hash_table_add(&grouping->known, hash, *group);
	return result;
}

static uint64_t *seen_slot(uint64_t *seen, size_t mask, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

	while (seen[at] && seen[at] != key)
		at = (at + 1) & mask;
	return &seen[at];
}

static int grow_seen(struct grouping *grouping)
{
	size_t mask = grouping->seen ? grouping->seen_mask * 2 + 1 : 1023;
	uint64_t *seen = alloc_zero(mask + 1, sizeof *seen);

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; grouping->seen && i <= grouping->seen_mask; i++) {
		if (grouping->seen[i])
			*seen_slot(seen, mask, grouping->seen[i]) = grouping->seen[i];
	}
	alloc_free(grouping->seen);
	grouping->seen = seen;
	grouping->seen_mask = mask;
	return 0;
}

/* Whether the candidate is met in the group for the first time. 1, 0 or -ENOMEM. */
static int see(struct grouping *grouping, uint32_t group, uint32_t candidate)
{
	uint64_t key = ((uint64_t)group << 32 | candidate) + 1, *slot;

	if ((!grouping->seen || 2 * grouping->seen_count > grouping->seen_mask) && grow_seen(grouping))
		return -ENOMEM;
	slot = seen_slot(grouping->seen, grouping->seen_mask, key);
	if (*slot)
		return 0;
	*slot = key;
	grouping->seen_count++;
	return 1;
}

/* What a source has in sums goes to its groups. */
static int add_sums(struct grouping *grouping, const uint32_t *groups, unsigned source)
{
	struct desl_making *making = grouping->making;
	const struct desl_input *input = &making->inputs[source];
	unsigned slots = making->type->aggregate_count;

	alloc_free(grouping->seen);
	grouping->seen = NULL;
	grouping->seen_count = 0;
	for (size_t i = 0; i < making->count; i++) {
		uint32_t candidate = group_row(making, i)[source];
		int is_new = candidate == HASH_NONE            ? 0
			     : making->type->source_count == 1 ? 1
							       : see(grouping, groups[i], candidate);

		if (is_new < 0)
			return is_new;
		for (unsigned j = 0; j < slots && is_new; j++)
			desl_sum_add(&grouping->sums[(size_t)groups[i] * slots + j],
				     &input->sums[(size_t)candidate * slots + j]);
	}
	return 0;
}

/* What is over several sources is summed over combinations. */
static void add_combined(struct grouping *grouping, const uint32_t *groups, unsigned slot)
{
	const struct desl_making *making = grouping->making;
	const struct desl_expr *operand = making->type->aggregates[slot]->operands;
	unsigned slots = making->type->aggregate_count;

	for (size_t i = 0; i < making->count; i++) {
		struct desl_at at = { .making = making, .row = group_row(making, i) };
		union desl_cell cell = desl_value(operand, &at);
		double value = operand->kind == DESL_NUMBER ? cell.number : 0;

		if (!desl_is_absent(operand->kind, cell))
			desl_sum_add(&grouping->sums[(size_t)groups[i] * slots + slot],
				     &(struct desl_sum){ value, 1, value, value });
	}
}

static int sum_groups(struct grouping *grouping, const uint32_t *groups)
{
	struct desl_making *making = grouping->making;
	int result = 0;

	for (unsigned i = 0; i < making->type->source_count && !result; i++) {
		if (making->inputs[i].sums)
			result = add_sums(grouping, groups, i);
	}
	for (unsigned i = 0; i < making->type->aggregate_count; i++) {
		if (__builtin_popcount(desl_sources_of(making->type, making->type->aggregates[i])) != 1)
			add_combined(grouping, groups, i);
	}
	return result;
}

static int put_groups(struct grouping *grouping)
{
	static const union desl_cell none[1];
	struct desl_making *making = grouping->making;
	uint32_t nothing[DESL_SOURCES_MAX];
	int result = 0;

	memset(nothing, 0xff, sizeof nothing);
	/* Without groups there is one of all records, also where there is none. */
	if (!grouping->count && !making->type->is_grouped)
		result = add_group(grouping, none, HASH_NONE);
	for (size_t i = 0; i < grouping->count && !result; i++) {
		struct desl_at at = {
			.making = making,
			.row = grouping->first[i] == HASH_NONE ? nothing : group_row(making, grouping->first[i]),
			.sums = grouping->sums + i * making->type->aggregate_count,
		};

		result = desl_add_record(making, &at);
	}
	return result;
}

int desl_group(struct desl_making *making)
{
	struct grouping grouping = { .making = making };
	uint32_t *groups = alloc_zero(making->count + 1, sizeof *groups);
	int result = groups ? 0 : -ENOMEM;

	for (const struct desl_expr *group = making->type->groups; group && !result; group = group->next) {
		if (grouping.key_count == KEYS_MAX)
			result = diag_error(making->diag, &group->location, -EINVAL, "a type has at most %d groups",
					    KEYS_MAX);
		else
			grouping.keys[grouping.key_count++] = group;
	}
	for (size_t i = 0; i < making->count && !result; i++)
		result = find_row_group(&grouping, (uint32_t)i, &groups[i]);
	if (!result)
		result = sum_groups(&grouping, groups);
	if (!result)
		result = put_groups(&grouping);
	alloc_free(groups);
	alloc_free(grouping.cells);
	alloc_free(grouping.first);
	alloc_free(grouping.sums);
	alloc_free(grouping.seen);
	hash_table_fini(&grouping.known);
	return result;
}
