// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that compares and stores texts. Texts in records and slots are filled with NULs up to their capacity,
 * a multiple of 8, so whole words can be compared: equal texts have equal words up to the shorter capacity.
 */

#include "ebpf/lower/lower-priv.h"
#include "ebpf/lower/pattern.h"
#include "program/eval.h"
#include "program/query.h"

#include <stdio.h>
#include <string.h>

/* Texts of so many bytes are gone along without a loop. */
enum { SHORT_BYTES = 16 };

/* A text in memory, or a constant (bytes not NULL). */
struct text {
	const char *bytes;
	uint32_t length;
	uint8_t base;
	int32_t off;
	uint32_t capacity;
	uint8_t via; /* register to load words into */
};

static struct text lowered_text(const struct ebpf_lower *lower, uint32_t index)
{
	const struct program_node *node = lower_node(lower, index);

	if (node->op == PROGRAM_OP_TEXT)
		return (struct text){ .bytes = program_text(lower->program, node->a), .length = node->b };
	if (node->op == PROGRAM_OP_FIELD) {
		const struct program_field *field = &lower->program->fields[node->a];

		return (struct text){ .base = R6, .off = (int32_t)field->offset, .capacity = field->bytes };
	}
	if (lower->slots_zero)
		return (struct text){ .bytes = "" };
	const struct program_slot *slot = &program_slots(lower->program, lower->rule)[node->a];

	return (struct text){ .base = lower->slots,
			      .off = lower->slots_off + (int32_t)slot->offset,
			      .capacity = slot->bytes };
}

/* The word number i of a constant with everything after its end zero. */
static uint64_t text_word(const char *bytes, uint32_t length, uint32_t i)
{
	uint64_t word = 0;
	uint32_t left = length > i * 8 ? length - i * 8 : 0;

	memcpy(&word, bytes + (left ? i * 8 : 0), left < 8 ? left : 8);
	return word;
}

/* Jumps to differ unless the first width bytes at off of text are those of word. */
static void compare_word(struct ebpf_asm *as, const struct text *text, uint32_t off, uint64_t word, uint32_t differ)
{
	ebpf_load(as, BPF_DW, text->via, text->base, text->off + (int32_t)off);
	if ((uint64_t)(int64_t)(int32_t)word == word) {
		ebpf_jump_if_imm(as, BPF_JNE, text->via, (int32_t)word, differ);
		return;
	}
	ebpf_mov_imm(as, R0, word);
	ebpf_jump_if(as, BPF_JNE, text->via, R0, differ);
}

/* Jumps to differ unless text begins with the constant; with its NUL if `whole`. */
static void compare_constant(struct ebpf_asm *as, const struct text *text, const struct text *constant, bool whole,
			     uint32_t differ)
{
	uint32_t length = constant->length, i = 0;

	if (length >= text->capacity) { /* with its NUL it does not fit */
		ebpf_jump(as, differ);
		return;
	}
	for (; i * 8 + 8 <= length; i++)
		compare_word(as, text, i * 8, text_word(constant->bytes, length, i), differ);
	if (whole) {
		compare_word(as, text, i * 8, text_word(constant->bytes, length, i), differ);
		return;
	}
	for (uint32_t at = i * 8; at < length;) {
		uint32_t width = length - at >= 4 ? 4 : length - at >= 2 ? 2 : 1;
		uint32_t part = 0;

		memcpy(&part, constant->bytes + at, width);
		ebpf_load(as, ebpf_width(width), text->via, text->base, text->off + (int32_t)at);
		ebpf_emit(as,
			  (struct bpf_insn){ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = R0, .imm = (int32_t)part });
		ebpf_jump_if(as, BPF_JNE, text->via, R0, differ);
		at += width;
	}
}

