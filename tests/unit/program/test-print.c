// SPDX-License-Identifier: BSD-2-Clause
/* Expressions as text: parentheses where the precedence asks for them, and nowhere else. */

#include "sample.h"

#include "base/alloc.h"
#include "program/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct program_build *build;

static uint32_t number(int64_t value)
{
	return sample_constant(build, I64, (uint64_t)value);
}

static uint32_t real(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return sample_constant(build, F64, bits);
}

static uint32_t op(enum program_op operation, uint32_t a, uint32_t b)
{
	return sample_node(build, operation, I64, a, b);
}

static uint32_t test(enum program_op operation, uint32_t a, uint32_t b)
{
	return sample_node(build, operation, BOOL, a, b);
}

static void print(uint32_t node, char *buffer, size_t size)
{
	struct program program = { 0 };
	struct program_rule rule = { 0 };
	void *image;
	size_t length;

	assert_int_equal(program_build_finish(build, &image, &length), 0);
	const struct program_section *sections = ((struct program_header *)image)->sections;
	program.strings = (char *)image + sections[PROGRAM_STRINGS].offset;
	program.fields = (const void *)((char *)image + sections[PROGRAM_FIELDS].offset);
	program.nodes = (const void *)((char *)image + sections[PROGRAM_NODES].offset);
	program.slots = (const void *)((char *)image + sections[PROGRAM_SLOTS].offset);
	program_print_node(&program, &rule, node, buffer, size);
	alloc_free(image);
}

static void assert_prints(uint32_t node, const char *expected)
{
	char buffer[512];

	print(node, buffer, sizeof buffer);
	assert_string_equal(buffer, expected);
}

static int set_up(void **context)
{
	(void)context;
	build = program_build_new();
	sample_types(build);
	return 0;
}

static int tear_down(void **context)
{
	(void)context;
	program_build_free(build);
	return 0;
}

static void leaves(void **context)
{
	struct program_slot slots[] = { { program_build_text(build, "a.x"), I64, 0, 8 }, { PROGRAM_NONE, I64, 8, 8 } };

	(void)context;
	program_build_add(build, PROGRAM_SLOTS, slots, 2);
	assert_prints(number(-5), "-5");
	assert_prints(number(INT64_MIN), "-9223372036854775808");
	assert_prints(sample_constant(build, U64, 42), "42");
	assert_prints(sample_constant(build, U64, UINT64_MAX), "0xffffffffffffffff");
	assert_prints(sample_constant(build, BOOL, 1), "TRUE");
	assert_prints(sample_constant(build, BOOL, 0), "FALSE");
	assert_prints(real(0.1), "0.1");
	assert_prints(real(2), "2.0");
	assert_prints(real(1e300), "1e+300");
	assert_prints(real(1.0 / 3), "0.3333333333333333");
	assert_prints(real(-INFINITY), "-inf");
	assert_prints(sample_text(build, "a\"b\\\n\303\244\377"), "\"a\\\"b\\\\\\n\303\244\\377\"");
	assert_prints(sample_field(build, FIELD_TID), "tid");
	assert_prints(sample_field(build, FIELD_B_BIG), "big");
	assert_prints(sample_slot(build, I64, 0), "a.x");
	assert_prints(sample_slot(build, I64, 1), "slot1");
	assert_prints(sample_node(build, OP(CONVERT), F64, op(OP(ADD), number(1), number(2)), 0), "f64(1 + 2)");
}

static void parentheses(void **context)
{
	uint32_t a = number(1), b = number(2), c = number(3);

	(void)context;
	assert_prints(op(OP(ADD), op(OP(MUL), a, b), c), "1 * 2 + 3");
	assert_prints(op(OP(MUL), op(OP(ADD), a, b), c), "(1 + 2) * 3");
	assert_prints(op(OP(MUL), a, op(OP(ADD), b, c)), "1 * (2 + 3)");
	assert_prints(op(OP(SUB), op(OP(SUB), a, b), c), "1 - 2 - 3");
	assert_prints(op(OP(SUB), a, op(OP(SUB), b, c)), "1 - (2 - 3)");
	assert_prints(op(OP(DIV), a, op(OP(MUL), b, c)), "1 / (2 * 3)");
	assert_prints(op(OP(MOD), op(OP(DIV), a, b), c), "1 / 2 % 3");
	assert_prints(op(OP(SHL), a, op(OP(ADD), b, c)), "1 << 2 + 3");
	assert_prints(op(OP(ADD), a, op(OP(SHR), b, c)), "1 + (2 >> 3)");
	assert_prints(op(OP(AND), op(OP(SHL), a, b), c), "1 << 2 & 3");
	assert_prints(op(OP(OR), a, op(OP(XOR), b, op(OP(AND), c, a))), "1 | 2 ^ 3 & 1");
	assert_prints(op(OP(AND), op(OP(OR), a, b), op(OP(XOR), a, b)), "(1 | 2) & (1 ^ 2)");
	assert_prints(op(OP(OR), a, op(OP(OR), b, c)), "1 | 2 | 3");
}

