/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_ASM_INSN_H
#define EBPF_ASM_INSN_H

/*
 * BPF instructions as values: one constructor per form, no state. The names of codes are the kernel's own; what its
 * older header lacks is added here. asm.h strings instructions together.
 */

#include <linux/bpf.h>
#include <stdint.h>

enum ebpf_register { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* Width of a memory access: BPF_B, BPF_H, BPF_W, BPF_DW; 0 where no such access exists. */
static inline uint8_t ebpf_width(uint32_t bytes)
{
	return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W : bytes == 8 ? BPF_DW : 0;
}

/* dst op= src in 64 bits; op is BPF_ADD, BPF_MOV, ... */
static inline struct bpf_insn insn_alu(uint8_t op, uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){ .code = BPF_ALU64 | BPF_X | op, .dst_reg = dst, .src_reg = src };
}

static inline struct bpf_insn insn_alu_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_ALU64 | BPF_K | op, .dst_reg = dst, .imm = imm };
}

/* The same in 32 bits; the upper half of dst becomes zero. */
static inline struct bpf_insn insn_alu32(uint8_t op, uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){ .code = BPF_ALU | BPF_X | op, .dst_reg = dst, .src_reg = src };
}

static inline struct bpf_insn insn_alu32_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_ALU | BPF_K | op, .dst_reg = dst, .imm = imm };
}

/* dst = the low `bits` (16, 32, 64) of dst in big-endian order, zero-extended. */
static inline struct bpf_insn insn_big_endian(uint8_t dst, int32_t bits)
{
	return (struct bpf_insn){ .code = BPF_ALU | BPF_END | BPF_TO_BE, .dst_reg = dst, .imm = bits };
}

/* dst = *(unsigned width *)(src + off) */
static inline struct bpf_insn insn_load(uint8_t width, uint8_t dst, uint8_t src, int16_t off)
{
	return (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | width, .dst_reg = dst, .src_reg = src, .off = off };
}

/* *(width *)(dst + off) = src */
static inline struct bpf_insn insn_store(uint8_t width, uint8_t dst, int16_t off, uint8_t src)
{
	return (struct bpf_insn){ .code = BPF_STX | BPF_MEM | width, .dst_reg = dst, .src_reg = src, .off = off };
}

static inline struct bpf_insn insn_store_imm(uint8_t width, uint8_t dst, int16_t off, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_ST | BPF_MEM | width, .dst_reg = dst, .off = off, .imm = imm };
}

/* op: BPF_ADD, BPF_OR, ... with or without BPF_FETCH, BPF_XCHG, BPF_CMPXCHG (compares with and returns in r0). */
static inline struct bpf_insn insn_atomic(uint8_t width, int32_t op, uint8_t dst, int16_t off, uint8_t src)
{
	return (struct bpf_insn){
		.code = BPF_STX | BPF_ATOMIC | width, .dst_reg = dst, .src_reg = src, .off = off, .imm = op
	};
}

/* A conditional jump without its distance; op is BPF_JEQ, BPF_JSGT, ... */
static inline struct bpf_insn insn_jump(uint8_t op, uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_X | op, .dst_reg = dst, .src_reg = src };
}

static inline struct bpf_insn insn_jump_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_K | op, .dst_reg = dst, .imm = imm };
}

static inline struct bpf_insn insn_call(uint8_t pseudo, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .src_reg = pseudo, .imm = imm };
}

#endif
