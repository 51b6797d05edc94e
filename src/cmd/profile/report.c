// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile report`, `callers`: what functions cost, and by whom. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/json-text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 30, NAMES_MAX = 4096 };

struct row {
	double cost;
	uint32_t number;
};

const char *profile_origin_word(enum profile_origin origin)
{
	static const char *const words[] = { "measured", "derived", "estimated" };

	return words[origin];
}

void profile_put_name(FILE *stream, const struct profile *profile, uint32_t function)
{
	const char *object = profile_get_text(profile, profile->functions[function].object);
	const char *slash = strrchr(object, '/');
	unsigned flags = profile->functions[function].flags;

	text_write(stream, profile_name(profile, function), TEXT_WORDS);
	if (*object) {
		fputs(*object == '[' ? "  " : "  [", stream);
		text_write(stream, slash ? slash + 1 : object, TEXT_WORDS);
		fputs(*object == '[' ? "" : "]", stream);
	}
	fprintf(stream, "%s%s%s\n", flags & PROFILE_UNATTACHED ? "  !" : "", flags & PROFILE_IN_CYCLE ? "  @" : "",
		flags & PROFILE_BY_CALLS ? "  #" : "");
}

static int compare_profile_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static double rank_of(const struct profile *profile, uint32_t function, unsigned event)
{
	return profile->is_completed ? profile_inclusive(profile, function)[event]
				     : profile_self(profile, function)[event];
}

/* Functions that cost something, the costliest first. */
static struct row *rank_functions(const struct profile *profile, unsigned event, size_t *count)
{
	struct row *rows = alloc_zero(profile->function_count + 1, sizeof *rows);

	*count = 0;
	for (uint32_t i = 0; rows && i < profile->function_count; i++) {
		double cost = rank_of(profile, i, event);

		if (cost > 0)
			rows[(*count)++] = (struct row){ cost, i };
	}
	if (rows)
		qsort(rows, *count, sizeof *rows, compare_profile_rows);
	return rows;
}

/* What deviations are in. */
static const char *const unit_words[] = { "points", "seconds", "events" };

static void put_profile_rows(FILE *stream, const struct profile *profile, const struct profile_unit *unit,
			     const struct row *rows, size_t count)
{
	const int width = profile_share_width(unit);
	const unsigned event = unit->event;
	unsigned flags = 0;

	fprintf(stream, "\n%-*s %-*s function\n", profile->is_completed ? width : 0,
		profile->is_completed ? "inclusive" : "", width, "self");
	for (size_t i = 0; i < count; i++) {
		uint32_t function = rows[i].number;

		if (profile->is_completed)
			profile_put_share(stream, profile_inclusive(profile, function)[event], unit,
					  profile->functions[function].origin,
					  profile_deviation(profile, function)[event]);
		fputs(profile->is_completed ? " " : "", stream);
		profile_put_share(stream, profile_self(profile, function)[event], unit, PROFILE_MEASURED, NAN);
		fputs("  ", stream);
		profile_put_name(stream, profile, function);
		flags |= profile->functions[function].flags;
	}
	fputs("\n= measured", stream);
	if (profile->is_completed)
		fprintf(stream, ", ~ follows from it, +- estimated, with its sampling error in %s",
			unit_words[unit->kind]);
	fprintf(stream, "%s%s%s\n", flags & PROFILE_UNATTACHED ? ", ! not simulated" : "",
		flags & PROFILE_IN_CYCLE ? ", @ calls itself through others" : "",
		flags & PROFILE_BY_CALLS ? ", # shared by numbers of calls" : "");
}