static void conditions(void **context)
{
	uint32_t a = number(1), b = number(2);
	uint32_t less = test(OP(LT), a, b), same = test(OP(EQ), op(OP(AND), a, b), a);

	(void)context;
	assert_prints(same, "1 & 2 == 1");
	assert_prints(test(OP(NE), less, same), "(1 < 2) != (1 & 2 == 1)");
	assert_prints(test(OP(LAND), less, same), "1 < 2 AND 1 & 2 == 1");
	assert_prints(test(OP(LAND), test(OP(LOR), less, same), less), "(1 < 2 OR 1 & 2 == 1) AND 1 < 2");
	assert_prints(test(OP(LOR), test(OP(LAND), less, less), less), "1 < 2 AND 1 < 2 OR 1 < 2");
	assert_prints(test(OP(LOR), less, test(OP(LOR), less, less)), "1 < 2 OR 1 < 2 OR 1 < 2");
	assert_prints(test(OP(LNOT), less, 0), "NOT 1 < 2");
	assert_prints(test(OP(LNOT), test(OP(LAND), less, less), 0), "NOT (1 < 2 AND 1 < 2)");
	assert_prints(test(OP(LAND), test(OP(LNOT), less, 0), less), "NOT 1 < 2 AND 1 < 2");
	assert_prints(test(OP(LNOT), test(OP(LNOT), less, 0), 0), "NOT NOT 1 < 2");
	assert_prints(test(OP(EQ), test(OP(LNOT), less, 0), less), "(NOT 1 < 2) == (1 < 2)");
	assert_prints(test(OP(LIKE), sample_field(build, FIELD_COMM), sample_text(build, "ba*")), "comm LIKE \"ba*\"");
	assert_prints(test(OP(GE), a, b), "1 >= 2");
	assert_prints(test(OP(LE), a, b), "1 <= 2");
	assert_prints(test(OP(GT), a, b), "1 > 2");
}

static void lists(void **context)
{
	uint32_t x = sample_field(build, FIELD_A_X), y = sample_field(build, FIELD_B_X);
	uint32_t one = test(OP(EQ), x, number(1)), two = test(OP(EQ), sample_field(build, FIELD_A_X), number(2));
	uint32_t other = test(OP(EQ), y, number(3)), swapped = test(OP(EQ), number(4), x);
	uint32_t name = test(OP(EQ), sample_field(build, FIELD_COMM), sample_text(build, "a"));
	uint32_t both = test(OP(LOR), one, two);

	(void)context;
	assert_prints(both, "x IN { 1, 2 }");
	assert_prints(test(OP(LOR), both, one), "x IN { 1, 2, 1 }");
	assert_prints(test(OP(LOR), one, both), "x IN { 1, 1, 2 }");
	assert_prints(test(OP(LOR), name, name), "comm IN { \"a\", \"a\" }");
	assert_prints(test(OP(LNOT), both, 0), "NOT x IN { 1, 2 }");
	assert_prints(test(OP(LAND), both, one), "x IN { 1, 2 } AND x == 1");
	assert_prints(test(OP(EQ), both, one), "(x IN { 1, 2 }) == (x == 1)");
	assert_prints(test(OP(LOR), both, other), "x IN { 1, 2 } OR x == 3");
	assert_prints(test(OP(LOR), one, swapped), "x == 1 OR 4 == x");
	assert_prints(test(OP(LOR), one, test(OP(LT), x, number(0))), "x == 1 OR x < 0");
}

static void short_buffers_are_reported(void **context)
{
	uint32_t node = op(OP(ADD), number(1000), sample_text(build, "\303\244\303\244\303\244"));
	char buffer[64];

	(void)context;
	for (size_t size = 1; size < sizeof buffer; size++) {
		memset(buffer, 'x', sizeof buffer);
		print(node, buffer, size);
		assert_true(strlen(buffer) < size);
		assert_int_equal(buffer[size], 'x');
		if (size >= 4 && size <= strlen("1000 + \"\303\244\303\244\303\244\""))
			assert_string_equal(buffer + strlen(buffer) - 3, "...");
	}
	print(node, buffer, 13); /* would cut the first letter in two */
	assert_string_equal(buffer, "1000 + \"...");
	print(node, buffer, 14);
	assert_string_equal(buffer, "1000 + \"\303\244...");
	buffer[0] = 'x';
	print(node, buffer, 0);
	assert_int_equal(buffer[0], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(parentheses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(conditions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(short_buffers_are_reported, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
