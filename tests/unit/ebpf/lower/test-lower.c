// SPDX-License-Identifier: BSD-2-Clause
/* Lowered expressions and actions against program_eval, on random trees and on the corners of arithmetic. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/lower/lower.h"
#include "ebpf/lower/pattern.h"
#include "event/type.h"
#include "machine.h"
#include "program/eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODES_MAX = 4096,
	RECORD_BYTES = 48 + 4 * 8 + 16 + 24,
	SLOTS_BYTES = 4 * 8 + 16,
	DEPTH = 6,
	ROUNDS = 3000,
	DIVIDED = 2, /* what the code returns after a division by zero */
};

static const char strings[] = "\0aa\0abcdefgh\0abcdefghijk\0ab*\0*\0a\0abcdefgh*\0*a\0a*a\0*cd*gh\0**h*\0*";

enum {
	TEXT_EMPTY = 0,
	TEXT_AA = 1,
	TEXT_EIGHT = 4,
	TEXT_ELEVEN = 13,
	PATTERN_AB = 25,
	PATTERN_ALL = 29,
	TEXT_A = 31,
	PATTERN_EIGHT = 33,
	PATTERN_ENDS = 43,
	PATTERN_INNER = 46,
	PATTERN_PIECES = 50,
	PATTERN_ANYWHERE = 57,
};

static const struct program_field fields[] = {
	{ .value = EVENT_TIME, .offset = 0, .bytes = 8 },     { .value = EVENT_U32, .offset = 20, .bytes = 4 },
	{ .value = EVENT_I64, .offset = 48, .bytes = 8 },     { .value = EVENT_I64, .offset = 56, .bytes = 8 },
	{ .value = EVENT_U64, .offset = 64, .bytes = 8 },     { .value = EVENT_BOOL, .offset = 72, .bytes = 8 },
	{ .value = EVENT_STRING, .offset = 80, .bytes = 16 }, { .value = EVENT_STRING, .offset = 96, .bytes = 24 },
};

static const struct program_slot slots[] = {
	{ .kind = PROGRAM_I64, .offset = 0, .bytes = 8 },      { .kind = PROGRAM_U64, .offset = 8, .bytes = 8 },
	{ .kind = PROGRAM_I64, .offset = 16, .bytes = 8 },     { .kind = PROGRAM_BOOL, .offset = 24, .bytes = 8 },
	{ .kind = PROGRAM_STRING, .offset = 32, .bytes = 16 },
};

static const uint64_t corners[] = {
	0,
	1,
	2,
	3,
	7,
	63,
	64,
	65,
	1000,
	INT32_MAX,
	UINT64_C(1) << 31,
	UINT32_MAX,
	UINT64_C(1) << 32,
	INT64_MAX,
	UINT64_C(1) << 63,
	(UINT64_C(1) << 63) + 1,
	UINT64_MAX - 1,
	UINT64_MAX,
	(uint64_t)INT32_MIN,
	(uint64_t)-2,
};

struct bench {
	struct program program;
	struct program_header header;
	struct program_rule rule;
	struct program_node nodes[NODES_MAX];
	uint32_t count;
	unsigned int seed;
	_Alignas(8) char record[RECORD_BYTES];
	_Alignas(8) char slots[SLOTS_BYTES];
};

static uint32_t pick(struct bench *bench, uint32_t below)
{
	return (uint32_t)rand_r(&bench->seed) % below;
}

static uint64_t some_number(struct bench *bench)
{
	if (pick(bench, 3))
		return corners[pick(bench, sizeof corners / sizeof corners[0])];
	return (uint64_t)rand_r(&bench->seed) * (uint64_t)rand_r(&bench->seed) - (uint64_t)rand_r(&bench->seed);
}

static void bench_init(struct bench *bench, unsigned int seed)
{
	*bench = (struct bench){ .seed = seed };
	bench->program.header = &bench->header;
	bench->program.strings = strings;
	bench->program.fields = fields;
	bench->program.slots = slots;
	bench->program.nodes = bench->nodes;
}

static void fill(struct bench *bench)
{
	static const char *const texts[] = { "", "a", "aa", "abcdefg", "abcdefgh", "abcdefghijk" };
	uint64_t word;

	for (int i = 0; i < 3; i++) {
		word = some_number(bench);
		memcpy(bench->record + 48 + i * 8, &word, sizeof word);
		word = some_number(bench);
		memcpy(bench->slots + i * 8, &word, sizeof word);
	}
	word = some_number(bench);
	memcpy(bench->record + 16, &word, sizeof word);
	memcpy(bench->record + 20, &word, 4);
	bench->record[72] = (char)pick(bench, 2);
	bench->slots[24] = (char)pick(bench, 2);
	memset(bench->record + 80, 0, 40);
	memset(bench->slots + 32, 0, 16);
	strcpy(bench->record + 80, texts[pick(bench, 6)]);
	strcpy(bench->record + 96, texts[pick(bench, 6)]);
	strcpy(bench->slots + 32, texts[pick(bench, 6)]);
}

