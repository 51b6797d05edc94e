// SPDX-License-Identifier: BSD-2-Clause
/* Handles calls and aggregates in a replay: nothing is done any more, but what is to be counted is counted. */

#include "session/replay/priv.h"
#include "session/verdict/reactions.h"

struct reported {
	const struct session_replay_options *options;
	struct reactions *reactions;
	struct aggregates *aggregates;
	int failed; /* to report aggregates when time had passed */
};

static int reported_on_match(void *context, const struct program_match *match)
{
	struct reported *reported = context;
	struct program_match counted;
	int result = reported->failed ? reported->failed : aggregates_add(reported->aggregates, match);

	if (result < 0 || !reactions_do(reported->reactions, match, &counted) || !reported->options->on_match)
		return result;
	return reported->options->on_match(reported->options->context, &counted);
}

static int reported_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct reported *reported = context;

	return reported->options->on_aggregate ? reported->options->on_aggregate(reported->options->context, report)
					       : 0;
}

static void on_time(void *context, uint64_t ns)
{
	struct reported *reported = context;
	int result;

	aggregates_begin(reported->aggregates, ns);
	result = aggregates_advance(reported->aggregates, ns);
	reported->failed = reported->failed ? reported->failed : result;
	if (reported->options->on_time)
		reported->options->on_time(reported->options->context, ns);
}

static void reported_on_progress(void *context, const struct session_progress *progress)
{
	struct reported *reported = context;

	reported->options->on_progress(reported->options->context, progress);
}

static int open_reported(struct reported *reported, const struct program *program, struct asterism_diag *diag)
{
	static const struct reactions_options recorded = { .recorded = true };

	if (aggregates_new(program, reported_on_aggregate, reported, &reported->aggregates))
		return diag_no_memory(diag);
	return reactions_new(program, &recorded, diag, &reported->reactions);
}

static int replay_reported(const struct session_rules *rules, struct reported *reported, struct asterism_diag *diag,
			   struct session_totals *totals)
{
	struct session_replay_options inner = *reported->options;
	int result;

	inner.on_match = reported_on_match;
	inner.on_time = on_time;
	inner.on_progress = reported->options->on_progress ? reported_on_progress : NULL;
	inner.aggregates = reported->aggregates;
	inner.context = reported;
	result = replay_events(rules, &inner, diag, totals);
	if (!result)
		result = reported->failed ? reported->failed : aggregates_finish(reported->aggregates);
	if (!result && reactions_tallies(reported->reactions, NULL, NULL, &totals->tallies))
		result = diag_no_memory(diag);
	return result;
}

int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals)
{
	const struct program *program = session_rules_program(rules);
	struct reported reported = { .options = options };
	int result;

	if (!program->header->sections[PROGRAM_STATEMENTS].count &&
	    !program->header->sections[PROGRAM_AGGREGATIONS].count)
		return replay_events(rules, options, diag, totals);
	*totals = (struct session_totals){ 0 };
	result = open_reported(&reported, program, diag);
	if (!result)
		result = replay_reported(rules, &reported, diag, totals);
	reactions_free(reported.reactions);
	aggregates_free(reported.aggregates);
	return result;
}
