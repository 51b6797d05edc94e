// SPDX-License-Identifier: BSD-2-Clause
/* Modifiers, actions, declarations, several files. */

#include "base/alloc.h"
#include "read-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_defaults(void **state)
{
	struct reading reading;

	(void)state;
	read_text(&reading, "RULE r PATTERN { [A, B, A] }");
	assert_int_equal(reading.result, 0);
	const struct lang_rule *rule = &reading.unit->rules[0];

	assert_string_equal(rule->name, "r");
	assert_int_equal(rule->location.line, 1);
	assert_int_equal(rule->location.column, 6);
	assert_int_equal(rule->mode, LANG_ANY_MODE);
	assert_int_equal(rule->semantics, LANG_SKIP_TILL_NEXT);
	assert_int_equal(rule->loss, LANG_LOSS_TAINT);
	assert_int_equal(rule->pool, 16384);
	assert_false(rule->drop);
	assert_false(rule->has_within);
	assert_false(rule->return_sequence);
	assert_false(rule->over_all);
	assert_int_equal(rule->over_count, 2);
	assert_int_equal(reading.unit->declared_count, 3);
	assert_string_equal(reading.unit->declared[2]->name, "C");
	reading_fini(&reading);
}

/* A value's name is its text, on one line whatever ends lines. */
static void test_value_names(void **state)
{
	struct reading reading;

	(void)state;
	read_text(&reading, "RULE r PATTERN { A:a } RETURN { a.x  + 1, a.x +\r\n\t2,\n a.ts\n-\n\n a.ts, a.x AS y }");
	assert_int_equal(reading.result, 0);
	const struct lang_rule *rule = &reading.unit->rules[0];

	assert_int_equal(rule->value_count, 4);
	assert_string_equal(rule->values[0].name, "a.x  + 1");
	assert_string_equal(rule->values[1].name, "a.x + 2");
	assert_string_equal(rule->values[2].name, "a.ts - a.ts");
	assert_string_equal(rule->values[3].name, "y");
	reading_fini(&reading);
}

static void test_modifiers(void **state)
{
	(void)state;
	expect_rule("synchronous rule r StrictPartition pattern { [A:a, B] } on loss discard over { C, B, A, C } "
		    "pool 1 after match drop return sequence within 250ms where { [tid] }",
		    "strictpartition [A:a B]\njoin tid\nsynchronous\nwithin 250000000\ndrop\npool 1\nloss discard\n"
		    "return sequence\nover C B A\n");
	expect_rule("ASYNCHRONOUS RULE r SKIPTILLANY PATTERN { A }; WITHIN 2000000, POOL 16777216; ON LOSS KEEP; "
		    "AFTER MATCH KEEP; OVER { *, };",
		    "skiptillany A\nasynchronous\nwithin 2000000\npool 16777216\nloss keep\nover *\n");
	expect_rule("RULE r STRICTSEQUENCE PATTERN { A } ON LOSS TAINT WITHIN 9223372036854775807",
		    "strictsequence A\nwithin 9223372036854775807\nover A\n");
}

static void test_return(void **state)
{
	(void)state;
	expect_rule("RULE r PATTERN { [A:a, B[]:b, (C:c | A)] } RETURN { a.x ,b.ts.x AS q , }",
		    "1:60+2: error: 'ts' is not an array function\n"
		    "\tthe array functions are len and, of a field, min max avg sum first last\n");
	expect_rule("RULE r PATTERN { [A:a, B[]:b, (C:c | A)] }\n"
		    "RETURN {  a.x  +1 , b.len AS n, b[].avg.x, c.c, (a.x > 3) AS big, \"text\", a.r * 2, a.u\n+ 1; }",
		    "skiptillnext [A:a B[1..]:b (C:c | A)]\n"
		    "return a.x  +1 = (a.x + 1)\nreturn n = b.len\nreturn b[].avg.x = b.avg.x:f64\nreturn c.c = c.c\n"
		    "return big = (a.x > 3)\nreturn \"text\" = \"text\"\nreturn a.r * 2 = (a.r:f64 * 2:f64):f64\n"
		    "return a.u + 1 = (a.u:u64 + 1:u64):u64\nover A B C\n");
}

static void test_do(void **state)
{
	(void)state;
	expect_rule("RULE r PATTERN { [A:a, B[]:b] } DO { EMIT C(); EMIT A(x = a.z + 1, u = a.x, r = a.x, z = TRUE, "
		    "s = a.comm, t = (a.x > 1), p = 255, w = b.avg.x,); CALL Message(\"s\", a.x, a#TID, b.len, #PID,); "
		    "CALL "
		    "Snapshot() }",
		    "skiptillnext [A:a B[1..]:b]\nemit C()\n"
		    "emit A(x=(a.z + 1), u=u64(a.x), r=f64(a.x), z=1, s=a.comm:string, t=(a.x > 1), p=255:u64, "
		    "w=i64(b.avg.x:f64))\n"
		    "call Message(\"s\", a.x, a#TID, b.len, #PID)\ncall Snapshot()\nover A B\n");
}

