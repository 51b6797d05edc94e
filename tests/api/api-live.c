// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library as a program uses it, through its public headers and the shared object alone: what comes, what stops,
 * what is refused. Every case has a puppet of its own.
 */

#include "puppet.h"

#include <asterism/asterism.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77, LIMIT_MS = 10000, STEP_MS = 50, NOTED_MAX = 64 };

static const char pair_text[] =
	"RULE pair\n"
	"PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] }\n"
	"WHERE { [tid] }\n"
	"RETURN { b.ret AS ret, a.comm AS who, (b.ts >= a.ts) AS fine, 3 / (b.ret - b.ret) AS none }\n";
static const char other_text[] = "RULE other\nPATTERN { [sys_exit_getppid:b] }\n";

struct fixture {
	struct puppet puppet;
	struct asterism_session *session;
	int noted;
	char rules[NOTED_MAX][32];
	struct asterism_rules *last_unit;
	int (*then)(struct fixture *fixture, const struct asterism_match *match);
	struct asterism_rules *victim;
	int result;
	pid_t ended;
	int status;
};

static int on_match(void *context, const struct asterism_match *match)
{
	struct fixture *fixture = context;

	if (fixture->noted < NOTED_MAX)
		snprintf(fixture->rules[fixture->noted], sizeof fixture->rules[0], "%s", asterism_match_rule(match));
	fixture->noted++;
	fixture->last_unit = asterism_match_unit(match);
	return fixture->then ? fixture->then(fixture, match) : ASTERISM_CONTINUE;
}

static void on_exit_of(void *context, pid_t pid, int status)
{
	struct fixture *fixture = context;

	fixture->ended = pid;
	fixture->status = status;
}

static struct asterism_session *open_session(struct fixture *fixture)
{
	const struct asterism_session_options options = {
		.size = sizeof options,
		.scope = ASTERISM_SCOPE_TREE,
		.on_match = on_match,
		.on_exit = on_exit_of,
		.context = fixture,
	};
	struct asterism_session *session;

	assert_int_equal(asterism_session_open(&options, NULL, &session), 0);
	return session;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	if (!fixture || puppet_start(&fixture->puppet))
		return -1;
	fixture->session = open_session(fixture);
	assert_int_equal(asterism_session_add_process(fixture->session, fixture->puppet.pid), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	asterism_session_free(fixture->session);
	puppet_stop(&fixture->puppet);
	free(fixture);
	return 0;
}

static struct asterism_rules *load(struct asterism_session *session, const char *text)
{
	struct asterism_rules *rules = NULL;
	int result = asterism_rules_load_text(session, text, strlen(text), NULL, &rules);

	if (result)
		print_error("%s\n", asterism_session_error(session));
	assert_int_equal(result, 0);
	return rules;
}

static void activate(struct asterism_rules *rules, struct asterism_session *session)
{
	int result = asterism_rules_activate(rules);

	if (result)
		print_error("%s\n", asterism_session_error(session));
	assert_int_equal(result, 0);
	assert_int_equal(asterism_rules_state(rules), ASTERISM_RULES_ACTIVE);
}

/* Until wanted matches were noted; gives up after a time that is only ever needed by failures. */
static void await(struct fixture *fixture, struct asterism_session *session, int wanted)
{
	for (int ms = 0; fixture->noted < wanted && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(session, STEP_MS) >= 0);
	assert_int_equal(fixture->noted, wanted);
}

static void matches_arrive(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = load(fixture->session, pair_text);
	struct asterism_session_stats stats = { .size = sizeof stats };
	struct asterism_rule_info info = { .size = sizeof info };

	assert_int_equal(asterism_rules_state(rules), ASTERISM_RULES_LOADED);
	activate(rules, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 3), 0);
	await(fixture, fixture->session, 3);
	assert_string_equal(fixture->rules[0], "pair");
	assert_ptr_equal(fixture->last_unit, rules);
	assert_int_equal(asterism_session_stats(fixture->session, &stats), 0);
	assert_int_equal(stats.matches, 3);
	assert_int_equal(stats.events, 6);
	assert_int_equal(stats.lost, 0);
	assert_int_equal(asterism_rules_info(rules, 0, &info), 0);
	assert_string_equal(info.name, "pair");
	assert_int_equal(info.place, ASTERISM_PLACE_KERNEL);
	assert_string_equal(info.reason, "");
	assert_int_equal(info.matches, 3);
	assert_int_equal(info.runs_opened, 3);
	assert_int_equal(info.runs_live_max, 1);
	assert_int_equal(asterism_rules_info(rules, 1, &info), -EINVAL);
}

