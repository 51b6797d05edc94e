// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random expressions and actions: the compiled form and the planned one yield what program_eval yields, divisions by
 * zero included.
 */

#include "maker.h"

#include "engine/plan-priv.h"
#include "program/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 400, NODES = 300, RECORDS = 4, ACTIONS = 6 };
enum { SLOT_BYTES = 80, SLOT_COUNT = 9, FIRST_WORD = 4, WORDS = 3, TEXT_SLOT = 8 };

static const uint32_t slot_kinds[SLOT_COUNT] = { PROGRAM_I64, PROGRAM_U64, PROGRAM_F64, PROGRAM_BOOL,  PROGRAM_U64,
						 PROGRAM_U64, PROGRAM_U64, PROGRAM_U64, PROGRAM_STRING };

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state += 0x9e3779b97f4a7c15;
	uint64_t z = random_state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next_random() % limit);
}

/* Values near which arithmetic goes wrong come up often. */
static uint64_t random_integer(void)
{
	static const uint64_t edges[] = { 0, 1, 2, 63, 64, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX };

	switch (below(4)) {
	case 0:
		return next_random();
	case 1:
		return next_random() % 10;
	case 2:
		return 0 - next_random() % 10;
	default:
		return edges[below(sizeof edges / sizeof *edges)];
	}
}

static double random_real(void)
{
	static const double edges[] = { 0, -0.0, 0.5, -1.5, 1e300, -1e300, 0x1p63, -0x1p63, 0x1p64, 1e-310, 3 };
	double infinity = 1e308 * 10;

	switch (below(8)) {
	case 0:
		return infinity - infinity;
	case 1:
		return below(2) ? infinity : -infinity;
	case 2:
		return (double)(int64_t)random_integer();
	default:
		return edges[below(sizeof edges / sizeof *edges)];
	}
}

static uint64_t random_bits(enum program_kind kind)
{
	double real = random_real();
	uint64_t bits;

	if (kind == PROGRAM_BOOL)
		return below(2);
	if (kind != PROGRAM_F64)
		return random_integer();
	memcpy(&bits, &real, sizeof bits);
	return bits;
}

static const char *random_text(void)
{
	static const char *const texts[] = { "", "a", "ab", "abc", "b*", "*", "a*c", "*b*", "cp", "zzzzzzzzzzzzzzz" };

	return texts[below(sizeof texts / sizeof *texts)];
}

static uint32_t random_leaf(struct program_build *build, enum program_kind kind)
{
	static const enum maker_field fields[] = { [PROGRAM_I64] = MAKER_X,
						   [PROGRAM_U64] = MAKER_U,
						   [PROGRAM_F64] = MAKER_F,
						   [PROGRAM_BOOL] = MAKER_BOOL,
						   [PROGRAM_STRING] = MAKER_S };

	switch (below(4)) {
	case 0:
		if (kind == PROGRAM_STRING)
			return maker_text(build, random_text());
		return maker_const(build, kind, random_bits(kind));
	case 1:
		if (kind == PROGRAM_STRING)
			return maker_leaf(build, PROGRAM_OP_SLOT, kind, TEXT_SLOT);
		return maker_leaf(build, PROGRAM_OP_SLOT, kind, (uint32_t)kind - 1);
	case 2:
		if (kind == PROGRAM_I64)
			return maker_leaf(build, PROGRAM_OP_FIELD, kind, below(4)); /* ts cpu pid tid */
		if (kind == PROGRAM_STRING)
			return maker_leaf(build, PROGRAM_OP_FIELD, kind, 4);
		/* fall through */
	default:
		return maker_leaf(build, PROGRAM_OP_FIELD, kind, maker_field(MAKER_A, fields[kind]));
	}
}

/* Nodes made so far, by kind, so that they can become operands. */
struct pool {
	uint32_t nodes[PROGRAM_STRING + 1][NODES * 3];
	uint16_t sizes[PROGRAM_STRING + 1][NODES * 3];
	uint32_t count[PROGRAM_STRING + 1];
	uint32_t size; /* of the operands picked */
};

static void keep(struct pool *pool, enum program_kind kind, uint32_t node, uint32_t size)
{
	pool->nodes[kind][pool->count[kind]] = node;
	pool->sizes[kind][pool->count[kind]++] = (uint16_t)size;
}

