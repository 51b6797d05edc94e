// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notes a process before a program stops it (react/stops.h). The whole note is one word that changes by one
 * compare-and-exchange, so whatever dies when, it is there or not. Losing the race for a slot leads to the next one.
 */

#include "ebpf/codegen/note.h"

#include "ebpf/codegen/acts.h"

#include "react/stops.h"

#include <stddef.h>

#define TABLE(member) offsetof(struct react_stop_table, member)

enum { SLOT_SHIFT = 4, MARK = 1 };

_Static_assert(sizeof(struct react_stop) == 1 << SLOT_SHIFT, "slots are found by a shift");

uint64_t codegen_note_of(bool for_good, int signal)
{
	return MARK | (for_good ? REACT_STOP_FOR_GOOD : 0) | (uint64_t)signal << REACT_STOP_SIGNAL_SHIFT;
}

/* r5 = the address of slot number r2 of those of process. Overwrites r3. */
static void slot_address(const struct emit *emit, uint8_t process)
{
	struct ebpf_asm *as = emit->as;

	ebpf_mov(as, R3, process);
	ebpf_alu(as, BPF_ADD, R3, R2);
	ebpf_alu_imm(as, BPF_AND, R3, REACT_STOP_SLOTS - 1);
	ebpf_alu_imm(as, BPF_LSH, R3, SLOT_SHIFT);
	ebpf_load_value(as, R5, emit->context->acts->stops_fd, TABLE(slots));
	ebpf_alu(as, BPF_ADD, R5, R3);
}

/* Adds one to the slot in r5 if it is free or about r1, and goes to got; else falls through. */
static void try_slot(struct ebpf_asm *as, uint32_t got)
{
	uint32_t claim = ebpf_label(as), add = ebpf_label(as), other = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R5, offsetof(struct react_stop, word));
	ebpf_mov(as, R3, R0);
	ebpf_alu_imm(as, BPF_RSH, R3, 32);
	ebpf_jump_if_imm(as, BPF_JEQ, R3, 0, claim);
	ebpf_emit(as, insn_alu32(BPF_MOV, R3, R0));
	ebpf_jump_if(as, BPF_JNE, R3, R1, other);
	ebpf_mov(as, R3, R0);
	ebpf_jump(as, add);
	ebpf_bind(as, claim);
	ebpf_mov(as, R3, R1);
	ebpf_bind(as, add);
	ebpf_mov_imm(as, R4, UINT64_C(1) << 32);
	ebpf_alu(as, BPF_ADD, R3, R4);
	ebpf_mov(as, R4, R0);
	ebpf_atomic_exchange_if(as, BPF_DW, R5, offsetof(struct react_stop, word), R3);
	ebpf_jump_if(as, BPF_JEQ, R0, R4, got);
	ebpf_bind(as, other);
}

void codegen_note(struct emit *emit, uint8_t process, int16_t note, uint32_t no)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as), again = ebpf_label(as), got = ebpf_label(as);
	int fd = emit->context->acts->stops_fd;

	ebpf_load(as, BPF_DW, R1, R10, note);
	ebpf_store_imm(as, BPF_DW, R10, note, 0); /* or old verifiers see a number there that is no address */
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_note(as, "note whom to let go on");
	ebpf_alu_imm(as, BPF_AND, R1, ~MARK);
	ebpf_alu(as, BPF_OR, R1, process);
	ebpf_load_value(as, R2, fd, 0);
	ebpf_load(as, BPF_W, R0, R2, TABLE(open));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, no);
	ebpf_mov_imm(as, R2, 0);
	ebpf_bind(as, again);
	slot_address(emit, process);
	try_slot(as, got);
	ebpf_alu_imm(as, BPF_ADD, R2, 1);
	ebpf_jump_if_imm(as, BPF_JLT, R2, REACT_STOP_PROBES, again);
	ebpf_load_value(as, R1, fd, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, TABLE(refused), R2);
	ebpf_jump(as, no);
	ebpf_bind(as, got);
	ebpf_store(as, BPF_DW, R10, note, R5);
	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	ebpf_load(as, BPF_DW, R1, R10, note);
	ebpf_store(as, BPF_DW, R1, offsetof(struct react_stop, ts), R0);
	ebpf_bind(as, none);
}

void codegen_note_back(struct emit *emit, int16_t note)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as);

	ebpf_load(as, BPF_DW, R1, R10, note);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_mov_imm(as, R2, UINT64_C(0xffffffff) << 32);
	ebpf_atomic_add(as, R1, offsetof(struct react_stop, word), R2);
	ebpf_bind(as, none);
}
