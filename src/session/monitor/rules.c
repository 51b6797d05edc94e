// SPDX-License-Identifier: BSD-2-Clause
/* Feeds rules with elements, and passes their matches to another thread. */

#include "session/monitor/rules.h"

#include "base/alloc.h"
#include "engine/engine.h"
#include "program/match-copy.h"

#include <errno.h>

struct monitor_rules {
	struct monitor_rules_options options;
	struct engine *engine;
	uint64_t reported; /* lost, as lose told */
};

static int queue_match(void *context, const struct program_match *match)
{
	const struct monitor_rules *rules = context;
	void *packed;

	if (!rules->options.matches)
		return 0;
	packed = monitor_queue_reserve(rules->options.matches, program_match_bytes(rules->options.program, match));
	if (!packed)
		return 0;
	program_match_pack(rules->options.program, match, packed);
	monitor_queue_send(rules->options.matches);
	return 0;
}

static void on_raise(void *context, const struct event_header *record)
{
	const struct monitor_rules *rules = context;

	rules->options.on_raise(rules->options.context, record);
}

int monitor_rules_new(const struct monitor_rules_options *options, struct asterism_diag *diag,
		      struct monitor_rules **made)
{
	struct monitor_rules *rules = alloc_zero(1, sizeof *rules);
	int result;

	if (!rules)
		return diag_no_memory(diag);
	rules->options = *options;
	const struct engine_options engine = {
		.on_match = queue_match,
		.context = rules,
		.on_raise = options->on_raise ? on_raise : NULL,
		.rules = options->rules,
		.counts_why = options->counts_why,
	};

	result = engine_new(options->program, &engine, diag, &rules->engine);
	if (result)
		monitor_rules_free(rules);
	else
		*made = rules;
	return result;
}

void monitor_rules_free(struct monitor_rules *rules)
{
	if (!rules)
		return;
	engine_free(rules->engine);
	alloc_free(rules);
}

static void commit_rules(void *context, bool ok, const struct monitor_element *element)
{
	const struct monitor_rules *rules = context;

	/* Others are there for other evaluations. */
	if (ok && element->sensor < rules->options.program->type_count)
		engine_feed(rules->engine, element->data);
}

static void lose_rules_events(void *context, uint64_t lost)
{
	struct monitor_rules *rules = context;

	rules->reported += lost;
	engine_lose(rules->engine, lost);
}

static void pass_rules(void *context, uint64_t now_ns)
{
	const struct monitor_rules *rules = context;

	engine_advance(rules->engine, now_ns);
}

static void *twin_rules(const void *context)
{
	const struct monitor_rules *rules = context;
	struct monitor_rules_options options = rules->options;
	struct monitor_rules *made;

	options.matches = NULL;
	options.on_raise = NULL;
	return monitor_rules_new(&options, NULL, &made) ? NULL : made;
}

static void release_rules(void *context)
{
	monitor_rules_free(context);
}

const struct monitor_evaluation_kind monitor_rules_kind = {
	.name = "rules",
	.commit = commit_rules,
	.lose = lose_rules_events,
	.pass = pass_rules,
	.twin = twin_rules,
	.release = release_rules,
};

void monitor_rules_stats(const struct monitor_rules *rules, uint32_t rule, struct program_rule_stats *stats)
{
	engine_stats(rules->engine, rule, stats);
	stats->lost -= rules->reported < stats->lost ? rules->reported : stats->lost;
}

void monitor_rules_why(const struct monitor_rules *rules, struct program_why *why)
{
	for (uint32_t i = 0; i < why->program->rule_count; i++)
		engine_count_why(rules->engine, i, why->rules[i]);
}

void monitor_rules_finish(struct monitor_rules *rules, uint64_t now_ns)
{
	engine_advance(rules->engine, now_ns);
}

int monitor_rules_take(struct monitor_queue *matches, program_match_fn *on_match, void *context)
{
	const void *packed;
	size_t bytes;
	int count = 0, result = 0;

	while (!result && (packed = monitor_queue_look(matches, &bytes))) {
		struct program_packed shape = program_match_packed(packed);
		void *room = alloc_zero(shape.room_bytes, 1);
		struct program_match_copy copy;

		if (!room)
			return -ENOMEM;
		program_match_unpack(packed, room, &copy);
		result = on_match(context, &copy.match);
		alloc_free(room);
		monitor_queue_drop(matches);
		count++;
	}
	return result < 0 ? result : count;
}
