// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides that emitting comes to an end. An event type leads to the rules that an event of it carries on (not those
 * where it only ends or forbids), a rule to the types it emits; a way around these is refused. Depth-first search
 * with its own stack, as an image may hold a chain of any length.
 */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>

enum colour { UNSEEN, OPEN, DONE };

struct step {
	uint32_t vertex; /* types first, then rules */
	uint32_t next;   /* edge to follow next */
};

struct graph {
	struct check *check;
	uint32_t *first; /* per type, and one more: where its rules begin in rules */
	uint32_t *rules;
	uint8_t *colours;
	struct step *stack;
	uint32_t depth;
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
	uint32_t types = program->type_count, vertices = types + program->rule_count;

	graph->first = alloc_zero((size_t)types + 1, sizeof *graph->first);
	graph->colours = alloc_zero(vertices, sizeof *graph->colours);
	graph->stack = alloc_zero(vertices, sizeof *graph->stack);
	if (!graph->first || !graph->colours || !graph->stack)
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

static void push(struct graph *graph, uint32_t vertex)
{
	const struct program *program = graph->check->program;
	uint32_t types = program->type_count;
	uint32_t next = vertex < types ? graph->first[vertex] : program->rules[vertex - types].first_statement;

	graph->colours[vertex] = OPEN;
	graph->stack[graph->depth++] = (struct step){ vertex, next };
}

/* The vertex that the next edge of step leads to, or PROGRAM_NONE after the last one. */
static uint32_t follow(const struct graph *graph, struct step *step)
{
	const struct program *program = graph->check->program;
	uint32_t types = program->type_count;

	if (step->vertex < types)
		return step->next < graph->first[step->vertex + 1] ? types + graph->rules[step->next++] : PROGRAM_NONE;
	const struct program_rule *rule = &program->rules[step->vertex - types];
	while (step->next < rule->first_statement + rule->statement_count) {
		uint32_t type = program->statements[step->next++].type;

		if (type != PROGRAM_NONE)
			return type;
	}
	return PROGRAM_NONE;
}

static void name_vertex(struct text_buffer *text, const struct program *program, uint32_t vertex)
{
	bool type = vertex < program->type_count;
	uint32_t name = type ? program->types[vertex].name : program->rules[vertex - program->type_count].name;

	text_printf(text, "%s%s", type ? "" : "rule ", program_text(program, name));
}

/* The stack from vertex on is the circle. */
static int report(struct graph *graph, uint32_t vertex)
{
	const struct program *program = graph->check->program;
	struct text_buffer text;
	char way[600];
	uint32_t from = graph->depth;

	text_init_fixed(&text, way, sizeof way);
	while (graph->stack[from - 1].vertex != vertex)
		from--;
	for (uint32_t i = from - 1; i < graph->depth; i++) {
		name_vertex(&text, program, graph->stack[i].vertex);
		text_append(&text, " -> ");
	}
	name_vertex(&text, program, vertex);
	/* A circle has a rule in it: it is the last vertex or the one that vertex is reached from. */
	uint32_t last = graph->stack[graph->depth - 1].vertex;
	uint32_t rule = (last < program->type_count ? vertex : last) - program->type_count;
	return check_fail(graph->check, (struct check_item){ PROGRAM_RULES, rule }, "EMIT goes in a circle: %s", way);
}

static int search(struct graph *graph, uint32_t start)
{
	push(graph, start);
	while (graph->depth) {
		struct step *top = &graph->stack[graph->depth - 1];
		uint32_t next = follow(graph, top);

		if (next == PROGRAM_NONE) {
			graph->colours[top->vertex] = DONE;
			graph->depth--;
		} else if (graph->colours[next] == OPEN) {
			return report(graph, next);
		} else if (graph->colours[next] == UNSEEN) {
			push(graph, next);
		}
	}
	return 0;
}

int check_emissions(struct check *check)
{
	struct graph graph = { .check = check };
	int result = make_graph(&graph);

	for (uint32_t i = 0; i < check->program->type_count && !result; i++) {
		if (graph.colours[i] == UNSEEN)
			result = search(&graph, i);
	}
	alloc_free(graph.first);
	alloc_free(graph.rules);
	alloc_free(graph.colours);
	alloc_free(graph.stack);
	return result;
}
