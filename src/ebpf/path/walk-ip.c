// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes IP addresses as text: 127.0.0.1, and those of IPv6 as RFC 5952 has them, 2001:db8::1. An address is two
 * numbers of 64 bits in our byte order, high and low; one of IPv4 is the one of IPv6 that stands for it
 * (::ffff:127.0.0.1), so both are one. r7 is a number on its way into digits.
 */

#include "ebpf/path/walk-priv.h"

enum { DIGITS_MAX = 5, OCTETS = 4, GROUPS = 8, GROUP_BITS = 16, V4_PREFIX = 0xffff };

/* Where the longest run of zero groups is noted; in memory, so that the verifier need not tell all runs apart. */
enum { RUN_NOW = WALK_NAME, RUN_LENGTH = RUN_NOW + WALK_WORD, RUN_END = RUN_LENGTH + WALK_WORD };

/* prepend_number(memory, where the text begins, number, base) returns where it begins then, or -1. */
static void write_number(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t done = ebpf_label(as);

	walking->fail = ebpf_label(as);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, walking->fail);
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R9, R2);
	ebpf_mov(as, R7, R3);
	for (int i = 0; i < DIGITS_MAX; i++) {
		uint32_t decimal = ebpf_label(as);

		ebpf_mov(as, R0, R7); /* the rest without a second division, which would take as long */
		ebpf_alu(as, BPF_DIV, R7, R4);
		ebpf_mov(as, R1, R7);
		ebpf_alu(as, BPF_MUL, R1, R4);
		ebpf_alu(as, BPF_SUB, R0, R1);
		ebpf_alu_imm(as, BPF_ADD, R0, '0');
		ebpf_jump_if_imm(as, BPF_JLE, R0, '9', decimal);
		ebpf_alu_imm(as, BPF_ADD, R0, 'a' - '0' - 10);
		ebpf_bind(as, decimal);
		walk_prepend_byte(walking, -1);
		ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, done);
	}
	ebpf_bind(as, done);
	walk_return_start(walking);
}

static uint32_t number_function_of(struct ebpf_asm *as)
{
	struct walking walking = { .as = as };
	uint32_t function;

	if (ebpf_asm_find(as, "prepend_number", &function))
		return function;
	function = ebpf_asm_global(as, "prepend_number", 4);
	ebpf_asm_takes_bytes(as, function, 0, SOURCE_WALK_BYTES);
	ebpf_asm_enter(as, function);
	ebpf_note(as, "a number goes before the text");
	write_number(&walking);
	ebpf_asm_leave(as);
	return function;
}

void walk_prepend_number(const struct walking *walking, int32_t base)
{
	struct ebpf_asm *as = walking->as;

	ebpf_mov(as, R1, R6);
	ebpf_mov(as, R2, R9);
	ebpf_mov(as, R3, R7);
	ebpf_mov_imm(as, R4, (uint64_t)base);
	ebpf_call_function(as, number_function_of(as));
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, walking->fail);
	ebpf_mov(as, R9, R0);
	ebpf_alu_imm(as, BPF_AND, R9, WALK_LAST);
}

static void prepend_ip4(const struct walking *walking)
{
	for (int i = 0; i < OCTETS; i++) {
		ebpf_load(walking->as, BPF_DW, R7, R10, walking->low);
		ebpf_alu_imm(walking->as, BPF_RSH, R7, 8 * i);
		ebpf_alu_imm(walking->as, BPF_AND, R7, 255);
		walk_prepend_number(walking, 10);
		if (i < OCTETS - 1)
			walk_prepend_byte(walking, '.');
	}
}

/* r7 = a group, the first being 0. */
static void load_group(const struct walking *walking, int group)
{
	int shift = (GROUPS / 2 - 1 - group % (GROUPS / 2)) * GROUP_BITS;

	ebpf_load(walking->as, BPF_DW, R7, R10, group < GROUPS / 2 ? walking->high : walking->low);
	if (shift)
		ebpf_alu_imm(walking->as, BPF_RSH, R7, shift);
	ebpf_alu_imm(walking->as, BPF_AND, R7, 0xffff);
}

