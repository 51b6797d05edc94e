// SPDX-License-Identifier: BSD-2-Clause
/*
 * Supervises a command: launches it under a rule, and ends it when the rule matches.
 *
 *   supervise RULE-FILE COMMAND [ARGUMENT...]
 *
 * Exit status: that of the command; 100 when it was ended for a match; 101 when it could not be supervised.
 */

#include "supervise.rule.h"

#include <asterism/asterism.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_ENDED = 100, STATUS_FAILED = 101 };

struct supervision {
	pid_t pid;
	bool matched, ended;
	int status;
};

/* The first match ends the command; what its descendants do after that is still told. */
static int on_match(void *context, const struct asterism_match *match)
{
	struct supervision *supervision = context;
	struct forbidden_values values;
	char *json;

	if (forbidden_values_get(match, &values) == 0) {
		fprintf(stderr, "supervise: %s (process %u) opened %s\n", values.program, asterism_match_pid(match),
			values.file);
	} else if (asterism_match_json_text(match, &json) > 0) {
		fprintf(stderr, "supervise: %s\n", json); /* another rule than the one this was compiled with */
		free(json);
	}
	if (!supervision->matched && !supervision->ended)
		kill(supervision->pid, SIGKILL);
	supervision->matched = true;
	return ASTERISM_CONTINUE;
}

static void on_exit_of_command(void *context, pid_t pid, int status)
{
	struct supervision *supervision = context;

	(void)pid;
	supervision->ended = true;
	supervision->status = status;
}

static int fail(const struct asterism_session *session)
{
	fprintf(stderr, "supervise: %s\n", asterism_session_error(session));
	return STATUS_FAILED;
}

static int supervise(struct asterism_session *session, struct supervision *supervision, char **arguments)
{
	struct asterism_rules *rules;

	if (asterism_rules_load_file(session, arguments[0], &rules) < 0 || asterism_rules_activate(rules) < 0 ||
	    asterism_session_launch(session, arguments + 1, &supervision->pid) < 0)
		return fail(session);
	while (!supervision->ended) {
		if (asterism_session_wait(session, -1) < 0)
			return fail(session);
	}
	return supervision->matched ? STATUS_ENDED : supervision->status;
}

int main(int argc, char **argv)
{
	struct supervision supervision = { 0 };
	struct asterism_session_options options = {
		.size = sizeof options,
		.scope = ASTERISM_SCOPE_TREE,
		.on_match = on_match,
		.on_exit = on_exit_of_command,
		.context = &supervision,
	};
	struct asterism_session *session;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: supervise RULE-FILE COMMAND [ARGUMENT...]\n");
		return STATUS_FAILED;
	}
	if (asterism_session_open(&options, NULL, &session) < 0) {
		fprintf(stderr, "supervise: no session could be opened\n");
		return STATUS_FAILED;
	}
	status = supervise(session, &supervision, argv + 1);
	asterism_session_free(session);
	return status;
}
