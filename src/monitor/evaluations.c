// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frees an evaluation's context when nobody uses it any more. What the evaluator goes through is a table that does not
 * change; every addition and removal makes another one, with a higher serial. The evaluator says which one it has
 * taken; those before it can go, and with them the contexts that are in none of the others.
 */

#include "monitor/evaluations.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdatomic.h>

struct row {
	int64_t name, sensor;
	const struct monitor_evaluation_kind *kind;
	void *context;
	bool is_first; /* of those with this context */
};

struct table {
	struct table *older;
	uint64_t serial;
	size_t count;
	struct row rows[];
};

/* A context that is in use, until no table has it. */
struct held {
	const struct monitor_evaluation_kind *kind;
	void *context;
};

struct monitor_evaluations {
	_Atomic(struct table *) newest; /* the owner stores, the evaluator loads */
	_Atomic uint64_t taken;         /* serial of what the evaluator has; the other way round */
	struct table *current;          /* the evaluator's */
	int64_t next_name;
	uint64_t serial;
	struct held *held;
	size_t held_count, held_capacity;
};

static struct table *newest_of(struct monitor_evaluations *evaluations)
{
	return atomic_load_explicit(&evaluations->newest, memory_order_relaxed);
}

static struct table *table_new(size_t rows)
{
	return alloc_zero(1, sizeof(struct table) + rows * sizeof(struct row));
}

static void publish_table(struct monitor_evaluations *evaluations, struct table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		table->rows[i].is_first = true;
		for (size_t j = 0; j < i; j++)
			if (table->rows[j].context == table->rows[i].context)
				table->rows[i].is_first = false;
	}
	table->older = newest_of(evaluations);
	table->serial = ++evaluations->serial;
	atomic_store_explicit(&evaluations->newest, table, memory_order_release);
}

struct monitor_evaluations *monitor_evaluations_new(void)
{
	struct monitor_evaluations *evaluations = alloc_zero(1, sizeof *evaluations);
	struct table *empty = table_new(0);

	if (!evaluations || !empty) {
		alloc_free(evaluations);
		alloc_free(empty);
		return NULL;
	}
	publish_table(evaluations, empty);
	evaluations->current = empty;
	return evaluations;
}

/* Frees the tables before the one with this serial. */
static void drop_older(struct monitor_evaluations *evaluations, uint64_t serial)
{
	struct table **link;

	for (link = &newest_of(evaluations)->older; *link;) {
		struct table *table = *link;

		if (table->serial >= serial) {
			link = &table->older;
			continue;
		}
		*link = table->older;
		alloc_free(table);
	}
}

static bool is_used(struct monitor_evaluations *evaluations, const void *context)
{
	for (const struct table *table = newest_of(evaluations); table; table = table->older)
		for (size_t i = 0; i < table->count; i++)
			if (table->rows[i].context == context)
				return true;
	return false;
}

static void release_held(const struct held *held)
{
	if (held->kind->release)
		held->kind->release(held->context);
}

size_t monitor_evaluations_collect(struct monitor_evaluations *evaluations)
{
	const struct table *newest = newest_of(evaluations);
	size_t waiting = 0;

	drop_older(evaluations, atomic_load_explicit(&evaluations->taken, memory_order_acquire));
	for (size_t i = evaluations->held_count; i--;) {
		struct held held = evaluations->held[i];
		bool is_wanted = false;

		for (size_t j = 0; j < newest->count; j++)
			is_wanted |= newest->rows[j].context == held.context;
		if (is_wanted)
			continue;
		if (is_used(evaluations, held.context)) {
			waiting++;
			continue;
		}
		evaluations->held[i] = evaluations->held[--evaluations->held_count];
		release_held(&held);
	}
	return waiting;
}

void monitor_evaluations_free(struct monitor_evaluations *evaluations)
{
	if (!evaluations)
		return;
	for (struct table *table = newest_of(evaluations), *older; table; table = older) {
		older = table->older;
		alloc_free(table);
	}
	for (size_t i = 0; i < evaluations->held_count; i++)
		release_held(&evaluations->held[i]);
	alloc_free(evaluations->held);
	alloc_free(evaluations);
}

static int hold_evaluation(struct monitor_evaluations *evaluations, const struct monitor_evaluation_kind *kind,
			   void *context)
{
	for (size_t i = 0; i < evaluations->held_count; i++)
		if (evaluations->held[i].context == context)
			return 0;
	if (alloc_grow(&evaluations->held, &evaluations->held_capacity, evaluations->held_count,
		       sizeof *evaluations->held))
		return -ENOMEM;
	evaluations->held[evaluations->held_count++] = (struct held){ kind, context };
	return 0;
}

int64_t monitor_evaluations_add(struct monitor_evaluations *evaluations, int64_t sensor,
				const struct monitor_evaluation_kind *kind, void *context)
{
	const struct table *before = newest_of(evaluations);
	struct table *table = table_new(before->count + 1);

	if (!table || hold_evaluation(evaluations, kind, context)) {
		alloc_free(table);
		return -ENOMEM;
	}
	for (size_t i = 0; i < before->count; i++)
		table->rows[i] = before->rows[i];
	table->count = before->count + 1;
	table->rows[before->count] = (struct row){
		.name = evaluations->next_name,
		.sensor = sensor,
		.kind = kind,
		.context = context,
	};
	publish_table(evaluations, table);
	return evaluations->next_name++;
}

int monitor_evaluations_remove(struct monitor_evaluations *evaluations, int64_t name)
{
	const struct table *before = newest_of(evaluations);
	struct table *table = table_new(before->count);

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < before->count; i++)
		if (before->rows[i].name != name)
			table->rows[table->count++] = before->rows[i];
	if (table->count == before->count) {
		alloc_free(table);
		return -ENOENT;
	}
	publish_table(evaluations, table);
	return 0;
}

void monitor_evaluations_begin(struct monitor_evaluations *evaluations)
{
	struct table *newest = atomic_load_explicit(&evaluations->newest, memory_order_acquire);

	evaluations->current = newest;
	atomic_store_explicit(&evaluations->taken, newest->serial, memory_order_release);
}

void monitor_evaluations_element(struct monitor_evaluations *evaluations, const struct monitor_element *element)
{
	const struct table *table = evaluations->current;

	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		if (row->sensor == MONITOR_ANY_SENSOR || row->sensor == element->sensor)
			monitor_evaluate(row->kind, row->context, element);
	}
}

void monitor_evaluations_lose(struct monitor_evaluations *evaluations, uint64_t lost)
{
	const struct table *table = evaluations->current;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].is_first && table->rows[i].kind->lose)
			table->rows[i].kind->lose(table->rows[i].context, lost);
}

void monitor_evaluations_pass(struct monitor_evaluations *evaluations, uint64_t now_ns)
{
	const struct table *table = evaluations->current;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].is_first && table->rows[i].kind->pass)
			table->rows[i].kind->pass(table->rows[i].context, now_ns);
}
