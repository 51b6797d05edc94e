// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds a container by the names of cgroups, from the innermost outwards, by the rows that user space goes by
 * (base/container.h). In the memory, the text is at the beginning and two names behind it: a cgroup's and that of the
 * one around it, which is the next to be looked at, so they change places.
 */

#include "base/container.h"
#include "ebpf/path/walk-priv.h"

#include <assert.h>
#include <string.h>

enum {
	NAME = SOURCE_WALK_TEXT_BYTES, /* the first name's place; the other's is what SUM leaves */
	SUM = 3 * SOURCE_WALK_TEXT_BYTES,
	NAME_LAST = SOURCE_WALK_TEXT_BYTES - 1,
	SLICE_BYTES = sizeof ".slice:" - 1,
	/* Words behind the text, while an id is put there: where in it, what of the name, how far an escape goes. */
	PLACE = CONTAINER_TEXT_BYTES,
	BYTES = PLACE + WALK_WORD,
	FROM = BYTES + WALK_WORD,
	TAKEN = FROM + WALK_WORD,
	ESCAPE_BYTES = sizeof "\\x2d" - 1,
};

static_assert(NAME + 2 * SOURCE_WALK_TEXT_BYTES <= SOURCE_WALK_BYTES, "there is room for two names");
static_assert(TAKEN + WALK_WORD <= WALK_LAST, "there is room behind the text");

/*
 * What one name is held against the rows with: r6 the memory, r7 where the name begins in it, r8 its bytes. Whatever
 * follows a row goes on at one of the labels below, with r7 = bytes of text that are there, r8, r9 = bytes of the id
 * and where it is.
 */
struct judging {
	struct ebpf_asm *as;
	uint32_t is_hex;
	uint32_t next; /* this row is not followed */
	uint32_t copied, unescaped, none;
};

/*
 * The function called so, of numbers; each is looked at by the verifier once, where loops in loops would be looked at
 * for every way into them.
 */
static uint32_t container_function_of(const struct walking *walking, const char *name, uint32_t numbers,
				      void (*write)(const struct walking *walking))
{
	struct ebpf_asm *as = walking->as;
	uint32_t function;

	if (ebpf_asm_find(as, name, &function))
		return function;
	function = ebpf_asm_global(as, name, numbers);
	ebpf_asm_enter(as, function);
	ebpf_note(as, "%s", name);
	write(walking);
	ebpf_asm_leave(as);
	return function;
}

/* The end of such a function: with 1, or from label no on with 0. */
static void return_whether(struct ebpf_asm *as, uint32_t no)
{
	ebpf_return(as, 1);
	ebpf_bind(as, no);
	ebpf_return(as, 0);
}

/* Whether the digits of an id are at r1 of the memory. */
static void write_is_hex(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t again = ebpf_label(as), good = ebpf_label(as), no = ebpf_label(as);

	ebpf_mov(as, R7, R1);
	path_emit_memory(as, &walking->style->walk, R6, no);
	ebpf_jump_if_imm(as, BPF_JGT, R7, SUM - CONTAINER_HEX_DIGITS, no);
	ebpf_alu(as, BPF_ADD, R6, R7);
	ebpf_mov_imm(as, R1, 0);
	ebpf_bind(as, again);
	ebpf_mov(as, R2, R6);
	ebpf_alu(as, BPF_ADD, R2, R1);
	ebpf_load(as, BPF_B, R0, R2, 0);
	ebpf_alu_imm(as, BPF_SUB, R0, '0');
	ebpf_jump_if_imm(as, BPF_JLE, R0, '9' - '0', good);
	ebpf_alu_imm(as, BPF_SUB, R0, 'a' - '0');
	ebpf_jump_if_imm(as, BPF_JGT, R0, 'f' - 'a', no);
	ebpf_bind(as, good);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R1, CONTAINER_HEX_DIGITS, again);
	return_whether(as, no);
}

/* Goes to the next row unless text is at reg + offset. */
static void expect_text(const struct judging *judging, uint8_t reg, int32_t offset, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		ebpf_load(judging->as, BPF_B, R0, reg, offset + (int32_t)i);
		ebpf_jump_if_imm(judging->as, BPF_JNE, R0, text[i], judging->next);
	}
}

/* reg = the memory at r7 */
static void point_at_name(const struct judging *judging, uint8_t reg)
{
	ebpf_mov(judging->as, reg, R6);
	ebpf_alu(judging->as, BPF_ADD, reg, R7);
}

