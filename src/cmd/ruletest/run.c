// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs a test and says whether it has passed. Events are replayed; a script is observed, and what was recorded
 * meanwhile is replayed as well.
 */

#include "cmd/ruletest/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/options/status.h"
#include "cmd/ruletest/supervisor.h"
#include "session/output/result-aggregate.h"
#include "session/output/result.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MATCHES_MAX = 100000, LOG_LINES_SHOWN = 10, STATUS_SKIPS = 77 };

/* The supervisor of a program that writes events gets this much longer than the program. */
#define WRITING_GRACE_NS 2000000000ull

/* Everything that the steps of one test share. */
struct running {
	const struct test_case *test;
	const struct test_options *options;
	struct test_outcome *outcome;
	struct asterism_diag *diag;
	struct session_rules *rules;
	struct test_expected expected;
	struct test_settings settings;
	struct test_scratch scratch;
};

static void say_diag(struct text_buffer *why, const struct asterism_diag *diag)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++) {
		if (message->severity == ASTERISM_NOTE)
			continue;
		if (message->file)
			text_printf(why, "%s:", message->file);
		if (message->file && message->line)
			text_printf(why, "%u:%u:", message->line, message->column);
		text_printf(why, "%s%s: %s\n", message->file ? " " : "",
			    message->severity == ASTERISM_ERROR ? "error" : "warning", message->text);
		if (message->hint)
			text_printf(why, "help: %s\n", message->hint);
	}
}

static void give_result(struct running *running, enum test_result result)
{
	running->outcome->result = result;
}

/* The path of a thing in the scratch folder. */
static const char *scratch_path(const struct running *running, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", running->scratch.path, name);
	return path;
}

/* Adds the last lines of a log, or of them the very last one alone. */
static void say_log(const struct running *running, bool last_alone)
{
	char path[PATH_MAX], *line = NULL, *kept[LOG_LINES_SHOWN] = { NULL };
	FILE *log = fopen(scratch_path(running, "log", path), "re");
	size_t room = 0, count = 0, shown = last_alone ? 1 : LOG_LINES_SHOWN;

	while (log && getline(&line, &room, log) > 0) {
		char **slot = &kept[count++ % shown];

		alloc_free(*slot);
		line[strcspn(line, "\n")] = 0;
		*slot = alloc_text(line);
	}
	for (size_t i = count > shown ? count - shown : 0; i < count; i++)
		text_printf(&running->outcome->why, "%s%s\n", last_alone ? "" : "| ",
			    kept[i % shown] ? kept[i % shown] : "");
	for (size_t i = 0; i < shown; i++)
		alloc_free(kept[i]);
	free(line);
	if (log)
		fclose(log);
	if (last_alone && count == 0)
		text_append(&running->outcome->why, "the script does not say why\n");
}

struct gathering {
	const struct program *program;
	struct test_found *found;
};

static int test_on_match(void *context, const struct program_match *match)
{
	struct gathering *gathering = context;
	char *line = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&line, &length);
	int result = stream ? 0 : -ENOMEM;

	if (json_array_size(gathering->found->matches) == MATCHES_MAX)
		result = -E2BIG;
	else if (stream)
		result_write_json(stream, gathering->program, match, NULL);
	if (stream && fclose(stream) && !result)
		result = -ENOMEM;
	if (!result)
		result = test_found_add(gathering->found, line, length);
	free(line);
	return result;
}

static int test_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct gathering *gathering = context;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	int result = stream ? 0 : -ENOMEM;

	if (stream)
		result_write_aggregate_json(stream, report);
	if (stream && fclose(stream))
		result = -ENOMEM;
	for (char *line = text, *end; !result && (end = strchr(line, '\n')); line = end + 1)
		result = test_found_add(gathering->found, line, (size_t)(end - line));
	free(text);
	return result;
}

/* Holds what was found against what is expected; where is said before what differs. */
static bool judge_found(struct running *running, const struct test_found *found, const char *where)
{
	struct text_buffer differs = { 0 };
	char *text = NULL;
	bool fits = test_expected_fits(&running->expected, found, &differs);

	if (text_take(&differs, &text)) {
		text_append(&running->outcome->why, "out of memory\n");
	} else if (!fits) {
		text_printf(&running->outcome->why, "%s%s", where, text);
	}
	alloc_free(text);
	return fits;
}

