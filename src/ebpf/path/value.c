// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that fetches a value. The result of everything is in r0. A plain load is taken wherever the verifier
 * is known to accept it; behind everything else stands bpf_probe_read_kernel. A pointer that is null or cannot be read
 * gives 0.
 */

#include "ebpf/path/value-priv.h"

#include "ebpf/path/memo.h"
#include "ebpf/path/walk.h"

#include <errno.h>

enum { VALUE_WORD = 8 };

void path_add_offset(struct ebpf_asm *as, uint8_t reg, uint32_t offset)
{
	if (offset)
		ebpf_alu_imm(as, BPF_ADD, reg, (int32_t)offset);
}

/* Two negations change nothing. */
void path_make_number(struct ebpf_asm *as)
{
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R0, 0));
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R0, 0));
}

/* Calls helper to read the bytes at r3 to slot on the stack, which is zero where they cannot be read. */
static void read_to_slot(struct ebpf_asm *as, int32_t helper, uint32_t bytes, int16_t slot)
{
	ebpf_store_imm(as, BPF_DW, R10, slot, 0);
	ebpf_address(as, R1, R10, slot);
	ebpf_mov_imm(as, R2, bytes);
	ebpf_call(as, helper);
}

/* r0 = the bytes at r3 in the kernel's memory, zero-extended; 0 where they cannot be read. */
static void read_kernel(struct ebpf_asm *as, uint32_t bytes)
{
	uint32_t mark = ebpf_stack_mark(as);
	int16_t slot = ebpf_stack_take(as, VALUE_WORD);

	read_to_slot(as, BPF_FUNC_probe_read_kernel, bytes, slot);
	ebpf_load(as, BPF_DW, R0, R10, slot);
	ebpf_stack_release(as, mark);
}

static bool is_known(const struct source_style *style, enum source_knowledge knowledge)
{
	return knowledge == SOURCE_KNOWN || (knowledge == SOURCE_ARGUMENT && !style->cast && !style->detached);
}

/* Whether a plain load of spot will do. */
static bool is_plain(const struct source_style *style, const struct btf_spot *spot, enum source_knowledge knowledge)
{
	return !style->cautious && spot->is_plain && spot->pointee && (style->cast || is_known(style, knowledge));
}

/*
 * Makes the verifier know that r0 points to what spot says, and returns whether it now does, so that plain loads work.
 * Arguments of a tracepoint are cast although their type is known: to the verifier they are valid pointers, but some
 * tracepoints pass NULL or small numbers, and only loads through a cast pointer (or on kernels that lack the cast,
 * through any) survive that.
 */
bool path_make_plain(struct ebpf_asm *as, const struct source_style *style, const struct btf_spot *spot,
		     enum source_knowledge knowledge)
{
	if (!is_plain(style, spot, knowledge))
		return false;
	if (is_known(style, knowledge))
		return true;
	ebpf_mov(as, R1, R0);
	ebpf_mov_imm(as, R2, spot->pointee);
	ebpf_call_kernel(as, (int32_t)style->cast);
	return true;
}

/* r0 = the bytes at spot from pointer r0. Returns what the verifier knows about them if they are a pointer. */
static enum source_knowledge load_spot(struct ebpf_asm *as, const struct source_style *style,
				       const struct btf_spot *spot, uint32_t bytes, enum source_knowledge knowledge)
{
	if (path_make_plain(as, style, spot, knowledge)) {
		ebpf_load(as, ebpf_width(bytes), R0, R0, (int32_t)spot->offset);
		return SOURCE_KNOWN;
	}
	ebpf_mov(as, R3, R0);
	path_add_offset(as, R3, spot->offset);
	read_kernel(as, bytes);
	return SOURCE_UNKNOWN;
}

/*
 * Whether some load of the access gives a pointer. Of each that a trusted pointer leads to, the verifier looks through
 * all names of kernel types to find out whether it can be trusted as well (since 6.3), which takes it milliseconds.
 */
static bool loads_pointer(const struct btf_access *access)
{
	return access->pointer_count || (access->end == BTF_END_LOAD && access->is_pointer);
}

