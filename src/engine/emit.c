// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a match is told and what it raises. An emitted event goes through all rules before the next match or
 * event; the loader has excluded circles, so the depth is bounded, by the number of rules that emit and by a constant.
 */

#include "engine/machine-priv.h"

#include "event/type.h"
#include "program/eval.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

int engine_emit_init(struct engine *engine)
{
	const struct program *program = engine->program;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++) {
			uint32_t type = program->statements[rule->first_statement + j].type;

			if (type == PROGRAM_NONE)
				continue;
			engine->rules[i].emits = true;
			if (program->types[type].record_bytes > engine->emit_bytes)
				engine->emit_bytes = program->types[type].record_bytes;
		}
		engine->emit_levels += engine->rules[i].emits;
	}
	if (engine->emit_levels > ENGINE_EMIT_DEPTH_MAX)
		engine->emit_levels = ENGINE_EMIT_DEPTH_MAX;
	engine->emit_bytes = (engine->emit_bytes + 7) / 8 * 8;
	engine->emitted = arena_zero(engine->arena, engine->emit_levels, engine->emit_bytes);
	return engine->emitted ? 0 : -ENOMEM;
}

static void set_field(char *record, const struct program_field *field, const struct program_value *value)
{
	uint64_t word;

	if (field->value == EVENT_STRING) {
		memcpy(record + field->offset, value->text, strnlen(value->text, field->bytes - 1));
		return;
	}
	word = value->kind == PROGRAM_BOOL ? value->boolean : event_value_narrow(field->value, value->u64);
	memcpy(record + field->offset, &word, sizeof word);
}

/* What most arguments are, an integer as a slot has it, needs no evaluation. */
static bool put_word(const struct engine *engine, const struct engine_rule *rule, const char *slots,
		     const struct program_arg *arg, char *record)
{
	const struct program_node *node = &engine->program->nodes[arg->node];
	const struct program_field *field = &engine->program->fields[arg->field];
	uint64_t word;

	if (node->op != PROGRAM_OP_SLOT || (node->kind != PROGRAM_I64 && node->kind != PROGRAM_U64))
		return false;
	word = engine_word_at(slots + engine->program->slots[rule->image->first_slot + node->a].offset);
	word = event_value_narrow(field->value, word);
	memcpy(record + field->offset, &word, sizeof word);
	return true;
}

static void emit(struct engine *engine, struct engine_rule *rule, const char *slots,
		 const struct program_statement *statement, const struct event_header *header)
{
	const struct program *program = engine->program;
	struct program_operand operand = { .program = program, .rule = rule->image, .slots = slots };
	struct engine_event event = {
		.record_bytes = program->types[statement->type].record_bytes,
		.number = ++engine->number,
	};

	if (engine->emit_depth == engine->emit_levels) {
		rule->stats.lost++;
		rule->epoch++;
		return;
	}
	char *record = engine->emitted + engine->emit_depth * engine->emit_bytes;
	memset(record, 0, event.record_bytes);
	memcpy(record, header, sizeof *header);
	memcpy(record + offsetof(struct event_header, type), &statement->type, sizeof statement->type);
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct program_arg *arg = &program->args[statement->first_arg + i];
		struct program_value value;

		if (put_word(engine, rule, slots, arg, record))
			continue;
		if (!program_eval(&operand, arg->node, &value)) /* what has no value stays 0 */
			set_field(record, &program->fields[arg->field], &value);
	}
	event.record = (const struct event_header *)record;
	engine->emit_depth++;
	engine_pass(engine, &engine->dispatch[statement->type], &event);
	engine->emit_depth--;
}

/* Fills engine->events with the run's history. Returns how many, or -ENOMEM. */
static int64_t list_events(struct engine *engine, const struct engine_history_node *youngest)
{
	uint32_t count = engine_history_count(youngest);

	if (count && alloc_grow(&engine->events, &engine->event_room, count - 1, sizeof *engine->events))
		return -ENOMEM;
	engine_history_list(youngest, engine->events);
	return count;
}

/* A match of a rule has no notice (0). */
static struct program_match match_of(const struct engine_rule *rule, const struct engine_run *run,
				     const struct event_header *header)
{
	return (struct program_match){
		.rule = rule->index,
		.ts = header->ts,
		.cpu = header->cpu,
		.pid = header->pid,
		.tid = header->tid,
		.comm = header->comm,
		.slots = run->slots,
	};
}

static void raise_all(struct engine *engine, struct engine_rule *rule, const struct program_match *match,
		      const struct event_header *header)
{
	const struct program_rule *image = rule->image;

	for (uint32_t i = 0; i < image->statement_count && rule->emits && !engine->failed; i++) {
		const struct program_statement *statement = &engine->program->statements[image->first_statement + i];

		if (statement->type != PROGRAM_NONE && statement->notice == match->notice)
			emit(engine, rule, match->slots, statement, header);
	}
}

static void tell(struct engine *engine, struct engine_rule *rule, const struct program_match *match)
{
	int result = engine->options.on_match ? engine->options.on_match(engine->options.context, match) : 0;

	rule->stats.matches++;
	if (result < 0)
		engine->failed = result;
}

static void take_turn(struct engine *engine, const struct engine_rule *rule)
{
	if (engine->emit_depth == 0)
		engine->turn = rule->index;
}

bool engine_report(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		   const struct event_header *header, uint64_t epoch)
{
	bool tainted = run->epoch < epoch;
	struct program_match match = match_of(rule, run, header);

	if (engine->failed || (tainted && rule->image->loss == PROGRAM_DISCARD))
		return false;
	match.tainted = tainted && rule->image->loss == PROGRAM_TAINT;
	if (rule->history) {
		int64_t count = list_events(engine, *engine_history_of(&rule->runs, run));

		if (count < 0) {
			engine_refuse(rule);
			return false;
		}
		match.events = engine->events;
		match.event_count = (uint32_t)count;
	}
	take_turn(engine, rule);
	tell(engine, rule, &match);
	raise_all(engine, rule, &match, header);
	return true;
}

void engine_tell(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		 const struct event_header *header, uint64_t epoch)
{
	const struct program_rule *image = rule->image;
	bool tainted = run->epoch < epoch;
	uint64_t notice = engine_word_at(run->slots + rule->machine->notice_offset);
	struct program_match match = match_of(rule, run, header);

	if (engine->failed || (tainted && image->loss == PROGRAM_DISCARD))
		return;
	match.tainted = tainted && image->loss == PROGRAM_TAINT;
	match.notice = (uint32_t)notice;
	take_turn(engine, rule);
	if (!(engine->program->notices[image->first_notice + notice - 1].flags & PROGRAM_NOTICE_SILENT))
		tell(engine, rule, &match);
	raise_all(engine, rule, &match, header);
}