static uint32_t pick(struct program_build *build, struct pool *pool, enum program_kind kind)
{
	if (pool->count[kind] && below(2)) {
		uint32_t at = below(pool->count[kind]);

		if (pool->sizes[kind][at] < 100) {
			pool->size += pool->sizes[kind][at];
			return pool->nodes[kind][at];
		}
	}
	pool->size++;
	return random_leaf(build, kind);
}

static enum program_kind random_integer_kind(void)
{
	return below(2) ? PROGRAM_I64 : PROGRAM_U64;
}

static uint32_t random_condition(struct program_build *build, struct pool *pool)
{
	enum program_op op = PROGRAM_OP_EQ + below(PROGRAM_OP_LNOT - PROGRAM_OP_EQ + 1);
	enum program_kind a = PROGRAM_BOOL, b = PROGRAM_BOOL;

	if (op == PROGRAM_OP_LIKE) {
		uint32_t text = pick(build, pool, PROGRAM_STRING);

		return maker_node(build, op, PROGRAM_BOOL, text, maker_text(build, random_text()));
	}
	if (op <= PROGRAM_OP_GE) {
		uint32_t choice = below(op <= PROGRAM_OP_NE ? 6 : 4);

		a = random_integer_kind();
		b = random_integer_kind();
		if (choice == 3)
			a = b = PROGRAM_F64;
		else if (choice > 3)
			a = b = choice == 4 ? PROGRAM_BOOL : PROGRAM_STRING;
	}
	uint32_t left = pick(build, pool, a), right = op == PROGRAM_OP_LNOT ? left : pick(build, pool, b);
	return maker_node(build, op, PROGRAM_BOOL, left, right);
}

/* What rules mostly ask: a field, a slot or how far they are apart, compared with a number; often before more. */
static uint32_t random_question(struct program_build *build, struct pool *pool)
{
	enum program_op op = PROGRAM_OP_EQ + below(PROGRAM_OP_GE - PROGRAM_OP_EQ + 1);
	enum program_kind kind = random_integer_kind(), other = below(4) ? kind : random_integer_kind();
	uint32_t a = random_leaf(build, kind), b = maker_const(build, other, random_integer());

	if (below(3) == 0) {
		a = maker_leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, below(4));
		a = maker_node(build, PROGRAM_OP_SUB, PROGRAM_I64, a,
			       maker_leaf(build, PROGRAM_OP_SLOT, PROGRAM_I64, 0));
	} else if (below(4) == 0) {
		b = maker_leaf(build, PROGRAM_OP_SLOT, kind, (uint32_t)kind - 1);
	}
	uint32_t swapped = below(2), request = maker_node(build, op, PROGRAM_BOOL, swapped ? b : a, swapped ? a : b);
	pool->size += 4;
	if (below(2))
		return request;
	return maker_node(build, PROGRAM_OP_LAND, PROGRAM_BOOL, request, pick(build, pool, PROGRAM_BOOL));
}

/* Makes a node of a random kind that is no leaf, and keeps it. */
static void random_node(struct program_build *build, struct pool *pool)
{
	enum program_kind kind = PROGRAM_I64 + below(4), from = kind;
	enum program_op op;
	uint32_t node;

	pool->size = 1;
	if (kind == PROGRAM_BOOL && below(4) == 0) {
		node = random_question(build, pool);
	} else if (kind == PROGRAM_BOOL && below(4)) {
		node = random_condition(build, pool);
	} else if (kind != PROGRAM_BOOL && below(4) == 0) {
		from = PROGRAM_I64 + below(4);
		uint32_t operand = pick(build, pool, from);
		node = maker_node(build, PROGRAM_OP_CONVERT, kind, operand, 0);
	} else {
		if (kind == PROGRAM_BOOL)
			op = PROGRAM_OP_AND + below(3);
		else if (kind == PROGRAM_F64)
			op = PROGRAM_OP_ADD + below(4);
		else
			op = PROGRAM_OP_ADD + below(PROGRAM_OP_SHR - PROGRAM_OP_ADD + 1);
		bool shifts = op == PROGRAM_OP_SHL || op == PROGRAM_OP_SHR;
		uint32_t a = pick(build, pool, kind), b = pick(build, pool, shifts ? random_integer_kind() : kind);
		node = maker_node(build, op, kind, a, b);
	}
	keep(pool, kind, node, pool->size);
}

