// SPDX-License-Identifier: BSD-2-Clause
/*
 * Observes the script of a live test: in a process of its own, so that neither what the script does nor what the rules
 * do to it can reach the tester.
 */

#include "cmd/ruletest/run.h"

#include "cmd/ruletest/supervisor.h"
#include "session/output/result-aggregate.h"
#include "session/output/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { LIVE_MATCHES_MAX = 100000 };

/* A session that hangs on to its end is given this much longer than its script. */
#define LIVE_GRACE_NS 10000000000ull

struct observing {
	const struct session_rules *rules;
	const struct test_live_paths *paths;
	uint64_t limit_ns;
	struct test_live *live; /* shared with the tester */
	sigset_t taken;
	FILE *matches;
	unsigned count;
};

static void live_test_on_start(void *context)
{
	struct observing *observing = context;

	sigprocmask(SIG_BLOCK, &observing->taken, NULL);
}

static int live_test_on_match(void *context, const struct program_match *match)
{
	struct observing *observing = context;

	if (observing->count++ == LIVE_MATCHES_MAX)
		return -E2BIG;
	result_write_json(observing->matches, session_rules_program(observing->rules), match, NULL);
	return ferror(observing->matches) ? -EIO : 0;
}

static int live_test_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct observing *observing = context;

	result_write_aggregate_json(observing->matches, report);
	return ferror(observing->matches) ? -EIO : 0;
}

static void keep_said(struct test_live *live, const struct asterism_diag *diag)
{
	const struct asterism_message *message;
	size_t length = 0;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)) && length < sizeof live->said; i++) {
		if (message->severity == ASTERISM_ERROR)
			length += (size_t)snprintf(live->said + length, sizeof live->said - length, "%s%s",
						   length ? "; " : "", message->text);
	}
}

static int observe_test(struct observing *observing, const struct selection *selection, struct asterism_diag *diag)
{
	const struct recording_options recording = { .path = observing->paths->trace, .what = selection };
	char *command[] = { (char *)observing->paths->script, NULL };
	struct session_live_options options = {
		.command = command,
		.recording = &recording,
		.for_ns = observing->limit_ns,
		.on_match = live_test_on_match,
		.on_aggregate = live_test_on_aggregate,
		.on_start = live_test_on_start,
		.context = observing,
	};
	struct session_outcome outcome = { 0 };
	struct session_totals totals;
	int result;

	sigemptyset(&observing->taken);
	sigaddset(&observing->taken, SIGINT);
	sigaddset(&observing->taken, SIGTERM);
	options.signal_fd = signalfd(-1, &observing->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	result = session_live(observing->rules, &options, diag, &totals, &outcome);
	observing->live->lost = totals.lost;
	observing->live->command_status = outcome.command_status;
	observing->live->ran_over = outcome.end == SESSION_TIME_UP;
	session_totals_fini(&totals);
	return result;
}

static void run_observed_test(void *context)
{
	struct observing *observing = context;
	struct asterism_diag *diag = asterism_diag_new();
	struct selection selection = { 0 };
	int result = diag ? 0 : -ENOMEM;

	observing->matches = fopen(observing->paths->matches, "we");
	if (!result && (!observing->matches || chdir(observing->paths->folder)))
		result = -errno;
	if (!result)
		result = selection_add_program(&selection, session_rules_catalog(observing->rules),
					       session_rules_program(observing->rules), diag);
	if (!result)
		result = observe_test(observing, &selection, diag);
	if (observing->matches && fclose(observing->matches) && !result)
		result = -errno;
	keep_said(observing->live, diag);
	observing->live->result = result;
}

static int read_matches(const char *path, struct test_found *found)
{
	FILE *matches = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int result = matches ? 0 : -errno;

	while (!result && (length = getline(&line, &room, matches)) > 0)
		result = test_found_add(found, line, (size_t)length);
	free(line);
	if (matches)
		fclose(matches);
	return result;
}

int test_live_run(const struct session_rules *rules, const struct test_live_paths *paths,
		  const struct test_options *options, struct test_found *found, struct test_live *live)
{
	struct test_live *shared =
		mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct observing observing = { .rules = rules, .paths = paths, .limit_ns = options->limit_ns, .live = shared };
	const struct supervisor_work supervisor = {
		.work = run_observed_test,
		.context = &observing,
		.log = paths->log,
		.limit_ns = options->limit_ns + LIVE_GRACE_NS,
		.stop = options->stop,
	};
	int result;

	if (shared == MAP_FAILED)
		return -errno;
	result = supervisor_run(&supervisor);
	if (!result)
		result = read_matches(paths->matches, found);
	*live = *shared;
	found->lost = live->lost;
	munmap(shared, sizeof *shared);
	return result;
}