static uint32_t add(struct bench *bench, uint8_t op, uint8_t kind, uint32_t a, uint32_t b)
{
	assert_true(bench->count < NODES_MAX);
	bench->nodes[bench->count] = (struct program_node){ .op = op, .kind = kind, .a = a, .b = b };
	return bench->count++;
}

static uint32_t leaf(struct bench *bench, uint8_t kind)
{
	static const uint32_t signed_fields[] = { 1, 2, 3 }, signed_slots[] = { 0, 2 };
	uint32_t node;

	switch (pick(bench, 3)) {
	case 0:
		node = add(bench, PROGRAM_OP_CONST, kind, 0, 0);
		bench->nodes[node].imm = kind == PROGRAM_BOOL ? pick(bench, 2) : some_number(bench);
		return node;
	case 1:
		return add(bench, PROGRAM_OP_FIELD, kind,
			   kind == PROGRAM_BOOL  ? 5
			   : kind == PROGRAM_U64 ? 4
						 : signed_fields[pick(bench, 3)],
			   0);
	default:
		return add(bench, PROGRAM_OP_SLOT, kind,
			   kind == PROGRAM_BOOL  ? 3
			   : kind == PROGRAM_U64 ? 1
						 : signed_slots[pick(bench, 2)],
			   0);
	}
}

static uint32_t text(struct bench *bench)
{
	static const uint32_t references[] = { TEXT_EMPTY, TEXT_AA, TEXT_EIGHT, TEXT_ELEVEN, TEXT_A };
	uint32_t reference = references[pick(bench, 5)];

	switch (pick(bench, 4)) {
	case 0:
		return add(bench, PROGRAM_OP_FIELD, PROGRAM_STRING, 6 + pick(bench, 2), 0);
	case 1:
		return add(bench, PROGRAM_OP_SLOT, PROGRAM_STRING, 4, 0);
	default:
		return add(bench, PROGRAM_OP_TEXT, PROGRAM_STRING, reference, (uint32_t)strlen(strings + reference));
	}
}

static uint32_t condition(struct bench *bench, uint32_t depth);

static uint32_t number(struct bench *bench, uint8_t kind, uint32_t depth)
{
	uint8_t other = kind == PROGRAM_I64 ? PROGRAM_U64 : PROGRAM_I64, op;
	uint32_t a, b;

	if (depth == 0 || pick(bench, 6) == 0)
		return leaf(bench, kind);
	if (pick(bench, 8) == 0) {
		a = pick(bench, 3) ? number(bench, other, depth - 1) : condition(bench, depth - 1);
		return add(bench, PROGRAM_OP_CONVERT, kind, a, 0);
	}
	op = (uint8_t)(PROGRAM_OP_ADD + pick(bench, PROGRAM_OP_SHR - PROGRAM_OP_ADD + 1));
	a = number(bench, kind, depth - 1);
	b = number(bench, op == PROGRAM_OP_SHL || op == PROGRAM_OP_SHR ? (uint8_t)(PROGRAM_I64 + pick(bench, 2)) : kind,
		   depth - 1);
	return add(bench, op, kind, a, b);
}

static uint32_t text_condition(struct bench *bench)
{
	static const uint32_t patterns[] = { PATTERN_AB,   PATTERN_ALL,   TEXT_AA,        PATTERN_EIGHT,   TEXT_EMPTY,
					     PATTERN_ENDS, PATTERN_INNER, PATTERN_PIECES, PATTERN_ANYWHERE };
	uint32_t a = text(bench), reference = patterns[pick(bench, sizeof patterns / sizeof patterns[0])];

	if (pick(bench, 2))
		return add(bench, (uint8_t)(PROGRAM_OP_EQ + pick(bench, 2)), PROGRAM_BOOL, a, text(bench));
	return add(bench, PROGRAM_OP_LIKE, PROGRAM_BOOL, a,
		   add(bench, PROGRAM_OP_TEXT, PROGRAM_STRING, reference, (uint32_t)strlen(strings + reference)));
}

