// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is told and done of a machine's matches, by tables written by hand: an instance of a machine `closed` with the
 * key fd, its notices, and a trail of four places.
 */

#include "program/calls.h"
#include "program/machine.h"
#include "program/values.h"
#include "session/asks.h"
#include "session/kept-match.h"
#include "session/reactions.h"
#include "session/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRAIL = 4 };

/* WARNS: two pieces with values and CALLs. COUNTS: CALL Count alone. PLAIN: a text alone. ODD: what divides by zero. */
enum { NO_NOTICE, WARNS, COUNTS, PLAIN, ODD, NOTICES = ODD };

enum { SLOT_NOTICE, SLOT_FD, SLOT_USES, SLOT_NAME, SLOT_TRAIL, SLOTS = SLOT_TRAIL + TRAIL * PROGRAM_TRAIL_WORDS };

struct slots {
	uint64_t notice, fd, uses;
	char name[32];
	uint64_t trail[TRAIL][PROGRAM_TRAIL_WORDS]; /* newest first */
};

static const char texts[] =
	"closed\0used\0Open\0Closed\0use \0 of \0 \0fd\0uses\0name\0gone\0 is\0ratio\0Message\0by {}\0"
	"Count\0Kill\0late";

enum { PIECES = 8, RETURNS = 5, STATEMENTS = 4 };

struct rig {
	struct program program;
	struct program_header header;
	struct program_type types[2];
	struct program_rule rule;
	struct program_slot slots[SLOTS];
	struct program_state states[2];
	struct program_transition transitions[3];
	struct program_node nodes[8];
	struct program_return returns[RETURNS];
	struct program_statement statements[STATEMENTS];
	struct program_arg args[8];
	struct program_notice notices[NOTICES];
	struct program_piece pieces[PIECES];
	struct slots instance;
	struct program_match match;
};

static uint32_t text(const char *wanted)
{
	size_t at = 0;

	while (at < sizeof texts && strcmp(texts + at, wanted) != 0)
		at += strlen(texts + at) + 1;
	assert_true(at < sizeof texts);
	return (uint32_t)at;
}

enum { NODE_FD, NODE_USES, NODE_NAME, NODE_RATIO, NODE_BY, NODE_COUNTER, NODE_ZERO };

static void make_nodes(struct rig *rig)
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

	memcpy(rig->nodes, nodes, sizeof nodes);
}

static void make_notices(struct rig *rig)
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

	memcpy(rig->returns, returns, sizeof returns);
	memcpy(rig->statements, statements, sizeof statements);
	memcpy(rig->args, args, sizeof args);
	memcpy(rig->notices, notices, sizeof notices);
	memcpy(rig->pieces, pieces, sizeof pieces);
}

/* Open -closed-> Closed -used-> Closed, -AFTER-> END. */
static void make_states(struct rig *rig)
{
	const struct program_transition transitions[] = {
		{ .type = 0, .target = 1 },
		{ .type = 1, .target = 1, .flags = PROGRAM_TELL },
		{ .type = PROGRAM_TIMER, .target = PROGRAM_TARGET_MATCH },
	};

	rig->types[0].name = text("closed");
	rig->types[1].name = text("used");
	rig->states[0] = (struct program_state){ .label = text("Open"), .transition_count = 1 };
	rig->states[1] =
		(struct program_state){ .label = text("Closed"), .first_transition = 1, .transition_count = 2 };
	memcpy(rig->transitions, transitions, sizeof transitions);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t offset =
			i <= SLOT_NAME ? i * 8 : (uint32_t)offsetof(struct slots, trail) + (i - SLOT_TRAIL) * 8;

		rig->slots[i] = (struct program_slot){ PROGRAM_NONE, PROGRAM_U64, offset, 8 };
	}
	rig->slots[SLOT_NAME].bytes = sizeof rig->instance.name;
}

