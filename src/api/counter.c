// SPDX-License-Identifier: BSD-2-Clause
/* Reads counters: what a set has counted since it was opened, at a time, and what lies between two such times. */

#include "api/counter-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"

#include <errno.h>
#include <math.h>
#include <string.h>

_Static_assert((int)ASTERISM_COUNTER_SINGLE == (int)COUNTER_SINGLE &&
		       (int)ASTERISM_COUNTER_DURATION == (int)COUNTER_DURATION &&
		       (int)ASTERISM_COUNTER_MULTI == (int)COUNTER_MULTI &&
		       (int)ASTERISM_COUNTER_THRESHOLD == (int)COUNTER_THRESHOLD &&
		       (int)ASTERISM_COUNTER_GAUGE == (int)COUNTER_GAUGE,
	       "the kind of a counter comes from the registry");

struct asterism_counter_snapshot {
	const struct asterism_counter_set *set;
	uint64_t time_ns;
	struct tally_count *counts; /* of all operands */
};

size_t asterism_counter_count(const struct asterism_counter_set *set)
{
	return set->count;
}

const struct asterism_diag *asterism_counter_diag(const struct asterism_counter_set *set)
{
	return set->diag;
}

int asterism_counter_describe(const struct asterism_counter_set *set, size_t index,
			      struct asterism_counter_about *given)
{
	const struct counter_item *item;
	const struct counter_type *type;
	const struct tally_way *way;

	if (index >= set->count || !given)
		return -EINVAL;
	item = &set->items[index];
	type = &set->counters->types[item->type];
	way = &set->ways[item->type];
	const struct asterism_counter_about about = {
		.name = type->name,
		.doc = type->doc,
		.unit = type->unit,
		.source = way->source ? way->source->text : NULL,
		.formula = way->formula ? way->formula->text : NULL,
		.approximates = way->source ? way->source->approximates : NULL,
		.kind = (int)type->kind,
		.is_approximate = way->state == TALLY_APPROXIMATE,
		.is_ratio = type->is_ratio,
		.is_of_machine = tally_is_of_machine(item->tally),
		.is_of_user = tally_is_of_user(item->tally),
		.is_apart = tally_is_apart(item->tally),
	};
	return sized_give(given, &about, sizeof about);
}

static int new_snapshot(const struct asterism_counter_set *set, struct asterism_counter_snapshot **made)
{
	struct asterism_counter_snapshot *snapshot = alloc_zero(1, sizeof *snapshot);

	if (!snapshot)
		return -ENOMEM;
	snapshot->set = set;
	snapshot->counts = alloc_zero(set->operand_count, sizeof *snapshot->counts);
	if (!snapshot->counts) {
		asterism_counter_snapshot_free(snapshot);
		return -ENOMEM;
	}
	*made = snapshot;
	return 0;
}

void asterism_counter_snapshot_free(struct asterism_counter_snapshot *snapshot)
{
	if (!snapshot)
		return;
	alloc_free(snapshot->counts);
	alloc_free(snapshot);
}

/* To the set's own counts. */
static int read_counts(struct asterism_counter_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct counter_item *item = &set->items[i];
		char reason[METER_REASON_BYTES] = "";
		int result = tally_read(item->tally, reason, set->counts + item->first);

		if (result)
			return diag_error(set->diag, NULL, result, "cannot read %s: %s",
					  set->counters->types[item->type].name, reason);
	}
	return 0;
}

int asterism_counter_read(struct asterism_counter_set *set, struct asterism_counter_snapshot **given)
{
	struct asterism_counter_snapshot *snapshot = given ? *given : NULL;
	int result;

	asterism_diag_clear(set->diag);
	if (!given || (snapshot && snapshot->set != set))
		return diag_error(set->diag, NULL, -EINVAL,
				  given ? "the snapshot belongs to another set" : "the snapshot to fill is NULL");
	result = read_counts(set);
	if (result)
		return result;
	if (!snapshot && new_snapshot(set, &snapshot))
		return diag_no_memory(set->diag);
	snapshot->time_ns = clock_now_ns();
	memcpy(snapshot->counts, set->counts, set->operand_count * sizeof *set->counts);
	*given = snapshot;
	return 0;
}

uint64_t asterism_counter_snapshot_time_ns(const struct asterism_counter_snapshot *snapshot)
{
	return snapshot->time_ns;
}

static bool was_counted(const struct counter_item *item, const struct tally_count *from, const struct tally_count *to)
{
	for (size_t i = 0; i < tally_operand_count(item->tally); i++) {
		if (from[i].missed != to[i].missed)
			return false;
	}
	return true;
}

int asterism_counter_between(const struct asterism_counter_snapshot *from, const struct asterism_counter_snapshot *to,
			     size_t index, struct asterism_counter_value *given)
{
	const struct asterism_counter_set *set = to ? to->set : NULL;
	const struct counter_item *item;
	const struct counter_type *type;
	const struct tally_count *first, *last;
	struct tally_value value;
	bool grows;
	int result;

	if (!set || !given || index >= set->count || (from && (from->set != set || from->time_ns > to->time_ns)))
		return -EINVAL;
	item = &set->items[index];
	type = &set->counters->types[item->type];
	grows = !type->is_ratio && type->kind != COUNTER_GAUGE;
	first = (from ? from->counts : set->zeroes) + item->first;
	last = to->counts + item->first;
	tally_between(item->tally, first, last, &value);
	struct asterism_counter_value between = {
		.value = value.value,
		.share = value.running,
		.elapsed_ns = to->time_ns - (from ? from->time_ns : set->opened_ns),
		.enabled_ns = (uint64_t)value.enabled_ns,
		.running_ns = (uint64_t)value.running_ns,
	};
	between.per_second = grows && between.elapsed_ns ? value.value * 1e9 / (double)between.elapsed_ns : NAN;
	result = sized_give(given, &between, sizeof between);
	if (result || !isnan(value.value))
		return result;
	return was_counted(item, first, last) ? -EDOM : -ENODATA;
}
