/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CIRCLE_H
#define BASE_CIRCLE_H

/*
 * Finds a way around in a directed graph, which its owner has: depth first, in the order of vertices and of the edges
 * that lead from them, so the same graph always gives the same way. Takes time linear in vertices and edges, and
 * memory linear in vertices; the stack is its own, so graphs may come from anybody.
 */

#include <stdint.h>

#define CIRCLE_END UINT32_MAX

struct circle_graph {
	uint32_t vertex_count;
	/*
	 * The vertex that the next edge from vertex leads to, or CIRCLE_END after the last one. *edge is 0 at first,
	 * and else what the call before has left there; it goes up.
	 */
	uint32_t (*follow)(void *context, uint32_t vertex, uint64_t *edge);
	void *context;
};

struct circle {
	uint32_t *vertices; /* in the order of the way, to be freed with alloc_free */
	uint32_t count;     /* from the last one an edge leads to the first one: */
	uint64_t edge;      /* what follow left there when it gave that one */
};

/* Returns 1: there is a way around, *found; 0: there is none; -ENOMEM. */
int circle_find(const struct circle_graph *graph, struct circle *found);

#endif
