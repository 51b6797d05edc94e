// SPDX-License-Identifier: BSD-2-Clause
/* Sets up what every case begins with. The session is that of a process and its descendants. */

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char pair_text[] =
	"RULE pair\n"
	"PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] }\n"
	"WHERE { [tid] }\n"
	"RETURN { b.ret AS ret, a.comm AS who, (b.ts >= a.ts) AS fine, 3 / (b.ret - b.ret) AS none }\n";
const char other_text[] = "RULE other\nPATTERN { [sys_exit_getppid:b] }\n";

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

struct asterism_session *fixture_open(struct fixture *fixture, enum asterism_scope scope)
{
	const struct asterism_session_options options = {
		.size = sizeof options,
		.scope = scope,
		.on_match = on_match,
		.on_exit = on_exit_of,
		.context = fixture,
	};
	struct asterism_session *session;

	assert_int_equal(asterism_session_open(&options, NULL, &session), 0);
	return session;
}

int fixture_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	if (!fixture || puppet_start(&fixture->puppet))
		return -1;
	fixture->session = fixture_open(fixture, ASTERISM_SCOPE_TREE);
	assert_int_equal(asterism_session_add_process(fixture->session, fixture->puppet.pid), 0);
	*state = fixture;
	return 0;
}

int fixture_tear_down(void **state)
{
	struct fixture *fixture = *state;

	asterism_session_free(fixture->session);
	puppet_stop(&fixture->puppet);
	free(fixture);
	return 0;
}

struct asterism_rules *fixture_load(struct asterism_session *session, const char *text)
{
	struct asterism_rules *rules = NULL;
	int result = asterism_rules_load_text(session, text, strlen(text), NULL, &rules);

	if (result)
		print_error("%s\n", asterism_session_error(session));
	assert_int_equal(result, 0);
	return rules;
}

void fixture_activate(struct asterism_session *session, struct asterism_rules *rules)
{
	int result = asterism_rules_activate(rules);

	if (result)
		print_error("%s\n", asterism_session_error(session));
	assert_int_equal(result, 0);
	assert_int_equal(asterism_rules_state(rules), ASTERISM_RULES_ACTIVE);
}

void fixture_await(struct fixture *fixture, struct asterism_session *session, int wanted)
{
	for (int ms = 0; fixture->noted < wanted && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(session, STEP_MS) >= 0);
	assert_int_equal(fixture->noted, wanted);
}