static void random_record(struct maker_record *record)
{
	memset(record, 0, sizeof *record);
	record->header.ts = random_integer();
	record->header.cpu = (uint32_t)random_integer();
	record->header.pid = (uint32_t)random_integer();
	record->header.tid = (uint32_t)random_integer();
	strncpy(record->header.comm, random_text(), sizeof record->header.comm - 1);
	record->x = (int64_t)random_integer();
	record->u = random_integer();
	record->f = random_real();
	record->b = below(2);
	strncpy(record->s, random_text(), sizeof record->s - 1);
}

static void random_slots(char *slots)
{
	memset(slots, 0, SLOT_BYTES);
	for (uint32_t i = 0; i < SLOT_COUNT - 1; i++) {
		uint64_t bits = random_bits(slot_kinds[i]);

		memcpy(slots + 8 * i, &bits, sizeof bits);
	}
	strncpy(slots + 8 * (SLOT_COUNT - 1), random_text(), 15);
}

/* A rule that gives the loader and the slots their shape; its one transition has no expression. */
static struct maker_rule shape(void)
{
	struct maker_rule rule = {
		.name = "t",
		.semantics = PROGRAM_SKIP_TILL_NEXT,
		.pool = 1,
		.slot_count = SLOT_COUNT,
		.states = { { .transitions = { { .type = MAKER_A, .target = PROGRAM_TARGET_MATCH } }, .count = 1 } },
		.state_count = 1,
	};

	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		rule.slots[i].kind = slot_kinds[i];
		rule.slots[i].bytes = slot_kinds[i] == PROGRAM_STRING ? 16 : 8;
	}
	return rule;
}

/* What the action does by the book. */
/* Returns whether it divides by zero; then nothing is done. */
static bool act(const struct program_operand *operand, const struct program_action *action, char *slots)
{
	enum program_kind kind = slot_kinds[action->slot];
	char *at = slots + 8 * action->slot;
	struct program_value value, old = { .kind = kind };
	uint64_t bits;

	if (program_eval(operand, action->node, &value))
		return true;
	if (kind == PROGRAM_STRING) {
		char text[16] = { 0 };

		strncpy(text, value.text, sizeof text - 1);
		memcpy(at, text, sizeof text);
		return false;
	}
	memcpy(&old.u64, at, sizeof old.u64);
	bits = kind == PROGRAM_BOOL ? value.boolean : value.u64;
	bool less = kind == PROGRAM_I64   ? value.i64 < old.i64
		    : kind == PROGRAM_F64 ? value.f64 < old.f64
					  : value.u64 < old.u64;
	bool greater = kind == PROGRAM_I64   ? value.i64 > old.i64
		       : kind == PROGRAM_F64 ? value.f64 > old.f64
					     : value.u64 > old.u64;
	if (action->op == PROGRAM_SET || (action->op == PROGRAM_MIN && less) || (action->op == PROGRAM_MAX && greater))
		memcpy(at, &bits, sizeof bits);
	return false;
}

struct subject {
	struct program *program;
	struct engine_code code;
	struct engine_frame frame;
	struct arena *arena;
	uint32_t *conditions, *effects; /* blocks, per condition */
	struct engine_condition *fits;  /* the same, planned */
	struct engine_effect *takes;
	struct program_action *actions; /* ACTIONS per condition, as they are in the program */
	uint64_t checked;
	uint64_t ranges, parts, holds, differences, copies, blocks; /* planned without code, or with less of it */
};

static bool plan_fits(struct subject *subject, uint32_t index, const struct maker_record *record, const char *slots)
{
	const struct engine_condition *fit = &subject->fits[index];

	return engine_range_holds(&fit->range, (const char *)record, slots) &&
	       (!fit->rest || engine_code_holds(&subject->code.ops[fit->rest - 1], &subject->frame));
}

static bool plan_takes(struct subject *subject, uint32_t index, const struct maker_record *record, char *slots)
{
	const struct engine_effect *effect = &subject->takes[index];

	engine_copies_do(effect, (const char *)record, slots);
	return (!effect->rest || engine_code_holds(&subject->code.ops[effect->rest - 1], &subject->frame)) &&
	       engine_range_holds(&effect->hold, (const char *)record, slots);
}

