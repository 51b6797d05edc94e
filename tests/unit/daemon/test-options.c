// SPDX-License-Identifier: BSD-2-Clause
/* What the command line of asterismd comes to: what is usual, what goes together, and with which status it ends. */

#include "daemon/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ARGUMENTS_MAX = 160 };

static char said[4096];

/* Reads "--one two", parted at spaces; what it prints is in said. */
static int take(const char *line, struct options *options)
{
	/* Options point into what was read. */
	static char text[8192];
	char *argv[ARGUMENTS_MAX] = { "asterismd" };
	int argc = 1, kept[2] = { dup(1), dup(2) }, file = memfd_create("said", 0), result;
	ssize_t length;

	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < ARGUMENTS_MAX - 1);
		argv[argc++] = word;
	}
	fflush(stdout);
	dup2(file, 1);
	dup2(file, 2);
	memset(options, 0, sizeof *options);
	result = options_read(argc, argv, options);
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		dup2(kept[i], 1 + i);
		close(kept[i]);
	}
	length = pread(file, said, sizeof said - 1, 0);
	said[length > 0 ? length : 0] = 0;
	close(file);
	return result;
}

static void assert_wrong(const char *line, const char *expected)
{
	static struct options options;

	assert_int_equal(take(line, &options), 1 + 2);
	if (!strstr(said, expected))
		fail_msg("%s: '%s' does not say '%s'", line, said, expected);
}

static void what_is_usual(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("", &options), 0);
	assert_string_equal(options.rules, "/etc/asterism/rules.d");
	assert_string_equal(options.socket, "/run/asterism.sock");
	assert_string_equal(options.output, "-");
	assert_null(options.group);
	assert_null(options.metrics);
	assert_null(options.policy);
	assert_null(options.recordings);
	assert_false(options.allow_actions || options.clients_record || options.sensors || options.always ||
		     options.measure);
	assert_int_equal(options.scope, ASTERISM_SCOPE_ALL);
	assert_int_equal(options.rate, 1000);
	assert_int_equal(options.units_max, 256);
	assert_int_equal(options.min_severity, 0);
	assert_int_equal(options.mode, 0);
	assert_int_equal(options.cpu_max_percent, 0);
	assert_true(options.memory_max_bytes == 768 << 20 && options.recordings_max_bytes == 1 << 30);
	assert_true(options.pid_count == 0 && !options.cgroups[0] && !options.users[0]);
}

static void processes_set_the_scope(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("--pid 7 --pid 9", &options), 0);
	assert_int_equal(options.scope, ASTERISM_SCOPE_TREE);
	assert_true(options.pid_count == 2 && options.pids[0] == 7 && options.pids[1] == 9);
	assert_int_equal(take("--pid 7 --scope pids", &options), 0);
	assert_int_equal(options.scope, ASTERISM_SCOPE_PIDS);
	assert_int_equal(take("--scope all", &options), 0);
	assert_wrong("--pid 7 --scope all", "--scope all and --pid exclude each other");
	assert_wrong("--scope tree", "--scope tree needs --pid");
	assert_wrong("--scope pids", "--scope pids needs --pid");
	assert_wrong("--scope some --pid 7", "some");
}

static void actions_are_allowed_in_one_way(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("--allow-actions", &options), 0);
	assert_true(options.allow_actions && !options.policy);
	assert_int_equal(take("--policy file", &options), 0);
	assert_false(options.allow_actions);
	assert_string_equal(options.policy, "file");
	assert_wrong("--policy file --allow-actions", "--allow-actions and --policy exclude each other");
}

static void lists_end_where_there_is_no_more_room(void **state)
{
	static struct options options;
	char line[4096] = "";

	(void)state;
	for (int i = 0; i < OPTIONS_NAMES_MAX; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), "--comm c%d ", i);
	assert_int_equal(take(line, &options), 0);
	assert_string_equal(options.comms[OPTIONS_NAMES_MAX - 1], "c63");
	assert_null(options.comms[OPTIONS_NAMES_MAX]);
	assert_null(options.users[0]);
	strcat(line, "--comm one");
	assert_wrong(line, "--comm may be given at most 64 times, not 65");
	*line = 0;
	for (int i = 0; i <= OPTIONS_PIDS_MAX; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), "--pid %d ", i + 1);
	assert_wrong(line, "--pid may be given at most 64 times, not 65");
}

static void each_filter_has_its_list(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("--user u --comm c --unit n.service --cgroup g --container 0123456789ab", &options), 0);
	assert_string_equal(options.users[0], "u");
	assert_string_equal(options.comms[0], "c");
	assert_string_equal(options.units[0], "n.service");
	assert_string_equal(options.cgroups[0], "g");
	assert_string_equal(options.containers[0], "0123456789ab");
	assert_null(options.cgroups[1]);
}

static void numbers_severities_and_modes(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(
		take("--rate 5 --memory-max 1G --cpu-max 250 --units-max 3 --mode 640 --recordings-max 2M", &options),
		0);
	assert_int_equal(options.rate, 5);
	assert_true(options.memory_max_bytes == 1 << 30 && options.recordings_max_bytes == 2 << 20);
	assert_int_equal(options.cpu_max_percent, 250);
	assert_int_equal(options.units_max, 3);
	assert_int_equal(options.mode, 0640);
	assert_int_equal(take("--min-severity info", &options), 0);
	assert_int_equal(options.min_severity, 1);
	assert_int_equal(take("--min-severity critical", &options), 0);
	assert_int_equal(options.min_severity, 5);
	assert_wrong("--rate 0", "--rate");
	assert_wrong("--rate 1000000001", "--rate");
	assert_wrong("--cpu-max 100001", "--cpu-max");
	assert_wrong("--memory-max 2048G", "--memory-max");
	assert_wrong("--mode 9", "--mode");
	assert_wrong("--min-severity loud", "loud");
}

static void sensors_that_are_always_open_are_sensors(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("--sensors", &options), 0);
	assert_true(options.sensors && !options.always);
	assert_int_equal(take("--sensors-always", &options), 0);
	assert_true(options.sensors && options.always);
}

static void what_only_answers_ends_well_and_what_is_wrong_does_not(void **state)
{
	static struct options options;

	(void)state;
	assert_int_equal(take("--help", &options), 1);
	assert_non_null(strstr(said, "asterismd"));
	assert_int_equal(take("--version", &options), 1);
	assert_memory_equal(said, "asterismd ", 10);
	assert_wrong("--no-such-option", "no-such-option");
	assert_wrong("operand", "operand");
	assert_wrong("--rules", "--rules");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_usual),
		cmocka_unit_test(processes_set_the_scope),
		cmocka_unit_test(actions_are_allowed_in_one_way),
		cmocka_unit_test(lists_end_where_there_is_no_more_room),
		cmocka_unit_test(each_filter_has_its_list),
		cmocka_unit_test(numbers_severities_and_modes),
		cmocka_unit_test(sensors_that_are_always_open_are_sensors),
		cmocka_unit_test(what_only_answers_ends_well_and_what_is_wrong_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