static uint32_t condition(struct bench *bench, uint32_t depth)
{
	uint32_t a, b;

	if (depth == 0)
		return leaf(bench, PROGRAM_BOOL);
	switch (pick(bench, 8)) {
	case 0:
		return text_condition(bench);
	case 1:
		return add(bench, PROGRAM_OP_LNOT, PROGRAM_BOOL, condition(bench, depth - 1), 0);
	case 2:
	case 3:
		a = condition(bench, depth - 1);
		b = condition(bench, depth - 1);
		return add(bench, (uint8_t)(PROGRAM_OP_LAND + pick(bench, 2)), PROGRAM_BOOL, a, b);
	case 4:
		a = condition(bench, depth - 1);
		b = condition(bench, depth - 1);
		return add(bench, (uint8_t)(PROGRAM_OP_AND + pick(bench, 3)), PROGRAM_BOOL, a, b);
	case 5:
		a = condition(bench, depth - 1);
		b = condition(bench, depth - 1);
		return add(bench, (uint8_t)(PROGRAM_OP_EQ + pick(bench, 2)), PROGRAM_BOOL, a, b);
	default:
		a = number(bench, (uint8_t)(PROGRAM_I64 + pick(bench, 2)), depth - 1);
		b = number(bench, (uint8_t)(PROGRAM_I64 + pick(bench, 2)), depth - 1);
		return add(bench, (uint8_t)(PROGRAM_OP_EQ + pick(bench, 6)), PROGRAM_BOOL, a, b);
	}
}

/* Assembles what `body` emits between r6, r7 being set and the exits: r0 = 1, 0, or DIVIDED. */
typedef void body_fn(struct ebpf_lower *lower, uint32_t node, uint32_t no);

/* The automata of patterns: in the kernel they are in a map. */
static struct ebpf_pattern patterns[64];

static void build_patterns(struct bench *bench, const struct ebpf_node_info *info)
{
	assert_true(ebpf_pattern_count(&bench->program, info) <= sizeof patterns / sizeof patterns[0]);
	for (uint32_t i = 0; i < bench->count; i++)
		if (info[i].pattern)
			ebpf_pattern_build(ebpf_pattern_text(&bench->program, &bench->nodes[i]),
					   &patterns[info[i].pattern - 1]);
}

static struct ebpf_node_info *assemble(struct bench *bench, body_fn *body, uint32_t node, struct ebpf_code *code)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_lower lower = { .as = as, .program = &bench->program, .rule = &bench->rule, .slots = R7 };
	uint32_t no = ebpf_label(as);

	bench->header.sections[PROGRAM_NODES].count = bench->count;
	struct ebpf_node_info *info = ebpf_node_info_new(&bench->program);

	lower.info = info;
	lower.patterns_fd = MACHINE_MAP;
	build_patterns(bench, info);
	lower.on_zero = ebpf_label(as);
	body(&lower, node, no);
	ebpf_mov_imm(as, R0, 1);
	ebpf_exit(as);
	ebpf_bind(as, no);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_bind(as, lower.on_zero);
	ebpf_mov_imm(as, R0, DIVIDED);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, true, code), 0);
	ebpf_asm_free(as);
	return info;
}

static void run(struct bench *bench, const struct ebpf_code *code, char *slots_area, struct machine *machine)
{
	machine->r[R6] = (uintptr_t)bench->record;
	machine->r[R7] = (uintptr_t)slots_area;
	machine->map = patterns;
	machine_run(machine, code);
}

static struct program_operand operand_of(const struct bench *bench)
{
	return (struct program_operand){ &bench->program, &bench->rule, bench->record, bench->slots };
}

static void branch_true(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	ebpf_lower_branch(lower, node, false, no);
}

static void branch_false(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	uint32_t yes = ebpf_label(lower->as);

	ebpf_lower_branch(lower, node, true, yes);
	ebpf_jump(lower->as, no);
	ebpf_bind(lower->as, yes);
}

static void conditions_agree_with_evaluation(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	struct machine machine;
	(void)state;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct ebpf_code code;
		uint64_t divisions = 0;

		bench_init(bench, round);
		fill(bench);
		uint32_t node = condition(bench, DEPTH);
		struct ebpf_node_info *info = assemble(bench, round % 2 ? branch_true : branch_false, node, &code);
		struct program_operand operand = operand_of(bench);
		bool holds = program_holds(&operand, node, &divisions);

		for (int again = 0; again < 4; again++) {
			run(bench, &code, bench->slots, &machine);
			if (machine.r[R0] != (divisions ? DIVIDED : holds))
				fail_msg("round %u: the code says %d, not %d", round, (int)machine.r[R0], holds);
			fill(bench);
			divisions = 0;
			holds = program_holds(&operand, node, &divisions);
		}
		assert_true(info[node].divides || !divisions);
		ebpf_code_fini(&code);
		alloc_free(info);
	}
	free(bench);
}

