/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_ASM_ASM_PRIV_H
#define EBPF_ASM_ASM_PRIV_H

/* What the assembler's two halves share: asm.c collects, asm/link.c resolves. */

#include "ebpf/asm/asm.h"

enum { ASM_NAME_BYTES = 64, ASM_NOTE_BYTES = 256, ASM_NEST_MAX = 8, ASM_UNBOUND = -1 };

enum asm_fixup_kind { ASM_JUMP, ASM_CALL };

/* An instruction whose distance is still open: target is a label (ASM_JUMP) or a function (ASM_CALL). */
struct asm_fixup {
	uint32_t insn;
	enum asm_fixup_kind kind;
	uint32_t target;
};

struct asm_note {
	uint32_t insn;
	const char *text;
};

struct asm_function {
	char name[ASM_NAME_BYTES];
	bool is_global;
	uint32_t numbers;                    /* parameters of a global one, */
	uint32_t bytes[EBPF_PARAMETERS_MAX]; /* and behind those that are addresses */
	struct bpf_insn *insns;
	size_t insn_count, insn_capacity;
	struct asm_fixup *fixups; /* ascending by insn */
	size_t fixup_count, fixup_capacity;
	struct asm_note *notes; /* ascending by insn, one per instruction at most */
	size_t note_count, note_capacity;
	uint32_t stack_bytes, stack_most; /* taken now, and ever */
	/* While linking: */
	bool reachable;
	uint8_t *live;     /* per instruction: control can get there */
	uint32_t start;    /* first instruction in the program */
	uint32_t *moved;   /* where each instruction (and the end) lies, relative to start */
	uint8_t *far_jump; /* per instruction: its jump needs the long form */
};

struct asm_label {
	uint32_t function;
	int64_t insn; /* or ASM_UNBOUND */
};

struct ebpf_asm {
	int error;
	struct arena *arena; /* note texts */
	struct asm_function *functions;
	size_t function_count, function_capacity;
	struct asm_label *labels;
	size_t label_count, label_capacity;
	uint32_t nest[ASM_NEST_MAX];
	uint32_t depth;
};

#endif
