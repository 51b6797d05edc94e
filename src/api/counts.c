// SPDX-License-Identifier: BSD-2-Clause
/* Keeps counts of a unit beyond its activations: the past of its activations, and the present. */

#include "api/api-priv.h"

#include "base/alloc.h"
#include "program/why/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint64_t larger_count(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_past(const struct program_rule_stats *past, struct program_rule_stats *stats)
{
	stats->matches += past->matches;
	stats->runs_opened += past->runs_opened;
	stats->runs_live_max = larger_count(stats->runs_live_max, past->runs_live_max);
	stats->pool_exhausted += past->pool_exhausted;
	stats->replaced += past->replaced;
	stats->crowded += past->crowded;
	stats->events_refused += past->events_refused;
	stats->unraised += past->unraised;
	stats->lost += past->lost;
	stats->divisions_by_zero += past->divisions_by_zero;
	stats->unread += past->unread;
	if (!stats->unread_type) {
		stats->unread_type = past->unread_type;
		stats->unread_pid = past->unread_pid;
	}
	stats->calls_32bit += past->calls_32bit;
	stats->io_uring += past->io_uring;
	stats->excepted += past->excepted;
}

/* The numbers of a rule, all of which can be added up but those of runs that are open. */
static void add_why(const struct program_why *past, struct program_why *why, uint32_t rule)
{
	uint32_t words = past ? program_why_words(past->program, &past->program->rules[rule]) : 0;

	for (uint32_t i = 0; i < words; i++)
		why->rules[rule][i] += past->rules[rule][i];
}

static void clear_why(struct program_why *why)
{
	for (uint32_t i = 0; why && i < why->program->rule_count; i++)
		memset(why->rules[i], 0,
		       program_why_words(why->program, &why->program->rules[i]) * sizeof *why->rules[i]);
}

/* The runs that were open have ended with their activation. */
static void close_runs(struct program_why *why)
{
	for (uint32_t i = 0; why && i < why->program->rule_count; i++)
		for (uint32_t k = 0; k < why->program->rules[i].state_count; k++)
			why->rules[i][program_why_state(k) + PROGRAM_WHY_OPEN] = 0;
}

static void clear_totals(struct session_totals *totals)
{
	clear_why(totals->why);
	memset(totals->rules, 0, totals->rule_count * sizeof *totals->rules);
	totals->events = totals->lost = totals->stops_refused = totals->requests_lost = totals->replaced = 0;
}

static void add_totals(const struct session_totals *past, struct session_totals *totals)
{
	totals->events += past->events;
	totals->lost += past->lost;
	totals->stops_refused += past->stops_refused;
	totals->requests_lost += past->requests_lost;
	for (uint32_t i = 0; i < totals->rule_count; i++)
		add_past(&past->rules[i], &totals->rules[i]);
	for (uint32_t i = 0; i < totals->rule_count; i++)
		add_why(past->why, totals->why, i);
}

void api_rules_count(const struct asterism_rules *rules)
{
	/* The tables behind it are scratch space: the unit itself does not change. */
	struct asterism_rules *unit = (struct asterism_rules *)rules;

	clear_totals(&unit->now);
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
	clear_totals(&rules->past);
	int result = live_unit_finish(&rules->work, &rules->past);

	close_runs(rules->past.why);
	add_totals(&past, &rules->past);
	rules->now = past;
	rules->now.tallies = (struct react_tallies){ 0 };
	rules->now.refusals = (struct session_refusals){ 0 };
	return result;
}

int asterism_rules_why(const struct asterism_rules *rules, size_t index, char *text, size_t size)
{
	struct text_buffer buffer = { 0 };
	char *whole = NULL;
	size_t length;

	if (index >= rules->program->rule_count)
		return -EINVAL;
	if (!rules->now.why)
		return -ENOENT;
	api_rules_count(rules);
	program_why_json(&(struct program_why_report){ .program = rules->program,
						       .rule = &rules->program->rules[index],
						       .counts = rules->now.why->rules[index],
						       .stats = &rules->now.rules[index],
						       .is_live = true },
			 &buffer);
	if (text_take(&buffer, &whole))
		return -ENOMEM;
	length = strcspn(whole, "\n");
	if (size)
		snprintf(text, size, "%.*s", (int)length, whole);
	alloc_free(whole);
	return (int)length;
}