static void compare_memory(struct ebpf_asm *as, const struct text *a, const struct text *b, uint32_t differ)
{
	uint32_t capacity = a->capacity < b->capacity ? a->capacity : b->capacity;

	for (uint32_t off = 0; off < capacity; off += 8) {
		ebpf_load(as, BPF_DW, a->via, a->base, a->off + (int32_t)off);
		ebpf_load(as, BPF_DW, R0, b->base, b->off + (int32_t)off);
		ebpf_jump_if(as, BPF_JNE, a->via, R0, differ);
	}
}

/* Both are constants: settled here. */
static bool constants_agree(const struct text *a, const struct text *b, bool whole)
{
	return whole ? a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0
		     : a->length >= b->length && memcmp(a->bytes, b->bytes, b->length) == 0;
}

/* r0 = the states that the byte in r4 leads to from those in r0; r2 is the automaton. Overwrites r4, r5. */
static void step_states(struct ebpf_asm *as)
{
	ebpf_alu_imm(as, BPF_LSH, R4, 3);
	ebpf_alu(as, BPF_ADD, R4, R2);
	ebpf_load(as, BPF_DW, R4, R4, offsetof(struct ebpf_pattern, step));
	ebpf_load(as, BPF_DW, R5, R2, offsetof(struct ebpf_pattern, stay));
	ebpf_alu(as, BPF_AND, R5, R0);
	ebpf_alu_imm(as, BPF_LSH, R0, 1);
	ebpf_alu(as, BPF_AND, R0, R4);
	ebpf_alu(as, BPF_OR, R0, R5);
}

/* The 8 bytes at r3 + off; leaves for end where the first is the NUL. */
static void step_word(struct ebpf_asm *as, int32_t off, uint32_t end)
{
	for (int32_t i = 0; i < 8; i++) {
		ebpf_load(as, BPF_B, R4, R3, off + i);
		if (i == 0)
			ebpf_jump_if_imm(as, BPF_JEQ, R4, 0, end);
		step_states(as);
	}
}

/* What a walk along a long text and its callback share, on the stack. */
struct like {
	uint64_t states, pattern, text;
};

#define LIKE(member) ((int32_t)offsetof(struct like, member))

/* The words of a text that a turn of the loop goes along. */
static uint32_t words_of_turn(uint32_t capacity)
{
	return capacity % 16 ? 1 : 2;
}

/* bpf_loop's callback (turn, like) for texts of this capacity. */
static uint32_t function_like(struct ebpf_asm *as, uint32_t capacity)
{
	char name[sizeof "like_4294967295"];
	uint32_t function, end, beyond, bytes = 8 * words_of_turn(capacity);

	snprintf(name, sizeof name, "like_%u", capacity);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = ebpf_asm_function(as, name);
	ebpf_asm_enter(as, function);
	end = ebpf_label(as);
	beyond = ebpf_label(as);
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)(capacity / bytes), beyond);
	ebpf_mov(as, R6, R2);
	ebpf_load(as, BPF_DW, R3, R6, LIKE(text));
	ebpf_alu_imm(as, BPF_MUL, R1, (int32_t)bytes);
	ebpf_alu(as, BPF_ADD, R3, R1);
	ebpf_load(as, BPF_DW, R2, R6, LIKE(pattern));
	ebpf_load(as, BPF_DW, R0, R6, LIKE(states));
	for (uint32_t at = 0; at < bytes; at += 8)
		step_word(as, (int32_t)at, end);
	ebpf_store(as, BPF_DW, R6, LIKE(states), R0);
	ebpf_return(as, 0);
	ebpf_bind(as, end);
	ebpf_store(as, BPF_DW, R6, LIKE(states), R0);
	ebpf_bind(as, beyond);
	ebpf_return(as, 1);
	ebpf_asm_leave(as);
	return function;
}

/* r0 = the states of the automaton in r2 that are its end, behind a text with the states in r0. Overwrites r4, r5. */
static void end_walk(struct ebpf_asm *as)
{
	ebpf_mov_imm(as, R4, 0);
	step_states(as);
	ebpf_load(as, BPF_DW, R5, R2, offsetof(struct ebpf_pattern, end));
	ebpf_alu(as, BPF_AND, R0, R5);
}

