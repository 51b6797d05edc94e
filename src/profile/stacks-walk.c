// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which stacks a completed profile makes likely. Each root's cost flows down the edges; a path ends where it is
 * too small, or would come to a function again. What is not shown below a function counts for the function itself, so
 * costs still add up. A profile made to have more frames than anybody looks at gets shorter stacks behind so many.
 */

#include "profile/stacks.h"

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

static void finish(struct folding *folding)
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

static void enter(struct folding *folding, uint32_t function, double cost)
{
	folding->is_open[function] = true;
	folding->path[folding->depth] = function;
	folding->steps[folding->depth++] = (struct step){
		.function = function, .next = folding->graph.first[function], .cost = cost, .rest = cost
	};
}

static void follow(struct folding *folding, uint32_t root, double cost)
{
	enter(folding, root, cost);
	while (folding->depth) {
		struct step *step = &folding->steps[folding->depth - 1];

		if (step->next == folding->graph.first[step->function + 1]) {
			finish(folding);
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
		enter(folding, callee, part);
	}
}

/* Roots have what their callers have not, which is all of it where there are none. */
static double *costs_of_roots(const struct profile *profile)
{
	double *costs = alloc_zero(profile->function_count + 1, sizeof *costs);

	for (uint32_t i = 0; costs && i < profile->function_count; i++)
		costs[i] = *profile_inclusive(profile, i);
	for (uint32_t i = 0; costs && i < profile->edge_count; i++) {
		if (profile->edges[i].caller != profile->edges[i].callee)
			costs[profile->edges[i].callee] -= *profile_cost(profile, i);
	}
	return costs;
}

int profile_each_stack(const struct profile *profile, double least, profile_stack *one, void *context, double *left_out)
{
	struct folding *folding = alloc_zero(1, sizeof *folding);
	double *roots = costs_of_roots(profile);
	int result = folding && roots ? graph_init(&folding->graph, profile) : -ENOMEM;

	if (folding)
		folding->is_open = alloc_zero(profile->function_count + 1, sizeof *folding->is_open);
	if (!result && !folding->is_open)
		result = -ENOMEM;
	if (!result) {
		folding->one = one;
		folding->context = context;
		folding->profile = profile;
		folding->least = least * profile_total(profile, 0);
		for (uint32_t i = 0; i < profile->function_count; i++) {
			if (roots[i] > 1e-5 * folding->least)
				follow(folding, i, roots[i]);
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
