// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that copies words and makes them 0. Many - paths, and runs that have some - are copied by a function
 * for this number of them: in place they would be most of the instructions of a rule that has a path, to be followed by
 * the verifier on each way that leads there.
 */

#include "ebpf/lower/lower-priv.h"

#include <stdio.h>

enum { IN_PLACE_MAX = 15 };

/* The words at r1 become those at r2, or 0. */
static void emit_words(struct ebpf_asm *as, uint32_t count, bool zero)
{
	for (uint32_t i = 0; i < count; i++) {
		if (zero) {
			ebpf_store_imm(as, BPF_DW, R1, (int32_t)(i * 8), 0);
			continue;
		}
		ebpf_load(as, BPF_DW, R0, R2, (int32_t)(i * 8));
		ebpf_store(as, BPF_DW, R1, (int32_t)(i * 8), R0);
	}
}

uint32_t lower_enter(const struct ebpf_lower *lower, const char *name, const uint32_t *bytes, uint32_t parameters,
		     uint32_t *none)
{
	struct ebpf_asm *as = lower->as;
	uint32_t function = lower->irqs_off ? ebpf_asm_function(as, name) : ebpf_asm_global(as, name, parameters);

	ebpf_asm_enter(as, function);
	*none = ebpf_label(as);
	ebpf_mov_imm(as, R0, 0);
	for (uint32_t i = 0; i < parameters && !lower->irqs_off; i++) {
		ebpf_asm_takes_bytes(as, function, i, bytes[i]);
		ebpf_jump_if_imm(as, BPF_JEQ, lower_register(i), 0, *none);
	}
	return function;
}

/* A function (to, from) or (to). */
static uint32_t function_words(const struct ebpf_lower *lower, uint32_t count, bool zero)
{
	const uint32_t bytes[] = { count * 8, count * 8 };
	struct ebpf_asm *as = lower->as;
	char name[sizeof "copy_here_4294967295"];
	uint32_t function, none;

	snprintf(name, sizeof name, "%s_%s%u", zero ? "zero" : "copy", lower->irqs_off ? "here_" : "", count);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = lower_enter(lower, name, bytes, zero ? 1 : 2, &none);
	emit_words(as, count, zero);
	ebpf_bind(as, none);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

static void point(struct ebpf_asm *as, uint8_t dst, uint8_t base, int32_t off)
{
	ebpf_mov(as, dst, base);
	if (off)
		ebpf_alu_imm(as, BPF_ADD, dst, off);
}

void ebpf_lower_copy(const struct ebpf_lower *lower, const struct ebpf_words *words)
{
	struct ebpf_asm *as = lower->as;

	if (words->count > IN_PLACE_MAX) {
		point(as, R3, words->src, words->from);
		point(as, R1, words->dst, words->to);
		ebpf_mov(as, R2, R3);
		ebpf_call_function(as, function_words(lower, words->count, false));
		return;
	}
	for (uint32_t i = 0; i < words->count; i++) {
		ebpf_load(as, BPF_DW, R0, words->src, words->from + (int32_t)(i * 8));
		ebpf_store(as, BPF_DW, words->dst, words->to + (int32_t)(i * 8), R0);
	}
}

void ebpf_lower_zero(const struct ebpf_lower *lower, uint8_t dst, int32_t to, uint32_t count)
{
	struct ebpf_asm *as = lower->as;

	if (count > IN_PLACE_MAX) {
		point(as, R1, dst, to);
		ebpf_call_function(as, function_words(lower, count, true));
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		ebpf_store_imm(as, BPF_DW, dst, to + (int32_t)(i * 8), 0);
}
