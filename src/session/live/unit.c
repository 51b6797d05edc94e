// SPDX-License-Identifier: BSD-2-Clause
/* Passes on matches, and adds and removes rules while a session runs. */

#include "session/live/unit.h"

#include "base/clock.h"
#include "meaning/meaning.h"
#include "session/live/calling.h"
#include "session/live/cgroups.h"

#include <errno.h>

/* A rule that floods must not keep its unit from ending. */
enum { LAST_BATCHES = 64 };

static int report_unit_match(void *context, const struct program_match *match)
{
	const struct live_unit *unit = context;

	return unit->muted ? 0 : unit->options.report(unit->options.context, match);
}

/* A match that asks is told when it has its verdict. */
static int unit_on_match(void *context, const struct program_match *match)
{
	struct live_unit *unit = context;
	struct verdicts *verdicts = unit->responses.verdicts;
	struct program_match reported;
	int result = 0;

	if (unit->muted && !verdicts)
		return 0;
	result = aggregates_add(unit->aggregates, match);
	if (!reactions_do(unit->responses.reactions, match, &reported) || result < 0)
		return result;
	if (!verdicts || !verdicts_take(verdicts, &reported, &result))
		result = report_unit_match(unit, &reported);
	if (result >= 0 && unit->options.on_found && !unit->muted)
		unit->options.on_found(unit->options.context, &reported);
	return result;
}

static bool unit_in_scope(void *context, int pid)
{
	const struct live_unit *unit = context;

	return unit->executor && executor_has(unit->executor, pid);
}

static int unit_snapshot(void *context, const char *rule)
{
	const struct live_unit *unit = context;

	return unit->options.snapshot(unit->options.context, rule);
}

static int unit_on_aggregate(void *context, const struct aggregate_report *report)
{
	const struct live_unit *unit = context;
	const struct live_unit_options *options = &unit->options;

	return !options->on_aggregate ? 0 : options->on_aggregate(options->context, report);
}

int live_unit_open(struct live_unit *unit, const struct live_unit_options *options, struct asterism_diag *diag)
{
	const struct responses_options responses = {
		.program = session_rules_program(options->rules),
		.catalog = session_rules_catalog(options->rules),
		.policy = options->policy,
		.in_scope = unit_in_scope,
		.snapshot = options->snapshot ? unit_snapshot : NULL,
		.on_ask = options->on_ask,
		.ask_command = options->ask_command,
		.ask_context = options->ask_context,
		.report = report_unit_match,
		.context = unit,
		.stops = options->stops,
	};

	*unit = (struct live_unit){ .options = *options };
	meaning_users_ask(responses.program->users); /* what is seen is of this host */
	if (aggregates_new(responses.program, unit_on_aggregate, unit, &unit->aggregates))
		return diag_no_memory(diag);
	return responses_open(&unit->responses, &responses, diag);
}

int live_unit_start(struct live_unit *unit, struct recording *recording, struct asterism_diag *diag)
{
	const struct live_unit_options *options = &unit->options;
	const struct executor_options how = {
		.program = session_rules_program(options->rules),
		.catalog = session_rules_catalog(options->rules),
		.input = EXECUTOR_LIVE,
		.rules = veto_other_rules(options->veto),
		.scope = options->scope,
		.filter = options->filter,
		.recorder = recording ? recording_recorder(recording) : NULL,
		.clock = recording ? recording_clock(recording) : NULL,
		.counts_why = options->counts_why,
		.allowed = reactions_allowed(unit->responses.reactions),
		.anywhere = options->policy && options->policy->anywhere,
		.stops = unit->responses.verdicts ? verdicts_stops(unit->responses.verdicts) : NULL,
		.on_match = unit_on_match,
		.context = unit,
		.batch = options->batch,
		.deliver_all = options->on_found != NULL,
		.news = diag,
	};
	int result;

	live_cgroups_warn(how.program, how.catalog, diag);
	aggregates_begin(unit->aggregates, clock_now_ns());
	result = executor_new(&how, diag, &unit->executor);
	if (!result)
		executor_attach(unit->executor, unit->aggregates);
	return result ? result : calling_new(options->rules, diag, &unit->calling);
}

static int ask_fd(const struct live_unit *unit)
{
	return unit->responses.verdicts ? verdicts_fd(unit->responses.verdicts) : -1;
}

