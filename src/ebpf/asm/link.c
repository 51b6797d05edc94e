// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links functions to a program: leaves out what control cannot reach, which the kernel refuses - functions that nothing
 * refers to and instructions behind a jump that nothing jumps to -, and jumps to the next instruction, lays the others
 * one after the other ("main" first, as the kernel wants it) and fills in distances. A conditional jump that is too far
 * becomes "if cond goto +1; goto +1; gotol target", an unconditional one gotol; this may push others out of reach, so
 * sizes are settled by iteration, which ends because jumps only ever grow.
 *
 * A function begins by writing to the deepest place of its stack. Where paths that use more of it meet others that use
 * less, Linux 6.18 follows a number back to where it is set into a state that has no such place, reports a "verifier
 * bug: stack slot" and refuses the program with EFAULT. So all states have all places.
 */

#include "ebpf/asm/asm-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { FAR_COND_EXTRA = 2, CALL_DEPTH_MAX = 64 };

static bool is_plain_jump(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_JA);
}

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Where each jump of the function leads; every label must be bound to an instruction of it. */
static int find_targets(const struct ebpf_asm *as, const struct asm_function *function, uint32_t *targets)
{
	for (size_t i = 0; i < function->fixup_count; i++) {
		const struct asm_fixup *fixup = &function->fixups[i];

		if (fixup->kind != ASM_JUMP)
			continue;
		int64_t insn = as->labels[fixup->target].insn;

		if (insn == ASM_UNBOUND || insn >= (int64_t)function->insn_count)
			return -EINVAL;
		targets[fixup->insn] = (uint32_t)insn;
	}
	return 0;
}

/* Follows control from the instruction at the top of the stack until it ends or joins what is known. */
static int follow_control(struct asm_function *function, const uint32_t *targets, uint32_t *stack, size_t *depth)
{
	for (uint32_t at = stack[--*depth];;) {
		if (at >= function->insn_count)
			return -EINVAL; /* control runs off the end */
		if (function->live[at])
			return 0;
		const struct bpf_insn *insn = &function->insns[at];
		uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

		function->live[at] = 1;
		if (is_wide(insn)) {
			function->live[at + 1] = 1;
			at += 2;
		} else if (class == BPF_JMP && op == BPF_EXIT) {
			return 0;
		} else if (is_plain_jump(insn)) {
			at = targets[at];
		} else {
			if (class == BPF_JMP && op != BPF_CALL)
				stack[(*depth)++] = targets[at];
			at++;
		}
	}
}

/*
 * Leaves out jumps to what is next anyway: the kernel would take them out one by one, and move all that is behind for
 * each. From the end, so that what is between may be such a jump, too.
 */
static void leave_out_jumps(struct asm_function *function, const uint32_t *targets)
{
	for (size_t i = function->fixup_count; i-- > 0;) {
		const struct asm_fixup *fixup = &function->fixups[i];
		uint32_t next = fixup->insn + 1;

		if (fixup->kind != ASM_JUMP || !fixup->insn || !function->live[fixup->insn] ||
		    targets[fixup->insn] < next)
			continue; /* the first instruction stays: lines of text begin there */
		while (next < targets[fixup->insn] && !function->live[next])
			next++;
		function->live[fixup->insn] = next < targets[fixup->insn];
	}
}

static int find_live(const struct ebpf_asm *as, struct asm_function *function)
{
	uint32_t *targets = alloc_zero(function->insn_count, sizeof *targets);
	uint32_t *stack = alloc_zero(function->insn_count + 1, sizeof *stack);
	size_t depth = 1;
	int error;

	function->live = alloc_zero(function->insn_count, 1);
	if (targets && stack && function->live)
		error = find_targets(as, function, targets);
	else
		error = -ENOMEM;
	while (!error && depth > 0)
		error = follow_control(function, targets, stack, &depth);
	if (!error)
		leave_out_jumps(function, targets);
	alloc_free(targets);
	alloc_free(stack);
	return error;
}