/* Notes the first of the longest runs of zero groups: how many they are, and the last one. */
static void find_run(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_store_imm(as, BPF_DW, R6, RUN_NOW, 0);
	ebpf_store_imm(as, BPF_DW, R6, RUN_LENGTH, 1); /* a group alone is no run */
	ebpf_store_imm(as, BPF_DW, R6, RUN_END, -1);
	for (int i = 0; i < GROUPS; i++) {
		uint32_t some = ebpf_label(as), next = ebpf_label(as);

		load_group(walking, i);
		ebpf_jump_if_imm(as, BPF_JNE, R7, 0, some);
		ebpf_load(as, BPF_DW, R1, R6, RUN_NOW);
		ebpf_load(as, BPF_DW, R2, R6, RUN_LENGTH);
		ebpf_alu_imm(as, BPF_ADD, R1, 1);
		ebpf_store(as, BPF_DW, R6, RUN_NOW, R1);
		ebpf_jump_if(as, BPF_JLE, R1, R2, next);
		ebpf_store(as, BPF_DW, R6, RUN_LENGTH, R1);
		ebpf_store_imm(as, BPF_DW, R6, RUN_END, i);
		ebpf_jump(as, next);
		ebpf_bind(as, some);
		ebpf_store_imm(as, BPF_DW, R6, RUN_NOW, 0);
		ebpf_bind(as, next);
	}
}

/* From the last group to the first; that in which the run ends writes all of it. */
static void prepend_ip6(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	find_run(walking);
	for (int i = GROUPS - 1; i >= 0; i--) {
		uint32_t plain = ebpf_label(as), next = ebpf_label(as);

		ebpf_load(as, BPF_DW, R1, R6, RUN_END);
		ebpf_jump_if_imm(as, BPF_JSLT, R1, i, plain);
		ebpf_load(as, BPF_DW, R2, R6, RUN_LENGTH);
		ebpf_mov(as, R3, R1);
		ebpf_alu(as, BPF_SUB, R3, R2);
		ebpf_jump_if_imm(as, BPF_JSGE, R3, i, plain); /* before the run */
		ebpf_jump_if_imm(as, BPF_JNE, R1, i, next);
		walk_prepend_byte(walking, ':');
		if (i == GROUPS - 1)
			walk_prepend_byte(walking, ':');
		ebpf_jump(as, next);
		ebpf_bind(as, plain);
		load_group(walking, i);
		walk_prepend_number(walking, 16);
		if (i)
			walk_prepend_byte(walking, ':');
		ebpf_bind(as, next);
	}
}

void walk_prepend_ip(const struct walking *walking, bool has_port)
{
	struct ebpf_asm *as = walking->as;
	uint32_t ip6 = ebpf_label(as), done = ebpf_label(as);

	ebpf_load(as, BPF_DW, R1, R10, walking->high);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, ip6);
	ebpf_load(as, BPF_DW, R1, R10, walking->low);
	ebpf_alu_imm(as, BPF_RSH, R1, 32);
	ebpf_jump_if_imm(as, BPF_JNE, R1, V4_PREFIX, ip6);
	prepend_ip4(walking);
	ebpf_jump(as, done);
	ebpf_bind(as, ip6);
	if (has_port)
		walk_prepend_byte(walking, ']');
	prepend_ip6(walking);
	if (has_port)
		walk_prepend_byte(walking, '[');
	ebpf_bind(as, done);
}

void walk_store_ip4(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;

	ebpf_mov_imm(as, R1, (uint64_t)V4_PREFIX << 32);
	ebpf_alu(as, BPF_OR, R0, R1);
	ebpf_store(as, BPF_DW, R10, walking->low, R0);
	ebpf_store_imm(as, BPF_DW, R10, walking->high, 0);
}

void walk_write_ip(struct walking *walking)
{
	ebpf_store(walking->as, BPF_DW, R10, walking->high, R1);
	ebpf_store(walking->as, BPF_DW, R10, walking->low, R2);
	walk_prepend_ip(walking, false);
	walk_return_start(walking);
}
