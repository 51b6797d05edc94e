// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completes a profile: the functions and calls of the simulation with the costs of the samples, what
 * was sampled alone, how it was shared, and what is said for and against it.
 */

#include "profile/complete.h"

#include "profile/attach.h"
#include "profile/collapse.h"
#include "profile/complete-priv.h"
#include "profile/formula.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a sample stands for is no less, as no clock is faster. */
enum { SAMPLE_NS_LEAST = 1000, SAMPLES_TO_JUDGE = 100 };

static const char *const method_names[] = { "quotient", "calls", "contexts" };

struct work {
	const struct profile *sampled, *simulated;
	struct profile *collapsed; /* or NULL */
	struct profile *result;
	const struct profile_completion *completion;
	struct asterism_diag *diag;
	struct graph graph;
	uint32_t *to;     /* of sampled functions: simulated ones */
	uint32_t *copies; /* of sampled functions: those of the result */
	double *self;     /* of simulated functions, of one event */
	double *weights, *weights_self;
};

static int set_number(struct work *work, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof text, "%.17g", value);
	return profile_set_info(work->result, key, text);
}

/* Functions and edges get the numbers that they have in the simulation; what is unattached comes after them. */
static int add_all_functions(struct work *work)
{
	const struct profile *simulated = work->simulated, *sampled = work->sampled;
	uint32_t copy;
	int result = profile_copy_events(sampled, work->result);

	if (!result)
		result = profile_add_inclusive(work->result);
	for (uint32_t i = 0; !result && i < simulated->function_count; i++)
		result = profile_copy_function(simulated, i, work->result, &copy);
	for (uint32_t i = 0; !result && i < simulated->edge_count; i++) {
		const struct profile_edge *edge = &simulated->edges[i];

		result = profile_edge(work->result, edge->caller, edge->callee, edge->calls, &copy);
	}
	for (uint32_t i = 0; !result && i < sampled->function_count; i++) {
		copy = work->to[i];
		if (copy == HASH_NONE) {
			result = profile_copy_function(sampled, i, work->result, &copy);
			if (!result)
				work->result->functions[copy].flags |= PROFILE_UNATTACHED;
		}
		for (unsigned k = 0; !result && k < sampled->event_count; k++)
			profile_self(work->result, copy)[k] += profile_self(sampled, i)[k];
		work->copies[i] = copy;
	}
	return result;
}

/* Where in functions the samples were. */
static int add_spots(struct work *work)
{
	const struct profile *sampled = work->sampled;
	int result = 0;

	for (uint32_t i = 0; !result && i < sampled->spot_count; i++) {
		uint32_t copy;

		result = profile_copy_spot(sampled, i, work->result, work->copies[sampled->spots[i].function], &copy);
		for (unsigned k = 0; !result && k < sampled->event_count; k++)
			profile_spot_self(work->result, copy)[k] += profile_spot_self(sampled, i)[k];
	}
	return result;
}

/* By what an event's costs are shared: one of the simulation's events. */
static unsigned simulated_event(const struct work *work, unsigned event)
{
	int found = profile_find_event(work->simulated, profile_get_text(work->sampled, work->sampled->events[event]));

	return found < 0 ? 0 : (unsigned)found;
}

static void weigh_by_event(struct work *work, unsigned event, double factor)
{
	const struct profile *simulated = work->simulated;

	for (uint32_t i = 0; i < simulated->edge_count; i++)
		work->weights[i] += factor * profile_cost(simulated, i)[event];
	for (uint32_t i = 0; i < simulated->function_count; i++)
		work->weights_self[i] += factor * profile_self(simulated, i)[event];
}

static void clear_weights(struct work *work)
{
	memset(work->weights, 0, work->simulated->edge_count * sizeof *work->weights);
	memset(work->weights_self, 0, work->simulated->function_count * sizeof *work->weights_self);
}

/* What a miss costs beside an instruction, as KCachegrind estimates cycles. False: no cache was simulated. */
static bool weigh_by_cache(struct work *work)
{
	static const struct {
		const char *event;
		double cycles;
	} prices[] = { { "Ir", 1 },     { "I1mr", 10 },  { "D1mr", 10 }, { "D1mw", 10 },
		       { "ILmr", 100 }, { "DLmr", 100 }, { "DLmw", 100 } };

	clear_weights(work);
	for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
		int event = profile_find_event(work->simulated, prices[i].event);

		if (event < 0)
			return false;
		weigh_by_event(work, (unsigned)event, prices[i].cycles);
	}
	return true;
}

