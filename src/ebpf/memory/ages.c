// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the waiting run that was opened first, for rules in which it gives way where the pool is full. Nothing is kept
 * for that but for each segment of the places a time before which none of its runs was made: it is noted when the first
 * run comes there, and put right when the segment is looked through. A run that leaves changes nothing, so opening and
 * ending cost what they cost elsewhere; finding the oldest, a look at the segments and at the places of one, or of a
 * few where several noted times were passed.
 *
 * Nothing is locked: what is found is looked at again under the lock of its bucket.
 */

#include "ebpf/memory/places.h"

#include <stdio.h>

enum { TRIES = 4 };

/* On the stack of the function; the callbacks' context. It is as small as can be: kernels before 6.13 have room for 512
 * bytes in all functions that call each other. */
struct search {
	union {
		uint64_t least; /* time of a segment; UINT64_MAX: none */
		uint64_t made;  /* then: of the first run in it */
	};
	uint64_t second; /* least time */
	uint64_t index;  /* of the segment with the least one */
	uint64_t number; /* of the first run in it; 0: there is none */
};

#define SEARCH(member) ((int32_t)offsetof(struct search, member))

/* dst = the address of the time of the segment in index, which the verifier must know to be one. Overwrites r0. */
static void segment_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	emit_item_address(emit, &emit->at->segments, sizeof(uint64_t), dst, index);
}

void memory_age_begin(struct emit *emit, uint8_t number)
{
	struct ebpf_asm *as = emit->as;
	uint32_t known = ebpf_label(as);

	if (!(emit->rule->flags & PROGRAM_RULE_REPLACE))
		return;
	ebpf_mov(as, R3, R0);
	if (number != R1)
		ebpf_mov(as, R1, number);
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)emit->at->places, known);
	ebpf_alu_imm(as, BPF_RSH, R1, (int32_t)emit->at->segment_bits);
	segment_address(emit, R2, R1);
	ebpf_load(as, BPF_DW, R0, R2, 0);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, known);
	ebpf_store(as, BPF_DW, R2, 0, R3);
	ebpf_bind(as, known);
}

/* Numbers that the verifier does not know: memory/frame.c says why. r8 = 0 that comes from a map. */
static void put_age_number(struct ebpf_asm *as, int32_t member, int32_t number)
{
	ebpf_mov(as, R0, R8);
	ebpf_alu_imm(as, BPF_XOR, R0, 0);
	if (number)
		ebpf_alu_imm(as, BPF_ADD, R0, number);
	ebpf_store(as, BPF_DW, R7, member, R0);
}

/* bpf_loop's callback (turn, search): a segment. */
static uint32_t function_least(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "least");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), next = ebpf_label(as), later = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)emit->at->segment_count, end);
	segment_address(emit, R3, R1);
	ebpf_load(as, BPF_DW, R4, R3, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R4, 0, next);
	ebpf_load(as, BPF_DW, R5, R2, SEARCH(least));
	ebpf_jump_if(as, BPF_JGE, R4, R5, later);
	ebpf_store(as, BPF_DW, R2, SEARCH(second), R5);
	ebpf_store(as, BPF_DW, R2, SEARCH(least), R4);
	ebpf_store(as, BPF_DW, R2, SEARCH(index), R1);
	ebpf_jump(as, next);
	ebpf_bind(as, later);
	ebpf_load(as, BPF_DW, R5, R2, SEARCH(second));
	ebpf_jump_if(as, BPF_JGE, R4, R5, next);
	ebpf_store(as, BPF_DW, R2, SEARCH(second), R4);
	ebpf_bind(as, next);
	ebpf_return_0_or_1(as, end);
	ebpf_asm_leave(as);
	return function;
}

