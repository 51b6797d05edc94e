// SPDX-License-Identifier: BSD-2-Clause
/* What every node means, as tables: operands, operation, outcome. */

#include "sample.h"

#include "base/alloc.h"
#include "event/type.h"
#include "program/eval.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/*
 * Evaluates nodes that a program builder made. Only what evaluation looks at is in the program: the loader's part is
 * tested elsewhere.
 */
struct bench {
	struct program_build *build;
	struct program_rule rule;
	struct program program;
	void *image;
};

static void bench_init(struct bench *bench)
{
	*bench = (struct bench){ .build = program_build_new() };
	sample_types(bench->build);
}

static void bench_fini(struct bench *bench)
{
	program_build_free(bench->build);
	alloc_free(bench->image);
}

static struct program_operand bench_seal(struct bench *bench, const void *record, const void *slots)
{
	size_t length;

	assert_int_equal(program_build_finish(bench->build, &bench->image, &length), 0);
	const struct program_section *sections = ((struct program_header *)bench->image)->sections;
	const char *image = bench->image;
	bench->program.strings = image + sections[PROGRAM_STRINGS].offset;
	bench->program.fields = (const void *)(image + sections[PROGRAM_FIELDS].offset);
	bench->program.nodes = (const void *)(image + sections[PROGRAM_NODES].offset);
	bench->program.slots = (const void *)(image + sections[PROGRAM_SLOTS].offset);
	return (struct program_operand){ &bench->program, &bench->rule, record, slots };
}

static uint64_t bits_of(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	return bits;
}

/* a (op) b, constants of kinds a_kind and b_kind, gives value of kind, or divides by zero. */
struct binary {
	enum program_op op;
	uint8_t kind, a_kind, b_kind;
	uint64_t a, b, value;
	int result;
};

static void check_binary(const struct binary *c, size_t number)
{
	struct program_value value = { .kind = STRING, .text = "untouched" };
	struct bench bench;
	uint32_t a, b, node;

	bench_init(&bench);
	a = sample_constant(bench.build, c->a_kind, c->a);
	b = sample_constant(bench.build, c->b_kind, c->b);
	node = sample_node(bench.build, c->op, c->kind, a, b);
	struct program_operand operand = bench_seal(&bench, NULL, NULL);
	int result = program_eval(&operand, node, &value);
	uint64_t bits = value.kind == BOOL ? value.boolean : value.u64;

	if (result != c->result)
		fail_msg("case %zu: result %d instead of %d", number, result, c->result);
	if (result)
		assert_string_equal(value.text, "untouched");
	else if (value.kind != c->kind || bits != c->value)
		fail_msg("case %zu: %#llx of kind %u instead of %#llx", number, (unsigned long long)bits, value.kind,
			 (unsigned long long)c->value);
	bench_fini(&bench);
}