static int share_sampled_costs(struct work *work, struct sharing *sharing, enum profile_by by, unsigned event)
{
	sharing->self = work->self;
	sharing->weights = work->weights;
	sharing->weights_self = NULL;
	if (by == PROFILE_BY_CONTEXTS)
		return contexts_share_runs(sharing, event);
	clear_weights(work);
	if (by == PROFILE_BY_QUOTIENT) {
		weigh_by_event(work, event, 1);
		sharing->weights_self = work->weights_self;
	} else {
		for (size_t i = 0; i < work->simulated->edge_count; i++)
			work->weights[i] = work->simulated->edges[i].calls;
	}
	return share_run(sharing);
}

/*
 * How many samples an event's cost is of. That is known for the first; of the others each sample stands for as much as
 * the event's own period says.
 */
static double samples_of(const struct work *work, unsigned event)
{
	char key[64];
	const char *period;
	double each;

	if (!event)
		return work->sampled->samples;
	snprintf(key, sizeof key, "period %s", profile_get_text(work->sampled, work->sampled->events[event]));
	period = profile_get_info(work->sampled, key);
	each = period ? strtod(period, NULL) : 0;
	return each > 0 ? profile_total(work->sampled, event) / each : 0;
}

static int deviate(struct work *work, struct sharing *sharing, unsigned event)
{
	struct deviation deviation = {
		.total = profile_total(work->result, event),
		.samples = samples_of(work, event),
		.values = alloc_zero(work->simulated->function_count + 1, sizeof *deviation.values),
	};
	double *costs = NULL;
	int result = deviation.values ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < work->simulated->function_count; i++)
		deviation.values[i] = NAN;
	if (!result && work->completion->by == PROFILE_BY_CONTEXTS) {
		costs = contexts_share_of(sharing, simulated_event(work, event));
		result = costs ? deviation_of_contexts(sharing, costs, &deviation) : -ENOMEM;
	} else if (!result) {
		result = deviation_of_shares(sharing, &deviation);
	}
	for (uint32_t i = 0; !result && i < work->simulated->function_count; i++)
		profile_deviation(work->result, i)[event] = deviation.values[i];
	alloc_free(costs);
	alloc_free(deviation.values);
	return result;
}

static void keep_costs(struct work *work, const struct sharing *sharing, unsigned event)
{
	struct profile *result = work->result;

	for (uint32_t i = 0; i < result->function_count; i++) {
		struct profile_function *function = &result->functions[i];

		if (i >= work->simulated->function_count) {
			profile_inclusive(result, i)[event] = profile_self(result, i)[event];
			continue;
		}
		profile_inclusive(result, i)[event] = sharing->inclusive[i];
		if (event == 0 || sharing->origins[i] > function->origin)
			function->origin = sharing->origins[i];
		if (sharing->by_calls[i])
			function->flags |= PROFILE_BY_CALLS;
		if (graph_size(&work->graph, work->graph.components[i]) > 1)
			function->flags |= PROFILE_IN_CYCLE;
	}
	for (uint32_t i = 0; i < result->edge_count; i++) {
		struct profile_edge *edge = &result->edges[i];
		bool is_exact = sharing->shares[i] > 1 - 1e-12 && sharing->origins[edge->callee] == PROFILE_DERIVED;

		profile_cost(result, i)[event] = sharing->costs[i];
		if (event == 0 || !is_exact)
			edge->origin = is_exact ? PROFILE_DERIVED : PROFILE_ESTIMATED;
	}
}

/* How far another model is from the chosen one, in points, and where most. */
static int note_model(struct work *work, const struct sharing *sharing, const char *key)
{
	double total = profile_total(work->result, 0), most = 0;
	uint32_t where = 0;
	char text[PROFILE_CANONICAL_BYTES + 64];

	for (uint32_t i = 0; i < work->simulated->function_count; i++) {
		double off = fabs(sharing->inclusive[i] - *profile_inclusive(work->result, i));

		if (off > most) {
			most = off;
			where = i;
		}
	}
	snprintf(text, sizeof text, "%.17g %.*s", total > 0 ? 100 * most / total : 0, PROFILE_CANONICAL_BYTES - 1,
		 work->simulated->function_count ? profile_name(work->simulated, where) : "");
	return profile_set_info(work->result, key, text);
}

