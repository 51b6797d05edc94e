// SPDX-License-Identifier: BSD-2-Clause
/* Executes the instructions that generated expressions are made of. */

#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

enum { STEPS_MAX = 1000000 };

static uint64_t alu(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		assert_true(b < 64);
		return a << b;
	case BPF_RSH:
		assert_true(b < 64);
		return a >> b;
	case BPF_ARSH:
		assert_true(b < 64);
		return (uint64_t)((int64_t)a >> b);
	case BPF_NEG:
		return 0 - a;
	case BPF_MOV:
		return b;
	default:
		fail_msg("no such operation: %#x", op);
		return 0;
	}
}

static bool jumps(uint8_t op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return x > y;
	case BPF_JSGE:
		return x >= y;
	case BPF_JSLT:
		return x < y;
	case BPF_JSLE:
		return x <= y;
	default:
		fail_msg("no such jump: %#x", op);
		return false;
	}
}

static size_t width_of(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static void access_memory(struct machine *machine, const struct bpf_insn *insn)
{
	bool loads = BPF_CLASS(insn->code) == BPF_LDX;
	uint64_t base = machine->r[loads ? insn->src_reg : insn->dst_reg], value;
	void *at = (void *)(uintptr_t)(base + (uint64_t)(int64_t)insn->off);

	assert_int_equal(BPF_MODE(insn->code), BPF_MEM);
	if (loads) {
		value = 0;
		memcpy(&value, at, width_of(insn->code));
		machine->r[insn->dst_reg] = value;
		return;
	}
	value = BPF_CLASS(insn->code) == BPF_ST ? (uint64_t)(int64_t)insn->imm : machine->r[insn->src_reg];
	memcpy(at, &value, width_of(insn->code));
}

/* A number of 64 bits, or the address of a byte of the map's value. */
static void load_wide(struct machine *machine, const struct bpf_insn *insn)
{
	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE) {
		assert_int_equal(insn->imm, MACHINE_MAP);
		machine->r[insn->dst_reg] = (uintptr_t)machine->map + (uint32_t)insn[1].imm;
		return;
	}
	machine->r[insn->dst_reg] = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
}

static void compute(struct machine *machine, const struct bpf_insn *insn)
{
	bool is_register = BPF_SRC(insn->code) == BPF_X;
	uint64_t value = is_register ? machine->r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;

	value = alu(BPF_OP(insn->code), machine->r[insn->dst_reg], value);
	machine->r[insn->dst_reg] = BPF_CLASS(insn->code) == BPF_ALU ? (uint32_t)value : value;
}

static void run(struct machine *machine, const struct ebpf_code *code, uint32_t at);

/* In a frame of its own: r0 is the result, r1 to r5 are lost, the others are as before. */
static void call(struct machine *machine, const struct ebpf_code *code, uint32_t at)
{
	struct machine before = *machine;

	assert_true(machine->depth + 1 < MACHINE_FRAMES);
	machine->depth++;
	run(machine, code, at);
	machine->depth--;
	for (int i = R6; i <= R10; i++)
		machine->r[i] = before.r[i];
}

/* bpf_loop(turns, function, context, 0): until the function returns 1. */
static void loop(struct machine *machine, const struct ebpf_code *code)
{
	uint64_t turns = machine->r[R1], function = machine->r[R2], context = machine->r[R3], turn = 0;

	for (bool ends = false; turn < turns && !ends; turn++) {
		machine->r[R1] = turn;
		machine->r[R2] = context;
		call(machine, code, (uint32_t)function);
		ends = machine->r[R0];
	}
	machine->r[R0] = turn;
}

/* Returns the place of the next instruction. */
static uint32_t jump_or_call(struct machine *machine, const struct ebpf_code *code, uint32_t at)
{
	const struct bpf_insn *insn = &code->insns[at];
	uint64_t b = BPF_SRC(insn->code) == BPF_X ? machine->r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;

	if (BPF_OP(insn->code) == BPF_CALL && insn->src_reg == BPF_PSEUDO_CALL) {
		call(machine, code, at + 1 + (uint32_t)insn->imm);
	} else if (BPF_OP(insn->code) == BPF_CALL) {
		assert_int_equal(insn->imm, BPF_FUNC_loop);
		loop(machine, code);
	} else if (jumps(BPF_OP(insn->code), machine->r[insn->dst_reg], b)) {
		return at + 1 + (uint32_t)(int32_t)insn->off;
	}
	return at + 1;
}

static void run(struct machine *machine, const struct ebpf_code *code, uint32_t at)
{
	machine->r[R10] = (uintptr_t)(machine->stack[machine->depth] + MACHINE_STACK_BYTES);
	for (; machine->steps < STEPS_MAX; machine->steps++) {
		assert_true(at < code->insn_count);
		const struct bpf_insn *insn = &code->insns[at];

		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			if (insn->src_reg == BPF_PSEUDO_FUNC) /* its place stands for its address */
				machine->r[insn->dst_reg] = at + 1 + (uint32_t)insn->imm;
			else
				load_wide(machine, insn);
			at += 2;
			break;
		case BPF_LDX:
		case BPF_ST:
		case BPF_STX:
			access_memory(machine, insn);
			at++;
			break;
		case BPF_ALU:
		case BPF_ALU64:
			compute(machine, insn);
			at++;
			break;
		default:
			if (BPF_OP(insn->code) == BPF_EXIT)
				return;
			at = jump_or_call(machine, code, at);
		}
	}
	fail_msg("the code does not end");
}

void machine_run(struct machine *machine, const struct ebpf_code *code)
{
	machine->depth = machine->steps = 0;
	run(machine, code, 0);
}
