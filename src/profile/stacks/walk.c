// SPDX-License-Identifier: BSD-2-Clause
/*
 * Estimates the stacks that a completed profile makes likely. Each root's cost flows down the edges; a path ends where
 * it is too small, or would come to a function again. What is not shown below a function counts for the function
 * itself, so costs still add up. A profile made to have more frames than anybody looks at gets shorter stacks behind so
 * many.
 */

#include "profile/stacks/paths.h"

#include "profile/graph.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>

enum { FRAMES_MAX = 1 << 24 };

struct step {
	uint32_t function, next; /* edge to look at */
	double cost;             /* of the path so far */
	double rest;             /* of that, what no shown callee has got */
};

struct folding {
	const struct profile *profile;
	profile_stack *one;
	void *context;
	struct graph graph;
	bool *is_open; /* functions that the path has */
	double least;
	double left_out;
	struct step steps[PROFILE_DEPTH_MAX];
	uint32_t path[PROFILE_DEPTH_MAX]; /* their functions */
	unsigned depth;
	size_t frames; /* of all stacks so far */
};

static void finish_step(struct folding *folding)
{
	struct step *step = &folding->steps[folding->depth - 1];
	double self = *profile_self(folding->profile, step->function);
	double inclusive = *profile_inclusive(folding->profile, step->function);
	double own = inclusive > 0 ? fmin(step->rest, step->cost * self / inclusive) : step->rest;

	if (step->rest <= 0)
		return;
	folding->left_out += step->rest - own;
	folding->frames += folding->depth;
	folding->one(folding->context, folding->path, folding->depth, step->rest);
}

static void enter_folded_function(struct folding *folding, uint32_t function, double cost)
{
	folding->is_open[function] = true;
	folding->path[folding->depth] = function;
	folding->steps[folding->depth++] = (struct step){
		.function = function, .next = folding->graph.first[function], .cost = cost, .rest = cost
	};
}

static void follow_root(struct folding *folding, uint32_t root, double cost)
{
	enter_folded_function(folding, root, cost);
	while (folding->depth) {
		struct step *step = &folding->steps[folding->depth - 1];

		if (step->next == folding->graph.first[step->function + 1]) {
			finish_step(folding);
			folding->is_open[step->function] = false;
			folding->depth--;
			continue;
		}
		uint32_t edge = folding->graph.edges[step->next++], callee = folding->profile->edges[edge].callee;
		double inclusive = *profile_inclusive(folding->profile, step->function);
		double part = inclusive > 0 ? step->cost * *profile_cost(folding->profile, edge) / inclusive : 0;

		part = fmin(part, step->rest);
		if (part <= 0 || part < folding->least || folding->is_open[callee] ||
		    folding->depth == PROFILE_DEPTH_MAX || folding->frames > FRAMES_MAX)
			continue;
		step->rest -= part;
		enter_folded_function(folding, callee, part);
	}
}

/* What the members of a component cost, with all that they call outside. */
static double cost_of(const struct profile *profile, const struct graph *graph, uint32_t component)
{
	double cost = 0;

	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
		uint32_t member = graph->members[i];

		cost += *profile_self(profile, member);
		for (uint32_t j = graph->first[member]; j < graph->first[member + 1]; j++) {
			const struct profile_edge *edge = &profile->edges[graph->edges[j]];

			if (graph->components[edge->callee] != component)
				cost += *profile_cost(profile, graph->edges[j]);
		}
	}
	return cost;
}

/* A circle that nothing else calls is begun at the function that costs most; the others get what is left. */
static void begin_circle(const struct profile *profile, const struct graph *graph, uint32_t component, double *costs)
{
	uint32_t first = graph->members[graph->starts[component]];
	double rest = cost_of(profile, graph, component);

	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
		uint32_t member = graph->members[i];

		costs[member] = 0;
		if (*profile_inclusive(profile, member) > *profile_inclusive(profile, first))
			first = member;
	}
	costs[first] = fmin(rest, *profile_inclusive(profile, first));
	rest -= costs[first];
	for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1] && rest > 0; i++) {
		uint32_t member = graph->members[i];

		if (member == first)
			continue;
		costs[member] = fmin(rest, *profile_inclusive(profile, member));
		rest -= costs[member];
	}
}

/* Roots have what their callers have not, which is all of it where there are none. */
static double *costs_of_roots(const struct profile *profile, const struct graph *graph)
{
	double *costs = alloc_zero(profile->function_count + 1, sizeof *costs);
	bool *is_called = alloc_zero(graph->component_count + 1, sizeof *is_called);

	for (uint32_t i = 0; costs && i < profile->function_count; i++)
		costs[i] = *profile_inclusive(profile, i);
	for (uint32_t i = 0; costs && i < profile->edge_count; i++) {
		if (profile->edges[i].caller != profile->edges[i].callee)
			costs[profile->edges[i].callee] -= *profile_cost(profile, i);
		if (is_called &&
		    graph->components[profile->edges[i].caller] != graph->components[profile->edges[i].callee])
			is_called[graph->components[profile->edges[i].callee]] = true;
	}
	for (uint32_t i = 0; costs && is_called && i < graph->component_count; i++) {
		if (!is_called[i] && graph_size(graph, i) > 1)
			begin_circle(profile, graph, i, costs);
	}
	if (!is_called) {
		alloc_free(costs);
		costs = NULL;
	}
	alloc_free(is_called);
	return costs;
}

int profile_each_stack(const struct profile *profile, double least, profile_stack *one, void *context, double *left_out)
{
	struct folding *folding = alloc_zero(1, sizeof *folding);
	double *roots = NULL;
	int result = folding ? graph_init(&folding->graph, profile) : -ENOMEM;

	if (!result) {
		roots = costs_of_roots(profile, &folding->graph);
		folding->is_open = alloc_zero(profile->function_count + 1, sizeof *folding->is_open);
		result = roots && folding->is_open ? 0 : -ENOMEM;
	}
	if (!result) {
		folding->one = one;
		folding->context = context;
		folding->profile = profile;
		folding->least = least * profile_total(profile, 0);
		for (uint32_t i = 0; i < profile->function_count; i++) {
			if (roots[i] > 1e-5 * folding->least)
				follow_root(folding, i, roots[i]);
		}
		*left_out = folding->left_out;
	}
	if (folding) {
		graph_fini(&folding->graph);
		alloc_free(folding->is_open);
	}
	alloc_free(folding);
	alloc_free(roots);
	return result;
}
