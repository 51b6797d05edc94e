/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_API_FIXTURE_H
#define TESTS_API_FIXTURE_H

/* A puppet, a session that observes it, and a note of what was matched. */

#include "puppet.h"

#include <asterism/asterism.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { SKIPPED = 77, LIMIT_MS = 10000, STEP_MS = 50, NOTED_MAX = 64 };

struct fixture {
	struct puppet puppet;
	struct asterism_session *session;
	int noted; /* matches */
	char rules[NOTED_MAX][32];
	struct asterism_rules *last_unit;
	/* What else a match is to bring about; its result is the callback's. */
	int (*then)(struct fixture *fixture, const struct asterism_match *match);
	struct asterism_rules *victim;
	int result;
	pid_t ended;
	int status;
};

extern const char pair_text[], other_text[];

int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* An open session whose matches the fixture notes. */
struct asterism_session *fixture_open(struct fixture *fixture, enum asterism_scope scope);

/* These fail the test where they do not succeed. */
struct asterism_rules *fixture_load(struct asterism_session *session, const char *text);
void fixture_activate(struct asterism_session *session, struct asterism_rules *rules);

/* Until wanted matches were noted; gives up after a time that is only ever needed by failures. */
void fixture_await(struct fixture *fixture, struct asterism_session *session, int wanted);

#define case_of(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

#endif
