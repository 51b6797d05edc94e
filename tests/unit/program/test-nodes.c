// SPDX-License-Identifier: BSD-2-Clause
/* Which nodes the loader takes: every operation with every kind of operand, depths, sizes, and who may read what. */

#include "sample.h"

#include "base/alloc.h"
#include "base/diag.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Finishes build and loads it; frees build. text: part of the expected message, NULL: it must load. */
static void finish(struct program_build *build, const char *text)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	void *image = NULL;
	size_t length;

	assert_int_equal(program_build_finish(build, &image, &length), 0);
	int result = program_load(image, length, "nodes", diag, &program);
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	if (result != (text ? -EINVAL : 0) || (text && !strstr(message->text, text)))
		fail_msg("expected %s, got %s", text ? text : "success", message ? message->text : "success");
	program_free(program);
	asterism_diag_free(diag);
	alloc_free(image);
	program_build_free(build);
}

static struct program_build *begin(void)
{
	struct program_build *build = program_build_new();

	sample_types(build);
	return build;
}

/* Loads one node, with a leaf of every kind before it: node 0 is of kind 1, and so on. */
static int load_node(struct program_node node)
{
	struct program_build *build = begin();
	struct program *program = NULL;
	void *image = NULL;
	size_t length;

	for (enum program_kind kind = PROGRAM_I64; kind < PROGRAM_STRING; kind++)
		sample_constant(build, kind, 0);
	sample_text(build, "text");
	program_build_add(build, PROGRAM_NODES, &node, 1);
	assert_int_equal(program_build_finish(build, &image, &length), 0);
	int result = program_load(image, length, "node", NULL, &program);

	program_free(program);
	alloc_free(image);
	program_build_free(build);
	return result;
}

/* The kinds as image.h lists them, said once more in another way: strings of result, left, right. */
static bool is_allowed(int op, int kind, int a, int b)
{
	static const char letters[] = "?iufbs";
	static const char *const allowed[PROGRAM_OP_COUNT] = {
		[OP(ADD)] = "iii uuu fff",
		[OP(SUB)] = "iii uuu fff",
		[OP(MUL)] = "iii uuu fff",
		[OP(DIV)] = "iii uuu fff",
		[OP(MOD)] = "iii uuu",
		[OP(AND)] = "iii uuu bbb",
		[OP(OR)] = "iii uuu bbb",
		[OP(XOR)] = "iii uuu bbb",
		[OP(SHL)] = "iii iiu uui uuu",
		[OP(SHR)] = "iii iiu uui uuu",
		[OP(EQ)] = "bii biu bui buu bff bbb bss",
		[OP(NE)] = "bii biu bui buu bff bbb bss",
		[OP(LT)] = "bii biu bui buu bff",
		[OP(LE)] = "bii biu bui buu bff",
		[OP(GT)] = "bii biu bui buu bff",
		[OP(GE)] = "bii biu bui buu bff",
		[OP(LIKE)] = "bss",
		[OP(LAND)] = "bbb",
		[OP(LOR)] = "bbb",
	};
	const char wanted[] = { letters[kind], letters[a], letters[b], '\0' };

	if (op == OP(LNOT))
		return kind == BOOL && a == BOOL;
	if (op == OP(CONVERT))
		return (kind == I64 || kind == U64 || kind == F64) && a != STRING;
	return strstr(allowed[op], wanted);
}

static void every_operation_with_every_kind(void **context)
{
	(void)context;
	for (int op = OP(ADD); op < PROGRAM_OP_COUNT; op++) {
		for (int kinds = 0; kinds < 5 * 5 * 5; kinds++) {
			int kind = kinds % 5 + 1, a = kinds / 5 % 5 + 1, b = kinds / 25 + 1;
			struct program_node node = { .op = (uint8_t)op,
						     .kind = (uint8_t)kind,
						     .depth = 2,
						     .a = (uint32_t)a - 1,
						     .b = (uint32_t)b - 1 };
			int result = load_node(node);

			if ((result == 0) != is_allowed(op, kind, a, b))
				fail_msg("operation %d, kinds %d %d %d: %d", op, kind, a, b, result);
		}
	}
}

