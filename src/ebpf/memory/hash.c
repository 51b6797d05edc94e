// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hashes a key to its bucket: multiplicative hashing (Knuth), whose upper bits spread well even for numbers given out
 * in a row, as thread ids are. What it multiplies by is drawn for each session, as observed processes choose keys:
 * those that all belong in one bucket would have to be walked through at each event. An event's key and a run's must
 * hash alike although the fields of one may be wider than the slots of the other: numbers are extended to 64 bits,
 * texts hashed up to the first word that is zero.
 */

#include "ebpf/memory/emit.h"

#include <sys/random.h>

static const uint64_t MULTIPLIER = 0x9e3779b97f4a7c15;

enum { MIX_SHIFT = 29, DRAWN_BITS = 40 };

/* Odd, and the golden ratio still in its upper bits, which spread what is given out in a row. */
uint64_t memory_draw_multiplier(void)
{
	uint64_t drawn;

	if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
		return MULTIPLIER;
	return (MULTIPLIER ^ drawn >> (64 - DRAWN_BITS)) | 1;
}

/* Where a piece of a key is. */
struct piece {
	uint8_t base;
	int32_t off;
	uint32_t bytes;
	bool is_text;
};

static const struct program_slot *nth_class_slot(const struct emit *emit, const struct program_class *class, uint32_t i)
{
	return &program_slots(emit->program, emit->rule)[program_class_slots(emit->program, class)[i]];
}

/* No class has more slots than a key may: the loader sees to it, and a compiler that unrolls loops wants to be told. */
static uint32_t slot_count(const struct emit *emit, uint32_t group)
{
	uint32_t count = emit_class_of(emit, group)->slot_count;

	return count < PROGRAM_KEY_SLOTS_MAX ? count : PROGRAM_KEY_SLOTS_MAX;
}

static struct piece piece_of_run(const struct emit *emit, uint32_t group, uint32_t i)
{
	const struct program_slot *slot = nth_class_slot(emit, emit_class_of(emit, group), i);

	return (struct piece){ .base = R7,
			       .off = (int32_t)(sizeof(struct matcher_run) + slot->offset),
			       .bytes = slot->bytes,
			       .is_text = slot->kind == PROGRAM_STRING };
}

static struct piece piece_of_event(const struct emit *emit, const struct program_key *key, uint32_t i)
{
	const struct program_field *field = &emit->program->fields[program_key_fields(emit->program, key)[i]];

	return (struct piece){ .base = R6,
			       .off = (int32_t)field->offset,
			       .bytes = field->bytes,
			       .is_text = field->value == EVENT_STRING };
}

/* r1 = (r1 ^ r0) * r2, mixed */
static void mix(struct ebpf_asm *as)
{
	ebpf_alu(as, BPF_XOR, R1, R0);
	ebpf_alu(as, BPF_MUL, R1, R2);
	ebpf_mov(as, R0, R1);
	ebpf_alu_imm(as, BPF_RSH, R0, MIX_SHIFT);
	ebpf_alu(as, BPF_XOR, R1, R0);
}

static void hash_piece(struct ebpf_asm *as, const struct piece *piece)
{
	uint32_t done = ebpf_label(as);

	if (!piece->is_text) {
		ebpf_load(as, ebpf_width(piece->bytes), R0, piece->base, piece->off);
		mix(as);
		return;
	}
	for (uint32_t off = 0; off < piece->bytes; off += 8) {
		ebpf_load(as, BPF_DW, R0, piece->base, piece->off + (int32_t)off);
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, done);
		mix(as);
	}
	ebpf_bind(as, done);
}

/* r1 = its upper bits, the bucket's number. */
static void fold(struct emit *emit)
{
	if (emit->plan->bucket_bits)
		ebpf_alu_imm(emit->as, BPF_RSH, R1, 64 - (int32_t)emit->plan->bucket_bits);
	else
		ebpf_mov_imm(emit->as, R1, 0);
}

static bool is_one_number(const struct piece *pieces, uint32_t count)
{
	return count == 1 && !pieces[0].is_text;
}

static void hash_pieces(struct emit *emit, uint32_t group, const struct piece *pieces, uint32_t count)
{
	struct ebpf_asm *as = emit->as;

	if (count == 0 || emit->plan->bucket_bits == 0) {
		uint64_t hash = (uint64_t)(group + 1) * MULTIPLIER;

		ebpf_mov_imm(as, R1, emit->plan->bucket_bits ? hash >> (64 - emit->plan->bucket_bits) : 0);
		return;
	}
	ebpf_mov_imm(as, R2, emit->context->memory->multiplier);
	if (is_one_number(pieces, count)) { /* the commonest key, in the fewest instructions */
		ebpf_load(as, ebpf_width(pieces[0].bytes), R1, pieces[0].base, pieces[0].off);
		if (group)
			ebpf_alu_imm(as, BPF_XOR, R1, (int32_t)(group << 24));
		ebpf_alu(as, BPF_MUL, R1, R2);
		fold(emit);
		return;
	}
	ebpf_mov_imm(as, R1, group);
	for (uint32_t i = 0; i < count; i++)
		hash_piece(as, &pieces[i]);
	ebpf_alu(as, BPF_MUL, R1, R2);
	fold(emit);
}