/* Goes along the text, with the pattern in r1 and the text in r2. */
static void walk_words(struct ebpf_asm *as, uint32_t capacity)
{
	int16_t like = ebpf_stack_take(as, sizeof(struct like));

	ebpf_store(as, BPF_DW, R10, like + LIKE(pattern), R1);
	ebpf_store(as, BPF_DW, R10, like + LIKE(text), R2);
	ebpf_load(as, BPF_DW, R0, R1, offsetof(struct ebpf_pattern, start));
	ebpf_store(as, BPF_DW, R10, like + LIKE(states), R0);
	ebpf_mov_imm(as, R1, capacity / (8 * words_of_turn(capacity)));
	ebpf_load_function(as, R2, function_like(as, capacity));
	ebpf_address(as, R3, R10, like);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_load(as, BPF_DW, R2, R10, like + LIKE(pattern));
	ebpf_load(as, BPF_DW, R0, R10, like + LIKE(states));
	end_walk(as);
}

/*
 * A function (pattern, text of this capacity): 0 where the text is not like the pattern. As many turns of a loop as
 * there are words would be followed one by one by the verifier, a callback is not; and there is one loop for all, as
 * the kernel puts its own code in place of each, which takes the longer the longer the program is. Rules that look for
 * several patterns call it on many ways: the verifier looks at it once where it may.
 */