static uint64_t act_all(const struct subject *subject, const struct program_operand *operand, uint32_t index,
			char *slots)
{
	uint64_t divisions = 0;

	for (int i = 0; i < ACTIONS; i++)
		divisions += act(operand, &subject->actions[ACTIONS * index + i], slots);
	return divisions;
}

static void check_condition(struct subject *subject, uint32_t index, uint32_t node)
{
	struct maker_record record;
	char slots[SLOT_BYTES], expected[SLOT_BYTES];
	struct program_operand operand = { subject->program, &subject->program->rules[0], &record, expected };

	for (int i = 0; i < RECORDS; i++) {
		uint64_t divisions = 0, wanted = 0;

		random_record(&record);
		random_slots(slots);
		memcpy(expected, slots, sizeof slots);
		subject->frame.base[ENGINE_BASE_RECORD] = (char *)&record;
		subject->frame.base[ENGINE_BASE_SLOTS] = slots;
		subject->frame.divisions = &divisions;
		bool holds = engine_code_holds(&subject->code.ops[subject->conditions[index]], &subject->frame);
		assert_int_equal(holds, program_holds(&operand, node, &wanted));
		assert_int_equal(divisions, wanted);
		holds = engine_code_holds(&subject->code.ops[subject->effects[index]], &subject->frame);
		wanted += act_all(subject, &operand, index, expected);
		assert_int_equal(holds, program_holds(&operand, node, &wanted));
		assert_int_equal(divisions, wanted);
		assert_memory_equal(slots, expected, sizeof slots);
		random_slots(slots);
		memcpy(expected, slots, sizeof slots);
		assert_int_equal(plan_fits(subject, index, &record, slots), program_holds(&operand, node, &wanted));
		assert_int_equal(divisions, wanted);
		holds = plan_takes(subject, index, &record, slots);
		wanted += act_all(subject, &operand, index, expected);
		assert_int_equal(holds, program_holds(&operand, node, &wanted));
		assert_int_equal(divisions, wanted);
		assert_memory_equal(slots, expected, sizeof slots);
		subject->checked++;
	}
}

static struct program_action random_action(const struct pool *pool, uint32_t text)
{
	uint32_t slot = below(SLOT_COUNT);
	enum program_kind kind = slot_kinds[slot];
	struct program_action action = { .op = PROGRAM_SET, .slot = slot, .node = text };

	if (kind == PROGRAM_STRING)
		return action;
	action.node = pool->nodes[kind][below(pool->count[kind])];
	if (kind != PROGRAM_BOOL)
		action.op = PROGRAM_SET + below(3);
	return action;
}

/* Half of them begin, somewhere, with moves of one number after the other to the place of the one above it. */
static void random_actions(const struct pool *pool, const uint32_t *texts, const uint32_t *slots,
			   struct program_action *actions)
{
	uint32_t first = below(2 * ACTIONS);

	for (uint32_t i = 0; i < ACTIONS; i++) {
		uint32_t moved = i - first;

		actions[i] = random_action(pool, texts[below(8)]);
		if (i >= first && moved < WORDS)
			actions[i] = (struct program_action){
				.op = PROGRAM_SET,
				.slot = FIRST_WORD + WORDS - moved,
				.node = slots[WORDS - 1 - moved],
			};
	}
}

/* A copy of the loaded program's struct, since its tables are const. */
static uint32_t compile_effect(struct subject *subject, const struct program_action *actions, uint32_t hold,
			       struct engine_effect *planned)
{
	struct program program = *subject->program;
	struct program_transition transition = { .action_count = ACTIONS, .hold = hold };

	program.actions = actions;
	const struct engine_planner planner = { &subject->code, subject->arena, &program, &program.rules[0] };

	engine_effect_plan(&planner, &transition, planned);
	return engine_compile_effect(&subject->code, &program, &program.rules[0],
				     &(struct engine_work){ actions, transition.action_count, hold });
}

static void count_plans(struct subject *subject, uint32_t index)
{
	const struct engine_condition *fit = &subject->fits[index];
	const struct engine_effect *effect = &subject->takes[index];
	bool has_range = fit->range.span != UINT64_MAX;

	subject->ranges += has_range && !fit->rest;
	subject->parts += has_range && fit->rest;
	subject->differences += has_range && fit->range.field.mask && fit->range.slot_mask;
	subject->holds += effect->hold.span != UINT64_MAX;
	subject->copies += effect->copy_count;
	subject->blocks += effect->block.bytes != 0;
}

