/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_ASM_ASM_H
#define EBPF_ASM_ASM_H

/*
 * The assembler: collects the instructions of one BPF program with its functions, resolves labels and calls, and
 * remembers a line of text for every stretch of code, so that the verifier's log and bpftool show what the code is for.
 *
 * Errors stick: the first one (-ENOMEM, -E2BIG, or -EINVAL for a defect of the caller) turns everything after it into
 * nothing, and ebpf_asm_finish returns it. Callers need no check in between.
 *
 * Code goes to the current function. A new assembler is in "main"; ebpf_asm_enter and ebpf_asm_leave nest, so a
 * callback can be written at the place that needs it. Labels belong to the function in which they are made.
 */

#include "ebpf/asm/insn.h"

#include <stdbool.h>
#include <stddef.h>

struct ebpf_asm;

/*
 * How far a jump of 16 bits may go when a program is given to the kernel. The kernel itself puts several instructions
 * in place of some calls, and refuses what then becomes too far.
 */
enum { EBPF_ASM_NEAR_MAX = 24 * 1024 };

enum { EBPF_PARAMETERS_MAX = 5, EBPF_STACK_MAX = 512 };

struct ebpf_asm *ebpf_asm_new(void);
void ebpf_asm_free(struct ebpf_asm *as);

/* The error that stuck, or 0. ebpf_asm_fail makes one stick. */
int ebpf_asm_error(const struct ebpf_asm *as);
void ebpf_asm_fail(struct ebpf_asm *as, int error);

/* Instructions in all functions so far. */
size_t ebpf_asm_count(const struct ebpf_asm *as);

/* Labels. A label is bound once, before or after it is used. */
uint32_t ebpf_label(struct ebpf_asm *as);
void ebpf_bind(struct ebpf_asm *as, uint32_t label);