/* That a unit is silent is known once another one has told of what happened later. */
static void deactivation_stops_them(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *pair = load(fixture->session, pair_text), *other = load(fixture->session, other_text);
	struct asterism_rules_stats stats = { .size = sizeof stats };

	activate(pair, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	await(fixture, fixture->session, 1);
	assert_int_equal(asterism_rules_deactivate(pair), 0);
	assert_int_equal(asterism_rules_state(pair), ASTERISM_RULES_LOADED);
	activate(other, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	await(fixture, fixture->session, 2);
	assert_string_equal(fixture->rules[1], "other");
	assert_int_equal(asterism_rules_deactivate(other), 0);
	activate(pair, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	await(fixture, fixture->session, 4);
	assert_string_equal(fixture->rules[2], "pair");
	assert_int_equal(asterism_rules_stats(pair, &stats), 0);
	assert_int_equal(stats.matches, 3); /* over both activations */
	assert_int_equal(stats.events, 6);
}

static void units_go_their_own_ways(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *pair = load(fixture->session, pair_text), *other = load(fixture->session, other_text);
	struct asterism_session_stats stats = { .size = sizeof stats };

	activate(pair, fixture->session);
	activate(other, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	await(fixture, fixture->session, 2);
	asterism_rules_unload(other);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	await(fixture, fixture->session, 4);
	assert_string_equal(fixture->rules[2], "pair");
	assert_string_equal(fixture->rules[3], "pair");
	assert_int_equal(asterism_session_stats(fixture->session, &stats), 0);
	assert_int_equal(stats.events, 7); /* what the unit that is gone has counted stays */
}

/* A run that is open in one unit outlives whatever happens to others. */
static void runs_are_not_disturbed(void **state)
{
	static const char two_text[] = "RULE two\n"
				       "PATTERN { [sys_exit_getppid:a, sys_exit_getppid:b] }\n"
				       "WHERE { [tid] }\n";
	struct fixture *fixture = *state;
	struct asterism_rules *two = load(fixture->session, two_text), *other = load(fixture->session, other_text);

	activate(two, fixture->session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	activate(other, fixture->session);
	asterism_rules_unload(other);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	await(fixture, fixture->session, 1);
	assert_string_equal(fixture->rules[0], "two");
}

static void sessions_share_nothing(void **state)
{
	struct fixture *fixture = *state, second = { 0 };
	struct puppet puppet;
	struct asterism_session *session = open_session(&second);

	assert_int_equal(puppet_start(&puppet), 0);
	assert_int_equal(asterism_session_add_process(session, puppet.pid), 0);
	activate(load(session, pair_text), session);
	activate(load(fixture->session, pair_text), fixture->session);
	assert_int_equal(puppet_call(&puppet, 1), 0);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	await(fixture, fixture->session, 2);
	await(&second, session, 1);
	asterism_session_free(session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	await(fixture, fixture->session, 3);
	puppet_stop(&puppet);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(matches_arrive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deactivation_stops_them, set_up, tear_down),
		cmocka_unit_test_setup_teardown(units_go_their_own_ways, set_up, tear_down),
		cmocka_unit_test_setup_teardown(runs_are_not_disturbed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sessions_share_nothing, set_up, tear_down),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