/* Replays the events in path. True: the matches are those expected. */
static bool replay_test(struct running *running, const char *path, enum session_engine engine, const char *where)
{
	struct test_found found = { 0 };
	struct gathering gathering = { session_rules_program(running->rules), &found };
	const struct session_replay_options options = {
		.files = &path,
		.file_count = 1,
		.relaxed = true,
		.engine = engine,
		.on_match = test_on_match,
		.on_aggregate = test_on_aggregate,
		.context = &gathering,
		.stop = running->options->stop,
	};
	struct session_totals totals;
	int result = session_replay(running->rules, &options, running->diag, &totals);
	bool fits = false;

	found.lost = totals.lost;
	session_totals_fini(&totals);
	if (result == -E2BIG) {
		text_printf(&running->outcome->why, "%sthere are more than %d matches\n", where, MATCHES_MAX);
	} else if (result) {
		text_append(&running->outcome->why, where);
		say_diag(&running->outcome->why, running->diag);
	} else {
		fits = judge_found(running, &found, where);
	}
	if (result == -EINVAL && running->test->kind == TEST_EVENTS)
		give_result(running, TEST_WRONG);
	else if (!fits)
		give_result(running, TEST_FAILED);
	test_found_fini(&running->outcome->found);
	running->outcome->found = found;
	return fits;
}

/* What the program of NAME.events did, told by its supervisor. */
struct writing {
	struct running *running;
	int *status; /* shared */
};

static void write_events(void *context)
{
	struct writing *writing = context;
	const struct test_case *test = writing->running->test;
	char folder[PATH_MAX], output[PATH_MAX], *command[] = { test->source, NULL };

	snprintf(folder, sizeof folder, "%s/tests", test->folder->path);
	*writing->status = supervisor_execute(command, folder, scratch_path(writing->running, "events.jsonl", output),
					      writing->running->options->limit_ns);
}

static void fail_test(struct running *running, const char *what, int status)
{
	struct text_buffer *why = &running->outcome->why;

	give_result(running, TEST_FAILED);
	if (status == -ETIME)
		text_printf(why, "%s ran for more than %g s and was killed\n", what,
			    (double)running->options->limit_ns / 1e9);
	else if (status == -EINTR)
		text_append(why, "stopped\n");
	else if (status < 0)
		text_printf(why, "cannot run %s: %s\n", what, strerror(-status));
	else if (status > STATUS_SIGNAL)
		text_printf(why, "%s was ended by signal %d\n", what, status - STATUS_SIGNAL);
	else
		text_printf(why, "%s ended with status %d\n", what, status);
	say_log(running, false);
}

static void run_program(struct running *running)
{
	int *status = mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), result;
	struct writing writing = { running, status };
	char log[PATH_MAX], events[PATH_MAX];
	const struct supervisor_work supervisor = {
		.work = write_events,
		.context = &writing,
		.log = scratch_path(running, "log", log),
		.limit_ns = running->options->limit_ns + WRITING_GRACE_NS,
		.stop = running->options->stop,
	};

	if (status == MAP_FAILED)
		return fail_test(running, "the program", -errno);
	result = supervisor_run(&supervisor);
	if (!result)
		result = *status;
	munmap(status, sizeof *status);
	if (result)
		fail_test(running, "the program", result);
	else
		replay_test(running, scratch_path(running, "events.jsonl", events), running->options->engine, "");
}

/* What is left to say where the session itself did not go well. */
static void judge_session(struct running *running, const struct test_live *live)
{
	struct text_buffer *why = &running->outcome->why;
	bool cannot = live->result == -EPERM || live->result == -EACCES || live->result == -EOPNOTSUPP;

	give_result(running, cannot ? TEST_SKIPPED : TEST_FAILED);
	if (live->result == -EPERM || live->result == -EACCES)
		text_append(why, "live tests need root, or CAP_BPF and CAP_PERFMON\n");
	else if (live->result == -E2BIG)
		text_printf(why, "there are more than %d matches\n", MATCHES_MAX);
	else
		text_printf(why, "%s\n", *live->said ? live->said : strerror(-live->result));
}

