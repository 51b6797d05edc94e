// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the programs that add up the states of threads: a thread that changes its state adds the time that it was
 * in the old one to its process's sums of this CPU, and notes when the new one began. A thread is changed by the
 * CPU that it runs on, or by who wakes it; where both happen at once, one of two short times may be counted under
 * the other's state. Some kernels hide what a few threads do: one that gets a CPU though it has one left it
 * unseen, and what it did meanwhile is not known.
 */

#include "ebpf/states/states-priv.h"

#include <stddef.h>

enum { TASK_DEAD = 0x80 };

/* Counts that there is no room. */
static void emit_missed(struct ebpf_asm *as, const struct states_maps *maps)
{
	ebpf_note(as, "no room: count it");
	ebpf_load_value(as, R1, maps->missed, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
}

/* r0 = what map fd has under the key at stack offset, or NULL. */
static void emit_find(struct ebpf_asm *as, int fd, int16_t key)
{
	ebpf_load_map(as, R1, fd);
	ebpf_address(as, R2, R10, key);
	ebpf_call(as, BPF_FUNC_map_lookup_elem);
}

/* Puts the value at stack offset under the key there. */
static void emit_put(struct ebpf_asm *as, int fd, int16_t key, int16_t value, int32_t flags)
{
	ebpf_load_map(as, R1, fd);
	ebpf_address(as, R2, R10, key);
	ebpf_address(as, R3, R10, value);
	ebpf_mov_imm(as, R4, (uint64_t)flags);
	ebpf_call(as, BPF_FUNC_map_update_elem);
}

/* add(pid, state, ns, switches) */
static uint32_t make_add(struct ebpf_asm *as, const struct states_maps *maps)
{
	uint32_t function = ebpf_asm_function(as, "add");

	ebpf_asm_enter(as, function);

	uint32_t found = ebpf_label(as), end = ebpf_label(as);
	int16_t key = ebpf_stack_take(as, 8), value = ebpf_stack_take(as, sizeof(struct states_sums));

	ebpf_note(as, "add the time to the process's");
	ebpf_mov(as, R6, R2);
	ebpf_mov(as, R7, R3);
	ebpf_mov(as, R8, R4);
	ebpf_store(as, BPF_W, R10, key, R1);
	emit_find(as, maps->sums, key);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, found);
	ebpf_note(as, "a new process");
	for (uint32_t at = 0; at < sizeof(struct states_sums); at += 8)
		ebpf_store_imm(as, BPF_DW, R10, value + (int32_t)at, 0);
	emit_put(as, maps->sums, key, value, BPF_NOEXIST);
	emit_find(as, maps->sums, key);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, found);
	emit_missed(as, maps);
	ebpf_jump(as, end);
	ebpf_bind(as, found);
	ebpf_load(as, BPF_DW, R1, R0, offsetof(struct states_sums, switches));
	ebpf_alu(as, BPF_ADD, R1, R8);
	ebpf_store(as, BPF_DW, R0, offsetof(struct states_sums, switches), R1);
	ebpf_alu_imm(as, BPF_AND, R6, 3);
	ebpf_alu_imm(as, BPF_LSH, R6, 3);
	ebpf_mov(as, R9, R0);
	ebpf_alu(as, BPF_ADD, R0, R6);
	ebpf_load(as, BPF_DW, R1, R0, 0);
	ebpf_alu(as, BPF_ADD, R1, R7);
	ebpf_store(as, BPF_DW, R0, 0, R1);
	ebpf_jump_if_imm(as, BPF_JNE, R6, 0, end);
	ebpf_note(as, "who has run is the one at work: its name");
	ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, end);
	ebpf_call_comm(as, R9, offsetof(struct states_sums, comm));
	ebpf_bind(as, end);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

/* change(tid, pid, state, now): from here on the thread is in state. */
static uint32_t make_change(struct ebpf_asm *as, const struct states_maps *maps, uint32_t add)
{
	uint32_t function = ebpf_asm_function(as, "change");

	ebpf_asm_enter(as, function);

	uint32_t is_new = ebpf_label(as), end = ebpf_label(as), none = ebpf_label(as), known = ebpf_label(as);
	int16_t key = ebpf_stack_take(as, 8), value = ebpf_stack_take(as, sizeof(struct states_thread));

	ebpf_note(as, "the thread changes its state");
	ebpf_mov(as, R7, R2);
	ebpf_mov(as, R8, R3);
	ebpf_mov(as, R9, R4);
	ebpf_store(as, BPF_W, R10, key, R1);
	emit_find(as, maps->threads, key);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, is_new);
	ebpf_mov(as, R6, R0);
	ebpf_load(as, BPF_DW, R1, R6, offsetof(struct states_thread, since));
	ebpf_mov(as, R3, R9);
	ebpf_alu(as, BPF_SUB, R3, R1);
	ebpf_jump_if_imm(as, BPF_JSLT, R3, 0, none);
	ebpf_load(as, BPF_W, R2, R6, offsetof(struct states_thread, state));
	ebpf_note(as, "who runs and comes has left unseen");
	ebpf_jump_if_imm(as, BPF_JNE, R8, STATES_RUNNING, known);
	ebpf_jump_if_imm(as, BPF_JEQ, R2, STATES_RUNNING, none);
	ebpf_bind(as, known);
	ebpf_mov(as, R1, R7);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call_function(as, add);
	ebpf_bind(as, none);
	ebpf_store(as, BPF_DW, R6, offsetof(struct states_thread, since), R9);
	ebpf_store(as, BPF_W, R6, offsetof(struct states_thread, state), R8);
	ebpf_store(as, BPF_W, R6, offsetof(struct states_thread, pid), R7);
	ebpf_jump(as, end);
	ebpf_bind(as, is_new);
	ebpf_store(as, BPF_DW, R10, value, R9);
	ebpf_store(as, BPF_W, R10, value + 8, R8);
	ebpf_store(as, BPF_W, R10, value + 12, R7);
	emit_put(as, maps->threads, key, value, BPF_ANY);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
	emit_missed(as, maps);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

