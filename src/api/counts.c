// SPDX-License-Identifier: BSD-2-Clause
/* Decides how counts of a unit outlive its work: the past of its activations, and the present. */

#include "api/api-priv.h"

#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_past(const struct program_rule_stats *past, struct program_rule_stats *stats)
{
	stats->matches += past->matches;
	stats->runs_opened += past->runs_opened;
	stats->runs_live_max = larger(stats->runs_live_max, past->runs_live_max);
	stats->pool_exhausted += past->pool_exhausted;
	stats->replaced += past->replaced;
	stats->crowded += past->crowded;
	stats->events_refused += past->events_refused;
	stats->unraised += past->unraised;
	stats->lost += past->lost;
	stats->divisions_by_zero += past->divisions_by_zero;
	stats->unread += past->unread;
	stats->calls_32bit += past->calls_32bit;
	stats->io_uring += past->io_uring;
	stats->excepted += past->excepted;
}

static void clear(struct session_totals *totals)
{
	memset(totals->rules, 0, totals->rule_count * sizeof *totals->rules);
	totals->events = totals->lost = totals->stops_refused = totals->asks_lost = totals->replaced = 0;
}

static void add_totals(const struct session_totals *past, struct session_totals *totals)
{
	totals->events += past->events;
	totals->lost += past->lost;
	totals->stops_refused += past->stops_refused;
	totals->asks_lost += past->asks_lost;
	for (uint32_t i = 0; i < totals->rule_count; i++)
		add_past(&past->rules[i], &totals->rules[i]);
}

void api_rules_count(const struct asterism_rules *rules)
{
	/* The tables behind it are scratch space: the unit itself does not change. */
	struct asterism_rules *unit = (struct asterism_rules *)rules;

	clear(&unit->now);
	if (unit->work.executor)
		live_unit_count(&unit->work, &unit->now);
	add_totals(&unit->past, &unit->now);
}

int api_rules_finish(struct asterism_rules *rules)
{
	struct session_totals past = rules->past;

	rules->past = rules->now;
	rules->past.tallies = past.tallies;
	rules->past.refusals = past.refusals;
	clear(&rules->past);
	int result = live_unit_finish(&rules->work, &rules->past);

	add_totals(&past, &rules->past);
	rules->now = past;
	rules->now.tallies = (struct react_tallies){ 0 };
	rules->now.refusals = (struct session_refusals){ 0 };
	return result;
}
