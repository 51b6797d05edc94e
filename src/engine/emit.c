// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports matches and raises their events. Raised events wait in a queue, as records: each is dealt with by all rules
 * before anything that it raised itself, and all of them before the next event from outside or the next timer. The
 * loader has excluded cycles, so the queue becomes empty; what it has no room for is a counted loss, which marks all
 * open runs.
 */

#include "engine/machine-priv.h"

#include "event/type.h"
#include "program/emissions.h"
#include "program/eval.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Before each record in the queue. */
struct raised_head {
	uint32_t bytes; /* of the record */
	uint32_t root;
	uint64_t level; /* how many matches led to it */
};

enum { QUEUE_BYTES_MAX = 64 << 20 };

int engine_emit_init(struct engine *engine)
{
	const struct program *program = engine->program;
	size_t largest = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++) {
			const struct program_statement *statement = &program_statements(program, rule)[j];

			if (program_is_emission(statement) && program->types[statement->type].record_bytes > largest)
				largest = program->types[statement->type].record_bytes;
		}
		engine->rules[i].emits = program_emits(program, rule);
	}
	engine->raised.record = arena_zero(engine->arena, 1, largest);
	return engine->raised.record ? 0 : -ENOMEM;
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
	word = engine_word_at(slots + program_slots(engine->program, rule->image)[node->a].offset);
	word = event_value_narrow(field->value, word);
	memcpy(record + field->offset, &word, sizeof word);
	return true;
}

/* Room for a record at the end of the queue; NULL where there is none. */
static char *append_record(struct engine *engine, uint32_t bytes)
{
	struct engine_raised *raised = &engine->raised;
	struct raised_head head = { bytes, engine->root, engine->level + 1 };
	size_t needed = sizeof head + (bytes + 7) / 8 * 8;

	if (raised->used + needed > QUEUE_BYTES_MAX ||
	    alloc_grow(&raised->bytes, &raised->room, raised->used + needed - 1, 1))
		return NULL;
	memcpy(raised->bytes + raised->used, &head, sizeof head);
	raised->used += needed;
	return raised->bytes + raised->used - needed + sizeof head;
}

static void emit_raised(struct engine *engine, struct engine_rule *rule, const char *slots,
			const struct program_statement *statement, const struct event_header *header)
{
	const struct program *program = engine->program;
	struct program_operand operand = { .program = program, .rule = rule->image, .slots = slots };
	uint32_t bytes = program->types[statement->type].record_bytes;
	char *record = append_record(engine, bytes);

	if (!record) {
		rule->stats.unraised++;
		rule->stats.lost++;
		engine->raised.lost = true;
		return;
	}
	memset(record, 0, bytes);
	memcpy(record, header, sizeof *header);
	memcpy(record + offsetof(struct event_header, type), &statement->type, sizeof statement->type);
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct program_arg *arg = &program_args(program, statement)[i];
		struct program_value value;

		if (put_word(engine, rule, slots, arg, record))
			continue;
		if (!program_eval(&operand, arg->node, &value)) /* what has no value stays 0 */
			set_field(record, &program->fields[arg->field], &value);
	}
}

void engine_raise(struct engine *engine)
{
	struct engine_raised *raised = &engine->raised;

	while (raised->next < raised->used && !engine->failed) {
		struct raised_head head;
		struct engine_event event = { .number = ++engine->number };
		const struct engine_dispatch *row;

		memcpy(&head, raised->bytes + raised->next, sizeof head);
		memcpy(raised->record, raised->bytes + raised->next + sizeof head, head.bytes);
		raised->next += sizeof head + (head.bytes + 7) / 8 * 8;
		engine->level = head.level;
		engine->root = head.root;
		event.record = (const struct event_header *)raised->record;
		event.record_bytes = head.bytes;
		if (engine->seen)
			engine->seen[event.record->type]++;
		if (engine->options.on_raise)
			engine->options.on_raise(engine->options.context, event.record);
		row = &engine->dispatch[event.record->type];
		if (engine_has_unread(row, event.record))
			engine_unread_pass(engine, row, &event);
		else
			engine_pass(engine, row, &event);
	}
	engine->level = 0;
	raised->next = raised->used = 0;
	raised->count++;
	for (uint32_t i = 0; i < engine->program->rule_count && raised->lost; i++)
		engine_mark_all(&engine->rules[i]);
	raised->lost = false;
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
		const struct program_statement *statement = &program_statements(engine->program, image)[i];

		if (program_is_emission(statement) && statement->notice == match->notice)
			emit_raised(engine, rule, match->slots, statement, header);
	}
}

static void report_rule_match(struct engine *engine, struct engine_rule *rule, const struct program_match *match)
{
	int result = engine->options.on_match ? engine->options.on_match(engine->options.context, match) : 0;

	rule->stats.matches++;
	if (result < 0)
		engine->failed = result;
}

static void take_turn(struct engine *engine, const struct engine_rule *rule)
{
	if (engine->level == 0)
		engine->root = rule->index;
}

/* A condition that cannot be had does not hold. */
static bool is_excepted(const struct engine *engine, struct engine_rule *rule, const struct engine_run *run)
{
	const struct program_operand operand = { .program = engine->program, .rule = rule->image, .slots = run->slots };
	struct program_value value;

	if (!rule->image->except)
		return false;
	if (program_eval(&operand, rule->image->except - 1, &value)) {
		rule->stats.divisions_by_zero++;
		return false;
	}
	rule->stats.excepted += value.boolean;
	return value.boolean;
}

bool engine_report(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		   const struct event_header *header, uint64_t epoch)
{
	bool tainted = run->epoch < epoch;
	struct program_match match = match_of(rule, run, header);

	if (engine->failed || (tainted && rule->image->loss == PROGRAM_DISCARD))
		return false;
	if (is_excepted(engine, rule, run))
		return true;
	match.tainted = tainted && rule->image->loss == PROGRAM_TAINT;
	if (rule->history) {
		int64_t count = list_events(engine, *engine_history_of(&rule->runs, run));

		if (count < 0) {
			engine_refuse(rule);
			if (rule->drop)
				engine_mark_all(rule);
			return false;
		}
		match.events = engine->events;
		match.event_count = (uint32_t)count;
	}
	take_turn(engine, rule);
	report_rule_match(engine, rule, &match);
	raise_all(engine, rule, &match, header);
	return true;
}

void engine_report_notice(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
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
	if (!(program_notice(engine->program, image, notice)->flags & PROGRAM_NOTICE_SILENT))
		report_rule_match(engine, rule, &match);
	raise_all(engine, rule, &match, header);
}
