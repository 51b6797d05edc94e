/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_GRAPH_H
#define PROFILE_GRAPH_H

/* Who calls whom, and which functions call each other in a circle (Tarjan 1972, without recursion). */

#include "profile/profile.h"

struct graph {
	size_t function_count, component_count;
	uint32_t *first;      /* of the edges of a caller in edges; one more at the end */
	uint32_t *edges;      /* by caller */
	uint32_t *components; /* of functions; callees have lower ones than their callers */
	uint32_t *members;    /* functions by component */
	uint32_t *starts;     /* of a component in members; one more at the end */
};

/* 0 or -ENOMEM; graph_fini either way. */
int graph_init(struct graph *graph, const struct profile *profile);
void graph_fini(struct graph *graph);

static inline uint32_t graph_size(const struct graph *graph, uint32_t component)
{
	return graph->starts[component + 1] - graph->starts[component];
}

#endif