static void make(struct rig *rig)
{
	*rig = (struct rig){ 0 };
	make_nodes(rig);
	make_notices(rig);
	make_states(rig);
	rig->header.sections[PROGRAM_STATEMENTS].count = STATEMENTS;
	rig->header.sections[PROGRAM_NOTICES].count = NOTICES;
	rig->rule = (struct program_rule){ .name = text("closed"),
					   .semantics = PROGRAM_MACHINE,
					   .slot_count = SLOTS,
					   .slot_bytes = sizeof rig->instance,
					   .state_count = 2,
					   .return_count = RETURNS,
					   .statement_count = STATEMENTS,
					   .notice_count = NOTICES,
					   .notice_slot = SLOT_NOTICE,
					   .trail_slot = SLOT_TRAIL,
					   .trail_count = TRAIL };
	rig->program = (struct program){ .header = &rig->header,
					 .strings = texts,
					 .types = rig->types,
					 .rules = &rig->rule,
					 .slots = rig->slots,
					 .states = rig->states,
					 .transitions = rig->transitions,
					 .nodes = rig->nodes,
					 .returns = rig->returns,
					 .statements = rig->statements,
					 .args = rig->args,
					 .notices = rig->notices,
					 .pieces = rig->pieces,
					 .type_count = 2,
					 .rule_count = 1 };
	rig->instance = (struct slots){ .fd = 4, .uses = 2, .name = "a\n\x1b\"b" };
	rig->match = (struct program_match){
		.ts = 3001200000, .cpu = 1, .pid = 7, .tid = 8, .comm = "c\x1bp", .slots = &rig->instance
	};
}

static void tell(struct rig *rig, uint32_t notice)
{
	rig->match.notice = (uint32_t)(rig->instance.notice = notice);
}

/* A step of the trail, the newest so far: transition is counted from 1. */
static void step(struct rig *rig, uint64_t ts, uint64_t transition, uint64_t cpu)
{
	memmove(rig->instance.trail[1], rig->instance.trail[0], (TRAIL - 1) * sizeof rig->instance.trail[0]);
	rig->instance.trail[0][0] = ts;
	rig->instance.trail[0][1] = transition << 32 | cpu;
	rig->instance.trail[0][2] = UINT64_C(7) << 32 | (7 + cpu);
}

static void assert_written(const struct rig *rig, bool as_text, const char *expected)
{
	char *written = NULL;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	if (as_text)
		result_write_text(stream, &rig->program, &rig->match);
	else
		result_write_json(stream, &rig->program, &rig->match);
	fclose(stream);
	assert_string_equal(written, expected);
	free(written);
}

static void json_has_what_belongs_to_the_notice(void **state)
{
	struct rig rig;

	(void)state;
	make(&rig);
	tell(&rig, WARNS);
	step(&rig, 3000000000, 1, 0);
	step(&rig, 3001200000, 2, 1);
	assert_written(
		&rig, false,
		"{\"match\":\"closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,\"tid\":8,\"comm\":\"c\\u001bp\","
		"\"warning\":\"use 2 of 4 a\\n\\u001b\\\"b\",\"return\":{\"uses\":2,\"fd\":4,"
		"\"name\":\"a\\n\\u001b\\\"b\"},\"trail\":["
		"{\"event\":\"closed\",\"from\":\"Open\",\"to\":\"Closed\",\"ts\":3000000000,\"cpu\":0,\"pid\":7,"
		"\"tid\":7},"
		"{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,"
		"\"tid\":8}],\"tainted\":false,\"calls\":["
		"{\"function\":\"Message\",\"args\":[\"by {}\",\"a\\n\\u001b\\\"b\"],"
		"\"text\":\"by a\\n\\u001b\\\"b\"},"
		"{\"function\":\"Kill\",\"args\":[4]}]}\n");
}

static void json_of_notices_without_values(void **state)
{
	struct rig rig;

	(void)state;
	make(&rig);
	tell(&rig, COUNTS);
	assert_written(&rig, false,
		       "{\"match\":\"closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,\"tid\":8,\"comm\":\"c\\u001bp\","
		       "\"warning\":\"\",\"return\":{},\"trail\":[],\"tainted\":false,"
		       "\"calls\":[{\"function\":\"Count\",\"args\":[\"late\"]}]}\n");
	tell(&rig, ODD);
	rig.match.tainted = true;
	assert_written(&rig, false,
		       "{\"match\":\"closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,\"tid\":8,\"comm\":\"c\\u001bp\","
		       "\"warning\":\"? is4\",\"return\":{\"ratio\":null,\"fd\":4},\"trail\":[],\"tainted\":true}\n");
}