static int compare_model(struct work *work, enum profile_by by, const char *key)
{
	struct sharing other = { 0 };
	unsigned event = simulated_event(work, 0);
	int result = share_init(&other, work->simulated, &work->graph);

	if (!result)
		result = share_sampled_costs(work, &other, by, event);
	if (!result)
		result = note_model(work, &other, key);
	share_fini(&other);
	return result;
}

static int compare_cache(struct work *work)
{
	struct sharing other = { .self = work->self, .weights = work->weights, .weights_self = work->weights_self };
	int result = 0;

	if (!weigh_by_cache(work))
		return 0;
	result = share_init(&other, work->simulated, &work->graph);
	if (!result)
		result = share_run(&other);
	if (!result)
		result = note_model(work, &other, "model cache");
	share_fini(&other);
	return result;
}

static int compare_models(struct work *work)
{
	enum profile_by by = work->completion->by;
	int result = 0;

	if (by != PROFILE_BY_QUOTIENT)
		result = compare_model(work, PROFILE_BY_QUOTIENT, "model quotient");
	if (!result && by != PROFILE_BY_CALL_COUNTS)
		result = compare_model(work, PROFILE_BY_CALL_COUNTS, "model calls");
	if (!result && by != PROFILE_BY_CONTEXTS && work->simulated->context_count)
		result = compare_model(work, PROFILE_BY_CONTEXTS, "model contexts");
	return result ? result : compare_cache(work);
}

static void take_self(struct work *work, unsigned event)
{
	for (uint32_t i = 0; i < work->simulated->function_count; i++)
		work->self[i] = profile_self(work->result, i)[event];
}

/* The share of what is attached whose contexts end below what nothing calls. */
static double missing_above(const struct work *work, const struct sharing *sharing)
{
	double attached = 0;

	for (size_t i = 0; i < work->simulated->function_count; i++)
		attached += work->self[i];
	return attached > 0 ? fmax(0, 1 - sharing->root / attached) : 0;
}

/* The largest cost of one circle, with all that it calls. Contexts need no circles. */
static double largest_cycle(const struct work *work, const struct sharing *sharing)
{
	double largest = 0;

	for (uint32_t i = 0; i < work->graph.component_count; i++) {
		if (graph_size(&work->graph, i) > 1 && sharing->whole[i] > largest)
			largest = sharing->whole[i];
	}
	return largest;
}

static int run_event(struct work *work, unsigned event)
{
	struct sharing sharing = { 0 };
	double total = profile_total(work->result, event);
	int result = share_init(&sharing, work->simulated, &work->graph);

	take_self(work, event);
	if (!result)
		result = share_sampled_costs(work, &sharing, work->completion->by, simulated_event(work, event));
	if (!result && total > 0)
		result = deviate(work, &sharing, event);
	if (!result)
		keep_costs(work, &sharing, event);
	if (!result && event == 0) {
		result = set_number(work, "root", sharing.root);
		if (!result && work->completion->by == PROFILE_BY_CONTEXTS)
			result = set_number(work, "too-short", missing_above(work, &sharing));
		if (!result)
			result = set_number(work, "largest-cycle",
					    total > 0 ? largest_cycle(work, &sharing) / total : 0);
		if (!result)
			result = set_number(work, "by-calls", total > 0 ? sharing.by_calls_cost / total : 0);
	}
	share_fini(&sharing);
	return result;
}