/* Goes to the next row unless the name around this one is the row's. */
static void expect_parent(const struct judging *judging, const struct container_convention *row)
{
	if (!row->parent)
		return;
	ebpf_mov_imm(judging->as, R1, SUM);
	ebpf_alu(judging->as, BPF_SUB, R1, R7);
	ebpf_alu(judging->as, BPF_ADD, R1, R6);
	expect_text(judging, R1, 0, row->parent, strlen(row->parent) + 1);
}

/* r1 = where in the name the row begins: behind a slice, if the row may stand behind one. */
static void skip_slice(const struct judging *judging, int32_t bytes)
{
	struct ebpf_asm *as = judging->as;
	uint32_t alone = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JLT, R8, bytes, judging->next);
	ebpf_mov(as, R1, R8);
	ebpf_alu_imm(as, BPF_SUB, R1, bytes);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, alone);
	ebpf_jump_if_imm(as, BPF_JLT, R1, SLICE_BYTES, judging->next);
	point_at_name(judging, R2);
	ebpf_alu(as, BPF_ADD, R2, R1);
	expect_text(judging, R2, -SLICE_BYTES, ".slice:", SLICE_BYTES);
	ebpf_bind(as, alone);
}

/* A row whose id is of a fixed length, so all of it is; r9 = where the id is, r8 = what is shown of it. */
static void expect_hex_row(const struct judging *judging, const struct container_convention *row)
{
	struct ebpf_asm *as = judging->as;
	int32_t before = (int32_t)strlen(row->before), behind = before + CONTAINER_HEX_DIGITS;
	int32_t bytes = behind + (int32_t)strlen(row->behind);

	if (before && row->before[before - 1] == ':') {
		skip_slice(judging, bytes);
	} else {
		ebpf_jump_if_imm(as, BPF_JNE, R8, bytes, judging->next);
		ebpf_mov_imm(as, R1, 0);
	}
	point_at_name(judging, R2);
	ebpf_alu(as, BPF_ADD, R2, R1);
	ebpf_mov(as, R9, R7);
	ebpf_alu(as, BPF_ADD, R9, R1);
	ebpf_alu_imm(as, BPF_ADD, R9, before);
	expect_text(judging, R2, 0, row->before, strlen(row->before));
	expect_text(judging, R2, behind, row->behind, strlen(row->behind));
	expect_parent(judging, row);
	ebpf_mov(as, R1, R9);
	ebpf_call_function(as, judging->is_hex);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, judging->next);
	ebpf_mov_imm(as, R8, CONTAINER_SHOWN_DIGITS);
}

/* A row whose id is all that is left. */
static void expect_name_row(const struct judging *judging, const struct container_convention *row)
{
	struct ebpf_asm *as = judging->as;
	int32_t before = (int32_t)strlen(row->before), behind = (int32_t)strlen(row->behind);

	ebpf_jump_if_imm(as, BPF_JLE, R8, before + behind, judging->next);
	point_at_name(judging, R2);
	expect_text(judging, R2, 0, row->before, strlen(row->before));
	ebpf_alu(as, BPF_ADD, R2, R8);
	expect_text(judging, R2, -behind, row->behind, strlen(row->behind));
	expect_parent(judging, row);
	ebpf_address(as, R9, R7, before);
	ebpf_alu_imm(as, BPF_SUB, R8, before + behind);
}

static void judge_container_row(struct judging *judging, const struct container_convention *row)
{
	struct ebpf_asm *as = judging->as;
	int32_t at = 0;

	judging->next = ebpf_label(as);
	ebpf_note(as, "%s: %s/%s*%s", row->runtime, row->parent ? row->parent : "", row->before, row->behind);
	if (row->form == CONTAINER_HEX)
		expect_hex_row(judging, row);
	else
		expect_name_row(judging, row);
	for (; row->runtime[at]; at++)
		ebpf_store_imm(as, BPF_B, R6, at, row->runtime[at]);
	ebpf_store_imm(as, BPF_B, R6, at++, ':');
	ebpf_mov_imm(as, R7, (uint64_t)at);
	ebpf_jump(as, row->form == CONTAINER_UNIT_NAME ? judging->unescaped : judging->copied);
	ebpf_bind(as, judging->next);
}

/* The id goes to the text as it is. */
static void copy_id(const struct judging *judging)
{
	struct ebpf_asm *as = judging->as;
	uint32_t fits = ebpf_label(as);

	ebpf_mov(as, R1, R6);
	ebpf_alu(as, BPF_ADD, R1, R7);
	ebpf_mov_imm(as, R2, CONTAINER_TEXT_BYTES);
	ebpf_alu(as, BPF_SUB, R2, R7);
	ebpf_alu_imm(as, BPF_ADD, R8, 1); /* the NUL */
	ebpf_jump_if(as, BPF_JGE, R8, R2, fits);
	ebpf_mov(as, R2, R8);
	ebpf_bind(as, fits);
	ebpf_mov(as, R3, R6);
	ebpf_alu(as, BPF_ADD, R3, R9);
	ebpf_call(as, BPF_FUNC_probe_read_kernel_str);
}