/* r0 = what the access starts at. */
static enum source_knowledge load_start(struct ebpf_asm *as, const struct source_style *style,
					const struct source_node *node)
{
	if (node->is_current) {
		if (style->task)
			ebpf_mov(as, R0, R7);
		else
			ebpf_call(as, BPF_FUNC_get_current_task_btf);
		return style->cast && loads_pointer(&node->access) ? SOURCE_UNKNOWN : SOURCE_KNOWN;
	}
	if (node->op == SOURCE_CAST) {
		path_emit_value(as, style, node->left);
		return SOURCE_UNKNOWN;
	}
	if (node->by_helper) {
		ebpf_mov(as, R3, SOURCE_REG_CONTEXT);
		path_add_offset(as, R3, node->argument * VALUE_WORD);
		read_kernel(as, VALUE_WORD);
		return SOURCE_UNKNOWN;
	}
	ebpf_load(as, BPF_DW, R0, SOURCE_REG_CONTEXT, (int32_t)(node->argument * VALUE_WORD));
	return SOURCE_ARGUMENT;
}

/* What starts at the current task does not start at null. */
static bool may_be_null(const struct source_node *node, uint32_t pointer)
{
	return pointer > 0 || !node->is_current;
}

/*
 * Whether null must be told apart before spot is loaded. A plain load gives 0 for it by itself; but where an argument
 * may be null, as that of sched_pi_setprio, verifiers of 6.15 and later know it and refuse the load. The registers of a
 * system call are always there: the verifier would take out test and branch, at the cost of moving what is behind.
 */
static bool asks_null(const struct source_style *style, const struct source_node *node, const struct btf_spot *spot,
		      enum source_knowledge knowledge)
{
	if (knowledge == SOURCE_ARGUMENT && !style->detached)
		return !node->is_registers;
	return !is_plain(style, spot, knowledge);
}

/* Puts r0, which so many pointers of the access lead to, into the slot of the chain: as a number. Overwrites r1. */
static void keep_pointer(struct ebpf_asm *as, struct path_memo_chain *chain, const struct source_node *node,
			 uint32_t length)
{
	ebpf_mov(as, R1, R0);
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R1, 0));
	ebpf_emit(as, insn_alu_imm(BPF_NEG, R1, 0));
	ebpf_store(as, BPF_DW, R10, chain->slot, R1);
	chain->last = node;
	chain->length = length;
}

/* r0 = the last pointer of the access; goes to null where there is none. */
enum source_knowledge path_load_pointers(struct ebpf_asm *as, const struct source_style *style,
					 const struct source_node *node, uint32_t null)
{
	const struct btf_access *access = &node->access;
	enum source_knowledge knowledge = SOURCE_UNKNOWN;
	uint32_t keep;
	struct path_memo_chain *chain = path_memo_chain(style->memo, node, &keep);
	uint32_t first = path_memo_have(chain, node);

	if (first)
		ebpf_load(as, BPF_DW, R0, R10, chain->slot);
	else
		knowledge = load_start(as, style, node);
	if (chain && style->memo->conditions)
		keep = 0;
	if (keep > first) /* stays so where a pointer on the way is null */
		ebpf_store_imm(as, BPF_DW, R10, chain->slot, 0);
	for (uint32_t i = first; i < access->pointer_count; i++) {
		if (may_be_null(node, i) && asks_null(style, node, &access->pointers[i], knowledge))
			ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, null);
		knowledge = load_spot(as, style, &access->pointers[i], VALUE_WORD, knowledge);
		if (keep > first && i + 1 == keep)
			keep_pointer(as, chain, node, keep);
	}
	if (access->end != BTF_END_SELF && may_be_null(node, access->pointer_count) &&
	    (access->end != BTF_END_LOAD || asks_null(style, node, &access->spot, knowledge)))
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, null);
	return knowledge;
}

/*
 * Where it is null, r0 becomes the number 0. That stands behind the rest: the verifier goes on first where a condition
 * does not hold, and having met any number at what follows it does not look there once more with a 0.
 */
void path_end_pointers(struct ebpf_asm *as, const struct source_node *node, uint32_t null)
{
	uint32_t last = node->access.pointer_count, end = ebpf_label(as);

	if (!(last > 1 || (last > 0 && may_be_null(node, 0)) ||
	      (node->access.end != BTF_END_SELF && may_be_null(node, last))))
		return;
	ebpf_jump(as, end);
	ebpf_bind(as, null);
	ebpf_mov_imm(as, R0, 0);
	ebpf_bind(as, end);
}

