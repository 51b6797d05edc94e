// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects instructions: every function has its own buffer, so functions may be written while another is half done.
 * Invariant: after an error nothing is added any more, and all indices stay valid.
 */

#include "ebpf/asm/asm-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ebpf_asm *ebpf_asm_new(void)
{
	struct ebpf_asm *as = alloc_zero(1, sizeof *as);

	if (!as)
		return NULL;
	as->arena = arena_new();
	if (!as->arena) {
		alloc_free(as);
		return NULL;
	}
	as->nest[0] = ebpf_asm_function(as, "main");
	as->depth = 1;
	return as;
}

void ebpf_asm_free(struct ebpf_asm *as)
{
	if (!as)
		return;
	for (size_t i = 0; i < as->function_count; i++) {
		alloc_free(as->functions[i].insns);
		alloc_free(as->functions[i].fixups);
		alloc_free(as->functions[i].notes);
	}
	alloc_free(as->functions);
	alloc_free(as->labels);
	arena_free(as->arena);
	alloc_free(as);
}

int ebpf_asm_error(const struct ebpf_asm *as)
{
	return as->error;
}

void ebpf_asm_fail(struct ebpf_asm *as, int error)
{
	if (!as->error)
		as->error = error;
}

size_t ebpf_asm_count(const struct ebpf_asm *as)
{
	size_t count = 0;

	for (size_t i = 0; i < as->function_count; i++)
		count += as->functions[i].insn_count;
	return count;
}

static struct asm_function *current(struct ebpf_asm *as)
{
	return &as->functions[as->nest[as->depth - 1]];
}

/* Makes room for one more item in a vector of the assembler; false once anything has failed. */
static bool room(struct ebpf_asm *as, void *items, size_t *capacity, size_t count, size_t size)
{
	if (!as->error && alloc_grow(items, capacity, count, size))
		as->error = -ENOMEM;
	return !as->error;
}

uint32_t ebpf_asm_function(struct ebpf_asm *as, const char *name)
{
	if (!room(as, &as->functions, &as->function_capacity, as->function_count, sizeof *as->functions))
		return 0;
	struct asm_function *function = &as->functions[as->function_count];

	*function = (struct asm_function){ 0 };
	snprintf(function->name, sizeof function->name, "%s", name);
	return (uint32_t)as->function_count++;
}

uint32_t ebpf_asm_global(struct ebpf_asm *as, const char *name, uint32_t numbers)
{
	uint32_t function = ebpf_asm_function(as, name);

	if (!as->error) {
		as->functions[function].is_global = true;
		as->functions[function].numbers = numbers;
	}
	return function;
}

void ebpf_asm_takes_bytes(struct ebpf_asm *as, uint32_t function, uint32_t parameter, uint32_t bytes)
{
	if (as->error)
		return;
	if (function >= as->function_count || parameter >= as->functions[function].numbers) {
		as->error = -EINVAL;
		return;
	}
	as->functions[function].bytes[parameter] = bytes;
}

bool ebpf_asm_find(const struct ebpf_asm *as, const char *name, uint32_t *function)
{
	for (size_t i = 0; i < as->function_count; i++) {
		if (strcmp(as->functions[i].name, name) != 0)
			continue;
		*function = (uint32_t)i;
		return true;
	}
	return false;
}

void ebpf_asm_enter(struct ebpf_asm *as, uint32_t function)
{
	if (as->error)
		return;
	if (as->depth == ASM_NEST_MAX || function >= as->function_count) {
		as->error = -EINVAL;
		return;
	}
	as->nest[as->depth++] = function;
}

void ebpf_asm_leave(struct ebpf_asm *as)
{
	if (as->error)
		return;
	if (as->depth == 1)
		as->error = -EINVAL;
	else
		as->depth--;
}

uint32_t ebpf_label(struct ebpf_asm *as)
{
	if (!room(as, &as->labels, &as->label_capacity, as->label_count, sizeof *as->labels))
		return 0;
	as->labels[as->label_count] = (struct asm_label){ .function = as->nest[as->depth - 1], .insn = ASM_UNBOUND };
	return (uint32_t)as->label_count++;
}

/* The label if it belongs to the current function. */
static struct asm_label *label_get(struct ebpf_asm *as, uint32_t label)
{
	if (as->error)
		return NULL;
	if (label >= as->label_count || as->labels[label].function != as->nest[as->depth - 1]) {
		as->error = -EINVAL;
		return NULL;
	}
	return &as->labels[label];
}

void ebpf_bind(struct ebpf_asm *as, uint32_t label)
{
	struct asm_label *bound = label_get(as, label);

	if (!bound)
		return;
	if (bound->insn != ASM_UNBOUND)
		as->error = -EINVAL;
	else
		bound->insn = (int64_t)current(as)->insn_count;
}

