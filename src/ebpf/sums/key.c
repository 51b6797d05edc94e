// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gives the key of a match its number. Keys stay in the chain of their hash, in front of those that came before, and
 * are only read once they are in it: a new one is written first, then put there by one exchange. Two CPUs that meet a
 * new key at the same moment may give it two numbers, which this process puts together again.
 *
 * The verifier follows each turn of a loop. So the one along a chain looks at tags only, 32 bits of the hash, and the
 * key with the right one is compared behind it: if it is another one after all, the match is delivered.
 */

#include "ebpf/sums/sums-priv.h"

/* There is a chain for each key: one of CHAIN_MAX is not met. PUT_TRIES: keys that other CPUs put in front meanwhile.
 */
enum { CHAIN_MAX = 16, PUT_TRIES = 16, MIX_SHIFT = 29, KEY_OFF = sizeof(struct matcher_sums_key) };

/* A piece of the key in the room. */
struct piece {
	int32_t off;
	uint32_t bytes;
	bool is_text;
};

/* The pieces by which keys differ: which values are there, if that is not always the same, and the values. */
static uint32_t find_pieces(const struct sums_code *code, struct piece pieces[PROGRAM_BY_MAX + 1])
{
	const struct program *program = code->emit->program;
	const struct program_aggregate *by = program_by(program, code->row);
	uint32_t count = 0;
	int32_t off = 8;

	for (uint32_t i = 0; i < code->row->by_count && !count; i++)
		if (sums_may_lack(code->emit, &by[i]))
			pieces[count++] = (struct piece){ .off = 0, .bytes = 8 };
	for (uint32_t i = 0; i < code->row->by_count; i++) {
		struct piece *piece = &pieces[count++];

		piece->off = off;
		piece->bytes = program_value_bytes(program, code->emit->plan->index, by[i].node);
		piece->is_text = program->nodes[by[i].node].kind == PROGRAM_STRING;
		off += (int32_t)piece->bytes;
	}
	return count;
}

/* r1 = the number of the chain, r2 = the tag. Overwrites r0. */
static void hash(const struct sums_code *code, const struct piece *pieces, uint32_t count)
{
	struct ebpf_asm *as = code->as;

	if (!count) {
		ebpf_mov_imm(as, R1, 0);
		ebpf_mov_imm(as, R2, 0);
		return;
	}
	ebpf_mov_imm(as, R1, code->emit->context->memory->sums_seed);
	ebpf_mov_imm(as, R2, SUMS_MULTIPLIER);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t done = ebpf_label(as);

		for (uint32_t off = 0; off < pieces[i].bytes; off += 8) {
			ebpf_load(as, BPF_DW, R0, R6, pieces[i].off + (int32_t)off);
			if (pieces[i].is_text)
				ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, done);
			ebpf_alu(as, BPF_XOR, R1, R0);
			ebpf_alu(as, BPF_MUL, R1, R2);
			ebpf_mov(as, R0, R1);
			ebpf_alu_imm(as, BPF_RSH, R0, MIX_SHIFT);
			ebpf_alu(as, BPF_XOR, R1, R0);
		}
		ebpf_bind(as, done);
	}
	ebpf_alu(as, BPF_MUL, R1, R2);
	ebpf_emit(as, insn_alu32(BPF_MOV, R2, R1));
	if (code->at->hash_bits)
		ebpf_alu_imm(as, BPF_RSH, R1, 64 - (int32_t)code->at->hash_bits);
	else
		ebpf_mov_imm(as, R1, 0);
}

/* Leaves for differ unless the key in r9 is the one in the room. Overwrites r0, r1. */
static void compare_keys(const struct sums_code *code, const struct piece *pieces, uint32_t count, uint32_t differ)
{
	struct ebpf_asm *as = code->as;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t same = ebpf_label(as);

		for (uint32_t off = 0; off < pieces[i].bytes; off += 8) {
			int32_t at = pieces[i].off + (int32_t)off;

			ebpf_load(as, BPF_DW, R1, R6, at);
			ebpf_load(as, BPF_DW, R0, R9, KEY_OFF + at);
			ebpf_jump_if(as, BPF_JNE, R0, R1, differ);
			if (pieces[i].is_text)
				ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, same);
		}
		ebpf_bind(as, same);
	}
}

