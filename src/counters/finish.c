// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completes classes by what they inherit, and binds formulas. Of an abstract class types come with their sources; of
 * another one, which a class narrows down, with their meaning and formula alone.
 */

#include "base/hash.h"
#include "counters/counters-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CHAIN_MAX = 64 };

static uint32_t find_counter_name(const struct counters *counters, const char *name)
{
	const char *dot = strchr(name, '.');
	size_t step = 0;
	uint32_t type;

	while ((type = hash_table_next(&counters->names, hash_text(name), &step)) != HASH_NONE) {
		const struct counter_type *found = &counters->types[type];
		const char *class = counters->classes[found->class].name;

		if (strcmp(found->name, name) == 0)
			return type;
		if (dot && strcmp(found->name, dot + 1) == 0 && strlen(class) == (size_t)(dot - name) &&
		    memcmp(class, name, (size_t)(dot - name)) == 0)
			return type;
	}
	return HASH_NONE;
}

/* By the names that find_counter_name looks for: an inherited one has its class in its name already. */
int counters_add_name(struct counters *counters, uint32_t type)
{
	const struct counter_type *added = &counters->types[type];
	const char *full = arena_format(counters->arena, "%s.%s", counters->classes[added->class].name, added->name);

	if (!full || hash_table_reserve(&counters->names, NULL, counters->names.count + 2))
		return -ENOMEM;
	hash_table_add(&counters->names, hash_text(added->name), type);
	if (added->base == HASH_NONE)
		hash_table_add(&counters->names, hash_text(full), type);
	return 0;
}

uint32_t counters_find_in(const struct counters *counters, uint32_t class, const char *name)
{
	char full[2 * COUNTER_NAME_MAX + 2];
	uint32_t found = HASH_NONE;

	if (class != HASH_NONE && !strchr(name, '.')) {
		snprintf(full, sizeof full, "%s.%s", counters->classes[class].name, name);
		found = find_counter_name(counters, full);
	}
	return found != HASH_NONE ? found : find_counter_name(counters, name);
}

const struct counter_type *counters_find(const struct counters *counters, const char *name)
{
	uint32_t found = find_counter_name(counters, name);

	return found == HASH_NONE ? NULL : &counters->types[found];
}

static struct counter_formula *copy_formulas(struct arena *arena, const struct counter_formula *from)
{
	struct counter_formula *first = NULL, **end = &first;

	for (; from; from = from->next, end = &(*end)->next) {
		*end = arena_zero(arena, 1, sizeof **end);
		if (!*end)
			return NULL;
		**end = *from;
		(*end)->next = NULL;
		(*end)->steps = arena_zero(arena, from->count, sizeof *from->steps);
		if (!(*end)->steps)
			return NULL;
		memcpy((*end)->steps, from->steps, from->count * sizeof *from->steps);
	}
	return first;
}

/* What a type has of its base. */
static int take_base(struct counters *counters, struct counter_type *type)
{
	const struct counter_type *base = &counters->types[type->base];

	type->doc = base->doc;
	type->unit = base->unit;
	type->kind = base->kind;
	type->is_derived = base->is_derived;
	type->formulas = copy_formulas(counters->arena, base->formulas);
	return base->formulas && !type->formulas ? -ENOMEM : 0;
}

static int inherit_one(struct counters *counters, uint32_t class, uint32_t base, struct asterism_diag *diag)
{
	struct counter_type type = counters->types[base];
	bool is_narrowed = !counters->classes[type.class].is_abstract;
	int result;

	type.base = base;
	type.class = class;
	type.name = arena_format(counters->arena, "%s.%s", counters->classes[class].name, counters->types[base].name);
	if (!type.name)
		return diag_no_memory(diag);
	if (find_counter_name(counters, type.name) != HASH_NONE)
		return 0;
	if (counters->type_count == COUNTERS_MAX)
		return counters_wrong_at(counters, diag, &type.place, "more than %d counters, inherited ones included",
					 COUNTERS_MAX);
	if (is_narrowed) {
		type.sources = NULL;
		type.notes = NULL;
		memset(type.historic, 0, sizeof type.historic);
	}
	result = take_base(counters, &type);
	if (result || alloc_grow(&counters->types, &counters->type_capacity, counters->type_count, sizeof type))
		return diag_no_memory(diag);
	counters->types[counters->type_count] = type;
	return counters_add_name(counters, (uint32_t)counters->type_count++) ? diag_no_memory(diag) : 0;
}

static int inherit(struct counters *counters, struct asterism_diag *diag)
{
	size_t own = counters->type_count;

	for (size_t i = 0; i < own; i++) {
		if (counters->types[i].base != HASH_NONE && take_base(counters, &counters->types[i]))
			return diag_no_memory(diag);
	}
	for (uint32_t class = 0; class < counters->class_count; class ++) {
		for (uint32_t above = counters->classes[class].parent; above != HASH_NONE;
		     above = counters->classes[above].parent) {
			for (uint32_t i = 0; i < own; i++) {
				int result = 0;

				if (counters->types[i].class == above && counters->types[i].base == HASH_NONE)
					result = inherit_one(counters, class, i, diag);
				if (result)
					return result;
			}
		}
	}
	return 0;
}

static int unknown_counter(const struct counters *counters, const struct counter_step *step, struct asterism_diag *diag)
{
	const char **names = alloc_zero(counters->type_count, sizeof *names), *nearest;
	char hint[COUNTER_NAME_MAX * 2 + 32];
	int result = counters_wrong_at(counters, diag, &step->place, "unknown counter %s", step->name);

	for (size_t i = 0; names && i < counters->type_count; i++)
		names[i] = counters->types[i].name;
	nearest = names ? diag_nearest(step->name, names, counters->type_count) : NULL;
	if (nearest) {
		snprintf(hint, sizeof hint, "did you mean %s?", nearest);
		diag_hint(diag, hint);
	}
	alloc_free(names);
	return result;
}

