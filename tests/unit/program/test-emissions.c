// SPDX-License-Identifier: BSD-2-Clause
/* Who emits for whom, one step and many steps away. */

#include "program/emissions.h"

#include "base/alloc.h"
#include "compiled.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TYPES "EVENT A { x: i64 }\nEVENT B { x: i64 }\nEVENT C { x: i64 }\nEVENT D { x: i64 }\n"

/* first -> second -> third, by B and C; names takes C only by name; D is for nobody. */
static struct program *chain(void)
{
	return compiled(TYPES, "RULE first PATTERN { A:a } DO { EMIT B(x = a.x) }\n"
			       "RULE second PATTERN { B:b } DO { EMIT C(x = b.x); EMIT D(x = 1) }\n"
			       "RULE third PATTERN { C:c }\n"
			       "RULE names SKIPTILLNEXT PATTERN { A:a } OVER { A, C }\n"
			       "RULE strict STRICTSEQUENCE PATTERN { [A:a, A:b] } OVER { A, C }\n");
}

enum { FIRST, SECOND, THIRD, NAMES, STRICT };

static uint32_t type(const struct program *program, const char *name)
{
	uint32_t found = program_type_find(program, name);

	assert_int_not_equal(found, PROGRAM_NONE);
	return found;
}

static void emitted_types_are_known(void **state)
{
	struct program *program = chain();

	(void)state;
	assert_true(program_emits(program, &program->rules[FIRST]));
	assert_false(program_emits(program, &program->rules[THIRD]));
	assert_false(program_is_emitted(program, type(program, "A")));
	assert_true(program_is_emitted(program, type(program, "D")));
	program_free(program);
}

static void rules_take_what_moves_them(void **state)
{
	struct program *program = chain();

	(void)state;
	assert_true(program_takes(program, THIRD, type(program, "C")));
	assert_false(program_takes(program, NAMES, type(program, "C")));
	assert_true(program_takes(program, STRICT, type(program, "C")));
	assert_true(program_is_taken(program, type(program, "C")));
	assert_false(program_is_taken(program, type(program, "D")));
	assert_true(program_feeds(program, FIRST, SECOND));
	assert_false(program_feeds(program, SECOND, FIRST));
	assert_false(program_feeds(program, SECOND, NAMES));
	program_free(program);
}

/* "second third" */
static const char *reached(const struct program *program, uint32_t rule, enum program_way way)
{
	static char text[200];
	struct program_reached found;

	assert_int_equal(program_reach(program, rule, way, 8, &found), 0);
	text[0] = 0;
	for (uint32_t i = 0; i < found.count; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "",
			program_text(program, program->rules[found.rules[i]].name));
	alloc_free(found.rules);
	return text;
}

static void ways_go_down_or_both_ways(void **state)
{
	struct program *program = chain();

	(void)state;
	assert_string_equal(reached(program, FIRST, PROGRAM_DOWNSTREAM), "second third strict");
	assert_string_equal(reached(program, THIRD, PROGRAM_DOWNSTREAM), "");
	assert_string_equal(reached(program, THIRD, PROGRAM_BOTH_WAYS), "second first third strict");
	assert_string_equal(reached(program, NAMES, PROGRAM_BOTH_WAYS), "");
	program_free(program);
}

static void too_many_are_refused(void **state)
{
	struct program *program = chain();
	struct program_reached found;

	(void)state;
	assert_int_equal(program_reach(program, FIRST, PROGRAM_DOWNSTREAM, 2, &found), -E2BIG);
	assert_null(found.rules);
	assert_int_equal(found.count, 0);
	assert_int_equal(program_reach(program, FIRST, PROGRAM_DOWNSTREAM, 3, &found), 0);
	assert_int_equal(found.count, 3);
	alloc_free(found.rules);
	program_free(program);
}

static void without_emit_nobody_is_reached(void **state)
{
	struct program *program = compiled(TYPES, "RULE one PATTERN { A:a }\nRULE two PATTERN { A:a }\n");
	struct program_reached found;

	(void)state;
	assert_int_equal(program_reach(program, 0, PROGRAM_BOTH_WAYS, 0, &found), 0);
	assert_null(found.rules);
	program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emitted_types_are_known),        cmocka_unit_test(rules_take_what_moves_them),
		cmocka_unit_test(ways_go_down_or_both_ways),      cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(without_emit_nobody_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