json_t *profile_function_json(const struct profile *profile, uint32_t function, const struct profile_unit *unit)
{
	const unsigned event = unit->event;
	const struct profile_function *about = &profile->functions[function];
	json_t *row = json_pack("{s:o,s:o,s:o}", "function", json_text(profile_name(profile, function)), "object",
				json_text(profile_get_text(profile, about->object)), "self",
				profile_cost_json(profile_self(profile, function)[event], unit));

	if (!profile->is_completed)
		return row;
	json_object_set_new(row, "inclusive", profile_cost_json(profile_inclusive(profile, function)[event], unit));
	json_object_set_new(row, "origin", json_text(profile_origin_word(about->origin)));
	if (!isnan(profile_deviation(profile, function)[event]))
		json_object_set_new(row, "deviation",
				    profile_cost_json(profile_deviation(profile, function)[event], unit));
	json_object_set_new(row, "unattached", json_boolean(about->flags & PROFILE_UNATTACHED));
	json_object_set_new(row, "in_cycle", json_boolean(about->flags & PROFILE_IN_CYCLE));
	json_object_set_new(row, "shared_by_calls", json_boolean(about->flags & PROFILE_BY_CALLS));
	return row;
}

static void put_profile_json(const struct profile *profile, const struct profile_unit *unit, const struct row *rows,
			     size_t count)
{
	json_t *report = profile_head_json(profile, unit);
	json_t *functions = json_array();
	double distance = profile_info_number(profile, "distance");

	if (profile_get_info(profile, "method")) {
		json_object_set_new(report, "method", json_text(profile_get_info(profile, "method")));
		json_object_set_new(report, "unattached", json_real(profile_info_number(profile, "unattached")));
		/* It is of the first event. */
		if (!unit->is_chosen || !unit->event)
			json_object_set_new(report, "root",
					    profile_cost_json(profile_info_number(profile, "root"), unit));
		json_object_set_new(report, "distance", json_real(distance));
		json_object_set_new(report, "workload", json_text(profile_verdict(profile)));
		if (!profile_is_part(profile) && profile_info_number(profile, "pace") > 0)
			json_object_set_new(report, "pace", json_real(profile_info_number(profile, "pace")));
		json_object_set_new(report, "models", profile_models_json(profile));
	}
	if (profile_get_info(profile, "between"))
		json_object_set_new(report, "between",
				    json_pack("{s:o,s:f,s:f,s:f,s:f}", "rules",
					      json_text(profile_get_info(profile, "between")), "matches",
					      profile_info_number(profile, "matches"), "seconds",
					      profile_info_number(profile, "matches-seconds"), "outside",
					      profile_info_number(profile, "samples-outside"), "lost",
					      profile_info_number(profile, "matches-lost")));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(functions, profile_function_json(profile, rows[i].number, unit));
	json_object_set_new(report, "functions", functions);
	json_text_put(report);
}

int profile_report(const struct cli_arguments *arguments, struct profile *profile)
{
	struct profile_unit unit;
	size_t count, shown;
	struct row *rows;

	if (profile_chosen_unit(arguments, profile, &unit))
		return STATUS_USAGE;
	rows = rank_functions(profile, unit.event, &count);
	if (!rows)
		return STATUS_USAGE;
	shown = cli_has(arguments, OPTION_VERBOSE) || count < ROWS_SHOWN ? count : ROWS_SHOWN;
	if (profile_wants_json(arguments)) {
		put_profile_json(profile, &unit, rows, count);
	} else {
		profile_put_head(stdout, profile, unit.event);
		put_profile_rows(stdout, profile, &unit, rows, shown);
		if (shown < count)
			printf("%zu more functions: -v shows them\n", count - shown);
	}
	alloc_free(rows);
	return STATUS_FINE;
}

int profile_report_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *profile = NULL;
	int status = profile_load_completed(operands[0], false, &profile), failed = STATUS_USAGE;

	if (profile && (!status || status == STATUS_LOST))
		failed = profile_choose_thread(arguments, profile);
	if (!failed && cli_has(arguments, OPTION_SAMPLED_THREADS))
		failed = profile_report_threads(arguments, profile);
	else if (!failed)
		failed = profile_report(arguments, profile);
	if (!failed && profile_get_info(profile, "method"))
		profile_warn(profile);
	profile_free(profile);
	return failed ? failed : status;
}

