// SPDX-License-Identifier: BSD-2-Clause
/*
 * Live sessions as an event loop has them: two at once in one thread, stepped when their descriptors are readable. A
 * step with nothing to do comes back at once (else this would not end), and each session ends with its own command.
 */

#include "base/alloc.h"
#include "session/live/live.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, SESSIONS = 2, IDLE_STEPS = 50, LIMIT_MS = 10000 };

static const char text[] = "RULE ended PATTERN { [sys_enter_exit_group:a] }\n";

struct one {
	struct session_live_options options;
	struct live *live;
	struct session_totals totals;
	struct session_outcome outcome;
	int matches;
};

static int on_match(void *context, const struct program_match *match)
{
	struct one *one = context;

	(void)match;
	one->matches++;
	return 0;
}

static int fail(struct asterism_diag *diag, const char *what)
{
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	printf("FAIL: %s: %s\n", what, message ? message->text : "");
	return 1;
}

static int step_both(struct one *ones, struct asterism_diag *diag)
{
	int going = SESSIONS;

	while (going) {
		struct pollfd fds[SESSIONS];

		for (int i = 0; i < SESSIONS; i++)
			fds[i] = (struct pollfd){ .fd = ones[i].live ? live_fd(ones[i].live) : -1, .events = POLLIN };
		if (poll(fds, SESSIONS, LIMIT_MS) <= 0)
			return fail(diag, "nothing happens any more");
		for (int i = 0; i < SESSIONS; i++) {
			int result = fds[i].revents ? live_step(ones[i].live) : 0;

			if (result < 0)
				return fail(diag, "a step");
			if (result == 0)
				continue;
			if (live_finish(ones[i].live, &ones[i].totals))
				return fail(diag, "finishing");
			live_part(ones[i].live, &ones[i].outcome);
			live_close(ones[i].live);
			ones[i].live = NULL;
			going--;
		}
	}
	return 0;
}

static int check(const struct one *one, int matches, int status)
{
	if (one->matches == matches && one->totals.rules[0].matches == (uint64_t)matches &&
	    one->outcome.end == SESSION_COMMAND_ENDED && one->outcome.command_status == status)
		return 0;
	printf("FAIL: %d matches, end %d, status %d\n", one->matches, one->outcome.end, one->outcome.command_status);
	return 1;
}

static int run(const struct session_rules *rules, struct asterism_diag *diag)
{
	char *const first[] = { "sh", "-c", "(exit 1); exit 3", NULL }, *const second[] = { "sleep", "0.2", NULL };
	struct one ones[SESSIONS] = { { .options.command = first }, { .options.command = second } };
	int result = 0;

	for (int i = 0; i < SESSIONS; i++) {
		ones[i].options.signal_fd = -1;
		ones[i].options.on_match = on_match;
		ones[i].options.context = &ones[i];
		ones[i].totals.rule_count = 1;
		ones[i].totals.rules = alloc_zero(1, sizeof *ones[i].totals.rules);
		if (!ones[i].totals.rules || live_open(rules, &ones[i].options, diag, &ones[i].live))
			return fail(diag, "opening");
	}
	for (int i = 0; i < IDLE_STEPS; i++) {
		if (live_step(ones[1].live))
			return fail(diag, "an idle step");
	}
	result = step_both(ones, diag);
	if (!result)
		result = check(&ones[0], 2, 3) + check(&ones[1], 1, 0);
	for (int i = 0; i < SESSIONS; i++) {
		live_close(ones[i].live);
		session_totals_fini(&ones[i].totals);
	}
	return result;
}

int main(void)
{
	const struct session_rules_source source = { .name = "text", .bytes = text, .length = sizeof text - 1 };
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules;
	int result;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (session_rules_take(&source, diag, &rules))
		return fail(diag, "the rules");
	result = run(rules, diag);
	session_rules_free(rules);
	asterism_diag_free(diag);
	return result;
}
