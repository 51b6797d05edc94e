// SPDX-License-Identifier: BSD-2-Clause
/*
 * Awaits the ends of calls. There are hardly ever any, and a late program runs at every exit of every call, so it asks
 * a counter first. A thread is in one call at a time; only if the kernel did not run a late program, which it counts as
 * missed, one is left behind, which the thread's next one replaces.
 */

#include "ebpf/source/await.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(member) offsetof(struct source_awaited, member)

enum { AWAITED_WORD = 8, AWAITED_ENTRIES_MAX = 64, OLD_PID_ARGUMENT = 1, BPRM_ARGUMENT = 2 };

_Static_assert(CALL(bprm) == BPRM_ARGUMENT * AWAITED_WORD, "an awaited call is the context of sched_process_exec, too");

int source_await_init(struct source_await *await, const struct source_await_paths *paths, struct asterism_diag *diag)
{
	*await = (struct source_await){ .calls = -1, .count = -1, .paths = paths };
	await->calls = bpf_map_create(BPF_MAP_TYPE_HASH, "awaited", sizeof(uint32_t), sizeof(struct source_awaited),
				      SOURCE_AWAITED_MAX, NULL);
	if (await->calls >= 0)
		await->count = bpf_map_create(BPF_MAP_TYPE_ARRAY, "awaited_count", 4, AWAITED_WORD, 1, NULL);
	int error = await->calls < 0 ? await->calls : await->count;

	return error < 0 ? diag_error(diag, NULL, error, "cannot create the table of calls that wait for strings: %s",
				      strerror(-error))
			 : 0;
}

void source_await_fini(struct source_await *await)
{
	if (await->calls >= 0)
		close(await->calls);
	if (await->count >= 0)
		close(await->count);
	*await = (struct source_await){ .calls = -1, .count = -1 };
}

/* Whether both entries demand different values of one thing, which is known when the call begins. */
static bool exclude(const struct source_entry *a, const struct source_entry *b)
{
	for (uint32_t i = 0; i < a->when.count; i++) {
		const struct source_condition *left = &a->when.items[i];

		for (uint32_t j = 0; j < b->when.count; j++) {
			const struct source_condition *right = &b->when.items[j];

			if (left->compare == SOURCE_EQ && right->compare == SOURCE_EQ && left->value != right->value &&
			    path_same(left->path, right->path) && !path_reads_user(left->path))
				return true;
		}
	}
	return false;
}

void source_await_plan(struct source_unit *unit)
{
	if (unit->classic || strcmp(unit->tracepoint, "raw_syscalls:sys_enter") != 0)
		return;
	for (size_t i = 0; i < unit->entry_count; i++) {
		struct source_entry *entry = &unit->entries[i];
		uint32_t number = 1;

		if (!source_entry_reads_user(entry))
			continue;
		for (size_t j = 0; j < i; j++)
			if (unit->entries[j].await >= number && !exclude(entry, &unit->entries[j]))
				number = unit->entries[j].await + 1;
		entry->await = number <= AWAITED_ENTRIES_MAX ? number : 0;
		unit->awaits = unit->awaits || entry->await;
	}
}

void source_await_none(struct source_plan *plan)
{
	for (size_t i = 0; i < plan->unit_count; i++) {
		struct source_unit *unit = &plan->units[i];

		unit->awaits = false;
		for (size_t j = 0; j < unit->entry_count; j++)
			unit->entries[j].await = 0;
	}
}

bool source_is_call_number(const struct source_condition *condition)
{
	return condition->compare == SOURCE_EQ && condition->path->op == SOURCE_ACCESS &&
	       condition->path->argument == 1 && !condition->path->is_current;
}

/* Whether the entry demands that its call is another. */
static bool is_no_exec(const struct source_entry *entry)
{
	for (uint32_t i = 0; i < entry->when.count; i++) {
		const struct source_condition *condition = &entry->when.items[i];

		if (source_is_call_number(condition))
			return condition->value != SYS_execve && condition->value != SYS_execveat;
	}
	return false;
}

