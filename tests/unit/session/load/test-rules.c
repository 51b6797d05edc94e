// SPDX-License-Identifier: BSD-2-Clause
/* Reading rules: every allocation may fail, and an image stands for its rules in whatever catalog it meets. */

#include "base/alloc.h"
#include "session/load/rules.h"
#include "session/session.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char rule_text[] = "EVENT A { x: i64, s: string }\nEVENT B { x: i64 }\n"
				"RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }\n";
static const char event_lines[] = "{\"event\":\"A\",\"ts\":1,\"x\":7,\"s\":\"\"}\n{\"event\":\"B\",\"ts\":2,\"x\":7}\n";

static char folder[] = "/tmp/asterism-unit-XXXXXX";
static char rule_file[64], image_file[64], events_file[64];

static void put_file(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(rule_file, sizeof rule_file, "%s/pair.rule", folder);
	snprintf(image_file, sizeof image_file, "%s/pair.astc", folder);
	snprintf(events_file, sizeof events_file, "%s/pair.jsonl", folder);
	put_file(rule_file, rule_text, strlen(rule_text));
	put_file(events_file, event_lines, strlen(event_lines));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(rule_file);
	unlink(image_file);
	unlink(events_file);
	rmdir(folder);
	return 0;
}

static int count_match(void *context, const struct program_match *match)
{
	(void)match;
	++*(int *)context;
	return 0;
}

/* Reads the file and replays the events. Returns the first failure; *matches only counts where there is none. */
static int read_and_replay(const char *file, struct asterism_diag *diag, int *matches)
{
	const char *events = events_file;
	struct session_replay_options options = {
		.files = &events,
		.file_count = 1,
		.on_match = count_match,
		.context = matches,
	};
	struct session_rules *rules;
	struct session_totals totals;
	int result = session_rules_read(&file, 1, diag, &rules);

	*matches = 0;
	if (result)
		return result;
	result = session_replay(rules, &options, diag, &totals);
	session_totals_fini(&totals);
	session_rules_free(rules);
	return result;
}

static void text_and_image_find_the_same(void **state)
{
	const char *file = rule_file;
	struct session_rules *rules;
	size_t length;
	int matches;

	(void)state;
	assert_int_equal(read_and_replay(rule_file, NULL, &matches), 0);
	assert_int_equal(matches, 1);
	assert_int_equal(session_rules_read(&file, 1, NULL, &rules), 0);
	const void *image = session_rules_image(rules, &length);

	put_file(image_file, image, length);
	session_rules_free(rules);
	assert_int_equal(read_and_replay(image_file, NULL, &matches), 0);
	assert_int_equal(matches, 1);
}

/* The first allocations, then fewer and fewer: the catalogs alone take thousands. */
static void every_allocation_may_fail(const char *file)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result = -ENOMEM, matches;

	for (unsigned long n = 1; result; n += 1 + n / 16) {
		alloc_fail_at(n);
		result = read_and_replay(file, diag, &matches);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		assert_true(result == 0 || asterism_diag_count(diag, ASTERISM_ERROR) > 0);
		asterism_diag_clear(diag);
		assert_true(n < 100000000);
	}
	assert_int_equal(matches, 1);
	asterism_diag_free(diag);
}

static void short_memory_text(void **state)
{
	(void)state;
	every_allocation_may_fail(rule_file);
}

static void short_memory_image(void **state)
{
	(void)state;
	every_allocation_may_fail(image_file);
}

static void an_image_for_another_catalog(void **state)
{
	static const char other[] = "EVENT sys_enter_read { x: i64 }\nRULE r PATTERN { sys_enter_read:a }\n";
	struct asterism_diag *diag = asterism_diag_new();
	const char *file = rule_file;
	struct session_rules *rules;

	(void)state;
	put_file(rule_file, other, strlen(other));
	assert_int_equal(session_rules_read(&file, 1, diag, &rules), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	asterism_diag_free(diag);
	put_file(rule_file, rule_text, strlen(rule_text));
}

/* What stands for a file is named like one and read from nowhere. */
static void texts_stand_for_files(void **state)
{
	static const char text[] =
		"EVENTS \"tcp.events\" EVENT A { x: i64 } RULE r PATTERN { A:a } RETURN { a.z AS z }";
	const struct session_rules_file files[] = { { "<there>/r.rule", text, strlen(text) }, { .path = rule_file } };
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules;

	(void)state;
	assert_int_equal(session_rules_read_files(&(struct session_rules_files){ files, 1 }, diag, &rules), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->file, "<there>/r.rule");
	assert_non_null(strstr(asterism_diag_get(diag, 0)->text, "'z'"));
	asterism_diag_free(diag);
}

static void parameters_are_kept(void **state)
{
	static const char text[] =
		"PARAM b = 20ms; PARAM a = \"x\";\nEVENT A { x: i64 }\nRULE r PATTERN { A:a } WITHIN b\n";
	const struct lang_setting settings[] = { { "b", "5s" } };
	const char *image_name = image_file;
	const struct session_rules_files files = { &(struct session_rules_file){ .path = rule_file }, 1, settings, 1 },
					 image = { &(struct session_rules_file){ .path = image_file }, 1, settings, 1 };
	struct asterism_diag *diag = asterism_diag_new();
	struct session_rules *rules;
	uint32_t count;

	(void)state;
	put_file(rule_file, text, strlen(text));
	assert_int_equal(session_rules_read_files(&files, diag, &rules), 0);
	const struct session_parameter *parameters = session_rules_parameters(rules, &count);

	assert_int_equal(count, 2);
	assert_string_equal(parameters[0].name, "b");
	assert_non_null(strstr(rule_file, parameters[0].file));
	assert_null(strpbrk(parameters[0].file, "/."));
	assert_string_equal(parameters[0].value, "5s");
	assert_string_equal(parameters[0].usual, "20ms");
	assert_string_equal(parameters[1].name, "a");
	assert_string_equal(parameters[1].value, "\"x\"");
	assert_string_equal(parameters[1].usual, "\"x\"");
	for (unsigned long n = 1; n < 100000; n += 1 + n / 16) {
		struct session_rules *others;

		alloc_fail_at(n);
		int result = session_rules_read_files(&files, diag, &others);

		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		if (!result)
			session_rules_free(others);
		asterism_diag_clear(diag);
	}
	session_rules_free(rules);
	/* An image has none, and takes none. */
	assert_int_equal(session_rules_read_files(&image, diag, &rules), -EINVAL);
	assert_non_null(strstr(asterism_diag_get(diag, 0)->text, "cannot set b"));
	assert_int_equal(session_rules_read(&image_name, 1, diag, &rules), 0);
	session_rules_parameters(rules, &count);
	assert_int_equal(count, 0);
	session_rules_free(rules);
	asterism_diag_free(diag);
	put_file(rule_file, rule_text, strlen(rule_text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_image_find_the_same), cmocka_unit_test(short_memory_text),
		cmocka_unit_test(short_memory_image),           cmocka_unit_test(an_image_for_another_catalog),
		cmocka_unit_test(parameters_are_kept),          cmocka_unit_test(texts_stand_for_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