static int mark_reachable(struct ebpf_asm *as, uint32_t index, uint32_t depth)
{
	struct asm_function *function = &as->functions[index];
	int error;

	if (function->reachable)
		return 0;
	if (depth > CALL_DEPTH_MAX || function->insn_count == 0)
		return -EINVAL;
	function->reachable = true;
	error = find_live(as, function);
	for (size_t i = 0; i < function->fixup_count && !error; i++) {
		const struct asm_fixup *fixup = &function->fixups[i];

		if (fixup->kind != ASM_CALL || !function->live[fixup->insn])
			continue;
		if (fixup->target >= as->function_count)
			return -EINVAL;
		error = mark_reachable(as, fixup->target, depth + 1);
	}
	return error;
}

/* Where each instruction of the function lies, given which jumps are far. */
static void settle_jumps(struct asm_function *function)
{
	uint32_t at = function->stack_most > 0;

	for (size_t i = 0; i < function->insn_count; i++) {
		function->moved[i] = at;
		at += function->live[i];
		if (function->far_jump[i] && !is_plain_jump(&function->insns[i]))
			at += FAR_COND_EXTRA;
	}
	function->moved[function->insn_count] = at;
}

/* One round over the jumps of the function. Returns how many turned out too far, or an error. */
static int find_far_jumps(const struct ebpf_asm *as, struct asm_function *function, bool long_jumps)
{
	int found = 0;

	for (size_t i = 0; i < function->fixup_count; i++) {
		const struct asm_fixup *fixup = &function->fixups[i];

		if (fixup->kind != ASM_JUMP || !function->live[fixup->insn])
			continue;
		const struct asm_label *label = &as->labels[fixup->target];
		int64_t distance = (int64_t)function->moved[label->insn] - function->moved[fixup->insn] - 1;

		if ((distance >= -EBPF_ASM_NEAR_MAX && distance <= EBPF_ASM_NEAR_MAX) ||
		    function->far_jump[fixup->insn])
			continue;
		if (!long_jumps)
			return -E2BIG;
		function->far_jump[fixup->insn] = 1;
		found++;
	}
	return found;
}

static int lay_out_function(const struct ebpf_asm *as, struct asm_function *function, bool long_jumps)
{
	int found;

	function->moved = alloc_zero(function->insn_count + 1, sizeof *function->moved);
	function->far_jump = alloc_zero(function->insn_count, 1);
	if (!function->moved || !function->far_jump)
		return -ENOMEM;
	do {
		settle_jumps(function);
		found = find_far_jumps(as, function, long_jumps);
	} while (found > 0);
	return found;
}

static int lay_out_code(struct ebpf_asm *as, bool long_jumps, struct ebpf_code *code)
{
	size_t lines = 0;

	for (size_t i = 0; i < as->function_count; i++) {
		struct asm_function *function = &as->functions[i];

		if (!function->reachable)
			continue;
		int error = lay_out_function(as, function, long_jumps);

		if (error)
			return error;
		function->start = code->insn_count;
		code->insn_count += function->moved[function->insn_count];
		code->function_count++;
		lines += function->note_count + 1;
	}
	code->insns = alloc_zero(code->insn_count, sizeof *code->insns);
	code->functions = alloc_zero(code->function_count, sizeof *code->functions);
	code->lines = alloc_zero(lines, sizeof *code->lines);
	return code->insns && code->functions && code->lines ? 0 : -ENOMEM;
}

static void write_jump(const struct ebpf_asm *as, const struct asm_function *function, const struct asm_fixup *fixup,
		       struct bpf_insn *insns)
{
	uint32_t at = function->moved[fixup->insn];
	struct bpf_insn *insn = &insns[function->start + at];
	int32_t target = (int32_t)function->moved[as->labels[fixup->target].insn];

