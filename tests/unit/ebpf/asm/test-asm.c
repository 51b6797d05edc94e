// SPDX-License-Identifier: BSD-2-Clause
/* The assembler: labels, functions, long jumps, notes, errors that stick. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/asm/asm.h"

#include <errno.h>
#include <string.h>

static void resolves_jumps_both_ways(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t back = ebpf_label(as), out = ebpf_label(as);

	ebpf_bind(as, back);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 7, out);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_jump(as, back);
	ebpf_bind(as, out);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 5);
	assert_int_equal(code.insns[0].off, 2);
	assert_int_equal(code.insns[2].off, -3);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

static void picks_the_shortest_constant(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;

	ebpf_mov_imm(as, R0, UINT64_MAX);
	ebpf_mov_imm(as, R1, UINT32_MAX);
	ebpf_mov_imm(as, R2, 0x123456789abcdefULL);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 5);
	assert_int_equal(code.insns[0].code, BPF_ALU64 | BPF_MOV | BPF_K);
	assert_int_equal(code.insns[1].code, BPF_ALU | BPF_MOV | BPF_K);
	assert_int_equal(code.insns[2].code, BPF_LD | BPF_IMM | BPF_DW);
	assert_int_equal((uint32_t)code.insns[2].imm, 0x89abcdef);
	assert_int_equal((uint32_t)code.insns[3].imm, 0x01234567);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

static void lays_functions_after_main_and_drops_unused_ones(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t unused = ebpf_asm_function(as, "unused"), used = ebpf_asm_function(as, "used");

	ebpf_call_function(as, used);
	ebpf_asm_enter(as, unused);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	ebpf_asm_enter(as, used);
	ebpf_note(as, "first %d", 1);
	ebpf_mov_imm(as, R0, 1);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	ebpf_load_function(as, R2, used);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 6);
	assert_int_equal(code.function_count, 2);
	assert_string_equal(code.functions[0].name, "main");
	assert_string_equal(code.functions[1].name, "used");
	assert_int_equal(code.functions[1].insn, 4);
	assert_int_equal(code.insns[0].imm, 3);
	assert_int_equal(code.insns[0].src_reg, BPF_PSEUDO_CALL);
	assert_int_equal(code.insns[1].imm, 2);
	assert_int_equal(code.insns[1].src_reg, BPF_PSEUDO_FUNC);
	assert_int_equal(code.line_count, 2);
	assert_string_equal(code.lines[0].text, "main");
	assert_string_equal(code.lines[1].text, "first 1");
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

/* "if r1 == 0 goto out" over `distance` instructions. */
static int far_program(uint32_t distance, bool long_jumps, struct ebpf_code *code, bool conditional)
{
	struct ebpf_asm *as = ebpf_asm_new();
	uint32_t out = ebpf_label(as), middle = ebpf_label(as);

	if (conditional) {
		ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, out);
	} else {
		ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, middle);
		ebpf_jump(as, out);
	}
	ebpf_bind(as, middle);
	for (uint32_t i = 0; i < distance; i++)
		ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_bind(as, out);
	ebpf_exit(as);
	int error = ebpf_asm_finish(as, long_jumps, code);

	ebpf_asm_free(as);
	return error;
}

static void stretches_jumps_that_are_too_far(void **state)
{
	struct ebpf_code code;
	(void)state;

	assert_int_equal(far_program(EBPF_ASM_NEAR_MAX, false, &code, true), 0);
	assert_int_equal(code.insns[0].off, EBPF_ASM_NEAR_MAX);
	ebpf_code_fini(&code);
	assert_int_equal(far_program(EBPF_ASM_NEAR_MAX + 1, false, &code, true), -E2BIG);
	assert_int_equal(far_program(EBPF_ASM_NEAR_MAX + 1, true, &code, true), 0);
	assert_int_equal(code.insn_count, EBPF_ASM_NEAR_MAX + 1 + 4);
	assert_int_equal(code.insns[0].code, BPF_JMP | BPF_JEQ | BPF_K);
	assert_int_equal(code.insns[0].off, 1);
	assert_int_equal(code.insns[1].off, 1);
	assert_int_equal(code.insns[2].code, BPF_JMP32 | BPF_JA);
	assert_int_equal(code.insns[2].imm, EBPF_ASM_NEAR_MAX + 1);
	ebpf_code_fini(&code);
	assert_int_equal(far_program(EBPF_ASM_NEAR_MAX + 1, true, &code, false), 0);
	assert_int_equal(code.insn_count, EBPF_ASM_NEAR_MAX + 1 + 3);
	assert_int_equal(code.insns[1].code, BPF_JMP32 | BPF_JA);
	assert_int_equal(code.insns[1].imm, EBPF_ASM_NEAR_MAX + 1);
	ebpf_code_fini(&code);
}

