// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that copies strings into records: copied word by word where the kernel keeps them padded, else by
 * helpers, which fill up with zeros. A string of the user's that is not there is unread.
 *
 * How long one is that is not kept: it is read piece by piece into the stack, where there is no room for all of it. A
 * piece that is full has its NUL in place of the next byte, from which reading goes on.
 */

#include "ebpf/path/value-priv.h"

#include "ebpf/path/walk.h"

#include <errno.h>

enum { WORD = 8, PAIR_BYTES = 2 * WORD, PIECE_BYTES = 52, PIECE_ROOM = PATH_LENGTH_BYTES - 2 * WORD };

_Static_assert(PIECE_BYTES <= PIECE_ROOM, "a piece has room");

/* Makes bytes of the record from offset on zero. Everything before a string's end is a multiple of what it starts at.
 */
static void zero(struct ebpf_asm *as, uint32_t offset, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t piece = WORD;

		while (piece > 1 && (piece > bytes || offset % piece != 0))
			piece /= 2;
		ebpf_store_imm(as, ebpf_width(piece), SOURCE_REG_RECORD, (int32_t)offset, 0);
		offset += piece;
		bytes -= piece;
	}
}

/* Reads the string at r3 into field by helper. The rest of the field is zero already. */
static void read_string(struct ebpf_asm *as, int32_t helper, const struct event_field *field, uint32_t bytes)
{
	ebpf_mov(as, R1, SOURCE_REG_RECORD);
	path_add_offset(as, R1, field->offset);
	ebpf_mov_imm(as, R2, bytes < field->bytes ? bytes : field->bytes);
	ebpf_call(as, helper);
}

/* Copies an array that ends in zeros word by word. */
static void copy_padded(struct ebpf_asm *as, const struct source_node *path, const struct event_field *field)
{
	uint32_t bytes = path->access.bytes < field->bytes ? path->access.bytes : field->bytes;

	bytes -= bytes % WORD;
	for (uint32_t i = 0; i < bytes; i += WORD) {
		ebpf_load(as, BPF_DW, R1, R0, (int32_t)(path->access.spot.offset + i));
		ebpf_store(as, BPF_DW, SOURCE_REG_RECORD, (int32_t)(field->offset + i), R1);
	}
	ebpf_store_imm(as, BPF_B, SOURCE_REG_RECORD, (int32_t)(field->offset + field->bytes - 1), 0);
}

/* r3 = 1 if r2 is not 0, else 0. Without a jump, so that the verifier has one way to follow and not two. */
static void test_nonzero(struct ebpf_asm *as)
{
	ebpf_mov(as, R3, R2);
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R3, 0));
	ebpf_alu(as, BPF_OR, R3, R2);
	ebpf_alu_imm(as, BPF_RSH, R3, 63);
}

/*
 * r0 = the bytes, NUL included, of a string of two words in which everything behind the NUL is zero: the place of the
 * last byte that is not, found by halving.
 */
static void measure_pair(struct ebpf_asm *as, const struct event_field *field)
{
	ebpf_load(as, BPF_DW, R2, SOURCE_REG_RECORD, (int32_t)field->offset + WORD);
	ebpf_load(as, BPF_DW, R1, SOURCE_REG_RECORD, (int32_t)field->offset);
	test_nonzero(as);
	ebpf_mov(as, R0, R3);
	ebpf_alu_imm(as, BPF_LSH, R0, 3);
	ebpf_alu_imm(as, BPF_ADD, R3, -1);
	ebpf_alu(as, BPF_AND, R1, R3); /* the first word counts where the second is empty, which then adds nothing */
	ebpf_alu(as, BPF_OR, R1, R2);
	for (int32_t bytes = WORD / 2; bytes > 0; bytes /= 2) {
		ebpf_mov(as, R2, R1);
		ebpf_alu_imm(as, BPF_RSH, R2, bytes * 8);
		test_nonzero(as);
		ebpf_mov(as, R2, R3);
		ebpf_alu_imm(as, BPF_MUL, R2, bytes);
		ebpf_alu(as, BPF_ADD, R0, R2);
		ebpf_alu_imm(as, BPF_LSH, R2, 3);
		ebpf_alu(as, BPF_RSH, R1, R2);
	}
	ebpf_mov(as, R2, R1);
	test_nonzero(as);
	ebpf_alu(as, BPF_ADD, R0, R3);
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
}