/* r8 = the task; r1, r2 = its tid and pid; the idle threads of CPUs jump away. */
static void emit_who(struct ebpf_asm *as, const struct states_kernel *kernel, uint32_t idle)
{
	ebpf_load(as, BPF_W, R1, R8, (int32_t)kernel->pid);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, idle);
	ebpf_load(as, BPF_W, R2, R8, (int32_t)kernel->tgid);
}

/* Who leaves is ready where it was preempted or has not gone to sleep, else blocked; who is dead is forgotten. */
static void emit_leaving(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel,
			 uint32_t change)
{
	uint32_t next = ebpf_label(as), ready = ebpf_label(as), known = ebpf_label(as);
	int16_t key = ebpf_stack_take(as, 8), state = ebpf_stack_take(as, 8);

	ebpf_note(as, "who leaves the CPU");
	ebpf_load(as, BPF_DW, R8, R6, 8);
	if (kernel->has_argument)
		ebpf_load(as, BPF_DW, R9, R6, 24);
	else
		ebpf_load(as, BPF_W, R9, R8, (int32_t)kernel->state);
	ebpf_store(as, BPF_DW, R10, state, R9);
	ebpf_mov_imm(as, R3, STATES_READY);
	ebpf_load(as, BPF_DW, R1, R6, 0);
	ebpf_alu_imm(as, BPF_AND, R1, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, ready);
	ebpf_alu_imm(as, BPF_LSH, R9, 32);
	ebpf_jump_if_imm(as, BPF_JEQ, R9, 0, ready);
	ebpf_mov_imm(as, R3, STATES_BLOCKED);
	ebpf_bind(as, ready);
	emit_who(as, kernel, next);
	ebpf_store(as, BPF_W, R10, key, R1);
	ebpf_mov(as, R4, R7);
	ebpf_call_function(as, change);
	ebpf_load(as, BPF_DW, R9, R10, state);
	ebpf_alu_imm(as, BPF_AND, R9, TASK_DEAD);
	ebpf_jump_if_imm(as, BPF_JEQ, R9, 0, known);
	ebpf_load_map(as, R1, maps->threads);
	ebpf_address(as, R2, R10, key);
	ebpf_call(as, BPF_FUNC_map_delete_elem);
	ebpf_bind(as, known);
	ebpf_bind(as, next);
}

void states_emit_switch(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel)
{
	uint32_t add = make_add(as, maps), change = make_change(as, maps, add), end = ebpf_label(as);
	int16_t zero = ebpf_stack_take(as, 8);

	ebpf_note(as, "a switch of threads");
	ebpf_mov(as, R6, R1);
	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	ebpf_mov(as, R7, R0);
	emit_leaving(as, maps, kernel, change);
	ebpf_note(as, "who comes");
	ebpf_load(as, BPF_DW, R8, R6, 16);
	ebpf_store_imm(as, BPF_DW, R10, zero, 0);
	emit_find(as, maps->current, zero);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
	ebpf_load(as, BPF_W, R1, R8, (int32_t)kernel->pid);
	ebpf_store(as, BPF_DW, R0, 0, R1);
	emit_who(as, kernel, end);
	ebpf_mov_imm(as, R3, STATES_RUNNING);
	ebpf_mov(as, R4, R7);
	ebpf_call_function(as, change);
	ebpf_load(as, BPF_W, R1, R8, (int32_t)kernel->tgid);
	ebpf_mov_imm(as, R2, STATES_RUNNING);
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, 1);
	ebpf_call_function(as, add);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
}

/* Only who is blocked becomes ready: who has not left the CPU yet goes on. */
void states_emit_waking(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel)
{
	uint32_t add = make_add(as, maps), change = make_change(as, maps, add), end = ebpf_label(as);
	int16_t key = ebpf_stack_take(as, 8);

	ebpf_note(as, "a thread is woken");
	ebpf_load(as, BPF_DW, R8, R1, 0);
	emit_who(as, kernel, end);
	ebpf_mov(as, R7, R1);
	ebpf_mov(as, R9, R2);
	ebpf_store(as, BPF_W, R10, key, R1);
	emit_find(as, maps->threads, key);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
	ebpf_load(as, BPF_W, R1, R0, offsetof(struct states_thread, state));
	ebpf_jump_if_imm(as, BPF_JNE, R1, STATES_BLOCKED, end);
	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	ebpf_mov(as, R4, R0);
	ebpf_mov(as, R1, R7);
	ebpf_mov(as, R2, R9);
	ebpf_mov_imm(as, R3, STATES_READY);
	ebpf_call_function(as, change);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
}
