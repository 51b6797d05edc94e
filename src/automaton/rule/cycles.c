// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rejects cycles of EMIT: rules and machines are the vertices of a graph, an edge leads from who emits a type to who
 * names it.
 */

#include "automaton/rule/rule-priv.h"

#include "base/circle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct emission {
	const struct event_type *type;
	const struct diag_location *location;
};

/* Vertices: the unit's rules, then its machines. */
struct cycle_search {
	struct unit_build *unit;
	struct emission *emissions; /* in the order of their vertices */
	size_t *first;              /* per vertex, and one more */
	size_t emission_count, emission_capacity;
	int error;
};

static uint32_t vertex_count(const struct cycle_search *search)
{
	return search->unit->unit->rule_count + search->unit->unit->machine_count;
}

static const char *vertex_name(const struct cycle_search *search, uint32_t vertex)
{
	const struct lang_unit *unit = search->unit->unit;

	return vertex < unit->rule_count ? unit->rules[vertex].name : unit->machines[vertex - unit->rule_count].name;
}

static void add_emission(struct cycle_search *search, const struct lang_statement *statement)
{
	if (!statement->is_emit || search->error)
		return;
	search->error = alloc_grow(&search->emissions, &search->emission_capacity, search->emission_count,
				   sizeof *search->emissions);
	if (!search->error)
		search->emissions[search->emission_count++] =
			(struct emission){ .type = statement->type, .location = &statement->location };
}

static void collect_block(struct cycle_search *search, const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind == LANG_RAISE)
			add_emission(search, &block->actions[i].statement);
	}
}

static void collect_all(struct cycle_search *search)
{
	const struct lang_unit *unit = search->unit->unit;

	for (uint32_t i = 0; i < unit->rule_count; i++) {
		search->first[i] = search->emission_count;
		for (uint32_t j = 0; j < unit->rules[i].statement_count; j++)
			add_emission(search, &unit->rules[i].statements[j]);
	}
	for (uint32_t i = 0; i < unit->machine_count; i++) {
		const struct lang_machine *machine = &unit->machines[i];

		search->first[unit->rule_count + i] = search->emission_count;
		for (uint32_t j = 0; j < machine->state_count; j++) {
			collect_block(search, &machine->states[j].entry);
			collect_block(search, &machine->states[j].exit);
		}
		for (uint32_t j = 0; j < machine->transition_count; j++)
			collect_block(search, &machine->transitions[j].block);
	}
	search->first[vertex_count(search)] = search->emission_count;
}

/* Whether the pattern of a rule, or a transition of a machine, names type. */
static bool uses(const struct cycle_search *search, uint32_t vertex, const struct event_type *type)
{
	const struct lang_unit *unit = search->unit->unit;

	if (vertex < unit->rule_count) {
		const struct lang_rule *rule = &unit->rules[vertex];

		for (uint32_t i = 0; i < rule->element_count; i++) {
			if (rule->elements[i].type == type)
				return true;
		}
		return false;
	}
	const struct lang_machine *machine = &unit->machines[vertex - unit->rule_count];

	for (uint32_t i = 0; i < machine->transition_count; i++) {
		if (machine->transitions[i].type == type)
			return true;
	}
	return false;
}

/* Edges are numbered by the vertex's emissions and, of each, by all vertices. */
static uint32_t follow_emission(void *context, uint32_t vertex, uint64_t *edge)
{
	const struct cycle_search *search = context;
	uint32_t count = vertex_count(search);

	while (*edge < (search->first[vertex + 1] - search->first[vertex]) * count) {
		size_t emission = search->first[vertex] + *edge / count;
		uint32_t next = (uint32_t)((*edge)++ % count);

		if (uses(search, next, search->emissions[emission].type))
			return next;
	}
	return CIRCLE_END;
}

static int report_circle(const struct cycle_search *search, const struct circle *circle)
{
	char path[512] = "";
	size_t last = search->first[circle->vertices[circle->count - 1]];
	const struct emission *emission = &search->emissions[last + (circle->edge - 1) / vertex_count(search)];

	for (uint32_t i = 0; i < circle->count; i++) {
		size_t used = strlen(path);

		snprintf(path + used, sizeof path - used, "%s -> ", vertex_name(search, circle->vertices[i]));
	}
	return diag_error(search->unit->diag, emission->location, -EINVAL, "EMIT feeds itself: %s%s", path,
			  vertex_name(search, circle->vertices[0]));
}

static int find_cycle(struct cycle_search *search)
{
	const struct circle_graph graph = { vertex_count(search), follow_emission, search };
	struct circle circle;
	int result;

	collect_all(search);
	result = search->error ? search->error : circle_find(&graph, &circle);
	if (result <= 0)
		return result;
	result = report_circle(search, &circle);
	alloc_free(circle.vertices);
	return result;
}

int rule_check_cycles(struct unit_build *unit)
{
	struct cycle_search search = { .unit = unit };
	int result = -ENOMEM;

	search.first = alloc_zero((size_t)vertex_count(&search) + 1, sizeof *search.first);
	if (search.first)
		result = find_cycle(&search);
	alloc_free(search.emissions);
	alloc_free(search.first);
	return result;
}
