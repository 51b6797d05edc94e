// SPDX-License-Identifier: BSD-2-Clause

#include "base/alloc.h"
#include "print-ast.h"
#include "read-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct pattern_row {
	const char *pattern;  /* as written */
	const char *expected; /* as print_pattern shows it */
};

static const struct pattern_row pattern_rows[] = {
	{ "A", "A" },
	{ "A:a", "A:a" },
	{ "[A]", "A" },
	{ "[[[A:a]]]", "A:a" },
	{ "[A, B,]", "[A B]" },
	{ "[A, B;]", "[A B]" },
	{ "[A, B],", "[A B]" },
	{ "[A, [B, C]]", "[A [B C]]" },
	{ "(A | B)", "(A | B)" },
	{ "([A, B] | ([C] | A))", "([A B] | (C | A))" },
	{ "[A, ~B, C]", "[A ~B C]" },
	{ "[A, ~[B], C]", "[A ~B C]" },
	{ "[A, ~[B, C], C]", "[A ~[B C] C]" },
	{ "[A, ~(B | [B, C]), C]", "[A ~(B | [B C]) C]" },
	{ "[A, ~B, ~C, A]", "[A ~B ~C A]" },
	/* lengths, all inclusive in the end */
	{ "A[]", "A[1..]" },
	{ "A[]:a", "A[1..]:a" },
	{ "A[<5]", "A[1..4]" },
	{ "A[<=5]", "A[1..5]" },
	{ "A[=5]", "A[5..5]" },
	{ "A[=1]", "A[1..1]" },
	{ "A[>=5]", "A[5..]" },
	{ "A[>5]", "A[6..]" },
	{ "A[>=0]", "A[1..]" },
	{ "A[2..5]", "A[3..4]" },
	{ "A[0..2]", "A[1..1]" },
	{ "A[>=2, <=5]", "A[2..5]" },
	{ "A[<=5, >=2,]", "A[2..5]" },
	{ "A[>1, <9, >=4, <=6]", "A[4..6]" },
	{ "A[<=1000000000]", "A[1..1000000000]" },
	/* repeats */
	{ "[A, [B]*]", "[A [B]{0..}]" },
	{ "[A, [B]+]", "[A [B]{1..}]" },
	{ "[A, [B, C]?]", "[A [B C]{0..1}]" },
	{ "[A, (B | C){3}]", "[A (B | C){3..3}]" },
	{ "[A, [B]{3,}]", "[A [B]{3..}]" },
	{ "[A, [B]{0,4}]", "[A [B]{0..4}]" },
	{ "[A, [B]{1}]", "[A B]" },
	{ "[A, [B]{1,1}]", "[A B]" },
	{ "[A, B]{2}", "[A B]{2..2}" },
	{ "[A, [B, [C]+]{2,5}, A]", "[A [B [C]{1..}]{2..5} A]" },
	{ "/* c */ [ A // c\n , B ]", "[A B]" },
};

static void test_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pattern_rows / sizeof *pattern_rows; i++) {
		struct text_buffer printed = { 0 };
		struct reading reading;
		char text[256], expected[256];

		snprintf(text, sizeof text, "RULE r PATTERN { %s }", pattern_rows[i].pattern);
		snprintf(expected, sizeof expected, "skiptillnext %s", pattern_rows[i].expected);
		read_text(&reading, text);
		if (reading.result)
			fail_msg("%s\n%s", text, show_messages(reading.diag));
		print_pattern(&printed, &reading.unit->rules[0]);
		assert_string_equal(printed.bytes, expected);
		text_fini(&printed);
		reading_fini(&reading);
	}
}

static void check_links(const struct lang_rule *rule, const struct lang_structure *structure,
			const struct lang_structure *parent)
{
	assert_ptr_equal(structure->parent, parent);
	if (structure->kind == LANG_SPEC) {
		assert_ptr_equal(rule->elements[structure->element].structure, structure);
		assert_int_equal(structure->child_count, 0);
	}
	for (uint32_t i = 0; i < structure->child_count; i++)
		check_links(rule, structure->children[i], structure);
}

static void test_elements(void **state)
{
	struct reading reading;

	(void)state;
	read_text(&reading, "RULE r PATTERN { [A:a, [B:b, ~(A:n | C), B, [C[3..9]:c]?]{2}, A, ~[C:d], B] }");
	assert_int_equal(reading.result, 0);
	const struct lang_rule *rule = &reading.unit->rules[0];
	const struct lang_structure *group = rule->root->children[1], *optional = group->children[3];

	assert_int_equal(rule->element_count, 9);
	check_links(rule, rule->root, NULL);
	assert_null(rule->elements[0].group);
	assert_null(rule->elements[0].negation);
	assert_ptr_equal(rule->elements[1].group, group);
	assert_true(rule->elements[2].is_negated);
	assert_ptr_equal(rule->elements[2].negation, group->children[1]);
	assert_ptr_equal(rule->elements[3].negation, group->children[1]);
	assert_ptr_equal(rule->elements[2].group, group);
	assert_null(rule->elements[3].name);
	assert_ptr_equal(rule->elements[4].group, group);
	assert_ptr_equal(rule->elements[5].group, optional);
	assert_true(rule->elements[5].is_array);
	assert_false(rule->elements[5].is_negated);
	assert_int_equal(rule->elements[5].length_min, 4);
	assert_int_equal(rule->elements[5].length_max, 8);
	assert_null(rule->elements[7].group);
	assert_true(rule->elements[7].is_negated);
	assert_false(rule->elements[8].is_negated);
	assert_string_equal(rule->elements[8].type->name, "B");
	assert_int_equal(rule->elements[1].location.line, 1);
	assert_int_equal(rule->elements[1].location.column, 25);
	assert_int_equal(rule->elements[1].location.length, 3);
	reading_fini(&reading);
}

/* What item 5 and 6 of the language allow beside what they forbid. */
static void test_allowed(void **state)
{
	static const char *const rules[] = {
		"RULE r PATTERN { [A, ~B:b, B] } WHERE { b.x > 3 }",
		"RULE r PATTERN { [A, ~B, (B | C)] }",
		"RULE r PATTERN { [A, ~[B, C], B] }",
		"RULE r PATTERN { [A, [C, ~B]+, B] }",
		"RULE r PATTERN { [A, ~B] } WITHIN 1s",
		"RULE r PATTERN { [A, (B | [C, ~B])] } WITHIN 1s",
		"RULE r PATTERN { [A, [~B, C]+] }",
		"RULE r PATTERN { [A[], ~B, C[]] }",
		"RULE r PATTERN { [A, [B]*, [C]?] }",
		"RULE r PATTERN { (A | A) }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct reading reading;

		read_text(&reading, rules[i]);
		if (asterism_diag_count(reading.diag, ASTERISM_NOTE))
			fail_msg("%s\n%s", rules[i], show_messages(reading.diag));
		reading_fini(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
