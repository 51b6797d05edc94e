// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes inclusive costs by contexts: the ways in which a simulation reached each function, with its callers. A
 * function's sampled cost is shared among its contexts as the simulated one is; it counts for every function of a
 * context once, so recursion needs no care.
 */

#include "profile/complete-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

double *contexts_share_of(const struct sharing *sharing, unsigned event)
{
	const struct profile *simulated = sharing->simulated;
	double *costs = alloc_zero(simulated->context_count + 1, sizeof *costs);
	double *sums = alloc_zero(simulated->function_count + 1, sizeof *sums);
	double *counts = alloc_zero(simulated->function_count + 1, sizeof *counts);

	for (size_t i = 0; costs && sums && counts && i < simulated->context_count; i++) {
		sums[simulated->contexts[i].function] += simulated->context_self[i * simulated->event_count + event];
		counts[simulated->contexts[i].function]++;
	}
	for (size_t i = 0; costs && sums && counts && i < simulated->context_count; i++) {
		uint32_t function = simulated->contexts[i].function;
		double share = sums[function] > 0
				       ? simulated->context_self[i * simulated->event_count + event] / sums[function]
				       : 1 / counts[function];

		costs[i] = share * sharing->self[function];
	}
	if (!sums || !counts) {
		alloc_free(costs);
		costs = NULL;
	}
	alloc_free(sums);
	alloc_free(counts);
	return costs;
}

/* seen: of each function, the last context that has counted for it, + 1; edge_seen likewise. */
static void add_context(struct sharing *sharing, size_t number, double cost, uint32_t *seen, uint32_t *edge_seen)
{
	const struct profile *simulated = sharing->simulated;
	const struct profile_context *context = &simulated->contexts[number];
	const uint32_t *path = simulated->paths + context->path;

	for (uint32_t i = 0; i < context->length; i++) {
		if (seen[path[i]] != number + 1) {
			seen[path[i]] = (uint32_t)number + 1;
			sharing->inclusive[path[i]] += cost;
		}
		if (i == 0)
			continue;
		uint32_t edge = profile_find_edge(simulated, path[i], path[i - 1]);

		if (edge == HASH_NONE || edge_seen[edge] == number + 1)
			continue;
		edge_seen[edge] = (uint32_t)number + 1;
		sharing->costs[edge] += cost;
	}
	if (context->is_root)
		sharing->root += cost;
}

int contexts_share_runs(struct sharing *sharing, unsigned event)
{
	const struct profile *simulated = sharing->simulated;
	double *costs = contexts_share_of(sharing, event);
	uint32_t *seen = alloc_zero(simulated->function_count + 1, sizeof *seen);
	uint32_t *edge_seen = alloc_zero(simulated->edge_count + 1, sizeof *edge_seen);
	int result = costs && seen && edge_seen ? 0 : -ENOMEM;

	sharing->root = 0;
	for (size_t i = 0; !result && i < simulated->context_count; i++)
		add_context(sharing, i, costs[i], seen, edge_seen);
	for (size_t i = 0; !result && i < simulated->function_count; i++)
		sharing->origins[i] = PROFILE_ESTIMATED;
	alloc_free(costs);
	alloc_free(seen);
	alloc_free(edge_seen);
	return result;
}