static void emit_chars(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		       const struct event_field *field)
{
	uint32_t null = ebpf_label(as);
	bool words = path->access.is_padded && field->offset % WORD == 0 && field->bytes % WORD == 0;
	enum source_knowledge knowledge = path_load_pointers(as, style, path, null);

	if (style->lean && path->access.bytes != PAIR_BYTES)
		words = false;
	if (words && path_make_plain(as, style, &path->access.spot, knowledge)) {
		copy_padded(as, path, field);
		if (style->lean)
			measure_pair(as, field);
	} else {
		ebpf_mov(as, R3, R0);
		path_add_offset(as, R3, path->access.spot.offset);
		read_string(as, BPF_FUNC_probe_read_kernel_str, field,
			    path->access.bytes ? path->access.bytes : UINT32_MAX);
	}
	path_end_pointers(as, path, null);
}

/* r3 = the address that the low half of a __data_loc word at an offset of the record points to. */
static void emit_data_loc(struct ebpf_asm *as, const struct source_node *path)
{
	ebpf_load(as, BPF_W, R3, SOURCE_REG_CONTEXT, (int32_t)path->value);
	ebpf_alu_imm(as, BPF_AND, R3, 0xffff);
	ebpf_mov(as, R1, SOURCE_REG_CONTEXT);
	ebpf_alu(as, BPF_ADD, R1, R3);
	ebpf_mov(as, R3, R1);
}

/* A string of the user's; goes to the style's label where it cannot be read. */
static void emit_user_string(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
			     const struct event_field *field)
{
	uint32_t good = ebpf_label(as);

	path_emit_value(as, style, path->left);
	ebpf_mov(as, R3, R0);
	read_string(as, BPF_FUNC_probe_read_user_str, field, path->bytes ? path->bytes + 1 : UINT32_MAX);
	ebpf_jump_if_imm(as, BPF_JSGE, R0, 0, good);
	path_forgive_null(as, style, path->left, good);
	ebpf_jump(as, style->unread);
	ebpf_bind(as, good);
}

/* A string that is put together. Where an address is 0 there is none. */
static void emit_walk(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      const struct event_field *field)
{
	uint32_t mark = ebpf_stack_mark(as), none = ebpf_label(as);
	int16_t left = ebpf_stack_take(as, WORD);

	path_emit_value(as, style, path->left);
	if (path->op != SOURCE_IP_TEXT)
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	if (path->right) {
		ebpf_store(as, BPF_DW, R10, left, R0);
		path_emit_value(as, style, path->right);
		ebpf_mov(as, R2, R0);
		ebpf_load(as, BPF_DW, R0, R10, left);
	}
	ebpf_mov(as, R1, R0);
	ebpf_stack_release(as, mark);
	walk_emit(as, style, path, field);
	ebpf_bind(as, none);
}

/* The string where style leaves, if it looks into memory of the user. */
static void emit_text(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      const struct event_field *field)
{
	if (walk_is(path->op)) {
		emit_walk(as, style, path, field);
		return;
	}
	switch (path->op) {
	case SOURCE_CONST:
		ebpf_mov_imm(as, R0, 0);
		break;
	case SOURCE_ACCESS:
	case SOURCE_CAST:
		emit_chars(as, style, path, field);
		break;
	case SOURCE_KSTR:
		path_emit_value(as, style, path->left);
		ebpf_mov(as, R3, R0);
		read_string(as, BPF_FUNC_probe_read_kernel_str, field, UINT32_MAX);
		break;
	case SOURCE_USTR:
		emit_user_string(as, style, path, field);
		break;
	case SOURCE_CTXSTR:
		ebpf_mov(as, R3, SOURCE_REG_CONTEXT);
		path_add_offset(as, R3, (uint32_t)path->value);
		read_string(as, BPF_FUNC_probe_read_kernel_str, field, path->bytes);
		break;
	case SOURCE_CTXLOC:
		emit_data_loc(as, path);
		read_string(as, BPF_FUNC_probe_read_kernel_str, field, UINT32_MAX);
		break;
	default:
		ebpf_asm_fail(as, -EINVAL);
	}
}

void path_emit_string(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      const struct event_field *field)
{
	bool marks = path_reads_user(path) ? !style->leaves : walk_is(path->op) && !style->tells;
	struct source_style inner = *style;
	uint32_t good;

	if (!style->lean)
		zero(as, field->offset, field->bytes);
	if (!marks) {
		emit_text(as, style, path, field);
		return;
	}
	good = ebpf_label(as);
	inner.leaves = true;
	inner.unread = ebpf_label(as);
	emit_text(as, &inner, path, field);
	ebpf_jump(as, good);
	ebpf_bind(as, inner.unread);
	ebpf_store_imm(as, BPF_B, SOURCE_REG_RECORD, (int32_t)(field->offset + field->bytes - 1), EVENT_UNREAD);
	ebpf_mov_imm(as, R0, 0);
	ebpf_bind(as, good);
}

