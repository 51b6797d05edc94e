// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library as a program uses it, through its public headers and the shared object alone: matches come, stop, and
 * come again, and units and sessions do not touch each other.
 */

#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void matches_arrive(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = fixture_load(fixture->session, pair_text);
	struct asterism_session_stats stats = { .size = sizeof stats };
	struct asterism_rule_info info = { .size = sizeof info };

	assert_int_equal(asterism_rules_state(rules), ASTERISM_RULES_LOADED);
	fixture_activate(fixture->session, rules);
	assert_int_equal(puppet_call(&fixture->puppet, 3), 0);
	fixture_await(fixture, fixture->session, 3);
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
	struct asterism_rules *pair = fixture_load(fixture->session, pair_text),
			      *other = fixture_load(fixture->session, other_text);
	struct asterism_rules_stats stats = { .size = sizeof stats };

	fixture_activate(fixture->session, pair);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
	assert_int_equal(asterism_rules_deactivate(pair), 0);
	assert_int_equal(asterism_rules_state(pair), ASTERISM_RULES_LOADED);
	fixture_activate(fixture->session, other);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 2);
	assert_string_equal(fixture->rules[1], "other");
	assert_int_equal(asterism_rules_deactivate(other), 0);
	fixture_activate(fixture->session, pair);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	fixture_await(fixture, fixture->session, 4);
	assert_string_equal(fixture->rules[2], "pair");
	assert_int_equal(asterism_rules_stats(pair, &stats), 0);
	assert_int_equal(stats.matches, 3); /* over both activations */
	assert_int_equal(stats.events, 6);
}

/* Without a dispatch: what was found before the end is handed out by it, and nothing of later. */
static void finishing_hands_out_what_was_found(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *pair = fixture_load(fixture->session, pair_text);
	struct asterism_rules_stats stats = { .size = sizeof stats };

	assert_int_equal(asterism_rules_finish(pair), -EINVAL);
	fixture_activate(fixture->session, pair);
	assert_int_equal(puppet_call(&fixture->puppet, 3), 0);
	assert_int_equal(asterism_rules_finish(pair), 0);
	assert_int_equal(fixture->noted, 3);
	assert_int_equal(asterism_rules_state(pair), ASTERISM_RULES_LOADED);
	assert_int_equal(asterism_rules_finish(pair), -EINVAL);
	assert_int_equal(asterism_rules_stats(pair, &stats), 0);
	assert_int_equal(stats.matches, 3);
}

static void units_go_their_own_ways(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *pair = fixture_load(fixture->session, pair_text),
			      *other = fixture_load(fixture->session, other_text);
	struct asterism_session_stats stats = { .size = sizeof stats };

	fixture_activate(fixture->session, pair);
	fixture_activate(fixture->session, other);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 2);
	asterism_rules_unload(other);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	fixture_await(fixture, fixture->session, 4);
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
	struct asterism_rules *two = fixture_load(fixture->session, two_text),
			      *other = fixture_load(fixture->session, other_text);

	fixture_activate(fixture->session, two);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_activate(fixture->session, other);
	asterism_rules_unload(other);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
	assert_string_equal(fixture->rules[0], "two");
}

static void sessions_share_nothing(void **state)
{
	struct fixture *fixture = *state, second = { 0 };
	struct puppet puppet;
	struct asterism_session *session = fixture_open(&second, ASTERISM_SCOPE_TREE);

	assert_int_equal(puppet_start(&puppet), 0);
	assert_int_equal(asterism_session_add_process(session, puppet.pid), 0);
	fixture_activate(session, fixture_load(session, pair_text));
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&puppet, 1), 0);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	fixture_await(fixture, fixture->session, 2);
	fixture_await(&second, session, 1);
	asterism_session_free(session);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 3);
	puppet_stop(&puppet);
}

static void *live_a_while(void *context)
{
	struct fixture *fixture = context;

	for (int i = 0; i < 20; i++) {
		struct asterism_rules *rules = fixture_load(fixture->session, pair_text);

		fixture_activate(fixture->session, rules);
		assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
		fixture_await(fixture, fixture->session, i + 1);
		asterism_rules_unload(rules);
	}
	return NULL;
}

static void threads_have_sessions_of_their_own(void **state)
{
	struct fixture *fixture = *state, second = { 0 };
	pthread_t thread;

	assert_int_equal(puppet_start(&second.puppet), 0);
	second.session = fixture_open(&second, ASTERISM_SCOPE_TREE);
	assert_int_equal(asterism_session_add_process(second.session, second.puppet.pid), 0);
	assert_int_equal(pthread_create(&thread, NULL, live_a_while, &second), 0);
	live_a_while(fixture);
	pthread_join(thread, NULL);
	assert_int_equal(second.noted, 20);
	asterism_session_free(second.session);
	puppet_stop(&second.puppet);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		case_of(matches_arrive),
		case_of(deactivation_stops_them),
		case_of(finishing_hands_out_what_was_found),
		case_of(units_go_their_own_ways),
		case_of(runs_are_not_disturbed),
		case_of(sessions_share_nothing),
		case_of(threads_have_sessions_of_their_own),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
