// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stock of places of one kind, which are taken and given back without locks. Each CPU has a stack of free ones,
 * {number, tag} in one word that is changed by compare-and-exchange; the tag changes with every change, so a word that
 * reads the same is the same. A place goes to the stack of the CPU that gives it back, and is taken from that of the
 * CPU that needs it, so CPUs meet only when one has none: then a place is used that never was (`used` counts these),
 * and when all were, another CPU's is taken. There is none left only when no CPU has any.
 */

#include "ebpf/memory/stock.h"

/* A take that fails is a loss that is told; a place that cannot be given back stays out of use. */
enum { TAKE_TRIES = 4, GIVE_TRIES = 8, STEAL_CPUS_MAX = 256 };

/* dst = the place of this number, which the verifier must know to be within their count. Overwrites r0. */
static void address(struct emit *emit, const struct emit_stock *stock, uint8_t dst, uint8_t index)
{
	emit_item_address(emit, stock->places, stock->bytes, dst, index);
}

/* r4 = the word {r5, tag of r0 + 1}. */
static void next_word(struct ebpf_asm *as)
{
	ebpf_mov(as, R4, R0);
	ebpf_alu_imm(as, BPF_RSH, R4, 32);
	ebpf_alu_imm(as, BPF_ADD, R4, 1);
	ebpf_alu_imm(as, BPF_LSH, R4, 32);
	ebpf_alu(as, BPF_OR, R4, R5);
}

void memory_stock_pop(struct emit *emit, const struct emit_stock *stock, uint8_t number,
		      const struct emit_stock_exits *exits)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R3, R1, stock->free);
	ebpf_emit(as, insn_alu32(BPF_MOV, number, R3));
	ebpf_jump_if_imm(as, BPF_JEQ, number, 0, exits->empty);
	ebpf_jump_if_imm(as, BPF_JGT, number, (int32_t)stock->count, exits->empty);
	address(emit, stock, R2, number);
	ebpf_load(as, BPF_W, R5, R2, stock->next);
	ebpf_mov(as, R0, R3);
	next_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, stock->free, R4);
	ebpf_jump_if(as, BPF_JNE, R0, R3, exits->missed);
}

void memory_stock_push(struct emit *emit, const struct emit_stock *stock, uint8_t place, uint32_t missed)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R0, R1, stock->free);
	ebpf_mov(as, R3, R0);
	ebpf_store(as, BPF_W, place, stock->next, R0);
	next_word(as);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, stock->free, R4);
	ebpf_jump_if(as, BPF_JNE, R0, R3, missed);
}

/* Returns the number of a place that was never used; leaves for full when all were. */
static void take_unused(struct emit *emit, const struct emit_stock *stock, uint32_t full)
{
	struct ebpf_asm *as = emit->as;
	uint32_t beyond = ebpf_label(as);

	emit_region(emit, R1, stock->counter);
	ebpf_load(as, BPF_DW, R0, R1, stock->used);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)stock->fresh, full);
	ebpf_mov_imm(as, R2, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R1, (int16_t)stock->used, R2));
	ebpf_jump_if_imm(as, BPF_JGE, R2, (int32_t)stock->fresh, beyond);
	ebpf_address(as, R0, R2, 1);
	ebpf_exit(as);
	ebpf_bind(as, beyond);
	ebpf_mov_imm(as, R2, UINT64_MAX);
	ebpf_atomic_add(as, R1, stock->used, R2);
	ebpf_jump(as, full);
}

/* Returns a place from another CPU's stack; falls through when there is none. */
static void steal(struct emit *emit, const struct emit_stock *stock)
{
	struct ebpf_asm *as = emit->as;
	uint32_t again = ebpf_label(as), next = ebpf_label(as), cpus = emit->context->memory->cpu_count;

	ebpf_mov_imm(as, R7, 0);
	ebpf_bind(as, again);
	emit_line_of(emit, R1, R7);
	memory_stock_pop(emit, stock, R8, &(struct emit_stock_exits){ next, next });
	ebpf_mov(as, R0, R8);
	ebpf_exit(as);
	ebpf_bind(as, next);
	ebpf_alu_imm(as, BPF_ADD, R7, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R7, (int32_t)(cpus < STEAL_CPUS_MAX ? cpus : STEAL_CPUS_MAX), again);
}

uint32_t memory_stock_function_take(struct emit *emit, const struct emit_stock *stock)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, stock->take, 0);

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), unused = ebpf_label(as), missed = ebpf_label(as), full = ebpf_label(as);
	uint32_t busy = ebpf_label(as);

	ebpf_note(as, "take a place from the pool");
	emit_cpu_line(emit, R6, busy);
	ebpf_mov_imm(as, R7, TAKE_TRIES);
	ebpf_bind(as, again);
	ebpf_mov(as, R1, R6);
	memory_stock_pop(emit, stock, R8, &(struct emit_stock_exits){ unused, missed });
	ebpf_mov(as, R0, R8);
	ebpf_exit(as);
	ebpf_bind(as, missed);
	ebpf_alu_imm(as, BPF_SUB, R7, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R7, 0, again);
	ebpf_bind(as, busy);
	ebpf_return(as, UINT32_MAX);
	ebpf_bind(as, unused);
	take_unused(emit, stock, full);
	ebpf_bind(as, full);
	ebpf_note(as, "take a place that another CPU gave back");
	steal(emit, stock);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

uint32_t memory_stock_function_release(struct emit *emit, const struct emit_stock *stock)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, stock->release, 1);

	ebpf_asm_enter(as, function);
	uint32_t again = ebpf_label(as), missed = ebpf_label(as), lost = ebpf_label(as), stays = ebpf_label(as);

	ebpf_note(as, "give the place back to the pool");
	ebpf_mov(as, R7, R1);
	ebpf_jump_if_imm(as, BPF_JGT, R7, (int32_t)stock->count, lost);
	address(emit, stock, R6, R7);
	if (stock->before_release)
		stock->before_release(emit, stays);
	emit_cpu_line(emit, R1, lost);
	ebpf_mov(as, R5, R7);
	ebpf_mov_imm(as, R8, GIVE_TRIES);
	ebpf_bind(as, again);
	memory_stock_push(emit, stock, R6, missed);
	ebpf_bind(as, stays);
	ebpf_return(as, 0);
	ebpf_bind(as, missed);
	ebpf_alu_imm(as, BPF_SUB, R8, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R8, 0, again);
	ebpf_bind(as, lost);
	emit_lose(emit); /* the place stays out of use */
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}
