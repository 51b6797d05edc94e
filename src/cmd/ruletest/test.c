// SPDX-License-Identifier: BSD-2-Clause
/* `asterism test`: the tests of rules, as users write them. */

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/options/commands.h"
#include "cmd/options/settings.h"
#include "cmd/options/status.h"
#include "cmd/ruletest/report.h"
#include "cmd/text/signals.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_NS 60000000000ull

/* Whether the test is one of those asked for. */
static bool is_test_wanted(const struct cli_arguments *arguments, const struct test_case *test)
{
	const char *pattern = arguments->options[OPTION_TESTS].text;

	if (test->kind == TEST_LIVE ? cli_has(arguments, OPTION_NO_LIVE) : cli_has(arguments, OPTION_LIVE))
		return false;
	if (!pattern)
		return true;
	return strpbrk(pattern, "*?[") ? fnmatch(pattern, test->name, 0) == 0 : strstr(test->name, pattern) != NULL;
}

/* A path that scripts find from wherever they are. */
static void make_absolute(const char *variable)
{
	const char *path = getenv(variable);
	char *real = path ? realpath(path, NULL) : NULL;

	if (real)
		setenv(variable, real, 1);
	free(real);
}

/* What scripts may rely on. In a build folder the programs that plant behaviour are not far. */
static void prepare_environment(void)
{
	char program[PATH_MAX - 64], path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	make_absolute("ASTERISM_CATALOGS");
	make_absolute("ASTERISM_RULES");
	if (length <= 0)
		return;
	program[length] = 0;
	setenv("ASTERISM_BIN", program, 1);
	if (getenv("ASTERISM_TEST_PROGRAMS"))
		return;
	*strrchr(program, '/') = 0;
	snprintf(path, sizeof path, "%s/../../tests/kernel", program);
	if (access(path, X_OK) == 0)
		setenv("ASTERISM_TEST_PROGRAMS", path, 1);
	make_absolute("ASTERISM_TEST_PROGRAMS");
}

/* What the suite consists of, and a folder for what of it is built in. */
struct finding {
	struct test_suite suite;
	struct test_scratch scratch; /* its path is empty until it is needed */
};

/* The tests beside a shipped rule, which are unpacked first if it is built in. */
static int find_beside(struct finding *finding, const struct session_rules_file *rule, struct asterism_diag *diag)
{
	struct test_scratch *scratch = &finding->scratch;
	char folder[PATH_MAX], unpacked[PATH_MAX];
	const char *name;
	int result = 0;

	snprintf(folder, sizeof folder, "%s", rule->path);
	*strrchr(folder, '/') = 0;
	if (!rule->text)
		return test_find(&finding->suite, folder, diag);
	name = strrchr(folder, '/') + 1;
	if (!*scratch->path)
		result = test_scratch_make(scratch);
	if (!result)
		result = library_unpack(name, scratch->path);
	if (result)
		return diag_error(diag, NULL, result, "the built-in tests of @%s cannot be written to %s: %s", name,
				  scratch->path, strerror(-result));
	snprintf(unpacked, sizeof unpacked, "%s/%s", scratch->path, name);
	return test_find(&finding->suite, unpacked, diag);
}

/* The tests of @name; of what is told by the diag, or was printed. */
static int find_shipped_tests(struct finding *finding, const char *name, struct asterism_diag *diag)
{
	struct library_files resolved;
	int result = library_resolve(&name, 1, &resolved);

	for (size_t i = 0; i < resolved.count && !result; i++)
		result = find_beside(finding, &resolved.files[i], diag);
	library_files_fini(&resolved);
	return result;
}

static int find_rule_tests(const struct cli_arguments *arguments, struct finding *finding)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result = diag ? 0 : -1;

	for (size_t i = 0; i < arguments->operand_count && !result; i++) {
		const char *folder = arguments->operands[i];

		result = library_is_name(folder) ? find_shipped_tests(finding, folder, diag)
						 : test_find(&finding->suite, folder, diag);
	}
	if (diag)
		cli_print(diag);
	else
		cli_error("out of memory");
	asterism_diag_free(diag);
	return result ? STATUS_USAGE : STATUS_FINE;
}

/* Rules without tests are no failure, but nothing to be silent about. */
static void report_untested(const struct test_suite *suite)
{
	for (size_t i = 0; i < suite->folder_count; i++) {
		if (suite->folders[i]->test_count == 0)
			cli_warning("%s has no tests", suite->folders[i]->name);
	}
}

