// SPDX-License-Identifier: BSD-2-Clause
/* Orders functions: components of those that reach each other, callees first. Linear time. */

#include "profile/graph.h"

#include "base/alloc.h"

#include <errno.h>

/* What Tarjan's algorithm has of each function, and its stacks. */
struct search {
	uint32_t *index, *low; /* index 0: not seen yet */
	uint32_t *next;        /* edge to look at */
	uint32_t *calls, *open;
	size_t call_count, open_count;
	uint32_t seen;
};

static void sort_edges(struct graph *graph, const struct profile *profile)
{
	for (size_t i = 0; i < profile->edge_count; i++)
		graph->first[profile->edges[i].caller + 1]++;
	for (size_t i = 0; i < graph->function_count; i++)
		graph->first[i + 1] += graph->first[i];
	/* Each first is moved to its end, where the next one begins, and then all of them back. */
	for (size_t i = 0; i < profile->edge_count; i++)
		graph->edges[graph->first[profile->edges[i].caller]++] = (uint32_t)i;
	for (size_t i = graph->function_count; i > 0; i--)
		graph->first[i] = graph->first[i - 1];
	graph->first[0] = 0;
}

static void enter_function(struct search *search, const struct graph *graph, uint32_t function)
{
	search->index[function] = search->low[function] = ++search->seen;
	search->next[function] = graph->first[function];
	search->calls[search->call_count++] = function;
	search->open[search->open_count++] = function;
}

/* All that is open from function on is a component. */
static void close_component(struct search *search, struct graph *graph, uint32_t function)
{
	uint32_t component = (uint32_t)graph->component_count++, at = graph->starts[component], member;

	do {
		member = search->open[--search->open_count];
		graph->components[member] = component;
		graph->members[at++] = member;
	} while (member != function);
	graph->starts[component + 1] = at;
}

static void visit_function(struct search *search, struct graph *graph, const struct profile *profile, uint32_t root)
{
	enter_function(search, graph, root);
	while (search->call_count) {
		uint32_t function = search->calls[search->call_count - 1];

		if (search->next[function] < graph->first[function + 1]) {
			uint32_t callee = profile->edges[graph->edges[search->next[function]++]].callee;

			if (!search->index[callee])
				enter_function(search, graph, callee);
			else if (graph->components[callee] == HASH_NONE &&
				 search->index[callee] < search->low[function])
				search->low[function] = search->index[callee];
			continue;
		}
		search->call_count--;
		if (search->low[function] == search->index[function])
			close_component(search, graph, function);
		if (!search->call_count)
			continue;
		uint32_t caller = search->calls[search->call_count - 1];

		if (search->low[function] < search->low[caller] && graph->components[function] == HASH_NONE)
			search->low[caller] = search->low[function];
	}
}

static int find_components(struct graph *graph, const struct profile *profile)
{
	size_t count = graph->function_count;
	uint32_t *memory = alloc_zero(count * 5 + 1, sizeof *memory);
	struct search search = { 0 };

	if (!memory)
		return -ENOMEM;
	search.index = memory;
	search.low = memory + count;
	search.next = memory + 2 * count;
	search.calls = memory + 3 * count;
	search.open = memory + 4 * count;
	for (size_t i = 0; i < count; i++)
		graph->components[i] = HASH_NONE;
	for (size_t i = 0; i < count; i++) {
		if (!search.index[i])
			visit_function(&search, graph, profile, (uint32_t)i);
	}
	alloc_free(memory);
	return 0;
}

int graph_init(struct graph *graph, const struct profile *profile)
{
	size_t count = profile->function_count;

	*graph = (struct graph){ .function_count = count };
	graph->first = alloc_zero(count + 2, sizeof *graph->first);
	graph->edges = alloc_zero(profile->edge_count + 1, sizeof *graph->edges);
	graph->components = alloc_zero(count + 1, sizeof *graph->components);
	graph->members = alloc_zero(count + 1, sizeof *graph->members);
	graph->starts = alloc_zero(count + 2, sizeof *graph->starts);
	if (!graph->first || !graph->edges || !graph->components || !graph->members || !graph->starts)
		return -ENOMEM;
	sort_edges(graph, profile);
	return find_components(graph, profile);
}

void graph_fini(struct graph *graph)
{
	alloc_free(graph->first);
	alloc_free(graph->edges);
	alloc_free(graph->components);
	alloc_free(graph->members);
	alloc_free(graph->starts);
}