static const struct binary integers[] = {
	{ OP(ADD), I64, I64, I64, 2, (uint64_t)-5, (uint64_t)-3, 0 },
	{ OP(ADD), I64, I64, I64, INT64_MAX, 1, (uint64_t)INT64_MIN, 0 },
	{ OP(ADD), U64, U64, U64, UINT64_MAX, 2, 1, 0 },
	{ OP(SUB), I64, I64, I64, (uint64_t)INT64_MIN, 1, INT64_MAX, 0 },
	{ OP(SUB), U64, U64, U64, 0, 1, UINT64_MAX, 0 },
	{ OP(MUL), I64, I64, I64, (uint64_t)-3, 7, (uint64_t)-21, 0 },
	{ OP(MUL), I64, I64, I64, INT64_MAX, 2, (uint64_t)-2, 0 },
	{ OP(MUL), U64, U64, U64, UINT64_C(1) << 63, 2, 0, 0 },
	{ OP(DIV), I64, I64, I64, (uint64_t)-7, 2, (uint64_t)-3, 0 },
	{ OP(DIV), I64, I64, I64, 7, (uint64_t)-2, (uint64_t)-3, 0 },
	{ OP(DIV), I64, I64, I64, (uint64_t)INT64_MIN, (uint64_t)-1, (uint64_t)INT64_MIN, 0 },
	{ OP(DIV), I64, I64, I64, 5, (uint64_t)-1, (uint64_t)-5, 0 },
	{ OP(DIV), U64, U64, U64, UINT64_MAX, 2, INT64_MAX, 0 },
	{ OP(DIV), U64, U64, U64, 5, UINT64_MAX, 0, 0 },
	{ OP(DIV), I64, I64, I64, 1, 0, 0, -EDOM },
	{ OP(DIV), U64, U64, U64, 1, 0, 0, -EDOM },
	{ OP(MOD), I64, I64, I64, (uint64_t)-7, 2, (uint64_t)-1, 0 },
	{ OP(MOD), I64, I64, I64, 7, (uint64_t)-2, 1, 0 },
	{ OP(MOD), I64, I64, I64, (uint64_t)INT64_MIN, (uint64_t)-1, 0, 0 },
	{ OP(MOD), U64, U64, U64, UINT64_MAX, 10, 5, 0 },
	{ OP(MOD), I64, I64, I64, 0, 0, 0, -EDOM },
	{ OP(MOD), U64, U64, U64, 0, 0, 0, -EDOM },
	{ OP(AND), I64, I64, I64, (uint64_t)-1, 0xff, 0xff, 0 },
	{ OP(OR), U64, U64, U64, 0xf0, 0x0f, 0xff, 0 },
	{ OP(XOR), U64, U64, U64, 0xff, 0x0f, 0xf0, 0 },
	{ OP(SHL), I64, I64, I64, 1, 63, (uint64_t)INT64_MIN, 0 },
	{ OP(SHL), U64, U64, I64, 1, 64, 1, 0 },
	{ OP(SHL), U64, U64, U64, 1, 65, 2, 0 },
	{ OP(SHL), I64, I64, I64, 1, (uint64_t)-1, (uint64_t)INT64_MIN, 0 },
	{ OP(SHR), I64, I64, I64, (uint64_t)-8, 1, (uint64_t)-4, 0 },
	{ OP(SHR), I64, I64, U64, (uint64_t)-8, 63, (uint64_t)-1, 0 },
	{ OP(SHR), U64, U64, I64, UINT64_MAX, 63, 1, 0 },
	{ OP(SHR), U64, U64, U64, 8, 67, 1, 0 },
};

static const struct binary booleans[] = {
	{ OP(AND), BOOL, BOOL, BOOL, 1, 1, 1, 0 },  { OP(AND), BOOL, BOOL, BOOL, 1, 0, 0, 0 },
	{ OP(OR), BOOL, BOOL, BOOL, 0, 0, 0, 0 },   { OP(OR), BOOL, BOOL, BOOL, 1, 0, 1, 0 },
	{ OP(XOR), BOOL, BOOL, BOOL, 1, 1, 0, 0 },  { OP(XOR), BOOL, BOOL, BOOL, 0, 1, 1, 0 },
	{ OP(EQ), BOOL, BOOL, BOOL, 1, 1, 1, 0 },   { OP(EQ), BOOL, BOOL, BOOL, 1, 0, 0, 0 },
	{ OP(NE), BOOL, BOOL, BOOL, 1, 0, 1, 0 },   { OP(NE), BOOL, BOOL, BOOL, 0, 0, 0, 0 },
	{ OP(LAND), BOOL, BOOL, BOOL, 0, 0, 0, 0 }, { OP(LAND), BOOL, BOOL, BOOL, 0, 1, 0, 0 },
	{ OP(LAND), BOOL, BOOL, BOOL, 1, 0, 0, 0 }, { OP(LAND), BOOL, BOOL, BOOL, 1, 1, 1, 0 },
	{ OP(LOR), BOOL, BOOL, BOOL, 0, 0, 0, 0 },  { OP(LOR), BOOL, BOOL, BOOL, 0, 1, 1, 0 },
	{ OP(LOR), BOOL, BOOL, BOOL, 1, 0, 1, 0 },  { OP(LOR), BOOL, BOOL, BOOL, 1, 1, 1, 0 },
	{ OP(LNOT), BOOL, BOOL, BOOL, 1, 0, 0, 0 }, { OP(LNOT), BOOL, BOOL, BOOL, 0, 0, 1, 0 },
};

