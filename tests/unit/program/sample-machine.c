// SPDX-License-Identifier: BSD-2-Clause
#include "sample-machine.h"

#include "base/alloc.h"
#include "react/react.h"

#include <stdlib.h>

static uint32_t add(struct program_build *build, enum program_section_id section, const void *item)
{
	return program_build_add(build, section, item, 1);
}

static uint32_t text(struct program_build *build, const char *string)
{
	return program_build_text(build, string);
}

static void set(struct program_build *build, uint32_t slot, uint32_t node)
{
	add(build, PROGRAM_ACTIONS, &(struct program_action){ .op = PROGRAM_SET, .slot = slot, .node = node });
}

static void set_word(struct program_build *build, uint32_t slot, uint64_t word)
{
	set(build, slot, sample_constant(build, U64, word));
}

static void set_key(struct program_build *build, uint32_t x)
{
	set(build, WATCH_PID, sample_node(build, OP(CONVERT), U64, sample_field(build, FIELD_PID), 0));
	set(build, WATCH_X, sample_field(build, x));
}

static void set_context(struct program_build *build)
{
	for (uint32_t i = 0; i < 4; i++)
		set(build, WATCH_CPU + i, sample_field(build, FIELD_CPU + i));
}

/* The trail of an instance that takes transition number, from 1, at time 7 on cpu 1, as process 2 and thread 3. */
static void set_trail(struct program_build *build, uint64_t number)
{
	for (uint32_t i = 0; i < 3; i++)
		set(build, WATCH_TRAIL + 3 + i, sample_slot(build, U64, WATCH_TRAIL + i));
	set(build, WATCH_TRAIL, sample_node(build, OP(CONVERT), U64, sample_field(build, FIELD_TS), 0));
	set_word(build, WATCH_TRAIL + 1, number << 32 | 1);
	set_word(build, WATCH_TRAIL + 2, UINT64_C(2) << 32 | 3);
}

/* Adds a transition that owns the actions added since the one before it. */
static void transition(struct program_build *build, struct program_transition draft)
{
	uint32_t count = program_build_count(build, PROGRAM_TRANSITIONS);
	const struct program_transition *before =
		count ? program_build_get(build, PROGRAM_TRANSITIONS, count - 1) : NULL;

	draft.first_action = before ? before->first_action + before->action_count : 0;
	draft.action_count = program_build_count(build, PROGRAM_ACTIONS) - draft.first_action;
	draft.hold = draft.element = PROGRAM_NONE;
	if (draft.type != PROGRAM_TIMER)
		draft.note = PROGRAM_NONE;
	add(build, PROGRAM_TRANSITIONS, &draft);
}

static void state(struct program_build *build, const char *label, uint32_t first, uint32_t class)
{
	struct program_state row = { .label = text(build, label), .first_transition = first, .class = class };

	row.transition_count = program_build_count(build, PROGRAM_TRANSITIONS) - first;
	add(build, PROGRAM_STATES, &row);
}

static void no_instance(struct program_build *build)
{
	set_key(build, FIELD_A_X);
	set_context(build);
	set_word(build, WATCH_TIMER, 5);
	set_trail(build, WATCH_OPENS + 1);
	transition(build, (struct program_transition){ .type = TYPE_A, .target = 1, .fit = PROGRAM_NONE });
	set_key(build, FIELD_B_X);
	set_trail(build, WATCH_ALONE + 1);
	set_word(build, WATCH_NOTICE, WATCH_LONELY);
	transition(build,
		   (struct program_transition){ .type = TYPE_B, .target = PROGRAM_TARGET_MATCH, .fit = PROGRAM_NONE });
	state(build, "Open", WATCH_OPENS, PROGRAM_NONE);
}

static void states(struct program_build *build)
{
	uint32_t zero =
		sample_node(build, OP(EQ), BOOL, sample_field(build, FIELD_CPU), sample_constant(build, I64, 0));
	struct program_transition ends = { .type = TYPE_C, .target = PROGRAM_TARGET_END, .fit = zero };
	uint32_t note = text(build, "AFTER 5ns");

	set(build, WATCH_X, sample_node(build, OP(CONVERT), I64, sample_field(build, FIELD_B_BIG), 0));
	transition(build, (struct program_transition){
				  .type = TYPE_B, .target = 2, .fit = PROGRAM_NONE, .flags = PROGRAM_COPY });
	set(build, WATCH_TOLD, sample_field(build, FIELD_B_NAME));
	set_trail(build, WATCH_TELLS + 1);
	set_word(build, WATCH_NOTICE, WATCH_WARNING);
	transition(build, (struct program_transition){ .type = TYPE_B,
						       .target = 2,
						       .fit = sample_field(build, FIELD_B_OK),
						       .flags = PROGRAM_TELL });
	transition(build, ends);
	set_word(build, WATCH_NOTICE, WATCH_EMISSION);
	transition(build,
		   (struct program_transition){
			   .type = PROGRAM_TIMER, .target = PROGRAM_TARGET_MATCH, .fit = PROGRAM_NONE, .note = note });
	state(build, "Open", WATCH_COPIES, 0);
	transition(build, ends);
	transition(build, (struct program_transition){
				  .type = PROGRAM_TIMER, .target = 2, .fit = PROGRAM_NONE, .note = note });
	state(build, "Closed", WATCH_ENDS_CLOSED, 0);
}

