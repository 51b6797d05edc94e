// SPDX-License-Identifier: BSD-2-Clause
/* Rows are found by their owners, and by the event types that they concern. */

#include "program/query.h"
#include "sample-machine.h"

#include <setjmp.h>
#include <stdarg.h>
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

static void rows_belong_to_their_owners(void **state)
{
	const struct program *program = *state;
	const struct program_rule *silence = &program->rules[RULE_SILENCE], *pair = &program->rules[RULE_PAIR];
	const struct program_state *quiet = &program_states(program, silence)[1];
	const struct program_statement *emit = program_statements(program, pair);

	assert_string_equal(program_text(program, quiet->label), "quiet");
	assert_string_equal(program_text(program, program_slots(program, silence)[4].name), "a.x");
	assert_int_equal(program_elements(program, silence)[3].type, TYPE_C);
	assert_int_equal(program_transitions(program, quiet)[1].flags, PROGRAM_FORBID);
	assert_int_equal(
		program_actions(program, program_transitions(program, program_states(program, silence)))[4].slot, 4);
	assert_int_equal(program_over(program, silence)[2], TYPE_A);
	assert_int_equal(emit->type, TYPE_ALARM);
	assert_int_equal(program_args(program, emit)[1].field, FIELD_ALARM_RATIO);
	assert_string_equal(program_text(program, program_returns(program, pair)[1].name), "b.real / 2");
	assert_ptr_equal(program_fields(program, &program->types[TYPE_B]), &program->fields[FIELD_B_X]);
}

static void keys_say_which_field_is_which_slot(void **state)
{
	const struct program *program = *state;
	const struct program_class *class = program_classes(program, &program->rules[RULE_DROPPING]);
	const struct program_key *key = program_key_for(program, class, TYPE_A);

	assert_int_equal(program_class_slots(program, class)[1], 1);
	assert_ptr_equal(key, program_keys(program, class));
	assert_int_equal(program_key_fields(program, key)[0], FIELD_A_NAME);
	assert_int_equal(program_key_fields(program, key)[1], FIELD_A_X);
	assert_int_equal(program_class_whole(class), 3);
	assert_int_equal(program_key_given(program, class, key), 3);
	assert_null(program_key_for(program, class, TYPE_B));
}

static void a_key_of_its_own_goes_before_the_one_for_all(void **state)
{
	const struct program *program = *state;
	const struct program_class *class = program_classes(program, &program->rules[RULE_STRICT]);

	assert_ptr_equal(program_key_for(program, class, TYPE_B), &program_keys(program, class)[0]);
	assert_ptr_equal(program_key_for(program, class, TYPE_C), &program_keys(program, class)[1]);
	assert_ptr_equal(program_key_for(program, class, SAMPLE_TYPES), &program_keys(program, class)[1]);
	assert_int_equal(program_class_whole(class), 0);
}

static void streams_have_what_they_name_or_all(void **state)
{
	const struct program *program = *state;
	const struct program_rule *dropping = &program->rules[RULE_DROPPING], *strict = &program->rules[RULE_STRICT];

	assert_true(program_rule_sees(program, dropping, TYPE_A));
	assert_true(program_rule_lists(program, dropping, TYPE_ALARM));
	assert_false(program_rule_sees(program, dropping, TYPE_B));
	assert_true(program_rule_sees(program, strict, TYPE_B));
	assert_true(program_rule_sees(program, strict, SAMPLE_TYPES));
	assert_false(program_rule_lists(program, strict, TYPE_B));
}

static void transitions_on_a_type_stand_together(void **state)
{
	const struct program *program = *state;
	const struct program_state *states = program_states(program, &program->rules[RULE_PAIR]);
	uint32_t count;

	assert_ptr_equal(program_transitions_on(program, &states[2], TYPE_B, &count),
			 program_transitions(program, &states[2]));
	assert_int_equal(count, 2);
	assert_ptr_equal(program_transitions_on(program, &states[2], TYPE_C, &count),
			 &program_transitions(program, &states[2])[2]);
	assert_int_equal(count, 1);
	program_transitions_on(program, &states[2], TYPE_A, &count);
	assert_int_equal(count, 0);
}

static void machines_leave_parts_of_keys_open(void **state)
{
	const struct program *program = *state;
	const struct program_rule *watch = &program->rules[0];
	const struct program_class *class = program_classes(program, watch);
	const struct program_notice *warning = program_notice(program, watch, WATCH_WARNING);

	assert_int_equal(program_key_given(program, class, program_key_for(program, class, TYPE_C)), 1);
	assert_int_equal(program_key_given(program, class, program_key_for(program, class, TYPE_B)), 3);
	assert_ptr_equal(warning, &program->notices[0]);
	assert_ptr_equal(program_pieces(program, warning), &program->pieces[warning->first_piece]);
	assert_int_equal(program_notice(program, watch, WATCH_EMISSION)->flags, PROGRAM_NOTICE_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_belong_to_their_owners, read_sample, end),
		cmocka_unit_test_setup_teardown(keys_say_which_field_is_which_slot, read_sample, end),
		cmocka_unit_test_setup_teardown(a_key_of_its_own_goes_before_the_one_for_all, read_sample, end),
		cmocka_unit_test_setup_teardown(streams_have_what_they_name_or_all, read_sample, end),
		cmocka_unit_test_setup_teardown(transitions_on_a_type_stand_together, read_sample, end),
		cmocka_unit_test_setup_teardown(machines_leave_parts_of_keys_open, read_machine, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
