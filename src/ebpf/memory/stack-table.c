// SPDX-License-Identifier: BSD-2-Clause
/* Takes stacks at the match, and finds in this process what was taken. */

#include "ebpf/memory/stack-table.h"

#include "ebpf/memory/emit.h"
#include "ebpf/memory/layout-priv.h"
#include "ebpf/memory/stack-copy.h"

#include "program/calls.h"

#include <errno.h>
#include <string.h>

#define TABLE_ENTRY(member) offsetof(struct stack_entry, member)

static bool is_asked_for(const struct plan *plan)
{
	uint32_t count = plan->program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < count && plan->acts; i++) {
		const struct react_action *action = program_call(plan->program, &plan->program->statements[i]);

		if (action && action->primitive == REACT_STACK)
			return true;
	}
	return false;
}

int memory_lay_out_stacks(struct memory *memory)
{
	if (!is_asked_for(memory->plan))
		return 0;
	memory->stacks.entries = STACK_ENTRIES;
	memory->stacks.entry_bytes = STACK_ENTRY_BYTES;
	memory->copies = stack_copy_ring();
	if (memory->copies.entries && memory_place(memory, stack_ring_bytes(&memory->copies), &memory->copies.at))
		return -E2BIG;
	return memory_place(memory, stack_ring_bytes(&memory->stacks), &memory->stacks.at);
}

/* A function (): the number. */
static uint32_t function_stack(struct emit *emit)
{
	const struct memory *memory = emit->context->memory;
	struct ebpf_asm *as = emit->as;
	uint32_t function, copy = memory->copies.entries ? stack_copy_function(emit) : 0;

	if (ebpf_asm_find(as, "stack", &function))
		return function;
	function = emit_function_of_numbers(emit, "stack", 0);
	ebpf_asm_enter(as, function);
	uint32_t no = ebpf_label(as), taken = ebpf_label(as), publish = ebpf_label(as);

	ebpf_note(as, "take the stack of the current thread");
	memory_ring_claim(emit, &memory->stacks, no);
	ebpf_store_imm(as, BPF_DW, R8, TABLE_ENTRY(copy), 0);
	ebpf_call(as, BPF_FUNC_get_current_task_btf);
	ebpf_mov(as, R1, R0);
	ebpf_address(as, R2, R8, TABLE_ENTRY(frames));
	ebpf_mov_imm(as, R3, PROGRAM_FRAMES_MAX * 8);
	ebpf_mov_imm(as, R4, BPF_F_USER_STACK);
	ebpf_call(as, BPF_FUNC_get_task_stack);
	ebpf_store(as, BPF_DW, R8, TABLE_ENTRY(bytes), R0);
	ebpf_jump_if_imm(as, BPF_JSGT, R0, 0, taken);
	ebpf_mov_imm(as, R6, 0);
	ebpf_jump(as, publish);
	ebpf_bind(as, taken);
	if (memory->copies.entries) {
		ebpf_call_function(as, copy);
		ebpf_store(as, BPF_DW, R8, TABLE_ENTRY(copy), R0);
	}
	ebpf_bind(as, publish);
	memory_ring_publish(emit);
	ebpf_mov(as, R0, R6);
	ebpf_exit(as);
	ebpf_bind(as, no);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

void emit_stack(struct emit *emit)
{
	ebpf_call_function(emit->as, function_stack(emit));
}

void memory_stack_read(const struct memory *memory, const struct matcher_match *match, struct memory_stack *stack)
{
	uint64_t number = match->done >> STACK_DONE_SHIFT, ids = (uint64_t)match->pid << 32 | match->tid, bytes, copy;
	/* A timer goes off at whatever event comes next: its thread is not who completed the match. */
	const struct stack_entry *entry =
		match->at_deadline ? NULL : stack_ring_find(memory, &memory->stacks, number, ids);

	stack->count = 0;
	stack->has_copy = false;
	if (!entry)
		return;
	bytes = entry->bytes;
	copy = entry->copy;
	memcpy(stack->frames, entry->frames, sizeof entry->frames);
	if (bytes > sizeof entry->frames || !stack_ring_holds(entry, number))
		return;
	stack->count = (uint32_t)(bytes / sizeof *stack->frames);
	stack->has_copy = stack_copy_read(memory, copy, ids, stack);
}
