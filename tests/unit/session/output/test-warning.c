// SPDX-License-Identifier: BSD-2-Clause
/* What is told and done of a machine's matches. */

#include "closed.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "program/machine.h"
#include "program/match-copy.h"
#include "program/values.h"
#include "session/output/result-priv.h"
#include "session/verdict/requests.h"
#include "session/verdict/reactions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_written(const struct closed *closed, bool as_text, const char *expected)
{
	char *written = NULL;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	if (as_text)
		result_write_text(stream, &closed->program, &closed->match, NULL);
	else
		result_write_json(stream, &closed->program, &closed->match, NULL);
	fclose(stream);
	assert_string_equal(written, expected);
	free(written);
}

static void json_has_what_belongs_to_the_notice(void **state)
{
	struct closed closed;

	(void)state;
	closed_make(&closed);
	closed_report(&closed, WARNS);
	closed_step(&closed, 3000000000, 1, 0);
	closed_step(&closed, 3001200000, 2, 1);
	assert_written(
		&closed, false,
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
	struct closed closed;

	(void)state;
	closed_make(&closed);
	closed_report(&closed, COUNTS);
	assert_written(&closed, false,
		       "{\"match\":\"closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,\"tid\":8,\"comm\":\"c\\u001bp\","
		       "\"warning\":\"\",\"return\":{},\"trail\":[],\"tainted\":false,"
		       "\"calls\":[{\"function\":\"Count\",\"args\":[\"late\"]}]}\n");
	closed_report(&closed, ODD);
	closed.match.tainted = true;
	assert_written(&closed, false,
		       "{\"match\":\"closed\",\"ts\":3001200000,\"cpu\":1,\"pid\":7,\"tid\":8,\"comm\":\"c\\u001bp\","
		       "\"warning\":\"? is4\",\"return\":{\"ratio\":null,\"fd\":4},\"trail\":[],\"tainted\":true}\n");
}

static void text_is_a_line_and_the_trail(void **state)
{
	struct closed closed;

	(void)state;
	closed_make(&closed);
	closed_report(&closed, WARNS);
	closed_step(&closed, 3000000000, 1, 0);
	closed_step(&closed, 3001200000 - 999, 2, 1);
	closed_step(&closed, 3001200000, 3, 12);
	assert_written(&closed, true,
		       "     3.001200000  closed  c\\033p[7/8]                   cpu   1  use 2 of 4 a\\n\\033\\\"b"
		       "  by a\\n\\033\\\"b  Kill(4)\n"
		       "             -1.2 ms  closed  Open   -> Closed  cpu   0  [7]\n"
		       "             -999 ns  used    Closed -> Closed  cpu   1  [7/8]\n"
		       "                0 ns  AFTER   Closed -> END     cpu  12  [7/19]\n");
	closed_report(&closed, COUNTS);
	closed.match.tainted = true;
	memset(closed.instance.trail, 0, sizeof closed.instance.trail);
	assert_written(
		&closed, true,
		"     3.001200000  closed  c\\033p[7/8]                   cpu   1  Count(\"late\")  [tainted]\n");
}

/* The states of an image, and what it calls returned values, are any text. */
static void labels_of_an_image_are_escaped(void **state)
{
	struct closed closed;
	char strings[256];

	(void)state;
	closed_make(&closed);
	memcpy(strings, closed.program.strings, closed.states[0].label + sizeof "Open");
	memcpy(strings + closed.states[0].label, "\xe2\x80\xae\n", 4);
	closed.program.strings = strings;
	closed_report(&closed, COUNTS);
	closed.states[1].label = closed.states[0].label;
	closed_step(&closed, 3001200000, 1, 0);
	char *written = NULL;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	result_write_trail(stream, &closed.program, &closed.match);
	fclose(stream);
	assert_string_equal(written,
			    "                0 ns  closed  \\342\\200\\256\\n -> \\342\\200\\256\\n  cpu   0  [7]\n");
	free(written);
}

static void times_are_reported_in_fitting_units(void **state)
{
	static const struct {
		uint64_t ago;
		const char *expected;
	} rows[] = {
		{ 1000, "-1.0 us" },           { 999999, "-999.9 us" },       { 1000000, "-1.0 ms" },
		{ 999999999, "-999.9 ms" },    { 1000000000, "-1.0 s" },      { 599999999999, "-599.9 s" },
		{ 600000000000, "-10.0 min" }, { 36000000000000, "-10.0 h" }, { UINT64_MAX / 2, "-2562047.7 h" },
	};
	struct closed closed;

	(void)state;
	closed_make(&closed);
	closed_report(&closed, PLAIN);
	closed.match.ts = UINT64_MAX;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *written = NULL, *line;
		size_t length;
		FILE *stream = open_memstream(&written, &length);

		closed_step(&closed, UINT64_MAX - rows[i].ago, 1, 0);
		memset(closed.instance.trail[1], 0, sizeof closed.instance.trail[1]);
		result_write_text(stream, &closed.program, &closed.match, NULL);
		fclose(stream);
		line = strchr(written, '\n') + 1;
		assert_int_equal(strncmp(line + strspn(line, " "), rows[i].expected, strlen(rows[i].expected)), 0);
		free(written);
	}
	/* The trail of an image that nobody should have made. */
	closed.match.ts = 0;
	memset(closed.instance.trail, 0, sizeof closed.instance.trail);
	closed_step(&closed, UINT64_MAX, 1, 0);
	assert_written(&closed, true,
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
	struct program_match reported;
	struct closed closed;

	(void)state;
	closed_make(&closed);
	closed.instance.fd = 1;
	assert_int_equal(reactions_new(&closed.program, &options, NULL, &reactions), 0);
	closed_report(&closed, WARNS);
	closed.match.done = 1 << 1; /* of another notice: says nothing */
	assert_true(reactions_do(reactions, &closed.match, &reported));
	assert_int_equal(reported.reactions[0].how, PROGRAM_DONE);
	assert_int_equal(reported.reactions[1].how, PROGRAM_NOT_TRIED);
	assert_int_equal(reported.reactions[2].how, PROGRAM_NOT_DONE);
	assert_string_equal(reported.reactions[2].why, "actions never affect process 1");
	assert_int_equal(reported.reactions[3].how, PROGRAM_NOT_TRIED);
	closed.match.done = 0;
	/* What only counts is told of to nobody; who warns is always heard. */
	closed_report(&closed, COUNTS);
	assert_false(reactions_do(reactions, &closed.match, &reported));
	closed_report(&closed, PLAIN);
	assert_true(reactions_do(reactions, &closed.match, &reported));
	assert_int_equal(reported.reactions[2].how, PROGRAM_NOT_TRIED);
	closed_report(&closed, ODD);
	assert_true(reactions_do(reactions, &closed.match, &reported));
	assert_int_equal(reactions_tallies(reactions, NULL, NULL, &tallies), 0);
	assert_int_equal(react_tallies_get(&tallies, "late", false)->count, 2);
	react_tallies_fini(&tallies);
	reactions_free(reactions);
}

static void policies_see_all_statements(void **state)
{
	static const struct session_policy nothing;
	struct asterism_diag *diag = asterism_diag_new();
	struct closed closed;

	(void)state;
	closed_make(&closed);
	assert_int_not_equal(policy_check(&nothing, &closed.program, NULL, diag), 0);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "machine closed calls Kill, which the policy does not allow");
	asterism_diag_free(diag);
}