void path_emit_text(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		    const struct event_field *field)
{
	struct source_style lean = *style;
	uint32_t good = ebpf_label(as), bad = ebpf_label(as);

	lean.lean = true;
	path_emit_string(as, &lean, path, field);
	/* What is good goes on first: where the verifier has followed any length it need not follow 1 again. */
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, bad); /* also where a pointer was null, or reading failed: */
	ebpf_jump_if_imm(as, BPF_JGT, R0, (int32_t)field->bytes, bad);
	ebpf_jump(as, good);
	ebpf_bind(as, bad);
	ebpf_store_imm(as, BPF_B, SOURCE_REG_RECORD, (int32_t)field->offset, 0);
	ebpf_mov_imm(as, R0, 1);
	ebpf_bind(as, good);
}

_Static_assert(SOURCE_LENGTH_MAX % (PIECE_BYTES - 1) == 0, "pieces add up to the longest string");

/* What is kept while pieces are read, as offsets in the stack. */
struct measuring {
	int16_t piece, at, total;
	uint32_t done, bad;
	int32_t helper;
};

/* The longest that the string can be, without a NUL. */
static uint32_t longest(const struct source_node *text)
{
	uint32_t bytes = text->op == SOURCE_USTR ? text->bytes : 0;

	if (text->op == SOURCE_ACCESS || text->op == SOURCE_CAST)
		bytes = text->access.bytes ? text->access.bytes - 1 : 0;
	return bytes && bytes < SOURCE_LENGTH_MAX ? bytes : SOURCE_LENGTH_MAX;
}

/* Adds a piece of so many bytes with its NUL; goes to done where the string ends in it. */
static void add_string_piece(struct ebpf_asm *as, const struct measuring *measuring, uint32_t bytes)
{
	ebpf_address(as, R1, R10, measuring->piece);
	ebpf_mov_imm(as, R2, bytes);
	ebpf_load(as, BPF_DW, R3, R10, measuring->at);
	ebpf_call(as, measuring->helper);
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, measuring->bad);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, measuring->done); /* older kernels of an empty string of the user's */
	ebpf_load(as, BPF_DW, R1, R10, measuring->total);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_alu_imm(as, BPF_ADD, R1, -1);
	ebpf_store(as, BPF_DW, R10, measuring->total, R1);
	ebpf_jump_if_imm(as, BPF_JLT, R0, (int32_t)bytes, measuring->done);
	ebpf_load(as, BPF_DW, R1, R10, measuring->at);
	ebpf_alu_imm(as, BPF_ADD, R1, (int32_t)bytes - 1);
	ebpf_store(as, BPF_DW, R10, measuring->at, R1);
}

/* r0 = the address of the string, or 0. */
static void find_string_address(struct ebpf_asm *as, const struct source_style *style, const struct source_node *text)
{
	uint32_t null = ebpf_label(as);

	if (text->op == SOURCE_USTR || text->op == SOURCE_KSTR) {
		path_emit_value(as, style, text->left);
		return;
	}
	path_load_pointers(as, style, text, null);
	path_make_number(as);
	path_add_offset(as, R0, text->access.spot.offset);
	path_end_pointers(as, text, null);
}

void path_emit_length(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path)
{
	const struct source_node *text = path->left;
	bool is_user = text->op == SOURCE_USTR;
	uint32_t mark = ebpf_stack_mark(as), end = ebpf_label(as);
	struct measuring measuring = {
		.piece = ebpf_stack_take(as, PIECE_ROOM),
		.at = ebpf_stack_take(as, WORD),
		.total = ebpf_stack_take(as, WORD),
		.done = ebpf_label(as),
		.bad = ebpf_label(as),
		.helper = is_user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str,
	};

	find_string_address(as, style, text);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
	ebpf_store(as, BPF_DW, R10, measuring.at, R0);
	ebpf_store_imm(as, BPF_DW, R10, measuring.total, 0);
	for (uint32_t left = longest(text), bytes; left > 0; left -= bytes - 1) {
		bytes = left < PIECE_BYTES - 1 ? left + 1 : PIECE_BYTES;
		add_string_piece(as, &measuring, bytes);
	}
	ebpf_jump(as, measuring.done);
	ebpf_bind(as, measuring.bad);
	if (is_user && style->leaves)
		ebpf_jump(as, style->unread);
	ebpf_bind(as, measuring.done);
	ebpf_load(as, BPF_DW, R0, R10, measuring.total);
	ebpf_bind(as, end);
	ebpf_stack_release(as, mark);
}
