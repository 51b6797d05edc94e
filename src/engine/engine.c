// SPDX-License-Identifier: BSD-2-Clause
/* Creates engines and runs the steps for an arriving event: first the timers that are due, then the rules. */

#include "engine/machine-priv.h"

#include "base/hash.h"
#include "engine/why-priv.h"
#include "program/query.h"

#include <errno.h>
#include <string.h>

/* A copy with its own time, or, if that went back though the record is not late, as if it had come now. */
static const struct event_header *make_own(struct engine *engine, const struct event_header *record, uint32_t type,
					   uint32_t bytes)
{
	bool late = type != record->type;

	memcpy(engine->own, record, bytes);
	engine->own->type = type;
	if (!late)
		engine->own->ts = engine->now;
	return engine->own;
}

static int take_result(struct engine *engine)
{
	int result = engine->failed;

	engine->failed = 0;
	return result;
}

int engine_feed(struct engine *engine, const struct event_header *record)
{
	uint32_t types = engine->program->type_count;
	uint32_t type = event_type_of(record);
	const struct engine_dispatch *row = &engine->dispatch[type < types ? type : types];
	struct engine_event event = { .record = record, .record_bytes = row->record_bytes };

	if (record->ts > engine->deadline) {
		engine_timers_expire(engine, record->ts);
		if (engine->failed)
			return take_result(engine);
	}
	if (record->ts < engine->now || type != record->type)
		event.record = make_own(engine, record, type, row->record_bytes);
	if (event.record->ts > engine->now)
		engine->now = event.record->ts;
	engine->seq = record->seq;
	event.number = ++engine->number; /* behind those of events that were raised at a deadline before it */
	if (engine->seen)
		engine->seen[type < types ? type : types]++;
	if (event_is_unknown(record))
		engine_unread_unknown(engine, type);
	else if (engine_has_unread(row, event.record))
		engine_unread_pass(engine, row, &event);
	else
		engine_pass(engine, row, &event);
	if (engine->raised.used)
		engine_raise(engine);
	return engine->failed ? take_result(engine) : 0;
}

int engine_advance(struct engine *engine, uint64_t now_ns)
{
	if (now_ns > engine->deadline)
		engine_timers_expire(engine, now_ns);
	if (!engine->failed && now_ns > engine->now)
		engine->now = now_ns;
	return take_result(engine);
}

void engine_lose(struct engine *engine, uint64_t lost)
{
	for (uint32_t i = 0; i < engine->program->rule_count; i++) {
		engine->rules[i].stats.lost += lost;
		engine_mark_all(&engine->rules[i]);
	}
}

uint64_t engine_turn(const struct engine *engine)
{
	return engine->expiring ? 0 : (engine->level << 32 | engine->root) + 1;
}

void engine_stats(const struct engine *engine, uint32_t rule, struct program_rule_stats *stats)
{
	*stats = engine->rules[rule].stats;
}

static int init_rules(struct engine *engine)
{
	const struct program *program = engine->program;

	engine->rules = arena_zero(engine->arena, program->rule_count, sizeof *engine->rules);
	engine->heap = arena_zero(engine->arena, program->rule_count, sizeof *engine->heap);
	engine->live = arena_zero(engine->arena, program->rule_count / 64 + 1, sizeof *engine->live);
	if (!engine->rules || !engine->heap || !engine->live)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		struct engine_rule *rule = &engine->rules[i];

		rule->image = &program->rules[i];
		rule->index = i;
		rule->epoch = ENGINE_EPOCH_MARKED + 1;
		rule->live_word = &engine->live[i / 64];
		rule->strict = rule->image->semantics <= PROGRAM_STRICT_PARTITION;
		rule->any = rule->image->semantics == PROGRAM_SKIP_TILL_ANY;
		rule->drop = rule->image->flags & PROGRAM_RULE_DROP;
		rule->drops_all = rule->image->flags & PROGRAM_RULE_DROP_ALL;
		rule->replaces = rule->image->flags & PROGRAM_RULE_REPLACE;
		rule->latest = rule->image->flags & PROGRAM_RULE_LATEST;
		rule->shares = rule->latest || rule->replaces || rule->image->per_key || rule->image->per_process;
	}
	return 0;
}

static int share_init(struct engine *engine, struct engine_rule *rule)
{
	rule->opener_offset = program_slots(engine->program, rule->image)[rule->image->opener_slot].offset;
	rule->opened = arena_zero(engine->arena, PROGRAM_OPENERS, sizeof *rule->opened);
	return rule->opened ? 0 : -ENOMEM;
}

/* What holds the runs of the rules, when the tables are there. */
static int init_runs(struct engine *engine)
{
	int result = engine_emit_init(engine);

	for (uint32_t i = 0; i < engine->program->rule_count && !result; i++) {
		struct engine_rule *rule = &engine->rules[i];

		if (engine->options.rules && !engine->options.rules[i])
			continue;
		rule->defers = rule->drop;
		if (rule->image->per_process && share_init(engine, rule))
			return -ENOMEM;
		result = engine_runs_init(rule);
		if (!result)
			result = engine_index_grow(rule);
		if (!result && rule->machine)
			result = engine_any_grow(rule->machine, rule->by_key.mask + 1);
		if (!result && rule->image->flags & PROGRAM_RULE_SEQUENCE)
			result = engine_history_new(&rule->history);
	}
	return result;
}

/* Room that fits any record and any slot area of the program. */
static int init_rooms(struct engine *engine)
{
	const struct program *program = engine->program;
	size_t slots = sizeof(uint64_t); /* so much may always be read */

	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (program->rules[i].slot_bytes > slots)
			slots = program->rules[i].slot_bytes;
	}
	engine->own = arena_zero(engine->arena, 1, program_record_bytes_max(program));
	engine->zeros = arena_zero(engine->arena, 1, slots);
	return engine->own && engine->zeros ? 0 : -ENOMEM;
}

static int init_engine(struct engine *engine)
{
	int result;

	engine->deadline = UINT64_MAX;
	engine->arena = arena_new();
	if (!engine->arena)
		return -ENOMEM;
	engine->seed = hash_seed(engine);
	result = init_rooms(engine);
	if (!result)
		result = init_rules(engine);
	if (!result)
		result = engine_dispatch_build(engine);
	if (!result)
		result = engine_why_init(engine);
	if (!result)
		result = init_runs(engine);
	if (!result)
		engine_frame_init(&engine->frame, engine->program, &engine->code);
	return result;
}

int engine_new(const struct program *program, const struct engine_options *options, struct asterism_diag *diag,
	       struct engine **made)
{
	struct engine *engine = alloc_zero(1, sizeof *engine);
	int result = engine ? 0 : -ENOMEM;

	if (!result) {
		engine->program = program;
		engine->options = *options;
		result = init_engine(engine);
	}
	if (result) {
		engine_free(engine);
		return result == -ENOMEM ? diag_no_memory(diag)
					 : diag_error(diag, NULL, result,
						      "the rules expand to more code than one program can hold");
	}
	*made = engine;
	return 0;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	for (uint32_t i = 0; engine->rules && i < engine->program->rule_count; i++) {
		engine_runs_fini(&engine->rules[i]);
		alloc_free(engine->rules[i].by_key.buckets);
		engine_machine_fini(engine->rules[i].machine);
		engine_history_free(engine->rules[i].history);
	}
	alloc_free(engine->events);
	alloc_free(engine->raised.bytes);
	engine_code_fini(&engine->code);
	arena_free(engine->arena);
	alloc_free(engine);
}