static void extend(struct ebpf_asm *as, uint32_t bits, bool is_signed)
{
	if (bits >= 64)
		return;
	if (bits == 32 && !is_signed) {
		ebpf_emit(as, insn_alu32(BPF_MOV, R0, R0));
		return;
	}
	if (bits < 32 && !is_signed) {
		ebpf_alu_imm(as, BPF_AND, R0, (int32_t)((1u << bits) - 1));
		return;
	}
	ebpf_alu_imm(as, BPF_LSH, R0, (int32_t)(64 - bits));
	ebpf_alu_imm(as, is_signed ? BPF_ARSH : BPF_RSH, R0, (int32_t)(64 - bits));
}

/* What an integer is before it is extended to 64 bits. */
struct width {
	uint32_t bytes;
	bool is_signed;
};

/* Whether r0 = the part, as it was computed before. */
static bool load_part(struct ebpf_asm *as, const struct path_memo_part *part)
{
	if (!part || !part->is_there)
		return false;
	ebpf_load(as, BPF_DW, R0, R10, part->slot);
	return true;
}

/* Keeps r0, where it is a part. */
static void store_part(struct ebpf_asm *as, const struct source_style *style, struct path_memo_part *part)
{
	if (!part || style->memo->conditions)
		return;
	ebpf_store(as, BPF_DW, R10, part->slot, R0);
	part->is_there = true;
}

static void emit_kernel_word(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	struct path_memo_part *part = path_memo_part(style->memo, node);

	if (load_part(as, part))
		return;
	path_emit_value(as, style, node->left);
	ebpf_mov(as, R3, R0);
	read_kernel(as, VALUE_WORD);
	store_part(as, style, part);
}

static void emit_access(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	const struct btf_access *access = &node->access;
	struct path_memo_part *part = path_memo_part(style->memo, node);
	uint32_t null = ebpf_label(as);

	if (style->known && path_same(node, style->known)) {
		ebpf_load(as, BPF_DW, R0, R10, style->known_slot);
		return;
	}
	if (load_part(as, part))
		return;
	enum source_knowledge knowledge = path_load_pointers(as, style, node, null);

	switch (access->end) {
	case BTF_END_SELF:
		if (access->is_pointer)
			path_make_number(as);
		break;
	case BTF_END_LOAD:
		load_spot(as, style, &access->spot, access->bytes, knowledge);
		if (access->is_pointer)
			path_make_number(as);
		break;
	default:
		path_make_number(as);
		path_add_offset(as, R0, access->spot.offset);
	}
	if (access->bits) {
		if (access->shift)
			ebpf_alu_imm(as, BPF_RSH, R0, access->shift);
		extend(as, access->bits, access->is_signed);
	}
	path_end_pointers(as, node, null);
	store_part(as, style, part);
}

static void emit_cookie(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	if (style->known && path_same(node, style->known)) {
		ebpf_load(as, BPF_DW, R0, R10, style->known_slot);
		return;
	}
	ebpf_mov(as, R1, SOURCE_REG_CONTEXT);
	ebpf_call(as, BPF_FUNC_get_attach_cookie);
}

/* As path_emit_value, but what is above the returned width is still as it was loaded. */
static struct width emit_narrow(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path)
{
	const struct btf_access *access = &path->access;

	if ((path->op != SOURCE_ACCESS && path->op != SOURCE_CAST) || access->bits || access->is_pointer ||
	    access->end > BTF_END_LOAD) {
		path_emit_value(as, style, path);
		return (struct width){ VALUE_WORD, true };
	}
	emit_access(as, style, path);
	return (struct width){ access->bytes, access->is_signed };
}

static const uint8_t codes[] = {
	[SOURCE_AND] = BPF_AND, [SOURCE_OR] = BPF_OR,   [SOURCE_SHL] = BPF_LSH, [SOURCE_SHR] = BPF_RSH,
	[SOURCE_ADD] = BPF_ADD, [SOURCE_SUB] = BPF_SUB, [SOURCE_MUL] = BPF_MUL,
};