static void subject_init(struct subject *subject, uint32_t count)
{
	subject->conditions = calloc(count, sizeof *subject->conditions);
	subject->effects = calloc(count, sizeof *subject->effects);
	subject->fits = calloc(count, sizeof *subject->fits);
	subject->takes = calloc(count, sizeof *subject->takes);
	subject->arena = arena_new();
	subject->actions = calloc((size_t)ACTIONS * count, sizeof *subject->actions);
}

static void subject_fini(struct subject *subject)
{
	engine_code_fini(&subject->code);
	program_free(subject->program);
	free(subject->conditions);
	free(subject->effects);
	free(subject->actions);
	free(subject->fits);
	free(subject->takes);
	arena_free(subject->arena);
}

static void check_round(struct subject *sum)
{
	static struct pool pool;
	struct subject subject = { 0 };
	struct program_build *build = maker_new();
	struct maker_rule rule = shape();
	uint32_t texts[8], slots[WORDS];

	memset(&pool, 0, sizeof pool);
	for (enum program_kind kind = PROGRAM_I64; kind <= PROGRAM_BOOL; kind++)
		keep(&pool, kind, random_leaf(build, kind), 1);
	for (int i = 0; i < 8; i++)
		texts[i] = random_leaf(build, PROGRAM_STRING);
	for (uint32_t i = 0; i < WORDS; i++) {
		slots[i] = maker_leaf(build, PROGRAM_OP_SLOT, PROGRAM_U64, FIRST_WORD + i);
		keep(&pool, PROGRAM_U64, slots[i], 1);
	}
	for (int i = 0; i < NODES; i++)
		random_node(build, &pool);
	maker_add(build, &rule);
	subject.program = maker_load(build);
	uint32_t count = pool.count[PROGRAM_BOOL];
	subject_init(&subject, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = pool.nodes[PROGRAM_BOOL][i];

		random_actions(&pool, texts, slots, &subject.actions[ACTIONS * i]);
		subject.conditions[i] = engine_compile_condition(&subject.code, subject.program,
								 &subject.program->rules[0], node, PROGRAM_NONE);
		const struct engine_planner planner = { &subject.code, subject.arena, subject.program,
							subject.program->rules };

		engine_condition_plan(&planner, node, &subject.fits[i]);
		subject.effects[i] = compile_effect(&subject, &subject.actions[ACTIONS * i], node, &subject.takes[i]);
	}
	assert_int_equal(engine_code_link(&subject.code), 0);
	engine_frame_init(&subject.frame, subject.program, &subject.code);
	for (uint32_t i = 0; i < count; i++)
		count_plans(&subject, i);
	for (uint32_t i = 0; i < count; i++)
		check_condition(&subject, i, pool.nodes[PROGRAM_BOOL][i]);
	subject_fini(&subject);
	*sum = (struct subject){
		.checked = sum->checked + subject.checked,
		.ranges = sum->ranges + subject.ranges,
		.parts = sum->parts + subject.parts,
		.holds = sum->holds + subject.holds,
		.differences = sum->differences + subject.differences,
		.copies = sum->copies + subject.copies,
		.blocks = sum->blocks + subject.blocks,
	};
}

static void random_expressions(void **state)
{
	const char *seed = getenv("SEED");
	struct subject sum = { 0 };

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		random_state = (seed ? strtoull(seed, NULL, 0) : 1) + (round << 20);
		check_round(&sum);
	}
	print_message("%llu conditions, each with six actions; %llu ranges, %llu before code, %llu differences, "
		      "%llu holds, %llu copies, %llu blocks\n",
		      (unsigned long long)sum.checked, (unsigned long long)sum.ranges, (unsigned long long)sum.parts,
		      (unsigned long long)sum.differences, (unsigned long long)sum.holds,
		      (unsigned long long)sum.copies, (unsigned long long)sum.blocks);
	assert_true(sum.checked >= 100000);
	assert_true(sum.ranges >= 1000 && sum.parts >= 1000 && sum.holds >= 1000);
	assert_true(sum.differences >= 1000 && sum.copies >= 300 && sum.blocks >= 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
