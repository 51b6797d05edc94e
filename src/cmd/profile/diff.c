// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile diff`, `check`: how far two profiles are apart, and whether stacks can be true. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/json-text.h"
#include "profile/compare.h"
#include "profile/stacks.h"

#include <stdlib.h>

enum { CHANGES_SHOWN = 30 };

static int diff_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static const char *pair_name(const struct profile *a, const struct profile *b, const struct profile_pair *pair)
{
	return pair->b == HASH_NONE ? profile_name(a, pair->a) : profile_name(b, pair->b);
}

static void put_comparison(const struct profile *a, const struct profile *b,
			   const struct profile_comparison *comparison, size_t shown)
{
	printf("delta   %.6g, %.3f %% of %.6g: root of the sum of squares over %s costs\n", comparison->delta,
	       percent(comparison->delta, comparison->total), comparison->total,
	       comparison->is_inclusive ? "inclusive" : "self");
	printf("factor  %.6g: costs of the first are multiplied by it\n\n", comparison->factor);
	puts("   first     second    points  function");
	for (size_t i = 0; i < shown; i++) {
		const struct profile_pair *pair = &comparison->pairs[i];

		if (pair->cost_a <= 0 && pair->cost_b <= 0)
			continue;
		printf("%7.2f %%  %7.2f %%  %+8.2f  ", percent(pair->cost_a, comparison->total),
		       percent(pair->cost_b, comparison->total),
		       percent(pair->cost_a - pair->cost_b, comparison->total));
		text_write(stdout, pair_name(a, b, pair), TEXT_WORDS);
		puts(pair->a == HASH_NONE ? "  (second only)" : pair->b == HASH_NONE ? "  (first only)" : "");
	}
	if (shown < comparison->count)
		printf("%zu more functions: -v shows them\n", comparison->count - shown);
}

static void put_comparison_json(const struct profile *a, const struct profile *b,
				const struct profile_comparison *comparison)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < comparison->count; i++) {
		const struct profile_pair *pair = &comparison->pairs[i];

		json_array_append_new(functions,
				      json_pack("{s:o,s:f,s:f,s:b,s:b}", "function", json_text(pair_name(a, b, pair)),
						"first", pair->cost_a, "second", pair->cost_b, "in_first",
						pair->a != HASH_NONE, "in_second", pair->b != HASH_NONE));
	}
	json_text_put(json_pack("{s:f,s:f,s:f,s:s,s:o}", "delta", comparison->delta, "total", comparison->total,
				"factor", comparison->factor, "costs", comparison->is_inclusive ? "inclusive" : "self",
				"functions", functions));
}

static int diff(const struct cli_arguments *arguments, struct profile *a, struct profile *b)
{
	int event_a = profile_chosen_event(arguments, a), event_b = profile_chosen_event(arguments, b);
	struct profile_comparison comparison;
	int status = STATUS_FINE;

	if (event_a < 0 || event_b < 0)
		return STATUS_USAGE;
	if (profile_compare(a, (unsigned)event_a, b, (unsigned)event_b, &comparison))
		status = diff_no_memory();
	else if (profile_wants_json(arguments))
		put_comparison_json(a, b, &comparison);
	else
		put_comparison(a, b, &comparison,
			       cli_has(arguments, OPTION_VERBOSE) || comparison.count < CHANGES_SHOWN ? comparison.count
												      : CHANGES_SHOWN);
	alloc_free(comparison.pairs);
	return status;
}

int profile_diff_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *a = NULL, *b = NULL;
	int first = profile_load_completed(operands[0], false, &a), second = STATUS_FINE, status = STATUS_USAGE;

	if (a && (!first || first == STATUS_LOST))
		second = profile_load_completed(operands[1], false, &b);
	if (a && b)
		status = diff(arguments, a, b);
	profile_free(a);
	profile_free(b);
	return status ? status : first ? first : second;
}

struct call {
	double cost;
	uint32_t edge;
};