static void odd_nodes_are_refused(void **context)
{
	static const struct program_node good = { .op = OP(ADD), .kind = I64, .depth = 2 };
	struct program_node node = good;

	(void)context;
	assert_int_equal(load_node(good), 0);
	const struct program_node bad[] = {
		{ .op = 0, .kind = I64, .depth = 1 },
		{ .op = PROGRAM_OP_COUNT, .kind = I64, .depth = 2 },
		{ .op = 255, .kind = I64, .depth = 2 },
		{ .op = OP(ADD), .kind = 0, .depth = 2 },
		{ .op = OP(CONST), .kind = 6, .depth = 1 },
		{ .op = OP(CONST), .kind = STRING, .depth = 1 },
		{ .op = OP(CONST), .kind = BOOL, .depth = 1, .imm = 2 },
		{ .op = OP(CONST), .kind = I64, .depth = 0 },
		{ .op = OP(CONST), .kind = I64, .depth = 2 },
		{ .op = OP(TEXT), .kind = I64, .depth = 1 },
		{ .op = OP(TEXT), .kind = STRING, .depth = 1, .a = 0, .b = 1 }, /* "ts" has 2 bytes */
		{ .op = OP(TEXT), .kind = STRING, .depth = 1, .a = 0, .b = 3 },
		{ .op = OP(TEXT), .kind = STRING, .depth = 1, .a = 1, .b = 1 }, /* within "ts" */
		{ .op = OP(TEXT), .kind = STRING, .depth = 1, .a = PROGRAM_NONE },
		{ .op = OP(TEXT), .kind = STRING, .depth = 1, .b = UINT32_MAX },
		{ .op = OP(FIELD), .kind = I64, .depth = 1, .a = 15 },
		{ .op = OP(FIELD), .kind = U64, .depth = 1, .a = FIELD_TID },
		{ .op = OP(FIELD), .kind = I64, .depth = 1, .a = FIELD_B_BIG },
		{ .op = OP(ADD), .kind = I64, .depth = 1 },
		{ .op = OP(ADD), .kind = I64, .depth = 3 },
		{ .op = OP(ADD), .kind = I64, .depth = 2, .a = 5 }, /* itself */
		{ .op = OP(ADD), .kind = I64, .depth = 2, .b = 5 },
		{ .op = OP(ADD), .kind = I64, .depth = 2, .b = PROGRAM_NONE },
		{ .op = OP(LNOT), .kind = BOOL, .depth = 2, .a = 5 },
		{ .op = OP(ADD), .kind = I64, .depth = 2, .reserved = 1 },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (load_node(bad[i]) != -EINVAL)
			fail_msg("node %zu was taken", i);
	}
	node.a = 0;
	assert_int_equal(load_node(node), 0);
}

static void patterns_are_constants(void **context)
{
	struct program_build *build = begin();
	uint32_t name = sample_field(build, FIELD_A_NAME);

	(void)context;
	sample_node(build, OP(LIKE), BOOL, name, name);
	finish(build, "pattern of LIKE is not a constant");
}

/* A chain as deep as allowed, and one deeper. */
static void depth_is_bounded(void **context)
{
	(void)context;
	for (int more = 0; more < 2; more++) {
		struct program_build *build = begin();
		uint32_t node = sample_constant(build, BOOL, 1);

		for (int i = 1; i < PROGRAM_DEPTH_MAX + more; i++)
			node = sample_node(build, OP(LNOT), BOOL, node, 0);
		finish(build, more ? "128 allowed" : NULL);
	}
}

/* Doubling by sharing: 2^n - 1 nodes are visited. */
static void sharing_is_bounded(void **context)
{
	(void)context;
	for (int levels = 12; levels <= 13; levels++) {
		struct program_build *build = begin();
		uint32_t node = sample_constant(build, I64, 1);

		for (int i = 1; i < levels; i++)
			node = sample_node(build, OP(ADD), I64, node, node);
		finish(build, levels > 12 ? "more than 4096 steps" : NULL);
	}
}