static void value_to_slot(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	struct program_action action = { .op = PROGRAM_SET, .slot = 2, .node = node };
	(void)no;

	ebpf_lower_action(lower, &action);
}

static void numbers_agree_with_evaluation(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	struct machine machine;
	(void)state;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		_Alignas(8) char area[SLOTS_BYTES];
		struct program_value value;
		struct ebpf_code code;
		uint64_t got, before;

		bench_init(bench, round);
		fill(bench);
		uint32_t node = number(bench, PROGRAM_I64, DEPTH + 2);
		struct ebpf_node_info *info = assemble(bench, value_to_slot, node, &code);
		struct program_operand operand = operand_of(bench);
		int result = program_eval(&operand, node, &value);

		memcpy(area, bench->slots, sizeof area);
		memcpy(&before, area + 16, sizeof before);
		run(bench, &code, area, &machine);
		memcpy(&got, area + 16, sizeof got);
		assert_int_equal(machine.r[R0], result ? DIVIDED : 1);
		if (got != (result ? before : value.u64))
			fail_msg("round %u: %#llx, not %#llx", round, (unsigned long long)got,
				 (unsigned long long)value.u64);
		ebpf_code_fini(&code);
		alloc_free(info);
	}
	free(bench);
}

/* A complete binary tree has more intermediate results at once than there are registers. */
static void what_finds_no_register_waits_on_the_stack(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	uint32_t level[1 << 8];
	struct program_value value;
	struct ebpf_code code;
	struct machine machine;
	_Alignas(8) char area[SLOTS_BYTES] = { 0 };
	uint64_t got;
	(void)state;

	bench_init(bench, 1);
	fill(bench);
	for (uint32_t i = 0; i < 1 << 8; i++) {
		level[i] = add(bench, PROGRAM_OP_CONST, PROGRAM_I64, 0, 0);
		bench->nodes[level[i]].imm = i * i + 1;
	}
	for (uint32_t count = 1 << 7; count >= 1; count /= 2)
		for (uint32_t i = 0; i < count; i++)
			level[i] = add(bench, i % 2 ? PROGRAM_OP_SUB : PROGRAM_OP_MUL, PROGRAM_I64, level[2 * i],
				       level[2 * i + 1]);
	struct ebpf_node_info *info = assemble(bench, value_to_slot, level[0], &code);
	struct program_operand operand = operand_of(bench);

	assert_true(info[level[0]].need > 5);
	assert_int_equal(program_eval(&operand, level[0], &value), 0);
	run(bench, &code, area, &machine);
	memcpy(&got, area + 16, sizeof got);
	assert_int_equal(got, value.u64);
	ebpf_code_fini(&code);
	alloc_free(info);
	free(bench);
}

static void least_to_slot(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	struct program_action least = { .op = PROGRAM_MIN, .slot = 0, .node = node };
	struct program_action most = { .op = PROGRAM_MAX, .slot = 2, .node = node };
	(void)no;

	ebpf_lower_action(lower, &least);
	ebpf_lower_action(lower, &most);
}

static void least_and_greatest_go_by_sign(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	struct ebpf_code code;
	struct machine machine;
	_Alignas(8) int64_t area[SLOTS_BYTES / 8] = { 5, 0, 5 };
	(void)state;

	bench_init(bench, 1);
	uint32_t node = add(bench, PROGRAM_OP_FIELD, PROGRAM_I64, 2, 0);
	struct ebpf_node_info *info = assemble(bench, least_to_slot, node, &code);
	static const int64_t values[] = { 7, -3, 4, 9, -2 };

	for (size_t i = 0; i < 5; i++) {
		memcpy(bench->record + 48, &values[i], 8);
		run(bench, &code, (char *)area, &machine);
	}
	assert_int_equal(area[0], -3);
	assert_int_equal(area[2], 9);
	ebpf_code_fini(&code);
	alloc_free(info);
	free(bench);
}

static void text_to_slot(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	struct program_action action = { .op = PROGRAM_SET, .slot = 4, .node = node };
	(void)no;

	ebpf_lower_action(lower, &action);
}

