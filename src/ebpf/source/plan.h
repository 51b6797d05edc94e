/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_PLAN_H
#define EBPF_SOURCE_PLAN_H

/*
 * The BPF programs that a set of wanted event types needs: one unit per tracepoint, way of attaching and scope; probes
 * in user code share units. Everything that can be wrong with a catalog's paths on this kernel comes to light here,
 * before anything is loaded.
 */

#include "ebpf/kernel/attach-probe.h"
#include "ebpf/path/resolve.h"
#include "ebpf/source/needs.h"

/* The group of a set's own wants. */
#define SOURCE_GROUP_OWN UINT32_MAX

/* One event type and what somebody wants to know of its events. */
struct source_want {
	const struct event_type *type;
	uint32_t index;                 /* the type's number for the record */
	uint32_t group;                 /* wants of different groups never share a program */
	bool counted;                   /* its events count for the statistics */
	const struct ebpf_needs *needs; /* NULL: the whole record, everything unknown zero */
	const bool *
		asked; /* per body field: who asks is told where this kernel does not have it; NULL: as needs, if any */
	bool packed;   /* there is no record: the body fetches the needed fields itself */
};

/* A want as one of its type's sources serves it. */
struct source_entry {
	const struct source_want *want;
	struct source_conditions when;
	struct source_node **paths; /* per body field; NULL: not needed */
	/* Bytes of the record that are filled, from its start; packed: what the strings take one after the other. */
	uint32_t extent;
	uint32_t await; /* source/await.h: the entry's number, from 1; 0: what cannot be read at once is unread */
	uint64_t bit;   /* of probes in user code: set in the cookies of those where the entry is asked */
};

/* A probe in user code. */
struct source_spot {
	const char *tracepoint;
	struct attach_place place;
	uint64_t cookie; /* what it is attached with: the bits of its entries */
};

/* A system call whose own tracepoint a program is attached to. */
struct source_call {
	const char *tracepoint;
	uint32_t attach_id;
};

struct source_unit {
	const char *tracepoint; /* "system:name" */
	bool classic;
	uint32_t attach_id;        /* type id of the prototype; of the tracepoint in tracefs where classic */
	const char *module;        /* whose type attach_id is; NULL: the kernel's */
	struct source_spot *spots; /* where the program is attached instead of at a tracepoint; the arena's */
	size_t spot_count;
	bool is_own;               /* as that of the spots' places */
	struct source_call *apart; /* source/apart.h: where the program is attached instead; the arena's */
	size_t apart_count;
	const char
		*why; /* source/apart.h: a clause that says why it is attached there, or not; NULL: nothing to choose */
	struct source_node *cookie; /* by which entries are told apart; NULL: they are asked at all spots */
	const char *scope_text;
	struct source_paths scope;
	uint32_t group;
	const struct source_condition *native; /* tells calls of 32-bit code from others; NULL: there are none */
	bool counts_others;                    /* those are counted here */
	bool awaits;                           /* some entry does */
	struct source_await *await;            /* then, once it is needed */
	struct source_entry *entries;
	size_t entry_count, entry_capacity;
};

struct source_plan {
	struct arena *arena;
	struct source_unit *units;
	size_t unit_count, unit_capacity;
	const struct event_field **absent; /* of which it was told that this kernel does not have them */
	size_t absent_count, absent_capacity;
};

/*
 * The wants must outlive the plan. A type with at least one source that this kernel can serve is served by those;
 * -EOPNOTSUPP and a sentence for one with none; -ENOMEM.
 */
int source_plan_new(const struct btf_kernel *btf, const struct source_want *wants, size_t count,
		    struct asterism_diag *diag, struct source_plan **made);
void source_plan_free(struct source_plan *plan);

/* Whether a condition of the entry reads memory of the user: if it cannot, it is unknown whether the event happens. */
bool source_asks_user(const struct source_entry *entry);

/* Whether a condition or a needed field does. */
bool source_entry_reads_user(const struct source_entry *entry);

/* Whether some needed string of the unit is put together (path/walk.h). */
bool source_walks(const struct source_unit *unit);

/* Moves the latter half of unit's entries to a new unit at the end. False where there is only one. -ENOMEM. */
int source_plan_split(struct source_plan *plan, size_t unit);

/*
 * Whether the kernel, whose BTF is open, raises events of type by one source: 0, else with one clause in reason -ESRCH
 * (none does: the source's file has no such function, probe or argument), another -Exxx (this one does not), -ENOMEM.
 */
int source_judge(const struct btf_kernel *btf, const struct event_type *type, uint32_t source, char *reason,
		 size_t size);

/* As ebpf_source_available for one source of type, against a BTF that is open. */
int source_available(const struct btf_kernel *btf, const struct event_type *type, uint32_t source, char *reason,
		     size_t size);

/*
 * The condition, as a WHEN has it, that holds at a tracepoint whether a catalog says so or not; NULL: none. Numbers of
 * system calls made by 32-bit programs mean other calls, so these calls are never events.
 */
const char *source_implied_when(const char *tracepoint);

/* Whether events of type may be raised while another program runs on the same CPU. */
bool source_may_interrupt(const struct event_type *type);

/*
 * Sets may[i] where body field i of type, of the first count, may be unread: is read from memory of the user, which may
 * not be there, by one of its sources at least. Returns 0, -ENOMEM.
 */
int source_may_be_unread(const struct event_type *type, uint32_t count, bool *may);

/* Whether events of type are system calls, so that those of 32-bit code are missing among them. */
bool source_is_of_calls(const struct event_type *type);

/* Whether events of type tell of the kernel's own locks, those that our programs wait for included. */
bool source_is_of_locks(const struct event_type *type);

#endif