/* bpf_loop's callback (turn, search): a place of the segment. */
static uint32_t function_first(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "first");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as), next = ebpf_label(as);

	ebpf_load(as, BPF_DW, R3, R2, SEARCH(index));
	ebpf_alu_imm(as, BPF_LSH, R3, (int32_t)emit->at->segment_bits);
	ebpf_alu(as, BPF_ADD, R3, R1);
	ebpf_alu_imm(as, BPF_ADD, R3, 1);
	ebpf_jump_if_imm(as, BPF_JGT, R3, (int32_t)emit->at->places, end);
	emit_run_address(emit, R4, R3);
	ebpf_load(as, BPF_W, R0, R4, RUN(bucket));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, next);
	ebpf_load(as, BPF_DW, R0, R4, emit_is_machine(emit) ? RUN(first_ts) : RUN(made));
	ebpf_load(as, BPF_DW, R5, R2, SEARCH(made));
	ebpf_jump_if(as, BPF_JGE, R0, R5, next);
	ebpf_store(as, BPF_DW, R2, SEARCH(made), R0);
	ebpf_store(as, BPF_DW, R2, SEARCH(number), R3);
	ebpf_bind(as, next);
	ebpf_return_0_or_1(as, end);
	ebpf_asm_leave(as);
	return function;
}

static void loop(struct ebpf_asm *as, uint32_t turns, uint32_t function)
{
	ebpf_mov_imm(as, R1, turns);
	ebpf_load_function(as, R2, function);
	ebpf_mov(as, R3, R7);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
}

/* Looks through the segment with the least time, and leaves for found where its first run is the first of all. */
static void look_through(struct emit *emit, uint32_t least, uint32_t first, uint32_t found)
{
	struct ebpf_asm *as = emit->as;
	uint32_t some = ebpf_label(as), put_right = ebpf_label(as), none = ebpf_label(as);

	put_age_number(as, SEARCH(least), -1);
	put_age_number(as, SEARCH(second), -1);
	put_age_number(as, SEARCH(index), 0);
	put_age_number(as, SEARCH(number), 0);
	loop(as, emit->at->segment_count, least);
	put_age_number(as, SEARCH(made), -1);
	loop(as, 1u << emit->at->segment_bits, first);
	ebpf_load(as, BPF_DW, R3, R7, SEARCH(made));
	ebpf_load(as, BPF_DW, R0, R7, SEARCH(number));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, some);
	ebpf_mov(as, R3, R6);
	ebpf_bind(as, some);
	ebpf_load(as, BPF_DW, R1, R7, SEARCH(index));
	ebpf_jump_if_imm(as, BPF_JLT, R1, (int32_t)emit->at->segment_count, put_right);
	ebpf_jump(as, none);
	ebpf_bind(as, put_right);
	segment_address(emit, R2, R1);
	ebpf_store(as, BPF_DW, R2, 0, R3);
	ebpf_load(as, BPF_DW, R0, R7, SEARCH(number));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_load(as, BPF_DW, R1, R7, SEARCH(second));
	ebpf_jump_if(as, BPF_JLE, R3, R1, found);
	ebpf_bind(as, none);
}

uint32_t memory_function_oldest(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	const struct memory_region *zero = &emit->context->memory->zero;
	char name[sizeof "oldest_4294967295"];
	uint32_t function;

	snprintf(name, sizeof name, "oldest_%u", emit->plan->index);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = emit_function_of_numbers(emit, name, 1);
	ebpf_asm_enter(as, function);
	uint32_t found = ebpf_label(as), again = ebpf_label(as);
	uint32_t least = function_least(emit), first = function_first(emit);
	int16_t search = ebpf_stack_take(as, sizeof(struct search));

	ebpf_note(as, "find the oldest run");
	ebpf_mov(as, R6, R1);
	ebpf_address(as, R7, R10, search);
	emit_region(emit, R8, zero);
	ebpf_load(as, BPF_DW, R8, R8, 0);
	ebpf_mov_imm(as, R9, TRIES);
	ebpf_bind(as, again);
	look_through(emit, least, first, found);
	ebpf_alu_imm(as, BPF_SUB, R9, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R9, 0, again);
	ebpf_bind(as, found);
	ebpf_load(as, BPF_DW, R0, R7, SEARCH(number));
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}