uint32_t profile_find_function(const struct profile *profile, const char *name)
{
	const char *names[NAMES_MAX], *nearest;
	uint32_t best = HASH_NONE, function;
	size_t count = 0;

	for (size_t step = 0; (function = profile_find_name(profile, name, &step)) != HASH_NONE;) {
		if (best == HASH_NONE || rank_of(profile, function, 0) > rank_of(profile, best, 0))
			best = function;
	}
	if (best != HASH_NONE)
		return best;
	for (uint32_t i = 0; i < profile->function_count && count < NAMES_MAX; i++)
		names[count++] = profile_name(profile, i);
	nearest = diag_nearest(name, names, count);
	cli_error("the profile has no function '%s'", name);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism profile report -v' lists all functions");
	return best;
}

/* Edges to the function, or from it, the costliest first. */
static struct row *rank_edges(const struct profile *profile, uint32_t function, bool is_callee, unsigned event,
			      size_t *count)
{
	struct row *rows = alloc_zero(profile->edge_count + 1, sizeof *rows);

	*count = 0;
	for (uint32_t i = 0; rows && i < profile->edge_count; i++) {
		if ((is_callee ? profile->edges[i].callee : profile->edges[i].caller) == function)
			rows[(*count)++] = (struct row){ profile_cost(profile, i)[event], i };
	}
	if (rows)
		qsort(rows, *count, sizeof *rows, compare_profile_rows);
	return rows;
}

static void put_edges(const struct profile *profile, const struct row *rows, size_t count, bool is_callee,
		      const struct profile_unit *unit)
{
	for (size_t i = 0; i < count; i++) {
		const struct profile_edge *edge = &profile->edges[rows[i].number];

		profile_put_share(stdout, rows[i].cost, unit, edge->origin, NAN);
		printf(" %12.0f calls  %s ", edge->calls, is_callee ? "from" : "to  ");
		profile_put_name(stdout, profile, is_callee ? edge->caller : edge->callee);
	}
}

static json_t *edges_json(const struct profile *profile, const struct row *rows, size_t count, bool is_callee,
			  const struct profile_unit *unit)
{
	json_t *edges = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct profile_edge *edge = &profile->edges[rows[i].number];
		uint32_t other = is_callee ? edge->caller : edge->callee;

		json_array_append_new(edges,
				      json_pack("{s:o,s:o,s:f,s:o,s:s}", "function",
						json_text(profile_name(profile, other)), "object",
						json_text(profile_get_text(profile, profile->functions[other].object)),
						"calls", edge->calls, "cost", profile_cost_json(rows[i].cost, unit),
						"origin", profile_origin_word(edge->origin)));
	}
	return edges;
}

static int show_callers(const struct cli_arguments *arguments, struct profile *profile, const char *name)
{
	struct profile_unit unit;
	int status = profile_chosen_unit(arguments, profile, &unit);
	uint32_t function = status ? HASH_NONE : profile_find_function(profile, name);
	size_t to_count = 0, from_count = 0;
	struct row *to, *from;

	if (function == HASH_NONE)
		return STATUS_USAGE;
	to = rank_edges(profile, function, true, unit.event, &to_count);
	from = rank_edges(profile, function, false, unit.event, &from_count);
	if (profile_wants_json(arguments)) {
		json_t *row = profile_function_json(profile, function, &unit);

		json_object_set_new(row, "callers", edges_json(profile, to, to_count, true, &unit));
		json_object_set_new(row, "callees", edges_json(profile, from, from_count, false, &unit));
		json_text_put(row);
	} else {
		put_edges(profile, to, to_count, true, &unit);
		put_profile_rows(stdout, profile, &unit, &(struct row){ 0, function }, 1);
		fputc('\n', stdout);
		put_edges(profile, from, from_count, false, &unit);
	}
	alloc_free(to);
	alloc_free(from);
	return STATUS_FINE;
}

int profile_callers_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *profile = NULL;
	int status = profile_load_completed(operands[1], false, &profile), failed = STATUS_USAGE;

	if (profile && (!status || status == STATUS_LOST)) {
		if (profile->edge_count)
			failed = show_callers(arguments, profile, operands[0]);
		else
			cli_error("%s has no calls: 'asterism profile complete' gives it those of a simulation",
				  operands[1]);
	}
	profile_free(profile);
	return failed ? failed : status;
}
