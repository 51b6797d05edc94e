// SPDX-License-Identifier: BSD-2-Clause
/*
 * Program images as an attacker writes them: the checksum is always right, the rest is not. What the loader accepts is
 * explained, evaluated and executed. Mutations keep the size and mostly hit whole words of the tables, since nearly
 * everything in an image is one.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "engine/engine.h"
#include "event/type.h"
#include "program/eval.h"
#include "program/explain.h"
#include "program/machine.h"
#include "program/section.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

enum { POOL_MAX = 64, EVENTS = 48 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Whether a section lies within the image and leaves the header alone, so that it can be written to. */
static bool holds_section(const struct program_header *header, size_t size, int section)
{
	size_t bytes = header->sections[section].count * program_section_shapes[section].item_bytes;
	size_t offset = header->sections[section].offset;

	return offset >= sizeof *header && offset <= size && bytes <= size - offset;
}

/* A header that fits the bytes, and pools that a test can afford. */
static void seal(void *image, size_t size)
{
	struct program_header *header = image;

	memcpy(header->magic, PROGRAM_MAGIC, sizeof header->magic);
	header->version = PROGRAM_VERSION;
	header->header_bytes = sizeof *header;
	header->total_bytes = (uint32_t)size;
	if (holds_section(header, size, PROGRAM_RULES)) {
		char *rules = (char *)image + header->sections[PROGRAM_RULES].offset;

		for (uint32_t i = 0; i < header->sections[PROGRAM_RULES].count; i++) {
			char *at = rules + i * sizeof(struct program_rule) + offsetof(struct program_rule, pool);
			uint64_t pool;

			memcpy(&pool, at, sizeof pool);
			pool = pool > POOL_MAX ? POOL_MAX : pool;
			memcpy(at, &pool, sizeof pool);
		}
	}
	header->checksum = program_image_checksum(header, size);
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

static void use(const struct program *program, const uint8_t *data, size_t size)
{
	static uint64_t record[EVENT_RECORD_BYTES_MAX / 8];
	uint64_t state = program_checksum(data, size) | UINT64_C(1) << 40;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		explain(program, i);
		evaluate(program, &program->rules[i], &state, record);
	}
	execute(program, &state, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	uint8_t *image = NULL;

	if (size >= sizeof(struct program_header)) {
		image = malloc(size); /* exactly, so that the copy is seen to be taken within bounds */
		memcpy(image, data, size);
		seal(image, size);
	}
	int result = program_load(image ? image : data, size, "fuzz", diag, &program);

	if (!result)
		use(program, data, size);
	else if (asterism_diag_count(diag, ASTERISM_ERROR) != 1)
		abort();
	program_free(program);
	asterism_diag_free(diag);
	free(image);
	return 0;
}

/* A value that means something: a small number, a neighbour of what is there, a marker, another word of the image. */
static uint32_t likely_word(const uint8_t *data, size_t size, uint32_t old, uint64_t *state)
{
	static const uint32_t markers[] = { PROGRAM_NONE, PROGRAM_TARGET_END, PROGRAM_TARGET_MATCH, INT32_MAX,
					    1 << 16 };
	uint64_t draw = next_random(state);
	uint32_t word;

	switch (draw % 4) {
	case 0:
		return (uint32_t)(draw >> 32) % 9;
	case 1:
		return old + (draw & 16 ? 1 : -1);
	case 2:
		return markers[(draw >> 32) % (sizeof markers / sizeof *markers)];
	default:
		memcpy(&word, data + (draw >> 8) % (size / 4) * 4, sizeof word);
		return word;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	const struct program_header *header = (const void *)data;
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	int section = (int)(next_random(&state) % PROGRAM_SECTION_COUNT);

	if (size < sizeof *header || size % 4 || next_random(&state) % 8 == 0 ||
	    !holds_section(header, size, section) || !header->sections[section].count)
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
	size_t bytes = header->sections[section].count * program_section_shapes[section].item_bytes;
	uint8_t *items = data + header->sections[section].offset;

	for (uint64_t n = next_random(&state) % 3; n < 3 && bytes >= 4; n++) {
		uint8_t *at = items + next_random(&state) % (bytes / 4) * 4;
		uint32_t word;

		memcpy(&word, at, sizeof word);
		word = likely_word(data, size, word, &state);
		memcpy(at, &word, sizeof word);
	}
	return size;
}
