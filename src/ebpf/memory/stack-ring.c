// SPDX-License-Identifier: BSD-2-Clause
/* How an entry of a ring changes hands between programs, and between them and this process. */

#include "ebpf/memory/stack-ring.h"

#include "ebpf/memory/emit.h"

#define RING_ENTRY(member) offsetof(struct stack_ring_entry, member)

/* r6 = a new number, r8 = the address of its entry. Leaves for no with number 0. */
static void choose_entry(const struct emit *emit, const struct memory_ring *ring, uint32_t no)
{
	int fd = emit->context->memory->maps[ring->at.map].fd;
	struct ebpf_asm *as = emit->as;

	ebpf_load_value(as, R1, fd, ring->at.off);
	ebpf_mov_imm(as, R2, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R1, 0, R2));
	ebpf_alu_imm(as, BPF_ADD, R2, 1);
	ebpf_emit(as, insn_alu32(BPF_MOV, R6, R2));
	ebpf_jump_if_imm(as, BPF_JEQ, R6, 0, no);
	ebpf_alu_imm(as, BPF_AND, R2, (int32_t)(ring->entries - 1));
	ebpf_alu_imm(as, BPF_MUL, R2, (int32_t)ring->entry_bytes);
	ebpf_load_value(as, R8, fd, ring->at.off + STACK_RING_HEAD_BYTES);
	ebpf_alu(as, BPF_ADD, R8, R2);
}

void memory_ring_claim(struct emit *emit, const struct memory_ring *ring, uint32_t no)
{
	struct ebpf_asm *as = emit->as;

	choose_entry(emit, ring, no);
	ebpf_load(as, BPF_DW, R0, R8, RING_ENTRY(number));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, -1, no);
	ebpf_mov(as, R2, R0);
	ebpf_mov_imm(as, R3, STACK_RING_BUSY);
	ebpf_atomic_exchange_if(as, BPF_DW, R8, RING_ENTRY(number), R3);
	ebpf_jump_if(as, BPF_JNE, R0, R2, no);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_store(as, BPF_DW, R8, RING_ENTRY(ids), R0);
}

void memory_ring_publish(struct emit *emit)
{
	ebpf_mov(emit->as, R1, R6);
	ebpf_emit(emit->as, insn_atomic(BPF_DW, BPF_XCHG, R8, RING_ENTRY(number), R1));
}

const void *stack_ring_find(const struct memory *memory, const struct memory_ring *ring, uint64_t number, uint64_t ids)
{
	const struct stack_ring_entry *entry;

	if (!number || !ring->entries)
		return NULL;
	entry = (const void *)((const uint8_t *)memory_at(memory, &ring->at) + STACK_RING_HEAD_BYTES +
			       number % ring->entries * ring->entry_bytes);
	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number || entry->ids != ids)
		return NULL;
	return entry;
}

bool stack_ring_holds(const void *entry, uint64_t number)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&((const struct stack_ring_entry *)entry)->number, __ATOMIC_RELAXED) == number;
}
