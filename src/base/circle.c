// SPDX-License-Identifier: BSD-2-Clause
/* Finds a cycle in a graph: an edge to a vertex that is on the stack. */

#include "base/circle.h"

#include "base/alloc.h"

#include <errno.h>

enum visit { UNSEEN, OPEN, DONE };

struct step {
	uint32_t vertex;
	uint64_t edge;
};

struct search {
	const struct circle_graph *graph;
	uint8_t *visits; /* per vertex */
	struct step *steps;
	uint32_t depth;
};

static void push_vertex(struct search *search, uint32_t vertex)
{
	search->visits[vertex] = OPEN;
	search->steps[search->depth++] = (struct step){ .vertex = vertex };
}

/* The stack from vertex on. */
static int take_circle(const struct search *search, uint32_t vertex, struct circle *found)
{
	uint32_t first = search->depth - 1;

	while (search->steps[first].vertex != vertex)
		first--;
	*found = (struct circle){ .count = search->depth - first, .edge = search->steps[search->depth - 1].edge };
	found->vertices = alloc_zero(found->count, sizeof *found->vertices);
	for (uint32_t i = 0; found->vertices && i < found->count; i++)
		found->vertices[i] = search->steps[first + i].vertex;
	return found->vertices ? 1 : -ENOMEM;
}

static int search_from(struct search *search, uint32_t start, struct circle *found)
{
	push_vertex(search, start);
	while (search->depth) {
		struct step *top = &search->steps[search->depth - 1];
		uint32_t next = search->graph->follow(search->graph->context, top->vertex, &top->edge);

		if (next == CIRCLE_END) {
			search->visits[top->vertex] = DONE;
			search->depth--;
		} else if (search->visits[next] == OPEN) {
			return take_circle(search, next, found);
		} else if (search->visits[next] == UNSEEN) {
			push_vertex(search, next);
		}
	}
	return 0;
}

int circle_find(const struct circle_graph *graph, struct circle *found)
{
	struct search search = { .graph = graph };
	int result = -ENOMEM;

	search.visits = alloc_zero(graph->vertex_count, sizeof *search.visits);
	search.steps = alloc_zero(graph->vertex_count, sizeof *search.steps);
	if (search.visits && search.steps)
		result = 0;
	for (uint32_t i = 0; i < graph->vertex_count && !result; i++) {
		if (search.visits[i] == UNSEEN)
			result = search_from(&search, i, found);
	}
	alloc_free(search.visits);
	alloc_free(search.steps);
	return result;
}