/* reg, a byte, becomes the value of that digit of sixteen, of either case; goes to none if it is none. */
static void take_digit(struct ebpf_asm *as, uint8_t reg, uint32_t none)
{
	uint32_t good = ebpf_label(as);

	ebpf_alu_imm(as, BPF_SUB, reg, '0');
	ebpf_jump_if_imm(as, BPF_JLE, reg, 9, good);
	ebpf_alu_imm(as, BPF_OR, reg, 'a' - 'A');
	ebpf_alu_imm(as, BPF_SUB, reg, 'a' - '0');
	ebpf_jump_if_imm(as, BPF_JGT, reg, 5, none);
	ebpf_alu_imm(as, BPF_ADD, reg, 10);
	ebpf_bind(as, good);
}

/* r0, the byte at r1 of the memory, becomes what the escape there stands for; goes to plain if that is none. The id has
 * r5 bytes more. */
static void take_escape(struct ebpf_asm *as, uint32_t plain)
{
	ebpf_jump_if_imm(as, BPF_JNE, R0, '\\', plain);
	ebpf_jump_if_imm(as, BPF_JLT, R5, ESCAPE_BYTES, plain);
	ebpf_jump_if_imm(as, BPF_JGT, R1, SUM - ESCAPE_BYTES, plain);
	ebpf_mov(as, R2, R6);
	ebpf_alu(as, BPF_ADD, R2, R1);
	ebpf_load(as, BPF_B, R5, R2, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R5, 'x', plain);
	ebpf_load(as, BPF_B, R5, R2, 2);
	take_digit(as, R5, plain);
	ebpf_load(as, BPF_B, R1, R2, 3);
	take_digit(as, R1, plain);
	ebpf_alu_imm(as, BPF_LSH, R5, 4);
	ebpf_alu(as, BPF_OR, R5, R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R5, 0, plain);
	ebpf_mov(as, R0, R5);
	ebpf_address(as, R4, R3, ESCAPE_BYTES);
	ebpf_store(as, BPF_DW, R6, TAKEN, R4);
}

/* r0 goes to the text, at r7. */
static void put_byte(struct ebpf_asm *as)
{
	ebpf_alu_imm(as, BPF_AND, R7, CONTAINER_TEXT_BYTES - 1);
	ebpf_mov(as, R2, R6);
	ebpf_alu(as, BPF_ADD, R2, R7);
	ebpf_store(as, BPF_B, R2, 0, R0);
	ebpf_alu_imm(as, BPF_ADD, R7, 1);
	ebpf_store(as, BPF_DW, R6, PLACE, R7);
}

/* Byte r1 of the id goes to the text, unless it belonged to an escape. Whether there may be another. */
static void write_put_next(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t put = ebpf_label(as), taken = ebpf_label(as), no = ebpf_label(as);

	ebpf_mov(as, R7, R1);
	path_emit_memory(as, &walking->style->walk, R6, no);
	ebpf_mov(as, R3, R7);
	ebpf_load(as, BPF_DW, R7, R6, PLACE);
	ebpf_jump_if_imm(as, BPF_JGE, R7, CONTAINER_TEXT_BYTES - 1, no);
	ebpf_load(as, BPF_DW, R4, R6, TAKEN);
	ebpf_jump_if(as, BPF_JLT, R3, R4, taken);
	ebpf_load(as, BPF_DW, R1, R6, FROM);
	ebpf_alu(as, BPF_ADD, R1, R3);
	ebpf_jump_if_imm(as, BPF_JGE, R1, SUM, no);
	ebpf_mov(as, R2, R6);
	ebpf_alu(as, BPF_ADD, R2, R1);
	ebpf_load(as, BPF_B, R0, R2, 0);
	ebpf_load(as, BPF_DW, R5, R6, BYTES);
	ebpf_alu(as, BPF_SUB, R5, R3);
	take_escape(as, put);
	ebpf_bind(as, put);
	put_byte(as);
	ebpf_bind(as, taken);
	return_whether(as, no);
}

