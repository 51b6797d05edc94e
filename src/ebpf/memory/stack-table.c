// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a stack gets from the thread that completes a match to this process. A writer claims an entry by one
 * compare-and-exchange of its number and refuses one that another writer is at; the exchange that puts the new number
 * releases what it has written to the acquiring load of the reader, who looks at the number before and after.
 */

#include "ebpf/memory/stack-table.h"

#include "ebpf/memory/emit.h"
#include "ebpf/memory/layout-priv.h"

#include "program/calls.h"

#include <string.h>

#define ENTRY(member) offsetof(struct stack_entry, member)

uint64_t memory_stack_bytes(const struct plan *plan)
{
	uint32_t count = plan->program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < count && plan->acts; i++) {
		const struct react_action *action = program_call(plan->program, &plan->program->statements[i]);

		if (action && action->primitive == REACT_STACK)
			return STACK_TABLE_HEAD_BYTES + (uint64_t)STACK_ENTRIES * STACK_ENTRY_BYTES;
	}
	return 0;
}

/* r6 = a new number, r8 = the address of its entry. Leaves for no with number 0. */
static void choose_entry(const struct emit *emit, uint32_t no)
{
	const struct memory_region *table = &emit->context->memory->stacks;
	int fd = emit->context->memory->maps[table->map].fd;
	struct ebpf_asm *as = emit->as;

	ebpf_load_value(as, R1, fd, table->off);
	ebpf_mov_imm(as, R2, 1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R1, 0, R2));
	ebpf_alu_imm(as, BPF_ADD, R2, 1);
	ebpf_emit(as, insn_alu32(BPF_MOV, R6, R2));
	ebpf_jump_if_imm(as, BPF_JEQ, R6, 0, no);
	ebpf_alu_imm(as, BPF_AND, R2, STACK_ENTRIES - 1);
	ebpf_alu_imm(as, BPF_MUL, R2, STACK_ENTRY_BYTES);
	ebpf_load_value(as, R8, fd, table->off + STACK_TABLE_HEAD_BYTES);
	ebpf_alu(as, BPF_ADD, R8, R2);
}

static void claim(struct ebpf_asm *as, uint32_t no)
{
	ebpf_load(as, BPF_DW, R0, R8, ENTRY(number));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, -1, no);
	ebpf_mov(as, R2, R0);
	ebpf_mov_imm(as, R3, STACK_BUSY);
	ebpf_atomic_exchange_if(as, BPF_DW, R8, ENTRY(number), R3);
	ebpf_jump_if(as, BPF_JNE, R0, R2, no);
}

/* A function (): the number. */
static uint32_t function_stack(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function;

	if (ebpf_asm_find(as, "stack", &function))
		return function;
	function = emit_function_of_numbers(emit, "stack", 0);
	ebpf_asm_enter(as, function);
	uint32_t no = ebpf_label(as), taken = ebpf_label(as);

	ebpf_note(as, "take the stack of the current thread");
	choose_entry(emit, no);
	claim(as, no);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_store(as, BPF_DW, R8, ENTRY(ids), R0);
	ebpf_call(as, BPF_FUNC_get_current_task_btf);
	ebpf_mov(as, R1, R0);
	ebpf_mov(as, R2, R8);
	ebpf_alu_imm(as, BPF_ADD, R2, ENTRY(frames));
	ebpf_mov_imm(as, R3, PROGRAM_FRAMES_MAX * 8);
	ebpf_mov_imm(as, R4, BPF_F_USER_STACK);
	ebpf_call(as, BPF_FUNC_get_task_stack);
	ebpf_store(as, BPF_DW, R8, ENTRY(bytes), R0);
	ebpf_jump_if_imm(as, BPF_JSGT, R0, 0, taken);
	ebpf_mov_imm(as, R6, 0);
	ebpf_bind(as, taken);
	ebpf_mov(as, R1, R6);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_XCHG, R8, ENTRY(number), R1));
	ebpf_mov(as, R0, R6);
	ebpf_exit(as);
	ebpf_bind(as, no);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

void emit_stack(struct emit *emit)
{
	ebpf_call_function(emit->as, function_stack(emit));
}

uint32_t memory_stack_read(const struct memory *memory, const struct matcher_match *match,
			   uint64_t frames[PROGRAM_FRAMES_MAX])
{
	uint64_t number = match->done >> STACK_DONE_SHIFT, bytes;
	const struct stack_entry *entry;

	if (!number)
		return 0;
	entry = (const struct stack_entry *)((const uint8_t *)memory_at(memory, &memory->stacks) +
					     STACK_TABLE_HEAD_BYTES) +
		number % STACK_ENTRIES;
	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number)
		return 0;
	/* A timer goes off at whatever event comes next: its thread is not who completed the match. */
	bool is_own = entry->ids == ((uint64_t)match->pid << 32 | match->tid) && !match->at_deadline;

	bytes = entry->bytes;
	memcpy(frames, entry->frames, sizeof entry->frames);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!is_own || bytes > sizeof entry->frames || __atomic_load_n(&entry->number, __ATOMIC_RELAXED) != number)
		return 0;
	return (uint32_t)(bytes / sizeof *frames);
}