static void text_is_a_line_and_the_trail(void **state)
{
	struct rig rig;

	(void)state;
	make(&rig);
	tell(&rig, WARNS);
	step(&rig, 3000000000, 1, 0);
	step(&rig, 3001200000 - 999, 2, 1);
	step(&rig, 3001200000, 3, 12);
	assert_written(&rig, true,
		       "     3.001200000  closed  c\\033p[7/8]                   cpu   1  use 2 of 4 a\\012\\033\"b"
		       "  by a\\012\\033\"b  Kill(4)\n"
		       "             -1.2 ms  closed  Open   -> Closed  cpu   0  [7]\n"
		       "             -999 ns  used    Closed -> Closed  cpu   1  [7/8]\n"
		       "                0 ns  AFTER   Closed -> END     cpu  12  [7/19]\n");
	tell(&rig, COUNTS);
	rig.match.tainted = true;
	memset(rig.instance.trail, 0, sizeof rig.instance.trail);
	assert_written(
		&rig, true,
		"     3.001200000  closed  c\\033p[7/8]                   cpu   1  Count(\"late\")  [tainted]\n");
}

static void times_are_told_in_fitting_units(void **state)
{
	static const struct {
		uint64_t ago;
		const char *expected;
	} rows[] = {
		{ 1000, "-1.0 us" },           { 999999, "-999.9 us" },       { 1000000, "-1.0 ms" },
		{ 999999999, "-999.9 ms" },    { 1000000000, "-1.0 s" },      { 599999999999, "-599.9 s" },
		{ 600000000000, "-10.0 min" }, { 36000000000000, "-10.0 h" }, { UINT64_MAX / 2, "-2562047.7 h" },
	};
	struct rig rig;

	(void)state;
	make(&rig);
	tell(&rig, PLAIN);
	rig.match.ts = UINT64_MAX;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *written = NULL, *line;
		size_t length;
		FILE *stream = open_memstream(&written, &length);

		step(&rig, UINT64_MAX - rows[i].ago, 1, 0);
		memset(rig.instance.trail[1], 0, sizeof rig.instance.trail[1]);
		result_write_text(stream, &rig.program, &rig.match);
		fclose(stream);
		line = strchr(written, '\n') + 1;
		assert_int_equal(strncmp(line + strspn(line, " "), rows[i].expected, strlen(rows[i].expected)), 0);
		free(written);
	}
	/* The trail of an image that nobody should have made. */
	rig.match.ts = 0;
	memset(rig.instance.trail, 0, sizeof rig.instance.trail);
	step(&rig, UINT64_MAX, 1, 0);
	assert_written(&rig, true,
		       "     0.000000000  closed  c\\033p[7/8]                   cpu   1  gone  Count(\"late\")\n"
		       "        +5124095.5 h  closed  Open -> Closed  cpu   0  [7]\n");
}

static bool nobody(void *context, int pid)
{
	(void)context;
	(void)pid;
	return false;
}

static void reactions_are_those_of_the_notice(void **state)
{
	static const struct session_policy policy = { .allows_all = true };
	const struct reactions_options options = { .policy = &policy, .agent = { .in_scope = nobody } };
	struct react_tallies tallies = { 0 };
	struct reactions *reactions;
	struct program_match told;
	struct rig rig;

	(void)state;
	make(&rig);
	rig.instance.fd = 1;
	assert_int_equal(reactions_new(&rig.program, &options, NULL, &reactions), 0);
	tell(&rig, WARNS);
	rig.match.done = 1 << 1; /* of another notice: says nothing */
	assert_true(reactions_do(reactions, &rig.match, &told));
	assert_int_equal(told.reactions[0].how, PROGRAM_DONE);
	assert_int_equal(told.reactions[1].how, PROGRAM_NOT_TRIED);
	assert_int_equal(told.reactions[2].how, PROGRAM_NOT_DONE);
	assert_string_equal(told.reactions[2].why, "process 1 is never acted upon");
	assert_int_equal(told.reactions[3].how, PROGRAM_NOT_TRIED);
	rig.match.done = 0;
	/* What only counts is told of to nobody; who warns is always heard. */
	tell(&rig, COUNTS);
	assert_false(reactions_do(reactions, &rig.match, &told));
	tell(&rig, PLAIN);
	assert_true(reactions_do(reactions, &rig.match, &told));
	assert_int_equal(told.reactions[2].how, PROGRAM_NOT_TRIED);
	tell(&rig, ODD);
	assert_true(reactions_do(reactions, &rig.match, &told));
	assert_int_equal(reactions_tallies(reactions, NULL, NULL, &tallies), 0);
	assert_int_equal(react_tallies_get(&tallies, "late", false)->count, 2);
	react_tallies_fini(&tallies);
	reactions_free(reactions);
}

