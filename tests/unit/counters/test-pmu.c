// SPDX-License-Identifier: BSD-2-Clause
/* What a tree of PMUs says of events, and what is refused of it. */

#include "counters/measure/pmu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/asterism-pmu-XXXXXX";

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof path, "%s/box/%s", folder, file);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

static void drop(const char *file)
{
	char path[256];

	snprintf(path, sizeof path, "%s/box/%s", folder, file);
	remove(path);
}

/* A PMU as the kernel shows them: event files of uncore end without a newline. */
static int begin(void **state)
{
	static const char *const under[] = { "", "/box", "/box/events", "/box/format" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof under / sizeof *under; i++) {
		snprintf(path, sizeof path, "%s%s", folder, under[i]);
		mkdir(path, 0755);
	}
	put("type", "17\n");
	put("format/event", "config:0-7,32-35\n");
	put("format/umask", "config:8-15\n");
	put("format/inv", "config:23\n");
	put("format/filter", "config1:0-63\n");
	put("events/reads", "event=0x304,umask=0x03");
	put("events/reads.scale", "6.103515625e-5\n");
	drop("cpumask");
	drop("cpus");
	return 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static void expect_refused(const char *event, int error, const char *wanted)
{
	char reason[METER_REASON_BYTES] = "";
	struct pmu_event found;

	assert_int_equal(pmu_find(folder, "box", event, reason, &found), error);
	assert_string_equal(reason, wanted);
}

static void test_found(void **state)
{
	char reason[METER_REASON_BYTES];
	struct pmu_event found;

	(void)state;
	assert_int_equal(pmu_find(folder, "box", "reads", reason, &found), 0);
	assert_int_equal(found.type, 17);
	assert_true(found.configs[0] == 0x300000304);
	assert_true(found.scale == 6.103515625e-5);
	assert_false(found.has_cpus || found.is_of_machine);
	assert_int_equal(pmu_find(folder, "box", "event=4,inv,filter=0xffffffffffffffff,config2=9", reason, &found), 0);
	assert_true(found.configs[0] == (1 << 23 | 4) && found.configs[1] == UINT64_MAX && found.configs[2] == 9);
	assert_true(found.scale == 1);
	put("cpus", "0-1,65\n");
	assert_int_equal(pmu_find(folder, "box", "reads", reason, &found), 0);
	assert_true(found.has_cpus && !found.is_of_machine);
	put("cpumask", "0,64");
	assert_int_equal(pmu_find(folder, "box", "reads", reason, &found), 0);
	assert_true(found.has_cpus && found.is_of_machine && found.cpus[0] == 1 && found.cpus[1] == 1);
}

static void test_missing(void **state)
{
	char reason[METER_REASON_BYTES];
	struct pmu_event found;

	(void)state;
	assert_int_equal(pmu_find(folder, "none", "reads", reason, &found), -ENOENT);
	assert_string_equal(reason, "this machine has no PMU none");
	expect_refused("writes", -ENOENT, "PMU box has no event writes");
	drop("format/umask");
	expect_refused("reads", -EINVAL, "PMU box has no format for umask");
	expect_refused("mask=1", -EINVAL, "PMU box has no format for mask");
}

static void test_formats(void **state)
{
	static const char *const wrong[] = { "config:0-64",
					     "config:7-3",
					     "config4:0-7",
					     "config:",
					     "config:0-",
					     "config:0-7,",
					     "umask",
					     "config:-1",
					     "config0-7",
					     "config:0-7 ",
					     "config:18446744073709551616" };
	char expected[METER_REASON_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		put("format/umask", wrong[i]);
		snprintf(expected, sizeof expected, "PMU box: cannot read the format of umask: %s", wrong[i]);
		expect_refused("umask=1", -EINVAL, expected);
	}
	put("format/umask", "config:4-9\n");
	expect_refused("event=1,umask=1", -EINVAL, "PMU box: umask sets bits that are set already (config:4-9)");
	expect_refused("event=1,event=1", -EINVAL, "PMU box: event sets bits that are set already (config:0-7,32-35)");
	expect_refused("event=0x1000", -EINVAL, "PMU box: event=0x1000 does not fit into config:0-7,32-35");
	put("format/umask", "");
	expect_refused("umask=1", -EINVAL, "PMU box: format/umask is empty");
}

static void test_terms(void **state)
{
	static const struct {
		const char *text, *shown;
	} wrong[] = { { "event=?", "event=?" },   { "event=", "event=" },     { "event=-1", "event=-1" },
		      { "event=0x", "event=0x" }, { "event=4z", "event=4z" }, { "event=18446744073709551616", NULL },
		      { "../type=1", NULL },      { "event=1,", "" },         { "=1", NULL },
		      { "event=+1", NULL },       { "event=0x 1", NULL } };
	char expected[METER_REASON_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		put("events/reads", wrong[i].text);
		snprintf(expected, sizeof expected, "PMU box: cannot read the term %s",
			 wrong[i].shown ? wrong[i].shown : wrong[i].text);
		expect_refused("reads", -EINVAL, expected);
	}
}

static void test_files(void **state)
{
	char text[5000];

	(void)state;
	memset(text, '1', sizeof text - 1);
	text[sizeof text - 1] = 0;
	put("events/reads", text);
	expect_refused("reads", -EINVAL, "PMU box: events/reads is longer than 510 bytes");
	put("events/reads", "event=1\numask=1\n");
	expect_refused("reads", -EINVAL, "PMU box: events/reads is not one line of text");
	put("events/reads", "event=1");
	put("events/reads.scale", "nan");
	expect_refused("reads", -EINVAL, "PMU box: the scale of reads is no number: nan");
	put("events/reads.scale", "0");
	expect_refused("reads", -EINVAL, "PMU box: the scale of reads is no number: 0");
	drop("events/reads.scale");
	put("cpumask", "0-4096");
	expect_refused("reads", -EINVAL, "PMU box: cannot read cpumask: 0-4096");
	put("cpumask", "\n");
	expect_refused("reads", -EINVAL, "PMU box: cpumask is empty");
	put("type", "4294967296\n");
	expect_refused("reads", -EINVAL, "PMU box: its type is no number: 4294967296");
	put("type", "-1\n");
	expect_refused("reads", -EINVAL, "PMU box: its type is no number: -1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_found, begin),   cmocka_unit_test_setup(test_missing, begin),
		cmocka_unit_test_setup(test_formats, begin), cmocka_unit_test_setup(test_terms, begin),
		cmocka_unit_test_setup(test_files, begin),
	};

	if (!mkdtemp(folder))
		return 1;
	return cmocka_run_group_tests(tests, NULL, end);
}