/* From where calls were made: what they cost together each spot gets the simulation's share of. */
static int add_calls(struct work *work)
{
	const struct profile *simulated = work->simulated;
	int result = 0;

	for (uint32_t i = 0; !result && i < simulated->call_count; i++) {
		const struct profile_call *call = &simulated->calls[i];
		const struct profile_edge *edge = &simulated->edges[call->edge];
		uint32_t spot, copy;

		result = profile_copy_spot(simulated, call->spot, work->result, edge->caller, &spot);
		if (!result)
			result = profile_call(work->result, call->edge, spot, call->calls, &copy);
		for (unsigned k = 0; !result && k < work->sampled->event_count; k++) {
			unsigned event = simulated_event(work, k);
			double whole = profile_cost(simulated, call->edge)[event];
			double share = whole > 0         ? profile_call_cost(simulated, i)[event] / whole
				       : edge->calls > 0 ? call->calls / edge->calls
							 : 0;

			profile_call_cost(work->result, copy)[k] += share * profile_cost(work->result, call->edge)[k];
		}
	}
	return result;
}

static int run_all(struct work *work)
{
	size_t functions = work->simulated->function_count + 1, edges = work->simulated->edge_count + 1;
	int result = 0;

	work->self = alloc_zero(functions, sizeof *work->self);
	work->weights_self = alloc_zero(functions, sizeof *work->weights_self);
	work->weights = alloc_zero(edges, sizeof *work->weights);
	if (!work->self || !work->weights || !work->weights_self)
		return -ENOMEM;
	for (unsigned event = 0; !result && event < work->sampled->event_count; event++)
		result = run_event(work, event);
	take_self(work, 0);
	return result ? result : compare_models(work);
}

/* Where both runs have one, that of what was sampled. */
static int note_build_ids(struct work *work)
{
	const struct profile *from[] = { work->simulated, work->sampled };
	int result = 0;

	for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
		for (size_t i = 0; !result && i < from[k]->info_count; i++) {
			const char *key = profile_get_text(from[k], from[k]->infos[i].key);

			if (strncmp(key, PROFILE_BUILD_ID, strlen(PROFILE_BUILD_ID)) == 0)
				result = profile_set_info(work->result, key,
							  profile_get_text(from[k], from[k]->infos[i].value));
		}
	}
	return result;
}

static int note_run(struct work *work)
{
	static const char *const kept[] = { "cmd",
					    "period",
					    "host",
					    "between",
					    "matches",
					    "matches-lost",
					    "matches-seconds",
					    "samples-outside",
					    "thread",
					    "samples-per-second" };
	int result = profile_set_info(work->result, "method", method_names[work->completion->by]);

	for (size_t i = 0; !result && i < sizeof kept / sizeof *kept; i++) {
		const char *value = profile_get_info(work->sampled, kept[i]);

		if (!value)
			value = i ? NULL : profile_get_info(work->simulated, kept[i]);
		if (value)
			result = profile_set_info(work->result, kept[i], value);
	}
	if (!result)
		result = note_build_ids(work);
	if (!result)
		result = profile_copy_descriptions(work->sampled, work->result);
	if (!result)
		result = set_number(work, "samples", work->sampled->samples);
	if (!result)
		result = profile_set_info(
			work->result, "shared-by",
			profile_get_text(work->simulated, work->simulated->events[simulated_event(work, 0)]));
	work->result->samples = work->sampled->samples;
	return result;
}

static double unattached(const struct profile *result)
{
	double sum = 0;

	for (uint32_t i = 0; i < result->function_count; i++)
		sum += result->functions[i].flags & PROFILE_UNATTACHED ? *profile_self(result, i) : 0;
	return sum;
}

/* events: of a and of b; rest: room for the functions of b. */
static double cost_distance(const struct profile *a, const uint32_t *to, const struct profile *b,
			    const unsigned events[2], double *rest)
{
	double total_a = profile_total(a, events[0]), total_b = profile_total(b, events[1]), sum = 0;

	if (total_a <= 0 || total_b <= 0)
		return total_a > 0 || total_b > 0;
	for (uint32_t i = 0; i < b->function_count; i++)
		rest[i] = profile_self(b, i)[events[1]] / total_b;
	for (uint32_t i = 0; i < a->function_count; i++) {
		if (to[i] == HASH_NONE)
			sum += profile_self(a, i)[events[0]] / total_a;
		else
			rest[to[i]] -= profile_self(a, i)[events[0]] / total_a;
	}
	for (uint32_t i = 0; i < b->function_count; i++)
		sum += fabs(rest[i]);
	return fmin(sum / 2, 1);
}

/*
 * Simulated instructions for each sampled nanosecond: flat samples do not show that one run did the same things more
 * often. 0: not known, as costs are no times, or numbers of samples.
 */
