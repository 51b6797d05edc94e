/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_AWAIT_H
#define EBPF_SOURCE_AWAIT_H

/*
 * System calls whose strings cannot be read where they are entered, because the page has not been touched yet: a
 * program must not wait for it. The call is awaited under its thread, and given back where the kernel has read the
 * strings: at its exit, for execve before the old memory goes.
 *
 * A unit whose entries may await has one such table; a late program looks there, evaluates those entries again with the
 * call's arguments, and gives the event the time of the entry.
 */

#include "base/diag.h"
#include "ebpf/path/value.h"
#include "ebpf/source/plan.h"

enum {
	SOURCE_AWAITED_MAX = 4096, /* calls at a time; what finds no room is unread */
	SOURCE_AWAIT_REGISTERS = 6,
};

/* What is known of an awaited call. Shared with generated code. */
struct source_awaited {
	uint64_t regs, id; /* what the tracepoint gave; first, so that it can be a context */
	uint64_t bprm;     /* where execve has succeeded: sched_process_exec's argument of this number */
	uint64_t ts;
	uint64_t mm;      /* the thread's memory; after execve it is another */
	uint64_t entries; /* bit i: the entry with await i + 1 */
	/* What execve changes; filled where that matters. */
	uint64_t registers[SOURCE_AWAIT_REGISTERS]; /* the call's arguments */
	uint32_t tid, pid;
	char comm[EVENT_COMM_BYTES];
};

/* Paths that noting a call evaluates. */
struct source_await_paths {
	const struct source_node *mm;
	const struct source_node *registers[SOURCE_AWAIT_REGISTERS]; /* NULL: what execve changes is not kept */
};

struct source_await {
	int calls; /* map: struct source_awaited by thread */
	int count; /* map: how many there are */
	const struct source_await_paths *paths;
};

/* Returns 0, -EPERM, -ENOMEM, with a sentence. Stores what it has made even then; source_await_fini gives it back. */
int source_await_init(struct source_await *await, const struct source_await_paths *paths, struct asterism_diag *diag);
void source_await_fini(struct source_await *await);

/*
 * Marks those entries of a unit that can be awaited, with numbers that differ where two may be about one call. Others,
 * should their strings not be readable, are unread at once.
 */
void source_await_plan(struct source_unit *unit);

/* Nothing is awaited after all. */
void source_await_none(struct source_plan *plan);

/* Whether a late program has the entry: one that is awaited; for_exec: of these the ones that may be about an execve.
 */
bool source_is_late(const struct source_entry *entry, bool for_exec);

/*
 * Makes of unit what a late program has: those entries. The caller frees late->entries. Returns 0, -ENOMEM.
 */
int source_await_late(const struct source_unit *unit, bool for_exec, struct source_unit *late);

/*
 * Makes of what source_await_late gave what can be told when execve has succeeded (source/exec.c). The binding is that
 * of sched_process_exec. Returns 0, -ENOMEM; -ENOENT, -EINVAL where the kernel does not keep the name as expected.
 */
int source_exec_rewrite(struct source_unit *late, const struct source_await_paths *paths,
			struct source_binding *binding);

/* Whether the condition, of a unit that awaits, demands one system call. */
bool source_is_call_number(const struct source_condition *condition);

/*
 * The call whose context lies at slot of the stack is awaited for entry. r0 = 0, or not where there is no room. r1-r5
 * are lost.
 */
void source_await_emit(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
		       const struct source_entry *entry, int16_t context);

/* The frame of a late program on the stack. */
struct source_await_slots {
	int16_t key;     /* the thread */
	int16_t gone;    /* not 0: its memory is another */
	bool after_exec; /* the program is at sched_process_exec; the context is in r1 */
};

/* r9 = the awaited call of this thread; goes to none where there is none. All registers are lost. */
void source_await_emit_find(const struct source_await *await, struct ebpf_asm *as, const struct source_style *style,
			    struct source_await_slots *slots, uint32_t none);

/* Fills the header of the record at register with the time of the call that r9 is, or the name of its thread. */
void source_await_emit_ts(struct ebpf_asm *as, uint8_t record);
void source_await_emit_comm(struct ebpf_asm *as, uint8_t record);

/* It is no longer awaited. r0-r5 are lost. */
void source_await_emit_forget(const struct source_await *await, struct ebpf_asm *as,
			      const struct source_await_slots *slots);

#endif