static void machines_that_only_count(void **state)
{
	struct closed closed;

	(void)state;
	closed_make(&closed);
	assert_false(program_only_tallies(&closed.program, &closed.rule));
	assert_true(program_notice_only_tallies(&closed.program, &closed.rule, COUNTS));
	for (uint32_t notice = WARNS; notice <= NOTICES; notice++)
		if (notice != COUNTS)
			assert_false(program_notice_only_tallies(&closed.program, &closed.rule, notice));
	for (uint32_t notice = WARNS; notice <= NOTICES; notice++)
		if (notice != COUNTS)
			closed.notices[notice - 1].flags = PROGRAM_NOTICE_SILENT;
	assert_true(program_only_tallies(&closed.program, &closed.rule));
	closed.notices[COUNTS - 1].flags = PROGRAM_NOTICE_SILENT;
	assert_false(program_only_tallies(&closed.program, &closed.rule));
}

/* A question is that of the notice which is told. */
static void verdicts_are_those_of_the_notice(void **state)
{
	struct requests_options options = { 0 };
	struct requests *requests;
	struct closed closed;

	(void)state;
	closed_make(&closed);
	options.program = &closed.program;
	assert_int_equal(requests_new(&options, NULL, &requests), 0);
	closed.statements[1].function = PROGRAM_NONE;
	closed.program.strings = "\0Ask";
	for (uint32_t i = 0; i < STATEMENTS; i++)
		closed.statements[i].function = i == 1;
	closed_report(&closed, WARNS);
	assert_int_equal(requests_statement(requests, &closed.match), -1);
	closed_report(&closed, COUNTS);
	assert_int_equal(requests_statement(requests, &closed.match), 1);
	requests_free(requests);
}