int live_unit_watch(const struct live_unit *unit, const struct live_loop *loop, struct asterism_diag *diag)
{
	const int fds[] = { executor_fd(unit->executor), ask_fd(unit), veto_fd(unit->options.veto),
			    calling_fd(unit->calling) };
	int result = 0;

	for (size_t i = 0; i < sizeof fds / sizeof *fds && !result; i++)
		result = live_loop_watch(loop, fds[i], LIVE_WAKE_RULES | unit->options.number << LIVE_WAKE_BITS, diag);
	return result;
}

void live_unit_forget(const struct live_unit *unit, const struct live_loop *loop)
{
	live_loop_forget(loop, executor_fd(unit->executor));
	live_loop_forget(loop, ask_fd(unit));
	live_loop_forget(loop, calling_fd(unit->calling));
}

static int first_failed(const int *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (results[i])
			return results[i];
	}
	return 0;
}

/* Reports what is due, and says when that is the next time. */
static int report_due(struct live_unit *unit, uint64_t *wait_ns)
{
	uint64_t now = clock_now_ns();
	int result = aggregates_advance(unit->aggregates, now);
	uint64_t due = aggregates_due(unit->aggregates);

	if (due != UINT64_MAX) {
		uint64_t wait_for_due = due >= now ? due - now + 1 : 0;

		*wait_ns = wait_for_due < *wait_ns ? wait_for_due : *wait_ns;
	}
	return result;
}

int live_unit_poll(struct live_unit *unit, uint64_t *wait_ns)
{
	uint64_t wait_for_rules = UINT64_MAX;
	int results[5];

	results[0] = executor_poll(unit->executor, &wait_for_rules);
	results[1] = veto_poll(unit->options.veto, unit_on_match, unit);
	if (wait_for_rules < *wait_ns)
		*wait_ns = wait_for_rules;
	results[2] = responses_poll(&unit->responses, clock_now_ns(), wait_ns);
	results[3] = results[0] == EXECUTOR_PAUSE ? 0 : report_due(unit, wait_ns);
	results[4] = calling_poll(unit->calling, wait_ns);
	if (results[0] == EXECUTOR_PAUSE) /* there is more; what failed meanwhile matters more */
		return results[1] ? results[1] : results[2] ? results[2] : EXECUTOR_PAUSE;
	return first_failed(results, 5);
}

void live_unit_count(const struct live_unit *unit, struct session_totals *totals)
{
	if (unit->responses.verdicts)
		verdicts_count(unit->responses.verdicts, &totals->stops_refused, &totals->requests_lost);
	executor_count(unit->executor, totals);
	if (totals->why)
		executor_count_why(unit->executor, totals->why);
	veto_count(unit->options.veto, totals);
}

static void tally(void *context, uint32_t statement, uint64_t *buckets)
{
	const struct live_unit *unit = context;

	executor_tally(unit->executor, statement, buckets);
}

int live_unit_tallies(struct live_unit *unit, struct react_tallies *tallies)
{
	return reactions_tallies(unit->responses.reactions, tally, unit, tallies);
}

int live_unit_finish(struct live_unit *unit, struct session_totals *totals)
{
	struct verdicts *verdicts = unit->responses.verdicts;
	uint64_t wait_ns;
	int results[7] = { 0 };

	if (verdicts)
		verdicts_refuse(verdicts);
	veto_settle(unit->options.veto);
	results[0] = veto_poll(unit->options.veto, unit_on_match, unit);
	results[1] = executor_finish(unit->executor);
	results[2] = EXECUTOR_PAUSE;
	for (int i = 0; i < LAST_BATCHES && results[2] == EXECUTOR_PAUSE; i++)
		results[2] = executor_poll(unit->executor, &wait_ns);
	if (results[2] == EXECUTOR_PAUSE)
		results[2] = 0;
	results[3] = verdicts ? verdicts_close(verdicts) : 0;
	live_unit_count(unit, totals);
	results[4] = live_unit_tallies(unit, &totals->tallies);
	results[5] = reactions_refusals(unit->responses.reactions, &totals->refusals);
	results[6] = aggregates_finish(unit->aggregates);
	return first_failed(results, 7);
}

void live_unit_close(struct live_unit *unit)
{
	calling_free(unit->calling);
	executor_free(unit->executor);
	responses_close(&unit->responses);
	aggregates_free(unit->aggregates);
	*unit = (struct live_unit){ 0 };
}
