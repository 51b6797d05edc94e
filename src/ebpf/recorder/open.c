// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens a sub-buffer for an event, as open_sub_buffer and is_settled in ring/writer.c do. That is seldom, so it is in
 * functions of its own, which every event type of a program shares and which take numbers only.
 */

#include "ebpf/recorder/record-priv.h"

#include <stddef.h>

/* r0 = the CPU in r1, which must be one; the function ends otherwise. */
static void check_cpu(const struct record_rings *rings, struct ebpf_asm *as)
{
	uint32_t good = ebpf_label(as);

	ebpf_mov(as, R0, R1);
	ebpf_jump_if_imm(as, BPF_JLT, R0, (int32_t)rings->cpu_count, good);
	ebpf_return(as, 0);
	ebpf_bind(as, good);
}

void record_emit_control(const struct record_rings *rings, struct ebpf_asm *as, uint8_t reg)
{
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)rings->stride);
	ebpf_load_value(as, reg, rings->control.fd, 0);
	ebpf_alu(as, BPF_ADD, reg, R0);
}

void record_emit_sub_buffer(const struct record_rings *rings, struct ebpf_asm *as, int16_t key, uint32_t label)
{
	ebpf_load_map(as, R1, rings->data.fd);
	ebpf_address(as, R2, R10, key);
	ebpf_call(as, BPF_FUNC_map_lookup_elem);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, label);
}

void record_emit_commit(struct ebpf_asm *as, uint8_t dst, int16_t off, uint8_t src)
{
	/* Only the form that fetches is ordered on every architecture. */
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, dst, off, src));
}

/* dst = the position in register word, src rounded up to a sub-buffer; 32 bits. */
static void emit_start(const struct record_rings *rings, struct ebpf_asm *as, uint8_t dst, uint8_t word)
{
	ebpf_emit(as, insn_alu32(BPF_MOV, dst, word));
	ebpf_emit(as, insn_alu32_imm(BPF_ADD, dst, (int32_t)rings->sub_units - 1));
	ebpf_emit(as, insn_alu32_imm(BPF_AND, dst, -(int32_t)rings->sub_units));
}

/* dst = 8 * the number in its ring of the sub-buffer at the position in src. */
static void emit_counter(const struct record_rings *rings, struct ebpf_asm *as, uint8_t dst, uint8_t src)
{
	ebpf_mov(as, dst, src);
	ebpf_alu_imm(as, BPF_RSH, dst, record_log2(rings->sub_units));
	ebpf_alu_imm(as, BPF_AND, dst, (int32_t)rings->sub_count - 1);
	ebpf_alu_imm(as, BPF_LSH, dst, 3);
}

