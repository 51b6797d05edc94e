// SPDX-License-Identifier: BSD-2-Clause
/* Paths as runtimes and systemd make them, and such as look like them. */

#include "base/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID    "3f2a9c1d0b5e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define OTHER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void expect(const char *path, const char *runs_in, const char *unit)
{
	struct container container;
	char text[CONTAINER_TEXT_BYTES] = "";

	if (container_of_path(path, &container)) {
		container_print(&container, text);
		if (!container.runtime != !*runs_in)
			fail_msg("%s: '%s' is %s container", path, text, container.runtime ? "a" : "no");
	}
	if (strcmp(text, *runs_in ? runs_in : unit) != 0)
		fail_msg("%s: '%s', not '%s'", path, text, *runs_in ? runs_in : unit);
}

/* container-paths.txt */
static void paths(void **state)
{
	FILE *rows = fopen(PATHS, "r");
	char line[2048], *rest, *path, *runs_in;
	int count = 0;

	(void)state;
	assert_non_null(rows);
	for (; fgets(line, sizeof line, rows); count += *line != '#') {
		rest = line;
		assert_non_null(strchr(line, '\n'));
		line[strcspn(line, "\n")] = 0;
		if (*line == '#')
			continue;
		path = strsep(&rest, "\t");
		runs_in = strsep(&rest, "\t");
		assert_non_null(rest);
		expect(path, runs_in, rest);
	}
	fclose(rows);
	assert_true(count > 100);
	expect("", "", "");
	expect("/a\\x0ab.service", "", "a\nb.service");
}

static void long_names_are_cut(void **state)
{
	char path[5000] = "/lxc/";
	struct container container;

	(void)state;
	memset(path + 5, 'a', sizeof path - 6);
	assert_true(container_of_path(path, &container));
	assert_int_equal(strlen(container.id), CONTAINER_ID_BYTES - 1);
}

static void expect_text(const char *cgroups, const char *expected)
{
	struct container container;
	char text[CONTAINER_TEXT_BYTES] = "";

	if (container_of_text(cgroups, &container))
		container_print(&container, text);
	assert_string_equal(text, expected);
}

static void processes(void **state)
{
	struct container container;

	(void)state;
	expect_text("0::/system.slice/ssh.service\n", "ssh.service");
	expect_text("0::/", "");
	/* Both versions: the first of version 1 that says anything, unless version 2 does. */
	expect_text("5:memory:/\n4:pids:/docker/" ID "\n1:name=systemd:/docker/" OTHER "\n0::/\n",
		    "docker:3f2a9c1d0b5e");
	expect_text("4:pids:/docker/" ID "\n0::/system.slice/x.service\n", "x.service");
	expect_text("", "");
	expect_text("nonsense\n::\n0:\n:", "");
	assert_false(container_of_process(0x7fffffff, &container));
}

static void a_name_that_is_cut_says_so(void **state)
{
	struct container container = { .runtime = NULL, .form = CONTAINER_UNIT_NAME };
	char text[CONTAINER_TEXT_BYTES];

	(void)state;
	memset(container.id, 'u', CONTAINER_TEXT_BYTES - 1);
	container_print(&container, text);
	assert_string_equal(text, container.id);
	container.id[CONTAINER_TEXT_BYTES - 1] = 'v';
	container_print(&container, text);
	assert_int_equal(strlen(text), CONTAINER_TEXT_BYTES - 1);
	assert_string_equal(text + CONTAINER_TEXT_BYTES - 5, "u...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(processes),
		cmocka_unit_test(a_name_that_is_cut_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