bool source_is_late(const struct source_entry *entry, bool for_exec)
{
	return entry->await && !(for_exec && is_no_exec(entry));
}

int source_await_late(const struct source_unit *unit, bool for_exec, struct source_unit *late)
{
	*late = *unit;
	late->entries = alloc_zero(unit->entry_count, sizeof *late->entries);
	late->entry_count = late->entry_capacity = 0;
	if (!late->entries)
		return -ENOMEM;
	for (size_t i = 0; i < unit->entry_count; i++)
		if (source_is_late(&unit->entries[i], for_exec))
			late->entries[late->entry_count++] = unit->entries[i];
	return 0;
}

/* The stack of the function that notes a call. */
struct noting {
	int16_t key, call;
};

/* r0 = an awaited call of this thread already: this one, or one left behind, then r0 is 0 and it is gone. */
static void emit_look(const struct source_await *await, struct ebpf_asm *as, const struct noting *noting)
{
	uint32_t none = ebpf_label(as);

	ebpf_load_map(as, R1, await->calls);
	ebpf_address(as, R2, R10, noting->key);
	ebpf_call(as, BPF_FUNC_map_lookup_elem);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_load(as, BPF_DW, R1, R0, CALL(id));
	ebpf_jump_if(as, BPF_JEQ, R1, R7, none);
	source_await_emit_forget(await, as, &(struct source_await_slots){ .key = noting->key });
	ebpf_mov_imm(as, R0, 0);
	ebpf_bind(as, none);
}

/* What execve will change. The call on the stack is a context like any other. */
static void emit_keep(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
		      const struct noting *noting)
{
	struct source_style own = *style;

	own.detached = true;
	ebpf_address(as, SOURCE_REG_CONTEXT, R10, noting->call);
	for (int i = 0; i < SOURCE_AWAIT_REGISTERS; i++) {
		ebpf_mov_imm(as, R0, 0);
		if (await->paths->registers[i])
			path_emit_value(as, &own, await->paths->registers[i]);
		ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(registers[i]), R0);
	}
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(tid), R0);
	ebpf_call_comm(as, R10, noting->call + (int32_t)CALL(comm));
}

/* A new call with the arguments in r6 and r7 for the entries in r8. r0 = 0, or why it finds no room. */
static void emit_insert(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
			const struct noting *noting)
{
	uint32_t full = ebpf_label(as);

	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(ts), R0);
	path_emit_value(as, style, await->paths->mm);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(mm), R0);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(regs), R6);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(id), R7);
	ebpf_store(as, BPF_DW, R10, noting->call + (int32_t)CALL(entries), R8);
	ebpf_store_imm(as, BPF_DW, R10, noting->call + (int32_t)CALL(bprm), 0);
	emit_keep(await, as, style, noting);
	ebpf_load_map(as, R1, await->calls);
	ebpf_address(as, R2, R10, noting->key);
	ebpf_address(as, R3, R10, noting->call);
	ebpf_mov_imm(as, R4, BPF_NOEXIST);
	ebpf_call(as, BPF_FUNC_map_update_elem);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, full);
	ebpf_load_value(as, R1, await->count, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_bind(as, full);
}

/* A function (regs, id, entries) that notes a call; 0, or not where there is no room. */
static uint32_t function_note(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style)
{
	struct source_style own = *style;
	struct noting noting;
	uint32_t function, fresh;

	if (ebpf_asm_find(as, "await_call", &function))
		return function;
	function = ebpf_asm_function(as, "await_call");
	ebpf_asm_enter(as, function);
	ebpf_note(as, "strings that are not there yet: await the call");
	own.task = own.leaves = false;
	noting.key = ebpf_stack_take(as, AWAITED_WORD);
	noting.call = ebpf_stack_take(as, sizeof(struct source_awaited));
	fresh = ebpf_label(as);
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R7, R2);
	ebpf_mov(as, R8, R3);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_store(as, BPF_W, R10, noting.key, R0);
	emit_look(await, as, &noting);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, fresh);
	ebpf_load(as, BPF_DW, R1, R0, CALL(entries));
	ebpf_alu(as, BPF_OR, R1, R8);
	ebpf_store(as, BPF_DW, R0, CALL(entries), R1);
	ebpf_return(as, 0);
	ebpf_bind(as, fresh);
	emit_insert(await, as, &own, &noting);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