uint32_t record_function_settled(const struct record_rings *rings, struct ebpf_asm *as)
{
	uint32_t function, no;

	if (ebpf_asm_find(as, "ring_settled", &function))
		return function;
	function = ebpf_asm_global(as, "ring_settled", 2);
	ebpf_asm_enter(as, function);
	ebpf_note(as, "is the next sub-buffer complete?");
	no = ebpf_label(as);
	check_cpu(rings, as);
	record_emit_control(rings, as, R3);
	emit_start(rings, as, R4, R2);
	emit_counter(rings, as, R5, R4);
	ebpf_alu(as, BPF_ADD, R3, R5);
	ebpf_load(as, BPF_DW, R1, R3, offsetof(struct ring_control, commits));
	ebpf_emit(as, insn_alu32_imm(BPF_LSH, R1, record_log2(rings->sub_count)));
	ebpf_emit(as, insn_alu32_imm(BPF_AND, R4, -(int32_t)(rings->sub_units * rings->sub_count)));
	ebpf_mov_imm(as, R0, 0);
	ebpf_jump_if(as, BPF_JNE, R1, R4, no);
	ebpf_mov_imm(as, R0, 1);
	ebpf_bind(as, no);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/* r0 = the full value near the one at r6 + off whose low half is low, which is stored there. r1 is lost. */
static void emit_lengthen(struct ebpf_asm *as, int32_t off, uint8_t low)
{
	ebpf_load(as, BPF_DW, R0, R6, off);
	ebpf_mov(as, R1, low);
	ebpf_alu(as, BPF_SUB, R1, R0);
	ebpf_alu_imm(as, BPF_LSH, R1, 32);
	ebpf_alu_imm(as, BPF_ARSH, R1, 32);
	ebpf_alu(as, BPF_ADD, R0, R1);
	ebpf_store(as, BPF_DW, R6, off, R0);
}

struct open_slots {
	int16_t cpu, ts, position, events, key;
};

/* Stores at key the number in the map of the sub-buffer at the position in src. r0, r1 are lost. */
static void emit_key(const struct record_rings *rings, struct ebpf_asm *as, const struct open_slots *slots, uint8_t src)
{
	emit_counter(rings, as, R1, src);
	ebpf_alu_imm(as, BPF_RSH, R1, 3);
	ebpf_load(as, BPF_DW, R0, R10, slots->cpu);
	ebpf_alu_imm(as, BPF_LSH, R0, record_log2(rings->sub_count));
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_store(as, BPF_W, R10, slots->key, R1);
}

static void copy_slot(struct ebpf_asm *as, int16_t slot, size_t field)
{
	ebpf_load(as, BPF_DW, R1, R10, slot);
	ebpf_store(as, BPF_DW, R0, (int32_t)field, R1);
}

/* r6 control, r7 old position, r8 start. */
static void emit_close(const struct record_rings *rings, struct ebpf_asm *as, const struct open_slots *slots)
{
	uint32_t none = ebpf_label(as);

	ebpf_note(as, "close the sub-buffer before");
	ebpf_jump_if(as, BPF_JEQ, R7, R8, none);
	emit_key(rings, as, slots, R7);
	record_emit_sub_buffer(rings, as, slots->key, none);
	copy_slot(as, slots->ts, offsetof(struct ring_packet, timestamp_end));
	copy_slot(as, slots->events, offsetof(struct ring_packet, events_after));
	ebpf_mov(as, R2, R7);
	ebpf_alu_imm(as, BPF_AND, R2, (int32_t)rings->sub_units - 1);
	ebpf_mov(as, R1, R2);
	ebpf_alu_imm(as, BPF_LSH, R1, 6);
	ebpf_store(as, BPF_DW, R0, offsetof(struct ring_packet, content_bits), R1);
	ebpf_mov_imm(as, R1, rings->sub_units);
	ebpf_alu(as, BPF_SUB, R1, R2);
	emit_counter(rings, as, R2, R7);
	ebpf_mov(as, R3, R6);
	ebpf_alu(as, BPF_ADD, R3, R2);
	record_emit_commit(as, R3, offsetof(struct ring_control, commits), R1);
	ebpf_bind(as, none);
}

static void codegen_open(const struct record_rings *rings, struct ebpf_asm *as)
{
	struct open_slots slots;
	uint32_t out = ebpf_label(as);

	slots.cpu = ebpf_stack_take(as, 8);
	slots.ts = ebpf_stack_take(as, 8);
	slots.position = ebpf_stack_take(as, 8);
	slots.events = ebpf_stack_take(as, 8);
	slots.key = ebpf_stack_take(as, 8);
	check_cpu(rings, as);
	ebpf_store(as, BPF_DW, R10, slots.cpu, R0);
	ebpf_store(as, BPF_DW, R10, slots.ts, R3);
	record_emit_control(rings, as, R6);
	ebpf_emit(as, insn_alu32(BPF_MOV, R7, R2));
	emit_start(rings, as, R8, R2);
	ebpf_mov(as, R9, R2);
	ebpf_alu_imm(as, BPF_RSH, R9, 32);
	emit_lengthen(as, offsetof(struct ring_control, position), R8);
	ebpf_alu_imm(as, BPF_RSH, R0, record_log2(rings->sub_units));
	ebpf_store(as, BPF_DW, R10, slots.position, R0);
	emit_lengthen(as, offsetof(struct ring_control, events), R9);
	ebpf_store(as, BPF_DW, R10, slots.events, R0);
	ebpf_load(as, BPF_DW, R1, R10, slots.ts);
	ebpf_mov_imm(as, R2, RING_AGE_MAX);
	ebpf_alu(as, BPF_ADD, R1, R2);
	ebpf_store(as, BPF_DW, R6, offsetof(struct ring_control, due), R1);
	emit_close(rings, as, &slots);
	ebpf_note(as, "open the next sub-buffer");
	emit_key(rings, as, &slots, R8);
	record_emit_sub_buffer(rings, as, slots.key, out);
	copy_slot(as, slots.ts, offsetof(struct ring_packet, timestamp_begin));
	copy_slot(as, slots.position, offsetof(struct ring_packet, packet_seq_num));
	copy_slot(as, slots.events, offsetof(struct ring_packet, events_before));
	ebpf_bind(as, out);
	ebpf_return(as, 0);
}

uint32_t record_function_open(const struct record_rings *rings, struct ebpf_asm *as)
{
	uint32_t function;

	if (ebpf_asm_find(as, "ring_open", &function))
		return function;
	function = ebpf_asm_global(as, "ring_open", 3);
	ebpf_asm_enter(as, function);
	codegen_open(rings, as);
	ebpf_asm_leave(as);
	return function;
}