static double pace(const struct work *work)
{
	const char *event = profile_get_text(work->sampled, work->sampled->events[0]);
	const int instructions = profile_find_event(work->simulated, "Ir");
	double time = profile_total(work->sampled, 0);

	if ((strncmp(event, "task-clock", 10) != 0 && strncmp(event, "cpu-clock", 9) != 0) || instructions < 0 ||
	    work->sampled->samples < SAMPLES_TO_JUDGE || time < work->sampled->samples * SAMPLE_NS_LEAST)
		return 0;
	return profile_total(work->simulated, (unsigned)instructions) / time;
}

static int note_result(struct work *work)
{
	const unsigned events[2] = { 0, simulated_event(work, 0) };
	double total = profile_total(work->result, 0);
	double *rest = alloc_zero(work->simulated->function_count + 1, sizeof *rest);
	int result = rest ? 0 : -ENOMEM;

	if (!result)
		result = set_number(work, "distance",
				    cost_distance(work->sampled, work->to, work->simulated, events, rest));
	if (!result)
		result = set_number(work, "unattached", total > 0 ? unattached(work->result) / total : 0);
	if (!result && pace(work) > 0)
		result = set_number(work, "pace", pace(work));
	alloc_free(rest);
	return result;
}

static int prepare_completion(struct work *work)
{
	const struct profile *simulated = work->simulated;
	uint32_t *moved = NULL;
	int result;

	work->to = alloc_zero(work->sampled->function_count + 1, sizeof *work->to);
	work->copies = alloc_zero(work->sampled->function_count + 1, sizeof *work->copies);
	work->result = profile_new();
	if (!work->to || !work->copies || !work->result)
		return -ENOMEM;
	result = profile_attach(work->sampled, simulated, work->to);
	if (!result)
		result = graph_init(&work->graph, simulated);
	if (result || !work->completion->collapse)
		return result;
	moved = alloc_zero(simulated->function_count + 1, sizeof *moved);
	result = moved ? profile_collapse(simulated, &work->graph, moved, &work->collapsed) : -ENOMEM;
	for (size_t i = 0; !result && i < work->sampled->function_count; i++)
		work->to[i] = work->to[i] == HASH_NONE ? HASH_NONE : moved[work->to[i]];
	alloc_free(moved);
	if (result)
		return result;
	work->simulated = work->collapsed;
	graph_fini(&work->graph);
	return graph_init(&work->graph, work->simulated);
}

static int check_simulated(const struct work *work)
{
	bool has_contexts = work->simulated->context_count;

	if (!work->simulated->edge_count) {
		diag_add(work->diag, ASTERISM_ERROR, NULL,
			 "valgrind --tool=callgrind -- CMD records calls; name the samples first and the simulation "
			 "second",
			 "the simulation has no calls, so it cannot complete samples");
		return -EINVAL;
	}
	if (work->completion->by != PROFILE_BY_CONTEXTS || has_contexts)
		return 0;
	diag_add(work->diag, ASTERISM_ERROR, NULL,
		 "simulate with valgrind --tool=callgrind --separate-callers=30, or use --by quotient",
		 "the simulation has no contexts: its costs are per function, not per function and caller");
	return -EINVAL;
}

int profile_complete(const struct profile *sampled, const struct profile *simulated,
		     const struct profile_completion *completion, struct asterism_diag *diag,
		     struct profile **completed)
{
	struct work work = { .sampled = sampled, .simulated = simulated, .completion = completion, .diag = diag };
	int result = check_simulated(&work);

	if (result)
		return result;
	result = prepare_completion(&work);
	if (!result)
		result = note_run(&work);
	if (!result)
		result = add_all_functions(&work);
	if (!result)
		result = run_all(&work);
	if (!result)
		result = add_spots(&work);
	if (!result)
		result = add_calls(&work);
	if (!result)
		result = note_result(&work);
	graph_fini(&work.graph);
	profile_free(work.collapsed);
	alloc_free(work.to);
	alloc_free(work.copies);
	alloc_free(work.self);
	alloc_free(work.weights);
	alloc_free(work.weights_self);
	if (result)
		profile_free(work.result);
	else
		*completed = work.result;
	return result ? diag_no_memory(diag) : 0;
}