/* The id goes to the text with systemd's escapes resolved. */
static void unescape_id(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t again = ebpf_label(as), end = ebpf_label(as);
	uint32_t put_next = container_function_of(walking, "put_next", 1, write_put_next);

	ebpf_store(as, BPF_DW, R6, PLACE, R7);
	ebpf_store(as, BPF_DW, R6, BYTES, R8);
	ebpf_store(as, BPF_DW, R6, FROM, R9);
	ebpf_store_imm(as, BPF_DW, R6, TAKEN, 0);
	ebpf_mov_imm(as, R7, 0);
	ebpf_bind(as, again);
	ebpf_jump_if_imm(as, BPF_JGE, R7, NAME_LAST, end);
	ebpf_load(as, BPF_DW, R1, R6, BYTES); /* the verifier may forget what it knows of r8 */
	ebpf_jump_if(as, BPF_JGE, R7, R1, end);
	ebpf_mov(as, R1, R7);
	ebpf_call_function(as, put_next);
	ebpf_alu_imm(as, BPF_ADD, R7, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, again);
	ebpf_bind(as, end);
	ebpf_load(as, BPF_DW, R7, R6, PLACE);
	ebpf_mov_imm(as, R0, 0);
	put_byte(as);
}

/* r0 = 1 if the name of r2 bytes at r1 of the memory is a container's, which the text then says; else 0. */
static void write_judge(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	struct judging judging = { .as = as,
				   .is_hex = container_function_of(walking, "is_hex", 1, write_is_hex),
				   .copied = ebpf_label(as),
				   .unescaped = ebpf_label(as),
				   .none = ebpf_label(as) };
	uint32_t found = ebpf_label(as);

	ebpf_mov(as, R7, R1);
	ebpf_mov(as, R8, R2);
	path_emit_memory(as, &walking->style->walk, R6, judging.none);
	ebpf_jump_if_imm(as, BPF_JLT, R7, NAME, judging.none);
	ebpf_jump_if_imm(as, BPF_JGT, R7, SUM - NAME, judging.none);
	ebpf_jump_if_imm(as, BPF_JGT, R8, NAME_LAST, judging.none);
	for (int i = 0; i < CONTAINER_CONVENTIONS; i++)
		judge_container_row(&judging, &container_conventions[i]);
	ebpf_jump(as, judging.none);
	ebpf_bind(as, judging.unescaped);
	unescape_id(walking);
	ebpf_jump(as, found);
	ebpf_bind(as, judging.copied);
	copy_id(&judging);
	ebpf_bind(as, found);
	return_whether(as, judging.none);
}

/* The name of the node at reg goes to the memory at r8; r0 = its bytes. */
static void read_name(const struct walking *walking, uint8_t reg)
{
	struct ebpf_asm *as = walking->as;

	walk_fetch_member(walking, R3, reg, SOURCE_WALK_KN_NAME);
	ebpf_mov(as, R1, R6);
	ebpf_alu(as, BPF_ADD, R1, R8);
	ebpf_mov_imm(as, R2, SOURCE_WALK_TEXT_BYTES);
	ebpf_call(as, BPF_FUNC_probe_read_kernel_str);
	ebpf_jump_if_imm(as, BPF_JSLE, R0, 0, walking->fail);
	ebpf_alu_imm(as, BPF_SUB, R0, 1);
}

/* r8 goes to the other name. */
static void change_place(struct ebpf_asm *as)
{
	ebpf_mov_imm(as, R1, SUM);
	ebpf_alu(as, BPF_SUB, R1, R8);
	ebpf_mov(as, R8, R1);
}

/* r7 is the node, r8 where its name is, r9 its bytes. */
void walk_write_container(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t again = ebpf_label(as), none = ebpf_label(as), done = ebpf_label(as);
	uint32_t judge = container_function_of(walking, "judge_name", 2, write_judge);
	int16_t bytes = ebpf_stack_take(as, WALK_WORD);

	ebpf_mov(as, R7, R1);
	ebpf_mov_imm(as, R8, NAME);
	read_name(walking, R7);
	ebpf_mov(as, R9, R0);
	ebpf_bind(as, again);
	walk_begin_step(walking);
	walk_fetch_member(walking, R7, R7, SOURCE_WALK_KN_PARENT);
	ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, none); /* the root has no name */
	change_place(as);
	read_name(walking, R7);
	ebpf_store(as, BPF_DW, R10, bytes, R0);
	change_place(as);
	ebpf_mov(as, R1, R8);
	ebpf_mov(as, R2, R9);
	ebpf_call_function(as, judge);
	ebpf_mov_imm(as, R9, 0);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, done);
	change_place(as);
	ebpf_load(as, BPF_DW, R9, R10, bytes);
	ebpf_jump(as, again);
	ebpf_bind(as, none);
	ebpf_mov_imm(as, R9, WALK_LAST);
	ebpf_bind(as, done);
	walk_return_start(walking);
}