static void texts_are_kept_with_their_padding(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	struct machine machine;
	(void)state;

	for (int constant = 0; constant < 2; constant++) {
		_Alignas(8) char area[SLOTS_BYTES], wanted[16] = "abcdefghijk";
		struct ebpf_code code;

		bench_init(bench, 1);
		memset(area, 'x', sizeof area);
		strcpy(bench->record + 80, "abcdefghijk");
		uint32_t node = constant ? add(bench, PROGRAM_OP_TEXT, PROGRAM_STRING, TEXT_ELEVEN, 11)
					 : add(bench, PROGRAM_OP_FIELD, PROGRAM_STRING, 6, 0);
		struct ebpf_node_info *info = assemble(bench, text_to_slot, node, &code);

		run(bench, &code, area, &machine);
		assert_memory_equal(area + 32, wanted, sizeof wanted);
		ebpf_code_fini(&code);
		alloc_free(info);
	}
	free(bench);
}

/* To the first 8 bytes of the text slot. */
static void text_to_place(struct ebpf_lower *lower, uint32_t node, uint32_t no)
{
	struct ebpf_text_place place = { lower->slots, 32, 8 };
	(void)no;

	ebpf_lower_text(lower, node, &place);
}

static void texts_are_cut_to_their_place(void **state)
{
	static const struct {
		const char *text;
		uint32_t constant;
		char kept[8];
	} cases[] = {
		{ "abcdefghijk", TEXT_ELEVEN, "abcdefg" },
		{ "abcdefgh", TEXT_EIGHT, "abcdefg" },
		{ "aa", TEXT_AA, "aa" },
		{ "", TEXT_EMPTY, "" },
	};
	struct bench *bench = malloc(sizeof *bench);
	struct machine machine;
	(void)state;

	for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
		_Alignas(8) char area[SLOTS_BYTES];
		struct ebpf_code code;
		const char *text = cases[i / 2].text;

		bench_init(bench, 1);
		memset(area, 'x', sizeof area);
		strcpy(bench->record + 80, text);
		memset(bench->record + 80 + strlen(text), 0, 16 - strlen(text));
		uint32_t node = i % 2 ? add(bench, PROGRAM_OP_TEXT, PROGRAM_STRING, cases[i / 2].constant,
					    (uint32_t)strlen(text))
				      : add(bench, PROGRAM_OP_FIELD, PROGRAM_STRING, 6, 0);
		struct ebpf_node_info *info = assemble(bench, text_to_place, node, &code);

		run(bench, &code, area, &machine);
		assert_memory_equal(area + 32, cases[i / 2].kept, 8);
		assert_int_equal(area[31], 'x');
		assert_int_equal(area[40], 'x');
		ebpf_code_fini(&code);
		alloc_free(info);
	}
	free(bench);
}

static void floats_and_long_patterns_are_refused(void **state)
{
	struct bench *bench = malloc(sizeof *bench);
	(void)state;

	bench_init(bench, 1);
	uint32_t real = add(bench, PROGRAM_OP_CONST, PROGRAM_F64, 0, 0);
	uint32_t sum = add(bench, PROGRAM_OP_ADD, PROGRAM_F64, real, real);
	uint32_t less = add(bench, PROGRAM_OP_LT, PROGRAM_BOOL, real, real);
	uint32_t not = add(bench, PROGRAM_OP_LNOT, PROGRAM_BOOL, less, 0);

	bench->header.sections[PROGRAM_NODES].count = bench->count;
	struct ebpf_node_info *info = ebpf_node_info_new(&bench->program);

	assert_true(info[real].in_kernel);
	assert_false(info[sum].in_kernel);
	assert_false(info[less].in_kernel);
	assert_false(info[not ].in_kernel);
	alloc_free(info);
	assert_true(program_pattern_is_prefix("abc"));
	assert_true(program_pattern_is_prefix("abc**"));
	assert_false(program_pattern_is_prefix("a*c"));
	assert_false(program_pattern_is_prefix("*c"));
	assert_true(ebpf_pattern_fits("*12345678901234567890123456789012345678901234567890123456789012*"));
	assert_false(ebpf_pattern_fits("*123456789012345678901234567890123456789012345678901234567890123"));
	free(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_agree_with_evaluation),
		cmocka_unit_test(numbers_agree_with_evaluation),
		cmocka_unit_test(what_finds_no_register_waits_on_the_stack),
		cmocka_unit_test(least_and_greatest_go_by_sign),
		cmocka_unit_test(texts_are_kept_with_their_padding),
		cmocka_unit_test(texts_are_cut_to_their_place),
		cmocka_unit_test(floats_and_long_patterns_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