static bool is_immediate(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

/* r0 = left, r1 = right; or only r0 where right is a small constant. */
static bool emit_operands(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	if (node->right->op == SOURCE_CONST) {
		path_emit_value(as, style, node->left);
		if (is_immediate(node->right->value))
			return true;
		ebpf_mov_imm(as, R1, (uint64_t)node->right->value);
		return false;
	}
	path_emit_value(as, style, node->left);
	uint32_t mark = ebpf_stack_mark(as);
	int16_t slot = ebpf_stack_take(as, VALUE_WORD);

	ebpf_store(as, BPF_DW, R10, slot, R0);
	path_emit_value(as, style, node->right);
	ebpf_mov(as, R1, R0);
	ebpf_load(as, BPF_DW, R0, R10, slot);
	ebpf_stack_release(as, mark);
	return false;
}

/* left * right, where right is not looked at if left is 0: what it reads need not be there then. */
static void emit_product(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	uint32_t mark = ebpf_stack_mark(as), none = ebpf_label(as);
	int16_t slot = ebpf_stack_take(as, VALUE_WORD);

	path_emit_value(as, style, node->left);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_store(as, BPF_DW, R10, slot, R0);
	if (style->memo)
		style->memo->conditions++;
	path_emit_value(as, style, node->right);
	if (style->memo)
		style->memo->conditions--;
	ebpf_load(as, BPF_DW, R1, R10, slot);
	ebpf_alu(as, BPF_MUL, R0, R1);
	ebpf_bind(as, none);
	ebpf_stack_release(as, mark);
}

static void emit_arithmetic(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	if (node->op == SOURCE_MUL && path_reads_user(node->right)) {
		emit_product(as, style, node);
		return;
	}
	bool immediate = emit_operands(as, style, node), is_shift = node->op == SOURCE_SHL || node->op == SOURCE_SHR;
	uint8_t op = codes[node->op];

	if (immediate) {
		int32_t value = (int32_t)node->right->value;

		ebpf_alu_imm(as, op, R0, is_shift ? value & 63 : value);
		return;
	}
	if (is_shift)
		ebpf_alu_imm(as, BPF_AND, R1, 63);
	ebpf_alu(as, op, R0, R1);
}

/* Goes on at good if the address that path gives is 0: nothing is there to be read. Overwrites r0-r5. */
void path_forgive_null(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		       uint32_t good)
{
	path_emit_value(as, style, path);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, good);
}

/* r0 = the 8 bytes at the user's address that path->left gives, or as many as path says, extended. */
static void emit_user_word(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path)
{
	uint32_t mark = ebpf_stack_mark(as), good = ebpf_label(as);
	int16_t slot = ebpf_stack_take(as, VALUE_WORD);
	uint32_t bytes = path->bytes ? path->bytes : VALUE_WORD;
	struct path_memo_part *part = path_memo_part(style->memo, path);

	if (load_part(as, part)) {
		ebpf_bind(as, good);
		ebpf_stack_release(as, mark);
		return;
	}
	path_emit_value(as, style, path->left);
	ebpf_mov(as, R3, R0);
	read_to_slot(as, BPF_FUNC_probe_read_user, bytes, slot);
	if (style->leaves) {
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, good);
		path_forgive_null(as, style, path->left, good);
		ebpf_jump(as, style->unread);
	}
	ebpf_bind(as, good);
	ebpf_load(as, ebpf_width(bytes), R0, R10, slot);
	if (path->is_signed)
		extend(as, bytes * 8, true);
	store_part(as, style, part);
	ebpf_stack_release(as, mark);
}

static void emit_comparison(struct ebpf_asm *as, const struct source_style *style, const struct source_node *node)
{
	if (emit_operands(as, style, node))
		ebpf_mov_imm(as, R1, (uint64_t)node->right->value);
	path_compare(as, node->op);
}

/* r0 = the integer at an offset of a tracefs record. Packed records are read in pieces that the verifier takes. */
static void emit_ctx(struct ebpf_asm *as, const struct source_node *node)
{
	bool aligned = node->value % node->bytes == 0;

	if (aligned) {
		ebpf_load(as, ebpf_width(node->bytes), R0, SOURCE_REG_CONTEXT, (int32_t)node->value);
	} else {
		ebpf_mov(as, R3, SOURCE_REG_CONTEXT);
		path_add_offset(as, R3, (uint32_t)node->value);
		read_kernel(as, node->bytes);
	}
	if (node->op == SOURCE_CTXS)
		extend(as, node->bytes * 8, true);
}

bool path_reads_user(const struct source_node *path)
{
	if (!path)
		return false;
	return path->op == SOURCE_USTR || path->op == SOURCE_USER_WORD || path->op == SOURCE_USER_CALLER ||
	       path->op == SOURCE_USDT_ARG || path->op == SOURCE_USER_SOCKADDR || path_reads_user(path->left) ||
	       path_reads_user(path->right);
}

bool path_may_fail(const struct source_node *path)
{
	return path_reads_user(path) || (path && walk_is(path->op));
}