/* The text shown for the instructions from here on, printf-like; cut to 255 bytes. */
void ebpf_note(struct ebpf_asm *as, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Functions. The name is a C identifier, cut to 63 bytes. Functions without a reference are left out. */
uint32_t ebpf_asm_function(struct ebpf_asm *as, const char *name);
/* A function that takes only numbers, as many as `numbers` (0 to 5): the verifier looks at it once, not at every call.
 */
uint32_t ebpf_asm_global(struct ebpf_asm *as, const char *name, uint32_t numbers);
/*
 * Makes a parameter of such a function, counted from 0, the address of so many bytes instead. There it is 0 as far as
 * the verifier knows, until it is compared.
 */
void ebpf_asm_takes_bytes(struct ebpf_asm *as, uint32_t function, uint32_t parameter, uint32_t bytes);
/* Whether there is a function of this name already, and which. */
bool ebpf_asm_find(const struct ebpf_asm *as, const char *name, uint32_t *function);
void ebpf_asm_enter(struct ebpf_asm *as, uint32_t function);
void ebpf_asm_leave(struct ebpf_asm *as);

/*
 * Stack of the current function. take gives the offset from r10 (negative, multiple of 8) of bytes more; mark and
 * release give back what was taken in between. More than 512 bytes in one function is -E2BIG.
 */
int16_t ebpf_stack_take(struct ebpf_asm *as, uint32_t bytes);
uint32_t ebpf_stack_mark(const struct ebpf_asm *as);
void ebpf_stack_release(struct ebpf_asm *as, uint32_t mark);

/* Any instruction that needs no resolution. */
void ebpf_emit(struct ebpf_asm *as, struct bpf_insn insn);

/* dst = src; dst = imm in as few instructions as it takes; dst op= src; dst op= imm (any 32 bits, sign-extended). */
void ebpf_mov(struct ebpf_asm *as, uint8_t dst, uint8_t src);
void ebpf_mov_imm(struct ebpf_asm *as, uint8_t dst, uint64_t imm);
void ebpf_alu(struct ebpf_asm *as, uint8_t op, uint8_t dst, uint8_t src);
void ebpf_alu_imm(struct ebpf_asm *as, uint8_t op, uint8_t dst, int32_t imm);
/* dst = base + off */
void ebpf_address(struct ebpf_asm *as, uint8_t dst, uint8_t base, int32_t off);

/* Memory, width as BPF_B .. BPF_DW. A load zero-extends. */
void ebpf_load(struct ebpf_asm *as, uint8_t width, uint8_t dst, uint8_t src, int32_t off);
void ebpf_store(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, uint8_t src);
void ebpf_store_imm(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, int32_t imm);

/* *(u64 *)(dst + off) += src, atomically. */
void ebpf_atomic_add(struct ebpf_asm *as, uint8_t dst, int32_t off, uint8_t src);
/* *(u64 *)(dst + off) |= src, atomically. Kernels from 5.12 on. */
void ebpf_atomic_or(struct ebpf_asm *as, uint8_t dst, int32_t off, uint8_t src);

/* If *(width *)(dst + off) == r0, it becomes src; r0 is what it was. */
void ebpf_atomic_exchange_if(struct ebpf_asm *as, uint8_t width, uint8_t dst, int32_t off, uint8_t src);

/* Jumps; op is BPF_JEQ .. BPF_JSLE or BPF_JSET. The immediate is sign-extended. */
void ebpf_jump(struct ebpf_asm *as, uint32_t label);
void ebpf_jump_if(struct ebpf_asm *as, uint8_t op, uint8_t dst, uint8_t src, uint32_t label);
void ebpf_jump_if_imm(struct ebpf_asm *as, uint8_t op, uint8_t dst, int32_t imm, uint32_t label);

/* Calls: a helper (BPF_FUNC_*), a kernel function by its id in vmlinux BTF, a function of this program. */
void ebpf_call(struct ebpf_asm *as, int32_t helper);
/* The helper for the 16 bytes of the current task's name, at base + off; what is behind its NUL is zero. */
void ebpf_call_comm(struct ebpf_asm *as, uint8_t base, int32_t off);
void ebpf_call_kernel(struct ebpf_asm *as, int32_t btf_id);
void ebpf_call_function(struct ebpf_asm *as, uint32_t function);
void ebpf_exit(struct ebpf_asm *as);
/* r0 = value; exit */
void ebpf_return(struct ebpf_asm *as, uint64_t value);
/* How callbacks of bpf_loop end: here with 0 (go on), at label one with 1 (enough). */
void ebpf_return_0_or_1(struct ebpf_asm *as, uint32_t one);

/*
 * dst = a map; the address of byte off in the only value of an array map; a variable of the kernel by its id in vmlinux
 * BTF; a function, for bpf_loop.
 */
void ebpf_load_map(struct ebpf_asm *as, uint8_t dst, int fd);
void ebpf_load_value(struct ebpf_asm *as, uint8_t dst, int fd, uint32_t off);
void ebpf_load_variable(struct ebpf_asm *as, uint8_t dst, uint32_t btf_id);
void ebpf_load_function(struct ebpf_asm *as, uint8_t dst, uint32_t function);

/* The finished program; texts are borrowed from the assembler. */
struct ebpf_code_function {
	const char *name;
	uint32_t insn;
	bool is_global;
	uint32_t numbers, bytes[EBPF_PARAMETERS_MAX];
};

struct ebpf_code_line {
	const char *text;
	uint32_t insn, function; /* function: index in functions */
};

struct ebpf_code {
	struct bpf_insn *insns;
	uint32_t insn_count;
	struct ebpf_code_function *functions;
	uint32_t function_count;
	struct ebpf_code_line *lines; /* every function has one at its first instruction */
	uint32_t line_count;
};

/*
 * Resolves everything and stores the program, which the caller gives back with ebpf_code_fini. Jumps farther
 * than EBPF_ASM_NEAR_MAX use the long jump of kernel 6.6 where long_jumps says that there is one, else they are -E2BIG.
 * Returns 0 or the error that stuck.
 */
int ebpf_asm_finish(struct ebpf_asm *as, bool long_jumps, struct ebpf_code *code);
void ebpf_code_fini(struct ebpf_code *code);

#endif