static uint32_t function_walk(const struct ebpf_lower *lower, uint32_t capacity)
{
	const uint32_t bytes[] = { sizeof(struct ebpf_pattern), capacity };
	struct ebpf_asm *as = lower->as;
	char name[sizeof "walk_here_4294967295"];
	uint32_t function, none;

	snprintf(name, sizeof name, "walk_%s%u", lower->irqs_off ? "here_" : "", capacity);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = lower_enter(lower, name, bytes, 2, &none);
	walk_words(as, capacity);
	ebpf_bind(as, none);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/*
 * r0 = 0 where the text, which in memory always has a NUL, is not like the pattern at offset off of the map. The states
 * are loaded, as what the verifier knows of them would differ from step to step. Overwrites r1-r5.
 */
static void walk_text(struct ebpf_lower *lower, const struct text *text, uint32_t off)
{
	struct ebpf_asm *as = lower->as;
	uint32_t end = ebpf_label(as);

	if (text->capacity > SHORT_BYTES) {
		ebpf_load_value(as, R1, lower->patterns_fd, off);
		ebpf_mov(as, R2, text->base);
		ebpf_alu_imm(as, BPF_ADD, R2, text->off);
		ebpf_call_function(as, function_walk(lower, text->capacity));
		return;
	}
	ebpf_load_value(as, R2, lower->patterns_fd, off);
	ebpf_load(as, BPF_DW, R0, R2, offsetof(struct ebpf_pattern, start));
	ebpf_mov(as, R3, text->base);
	for (uint32_t at = 0; at < text->capacity; at += 8)
		step_word(as, text->off + (int32_t)at, end);
	ebpf_bind(as, end);
	end_walk(as);
}

/* Jumps to label if what the text is LIKE is `sense`; the temporaries below k are kept on the stack meanwhile. */
static void branch_pattern(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
			   uint32_t k)
{
	uint32_t number = lower->info[node - lower->program->nodes].pattern - 1, mark = ebpf_stack_mark(lower->as);
	const char *pattern = ebpf_pattern_text(lower->program, node);
	struct text text = lowered_text(lower, node->a);
	struct ebpf_asm *as = lower->as;
	int16_t kept[LOWER_TEMPS];

	if (text.bytes) {
		if (program_like(text.bytes, pattern) == sense)
			ebpf_jump(as, label);
		return;
	}
	for (uint32_t i = 0; i < k; i++) {
		kept[i] = ebpf_stack_take(as, 8);
		ebpf_store(as, BPF_DW, R10, kept[i], lower_register(i));
	}
	ebpf_note(as, "LIKE %s", pattern);
	walk_text(lower, &text, lower->patterns_off + number * (uint32_t)sizeof(struct ebpf_pattern));
	for (uint32_t i = 0; i < k; i++)
		ebpf_load(as, BPF_DW, lower_register(i), R10, kept[i]);
	ebpf_stack_release(as, mark);
	ebpf_jump_if_imm(as, sense ? BPF_JNE : BPF_JEQ, R0, 0, label);
}

static void branch_words(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
			 uint32_t k)
{
	struct ebpf_asm *as = lower->as;
	struct text a = lowered_text(lower, node->a), b = lowered_text(lower, node->b);
	bool whole = true, on_equal = sense == (node->op != PROGRAM_OP_NE);
	uint32_t skip = ebpf_label(as), differ = on_equal ? skip : label;

	a.via = b.via = lower_register(k);
	if (node->op == PROGRAM_OP_LIKE) {
		size_t before = strcspn(b.bytes, "*");

		whole = before == b.length;
		b.length = (uint32_t)before;
	}
	if (a.bytes && b.bytes) {
		if (!constants_agree(&a, &b, whole))
			ebpf_jump(as, differ);
	} else if (b.bytes) {
		compare_constant(as, &a, &b, whole, differ);
	} else if (a.bytes) {
		compare_constant(as, &b, &a, whole, differ);
	} else {
		compare_memory(as, &a, &b, differ);
	}
	if (on_equal)
		ebpf_jump(as, label);
	ebpf_bind(as, skip);
}

void lower_branch_text(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
		       uint32_t k)
{
	if (lower->info[node - lower->program->nodes].pattern)
		branch_pattern(lower, node, sense, label, k);
	else
		branch_words(lower, node, sense, label, k);
}

static void store_word(struct ebpf_asm *as, const struct ebpf_text_place *place, uint32_t i, uint64_t word)
{
	int32_t off = place->off + (int32_t)(i * 8);

	if ((uint64_t)(int64_t)(int32_t)word == word) {
		ebpf_store_imm(as, BPF_DW, place->base, off, (int32_t)word);
		return;
	}
	ebpf_mov_imm(as, R0, word);
	ebpf_store(as, BPF_DW, place->base, off, R0);
}

/* The words of a text; returns whether its last byte is sure to be a NUL. */
static bool copy_words(struct ebpf_lower *lower, struct text *text, const struct ebpf_text_place *place)
{
	struct ebpf_asm *as = lower->as;
	struct ebpf_words words = { 0 };

	if (text->bytes && text->length >= place->bytes)
		text->length = place->bytes - 1;
	if (!text->bytes) {
		words = (struct ebpf_words){ place->base, text->base, place->off, text->off, 0 };
		words.count = (text->capacity < place->bytes ? text->capacity : place->bytes) / 8;
		ebpf_lower_copy(lower, &words);
	}
	for (uint32_t i = words.count; i * 8 < place->bytes; i++)
		store_word(as, place, i, text->bytes ? text_word(text->bytes, text->length, i) : 0);
	return text->bytes || text->capacity <= place->bytes;
}

void lower_set_text(struct ebpf_lower *lower, const struct program_slot *slot, uint32_t node)
{
	struct ebpf_text_place place = { lower->slots, lower->slots_off + (int32_t)slot->offset, slot->bytes };

	ebpf_lower_text(lower, node, &place); /* a rule's slots have room for the text, a machine's may be shorter */
}

void ebpf_lower_text(struct ebpf_lower *lower, uint32_t node, const struct ebpf_text_place *place)
{
	struct text text = lowered_text(lower, node);

	if (!copy_words(lower, &text, place))
		ebpf_store_imm(lower->as, BPF_B, place->base, place->off + (int32_t)place->bytes - 1, 0);
}
