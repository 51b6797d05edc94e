// SPDX-License-Identifier: BSD-2-Clause
/* Prints the results of tests. */

#include "cmd/ruletest/report.h"

#include "base/text.h"
#include "cmd/text/json-text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
	[TEST_PASSED] = "ok",
	[TEST_FAILED] = "FAIL",
	[TEST_SKIPPED] = "skip",
	[TEST_WRONG] = "FAIL",
};

/* What a test has said, which may be anything. */
static void put_start(const char *text, size_t length)
{
	char *start = strndup(text, length);

	text_write(stdout, start ? start : "(out of memory)", TEXT_WORDS);
	free(start);
}

/* Each line of text behind prefix. */
static void put_prefixed_lines(const char *text, const char *prefix)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		fputs(prefix, stdout);
		put_start(text, length);
		putchar('\n');
		text += length + (text[length] == '\n');
	}
}

/* The reason of a skipped test is one line. */
static void put_reason(const char *text)
{
	if (text)
		put_start(text, strcspn(text, "\n"));
}

static void put_matches(const struct test_found *found, const char *prefix)
{
	json_t *match;
	size_t index;

	json_array_foreach(found->matches, index, match)
	{
		char *text = json_text_dump(match, JSON_COMPACT);

		printf("%s%s\n", prefix, text ? text : "?");
		free(text);
	}
}

static void put_test_text(const struct test_report *report, const char *name, const struct test_outcome *outcome)
{
	bool good = outcome->result == TEST_PASSED || outcome->result == TEST_SKIPPED;

	if (good && report->quiet)
		return;
	printf("%-5s ", words[outcome->result]);
	text_write(stdout, name, TEXT_WORDS);
	if (outcome->result == TEST_SKIPPED) {
		fputs(": ", stdout);
		put_reason(outcome->why.bytes);
		putchar('\n');
		return;
	}
	printf(" (%.2f s)\n", (double)outcome->ns / 1e9);
	put_prefixed_lines(outcome->why.bytes, "        ");
	if (report->verbose)
		put_matches(&outcome->found, good ? "        " : "        match: ");
}

static void put_tap(const struct test_report *report, const char *name, const struct test_outcome *outcome)
{
	size_t number = report->passed + report->failed + report->skipped;
	bool good = outcome->result == TEST_PASSED || outcome->result == TEST_SKIPPED;

	printf("%s %zu - ", good ? "ok" : "not ok", number);
	text_write(stdout, name, TEXT_WORDS);
	if (outcome->result == TEST_SKIPPED) {
		fputs(" # SKIP ", stdout);
		put_reason(outcome->why.bytes);
	}
	putchar('\n');
	if (!good)
		put_prefixed_lines(outcome->why.bytes, "# ");
	if (report->verbose)
		put_matches(&outcome->found, "# ");
}

static json_t *lines_of(const char *text)
{
	json_t *lines = json_array();

	while (text && *text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		json_array_append_new(lines, json_text(line));
		free(line);
		text += length + (text[length] == '\n');
	}
	return lines;
}

static void put_test_json(const struct test_report *report, const char *name, const struct test_outcome *outcome)
{
	static const char *const results[] = {
		[TEST_PASSED] = "ok", [TEST_FAILED] = "fail", [TEST_SKIPPED] = "skip", [TEST_WRONG] = "wrong"
	};
	json_t *object = json_pack("{s:o, s:s, s:f, s:i}", "test", json_text(name), "result", results[outcome->result],
				   "seconds", (double)outcome->ns / 1e9, "matches",
				   (int)json_array_size(outcome->found.matches));

	if (outcome->result != TEST_PASSED)
		json_object_set_new(object, "why", lines_of(outcome->why.bytes));
	if (report->verbose && outcome->found.matches)
		json_object_set(object, "found", outcome->found.matches);
	json_text_put(object);
}

void test_report_begin(const struct test_report *report)
{
	if (report->format == TEST_TAP)
		printf("1..%zu\n", report->planned);
}

void test_report_running(const struct test_report *report, const char *name)
{
	fflush(stdout);
	if (report->progress)
		fprintf(stderr, "%zu of %zu: %s", report->passed + report->failed + report->skipped + 1,
			report->planned, name);
}

void test_report_result(struct test_report *report, const char *name, const struct test_outcome *outcome)
{
	if (report->progress)
		fputs("\r\033[K", stderr);
	report->passed += outcome->result == TEST_PASSED;
	report->failed += outcome->result == TEST_FAILED || outcome->result == TEST_WRONG;
	report->skipped += outcome->result == TEST_SKIPPED;
	report->wrong += outcome->result == TEST_WRONG;
	if (report->format == TEST_TAP)
		put_tap(report, name, outcome);
	else if (report->format == TEST_JSON)
		put_test_json(report, name, outcome);
	else
		put_test_text(report, name, outcome);
}

void test_report_end(const struct test_report *report)
{
	if (report->format == TEST_JSON)
		printf("{\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu}\n", report->passed, report->failed,
		       report->skipped);
	else if (report->format == TEST_TEXT)
		printf("%zu passed, %zu failed, %zu skipped\n", report->passed, report->failed, report->skipped);
}