static void notices(struct program_build *build)
{
	uint32_t x = sample_slot(build, I64, WATCH_X), reported = sample_slot(build, STRING, WATCH_TOLD);
	const struct program_return returns[] = {
		{ text(build, "x"), x, WATCH_WARNING, 0 },
		{ text(build, "told"), reported, WATCH_WARNING, 0 },
		{ text(build, "x"), x, WATCH_LONELY, 0 },
	};
	const struct program_piece pieces[] = {
		{ PROGRAM_NONE, 0 },
		{ text(build, " of "), 1 },
		{ text(build, ", "), 0 },
		{ text(build, "lonely "), 2 },
	};
	const struct program_notice rows[] = { { 0, 3, 0, 0 }, { 0, 0, PROGRAM_NOTICE_SILENT, 0 }, { 3, 1, 0, 0 } };
	const struct program_arg args[] = {
		{ sample_text(build, "now"), REACT_BY_VALUE },
		{ x, FIELD_ALARM_X },
	};
	const struct program_statement statements[] = {
		{ PROGRAM_NONE, text(build, "Message"), 0, 1, WATCH_WARNING },
		{ TYPE_ALARM, PROGRAM_NONE, 1, 1, WATCH_EMISSION },
	};

	program_build_add(build, PROGRAM_RETURNS, returns, 3);
	program_build_add(build, PROGRAM_PIECES, pieces, 4);
	program_build_add(build, PROGRAM_NOTICES, rows, WATCH_NOTICES);
	program_build_add(build, PROGRAM_ARGS, args, 2);
	program_build_add(build, PROGRAM_STATEMENTS, statements, 2);
}

static void slots(struct program_build *build)
{
	static const char *const names[WATCH_SLOTS] = {
		"pid",         "x",      "told 1",     "context cpu",  "context pid", "context tid", "context comm",
		"timer",       "notice", "trail 1 ts", "trail 1 what", "trail 1 who", "trail 2 ts",  "trail 2 what",
		"trail 2 who",
	};
	uint32_t offset = 0;

	for (uint32_t i = 0; i < WATCH_SLOTS; i++) {
		struct program_slot row = { .name = text(build, names[i]), .kind = U64, .offset = offset, .bytes = 8 };

		if (i == WATCH_X || (i >= WATCH_CPU && i <= WATCH_TID))
			row.kind = I64;
		if (i == WATCH_TOLD || i == WATCH_COMM) {
			row.kind = STRING;
			row.bytes = 16;
		}
		offset += row.bytes;
		add(build, PROGRAM_SLOTS, &row);
	}
}

/* INDICES: the key's slots, then per type its fields, then the stream. */
static void keys(struct program_build *build)
{
	const uint32_t indices[] = { WATCH_PID, WATCH_X,      FIELD_PID, FIELD_A_X, FIELD_PID, FIELD_B_X,
				     FIELD_PID, PROGRAM_NONE, TYPE_A,    TYPE_B,    TYPE_C };
	const struct program_key rows[] = { { TYPE_A, 2 }, { TYPE_B, 4 }, { TYPE_C, 6 } };

	program_build_add(build, PROGRAM_INDICES, indices, sizeof indices / sizeof *indices);
	program_build_add(build, PROGRAM_KEYS, rows, 3);
	add(build, PROGRAM_CLASSES,
	    &(struct program_class){ .slot_count = 2, .key_count = 3, .label = text(build, "pid, x") });
}

void *sample_machine_image(size_t *length)
{
	struct program_build *build = program_build_new();
	void *image = NULL;
	struct program_rule rule = {
		.semantics = PROGRAM_MACHINE,
		.flags = PROGRAM_RULE_TIMER,
		.pool = 16,
		.slot_count = WATCH_SLOTS,
		.slot_bytes = WATCH_SLOTS * 8 + 16,
		.state_count = 3,
		.class_count = 1,
		.first_over = 8,
		.over_count = 3,
		.return_count = 3,
		.statement_count = 2,
		.context_slot = WATCH_CPU,
		.notice_count = WATCH_NOTICES,
		.notice_slot = WATCH_NOTICE,
		.timer_slot = WATCH_TIMER,
		.trail_slot = WATCH_TRAIL,
		.trail_count = 2,
	};

	if (!build)
		abort();
	sample_types(build);
	rule.name = rule.source = text(build, "watch");
	rule.place = text(build, "watch.rule:1");
	slots(build);
	no_instance(build);
	states(build);
	notices(build);
	keys(build);
	add(build, PROGRAM_RULES, &rule);
	if (program_build_finish(build, &image, length))
		abort();
	program_build_free(build);
	return image;
}

struct program *sample_machine(void)
{
	struct program *program = NULL;
	size_t length;
	void *image = sample_machine_image(&length);

	if (program_load(image, length, "watch", NULL, &program))
		abort();
	alloc_free(image);
	return program;
}
