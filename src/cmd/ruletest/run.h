/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_RUN_H
#define CMD_RULETEST_RUN_H

/* One test from its files to its result. */

#include "base/text.h"
#include "cmd/ruletest/expect.h"
#include "cmd/ruletest/find.h"
#include "lang/parse.h"
#include "session/session.h"

enum test_result { TEST_PASSED, TEST_FAILED, TEST_SKIPPED, TEST_WRONG }; /* wrong: the rule or the test itself is */

struct test_options {
	const struct lang_setting *settings; /* for every test; those of NAME.set come after them */
	size_t setting_count;
	enum session_engine engine; /* of replays of events */
	uint64_t limit_ns;          /* of every program that is run */
	const volatile sig_atomic_t *stop;
};

struct test_outcome {
	enum test_result result;
	struct text_buffer why; /* lines; of a skipped test the reason */
	struct test_found found;
	uint64_t ns;
};

/* Always gives an outcome; test_outcome_fini frees it. */
void test_run(const struct test_case *test, const struct test_options *options, struct test_outcome *outcome);
void test_outcome_fini(struct test_outcome *outcome);

/* The parameters of one test. */
struct test_settings {
	char *text, *lines; /* of the file: cut into names and values, and as they stand there */
	struct lang_setting *rows;
	size_t count, capacity;
};

/*
 * Those of options, then the NAME=VALUE lines of file (NULL: none), which prevail. Returns 0, -EINVAL (the diag says
 * where), -ENOMEM. test_settings_fini either way.
 */
int test_settings_read(struct test_settings *settings, const struct test_options *options, const char *file,
		       struct asterism_diag *diag);
void test_settings_fini(struct test_settings *settings);

/*
 * The first program of the folder ASTERISM_TEST_PROGRAMS that the script names, if there is no such folder; else NULL.
 * Where there is one, a program that it lacks is the script's to fail for. The caller frees it.
 */
char *test_program_missing(const char *script);

/* A folder for what a test leaves behind. */
struct test_scratch {
	char path[64];
};

int test_scratch_make(struct test_scratch *scratch);
void test_scratch_remove(const struct test_scratch *scratch);

/* What a live test came to, besides its matches. */
struct test_live {
	int result;         /* of session_live */
	int command_status; /* of the script */
	bool ran_over;
	uint64_t lost;
	char said[1024]; /* by the session */
};

/* Where a live test finds its script and leaves what comes of it. */
struct test_live_paths {
	const char *script, *folder; /* folder: in which the script begins */
	const char *trace, *log, *matches;
};

/*
 * Observes the script by the rules. Its matches go to *found, a recording to the directory at trace, what it prints to
 * the file at log. Returns 0 with *live, -ETIME, -EINTR, -ECHILD, -errno.
 */
int test_live_run(const struct session_rules *rules, const struct test_live_paths *paths,
		  const struct test_options *options, struct test_found *found, struct test_live *live);

#endif