static void run_each(const struct cli_arguments *arguments, const struct test_suite *suite,
		     const struct cmd_settings *settings, struct test_report *report)
{
	const struct test_options options = {
		.settings = settings->rows,
		.setting_count = settings->count,
		.engine = arguments->options[OPTION_ENGINE].number == 1 ? SESSION_ENGINE_KERNEL : SESSION_ENGINE_USER,
		.limit_ns = cli_has(arguments, OPTION_LIMIT) ? arguments->options[OPTION_LIMIT].number : LIMIT_NS,
		.stop = signals_take(),
	};

	test_report_begin(report);
	for (size_t i = 0; i < suite->case_count && !signals_came(); i++) {
		const struct test_case *test = &suite->cases[i];
		struct test_outcome outcome;

		if (!is_test_wanted(arguments, test))
			continue;
		test_report_running(report, test->name);
		test_run(test, &options, &outcome);
		test_report_result(report, test->name, &outcome);
		test_outcome_fini(&outcome);
	}
	test_report_end(report);
}

static int run_all(const struct cli_arguments *arguments, const struct test_suite *suite, struct test_report *report)
{
	struct cmd_settings settings;
	int result = cmd_settings_init(&settings, arguments);

	if (!result)
		run_each(arguments, suite, &settings, report);
	cmd_settings_fini(&settings);
	if (result) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	if (signals_came()) {
		cli_error("stopped before all tests were run");
		return STATUS_USAGE;
	}
	if (report->wrong)
		return STATUS_USAGE;
	return report->failed ? STATUS_MATCH : STATUS_FINE;
}

static int count_tests(const struct cli_arguments *arguments, const struct test_suite *suite,
		       struct test_report *report)
{
	for (size_t i = 0; i < suite->case_count; i++)
		report->planned += is_test_wanted(arguments, &suite->cases[i]);
	if (report->planned)
		return STATUS_FINE;
	if (suite->case_count) {
		cli_error("no test matches (%zu available)", suite->case_count);
		return STATUS_USAGE;
	}
	cli_error("there are no tests in %s", arguments->operands[0]);
	cli_hint("add tests/NAME.jsonl or tests/NAME.sh, with tests/NAME.expect, next to the rule");
	return STATUS_USAGE;
}

static int run_test(const struct cli_arguments *arguments)
{
	struct test_report report = {
		.format = (enum test_format)arguments->options[OPTION_TEST_FORMAT].number,
		.verbose = cli_has(arguments, OPTION_VERBOSE),
		.quiet = cli_has(arguments, OPTION_QUIET),
		.progress = isatty(STDERR_FILENO) && !cli_has(arguments, OPTION_QUIET),
	};
	struct finding finding = { 0 };
	int status;

	if (cli_has(arguments, OPTION_LIVE) && cli_has(arguments, OPTION_NO_LIVE)) {
		cli_error("--live and --no-live exclude each other");
		return STATUS_USAGE;
	}
	prepare_environment();
	status = find_rule_tests(arguments, &finding);
	if (!status)
		report_untested(&finding.suite);
	if (!status)
		status = count_tests(arguments, &finding.suite, &report);
	if (!status)
		status = run_all(arguments, &finding.suite, &report);
	test_suite_fini(&finding.suite);
	if (*finding.scratch.path)
		test_scratch_remove(&finding.scratch);
	return status;
}

static const struct cli_example examples[] = {
	{ "asterism test rules", "Runs the tests of all rules below the directory." },
	{ "asterism test closed-descriptor -v", "Shows the matches of each test as well." },
	{ "asterism test rules --no-live -f tap", "Runs only the tests of recorded events, with output in TAP." },
	{ "asterism test rules -k near-miss", "Runs only the tests with near-miss in their name." },
	{ NULL, NULL },
};

const struct cli_command cmd_test = {
	.name = "test",
	.summary = "run the tests of rules",
	.operands = "DIR|@NAME...",
	.description =
		"Runs the tests in DIR/tests. DIR is a directory with *.rule files, or one with such directories. "
		"@NAME is the directory of a shipped rule. A test NAME has these files:\n\ntests/NAME.jsonl holds "
		"events to replay; fields that are not given are 0 or empty. tests/NAME.events is a program that "
		"writes such events. tests/NAME.sh is a program that does what the rule looks for, or nearly; asterism "
		"observes it live, records it, and replays the recording. tests/NAME.set holds parameters, one "
		"NAME=VALUE per line.\n\ntests/NAME.expect lists the expected matches in their order, one JSON object "
		"per line. A match must have every member of its object, and there may be no other match; an empty "
		"file means no match at all. A string such as \">=100\" compares a number, and \"count\" makes a line "
		"stand for several matches.\n\nLive tests need root, or CAP_BPF and CAP_PERFMON; without these they "
		"are skipped. A program that exits with status 77 is skipped, too. One that runs longer than --timeout "
		"is killed with everything that it started.\n\nThe exit status is 0 if no test failed, 1 if one did, 2 "
		"if a rule, a test or the command line is wrong. docs/rule-tests.md describes these files.",
	.options = { OPTION_ENGINE, OPTION_TEST_FORMAT, OPTION_LIVE, OPTION_NO_LIVE, OPTION_QUIET, OPTION_SET,
		     OPTION_TESTS, OPTION_LIMIT, OPTION_VERBOSE },
	.examples = examples,
	.operands_min = 1,
	.run = run_test,
};
