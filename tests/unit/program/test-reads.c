// SPDX-License-Identifier: BSD-2-Clause
/* A rule reads what its conditions, actions and keys name, and all of what it keeps. */

#include "program/reads.h"
#include "sample-machine.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_sample(void **state)
{
	*state = sample_program();
	return 0;
}

static int read_machine(void **state)
{
	*state = sample_machine();
	return 0;
}

static int end(void **state)
{
	program_free(*state);
	return 0;
}

enum { FIELDS = FIELD_ALARM_RATIO + 1 };

struct seen {
	bool fields[FIELDS][PROGRAM_READ_TO_KEEP + 1];
	char text[400];
};

static void note(void *context, uint32_t field, enum program_read what_for)
{
	struct seen *seen = context;

	assert_true(field < FIELDS);
	seen->fields[field][what_for] = true;
}

/* "A.x? tid." - a field read to find out, one read to step; "!" where it is kept. */
static const char *reads_of(const struct program *program, uint32_t rule, uint32_t type)
{
	static struct seen seen;
	size_t at = 0;

	memset(&seen, 0, sizeof seen);
	program_each_read(program, rule, type, note, &seen);
	for (uint32_t i = 0; i < FIELDS; i++)
		for (int j = 0; j <= PROGRAM_READ_TO_KEEP; j++)
			if (seen.fields[i][j])
				at += (size_t)snprintf(seen.text + at, sizeof seen.text - at, "%s%" PRIu32 "%c",
						       at ? " " : "", i, "?.!"[j]);
	return seen.text;
}

static const char *line(const char *format, ...)
{
	static char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return text;
}

static void conditions_and_actions_are_distinguished_from_keys(void **state)
{
	const struct program *program = *state;

	assert_string_equal(reads_of(program, RULE_SILENCE, TYPE_A), "1. 2. 3. 4. 5.");
	assert_string_equal(reads_of(program, RULE_SILENCE, TYPE_B), line("%d.", FIELD_B_X));
	assert_string_equal(reads_of(program, RULE_SILENCE, TYPE_C), "");
	assert_string_equal(reads_of(program, RULE_DROPPING, TYPE_A), line("%d? %d?", FIELD_A_X, FIELD_A_NAME));
	assert_string_equal(reads_of(program, RULE_DROPPING, TYPE_ALARM),
			    line("%d. %d.", FIELD_ALARM_X, FIELD_ALARM_WHO));
}

static void all_of_a_kept_event_is_read(void **state)
{
	const struct program *program = *state;

	/* Of A, which opens: its condition looks at x, its actions at tid, comm and x. */
	assert_string_equal(reads_of(program, RULE_PAIR, TYPE_A), "0! 1! 2! 3. 3! 4. 4! 5? 5. 5! 6!");
	assert_string_equal(reads_of(program, RULE_PAIR, TYPE_C), "0! 1! 2! 3? 3! 4!");
}

static void any_type_is_all_of_them(void **state)
{
	const struct program *program = *state;

	assert_string_equal(reads_of(program, RULE_SILENCE, PROGRAM_NONE), line("1. 2. 3. 4. 5. %d.", FIELD_B_X));
	assert_string_equal(reads_of(program, RULE_STRICT, PROGRAM_NONE), "");
}

static void body_fields_are_counted_within_their_type(void **state)
{
	const struct program *program = *state;
	bool reads[5] = { false };

	program_rule_reads(program, RULE_SILENCE, TYPE_B, reads);
	assert_true(reads[0]);
	assert_false(reads[1] || reads[2] || reads[3] || reads[4]);
	program_rule_reads(program, RULE_PAIR, TYPE_B, reads);
	assert_true(reads[0] && reads[1] && reads[2] && reads[3] && reads[4]);
}

static void the_rest_of_an_open_key_is_read(void **state)
{
	const struct program *program = *state;

	assert_string_equal(reads_of(program, 0, TYPE_C), "1. 2?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(conditions_and_actions_are_distinguished_from_keys, read_sample, end),
		cmocka_unit_test_setup_teardown(all_of_a_kept_event_is_read, read_sample, end),
		cmocka_unit_test_setup_teardown(any_type_is_all_of_them, read_sample, end),
		cmocka_unit_test_setup_teardown(body_fields_are_counted_within_their_type, read_sample, end),
		cmocka_unit_test_setup_teardown(the_rest_of_an_open_key_is_read, read_machine, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
