// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the inclusive costs of functions: callees first, each share of what is called goes to its callers. A
 * component of functions that call each other is one in this; what its members cost within it is estimated. No cost
 * gets lost: the sum of self costs is that of all that nothing calls.
 */

#include "profile/complete-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ALMOST_ONE (1 - 1e-12)

int share_init(struct sharing *sharing, const struct profile *simulated, const struct graph *graph)
{
	size_t functions = simulated->function_count + 1, edges = simulated->edge_count + 1;

	sharing->simulated = simulated;
	sharing->graph = graph;
	sharing->inclusive = alloc_zero(functions, sizeof *sharing->inclusive);
	sharing->whole = alloc_zero(functions, sizeof *sharing->whole);
	sharing->origins = alloc_zero(functions, sizeof *sharing->origins);
	sharing->by_calls = alloc_zero(functions, sizeof *sharing->by_calls);
	sharing->costs = alloc_zero(edges, sizeof *sharing->costs);
	sharing->shares = alloc_zero(edges, sizeof *sharing->shares);
	return sharing->inclusive && sharing->whole && sharing->origins && sharing->by_calls && sharing->costs &&
			       sharing->shares
		       ? 0
		       : -ENOMEM;
}

void share_fini(struct sharing *sharing)
{
	alloc_free(sharing->inclusive);
	alloc_free(sharing->whole);
	alloc_free(sharing->origins);
	alloc_free(sharing->by_calls);
	alloc_free(sharing->costs);
	alloc_free(sharing->shares);
}

/* What flows into components from outside, and into functions from all others. */
struct inflow {
	double *whole, *whole_calls, *function;
	double *simulated; /* the weight that is in a component and below */
};

static bool is_inner_edge(const struct sharing *sharing, const struct profile_edge *edge)
{
	return sharing->graph->components[edge->caller] == sharing->graph->components[edge->callee];
}

static void sum_inflow(const struct sharing *sharing, struct inflow *inflow)
{
	const struct profile *simulated = sharing->simulated;

	for (size_t i = 0; i < simulated->edge_count; i++) {
		const struct profile_edge *edge = &simulated->edges[i];

		if (edge->caller != edge->callee)
			inflow->function[edge->callee] += sharing->weights[i];
		if (is_inner_edge(sharing, edge))
			continue;
		inflow->whole[sharing->graph->components[edge->callee]] += sharing->weights[i];
		inflow->whole_calls[sharing->graph->components[edge->callee]] += edge->calls;
		inflow->simulated[sharing->graph->components[edge->caller]] += sharing->weights[i];
	}
	for (size_t i = 0; sharing->weights_self && i < simulated->function_count; i++)
		inflow->simulated[sharing->graph->components[i]] += sharing->weights_self[i];
}

/* An edge's share of what it calls; it is estimated where there are others. */
static double share_of(const struct sharing *sharing, const struct inflow *inflow, uint32_t number)
{
	uint32_t component = sharing->graph->components[sharing->simulated->edges[number].callee];

	if (inflow->whole[component] > 0)
		return sharing->weights[number] / inflow->whole[component];
	if (inflow->whole_calls[component] > 0)
		return sharing->simulated->edges[number].calls / inflow->whole_calls[component];
	return 0;
}

/* Everything that leaves a member. Returns its cost. */
static double cost_of_leaving(struct sharing *sharing, const struct inflow *inflow, uint32_t function,
			      bool *is_estimated)
{
	const struct graph *graph = sharing->graph;
	double sum = 0;

	for (uint32_t i = graph->first[function]; i < graph->first[function + 1]; i++) {
		uint32_t number = graph->edges[i], callee = sharing->simulated->edges[number].callee;
		uint32_t component = graph->components[callee];
		double share;

		if (is_inner_edge(sharing, &sharing->simulated->edges[number]))
			continue;
		share = share_of(sharing, inflow, number);
		sharing->shares[number] = share;
		sharing->costs[number] = share * sharing->whole[component];
		sum += sharing->costs[number];
		if (sharing->costs[number] > 0 && (share < ALMOST_ONE || sharing->origins[callee] == PROFILE_ESTIMATED))
			*is_estimated = true;
		if (inflow->whole[component] <= 0 && sharing->costs[number] > 0) {
			sharing->by_calls[callee] = true;
			sharing->by_calls_cost += sharing->costs[number];
		}
	}
	return sum;
}

/* What of a component a member is on the stack for: at least its own cost and what it calls outside. */
static double of_member(const struct sharing *sharing, const struct inflow *inflow, uint32_t component, uint32_t member,
			double least)
{
	double whole = sharing->whole[component], ratio = 1;

	if (sharing->weights_self && inflow->simulated[component] > 0 && inflow->function[member] > 0)
		ratio = inflow->function[member] / inflow->simulated[component];
	return fmin(whole, fmax(least, ratio * whole));
}

static void share_within(struct sharing *sharing, const struct inflow *inflow, uint32_t component)
{
	const struct graph *graph = sharing->graph;

	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
		uint32_t member = graph->members[i];

		for (uint32_t j = graph->first[member]; j < graph->first[member + 1]; j++) {
			uint32_t number = graph->edges[j], callee = sharing->simulated->edges[number].callee;

			if (graph->components[callee] != component || callee == member || inflow->function[callee] <= 0)
				continue;
			sharing->costs[number] =
				sharing->weights[number] / inflow->function[callee] * sharing->inclusive[callee];
		}
	}
}

static void run_component(struct sharing *sharing, const struct inflow *inflow, uint32_t component)
{
	const struct graph *graph = sharing->graph;
	bool is_cycle = graph_size(graph, component) > 1, is_estimated = is_cycle;
	double sum = 0;

	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
		uint32_t member = graph->members[i];

		sharing->inclusive[member] =
			sharing->self[member] + cost_of_leaving(sharing, inflow, member, &is_estimated);
		sum += sharing->inclusive[member];
	}
	sharing->whole[component] = sum;
	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
		uint32_t member = graph->members[i];

		sharing->origins[member] = is_estimated ? PROFILE_ESTIMATED : PROFILE_DERIVED;
		if (is_cycle)
			sharing->inclusive[member] =
				of_member(sharing, inflow, component, member, sharing->inclusive[member]);
	}
	if (is_cycle)
		share_within(sharing, inflow, component);
	if (inflow->whole[component] <= 0 && inflow->whole_calls[component] <= 0)
		sharing->root += sum;
}

int share_run(struct sharing *sharing)
{
	size_t count = sharing->simulated->function_count;
	double *memory = alloc_zero(4 * count + 1, sizeof *memory);
	struct inflow inflow = { 0 };

	if (!memory)
		return -ENOMEM;
	inflow.whole = memory;
	inflow.whole_calls = memory + count;
	inflow.function = memory + 2 * count;
	inflow.simulated = memory + 3 * count;
	sharing->root = sharing->by_calls_cost = 0;
	sum_inflow(sharing, &inflow);
	for (size_t i = 0; i < sharing->graph->component_count; i++)
		run_component(sharing, &inflow, (uint32_t)i);
	alloc_free(memory);
	return 0;
}
