// SPDX-License-Identifier: BSD-2-Clause
/* Decides what calls mean in a replay: nothing is done any more, but what is to be counted is counted. */

#include "session/replay/priv.h"
#include "session/verdict/reactions.h"

struct told {
	const struct session_replay_options *options;
	struct reactions *reactions;
};

static int on_match(void *context, const struct program_match *match)
{
	struct told *told = context;
	struct program_match counted;

	if (!reactions_do(told->reactions, match, &counted) || !told->options->on_match)
		return 0;
	return told->options->on_match(told->options->context, &counted);
}

static void on_progress(void *context, const struct session_progress *progress)
{
	struct told *told = context;

	told->options->on_progress(told->options->context, progress);
}

int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals)
{
	static const struct reactions_options recorded = { .recorded = true };
	struct told told = { .options = options };
	struct session_replay_options inner = *options;
	int result;

	if (!session_rules_program(rules)->header->sections[PROGRAM_STATEMENTS].count)
		return replay_events(rules, options, diag, totals);
	*totals = (struct session_totals){ 0 };
	result = reactions_new(session_rules_program(rules), &recorded, diag, &told.reactions);
	if (result)
		return result;
	inner.on_match = on_match;
	inner.on_progress = options->on_progress ? on_progress : NULL;
	inner.context = &told;
	result = replay_events(rules, &inner, diag, totals);
	if (!result && reactions_tallies(told.reactions, NULL, NULL, &totals->tallies))
		result = diag_no_memory(diag);
	reactions_free(told.reactions);
	return result;
}
