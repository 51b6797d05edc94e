// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include "base/alloc.h"
#include "base/severity.h"
#include "event/type.h"
#include "program/section.h"
#include "react/react.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add(struct program_build *build, enum program_section_id section, const void *item)
{
	return program_build_add(build, section, item, 1);
}

static uint32_t add_indices(struct program_build *build, uint32_t count, const uint32_t *indices)
{
	return program_build_add(build, PROGRAM_INDICES, indices, count);
}

#define INDICES(build, ...) \
	add_indices(build, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

static void add_type(struct program_build *build, const char *name, const struct event_field *fields, uint32_t count)
{
	struct program_type type = {
		.name = program_build_text(build, name),
		.first_field = program_build_count(build, PROGRAM_FIELDS),
		.field_count = count,
		.record_bytes = sizeof(struct event_header),
	};

	for (uint32_t i = 0; i < count; i++) {
		struct program_field field = {
			.name = program_build_text(build, fields[i].name),
			.value = fields[i].value,
			.offset = type.record_bytes,
			.bytes = fields[i].bytes,
		};

		add(build, PROGRAM_FIELDS, &field);
		type.record_bytes += field.bytes;
	}
	add(build, PROGRAM_TYPES, &type);
}

void sample_types(struct program_build *build)
{
	static const struct event_field a[] = {
		{ .name = "x", .value = EVENT_I64, .bytes = 8 },
		{ .name = "name", .value = EVENT_STRING, .bytes = 16 },
	};
	static const struct event_field b[] = {
		{ .name = "x", .value = EVENT_I64, .bytes = 8 },
		{ .name = "big", .value = EVENT_U64, .bytes = 8 },
		{ .name = "real", .value = EVENT_F64, .bytes = 8 },
		{ .name = "ok", .value = EVENT_BOOL, .bytes = 8 },
		{ .name = "name", .value = EVENT_STRING, .bytes = 16 },
	};
	static const struct event_field alarm[] = {
		{ .name = "x", .value = EVENT_I32, .bytes = 8 },
		{ .name = "who", .value = EVENT_STRING, .bytes = 16 },
		{ .name = "ratio", .value = EVENT_F64, .bytes = 8 },
	};

	for (int i = 0; i < EVENT_HEADER_FIELDS; i++) {
		struct program_field field = {
			.name = program_build_text(build, event_header_fields[i].name),
			.value = event_header_fields[i].value,
			.offset = event_header_fields[i].offset,
			.bytes = event_header_fields[i].bytes,
		};

		add(build, PROGRAM_FIELDS, &field);
	}
	add_type(build, "A", a, 2);
	add_type(build, "B", b, 5);
	add_type(build, "C", NULL, 0);
	add_type(build, "alarm", alarm, 3);
}

uint32_t sample_constant(struct program_build *build, enum program_kind kind, uint64_t bits)
{
	return add(build, PROGRAM_NODES,
		   &(struct program_node){ .op = PROGRAM_OP_CONST, .kind = kind, .depth = 1, .imm = bits });
}

uint32_t sample_text(struct program_build *build, const char *text)
{
	struct program_node node = {
		.op = PROGRAM_OP_TEXT,
		.kind = PROGRAM_STRING,
		.depth = 1,
		.a = program_build_text(build, text),
		.b = (uint32_t)strlen(text),
	};

	return add(build, PROGRAM_NODES, &node);
}

uint32_t sample_field(struct program_build *build, uint32_t index)
{
	static const uint8_t kinds[] = {
		[EVENT_U64] = PROGRAM_U64,   [EVENT_ADDR] = PROGRAM_U64,      [EVENT_F64] = PROGRAM_F64,
		[EVENT_BOOL] = PROGRAM_BOOL, [EVENT_STRING] = PROGRAM_STRING,
	};
	const struct program_field *field = program_build_get(build, PROGRAM_FIELDS, index);
	struct program_node node = { .op = PROGRAM_OP_FIELD, .depth = 1, .a = index };

	if (field)
		node.kind = kinds[field->value] ? kinds[field->value] : PROGRAM_I64;
	return add(build, PROGRAM_NODES, &node);
}

uint32_t sample_slot(struct program_build *build, enum program_kind kind, uint32_t slot)
{
	return add(build, PROGRAM_NODES,
		   &(struct program_node){ .op = PROGRAM_OP_SLOT, .kind = kind, .depth = 1, .a = slot });
}

uint32_t sample_node(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b)
{
	bool single = op == PROGRAM_OP_CONVERT || op == PROGRAM_OP_LNOT;
	const struct program_node *left = program_build_get(build, PROGRAM_NODES, a);
	const struct program_node *right = program_build_get(build, PROGRAM_NODES, single ? a : b);
	struct program_node node = { .op = op, .kind = kind, .a = a, .b = single ? 0 : b };

	if (left && right)
		node.depth = 1 + (left->depth > right->depth ? left->depth : right->depth);
	return add(build, PROGRAM_NODES, &node);
}

static uint32_t slot(struct program_build *build, const char *name, uint32_t kind, uint32_t offset, uint32_t bytes)
{
	return add(build, PROGRAM_SLOTS,
		   &(struct program_slot){ program_build_text(build, name), kind, offset, bytes });
}

static uint32_t action(struct program_build *build, uint32_t op, uint32_t to, uint32_t node)
{
	return add(build, PROGRAM_ACTIONS, &(struct program_action){ .op = op, .slot = to, .node = node });
}

/* Adds a transition that owns the actions added since the one before it. */
static void transition(struct program_build *build, struct program_transition draft)
{
	uint32_t transitions = program_build_count(build, PROGRAM_TRANSITIONS);
	const struct program_transition *before = NULL;

	if (transitions)
		before = program_build_get(build, PROGRAM_TRANSITIONS, transitions - 1);
	draft.first_action = before ? before->first_action + before->action_count : 0;
	draft.action_count = program_build_count(build, PROGRAM_ACTIONS) - draft.first_action;
	add(build, PROGRAM_TRANSITIONS, &draft);
}

/* Adds a state that owns the transitions added since the one before it. */
static void state(struct program_build *build, const char *label, uint32_t class, uint32_t flags)
{
	uint32_t states = program_build_count(build, PROGRAM_STATES);
	const struct program_state *before = NULL;
	struct program_state draft = { .label = program_build_text(build, label), .class = class, .flags = flags };

	if (states)
		before = program_build_get(build, PROGRAM_STATES, states - 1);
	draft.first_transition = before ? before->first_transition + before->transition_count : 0;
	draft.transition_count = program_build_count(build, PROGRAM_TRANSITIONS) - draft.first_transition;
	add(build, PROGRAM_STATES, &draft);
}

/* A rule that owns nothing yet. */
static struct program_rule begin_rule(struct program_build *build, const char *name, const char *source)
{
	return (struct program_rule){
		.name = program_build_text(build, name),
		.semantics = PROGRAM_SKIP_TILL_NEXT,
		.pool = 1024,
		.first_element = program_build_count(build, PROGRAM_ELEMENTS),
		.first_slot = program_build_count(build, PROGRAM_SLOTS),
		.first_state = program_build_count(build, PROGRAM_STATES),
		.first_class = program_build_count(build, PROGRAM_CLASSES),
		.first_return = program_build_count(build, PROGRAM_RETURNS),
		.first_statement = program_build_count(build, PROGRAM_STATEMENTS),
		.context_slot = PROGRAM_NONE,
		.place = program_build_text(build, "sample.rule:1"),
		.source = program_build_text(build, source),
	};
}

/* The rule owns what was added since begin_rule. */
static void end_rule(struct program_build *build, struct program_rule rule)
{
	rule.element_count = program_build_count(build, PROGRAM_ELEMENTS) - rule.first_element;
	rule.slot_count = program_build_count(build, PROGRAM_SLOTS) - rule.first_slot;
	rule.state_count = program_build_count(build, PROGRAM_STATES) - rule.first_state;
	rule.class_count = program_build_count(build, PROGRAM_CLASSES) - rule.first_class;
	rule.return_count = program_build_count(build, PROGRAM_RETURNS) - rule.first_return;
	rule.statement_count = program_build_count(build, PROGRAM_STATEMENTS) - rule.first_statement;
	add(build, PROGRAM_RULES, &rule);
}

static void element(struct program_build *build, uint32_t type, const char *name, uint32_t flags)
{
	add(build, PROGRAM_ELEMENTS,
	    &(struct program_element){ .type = type, .name = program_build_text(build, name), .flags = flags });
}

enum { PAIR_TID, PAIR_A_X, PAIR_COUNT, PAIR_MAX, PAIR_WHO, PAIR_SUM };

/* [A a, B[] b, C] by tid: the array keeps its greatest `real` and counts. */
static void pair_states(struct program_build *build)
{
	uint32_t fit = sample_node(build, PROGRAM_OP_GT, PROGRAM_BOOL, sample_field(build, FIELD_A_X),
				   sample_constant(build, PROGRAM_I64, 3));
	uint32_t name = sample_node(build, PROGRAM_OP_LIKE, PROGRAM_BOOL, sample_field(build, FIELD_B_NAME),
				    sample_text(build, "c*\n"));
	uint32_t more = sample_node(build, PROGRAM_OP_LT, PROGRAM_BOOL, sample_slot(build, PROGRAM_I64, PAIR_A_X),
				    sample_field(build, FIELD_B_BIG));
	uint32_t hold = sample_node(build, PROGRAM_OP_LE, PROGRAM_BOOL, sample_slot(build, PROGRAM_I64, PAIR_COUNT),
				    sample_constant(build, PROGRAM_I64, 7));
	uint32_t count = sample_node(build, PROGRAM_OP_ADD, PROGRAM_I64, sample_slot(build, PROGRAM_I64, PAIR_COUNT),
				     sample_constant(build, PROGRAM_I64, 1));

	action(build, PROGRAM_SET, PAIR_TID, sample_field(build, FIELD_TID));
	action(build, PROGRAM_SET, PAIR_A_X, sample_field(build, FIELD_A_X));
	action(build, PROGRAM_SET, PAIR_WHO, sample_field(build, FIELD_COMM));
	transition(build, (struct program_transition){ .type = TYPE_A,
						       .target = 1,
						       .fit = fit,
						       .hold = PROGRAM_NONE,
						       .element = 0,
						       .note = program_build_text(build, "A:a opens") });
	state(build, "start", PROGRAM_NONE, 0);

	action(build, PROGRAM_SET, PAIR_COUNT, count);
	action(build, PROGRAM_MAX, PAIR_MAX, sample_field(build, FIELD_B_REAL));
	transition(build,
		   (struct program_transition){ .type = TYPE_B,
						.target = 2,
						.fit = sample_node(build, PROGRAM_OP_LAND, PROGRAM_BOOL, name, more),
						.hold = hold,
						.element = 1,
						.note = PROGRAM_NONE });
	state(build, "after a", 0, 0);

	action(build, PROGRAM_SET, PAIR_COUNT, count);
	transition(build, (struct program_transition){ .type = TYPE_B,
						       .target = 2,
						       .fit = name,
						       .hold = hold,
						       .element = 1,
						       .note = program_build_text(build, "b again") });
	transition(build, (struct program_transition){ .type = TYPE_B,
						       .target = PROGRAM_TARGET_END,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = PROGRAM_NONE,
						       .note = program_build_text(build, "too many") });
	transition(build, (struct program_transition){ .type = TYPE_C,
						       .target = PROGRAM_TARGET_MATCH,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = 2,
						       .note = PROGRAM_NONE });
	state(build, "in \"b\" & \\c", 0, 0);
}

static void pair_results(struct program_build *build)
{
	uint32_t x = sample_slot(build, PROGRAM_I64, PAIR_A_X);
	uint32_t ratio = sample_node(build, PROGRAM_OP_DIV, PROGRAM_F64, sample_slot(build, PROGRAM_F64, PAIR_MAX),
				     sample_constant(build, PROGRAM_F64, 0x4000000000000000));
	struct program_arg args[] = {
		{ x, FIELD_ALARM_X },
		{ ratio, FIELD_ALARM_RATIO },
		{ sample_text(build, "now"), REACT_BY_VALUE },
		{ sample_slot(build, PROGRAM_STRING, PAIR_WHO), REACT_BY_VALUE },
	};
	uint32_t first = program_build_add(build, PROGRAM_ARGS, args, 4);

	add(build, PROGRAM_RETURNS, &(struct program_return){ program_build_text(build, "a.x"), x });
	add(build, PROGRAM_RETURNS, &(struct program_return){ program_build_text(build, "b.real / 2"), ratio });
	add(build, PROGRAM_STATEMENTS, &(struct program_statement){ TYPE_ALARM, PROGRAM_NONE, first, 2 });
	add(build, PROGRAM_STATEMENTS,
	    &(struct program_statement){ PROGRAM_NONE, program_build_text(build, "Message"), first + 2, 2 });
}

static void add_pair(struct program_build *build)
{
	struct program_rule rule = begin_rule(build, "pair", "PATTERN { [A a, B[] b, C] } WHERE { [tid] }");
	uint32_t tid, keys;

	element(build, TYPE_A, "a", 0);
	element(build, TYPE_B, "b", PROGRAM_ELEMENT_ARRAY);
	element(build, TYPE_C, NULL, 0);
	slot(build, "a.tid", PROGRAM_I64, 0, 8);
	slot(build, "a.x", PROGRAM_I64, 8, 8);
	slot(build, "b.len", PROGRAM_I64, 16, 8);
	slot(build, "b.max.real", PROGRAM_F64, 24, 8);
	slot(build, "a.comm", PROGRAM_STRING, 32, 16);
	slot(build, NULL, PROGRAM_U64, 48, 8);
	rule.slot_bytes = 64;
	rule.flags = PROGRAM_RULE_SEQUENCE;
	rule.first_over = INDICES(build, TYPE_A, TYPE_B, TYPE_C);
	rule.over_count = 3;
	tid = INDICES(build, FIELD_TID);
	keys = program_build_add(build, PROGRAM_KEYS, (struct program_key[]){ { TYPE_B, tid }, { TYPE_C, tid } }, 2);
	add(build, PROGRAM_CLASSES,
	    &(struct program_class){ .first_slot = INDICES(build, PAIR_TID),
				     .slot_count = 1,
				     .first_key = keys,
				     .key_count = 2,
				     .label = program_build_text(build, "tid") });
	pair_states(build);
	pair_results(build);
	end_rule(build, rule);
}

enum { SILENCE_CPU, SILENCE_PID, SILENCE_TID, SILENCE_COMM, SILENCE_X };

static void silence_states(struct program_build *build)
{
	uint32_t same = sample_node(build, PROGRAM_OP_EQ, PROGRAM_BOOL, sample_field(build, FIELD_B_X),
				    sample_slot(build, PROGRAM_I64, SILENCE_X));
	struct program_transition draft = {
		.type = TYPE_A, .target = 1, .fit = PROGRAM_NONE, .hold = PROGRAM_NONE, .note = PROGRAM_NONE
	};

	for (uint32_t i = 0; i < 4; i++)
		action(build, PROGRAM_SET, SILENCE_CPU + i, sample_field(build, FIELD_CPU + i));
	action(build, PROGRAM_SET, SILENCE_X, sample_field(build, FIELD_A_X));
	transition(build, draft);
	state(build, "start", PROGRAM_NONE, 0);

	draft.element = PROGRAM_NONE;
	draft.flags = PROGRAM_IN_PLACE;
	draft.type = TYPE_B;
	draft.target = 2;
	draft.fit = same;
	transition(build, draft);
	draft.flags = PROGRAM_FORBID;
	draft.type = TYPE_C;
	draft.target = PROGRAM_TARGET_END;
	draft.fit = PROGRAM_NONE;
	draft.note = program_build_text(build, "C:c is forbidden");
	transition(build, draft);
	draft.note = PROGRAM_NONE;
	state(build, "quiet", 0, PROGRAM_STATE_DEADLINE);

	draft.type = TYPE_B;
	draft.fit = same;
	transition(build, draft);
	draft.fit = PROGRAM_NONE;
	draft.type = TYPE_C;
	transition(build, draft);
	state(build, "one b", 0, PROGRAM_STATE_DEADLINE);
}

/* AGGREGATE { COUNT, SUM(a.x) } BY { comm } TOP 3 EVERY 5s DELTA */
static uint32_t add_aggregation(struct program_build *build)
{
	const struct program_aggregate rows[] = {
		{ program_build_text(build, "comm"), PROGRAM_BY, sample_slot(build, PROGRAM_STRING, SILENCE_COMM), 0 },
		{ program_build_text(build, "COUNT"), PROGRAM_COUNT_OF, PROGRAM_NONE, 0 },
		{ program_build_text(build, "SUM(a.x)"), PROGRAM_SUM_OF, sample_slot(build, PROGRAM_I64, SILENCE_X),
		  0 },
	};
	uint32_t first = program_build_add(build, PROGRAM_AGGREGATES, rows, 3);

	return add(build, PROGRAM_AGGREGATIONS,
		   &(struct program_aggregation){ .first_by = first,
						  .by_count = 1,
						  .first_aggregate = first + 1,
						  .aggregate_count = 2,
						  .top = 3,
						  .flags = PROGRAM_AGGREGATION_DELTA,
						  .every_ns = 5000000000 });
}

static void add_silence(struct program_build *build)
{
	struct program_rule rule = begin_rule(build, "silence", "PATTERN { [A a, ~[B, B], ~C] } WITHIN 1s");
	uint32_t keys;

	element(build, TYPE_A, "a", 0);
	element(build, TYPE_B, NULL, PROGRAM_ELEMENT_NEGATED);
	element(build, TYPE_B, NULL, PROGRAM_ELEMENT_NEGATED);
	element(build, TYPE_C, NULL, PROGRAM_ELEMENT_NEGATED);
	slot(build, "cpu", PROGRAM_I64, 0, 8);
	slot(build, "pid", PROGRAM_I64, 8, 8);
	slot(build, "tid", PROGRAM_I64, 16, 8);
	slot(build, "comm", PROGRAM_STRING, 24, 16);
	slot(build, "a.x", PROGRAM_I64, 40, 8);
	rule.slot_bytes = 48;
	rule.semantics = PROGRAM_SKIP_TILL_ANY;
	rule.flags = PROGRAM_RULE_DEADLINE;
	rule.loss = PROGRAM_DISCARD;
	rule.mode = PROGRAM_ASYNCHRONOUS;
	rule.within_ns = 1000000000;
	rule.context_slot = SILENCE_CPU;
	rule.first_over = INDICES(build, TYPE_C, TYPE_B, TYPE_A);
	rule.over_count = 3;
	keys = program_build_add(build, PROGRAM_KEYS, (struct program_key[]){ { TYPE_C, 0 }, { TYPE_B, 0 } }, 2);
	add(build, PROGRAM_CLASSES,
	    &(struct program_class){
		    .first_key = keys, .key_count = 2, .label = program_build_text(build, "all runs") });
	silence_states(build);
	rule.aggregation = 1 + add_aggregation(build);
	end_rule(build, rule);
}

static void add_strict(struct program_build *build)
{
	struct program_rule rule = begin_rule(build, "strict", "STRICTSEQUENCE PATTERN { [A, B] } OVER { * }");
	uint32_t keys;

	element(build, TYPE_A, NULL, 0);
	element(build, TYPE_B, NULL, 0);
	rule.semantics = PROGRAM_STRICT_SEQUENCE;
	rule.flags = PROGRAM_RULE_OVER_ALL;
	rule.loss = PROGRAM_KEEP;
	rule.mode = PROGRAM_SYNCHRONOUS;
	rule.within_ns = 5;
	keys = program_build_add(build, PROGRAM_KEYS, (struct program_key[]){ { TYPE_B, 0 }, { PROGRAM_NONE, 0 } }, 2);
	add(build, PROGRAM_CLASSES,
	    &(struct program_class){ .first_key = keys, .key_count = 2, .label = PROGRAM_NONE });
	transition(build, (struct program_transition){ .type = TYPE_A,
						       .target = 1,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = 0,
						       .note = PROGRAM_NONE });
	state(build, NULL, PROGRAM_NONE, 0);
	transition(build, (struct program_transition){ .type = TYPE_B,
						       .target = PROGRAM_TARGET_MATCH,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = 1,
						       .note = PROGRAM_NONE });
	state(build, NULL, 0, 0);
	end_rule(build, rule);
}

static void add_dropping(struct program_build *build)
{
	struct program_rule rule = begin_rule(build, "dropping", "PATTERN { [alarm l, A] } AFTER MATCH DROP");
	uint32_t fields, key;

	element(build, TYPE_ALARM, "l", 0);
	element(build, TYPE_A, NULL, 0);
	slot(build, "l.who", PROGRAM_STRING, 0, 16);
	slot(build, "l.x", PROGRAM_I64, 16, 8);
	rule.slot_bytes = 24;
	rule.flags = PROGRAM_RULE_DROP;
	rule.first_over = INDICES(build, TYPE_ALARM, TYPE_A);
	rule.over_count = 2;
	fields = INDICES(build, FIELD_A_NAME, FIELD_A_X);
	key = add(build, PROGRAM_KEYS, &(struct program_key){ TYPE_A, fields });
	for (int i = 0; i < 2; i++) {
		add(build, PROGRAM_CLASSES,
		    &(struct program_class){ .first_slot = INDICES(build, 0, 1),
					     .slot_count = 2,
					     .first_key = key,
					     .key_count = 1 - i,
					     .label = program_build_text(build, "name, x") });
		key++;
	}
	action(build, PROGRAM_SET, 0, sample_field(build, FIELD_ALARM_WHO));
	action(build, PROGRAM_SET, 1, sample_field(build, FIELD_ALARM_X));
	transition(build, (struct program_transition){ .type = TYPE_ALARM,
						       .target = 1,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = 0,
						       .note = PROGRAM_NONE });
	state(build, "start", PROGRAM_NONE, 0);
	transition(build, (struct program_transition){ .type = TYPE_A,
						       .target = PROGRAM_TARGET_MATCH,
						       .fit = PROGRAM_NONE,
						       .hold = PROGRAM_NONE,
						       .element = 1,
						       .note = PROGRAM_NONE });
	state(build, "alarmed", 0, 0);
	end_rule(build, rule);
}

void *sample_image(size_t *length)
{
	struct program_build *build = program_build_new();
	struct program_rule *label;
	void *image = NULL;
	uint32_t tags;

	if (!build)
		abort();
	sample_types(build);
	add_pair(build);
	add_silence(build);
	add_strict(build);
	add_dropping(build);
	/* Nobody's: for tests that take another key or close the circle of emissions. */
	INDICES(build, FIELD_PID);
	tags = INDICES(build, program_build_text(build, "T1499"), program_build_text(build, "cpu"));
	label = program_build_get(build, PROGRAM_RULES, RULE_DROPPING);
	label->severity = SEVERITY_HIGH;
	label->first_tag = tags;
	label->tag_count = 2;
	label->description = 1 + program_build_text(build, "an alarm");
	add(build, PROGRAM_STATEMENTS,
	    &(struct program_statement){ TYPE_C, PROGRAM_NONE, program_build_count(build, PROGRAM_ARGS), 0 });
	if (program_build_finish(build, &image, length))
		abort();
	program_build_free(build);
	return image;
}

void *sample_item(void *image, enum program_section_id section, uint32_t index)
{
	const struct program_header *header = image;

	if (index >= header->sections[section].count)
		abort();
	return (char *)image + header->sections[section].offset + index * program_section_shapes[section].item_bytes;
}

void sample_seal(void *image, size_t length)
{
	struct program_header *header = image;

	header->checksum = program_image_checksum(header, length);
}

struct program *sample_program(void)
{
	struct program *program = NULL;
	size_t length;
	void *image = sample_image(&length);

	if (program_load(image, length, "sample", NULL, &program))
		abort();
	alloc_free(image);
	return program;
}