	if (!function->far_jump[fixup->insn]) {
		insn->off = (int16_t)(target - (int32_t)at - 1);
		return;
	}
	if (!is_plain_jump(insn)) {
		insn[0].off = 1;
		insn[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = 1 };
		insn += FAR_COND_EXTRA;
		at += FAR_COND_EXTRA;
	}
	*insn = (struct bpf_insn){ .code = BPF_JMP32 | BPF_JA, .imm = target - (int32_t)at - 1 };
}

static void write_function(const struct ebpf_asm *as, const struct asm_function *function, struct ebpf_code *code)
{
	if (function->stack_most)
		code->insns[function->start] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW,
								  .dst_reg = BPF_REG_10,
								  .off = (int16_t) - (int32_t)function->stack_most };
	for (size_t i = 0; i < function->insn_count; i++)
		if (function->live[i])
			code->insns[function->start + function->moved[i]] = function->insns[i];
	for (size_t i = 0; i < function->fixup_count; i++) {
		const struct asm_fixup *fixup = &function->fixups[i];
		uint32_t at = function->start + function->moved[fixup->insn];

		if (!function->live[fixup->insn])
			continue;
		if (fixup->kind == ASM_JUMP)
			write_jump(as, function, fixup, code->insns);
		else
			code->insns[at].imm = (int32_t)as->functions[fixup->target].start - (int32_t)at - 1;
	}
}

static void write_lines(const struct asm_function *function, struct ebpf_code *code)
{
	uint32_t index = code->function_count;

	code->functions[index] = (struct ebpf_code_function){ .name = function->name,
							      .insn = function->start,
							      .is_global = function->is_global,
							      .numbers = function->numbers };
	memcpy(code->functions[index].bytes, function->bytes, sizeof function->bytes);
	if (!function->note_count || function->moved[function->notes[0].insn] != 0)
		code->lines[code->line_count++] =
			(struct ebpf_code_line){ .text = function->name, .insn = function->start, .function = index };
	for (size_t i = 0; i < function->note_count; i++) {
		const struct asm_note *note = &function->notes[i];
		size_t insn = note->insn, end = i + 1 < function->note_count ? note[1].insn : function->insn_count;

		while (insn < end && !function->live[insn])
			insn++;
		if (insn < end)
			code->lines[code->line_count++] = (struct ebpf_code_line){
				.text = note->text, .insn = function->start + function->moved[insn], .function = index
			};
	}
	code->function_count++;
}

static void write_code(const struct ebpf_asm *as, struct ebpf_code *code)
{
	code->function_count = 0;
	for (size_t i = 0; i < as->function_count; i++) {
		if (!as->functions[i].reachable)
			continue;
		write_function(as, &as->functions[i], code);
		write_lines(&as->functions[i], code);
	}
}

static void forget_layout(struct ebpf_asm *as)
{
	for (size_t i = 0; i < as->function_count; i++) {
		struct asm_function *function = &as->functions[i];

		alloc_free(function->moved);
		alloc_free(function->far_jump);
		alloc_free(function->live);
		function->live = NULL;
		function->moved = NULL;
		function->far_jump = NULL;
		function->reachable = false;
	}
}

int ebpf_asm_finish(struct ebpf_asm *as, bool long_jumps, struct ebpf_code *code)
{
	*code = (struct ebpf_code){ 0 };
	if (as->error)
		return as->error;
	if (as->depth != 1)
		return -EINVAL;
	int error = mark_reachable(as, 0, 0);

	if (!error)
		error = lay_out_code(as, long_jumps, code);
	if (!error)
		write_code(as, code);
	forget_layout(as);
	if (error)
		ebpf_code_fini(code);
	return error;
}

void ebpf_code_fini(struct ebpf_code *code)
{
	alloc_free(code->insns);
	alloc_free(code->functions);
	alloc_free(code->lines);
	*code = (struct ebpf_code){ 0 };
}