static void integers_wrap_truncate_and_shift(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
		check_binary(&integers[i], i);
}

static void booleans_combine(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof booleans / sizeof *booleans; i++)
		check_binary(&booleans[i], i);
}

/* order is that of a and b as numbers; all six comparisons follow from it. */
static void comparisons_compare_numbers(void **context)
{
	static const struct {
		uint8_t a_kind, b_kind;
		uint64_t a, b;
		int order;
	} cases[] = {
		{ I64, I64, 1, 2, -1 },
		{ I64, I64, 2, 2, 0 },
		{ I64, I64, (uint64_t)-1, 1, -1 },
		{ I64, I64, (uint64_t)-1, (uint64_t)-2, 1 },
		{ I64, I64, (uint64_t)INT64_MIN, INT64_MAX, -1 },
		{ U64, U64, UINT64_MAX, 1, 1 },
		{ U64, U64, 1, 1, 0 },
		{ I64, U64, (uint64_t)-1, UINT64_MAX, -1 },
		{ U64, I64, UINT64_MAX, (uint64_t)-1, 1 },
		{ I64, U64, (uint64_t)-1, 0, -1 },
		{ I64, U64, 5, 5, 0 },
		{ U64, I64, 5, 6, -1 },
		{ U64, I64, UINT64_C(1) << 63, INT64_MAX, 1 },
		{ U64, I64, UINT64_C(1) << 63, (uint64_t)INT64_MIN, 1 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int order = cases[i].order;
		const bool outcomes[] = { order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0 };

		for (int op = OP(EQ); op <= OP(GE); op++) {
			struct binary c = { op,         BOOL,       cases[i].a_kind,       cases[i].b_kind,
					    cases[i].a, cases[i].b, outcomes[op - OP(EQ)], 0 };

			check_binary(&c, i * 10 + (size_t)op);
		}
	}
}

static void reals_follow_ieee(void **context)
{
	const double nan = NAN, inf = INFINITY;
	const struct binary cases[] = {
		{ OP(ADD), F64, F64, F64, bits_of(0.5), bits_of(0.25), bits_of(0.75), 0 },
		{ OP(SUB), F64, F64, F64, bits_of(0.5), bits_of(0.75), bits_of(-0.25), 0 },
		{ OP(MUL), F64, F64, F64, bits_of(-3), bits_of(0.5), bits_of(-1.5), 0 },
		{ OP(DIV), F64, F64, F64, bits_of(1), bits_of(4), bits_of(0.25), 0 },
		{ OP(DIV), F64, F64, F64, bits_of(1), bits_of(0), bits_of(inf), 0 },
		{ OP(EQ), BOOL, F64, F64, bits_of(0.0), bits_of(-0.0), 1, 0 },
		{ OP(EQ), BOOL, F64, F64, bits_of(nan), bits_of(nan), 0, 0 },
		{ OP(NE), BOOL, F64, F64, bits_of(nan), bits_of(nan), 1, 0 },
		{ OP(LT), BOOL, F64, F64, bits_of(nan), bits_of(1), 0, 0 },
		{ OP(GE), BOOL, F64, F64, bits_of(nan), bits_of(1), 0, 0 },
		{ OP(LT), BOOL, F64, F64, bits_of(-1), bits_of(1), 1, 0 },
		{ OP(LE), BOOL, F64, F64, bits_of(1), bits_of(1), 1, 0 },
		{ OP(GT), BOOL, F64, F64, bits_of(inf), bits_of(1e300), 1, 0 },
		{ OP(GT), BOOL, F64, F64, bits_of(1), bits_of(1), 0, 0 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_binary(&cases[i], i);
}

static void conversions_saturate(void **context)
{
	const double two_63 = 9223372036854775808.0;
	const struct binary cases[] = {
		/* b is not looked at */
		{ OP(CONVERT), I64, U64, U64, UINT64_MAX, 0, UINT64_MAX, 0 },
		{ OP(CONVERT), U64, I64, I64, (uint64_t)-1, 0, UINT64_MAX, 0 },
		{ OP(CONVERT), I64, I64, I64, 7, 0, 7, 0 },
		{ OP(CONVERT), F64, I64, I64, (uint64_t)-1, 0, bits_of(-1), 0 },
		{ OP(CONVERT), F64, U64, U64, UINT64_MAX, 0, bits_of(2 * two_63), 0 },
		{ OP(CONVERT), F64, F64, F64, bits_of(1.5), 0, bits_of(1.5), 0 },
		{ OP(CONVERT), F64, BOOL, BOOL, 1, 0, bits_of(1), 0 },
		{ OP(CONVERT), I64, BOOL, BOOL, 1, 0, 1, 0 },
		{ OP(CONVERT), U64, BOOL, BOOL, 0, 0, 0, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(-1.9), 0, (uint64_t)-1, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(1.9), 0, 1, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(two_63), 0, INT64_MAX, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(nextafter(two_63, 0)), 0, 0x7ffffffffffffc00, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(-two_63), 0, (uint64_t)INT64_MIN, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(-INFINITY), 0, (uint64_t)INT64_MIN, 0 },
		{ OP(CONVERT), I64, F64, F64, bits_of(NAN), 0, 0, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(-0.5), 0, 0, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(-1e300), 0, 0, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(two_63), 0, UINT64_C(1) << 63, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(2 * two_63), 0, UINT64_MAX, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(INFINITY), 0, UINT64_MAX, 0 },
		{ OP(CONVERT), U64, F64, F64, bits_of(NAN), 0, 0, 0 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_binary(&cases[i], i);
}

static void logic_is_lazy(void **context)
{
	struct program_value value;
	struct bench bench;
	uint64_t divisions = 0;

	(void)context;
	bench_init(&bench);
	struct program_build *build = bench.build;
	uint32_t no = sample_constant(build, BOOL, 0), yes = sample_constant(build, BOOL, 1);
	uint32_t zero = sample_constant(build, I64, 0);
	uint32_t bad = sample_node(build, OP(EQ), BOOL, sample_node(build, OP(DIV), I64, zero, zero), zero);
	uint32_t and_no = sample_node(build, OP(LAND), BOOL, no, bad);
	uint32_t and_yes = sample_node(build, OP(LAND), BOOL, yes, bad);
	uint32_t or_yes = sample_node(build, OP(LOR), BOOL, yes, bad);
	uint32_t or_no = sample_node(build, OP(LOR), BOOL, no, bad);
	uint32_t bad_first = sample_node(build, OP(LOR), BOOL, bad, yes);
	uint32_t not = sample_node(build, OP(LNOT), BOOL, bad, 0);
	uint32_t strict = sample_node(build, OP(OR), BOOL, yes, bad);
	struct program_operand operand = bench_seal(&bench, NULL, NULL);

	assert_int_equal(program_eval(&operand, and_no, &value), 0);
	assert_false(value.boolean);
	assert_int_equal(program_eval(&operand, or_yes, &value), 0);
	assert_true(value.boolean);
	assert_int_equal(program_eval(&operand, and_yes, &value), -EDOM);
	assert_int_equal(program_eval(&operand, or_no, &value), -EDOM);
	assert_int_equal(program_eval(&operand, bad_first, &value), -EDOM);
	assert_int_equal(program_eval(&operand, not, &value), -EDOM);
	assert_int_equal(program_eval(&operand, strict, &value), -EDOM);

	assert_true(program_holds(&operand, PROGRAM_NONE, &divisions));
	assert_true(program_holds(&operand, or_yes, &divisions));
	assert_false(program_holds(&operand, and_no, &divisions));
	assert_int_equal(divisions, 0);
	assert_false(program_holds(&operand, not, &divisions));
	assert_false(program_holds(&operand, bad_first, &divisions));
	assert_int_equal(divisions, 2);
	bench_fini(&bench);
}

/* A B record with every field set, and what each field and slot node gives. */
static void fields_and_slots_are_read(void **context)
{
	struct {
		struct event_header header;
		int64_t x;
		uint64_t big;
		double real;
		uint64_t ok;
		char name[16];
	} record = { { 1000, 1, TYPE_B, 3, UINT32_MAX, 5, "worker" }, -6, UINT64_MAX, 2.5, 1, "file" };
	struct {
		uint64_t number;
		char text[8];
	} slots = { 77, "slot" };
	const struct program_slot rows[] = { { 0, STRING, 8, 8 }, { 0, I64, 0, 8 } };
	struct program_value value;
	struct bench bench;
	uint32_t fields[FIELD_B_NAME + 1], number, text;

	(void)context;
	bench_init(&bench);
	for (uint32_t i = 0; i <= FIELD_B_NAME; i++)
		fields[i] = sample_field(bench.build, i);
	program_build_add(bench.build, PROGRAM_SLOTS, rows, 1);
	program_build_add(bench.build, PROGRAM_SLOTS, rows, 2); /* the rule's own begin at 1 */
	bench.rule.first_slot = 1;
	number = sample_slot(bench.build, I64, 1);
	text = sample_slot(bench.build, STRING, 0);
	struct program_operand operand = bench_seal(&bench, &record, &slots);

#define EVAL(node, member, expected)                                       \
	do {                                                               \
		assert_int_equal(program_eval(&operand, node, &value), 0); \
		assert_true(value.member == (expected));                   \
	} while (0)
	EVAL(fields[FIELD_TS], i64, 1000);
	EVAL(fields[FIELD_CPU], i64, 3);
	EVAL(fields[FIELD_PID], i64, UINT32_MAX);
	EVAL(fields[FIELD_TID], i64, 5);
	EVAL(fields[FIELD_B_X], i64, -6);
	EVAL(fields[FIELD_B_BIG], u64, UINT64_MAX);
	EVAL(fields[FIELD_B_REAL], f64, 2.5);
	EVAL(fields[FIELD_B_OK], boolean, true);
	EVAL(number, i64, 77);
#undef EVAL
	assert_int_equal(program_eval(&operand, fields[FIELD_COMM], &value), 0);
	assert_string_equal(value.text, "worker");
	assert_int_equal(program_eval(&operand, fields[FIELD_B_NAME], &value), 0);
	assert_string_equal(value.text, "file");
	assert_int_equal(program_eval(&operand, text, &value), 0);
	assert_string_equal(value.text, "slot");
	bench_fini(&bench);
}

static void texts_compare_and_match(void **context)
{
	struct program_value value;
	struct bench bench;

	(void)context;
	bench_init(&bench);
	struct program_build *build = bench.build;
	uint32_t a = sample_text(build, "bash"), same = sample_text(build, "bash"), other = sample_text(build, "bas");
	uint32_t equal = sample_node(build, OP(EQ), BOOL, a, same),
		 differs = sample_node(build, OP(EQ), BOOL, a, other);
	uint32_t unequal = sample_node(build, OP(NE), BOOL, a, other);
	uint32_t like = sample_node(build, OP(LIKE), BOOL, a, sample_text(build, "b*h"));
	uint32_t unlike = sample_node(build, OP(LIKE), BOOL, a, sample_text(build, "c*"));
	struct program_operand operand = bench_seal(&bench, NULL, NULL);
	const struct {
		uint32_t node;
		bool expected;
	} cases[] = { { equal, true }, { differs, false }, { unequal, true }, { like, true }, { unlike, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(program_eval(&operand, cases[i].node, &value), 0);
		assert_int_equal(value.boolean, cases[i].expected);
	}
	bench_fini(&bench);
}

static void like_is_a_glob_of_stars(void **context)
{
	static const struct {
		const char *text, *pattern;
		bool match;
	} cases[] = {
		{ "", "", true },
		{ "", "*", true },
		{ "", "a", false },
		{ "a", "", false },
		{ "abc", "abc", true },
		{ "abc", "abd", false },
		{ "abc", "ab", false },
		{ "ab", "abc", false },
		{ "abc", "*", true },
		{ "abc", "**", true },
		{ "abc", "a*", true },
		{ "abc", "*c", true },
		{ "abc", "*b*", true },
		{ "abc", "*d*", false },
		{ "abc", "a*c", true },
		{ "abc", "a*b", false },
		{ "aba", "ab*ba", false }, /* the ends must not overlap */
		{ "abba", "ab*ba", true },
		{ "aXbXc", "a*b*c", true },
		{ "aXcXb", "a*b*c", false },
		{ "abcabc", "*abc", true },
		{ "abcabcd", "*abc", false },
		{ "mississippi", "m*iss*ip*i", true },
		{ "mississippi", "m*iss*iss*iss*", false },
		{ "aab", "*ab", true },
		{ "a?b", "a?b", true },
		{ "axb", "a?b", false },
		{ "a*b", "a*b", true },
		{ "/usr/lib/x.so", "/usr/*.so", true },
		{ "\xff\xfe", "\xff*", true },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (program_like(cases[i].text, cases[i].pattern) != cases[i].match)
			fail_msg("\"%s\" LIKE \"%s\"", cases[i].text, cases[i].pattern);
	}
}

/* Against the definition, over all short texts and patterns of two letters. */
static bool naive_like(const char *text, const char *pattern)
{
	if (*pattern == '*')
		return naive_like(text, pattern + 1) || (*text && naive_like(text + 1, pattern));
	if (!*pattern || !*text)
		return *pattern == *text;
	return *pattern == *text && naive_like(text + 1, pattern + 1);
}

static void spell(char *out, unsigned number, unsigned letters, const char *alphabet)
{
	size_t length = 0;

	for (; number; number = (number - 1) / letters)
		out[length++] = alphabet[(number - 1) % letters];
	out[length] = '\0';
}

static void like_agrees_with_its_definition(void **context)
{
	char text[16], pattern[16];

	(void)context;
	for (unsigned t = 0; t < 127; t++) {
		spell(text, t, 2, "ab");
		for (unsigned p = 0; p < 1093; p++) {
			spell(pattern, p, 3, "ab*");
			if (program_like(text, pattern) != naive_like(text, pattern))
				fail_msg("\"%s\" LIKE \"%s\"", text, pattern);
		}
	}
}

/* What makes a backtracking matcher take hours must take no time at all. */
static void like_does_not_backtrack(void **context)
{
	char text[8192], pattern[8192];

	(void)context;
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (size_t i = 0; i + 1 < sizeof pattern; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[sizeof pattern - 3] = 'b';
	pattern[sizeof pattern - 1] = '\0';
	for (int i = 0; i < 100; i++)
		assert_false(program_like(text, pattern));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_wrap_truncate_and_shift),
		cmocka_unit_test(booleans_combine),
		cmocka_unit_test(comparisons_compare_numbers),
		cmocka_unit_test(reals_follow_ieee),
		cmocka_unit_test(conversions_saturate),
		cmocka_unit_test(logic_is_lazy),
		cmocka_unit_test(fields_and_slots_are_read),
		cmocka_unit_test(texts_compare_and_match),
		cmocka_unit_test(like_is_a_glob_of_stars),
		cmocka_unit_test(like_agrees_with_its_definition),
		cmocka_unit_test(like_does_not_backtrack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
