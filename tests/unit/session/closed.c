// SPDX-License-Identifier: BSD-2-Clause
/* Makes the machine of the tests. No loader has seen it. */

#include "closed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char texts[] =
	"closed\0used\0Open\0Closed\0use \0 of \0 \0fd\0uses\0name\0gone\0 is\0ratio\0Message\0by {}\0"
	"Count\0Kill\0late";

static uint32_t text(const char *wanted)
{
	size_t at = 0;

	while (at < sizeof texts && strcmp(texts + at, wanted) != 0)
		at += strlen(texts + at) + 1;
	assert_true(at < sizeof texts);
	return (uint32_t)at;
}

enum { NODE_FD, NODE_USES, NODE_NAME, NODE_RATIO, NODE_BY, NODE_COUNTER, NODE_ZERO };

static void make_nodes(struct closed *closed)
{
	const struct program_node nodes[] = {
		[NODE_FD] = { .op = PROGRAM_OP_SLOT, .kind = PROGRAM_I64, .a = SLOT_FD },
		[NODE_USES] = { .op = PROGRAM_OP_SLOT, .kind = PROGRAM_U64, .a = SLOT_USES },
		[NODE_NAME] = { .op = PROGRAM_OP_SLOT, .kind = PROGRAM_STRING, .a = SLOT_NAME },
		[NODE_RATIO] = { .op = PROGRAM_OP_DIV, .kind = PROGRAM_U64, .a = NODE_USES, .b = NODE_ZERO },
		[NODE_BY] = { .op = PROGRAM_OP_TEXT, .kind = PROGRAM_STRING, .a = text("by {}"), .b = 5 },
		[NODE_COUNTER] = { .op = PROGRAM_OP_TEXT, .kind = PROGRAM_STRING, .a = text("late"), .b = 4 },
		[NODE_ZERO] = { .op = PROGRAM_OP_CONST, .kind = PROGRAM_U64 },
	};

	memcpy(closed->nodes, nodes, sizeof nodes);
}

static void make_notices(struct closed *closed)
{
	const struct program_return returns[RETURNS] = {
		{ text("uses"), NODE_USES, WARNS }, { text("fd"), NODE_FD, WARNS }, { text("name"), NODE_NAME, WARNS },
		{ text("ratio"), NODE_RATIO, ODD }, { text("fd"), NODE_FD, ODD },
	};
	const struct program_statement statements[STATEMENTS] = {
		{ PROGRAM_NONE, text("Message"), 0, 2, WARNS },
		{ PROGRAM_NONE, text("Count"), 2, 1, COUNTS },
		{ PROGRAM_NONE, text("Kill"), 3, 1, WARNS },
		{ PROGRAM_NONE, text("Count"), 2, 1, PLAIN },
	};
	const struct program_arg args[] = { { NODE_BY, 0 }, { NODE_NAME, 0 }, { NODE_COUNTER, 0 }, { NODE_FD, 0 } };
	const struct program_notice notices[NOTICES] = {
		[WARNS - 1] = { 0, 4 }, [COUNTS - 1] = { 4, 0 }, [PLAIN - 1] = { 4, 1 }, [ODD - 1] = { 5, 2 }
	};
	const struct program_piece pieces[PIECES] = {
		{ text("use "), 0 },
		{ text(" of "), 1 },
		{ text(" "), PROGRAM_NONE },
		{ PROGRAM_NONE, 2 },
		{ text("gone"), PROGRAM_NONE },
		{ PROGRAM_NONE, 3 },
		{ text(" is"), 4 },
	};

	memcpy(closed->returns, returns, sizeof returns);
	memcpy(closed->statements, statements, sizeof statements);
	memcpy(closed->args, args, sizeof args);
	memcpy(closed->notices, notices, sizeof notices);
	memcpy(closed->pieces, pieces, sizeof pieces);
}

/* Open -closed-> Closed -used-> Closed, -AFTER-> END. */
static void make_states(struct closed *closed)
{
	const struct program_transition transitions[] = {
		{ .type = 0, .target = 1 },
		{ .type = 1, .target = 1, .flags = PROGRAM_TELL },
		{ .type = PROGRAM_TIMER, .target = PROGRAM_TARGET_MATCH },
	};

	closed->types[0].name = text("closed");
	closed->types[1].name = text("used");
	closed->states[0] = (struct program_state){ .label = text("Open"), .transition_count = 1 };
	closed->states[1] =
		(struct program_state){ .label = text("Closed"), .first_transition = 1, .transition_count = 2 };
	memcpy(closed->transitions, transitions, sizeof transitions);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t offset =
			i <= SLOT_NAME ? i * 8 : (uint32_t)offsetof(struct slots, trail) + (i - SLOT_TRAIL) * 8;

		closed->slots[i] = (struct program_slot){ PROGRAM_NONE, PROGRAM_U64, offset, 8 };
	}
	closed->slots[SLOT_NAME].bytes = sizeof closed->instance.name;
}

void closed_make(struct closed *closed)
{
	*closed = (struct closed){ 0 };
	make_nodes(closed);
	make_notices(closed);
	make_states(closed);
	closed->header.sections[PROGRAM_STATEMENTS].count = STATEMENTS;
	closed->header.sections[PROGRAM_NOTICES].count = NOTICES;
	closed->rule = (struct program_rule){ .name = text("closed"),
					      .semantics = PROGRAM_MACHINE,
					      .slot_count = SLOTS,
					      .slot_bytes = sizeof closed->instance,
					      .state_count = 2,
					      .return_count = RETURNS,
					      .statement_count = STATEMENTS,
					      .notice_count = NOTICES,
					      .notice_slot = SLOT_NOTICE,
					      .trail_slot = SLOT_TRAIL,
					      .trail_count = TRAIL };
	closed->program = (struct program){ .header = &closed->header,
					    .strings = texts,
					    .types = closed->types,
					    .rules = &closed->rule,
					    .slots = closed->slots,
					    .states = closed->states,
					    .transitions = closed->transitions,
					    .nodes = closed->nodes,
					    .returns = closed->returns,
					    .statements = closed->statements,
					    .args = closed->args,
					    .notices = closed->notices,
					    .pieces = closed->pieces,
					    .type_count = 2,
					    .rule_count = 1 };
	closed->instance = (struct slots){ .fd = 4, .uses = 2, .name = "a\n\x1b\"b" };
	closed->match = (struct program_match){
		.ts = 3001200000, .cpu = 1, .pid = 7, .tid = 8, .comm = "c\x1bp", .slots = &closed->instance
	};
}

void closed_report(struct closed *closed, uint32_t notice)
{
	closed->match.notice = (uint32_t)(closed->instance.notice = notice);
}

void closed_step(struct closed *closed, uint64_t ts, uint64_t transition, uint64_t cpu)
{
	memmove(closed->instance.trail[1], closed->instance.trail[0], (TRAIL - 1) * sizeof closed->instance.trail[0]);
	closed->instance.trail[0][0] = ts;
	closed->instance.trail[0][1] = transition << 32 | cpu;
	closed->instance.trail[0][2] = UINT64_C(7) << 32 | (7 + cpu);
}