static void policies_see_all_statements(void **state)
{
	static const struct session_policy nothing;
	struct asterism_diag *diag = asterism_diag_new();
	struct rig rig;

	(void)state;
	make(&rig);
	assert_int_not_equal(policy_check(&nothing, &rig.program, diag), 0);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "rule closed calls Kill, which the policy does not allow");
	asterism_diag_free(diag);
}

static void machines_that_only_count(void **state)
{
	struct rig rig;

	(void)state;
	make(&rig);
	assert_false(program_only_tallies(&rig.program, &rig.rule));
	assert_true(program_notice_only_tallies(&rig.program, &rig.rule, COUNTS));
	for (uint32_t notice = WARNS; notice <= NOTICES; notice++)
		if (notice != COUNTS)
			assert_false(program_notice_only_tallies(&rig.program, &rig.rule, notice));
	for (uint32_t notice = WARNS; notice <= NOTICES; notice++)
		if (notice != COUNTS)
			rig.notices[notice - 1].flags = PROGRAM_NOTICE_SILENT;
	assert_true(program_only_tallies(&rig.program, &rig.rule));
	rig.notices[COUNTS - 1].flags = PROGRAM_NOTICE_SILENT;
	assert_false(program_only_tallies(&rig.program, &rig.rule));
}

/* A question is that of the notice which is told. */
static void questions_are_those_of_the_notice(void **state)
{
	struct asks_options options = { 0 };
	struct asks *asks;
	struct rig rig;

	(void)state;
	make(&rig);
	options.program = &rig.program;
	assert_int_equal(asks_new(&options, NULL, &asks), 0);
	rig.statements[1].function = PROGRAM_NONE;
	rig.program.strings = "\0Ask";
	for (uint32_t i = 0; i < STATEMENTS; i++)
		rig.statements[i].function = i == 1;
	tell(&rig, WARNS);
	assert_int_equal(asks_statement(asks, &rig.match), -1);
	tell(&rig, COUNTS);
	assert_int_equal(asks_statement(asks, &rig.match), 1);
	asks_free(asks);
}

static void structures_have_what_belongs_to_the_notice(void **state)
{
	struct program_values layout;
	struct {
		uint64_t layout, missing, uses, fd;
		char name[32];
		uint64_t ratio, fd_2;
	} values;
	struct rig rig;

	(void)state;
	make(&rig);
	program_values_layout(&rig.program, 0, &layout);
	assert_int_equal(layout.bytes, sizeof values);
	tell(&rig, WARNS);
	program_values_fill(&rig.program, &rig.match, &layout, &values);
	assert_int_equal(values.missing, 1 << 3 | 1 << 4);
	assert_int_equal(values.uses, 2);
	assert_int_equal(values.fd, 4);
	assert_string_equal(values.name, rig.instance.name);
	assert_int_equal(values.fd_2, 0);
	tell(&rig, ODD);
	program_values_fill(&rig.program, &rig.match, &layout, &values);
	assert_int_equal(values.missing, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3);
	assert_int_equal(values.uses, 0);
	assert_string_equal(values.name, "");
	assert_int_equal(values.fd_2, 4);
}

static void kept_matches_keep_the_notice(void **state)
{
	struct kept_match *kept;
	struct rig rig;
	char *before, *after;

	(void)state;
	make(&rig);
	tell(&rig, WARNS);
	step(&rig, 1, 1, 0);
	before = result_warning(&rig.program, &rig.match);
	kept = kept_match_new(&rig.program, &rig.match);
	assert_non_null(kept);
	memset(&rig.instance, 0xff, sizeof rig.instance);
	after = result_warning(&rig.program, &kept->match);
	assert_string_equal(before, "use 2 of 4 a\n\x1b\"b");
	assert_string_equal(after, before);
	free(before);
	free(after);
	kept_match_free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_what_belongs_to_the_notice),
		cmocka_unit_test(json_of_notices_without_values),
		cmocka_unit_test(text_is_a_line_and_the_trail),
		cmocka_unit_test(times_are_told_in_fitting_units),
		cmocka_unit_test(reactions_are_those_of_the_notice),
		cmocka_unit_test(policies_see_all_statements),
		cmocka_unit_test(machines_that_only_count),
		cmocka_unit_test(questions_are_those_of_the_notice),
		cmocka_unit_test(structures_have_what_belongs_to_the_notice),
		cmocka_unit_test(kept_matches_keep_the_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
