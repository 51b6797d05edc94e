// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that emitting comes to an end. An event type leads to the rules that an event of it carries on (not those
 * where it only ends or forbids), a rule to the types it emits; a way around these is refused.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "base/alloc.h"
#include "base/circle.h"
#include "base/text.h"

#include <errno.h>

/* Its vertices are the types, then the rules. */
struct graph {
	struct check *check;
	uint32_t *first; /* per type, and one more: where its rules begin in rules */
	uint32_t *rules;
};

static bool carries_on(const struct program_transition *transition)
{
	return transition->type != PROGRAM_TIMER && !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE)) &&
	       transition->target != PROGRAM_TARGET_END;
}

/* Calls for every (type, rule) where rule has a transition on type that carries on, once. fill: else only count. */
static void each_edge(struct graph *graph, bool fill)
{
	const struct program *program = graph->check->program;
	uint32_t *mark = graph->check->type_mark;

	for (uint32_t r = 0; r < program->rule_count; r++) {
		const struct program_rule *rule = &program->rules[r];
		uint32_t seen = check_new_mark(graph->check);

		for (uint32_t s = rule->first_state; s < rule->first_state + rule->state_count; s++) {
			const struct program_transition *transition = program_transitions(program, &program->states[s]);

			for (uint32_t left = program->states[s].transition_count; left > 0; left--, transition++) {
				if (!carries_on(transition) || mark[transition->type] == seen)
					continue;
				mark[transition->type] = seen;
				if (fill)
					graph->rules[--graph->first[transition->type]] = r;
				else
					graph->first[transition->type]++;
			}
		}
	}
}

static int make_graph(struct graph *graph)
{
	const struct program *program = graph->check->program;
	uint32_t types = program->type_count;

	graph->first = alloc_zero((size_t)types + 1, sizeof *graph->first);
	if (!graph->first)
		return -ENOMEM;
	each_edge(graph, false);
	for (uint32_t i = 0; i < types; i++)
		graph->first[i + 1] += graph->first[i];
	graph->rules = alloc_zero(graph->first[types], sizeof *graph->rules);
	if (!graph->rules)
		return -ENOMEM;
	each_edge(graph, true); /* counts down from each end, so every first ends at its beginning */
	return 0;
}

static uint32_t follow_type_edge(void *context, uint32_t vertex, uint64_t *edge)
{
	const struct graph *graph = context;
	const struct program *program = graph->check->program;
	uint32_t types = program->type_count;

	if (vertex < types) {
		uint32_t first = graph->first[vertex];

		return *edge < graph->first[vertex + 1] - first ? types + graph->rules[first + (*edge)++] : CIRCLE_END;
	}
	const struct program_rule *rule = &program->rules[vertex - types];
	while (*edge < rule->statement_count) {
		uint32_t type = program->statements[rule->first_statement + (*edge)++].type;

		if (type != PROGRAM_NONE)
			return type;
	}
	return CIRCLE_END;
}

static void name_vertex(struct text_buffer *text, const struct program *program, uint32_t vertex)
{
	bool type = vertex < program->type_count;
	uint32_t name = type ? program->types[vertex].name : program->rules[vertex - program->type_count].name;

	text_printf(text, "%s%s", type ? "" : "rule ", program_text(program, name));
}

static int report_emission_circle(const struct graph *graph, const struct circle *circle)
{
	const struct program *program = graph->check->program;
	uint32_t types = program->type_count, last = circle->vertices[circle->count - 1];
	struct text_buffer text;
	char way[600];

	text_init_fixed(&text, way, sizeof way);
	for (uint32_t i = 0; i < circle->count; i++) {
		name_vertex(&text, program, circle->vertices[i]);
		text_append(&text, " -> ");
	}
	name_vertex(&text, program, circle->vertices[0]);
	/* Types and rules take turns on it: where the last vertex is no rule, the first one is. */
	uint32_t rule = (last < types ? circle->vertices[0] : last) - types;
	return check_fail(graph->check, (struct check_item){ PROGRAM_RULES, rule }, "EMIT forms a cycle: %s", way);
}

int check_emissions(struct check *check)
{
	const struct program *program = check->program;
	struct graph graph = { .check = check };
	struct circle circle = { 0 };
	int result = make_graph(&graph);

	if (!result)
		result = circle_find(
			&(struct circle_graph){ program->type_count + program->rule_count, follow_type_edge, &graph },
			&circle);
	if (result > 0)
		result = report_emission_circle(&graph, &circle);
	alloc_free(circle.vertices);
	alloc_free(graph.first);
	alloc_free(graph.rules);
	return result;
}
