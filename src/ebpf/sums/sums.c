// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds a match to the sums: its half, its key, places for its values, and only when all of them are found, every sum.
 * All changes are atomic: CPUs may share a lane, and programs may interrupt each other.
 */

#include "ebpf/sums/sums-priv.h"

#include <stdio.h>

enum { NAME_BYTES = 32 };

/* r7 = the half for time r2; leaves for deliver where it is later than both. Overwrites r0, r3-r5. */
static void choose_half(const struct sums_code *code)
{
	struct ebpf_asm *as = code->as;
	uint32_t sorted = ebpf_label(as), chosen = ebpf_label(as);

	ebpf_mov_imm(as, R7, 0);
	if (code->plan->halves == 1)
		return;
	sums_load_region(code, R3, &code->at->heads);
	ebpf_load(as, BPF_DW, R4, R3, offsetof(struct matcher_sums, end));
	ebpf_load(as, BPF_DW, R5, R3, sizeof(struct matcher_sums) + offsetof(struct matcher_sums, end));
	ebpf_jump_if(as, BPF_JLE, R4, R5, sorted);
	ebpf_mov_imm(as, R7, 1);
	ebpf_mov(as, R0, R4);
	ebpf_mov(as, R4, R5);
	ebpf_mov(as, R5, R0);
	ebpf_bind(as, sorted);
	ebpf_jump_if(as, BPF_JLE, R2, R4, chosen);
	ebpf_jump_if(as, BPF_JGT, R2, R5, code->deliver);
	ebpf_alu_imm(as, BPF_XOR, R7, 1);
	ebpf_bind(as, chosen);
}

/* On the stack, from the CPU in r1 and the half. Overwrites r0, r1. */
static void choose_lane(const struct sums_code *code)
{
	struct ebpf_asm *as = code->as;

	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)code->at->lanes - 1);
	ebpf_mov(as, R0, R7);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)code->at->lanes);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_store(as, BPF_DW, R10, code->lane, R1);
}

/* r9 = the row of key r8. Overwrites r0. */
static void load_row(const struct sums_code *code)
{
	struct ebpf_asm *as = code->as;

	ebpf_load(as, BPF_DW, R9, R10, code->lane);
	ebpf_alu_imm(as, BPF_AND, R9, (int32_t)(code->plan->halves * code->at->lanes) - 1);
	ebpf_alu_imm(as, BPF_MUL, R9, (int32_t)code->plan->keys + 1);
	ebpf_alu(as, BPF_ADD, R9, R8);
	ebpf_alu_imm(as, BPF_MUL, R9, (int32_t)code->plan->row_words * 8);
	sums_load_region(code, R0, &code->at->rows);
	ebpf_alu(as, BPF_ADD, R9, R0);
}

/* Word number `word`, from 1, becomes the greater one of itself and r2. Overwrites r0-r3, r5. */
static void keep_greatest(const struct sums_code *code, uint32_t word)
{
	struct ebpf_asm *as = code->as;
	uint32_t again = ebpf_label(as), done = ebpf_label(as);
	int32_t off = (int32_t)(word - 1) * 8;

	ebpf_load(as, BPF_DW, R0, R9, off);
	ebpf_mov_imm(as, R5, 0);
	ebpf_bind(as, again);
	ebpf_jump_if(as, BPF_JGE, R0, R2, done);
	ebpf_mov(as, R3, R0);
	ebpf_atomic_exchange_if(as, BPF_DW, R9, off, R2);
	ebpf_jump_if(as, BPF_JEQ, R0, R3, done);
	ebpf_alu_imm(as, BPF_ADD, R5, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R5, SUMS_TRIES, again);
	emit_count(code->emit, CONTROL(lost), 1);
	ebpf_bind(as, done);
}

/* What is kept of r2, so that the greatest number without a sign is what is looked for. Overwrites r0. */
static void turn_value(const struct sums_code *code, const struct program_aggregate *row)
{
	struct ebpf_asm *as = code->as;

	if (code->emit->program->nodes[row->node].kind == PROGRAM_I64) {
		ebpf_mov_imm(as, R0, UINT64_C(1) << 63);
		ebpf_alu(as, BPF_XOR, R2, R0);
	}
	if (row->op == PROGRAM_MIN_OF)
		ebpf_alu_imm(as, BPF_XOR, R2, -1);
}

static void add_sum(const struct sums_code *code, uint32_t index)
{
	const struct program_aggregate *row = &program_aggregates(code->emit->program, code->row)[index];
	const struct plan_sum *sum = &code->plan->sums[index];
	struct ebpf_asm *as = code->as;
	uint32_t absent = ebpf_label(as);

	if (!sum->word && !sum->has_buckets)
		return;
	sums_emit_if_there(code, index, absent);
	if (sum->has_buckets) {
		sums_emit_bucket(code, index);
	} else {
		if (sum->count_word) {
			ebpf_mov_imm(as, R2, 1);
			ebpf_atomic_add(as, R9, (int32_t)(sum->count_word - 1) * 8, R2);
		}
		ebpf_load(as, BPF_DW, R2, R6, sums_room_value(code->plan, index));
		if (row->op == PROGRAM_MIN_OF || row->op == PROGRAM_MAX_OF) {
			turn_value(code, row);
			keep_greatest(code, sum->word);
		} else {
			ebpf_atomic_add(as, R9, (int32_t)(sum->word - 1) * 8, R2);
		}
	}
	ebpf_bind(as, absent);
}

static void add_sums(const struct sums_code *code)
{
	for (uint32_t i = 0; i < code->row->aggregate_count; i++)
		if (code->plan->sums[i].has_buckets)
			sums_emit_place(code, i);
	load_row(code);
	ebpf_mov_imm(code->as, R2, 1);
	ebpf_atomic_add(code->as, R9, 0, R2);
	for (uint32_t i = 0; i < code->row->aggregate_count; i++)
		add_sum(code, i);
}

uint32_t sums_function(struct emit *emit)
{
	const struct memory *memory = emit->context->memory;
	struct ebpf_asm *as = emit->as;
	struct sums_code code = { .emit = emit,
				  .as = as,
				  .plan = &emit->plan->sums,
				  .at = &emit->at->sums,
				  .row = program_aggregation(emit->program, emit->rule) };
	char name[NAME_BYTES];
	uint32_t function;

	/* A program may hold the code for several types, each with its room. */
	snprintf(name, sizeof name, "sums_%u_%u", emit->plan->index, (uint32_t)emit->context->room);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = emit_function_of_numbers(emit, name, 2);
	ebpf_asm_enter(as, function);
	ebpf_note(as, "rule %s: the match's key, and its sums", program_text(emit->program, emit->rule->name));
	code.deliver = ebpf_label(as);
	code.lane = ebpf_stack_take(as, 8);
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)memory->cpu_count, code.deliver);
	ebpf_mov(as, R6, R1);
	ebpf_alu_imm(as, BPF_MUL, R6, (int32_t)sums_room_bytes(emit->context->plan));
	ebpf_load_value(as, R0, emit->context->room, 0);
	ebpf_alu(as, BPF_ADD, R6, R0);
	choose_half(&code);
	choose_lane(&code);
	sums_emit_key(&code);
	add_sums(&code);
	ebpf_return_0_or_1(as, code.deliver);
	ebpf_asm_leave(as);
	return function;
}
