// SPDX-License-Identifier: BSD-2-Clause
/* Which events --event, --pid, --cpu, --from, --to and --ordinals leave over, and which of their values are none. */

#include "cmd/text/filter.h"

#include "cli/print.h"
#include "cmd/options/status.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char said[512];

static void keep(const struct asterism_message *message)
{
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", message->text);
}

/* Opens a filter with one option. */
static int with(struct filter *filter, unsigned option, const char *text)
{
	static struct cli_arguments arguments;

	said[0] = 0;
	memset(&arguments, 0, sizeof arguments);
	arguments.options[option].text = text;
	return filter_open(filter, &arguments);
}

static void assert_refused(unsigned option, const char *text)
{
	struct filter filter;

	if (with(&filter, option, text) != STATUS_USAGE || !strstr(said, text))
		fail_msg("'%s' is taken, or not told: '%s'", text, said);
	filter_close(&filter);
}

static enum filter_verdict judge(struct filter *filter, uint64_t ts, uint64_t seq, uint32_t type)
{
	static const struct event_type types[] = { { .name = "sched_switch" }, { .name = "sys_enter" } };
	struct event_header record = { .ts = ts, .seq = seq, .type = type, .pid = 7, .tid = 8, .cpu = 1 };
	struct event event = { .record = &record, .type = &types[type] };

	return filter_judge(filter, &event);
}

static void ordinals_are_numbers_and_ranges(void **state)
{
	static const struct {
		const char *text;
		uint64_t first, last;
	} rows[] = {
		{ "17", 17, 17 },    { "100..199", 100, 199 }, { "100..", 100, UINT64_MAX },
		{ "..199", 1, 199 }, { "5..5", 5, 5 },         { "18446744073709551615", UINT64_MAX, UINT64_MAX },
	};
	struct filter filter;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(with(&filter, OPTION_ORDINALS, rows[i].text), STATUS_FINE);
		assert_true(filter.first == rows[i].first && filter.last == rows[i].last);
		filter_close(&filter);
	}
	assert_refused(OPTION_ORDINALS, "..");
	assert_refused(OPTION_ORDINALS, "9..8");
	assert_refused(OPTION_ORDINALS, "1...2");
	assert_refused(OPTION_ORDINALS, "1..2x");
	assert_refused(OPTION_ORDINALS, "-1");
	assert_refused(OPTION_ORDINALS, " 1");
	assert_refused(OPTION_ORDINALS, "1-2");
	assert_refused(OPTION_ORDINALS, "18446744073709551616");
}

static void what_is_behind_the_last_ordinal_ends_it(void **state)
{
	struct filter filter;

	(void)state;
	assert_int_equal(with(&filter, OPTION_ORDINALS, "2..3"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_LEAVE_OUT);
	assert_int_equal(judge(&filter, 1, 2, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 1, 3, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 1, 4, 0), FILTER_END);
	filter_close(&filter);
}

static void lists_hold_numbers_alone(void **state)
{
	struct filter filter;

	(void)state;
	assert_int_equal(with(&filter, OPTION_PIDS, "12,7"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_SHOW);
	filter_close(&filter);
	assert_int_equal(with(&filter, OPTION_PIDS, "8"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_LEAVE_OUT);
	filter_close(&filter);
	assert_int_equal(with(&filter, OPTION_TIDS, "8"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_SHOW);
	filter_close(&filter);
	assert_int_equal(with(&filter, OPTION_CPUS, "0,4294967295"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_LEAVE_OUT);
	filter_close(&filter);
	assert_refused(OPTION_CPUS, "4294967296");
	assert_refused(OPTION_PIDS, "1,,2");
	assert_refused(OPTION_PIDS, "-1");
	assert_refused(OPTION_TIDS, "1 2");
	assert_refused(OPTION_TIDS, "0x10");
}

static void names_are_globs_and_have_to_be_met(void **state)
{
	char longer[300];
	struct filter filter;

	(void)state;
	assert_int_equal(with(&filter, OPTION_EVENT, "sched_*,nothing"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 1, 2, 1), FILTER_LEAVE_OUT);
	assert_int_equal(filter_check_names(&filter), STATUS_USAGE);
	assert_non_null(strstr(said, "the trace has no event type 'nothing'"));
	assert_null(strstr(said, "sched_*"));
	filter_close(&filter);
	assert_int_equal(with(&filter, OPTION_EVENT, "sys_enter"), STATUS_FINE);
	assert_int_equal(judge(&filter, 1, 1, 0), FILTER_LEAVE_OUT);
	assert_int_equal(judge(&filter, 1, 2, 1), FILTER_SHOW);
	assert_int_equal(filter_check_names(&filter), STATUS_FINE);
	filter_close(&filter);
	assert_refused(OPTION_EVENT, ",a");
	memset(longer, 'a', sizeof longer);
	longer[256] = 0;
	assert_refused(OPTION_EVENT, longer);
	longer[255] = 0;
	assert_int_equal(with(&filter, OPTION_EVENT, longer), STATUS_FINE);
	filter_close(&filter);
}

/* From 10 on to before 20, after the first event or on the clock. */
static void between(struct filter *filter, const char *sign)
{
	struct cli_arguments arguments = { 0 };

	arguments.options[OPTION_FROM] = (struct cli_value){ .text = sign, .number = 10 };
	arguments.options[OPTION_TO] = (struct cli_value){ .text = sign, .number = 20 };
	said[0] = 0;
	assert_int_equal(filter_open(filter, &arguments), STATUS_FINE);
}

static void times_are_relative_unless_told_otherwise(void **state)
{
	struct filter filter;

	(void)state;
	between(&filter, "10ns");
	assert_int_equal(judge(&filter, 1000, 1, 0), FILTER_LEAVE_OUT);
	assert_int_equal(judge(&filter, 1009, 2, 0), FILTER_LEAVE_OUT);
	filter_warn_of_end(&filter);
	assert_non_null(strstr(said, "--from is after the last event"));
	assert_int_equal(judge(&filter, 1010, 3, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 1019, 4, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 1020, 5, 0), FILTER_END);
	said[0] = 0;
	filter_warn_of_end(&filter);
	assert_string_equal(said, "");
	filter_close(&filter);
	between(&filter, "@10");
	assert_int_equal(judge(&filter, 9, 1, 0), FILTER_LEAVE_OUT);
	assert_int_equal(judge(&filter, 10, 2, 0), FILTER_SHOW);
	assert_int_equal(judge(&filter, 20, 3, 0), FILTER_END);
	filter_close(&filter);
}

static void times_beyond_the_clock_are_its_end(void **state)
{
	struct filter filter;

	(void)state;
	between(&filter, "10ns");
	assert_int_equal(judge(&filter, UINT64_MAX - 15, 1, 0), FILTER_LEAVE_OUT);
	assert_int_equal(judge(&filter, UINT64_MAX - 1, 2, 0), FILTER_SHOW);
	filter_close(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinals_are_numbers_and_ranges),
		cmocka_unit_test(what_is_behind_the_last_ordinal_ends_it),
		cmocka_unit_test(lists_hold_numbers_alone),
		cmocka_unit_test(names_are_globs_and_have_to_be_met),
		cmocka_unit_test(times_are_relative_unless_told_otherwise),
		cmocka_unit_test(times_beyond_the_clock_are_its_end),
	};

	cli_messages_to(keep);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
