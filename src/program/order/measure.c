// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the measures of a condition: those of the same rule, state, event and target in which it reads the same. So
 * they outlive any order, and changes of other conditions.
 */

#include "program/order/order-priv.h"

#include "base/alloc.h"
#include "program/query.h"
#include "program/why/report.h"

#include <errno.h>
#include <string.h>

struct program_measures *program_measures_new(void)
{
	struct program_measures *measures = alloc_zero(1, sizeof *measures);

	if (measures)
		measures->arena = arena_new();
	if (measures && measures->arena)
		return measures;
	alloc_free(measures);
	return NULL;
}

void program_measures_free(struct program_measures *measures)
{
	if (!measures)
		return;
	arena_free(measures->arena);
	alloc_free(measures->rows);
	alloc_free(measures);
}

int program_measures_add(struct program_measures *measures, const struct program_measure *row)
{
	struct program_measure *added;

	if (alloc_grow(&measures->rows, &measures->capacity, measures->count, sizeof *row))
		return -ENOMEM;
	added = &measures->rows[measures->count];
	*added = *row;
	const char **texts[] = { &added->rule, &added->state, &added->event, &added->target, &added->condition };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i] = arena_text(measures->arena, *texts[i], strlen(*texts[i]));
		if (!*texts[i])
			return -ENOMEM;
	}
	measures->count++;
	return 0;
}

/* Whether what was written into draft is text; leaves it empty. Short of memory it is not. */
static bool reads(struct text_buffer *draft, const char *text)
{
	char *written;
	bool same;

	if (text_take(draft, &written))
		return false;
	same = strcmp(written, text) == 0;
	alloc_free(written);
	return same;
}

static const char *state_text(const struct program_asking *asking, uint32_t state)
{
	return program_text(asking->program, program_states(asking->program, asking->rule)[state].label);
}

static const char *target_text(const struct program_asking *asking)
{
	uint32_t target = asking->transition->target;

	if (target == PROGRAM_TARGET_MATCH)
		return "match";
	return target == PROGRAM_TARGET_END ? "end" : state_text(asking, target);
}

static bool is_measure_of(const struct program_measure *measure, const struct program_asking *asking, uint32_t node)
{
	struct text_buffer draft = { 0 };

	if (measure->is_hold != asking->is_hold ||
	    strcmp(measure->rule, program_text(asking->program, asking->rule->name)) != 0 ||
	    strcmp(measure->state, state_text(asking, asking->state)) != 0 ||
	    strcmp(measure->target, target_text(asking)) != 0)
		return false;
	program_why_event(asking->program, asking->rule, asking->transition, &draft);
	if (!reads(&draft, measure->event))
		return false;
	program_why_condition(asking->program, asking->rule, asking->transition, node, &draft);
	return reads(&draft, measure->condition);
}

void order_measure(const struct program_asking *asking, struct program_ranked *ranked)
{
	for (size_t i = 0; asking->measures && i < asking->measures->count; i++) {
		const struct program_measure *measure = &asking->measures->rows[i];

		if (!is_measure_of(measure, asking, ranked->node))
			continue;
		ranked->asked += measure->asked;
		ranked->was_true += measure->was_true;
	}
}

bool program_order_knows(const struct program *program, const struct program_rule *rule,
			 const struct program_measures *measures)
{
	for (size_t i = 0; i < measures->count; i++)
		if (strcmp(measures->rows[i].rule, program_text(program, rule->name)) == 0)
			return true;
	return false;
}