/* A rule of one state whose only transition, for A, has a condition; slots: one I64. */
static void finish_rule(struct program_build *build, uint32_t fit, uint32_t value, const char *text)
{
	struct program_transition transition = { .type = TYPE_A,
						 .target = PROGRAM_TARGET_MATCH,
						 .fit = fit,
						 .hold = PROGRAM_NONE,
						 .element = PROGRAM_NONE,
						 .note = PROGRAM_NONE };
	struct program_state state = { .label = PROGRAM_NONE, .transition_count = 1, .class = PROGRAM_NONE };
	struct program_slot slot = { PROGRAM_NONE, I64, 0, 8 };
	struct program_return returned = { program_build_text(build, "value"), value };
	struct program_rule rule = {
		.name = program_build_text(build, "rule"),
		.semantics = PROGRAM_SKIP_TILL_NEXT,
		.flags = PROGRAM_RULE_OVER_ALL,
		.pool = 1,
		.slot_count = 1,
		.slot_bytes = 8,
		.state_count = 1,
		.return_count = value != PROGRAM_NONE,
		.context_slot = PROGRAM_NONE,
		.place = PROGRAM_NONE,
		.source = PROGRAM_NONE,
	};

	program_build_add(build, PROGRAM_TRANSITIONS, &transition, 1);
	program_build_add(build, PROGRAM_STATES, &state, 1);
	program_build_add(build, PROGRAM_SLOTS, &slot, 1);
	if (value != PROGRAM_NONE)
		program_build_add(build, PROGRAM_RETURNS, &returned, 1);
	program_build_add(build, PROGRAM_RULES, &rule, 1);
	finish(build, text);
}

static void conditions_read_their_event_only(void **context)
{
	static const struct {
		uint32_t left, right;
		const char *text;
	} cases[] = {
		{ FIELD_TID, FIELD_PID, NULL },
		{ FIELD_TID, FIELD_A_X, NULL },
		{ FIELD_A_X, FIELD_TID, NULL },
		{ FIELD_A_X, FIELD_A_X, NULL },
		{ FIELD_B_X, FIELD_B_X, "the event does not have" },
		{ FIELD_A_X, FIELD_B_X, "the event does not have" },
		{ FIELD_B_X, FIELD_A_X, "the event does not have" },
		{ FIELD_TID, FIELD_B_X, "the event does not have" },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program_build *build = begin();
		uint32_t left = sample_field(build, cases[i].left), right = sample_field(build, cases[i].right);
		uint32_t fit = sample_node(build, OP(EQ), BOOL, left, right);

		finish_rule(build, fit, PROGRAM_NONE, cases[i].text);
	}
	/* mixed once, mixed for ever */
	struct program_build *build = begin();
	uint32_t a = sample_field(build, FIELD_A_X), b = sample_field(build, FIELD_B_X);
	uint32_t mixed = sample_node(build, OP(EQ), BOOL, a, b);
	uint32_t plain = sample_node(build, OP(EQ), BOOL, sample_field(build, FIELD_TID), a);
	finish_rule(build, sample_node(build, OP(LAND), BOOL, plain, mixed), PROGRAM_NONE, "does not have");
	build = begin();
	finish_rule(build, sample_field(build, FIELD_A_X), PROGRAM_NONE, "is not a condition");
}

static void results_read_slots_only(void **context)
{
	struct program_build *build = begin();

	(void)context;
	finish_rule(build, PROGRAM_NONE, sample_slot(build, I64, 0), NULL);
	build = begin();
	finish_rule(build, PROGRAM_NONE, sample_slot(build, U64, 0), "reads slot 0 as kind 2");
	build = begin();
	finish_rule(build, PROGRAM_NONE, sample_slot(build, I64, 1), "uses slot 1 of 1");
	build = begin();
	finish_rule(build, PROGRAM_NONE, sample_field(build, FIELD_TID), "reads an event, but no event");
	build = begin();
	uint32_t deep = sample_node(build, OP(ADD), I64, sample_constant(build, I64, 1), sample_slot(build, I64, 7));
	finish_rule(build, PROGRAM_NONE, deep, "uses slot 7 of 1");
	build = begin();
	finish_rule(build, PROGRAM_NONE, sample_constant(build, I64, 1), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_with_every_kind),
		cmocka_unit_test(odd_nodes_are_refused),
		cmocka_unit_test(patterns_are_constants),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(sharing_is_bounded),
		cmocka_unit_test(conditions_read_their_event_only),
		cmocka_unit_test(results_read_slots_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