static void an_unbound_label_is_an_error(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;

	ebpf_jump(as, ebpf_label(as));
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), -EINVAL);
	ebpf_asm_free(as);
}

static void labels_do_not_cross_functions(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	(void)state;
	uint32_t label = ebpf_label(as);

	ebpf_asm_enter(as, ebpf_asm_function(as, "other"));
	ebpf_jump(as, label);
	assert_int_equal(ebpf_asm_error(as), -EINVAL);
	ebpf_asm_free(as);
}

static void leaves_out_what_control_cannot_reach(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t out = ebpf_label(as), unused = ebpf_asm_function(as, "unused");

	ebpf_jump(as, out);
	ebpf_note(as, "never");
	ebpf_call_function(as, unused);
	ebpf_mov_imm(as, R3, UINT64_MAX / 3);
	ebpf_bind(as, out);
	ebpf_note(as, "always");
	ebpf_mov_imm(as, R0, UINT64_MAX / 5);
	ebpf_exit(as);
	ebpf_asm_enter(as, unused);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 4);
	assert_int_equal(code.function_count, 1);
	assert_int_equal(code.insns[0].off, 0);
	assert_int_equal(code.line_count, 2);
	assert_string_equal(code.lines[1].text, "always");
	assert_int_equal(code.lines[1].insn, 1);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

/* Of four jumps, the two to what is next anyway go, the second because the first does; one that is first stays. */
static void leaves_out_jumps_to_the_next_instruction(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t start = ebpf_label(as), here = ebpf_label(as), there = ebpf_label(as);

	ebpf_jump(as, start);
	ebpf_bind(as, start);
	ebpf_mov_imm(as, R0, 1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, there);
	ebpf_jump(as, here);
	ebpf_mov_imm(as, R0, 2); /* which control cannot reach */
	ebpf_bind(as, here);
	ebpf_bind(as, there);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, start);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 4);
	assert_int_equal(code.insns[0].code, BPF_JMP | BPF_JA);
	assert_int_equal(code.insns[2].off, -2);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

/* Its line of text begins at what follows; a line without any instruction is none. */
static void a_jump_that_is_left_out_leaves_its_line(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t here = ebpf_label(as), there = ebpf_label(as);

	ebpf_mov_imm(as, R0, 1);
	ebpf_note(as, "is it there?");
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, here);
	ebpf_bind(as, here);
	ebpf_mov_imm(as, R0, 2);
	ebpf_note(as, "nothing");
	ebpf_jump(as, there);
	ebpf_bind(as, there);
	ebpf_note(as, "done");
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 3);
	assert_int_equal(code.line_count, 3);
	assert_string_equal(code.lines[1].text, "is it there?");
	assert_int_equal(code.lines[1].insn, 1);
	assert_string_equal(code.lines[2].text, "done");
	assert_int_equal(code.lines[2].insn, 2);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

/* What is left out is no distance, forwards and backwards. */
static void jumps_over_what_is_left_out_are_near(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t start = ebpf_label(as), middle = ebpf_label(as), out = ebpf_label(as);

	ebpf_bind(as, start);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, out);
	for (uint32_t i = 0; i < EBPF_ASM_NEAR_MAX - 2; i++)
		ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 1, middle);
	ebpf_jump(as, middle);
	ebpf_bind(as, middle);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 2, start);
	ebpf_bind(as, out);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, EBPF_ASM_NEAR_MAX + 1);
	assert_int_equal(code.insns[0].off, EBPF_ASM_NEAR_MAX - 1);
	assert_int_equal(code.insns[EBPF_ASM_NEAR_MAX - 1].off, -EBPF_ASM_NEAR_MAX);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

static void running_off_the_end_is_an_error(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;

	ebpf_mov_imm(as, R0, 0);
	assert_int_equal(ebpf_asm_finish(as, false, &code), -EINVAL);
	ebpf_asm_free(as);
}

