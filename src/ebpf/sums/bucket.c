// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts the buckets of values. Of the 991 that an aggregate of a key may have few are ever met, so they have places in
 * one table of the rule, found by a hash of their names in a row of at most PROBES_MAX; a place belongs to a bucket
 * once its name is there. The buckets are those of program/aggregate/bucket.c.
 *
 * The verifier follows each turn of a loop, and behind it each number from which it can tell an address: so the loop
 * only looks for the place, and the name goes through memory, where nothing is known of how it came about.
 */

#include "ebpf/sums/sums-priv.h"

enum { PROBES_MAX = 32, EXACT = 16, PER_POWER_BITS = 3 };

/* r0 = the bucket of the magnitude in r3. Overwrites r1, r2. */
static void emit_magnitude(struct ebpf_asm *as)
{
	uint32_t done = ebpf_label(as);

	ebpf_mov(as, R0, R3);
	ebpf_jump_if_imm(as, BPF_JLT, R3, EXACT, done);
	ebpf_mov(as, R1, R3);
	ebpf_lower_bit_length(as);
	ebpf_alu_imm(as, BPF_SUB, R0, 1); /* the power */
	ebpf_mov(as, R1, R0);
	ebpf_alu_imm(as, BPF_SUB, R1, PER_POWER_BITS);
	ebpf_alu(as, BPF_RSH, R3, R1);
	ebpf_alu_imm(as, BPF_AND, R3, (1 << PER_POWER_BITS) - 1);
	ebpf_alu_imm(as, BPF_LSH, R0, PER_POWER_BITS);
	ebpf_alu(as, BPF_ADD, R0, R3);
	ebpf_alu_imm(as, BPF_SUB, R0, EXACT);
	ebpf_bind(as, done);
}

/* r2 = the name of the bucket of the aggregate's value, which takes its place in the room. Overwrites r0, r1, r3, r4.
 */
static void emit_name(const struct sums_code *code, uint32_t aggregate)
{
	const struct program_aggregate *row = &program_aggregates(code->emit->program, code->row)[aggregate];
	struct ebpf_asm *as = code->as;
	uint32_t plus = ebpf_label(as), done = ebpf_label(as);

	ebpf_load(as, BPF_DW, R3, R6, sums_room_value(code->plan, aggregate));
	ebpf_mov(as, R4, R8);
	ebpf_alu_imm(as, BPF_LSH, R4, SUMS_NAME_AGGREGATE_BITS);
	ebpf_alu_imm(as, BPF_ADD, R4, (int32_t)aggregate);
	ebpf_alu_imm(as, BPF_LSH, R4, SUMS_NAME_BUCKET_BITS);
	ebpf_alu_imm(as, BPF_ADD, R4, SUMS_NAME_ZERO);
	if (code->emit->program->nodes[row->node].kind == PROGRAM_I64) {
		ebpf_jump_if_imm(as, BPF_JSGE, R3, 0, plus);
		ebpf_alu_imm(as, BPF_NEG, R3, 0);
		emit_magnitude(as);
		ebpf_alu(as, BPF_SUB, R4, R0);
		ebpf_jump(as, done);
	}
	ebpf_bind(as, plus);
	emit_magnitude(as);
	ebpf_alu(as, BPF_ADD, R4, R0);
	ebpf_bind(as, done);
	ebpf_store(as, BPF_DW, R6, sums_room_value(code->plan, aggregate), R4);
	ebpf_load(as, BPF_DW, R2, R6, sums_room_value(code->plan, aggregate));
}

static void emit_mask(const struct sums_code *code, uint8_t place)
{
	ebpf_alu_imm(code->as, BPF_AND, place, (int32_t)((1u << code->plan->bucket_bits) - 1));
}

void sums_emit_place(const struct sums_code *code, uint32_t aggregate)
{
	struct ebpf_asm *as = code->as;
	uint32_t again = ebpf_label(as), unused = ebpf_label(as), found = ebpf_label(as), absent = ebpf_label(as);

	sums_emit_if_there(code, aggregate, absent);
	emit_name(code, aggregate);
	ebpf_mov_imm(as, R0, SUMS_MULTIPLIER);
	ebpf_mov(as, R1, R2);
	ebpf_alu(as, BPF_MUL, R1, R0);
	ebpf_alu_imm(as, BPF_RSH, R1, 64 - (int32_t)code->plan->bucket_bits);
	ebpf_mov_imm(as, R4, 0);
	sums_load_row(code, R4, &code->at->names, code->plan->bucket_bits, 3);
	ebpf_mov_imm(as, R5, 0);
	ebpf_bind(as, again);
	emit_mask(code, R1);
	ebpf_mov(as, R3, R1);
	ebpf_alu_imm(as, BPF_LSH, R3, 3);
	ebpf_alu(as, BPF_ADD, R3, R4);
	ebpf_load(as, BPF_DW, R0, R3, 0);
	ebpf_jump_if(as, BPF_JEQ, R0, R2, found);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, unused);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_alu_imm(as, BPF_ADD, R5, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R5, PROBES_MAX, again);
	ebpf_jump(as, code->deliver);
	ebpf_bind(as, unused);
	ebpf_mov(as, R4, R2);
	ebpf_atomic_exchange_if(as, BPF_DW, R3, 0, R4);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, found);
	ebpf_jump_if(as, BPF_JNE, R0, R2, code->deliver);
	ebpf_bind(as, found);
	ebpf_store(as, BPF_DW, R6, sums_room_value(code->plan, aggregate), R1);
	ebpf_bind(as, absent);
}

void sums_emit_bucket(const struct sums_code *code, uint32_t aggregate)
{
	struct ebpf_asm *as = code->as;

	ebpf_load(as, BPF_DW, R1, R6, sums_room_value(code->plan, aggregate));
	emit_mask(code, R1);
	ebpf_load(as, BPF_DW, R3, R10, code->lane);
	ebpf_alu_imm(as, BPF_AND, R3, (int32_t)(code->plan->halves * code->at->lanes) - 1);
	ebpf_alu_imm(as, BPF_LSH, R3, (int32_t)code->plan->bucket_bits);
	ebpf_alu(as, BPF_ADD, R3, R1);
	ebpf_alu_imm(as, BPF_LSH, R3, 3);
	sums_load_region(code, R0, &code->at->buckets);
	ebpf_alu(as, BPF_ADD, R3, R0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R3, 0, R2);
}
