// SPDX-License-Identifier: BSD-2-Clause
/* Decides what calls and aggregates mean in a replay: nothing is done any more, but what is to be counted is counted.
 */

#include "session/replay/priv.h"
#include "session/verdict/reactions.h"

struct told {
	const struct session_replay_options *options;
	struct reactions *reactions;
	struct aggregates *aggregates;
	int failed; /* to report aggregates when time had passed */
};

static int on_match(void *context, const struct program_match *match)
{
	struct told *told = context;
	struct program_match counted;
	int result = told->failed ? told->failed : aggregates_add(told->aggregates, match);

	if (result < 0 || !reactions_do(told->reactions, match, &counted) || !told->options->on_match)
		return result;
	return told->options->on_match(told->options->context, &counted);
}

static int on_aggregate(void *context, const struct aggregate_report *report)
{
	struct told *told = context;

	return told->options->on_aggregate ? told->options->on_aggregate(told->options->context, report) : 0;
}

static void on_time(void *context, uint64_t ns)
{
	struct told *told = context;
	int result;

	aggregates_begin(told->aggregates, ns);
	result = aggregates_advance(told->aggregates, ns);
	told->failed = told->failed ? told->failed : result;
}

static void on_progress(void *context, const struct session_progress *progress)
{
	struct told *told = context;

	told->options->on_progress(told->options->context, progress);
}

static int open_told(struct told *told, const struct program *program, struct asterism_diag *diag)
{
	static const struct reactions_options recorded = { .recorded = true };

	if (aggregates_new(program, on_aggregate, told, &told->aggregates))
		return diag_no_memory(diag);
	return reactions_new(program, &recorded, diag, &told->reactions);
}

static int replay_told(const struct session_rules *rules, struct told *told, struct asterism_diag *diag,
		       struct session_totals *totals)
{
	struct session_replay_options inner = *told->options;
	int result;

	inner.on_match = on_match;
	inner.on_time = on_time;
	inner.on_progress = told->options->on_progress ? on_progress : NULL;
	inner.context = told;
	result = replay_events(rules, &inner, diag, totals);
	if (!result)
		result = told->failed ? told->failed : aggregates_finish(told->aggregates);
	if (!result && reactions_tallies(told->reactions, NULL, NULL, &totals->tallies))
		result = diag_no_memory(diag);
	return result;
}

int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals)
{
	const struct program *program = session_rules_program(rules);
	struct told told = { .options = options };
	int result;

	if (!program->header->sections[PROGRAM_STATEMENTS].count &&
	    !program->header->sections[PROGRAM_AGGREGATIONS].count)
		return replay_events(rules, options, diag, totals);
	*totals = (struct session_totals){ 0 };
	result = open_told(&told, program, diag);
	if (!result)
		result = replay_told(rules, &told, diag, totals);
	reactions_free(told.reactions);
	aggregates_free(told.aggregates);
	return result;
}