void ebpf_note(struct ebpf_asm *as, const char *format, ...)
{
	char text[ASM_NOTE_BYTES];
	va_list args;

	if (as->error)
		return;
	struct asm_function *function = current(as);

	va_start(args, format);
	int length = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (length < 0)
		return;
	for (char *byte = text; *byte; byte++) /* the verifier takes printable text only */
		if ((unsigned char)*byte < ' ' || (unsigned char)*byte > '~')
			*byte = ' ';
	const char *copy = arena_text(as->arena, text, strlen(text));

	if (!copy) {
		as->error = -ENOMEM;
		return;
	}
	if (function->note_count && function->notes[function->note_count - 1].insn == function->insn_count)
		function->note_count--;
	if (room(as, &function->notes, &function->note_capacity, function->note_count, sizeof *function->notes))
		function->notes[function->note_count++] =
			(struct asm_note){ .insn = (uint32_t)function->insn_count, .text = copy };
}

int16_t ebpf_stack_take(struct ebpf_asm *as, uint32_t bytes)
{
	struct asm_function *function;

	if (as->error)
		return -8;
	function = current(as);
	if (bytes > EBPF_STACK_MAX || function->stack_bytes + (bytes + 7) / 8 * 8 > EBPF_STACK_MAX) {
		as->error = -E2BIG;
		return -8;
	}
	function->stack_bytes += (bytes + 7) / 8 * 8;
	if (function->stack_bytes > function->stack_most)
		function->stack_most = function->stack_bytes;
	return (int16_t) - (int32_t)function->stack_bytes;
}

uint32_t ebpf_stack_mark(const struct ebpf_asm *as)
{
	return as->error ? 0 : as->functions[as->nest[as->depth - 1]].stack_bytes;
}

void ebpf_stack_release(struct ebpf_asm *as, uint32_t mark)
{
	if (!as->error)
		current(as)->stack_bytes = mark;
}

void ebpf_emit(struct ebpf_asm *as, struct bpf_insn insn)
{
	struct asm_function *function;

	if (as->error)
		return;
	function = current(as);
	if (room(as, &function->insns, &function->insn_capacity, function->insn_count, sizeof insn))
		function->insns[function->insn_count++] = insn;
}

static void emit_fixup(struct ebpf_asm *as, struct bpf_insn insn, enum asm_fixup_kind kind, uint32_t target)
{
	if (as->error)
		return;
	struct asm_function *function = current(as);

	if (!room(as, &function->fixups, &function->fixup_capacity, function->fixup_count, sizeof *function->fixups))
		return;
	function->fixups[function->fixup_count++] =
		(struct asm_fixup){ .insn = (uint32_t)function->insn_count, .kind = kind, .target = target };
	ebpf_emit(as, insn);
}

static void emit_wide(struct ebpf_asm *as, uint8_t dst, uint8_t pseudo, uint64_t imm)
{
	ebpf_emit(as, (struct bpf_insn){ .code = BPF_LD | BPF_IMM | BPF_DW,
					 .dst_reg = dst,
					 .src_reg = pseudo,
					 .imm = (int32_t)(uint32_t)imm });
	ebpf_emit(as, (struct bpf_insn){ .imm = (int32_t)(uint32_t)(imm >> 32) });
}

void ebpf_mov(struct ebpf_asm *as, uint8_t dst, uint8_t src)
{
	if (dst != src)
		ebpf_emit(as, insn_alu(BPF_MOV, dst, src));
}

void ebpf_mov_imm(struct ebpf_asm *as, uint8_t dst, uint64_t imm)
{
	if ((uint64_t)(int64_t)(int32_t)imm == imm)
		ebpf_emit(as, insn_alu_imm(BPF_MOV, dst, (int32_t)imm));
	else if (imm <= UINT32_MAX)
		ebpf_emit(as, insn_alu32_imm(BPF_MOV, dst, (int32_t)(uint32_t)imm));
	else
		emit_wide(as, dst, 0, imm);
}

void ebpf_alu(struct ebpf_asm *as, uint8_t op, uint8_t dst, uint8_t src)
{
	ebpf_emit(as, insn_alu(op, dst, src));
}

void ebpf_alu_imm(struct ebpf_asm *as, uint8_t op, uint8_t dst, int32_t imm)
{
	ebpf_emit(as, insn_alu_imm(op, dst, imm));
}

void ebpf_address(struct ebpf_asm *as, uint8_t dst, uint8_t base, int32_t off)
{
	ebpf_mov(as, dst, base);
	ebpf_alu_imm(as, BPF_ADD, dst, off);
}