static int compare_call_changes(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static struct call *rank_calls(const struct profile *calls)
{
	struct call *ranked = alloc_zero(calls->edge_count + 1, sizeof *ranked);

	for (uint32_t i = 0; ranked && i < calls->edge_count; i++)
		ranked[i] = (struct call){ *profile_cost(calls, i), i };
	if (ranked)
		qsort(ranked, calls->edge_count, sizeof *ranked, compare_call_changes);
	return ranked;
}

static void put_stacks(const struct profile_stacks *stacks, const struct call *ranked, size_t shown)
{
	const struct profile *calls = stacks->calls;

	printf("stacks    %zu, of cost %.6g\n", stacks->count, stacks->total);
	printf("wrong     %.2f %% have a call that the simulated run never made\n",
	       percent(stacks->wrong, stacks->total));
	printf("unjudged  %.2f %% of others have a function that was not simulated\n",
	       percent(stacks->unjudged, stacks->total));
	printf("cut off   %.2f %% begin at a function that others call\n", percent(stacks->rootless, stacks->total));
	if (shown)
		puts("\n    cost  call that was never made");
	for (size_t i = 0; i < shown; i++) {
		const struct profile_edge *edge = &calls->edges[ranked[i].edge];

		printf("%6.2f %%  ", percent(ranked[i].cost, stacks->total));
		text_write(stdout, profile_name(calls, edge->caller), TEXT_WORDS);
		fputs(" to ", stdout);
		text_write(stdout, profile_name(calls, edge->callee), TEXT_WORDS);
		fputc('\n', stdout);
	}
	if (shown < calls->edge_count)
		printf("%zu more: -v shows them\n", calls->edge_count - shown);
}

static void put_stacks_json(const struct profile_stacks *stacks, const struct call *ranked)
{
	const struct profile *calls = stacks->calls;
	json_t *wrong = json_array();

	for (size_t i = 0; i < calls->edge_count; i++) {
		const struct profile_edge *edge = &calls->edges[ranked[i].edge];

		json_array_append_new(wrong,
				      json_pack("{s:o,s:o,s:f}", "caller", json_text(profile_name(calls, edge->caller)),
						"callee", json_text(profile_name(calls, edge->callee)), "cost",
						ranked[i].cost));
	}
	json_text_put(json_pack("{s:I,s:f,s:f,s:f,s:f,s:o}", "stacks", (json_int_t)stacks->count, "total",
				stacks->total, "wrong", stacks->wrong, "unjudged", stacks->unjudged, "cut_off",
				stacks->rootless, "calls", wrong));
}

static int show_stacks(const struct cli_arguments *arguments, const struct profile_stacks *stacks)
{
	struct call *ranked = rank_calls(stacks->calls);
	size_t count = stacks->calls->edge_count;

	if (!ranked)
		return diff_no_memory();
	if (profile_wants_json(arguments))
		put_stacks_json(stacks, ranked);
	else
		put_stacks(stacks, ranked,
			   cli_has(arguments, OPTION_VERBOSE) || count < CHANGES_SHOWN ? count : CHANGES_SHOWN);
	alloc_free(ranked);
	return stacks->wrong > 0 ? STATUS_MATCH : STATUS_FINE;
}

static int check_as_stacks(const struct cli_arguments *arguments, const char *file, const struct profile *simulated)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct profile_stacks stacks = { 0 };
	struct diag_source source = { 0 };
	int status = profile_load_text(file, &source);

	if (!status && profile_check_stacks(&source, simulated, diag, &stacks))
		status = STATUS_USAGE;
	cli_print(diag);
	asterism_diag_free(diag);
	if (!status)
		status = show_stacks(arguments, &stacks);
	profile_free(stacks.calls);
	alloc_free((char *)source.text);
	return status;
}

int profile_check_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *simulated = NULL;
	int read = profile_load(operands[1], &simulated), status = STATUS_USAGE;

	if (simulated && (!read || read == STATUS_LOST)) {
		if (simulated->edge_count)
			status = check_as_stacks(arguments, operands[0], simulated);
		else
			cli_error("%s has no calls: stacks are checked against a simulation", operands[1]);
	}
	profile_free(simulated);
	return status == STATUS_USAGE ? status : read ? read : status;
}
