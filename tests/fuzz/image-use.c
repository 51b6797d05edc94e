// SPDX-License-Identifier: BSD-2-Clause
#include "image-use.h"

#include "engine/engine.h"
#include "event/type.h"
#include "program/eval.h"
#include "program/explain/explain.h"
#include "program/machine.h"
#include "session/output/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 48 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* type: or the number of types, for one that the program does not know. */
static void fill_record(const struct program *program, uint32_t type, uint64_t *state, void *record)
{
	struct event_header *header = record;
	bool known = type < program->type_count;

	*header = (struct event_header){ .type = PROGRAM_NONE, .tid = next_random(state) % 2, .comm = "a" };
	if (!known)
		return;
	header->type = type;
	memset(header + 1, 0, program->types[type].record_bytes - sizeof *header);
	for (uint32_t i = 0; i < program->types[type].field_count; i++) {
		const struct program_field *field = &program->fields[program->types[type].first_field + i];
		uint64_t value = next_random(state);

		if (field->value == EVENT_BOOL)
			value &= 1;
		else if (field->value == EVENT_STRING)
			value = 'a' + value % 2;
		else if (value & 1)
			value &= 3;
		memcpy((char *)record + field->offset, &value, sizeof value);
	}
}

static void explain(const struct program *program, uint32_t rule)
{
	static void (*const explains[])(const struct program *, uint32_t, const struct program_explain_facts *,
					struct text_buffer *) = {
		program_explain_text,
		program_explain_dot,
		program_explain_json,
	};
	const struct program_explain_facts facts = { .where = "here", .kernel_bytes = 1 };

	for (size_t i = 0; i < sizeof explains / sizeof *explains; i++) {
		struct text_buffer out = { 0 };

		explains[i](program, rule, &facts, &out);
		if (out.failure == 0 && strlen(out.bytes) != out.length)
			abort();
		text_fini(&out);
	}
}

/* Every condition of rule, over a record of the type it is for and slots of zero. */
static void evaluate(const struct program *program, const struct program_rule *rule, uint64_t *state, void *record)
{
	static const uint64_t slots[PROGRAM_SLOT_BYTES_MAX / 8];
	struct program_operand operand = { program, rule, record, slots };
	uint64_t divisions = 0;

	for (uint32_t s = rule->first_state; s < rule->first_state + rule->state_count; s++) {
		for (uint32_t t = 0; t < program->states[s].transition_count; t++) {
			const struct program_transition *transition =
				&program->transitions[program->states[s].first_transition + t];

			fill_record(program, transition->type, state, record);
			program_holds(&operand, transition->fit, &divisions);
			program_holds(&operand, transition->hold, &divisions);
		}
	}
}

static void read_trail(const struct program *program, const struct program_match *match)
{
	struct program_trail_event events[PROGRAM_TRAIL_MAX];
	uint32_t count = program_trail(program, match, events);

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type != PROGRAM_TIMER && events[i].type >= program->type_count)
			abort();
		if (strlen(events[i].from) + strlen(events[i].to) + strlen(events[i].name) > program->total_bytes)
			abort();
	}
}

/* As sessions write it: both forms end with their line. */
static void write_out(const struct program *program, const struct program_match *match)
{
	const struct event_machine machine = { .wall_ns = UINT64_MAX / 2, .host = "a\xff\x1b" };
	struct when when = { .form = WHEN_WALL, .in_json = true, .machine = &machine };
	char *text = NULL;
	size_t length = 0;

	for (int as_text = 0; as_text < 2; as_text++) {
		FILE *stream = open_memstream(&text, &length);

		if (as_text)
			result_write_text(stream, program, match, &when);
		else
			result_write_json(stream, program, match, &when);
		if (fclose(stream) || length == 0 || text[length - 1] != '\n')
			abort();
		free(text);
	}
}

static int on_match(void *context, const struct program_match *match)
{
	const struct program *program = context;
	const struct program_rule *rule = &program->rules[match->rule];
	struct program_operand operand = { program, rule, NULL, match->slots };
	struct program_value value;

	if (strlen(match->comm) >= EVENT_COMM_BYTES)
		abort();
	for (uint32_t i = 0; i < rule->return_count; i++) {
		if (!program_eval(&operand, program->returns[rule->first_return + i].node, &value) &&
		    value.kind == PROGRAM_STRING && strlen(value.text) >= EVENT_RECORD_BYTES_MAX)
			abort();
	}
	if (program_match_notice(program, match) == NULL && rule->semantics == PROGRAM_MACHINE)
		abort();
	read_trail(program, match);
	write_out(program, match);
	for (uint32_t i = 0; i < match->event_count; i++) {
		if (match->events[i].element >= rule->element_count)
			abort();
	}
	return 0;
}

static void execute(const struct program *program, uint64_t *state, void *record)
{
	const struct engine_options options = { .on_match = on_match, .context = (void *)program };
	struct event_header *header = record;
	struct engine *engine = NULL;
	uint64_t ts = 1;

	if (engine_new(program, &options, NULL, &engine))
		return;
	for (int i = 0; i < EVENTS; i++) {
		uint64_t step = next_random(state);

		ts += step % 4 ? step % 3 : step >> 34;
		fill_record(program, (uint32_t)(step >> 8) % (program->type_count + 1), state, record);
		header->ts = ts;
		if (engine_feed(engine, record))
			abort();
		if (step >> 61 == 0)
			engine_lose(engine, 1);
	}
	engine_advance(engine, ts + UINT32_MAX);
	engine_free(engine);
}

void image_use(const struct program *program, uint64_t seed)
{
	static uint64_t record[EVENT_RECORD_BYTES_MAX / 8];
	uint64_t state = seed | UINT64_C(1) << 40;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		explain(program, i);
		evaluate(program, &program->rules[i], &state, record);
	}
	execute(program, &state, record);
}