/* r1 = the first bucket of the stripe, from the pieces that choose it. Overwrites r0, r2. */
static void hash_stripe(struct emit *emit, const struct piece *pieces, uint32_t count)
{
	struct ebpf_asm *as = emit->as;
	uint32_t outer = emit->plan->bucket_bits - emit->plan->inner_bits;

	ebpf_mov_imm(as, R1, 0);
	if (!emit->plan->stripe_slots || outer == 0)
		return;
	ebpf_mov_imm(as, R2, emit->context->memory->multiplier);
	for (uint32_t i = 0; i < count; i++)
		if (emit->plan->stripe_slots >> i & 1)
			hash_piece(as, &pieces[i]);
	ebpf_alu(as, BPF_MUL, R1, R2);
	ebpf_alu_imm(as, BPF_RSH, R1, 64 - (int32_t)outer);
	ebpf_alu_imm(as, BPF_LSH, R1, (int32_t)emit->plan->inner_bits);
}

/* Within the stripe the whole key chooses. Overwrites r3, too. */
static void hash_key(struct emit *emit, uint32_t group, const struct piece *pieces, uint32_t count)
{
	struct ebpf_asm *as = emit->as;

	if (!emit->plan->stripe_slots) {
		hash_pieces(emit, group, pieces, count);
		return;
	}
	hash_stripe(emit, pieces, count);
	if (!emit->plan->inner_bits)
		return;
	ebpf_mov(as, R3, R1);
	ebpf_mov_imm(as, R1, 1);
	ebpf_mov_imm(as, R2, emit->context->memory->multiplier);
	for (uint32_t i = 0; i < count; i++)
		hash_piece(as, &pieces[i]);
	ebpf_alu(as, BPF_MUL, R1, R2);
	ebpf_alu_imm(as, BPF_RSH, R1, 64 - (int32_t)emit->plan->inner_bits);
	ebpf_alu(as, BPF_ADD, R1, R3); /* no bit is in both; of an OR verifiers before 6.10 know nothing */
}

void emit_hash_event(struct emit *emit, const struct plan_walk *walk)
{
	uint32_t count = slot_count(emit, walk->group);
	struct piece pieces[PROGRAM_KEY_SLOTS_MAX];

	for (uint32_t i = 0; i < count; i++)
		pieces[i] = piece_of_event(emit, walk->key, i);
	hash_key(emit, walk->group, pieces, count);
}

void emit_hash_stripe(struct emit *emit, const struct plan_walk *walk)
{
	uint32_t count = slot_count(emit, walk->group);
	struct piece pieces[PROGRAM_KEY_SLOTS_MAX];

	for (uint32_t i = 0; i < count; i++)
		if (emit->plan->stripe_slots >> i & 1)
			pieces[i] = piece_of_event(emit, walk->key, i);
	hash_stripe(emit, pieces, count);
}

void emit_hash_run(struct emit *emit, uint32_t group)
{
	uint32_t count = slot_count(emit, group);
	struct piece pieces[PROGRAM_KEY_SLOTS_MAX];

	for (uint32_t i = 0; i < count; i++)
		pieces[i] = piece_of_run(emit, group, i);
	hash_key(emit, group, pieces, count);
}

static void compare_piece(struct ebpf_asm *as, const struct piece *run, const struct piece *event, uint32_t differ)
{
	uint32_t bytes = run->bytes < event->bytes ? run->bytes : event->bytes;

	if (!run->is_text) {
		ebpf_load(as, ebpf_width(run->bytes), R1, run->base, run->off);
		ebpf_load(as, ebpf_width(event->bytes), R0, event->base, event->off);
		ebpf_jump_if(as, BPF_JNE, R1, R0, differ);
		return;
	}
	for (uint32_t off = 0; off < bytes; off += 8) {
		ebpf_load(as, BPF_DW, R1, run->base, run->off + (int32_t)off);
		ebpf_load(as, BPF_DW, R0, event->base, event->off + (int32_t)off);
		ebpf_jump_if(as, BPF_JNE, R1, R0, differ);
	}
}

void emit_compare_key(struct emit *emit, const struct plan_walk *walk, uint32_t differ)
{
	uint32_t count = slot_count(emit, walk->group);

	for (uint32_t i = 0; i < count; i++) {
		if (program_key_fields(emit->program, walk->key)[i] == PROGRAM_NONE)
			continue; /* a machine's: any value */
		struct piece run = piece_of_run(emit, walk->group, i), event = piece_of_event(emit, walk->key, i);

		compare_piece(emit->as, &run, &event, differ);
	}
}

void emit_compare_more(struct emit *emit, uint32_t state, uint32_t differ)
{
	const struct program_slot *slots = program_slots(emit->program, emit->rule);
	uint32_t count;
	const uint32_t *more =
		program_state_more(emit->program, &program_states(emit->program, emit->rule)[state], &count);

	for (uint32_t i = 0; i < count; i++) {
		struct piece run = { .base = R7,
				     .off = (int32_t)(sizeof(struct matcher_run) + slots[more[i]].offset),
				     .bytes = slots[more[i]].bytes,
				     .is_text = slots[more[i]].kind == PROGRAM_STRING },
			     other = run;

		other.base = R6;
		compare_piece(emit->as, &run, &other, differ);
	}
}

void emit_compare_runs(struct emit *emit, uint32_t group, uint32_t differ)
{
	uint32_t count = emit_class_of(emit, group)->slot_count;

	for (uint32_t i = 0; i < count; i++) {
		struct piece run = piece_of_run(emit, group, i), other = run;

		other.base = R6;
		compare_piece(emit->as, &run, &other, differ);
	}
}