void path_emit_value(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path)
{
	switch (path->op) {
	case SOURCE_CONST:
		ebpf_mov_imm(as, R0, (uint64_t)path->value);
		break;
	case SOURCE_ACCESS:
	case SOURCE_CAST:
		emit_access(as, style, path);
		if (!path->access.bits && !path->access.is_pointer && path->access.end <= BTF_END_LOAD &&
		    (path->access.is_signed || path->access.end == BTF_END_SELF))
			extend(as, path->access.bytes * 8, path->access.is_signed);
		break;
	case SOURCE_BE16:
	case SOURCE_BE32:
	case SOURCE_BE64:
		path_emit_value(as, style, path->left);
		ebpf_emit(as, insn_big_endian(R0, 16 << (path->op - SOURCE_BE16)));
		break;
	case SOURCE_USER_WORD:
		emit_user_word(as, style, path);
		break;
	case SOURCE_KERNEL_WORD:
		emit_kernel_word(as, style, path);
		break;
	case SOURCE_LENGTH:
		path_emit_length(as, style, path);
		break;
	case SOURCE_CTX:
	case SOURCE_CTXS:
		emit_ctx(as, path);
		break;
	case SOURCE_COOKIE:
		emit_cookie(as, style, path);
		break;
	default:
		if (path->op >= SOURCE_AND && path->op <= SOURCE_MUL)
			emit_arithmetic(as, style, path);
		else if (path->op >= SOURCE_EQ && path->op <= SOURCE_GE)
			emit_comparison(as, style, path);
		else
			ebpf_asm_fail(as, -EINVAL);
	}
}

void path_emit_condition(struct ebpf_asm *as, const struct source_style *style,
			 const struct source_condition *condition, uint32_t label)
{
	static const uint8_t opposite[] = {
		[SOURCE_EQ] = BPF_JNE,  [SOURCE_NE] = BPF_JEQ,  [SOURCE_LT] = BPF_JSGE,
		[SOURCE_LE] = BPF_JSGT, [SOURCE_GT] = BPF_JSLE, [SOURCE_GE] = BPF_JSLT,
	};
	uint8_t op = opposite[condition->compare];

	path_emit_value(as, style, condition->path);
	if (is_immediate(condition->value)) {
		ebpf_jump_if_imm(as, op, R0, (int32_t)condition->value, label);
		return;
	}
	ebpf_mov_imm(as, R1, (uint64_t)condition->value);
	ebpf_jump_if(as, op, R0, R1, label);
}

static struct width width_of_value(enum event_value value)
{
	switch (value) {
	case EVENT_U8:
		return (struct width){ 1, false };
	case EVENT_U16:
		return (struct width){ 2, false };
	case EVENT_U32:
		return (struct width){ 4, false };
	case EVENT_I8:
		return (struct width){ 1, true };
	case EVENT_I16:
		return (struct width){ 2, true };
	case EVENT_I32:
		return (struct width){ 4, true };
	default:
		return (struct width){ VALUE_WORD, true };
	}
}

void path_emit_number(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      enum event_value value)
{
	struct width wanted = width_of_value(value), loaded;
	struct source_style own = *style;
	struct path_memo memo = { 0 };

	own.memo = &memo;
	path_memo_note(&memo, path);
	path_memo_begin(&memo, as, style);
	loaded = emit_narrow(as, &own, path);
	path_memo_end(&memo, as);
	if (value == EVENT_BOOL) {
		uint32_t end = ebpf_label(as);

		extend(as, loaded.bytes * 8, loaded.is_signed);
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
		ebpf_mov_imm(as, R0, 1);
		ebpf_bind(as, end);
	} else {
		/* The narrower of both decides what the value is; a wider field may still cut a sign off. */
		if (loaded.bytes < wanted.bytes)
			extend(as, loaded.bytes * 8, loaded.is_signed);
		if (loaded.bytes >= wanted.bytes || (loaded.is_signed && !wanted.is_signed))
			extend(as, wanted.bytes * 8, wanted.is_signed);
	}
}

void path_emit_field(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		     const struct event_field *field)
{
	if (field->value == EVENT_STRING) {
		path_emit_string(as, style, path, field);
		return;
	}
	path_emit_number(as, style, path, field->value);
	ebpf_store(as, BPF_DW, SOURCE_REG_RECORD, (int32_t)field->offset, R0);
}
