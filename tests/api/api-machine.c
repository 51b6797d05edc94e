// SPDX-License-Identifier: BSD-2-Clause
/* A state machine's match, live, as a program sees it. */

#include "fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The second call within one instance warns; the third one has something else to say. */
static const char machine_text[] = "MACHINE calls KEY { tid }\n"
				   "  VAR n: u32;\n"
				   "  STATE Idle { ON sys_enter_getppid -> Busy { n = 1 } }\n"
				   "  STATE Busy {\n"
				   "    ON sys_enter_getppid WHERE n == 1 { n = 2; WARN \"call {n} of {tid}\" }\n"
				   "    ON sys_enter_getppid { n = n + 1; WARN \"more: {n + 1}\" }\n"
				   "  }\n";

static int read_first(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_transition step = { .size = sizeof step };
	struct asterism_value value;
	char wanted[64], *json;

	snprintf(wanted, sizeof wanted, "call 2 of %d", (int)fixture->puppet.pid);
	assert_string_equal(asterism_match_rule(match), "calls");
	assert_string_equal(asterism_match_warning(match), wanted);
	assert_int_equal(asterism_match_value_count(match), 2);
	assert_int_equal(asterism_match_value_find(match, "n", &value), 0);
	assert_int_equal(asterism_match_value_find(match, "tid", &value), 0);
	assert_int_equal(asterism_match_value_find(match, "n + 1", &value), -ENOENT);
	assert_int_equal(asterism_match_trail_count(match), 2);
	assert_int_equal(asterism_match_trail(match, 0, &step), 0);
	assert_string_equal(step.event, "sys_enter_getppid");
	assert_string_equal(step.from, "Idle");
	assert_string_equal(step.to, "Busy");
	assert_true(step.time_ns <= asterism_match_time_ns(match));
	assert_int_equal(asterism_match_trail(match, 1, &step), 0);
	assert_int_equal(step.time_ns, asterism_match_time_ns(match));
	assert_int_equal(step.tid, fixture->puppet.pid);
	assert_int_equal(asterism_match_trail(match, 2, &step), -EINVAL);
	assert_true(asterism_match_json_text(match, &json) > 0);
	assert_non_null(strstr(json, wanted));
	free(json);
	return ASTERISM_CONTINUE;
}

static int read_both(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_value value;

	if (fixture->noted == 1)
		return read_first(fixture, match);
	assert_string_equal(asterism_match_warning(match), "more: 4");
	assert_int_equal(asterism_match_value_count(match), 1);
	assert_int_equal(asterism_match_value_find(match, "tid", &value), -ENOENT);
	assert_int_equal(asterism_match_value_find(match, "n + 1", &value), 0);
	assert_int_equal(asterism_match_trail_count(match), 3);
	return ASTERISM_CONTINUE;
}

static void warnings_are_reported_live(void **state)
{
	struct fixture *fixture = *state;

	fixture->then = read_both;
	fixture_activate(fixture->session, fixture_load(fixture->session, machine_text));
	assert_int_equal(puppet_call(&fixture->puppet, 3), 0);
	fixture_await(fixture, fixture->session, 2);
}

static int read_rule(struct fixture *fixture, const struct asterism_match *match)
{
	(void)fixture;
	assert_null(asterism_match_warning(match));
	assert_int_equal(asterism_match_trail_count(match), 0);
	return ASTERISM_CONTINUE;
}

static void rules_have_neither_warning_nor_trail(void **state)
{
	struct fixture *fixture = *state;

	fixture->then = read_rule;
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		case_of(warnings_are_reported_live),
		case_of(rules_have_neither_warning_nor_trail),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