/* Offsets are 16 bits wide in an instruction; none of ours ever needs more. */
static int16_t narrow_offset(struct ebpf_asm *as, int32_t off)
{
	if (off < INT16_MIN || off > INT16_MAX)
		ebpf_asm_fail(as, -E2BIG);
	return (int16_t)off;
}

void ebpf_load(struct ebpf_asm *as, uint8_t width, uint8_t dst, uint8_t src, int32_t off)
{
	ebpf_emit(as, insn_load(width, dst, src, narrow_offset(as, off)));
}

void ebpf_store(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, uint8_t src)
{
	ebpf_emit(as, insn_store(width, dst, narrow_offset(as, off), src));
}

void ebpf_store_imm(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, int32_t imm)
{
	ebpf_emit(as, insn_store_imm(width, dst, narrow_offset(as, off), imm));
}

void ebpf_atomic_add(struct ebpf_asm *as, uint8_t dst, int32_t off, uint8_t src)
{
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD, dst, narrow_offset(as, off), src));
}

void ebpf_atomic_or(struct ebpf_asm *as, uint8_t dst, int32_t off, uint8_t src)
{
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_OR, dst, narrow_offset(as, off), src));
}

void ebpf_atomic_exchange_if(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, uint8_t src)
{
	ebpf_emit(as, insn_atomic(width, BPF_CMPXCHG, dst, narrow_offset(as, off), src));
}

void ebpf_jump(struct ebpf_asm *as, uint32_t label)
{
	if (label_get(as, label))
		emit_fixup(as, (struct bpf_insn){ .code = BPF_JMP | BPF_JA }, ASM_JUMP, label);
}

void ebpf_jump_if(struct ebpf_asm *as, uint8_t op, uint8_t dst, uint8_t src, uint32_t label)
{
	if (label_get(as, label))
		emit_fixup(as, insn_jump(op, dst, src), ASM_JUMP, label);
}

void ebpf_jump_if_imm(struct ebpf_asm *as, uint8_t op, uint8_t dst, int32_t imm, uint32_t label)
{
	if (label_get(as, label))
		emit_fixup(as, insn_jump_imm(op, dst, imm), ASM_JUMP, label);
}

void ebpf_call(struct ebpf_asm *as, int32_t helper)
{
	ebpf_emit(as, insn_call(0, helper));
}

/* Some kernels, 6.1 among them, write nothing behind the NUL. */
void ebpf_call_comm(struct ebpf_asm *as, uint8_t base, int32_t off)
{
	enum { WORD = 8, BYTES = 2 * WORD };

	ebpf_store_imm(as, BPF_DW, base, off, 0);
	ebpf_store_imm(as, BPF_DW, base, off + WORD, 0);
	ebpf_address(as, BPF_REG_1, base, off);
	ebpf_mov_imm(as, BPF_REG_2, BYTES);
	ebpf_call(as, BPF_FUNC_get_current_comm);
}

void ebpf_call_kernel(struct ebpf_asm *as, int32_t btf_id)
{
	ebpf_emit(as, insn_call(BPF_PSEUDO_KFUNC_CALL, btf_id));
}

void ebpf_call_function(struct ebpf_asm *as, uint32_t function)
{
	emit_fixup(as, insn_call(BPF_PSEUDO_CALL, 0), ASM_CALL, function);
}

void ebpf_exit(struct ebpf_asm *as)
{
	ebpf_emit(as, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

void ebpf_return(struct ebpf_asm *as, uint64_t value)
{
	ebpf_mov_imm(as, BPF_REG_0, value);
	ebpf_exit(as);
}

void ebpf_return_0_or_1(struct ebpf_asm *as, uint32_t one)
{
	ebpf_return(as, 0);
	ebpf_bind(as, one);
	ebpf_return(as, 1);
}

void ebpf_load_map(struct ebpf_asm *as, uint8_t dst, int fd)
{
	emit_wide(as, dst, BPF_PSEUDO_MAP_FD, (uint32_t)fd);
}

void ebpf_load_value(struct ebpf_asm *as, uint8_t dst, int fd, uint32_t off)
{
	emit_wide(as, dst, BPF_PSEUDO_MAP_VALUE, (uint32_t)fd | (uint64_t)off << 32);
}

void ebpf_load_variable(struct ebpf_asm *as, uint8_t dst, uint32_t btf_id)
{
	emit_wide(as, dst, BPF_PSEUDO_BTF_ID, btf_id);
}

void ebpf_load_function(struct ebpf_asm *as, uint8_t dst, uint32_t function)
{
	struct bpf_insn insn = { .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = dst, .src_reg = BPF_PSEUDO_FUNC };

	emit_fixup(as, insn, ASM_CALL, function);
	ebpf_emit(as, (struct bpf_insn){ 0 });
}
