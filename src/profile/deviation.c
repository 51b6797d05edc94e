// SPDX-License-Identifier: BSD-2-Clause
/*
 * Estimates how far inclusive costs may be off because samples are few. A function's cost is a sum of self costs, each
 * weighted by the part of it that is had below the function; samples are multinomial, so the variance of n of them is n
 * (sum w^2 p - (sum w p)^2). The error of the model itself is not in it.
 */

#include "profile/complete-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VISITS_MAX = 4 * 1000 * 1000, FUNCTIONS_MAX = 4096 };

struct ranked {
	double cost;
	uint32_t function;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	return left->function < right->function ? -1 : left->function > right->function;
}

static struct ranked *rank_functions_by_deviation(const struct sharing *sharing, size_t *count)
{
	struct ranked *ranked = alloc_zero(sharing->simulated->function_count + 1, sizeof *ranked);

	*count = 0;
	for (uint32_t i = 0; ranked && i < sharing->simulated->function_count; i++) {
		if (sharing->inclusive[i] > 0)
			ranked[(*count)++] = (struct ranked){ sharing->inclusive[i], i };
	}
	if (ranked)
		qsort(ranked, *count, sizeof *ranked, compare_ranked);
	*count = *count < FUNCTIONS_MAX ? *count : FUNCTIONS_MAX;
	return ranked;
}

struct sums {
	double squares, mean, unsure;
};

static void add_weight(struct sums *sums, double weight, double p)
{
	sums->squares += weight * weight * p;
	sums->mean += weight * p;
	sums->unsure += weight * (1 - weight) * p;
}

static double deviation_of(const struct sums *sums, const struct deviation *deviation)
{
	double variance = deviation->samples * (sums->squares - sums->mean * sums->mean);

	return sqrt(fmax(variance, 0)) * deviation->total / deviation->samples;
}

/* Weights go from the function's component down to all below it; they are left as zeros. Returns edges seen. */
static size_t weigh_function(const struct sharing *sharing, uint32_t function, double *weights,
			     const struct deviation *deviation, struct sums *sums)
{
	const struct graph *graph = sharing->graph;
	uint32_t top = graph->components[function];
	size_t visits = 0;

	weights[top] = sharing->whole[top] > 0 ? sharing->inclusive[function] / sharing->whole[top] : 1;
	for (uint32_t component = top + 1; component-- > 0; visits++) {
		double weight = weights[component];

		if (weight == 0)
			continue;
		weights[component] = 0;
		weight = weight > 1 - 1e-12 ? 1 : weight;
		for (uint32_t i = graph->starts[component]; i < graph->starts[component + 1]; i++) {
			uint32_t member = graph->members[i];

			add_weight(sums, weight, sharing->self[member] / deviation->total);
			visits += graph->first[member + 1] - graph->first[member];
			for (uint32_t j = graph->first[member]; j < graph->first[member + 1]; j++) {
				uint32_t edge = graph->edges[j];
				uint32_t below = graph->components[sharing->simulated->edges[edge].callee];

				if (below != component)
					weights[below] += weight * sharing->shares[edge];
			}
		}
	}
	return visits;
}

static bool is_in_cycle(const struct sharing *sharing, uint32_t function)
{
	return graph_size(sharing->graph, sharing->graph->components[function]) > 1;
}

int deviation_of_shares(struct sharing *sharing, struct deviation *deviation)
{
	double *weights = alloc_zero(sharing->graph->component_count + 1, sizeof *weights);
	size_t count, visits = 0;
	struct ranked *ranked = rank_functions_by_deviation(sharing, &count);
	int result = weights && ranked ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < count && visits < VISITS_MAX; i++) {
		uint32_t function = ranked[i].function;
		struct sums sums = { 0 };

		visits += weigh_function(sharing, function, weights, deviation, &sums);
		if (deviation->samples > 0)
			deviation->values[function] = deviation_of(&sums, deviation);
		if (sums.unsure <= 1e-12 && !is_in_cycle(sharing, function))
			sharing->origins[function] = PROFILE_DERIVED;
	}
	alloc_free(weights);
	alloc_free(ranked);
	return result;
}

/* What part of each function's cost is had in contexts of function. Returns functions seen. */
static size_t weigh_contexts(const struct sharing *sharing, uint32_t function, const double *context_costs,
			     double *weights)
{
	const struct profile *simulated = sharing->simulated;

	for (size_t i = 0; i < simulated->context_count; i++) {
		const struct profile_context *context = &simulated->contexts[i];
		const uint32_t *path = simulated->paths + context->path;

		for (uint32_t j = 0; j < context->length; j++) {
			if (path[j] != function)
				continue;
			if (sharing->self[*path] > 0)
				weights[*path] += context_costs[i] / sharing->self[*path];
			break;
		}
	}
	return simulated->path_count + simulated->function_count;
}

int deviation_of_contexts(struct sharing *sharing, const double *context_costs, struct deviation *deviation)
{
	size_t functions = sharing->simulated->function_count, count, visits = 0;
	double *weights = alloc_zero(functions + 1, sizeof *weights);
	struct ranked *ranked = rank_functions_by_deviation(sharing, &count);
	int result = weights && ranked ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < count && visits < VISITS_MAX; i++) {
		struct sums sums = { 0 };

		memset(weights, 0, functions * sizeof *weights);
		visits += weigh_contexts(sharing, ranked[i].function, context_costs, weights);
		for (size_t j = 0; j < functions; j++) {
			double weight = weights[j] > 1 - 1e-12 ? 1 : weights[j];

			if (weight > 0)
				add_weight(&sums, weight, sharing->self[j] / deviation->total);
		}
		if (deviation->samples > 0)
			deviation->values[ranked[i].function] = deviation_of(&sums, deviation);
		if (sums.unsure <= 1e-12)
			sharing->origins[ranked[i].function] = PROFILE_DERIVED;
	}
	alloc_free(weights);
	alloc_free(ranked);
	return result;
}