void source_await_emit(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
		       const struct source_entry *entry, int16_t context)
{
	uint32_t function = function_note(await, as, style);

	ebpf_load(as, BPF_DW, R4, R10, context);
	ebpf_load(as, BPF_DW, R1, R4, 0);
	ebpf_load(as, BPF_DW, R2, R4, AWAITED_WORD);
	ebpf_mov_imm(as, R3, UINT64_C(1) << (entry->await - 1));
	ebpf_call_function(as, function);
}

void source_await_emit_find(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
			    struct source_await_slots *slots, uint32_t none)
{
	struct source_style own = *style;

	ebpf_note(as, "is a call of this thread awaited?");
	slots->key = ebpf_stack_take(as, AWAITED_WORD);
	slots->gone = ebpf_stack_take(as, AWAITED_WORD);
	own.task = false;
	if (slots->after_exec)
		ebpf_mov(as, R8, R1);
	ebpf_load_value(as, R1, await->count, 0);
	ebpf_load(as, BPF_DW, R1, R1, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	if (slots->after_exec)
		ebpf_load(as, BPF_DW, R0, R8, OLD_PID_ARGUMENT * AWAITED_WORD);
	else
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_store(as, BPF_W, R10, slots->key, R0);
	ebpf_load_map(as, R1, await->calls);
	ebpf_address(as, R2, R10, slots->key);
	ebpf_call(as, BPF_FUNC_map_lookup_elem);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_mov(as, R9, R0);
	ebpf_store_imm(as, BPF_DW, R10, slots->gone, 0);
	if (slots->after_exec) {
		ebpf_load(as, BPF_DW, R0, R8, BPRM_ARGUMENT * AWAITED_WORD);
		ebpf_emit(as, insn_alu_imm(BPF_NEG, R0, 0)); /* a number from here on, which a map may hold */
		ebpf_emit(as, insn_alu_imm(BPF_NEG, R0, 0));
		ebpf_store(as, BPF_DW, R9, CALL(bprm), R0);
		return;
	}
	path_emit_value(as, &own, await->paths->mm);
	ebpf_load(as, BPF_DW, R1, R9, CALL(mm));
	ebpf_alu(as, BPF_XOR, R1, R0);
	ebpf_store(as, BPF_DW, R10, slots->gone, R1);
}

void source_await_emit_ts(struct ebpf_asm *as, uint8_t record)
{
	ebpf_load(as, BPF_DW, R1, R9, offsetof(struct source_awaited, ts));
	ebpf_store(as, BPF_DW, record, offsetof(struct event_header, ts), R1);
}

void source_await_emit_comm(struct ebpf_asm *as, uint8_t record)
{
	for (int32_t i = 0; i < EVENT_COMM_BYTES; i += AWAITED_WORD) {
		ebpf_load(as, BPF_DW, R0, R9, (int32_t)offsetof(struct source_awaited, comm) + i);
		ebpf_store(as, BPF_DW, record, (int32_t)offsetof(struct event_header, comm) + i, R0);
	}
}

void source_await_emit_forget(const struct source_await *await, struct ebpf_asm *as,
			      const struct source_await_slots *slots)
{
	uint32_t gone = ebpf_label(as);

	ebpf_load_map(as, R1, await->calls);
	ebpf_address(as, R2, R10, slots->key);
	ebpf_call(as, BPF_FUNC_map_delete_elem);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, gone);
	ebpf_load_value(as, R1, await->count, 0);
	ebpf_mov_imm(as, R2, (uint64_t)-1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_bind(as, gone);
}