/* r9 = the key of number r8, which is within their count. Overwrites r0. */
static void load_key(const struct sums_code *code)
{
	struct ebpf_asm *as = code->as;

	ebpf_mov(as, R9, R8);
	if (code->plan->indexes > 1) {
		ebpf_mov(as, R0, R7);
		ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)code->plan->keys + 1);
		ebpf_alu(as, BPF_ADD, R9, R0);
	}
	ebpf_alu_imm(as, BPF_MUL, R9, (int32_t)(KEY_OFF + code->plan->key_bytes));
	sums_load_region(code, R0, &code->at->keys);
	ebpf_alu(as, BPF_ADD, R9, R0);
}

/* There is no place: as the whole pool is in use, by keys of this table or of others, or as it has no room for all. */
static void emit_full(const struct sums_code *code)
{
	struct ebpf_asm *as = code->as;

	if (code->plan->keys < code->emit->rule->pool) {
		ebpf_jump(as, code->deliver);
		return;
	}
	sums_load_head(code, R3, false);
	ebpf_load(as, BPF_DW, R0, R3, offsetof(struct matcher_sums, shared));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, code->deliver);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R3, offsetof(struct matcher_sums, other), R2);
	ebpf_return(as, 0);
}

/* r8 = a new number, with tag r2, in the chain at head whose first key was first (both on the stack); then goes to
 * found. */
static void emit_new(const struct sums_code *code, int16_t head, int16_t first, uint32_t found)
{
	struct ebpf_words key = { R9, R6, KEY_OFF, 0, code->plan->key_bytes / 8 };
	struct ebpf_asm *as = code->as;
	uint32_t full = ebpf_label(as), again = ebpf_label(as);

	sums_load_head(code, R3, true);
	ebpf_load(as, BPF_DW, R0, R3, offsetof(struct matcher_sums, used));
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)code->plan->keys, full);
	ebpf_mov_imm(as, R0, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R3, offsetof(struct matcher_sums, used), R0));
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)code->plan->keys, full);
	ebpf_address(as, R8, R0, 1);
	load_key(code);
	ebpf_store(as, BPF_W, R9, offsetof(struct matcher_sums_key, tag), R2);
	ebpf_lower_copy(&code->emit->lower, &key);
	ebpf_load(as, BPF_DW, R1, R10, head);
	ebpf_load(as, BPF_DW, R0, R10, first);
	ebpf_mov_imm(as, R5, 0);
	ebpf_bind(as, again);
	ebpf_store(as, BPF_W, R9, offsetof(struct matcher_sums_key, next), R0);
	ebpf_mov(as, R3, R0);
	ebpf_mov(as, R4, R8);
	ebpf_atomic_exchange_if(as, BPF_W, R1, 0, R4);
	ebpf_jump_if(as, BPF_JEQ, R0, R3, found);
	ebpf_alu_imm(as, BPF_ADD, R5, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R5, PUT_TRIES, again);
	ebpf_jump(as, code->deliver);
	ebpf_bind(as, full);
	emit_full(code);
}

void sums_emit_key(const struct sums_code *code)
{
	struct piece pieces[PROGRAM_BY_MAX + 1];
	uint32_t count = find_pieces(code, pieces);
	struct ebpf_asm *as = code->as;
	uint32_t again = ebpf_label(as), alike = ebpf_label(as), missing = ebpf_label(as), found = ebpf_label(as);
	uint32_t mark = ebpf_stack_mark(as);
	int16_t head = ebpf_stack_take(as, 8), first = ebpf_stack_take(as, 8);

	hash(code, pieces, count);
	ebpf_mov(as, R9, R1);
	sums_load_row(code, R9, &code->at->chains, code->at->hash_bits, 2);
	ebpf_store(as, BPF_DW, R10, head, R9);
	ebpf_load(as, BPF_W, R8, R9, 0);
	ebpf_store(as, BPF_DW, R10, first, R8);
	ebpf_mov_imm(as, R5, 0);
	ebpf_bind(as, again);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, missing);
	ebpf_jump_if_imm(as, BPF_JGT, R8, (int32_t)code->plan->keys, code->deliver);
	load_key(code);
	ebpf_load(as, BPF_W, R0, R9, offsetof(struct matcher_sums_key, tag));
	ebpf_jump_if(as, BPF_JEQ, R0, R2, alike);
	ebpf_load(as, BPF_W, R8, R9, offsetof(struct matcher_sums_key, next));
	ebpf_alu_imm(as, BPF_ADD, R5, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R5, CHAIN_MAX, again);
	ebpf_jump(as, code->deliver);
	ebpf_bind(as, alike);
	compare_keys(code, pieces, count, code->deliver);
	ebpf_jump(as, found);
	ebpf_bind(as, missing);
	emit_new(code, head, first, found);
	ebpf_bind(as, found);
	ebpf_stack_release(as, mark);
}