static void the_stack_is_bounded_and_reused(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	(void)state;
	uint32_t mark = ebpf_stack_mark(as);

	assert_int_equal(ebpf_stack_take(as, 5), -8);
	assert_int_equal(ebpf_stack_take(as, 16), -24);
	ebpf_stack_release(as, mark);
	assert_int_equal(ebpf_stack_take(as, 512), -512);
	assert_int_equal(ebpf_asm_error(as), 0);
	ebpf_stack_take(as, 1);
	assert_int_equal(ebpf_asm_error(as), -E2BIG);
	ebpf_asm_free(as);
}

static void begins_with_the_deepest_place_of_the_stack(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;
	uint32_t mark = ebpf_stack_mark(as), again = ebpf_label(as);

	ebpf_stack_take(as, 40);
	ebpf_stack_release(as, mark);
	ebpf_stack_take(as, 8);
	ebpf_note(as, "first");
	ebpf_bind(as, again);
	ebpf_mov_imm(as, R0, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 7, again);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 4);
	assert_int_equal(code.insns[0].code, BPF_ST | BPF_MEM | BPF_DW);
	assert_int_equal(code.insns[0].off, -40);
	assert_int_equal(code.insns[2].off, -2);
	assert_int_equal(code.line_count, 2);
	assert_int_equal(code.lines[0].insn, 0);
	assert_int_equal(code.lines[1].insn, 1);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

/* Whatever allocation fails, the error arrives at the end and nothing leaks or crashes. */
static void survives_every_failing_allocation(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct ebpf_code code;

		alloc_fail_at(n);
		struct ebpf_asm *as = ebpf_asm_new();

		if (!as) {
			alloc_fail_at(0);
			continue;
		}
		uint32_t out = ebpf_label(as), other = ebpf_asm_function(as, "other");

		for (int i = 0; i < 20; i++) {
			ebpf_note(as, "line %d", i);
			ebpf_jump_if_imm(as, BPF_JNE, R1, i, out);
		}
		ebpf_call_function(as, other);
		ebpf_asm_enter(as, other);
		ebpf_exit(as);
		ebpf_asm_leave(as);
		ebpf_bind(as, out);
		ebpf_exit(as);
		int error = ebpf_asm_finish(as, false, &code);

		alloc_fail_at(0);
		ebpf_asm_free(as);
		if (!error) {
			ebpf_code_fini(&code);
			assert_true(n > 5);
			return;
		}
		assert_int_equal(error, -ENOMEM);
	}
}

static void clears_a_name_before_it_is_reported(void **state)
{
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	(void)state;

	ebpf_call_comm(as, R6, 24);
	ebpf_exit(as);
	assert_int_equal(ebpf_asm_finish(as, false, &code), 0);
	assert_int_equal(code.insn_count, 7);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(code.insns[i].code, BPF_ST | BPF_MEM | BPF_DW);
		assert_int_equal(code.insns[i].dst_reg, R6);
		assert_int_equal(code.insns[i].off, 24 + 8 * i);
		assert_int_equal(code.insns[i].imm, 0);
	}
	assert_int_equal(code.insns[5].imm, BPF_FUNC_get_current_comm);
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves_jumps_both_ways),
		cmocka_unit_test(picks_the_shortest_constant),
		cmocka_unit_test(lays_functions_after_main_and_drops_unused_ones),
		cmocka_unit_test(stretches_jumps_that_are_too_far),
		cmocka_unit_test(an_unbound_label_is_an_error),
		cmocka_unit_test(labels_do_not_cross_functions),
		cmocka_unit_test(leaves_out_what_control_cannot_reach),
		cmocka_unit_test(leaves_out_jumps_to_the_next_instruction),
		cmocka_unit_test(a_jump_that_is_left_out_leaves_its_line),
		cmocka_unit_test(jumps_over_what_is_left_out_are_near),
		cmocka_unit_test(running_off_the_end_is_an_error),
		cmocka_unit_test(the_stack_is_bounded_and_reused),
		cmocka_unit_test(begins_with_the_deepest_place_of_the_stack),
		cmocka_unit_test(clears_a_name_before_it_is_reported),
		cmocka_unit_test(survives_every_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