/* The order in which operands come first. */
struct ordering {
	struct counters *counters;
	struct asterism_diag *diag;
	unsigned char *states; /* 1: it is being looked at; 2: it is done */
	size_t done;
};

static int order_counters(struct ordering *ordering, uint32_t index, unsigned depth)
{
	struct counters *counters = ordering->counters;
	struct counter_type *type = &counters->types[index];
	int result;

	if (ordering->states[index] == 2)
		return 0;
	ordering->states[index] = 1;
	for (struct counter_formula *formula = type->formulas; formula; formula = formula->next) {
		for (uint32_t i = 0; i < formula->count; i++) {
			struct counter_step *step = &formula->steps[i];

			if (step->op != COUNTER_OPERAND)
				continue;
			step->type = counters_find_in(counters, type->class, step->name);
			if (step->type == HASH_NONE)
				return unknown_counter(counters, step, ordering->diag);
			if (ordering->states[step->type] == 1)
				return counters_wrong_at(counters, ordering->diag, &step->place,
							 "a cycle: %s is computed from itself",
							 counters->types[step->type].name);
			if (depth == CHAIN_MAX)
				return counters_wrong_at(counters, ordering->diag, &step->place,
							 "formulas are nested more than %d levels deep", CHAIN_MAX);
			result = order_counters(ordering, step->type, depth + 1);
			if (result)
				return result;
		}
	}
	ordering->states[index] = 2;
	counters->order[ordering->done++] = index;
	return 0;
}

/* A gauge is a state: two of them have a ratio, but no sum. */
static int judge_formula(struct counters *counters, struct counter_type *type, const struct counter_formula *formula,
			 struct asterism_diag *diag)
{
	bool gauges[COUNTER_STEPS_MAX] = { false };
	uint32_t height = 0;
	const struct counter_type *first = NULL;
	bool is_mixed = false;

	for (uint32_t i = 0; i < formula->count; i++) {
		const struct counter_step *step = &formula->steps[i];

		if (step->op == COUNTER_OPERAND) {
			const struct counter_type *operand = &counters->types[step->type];

			first = first ? first : operand;
			is_mixed = is_mixed || operand->kind != first->kind;
			gauges[height++] = operand->kind == COUNTER_GAUGE;
		} else if (step->op == COUNTER_CONSTANT) {
			gauges[height++] = false;
		} else {
			bool is_gauge = gauges[height - 1] || gauges[height - 2];

			height--;
			if (is_gauge && (step->op == COUNTER_ADD || step->op == COUNTER_SUBTRACT))
				return counters_wrong_at(counters, diag, &step->place,
							 "a gauge is a state and cannot be summed");
			gauges[height - 1] = is_gauge;
		}
	}
	type->is_ratio = formula->steps[formula->count - 1].op == COUNTER_DIVIDE;
	type->kind = gauges[0] ? COUNTER_GAUGE : first && !is_mixed ? first->kind : COUNTER_MULTI;
	type->unit = type->is_ratio || !first ? "ratio" : first->unit;
	return 0;
}

static unsigned char compute(const struct counters *counters, const struct counter_type *type, unsigned platform)
{
	unsigned char best = COUNTER_UNSTATED;

	for (const struct counter_formula *formula = type->formulas; formula; formula = formula->next) {
		unsigned char state = COUNTER_YES;
		bool is_unstated = false;

		for (uint32_t i = 0; i < formula->count; i++) {
			const struct counter_step *step = &formula->steps[i];

			if (step->op != COUNTER_OPERAND)
				continue;
			unsigned char operand = counters->types[step->type].computed[platform];

			is_unstated = is_unstated || operand == COUNTER_UNSTATED;
			state = operand && operand < state ? operand : state;
		}
		if (is_unstated && state != COUNTER_NO)
			state = COUNTER_UNSTATED;
		best = state > best ? state : best;
	}
	return best;
}

static int settle_counters(struct counters *counters, struct asterism_diag *diag)
{
	for (size_t i = 0; i < counters->type_count; i++) {
		struct counter_type *type = &counters->types[counters->order[i]];

		if (!type->is_derived) {
			memcpy(type->computed, type->historic, sizeof type->computed);
			continue;
		}
		if (!type->formulas)
			return counters_wrong_at(counters, diag, &type->place, "%s has no formula", type->name);
		for (const struct counter_formula *formula = type->formulas; formula; formula = formula->next) {
			int result = judge_formula(counters, type, formula, diag);

			if (result)
				return result;
		}
		for (unsigned platform = 0; platform < COUNTER_PLATFORMS; platform++)
			type->computed[platform] = compute(counters, type, platform);
	}
	return 0;
}

int counters_finish(struct counters *counters, struct asterism_diag *diag)
{
	struct ordering ordering = { .counters = counters, .diag = diag };
	int result = inherit(counters, diag);

	if (result)
		return result;
	counters->order = arena_zero(counters->arena, counters->type_count, sizeof *counters->order);
	ordering.states = alloc_zero(counters->type_count, 1);
	if (!counters->order || !ordering.states)
		result = diag_no_memory(diag);
	for (uint32_t i = 0; !result && i < counters->type_count; i++)
		result = order_counters(&ordering, i, 0);
	alloc_free(ordering.states);
	return result ? result : settle_counters(counters, diag);
}