static void judge_live(struct running *running, const struct test_live *live, const char *trace)
{
	struct test_found found;

	if (live->result)
		return judge_session(running, live);
	if (live->ran_over)
		return fail_test(running, "the script", -ETIME);
	if (live->command_status == STATUS_SKIPS) {
		give_result(running, TEST_SKIPPED);
		return say_log(running, true);
	}
	if (live->command_status)
		return fail_test(running, "the script", live->command_status);
	if (!judge_found(running, &running->outcome->found, "live:\n")) {
		give_result(running, TEST_FAILED);
		say_log(running, false);
		return;
	}
	/* The matches that are shown are those of the script, not of its recording. */
	found = running->outcome->found;
	running->outcome->found = (struct test_found){ 0 };
	replay_test(running, trace, SESSION_ENGINE_USER,
		    "the live test passed, but the replay of its recording failed:\n");
	test_found_fini(&running->outcome->found);
	running->outcome->found = found;
}

/* Whether a script was skipped that needs what only a build folder has. */
static bool skip_without_program(struct running *running)
{
	char *missing = test_program_missing(running->test->source);

	if (!missing)
		return false;
	give_result(running, TEST_SKIPPED);
	text_printf(&running->outcome->why,
		    "needs the program '%s' of the project's own tests, which is not installed\n", missing);
	free(missing);
	return true;
}

static void run_live(struct running *running)
{
	char folder[PATH_MAX], trace[PATH_MAX], log[PATH_MAX], matches[PATH_MAX];
	const struct test_live_paths paths = {
		.script = running->test->source,
		.folder = scratch_path(running, "work", folder),
		.trace = scratch_path(running, "trace", trace),
		.log = scratch_path(running, "log", log),
		.matches = scratch_path(running, "matches", matches),
	};
	struct test_live live;
	int result;

	if (skip_without_program(running))
		return;
	result = mkdir(folder, 0700) ? -errno : 0;
	setenv("ASTERISM_TEST_FOLDER", running->test->folder->path, 1);
	if (!result)
		result = test_live_run(running->rules, &paths, running->options, &running->outcome->found, &live);
	if (result)
		fail_test(running, "the script", result);
	else
		judge_live(running, &live, trace);
}

/* The rules and what is expected of them. */
static int prepare_running(struct running *running)
{
	const struct test_case *test = running->test;
	int result = test_settings_read(&running->settings, running->options, test->set, running->diag);
	const struct session_rules_files files = {
		.files = test->folder->rules,
		.count = test->folder->rule_count,
		.settings = running->settings.rows,
		.setting_count = running->settings.count,
	};

	if (!result)
		result = session_rules_read_files(&files, running->diag, &running->rules);
	if (!result)
		result = test_expected_read(&running->expected, test->expect, running->diag);
	return result;
}

static void run_kind(struct running *running)
{
	switch (running->test->kind) {
	case TEST_EVENTS:
		replay_test(running, running->test->source, running->options->engine, "");
		break;
	case TEST_PROGRAM:
		run_program(running);
		break;
	case TEST_LIVE:
		run_live(running);
		break;
	}
}

void test_run(const struct test_case *test, const struct test_options *options, struct test_outcome *outcome)
{
	struct running running = { .test = test, .options = options, .outcome = outcome, .diag = asterism_diag_new() };
	uint64_t start_ns = clock_now_ns();
	int result;

	*outcome = (struct test_outcome){ .result = TEST_PASSED };
	if (!running.diag || prepare_running(&running)) {
		give_result(&running, TEST_WRONG);
		if (running.diag)
			say_diag(&outcome->why, running.diag);
	} else {
		asterism_diag_clear(running.diag);
		result = test_scratch_make(&running.scratch);
		if (result) {
			fail_test(&running, "the directory for its files", result);
		} else {
			run_kind(&running);
			test_scratch_remove(&running.scratch);
		}
	}
	test_settings_fini(&running.settings);
	test_expected_fini(&running.expected);
	session_rules_free(running.rules);
	asterism_diag_free(running.diag);
	outcome->ns = clock_now_ns() - start_ns;
}

void test_outcome_fini(struct test_outcome *outcome)
{
	text_fini(&outcome->why);
	test_found_fini(&outcome->found);
}