/* Declarations may stand behind and in another file; equal ones may be repeated. */
static void test_files(void **state)
{
	static const char first[] = "RULE one PATTERN { [X:x, Y] } WHERE { x.a == 3 }";
	static const char second[] = "EVENT Y { } EVENT X { a: U8, b: String, } RULE two PATTERN { X } EVENT Y {};";
	const struct lang_input inputs[] = {
		{ .file = "one", .text = first, .length = strlen(first) },
		{ .file = "two", .text = second, .length = strlen(second) },
	};
	struct reading reading;

	(void)state;
	read_inputs(&reading, inputs, 2);
	assert_int_equal(reading.result, 0);
	assert_int_equal(reading.unit->rule_count, 2);
	assert_int_equal(reading.unit->declared_count, 2);
	assert_string_equal(reading.unit->declared[0]->name, "Y");
	assert_string_equal(reading.unit->declared[1]->name, "X");
	assert_int_equal(reading.unit->declared[1]->fields[0].value, EVENT_U8);
	assert_int_equal(reading.unit->declared[1]->origin, EVENT_DECLARED);
	assert_string_equal(reading.unit->rules[1].location.source->file, "two");
	reading_fini(&reading);
}

static void test_names_in_two_files(void **state)
{
	static const char text[] = "EVENT A {} RULE r PATTERN { A }";
	const struct lang_input inputs[] = {
		{ .file = "one", .text = text, .length = strlen(text) },
		{ .file = "two", .text = text, .length = strlen(text) },
	};
	struct reading reading;

	(void)state;
	read_inputs(&reading, inputs, 2);
	assert_int_not_equal(reading.result, 0);
	assert_string_equal(asterism_diag_get(reading.diag, 0)->file, "two");
	assert_string_equal(asterism_diag_get(reading.diag, 0)->text, "two rules are named 'r'");
	assert_int_equal(asterism_diag_get(reading.diag, 1)->severity, ASTERISM_NOTE);
	assert_string_equal(asterism_diag_get(reading.diag, 1)->file, "one");
	assert_null(asterism_diag_get(reading.diag, 2));
	reading_fini(&reading);
}

/* Keywords are keywords only where the grammar asks for one. */
static void test_keywords_as_names(void **state)
{
	static const char text[] = "EVENT rule { where: i64, len: i32, pattern: i64 } EVENT event { in: u8 } "
				   "RULE within PATTERN { [rule:over, event:return] } "
				   "WHERE { over.where == 3, over.len > 2, return.in == over.pattern, [pid] }";
	const struct lang_input input = { .file = "t", .text = text, .length = strlen(text) };
	struct reading reading;

	(void)state;
	read_inputs(&reading, &input, 1);
	if (reading.result)
		fail_msg("%s", show_messages(reading.diag));
	assert_int_equal(reading.unit->rules[0].condition_count, 3);
	assert_int_equal(reading.unit->rules[0].conditions[1].expr->left->op, LANG_FIELD);
	reading_fini(&reading);
}

static void test_no_input(void **state)
{
	struct reading reading;

	(void)state;
	read_inputs(&reading, NULL, 0);
	assert_int_equal(reading.result, 0);
	assert_int_equal(reading.unit->rule_count, 0);
	reading_fini(&reading);
}

static void test_join_fields(void **state)
{
	struct reading reading;

	(void)state;
	read_text(&reading, "RULE r PATTERN { [A, ~B:n, B:b] } WHERE { [x], [ThreadId], n.s == \"a\" }");
	assert_int_equal(reading.result, 0);
	const struct lang_rule *rule = &reading.unit->rules[0];

	assert_int_equal(rule->join_count, 2);
	for (uint32_t i = 0; i < 3; i++) {
		assert_ptr_equal(rule->joins[0].fields[i], event_field_find(rule->elements[i].type, "x"));
		assert_ptr_equal(rule->joins[1].fields[i], event_field_find(rule->elements[i].type, "tid"));
	}
	assert_string_equal(rule->joins[1].name, "ThreadId");
	reading_fini(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_value_names),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_return),
		cmocka_unit_test(test_do),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names_in_two_files),
		cmocka_unit_test(test_keywords_as_names),
		cmocka_unit_test(test_no_input),
		cmocka_unit_test(test_join_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