static void structures_have_what_belongs_to_the_notice(void **state)
{
	struct program_values layout;
	struct {
		uint64_t layout, missing, uses, fd;
		char name[32];
		uint64_t ratio, fd_2;
	} values;
	struct closed closed;

	(void)state;
	closed_make(&closed);
	program_values_layout(&closed.program, 0, &layout);
	assert_int_equal(layout.bytes, sizeof values);
	closed_report(&closed, WARNS);
	program_values_fill(&closed.program, &closed.match, &layout, &values);
	assert_int_equal(values.missing, 1 << 3 | 1 << 4);
	assert_int_equal(values.uses, 2);
	assert_int_equal(values.fd, 4);
	assert_string_equal(values.name, closed.instance.name);
	assert_int_equal(values.fd_2, 0);
	closed_report(&closed, ODD);
	program_values_fill(&closed.program, &closed.match, &layout, &values);
	assert_int_equal(values.missing, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3);
	assert_int_equal(values.uses, 0);
	assert_string_equal(values.name, "");
	assert_int_equal(values.fd_2, 4);
}

static void kept_matches_keep_the_notice(void **state)
{
	struct program_match_copy *kept;
	struct closed closed;
	char *before, *after;

	(void)state;
	closed_make(&closed);
	closed_report(&closed, WARNS);
	closed_step(&closed, 1, 1, 0);
	before = result_warning(&closed.program, &closed.match, false);
	kept = program_match_keep(&closed.program, &closed.match);
	assert_non_null(kept);
	memset(&closed.instance, 0xff, sizeof closed.instance);
	after = result_warning(&closed.program, &kept->match, false);
	assert_string_equal(before, "use 2 of 4 a\n\x1b\"b");
	assert_string_equal(after, before);
	free(before);
	free(after);
	alloc_free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_what_belongs_to_the_notice),
		cmocka_unit_test(json_of_notices_without_values),
		cmocka_unit_test(text_is_a_line_and_the_trail),
		cmocka_unit_test(labels_of_an_image_are_escaped),
		cmocka_unit_test(times_are_reported_in_fitting_units),
		cmocka_unit_test(reactions_are_those_of_the_notice),
		cmocka_unit_test(policies_see_all_statements),
		cmocka_unit_test(machines_that_only_count),
		cmocka_unit_test(verdicts_are_those_of_the_notice),
		cmocka_unit_test(structures_have_what_belongs_to_the_notice),
		cmocka_unit_test(kept_matches_keep_the_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
