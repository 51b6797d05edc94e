/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SET_H
#define EBPF_SOURCE_SET_H

/*
 * The live half of an executor: all programs that turn the kernel's tracepoints into event records, the scope that they
 * ask, and the ring for those records that go to user space. What happens with the others is the caller's body.
 *
 * A record that is only shipped is a want without a body.
 */

#include "ebpf/source/emit.h"
#include "ebpf/source/scope.h"
#include "ebpf/source/ship.h"

struct source_set;
struct ebpf_run_time;

struct source_set_options {
	const struct source_want *wants; /* must outlive the set */
	size_t count;
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	const struct btf_kernel *btf;           /* needed while the set is made */
	const struct ebpf_features *features;
	uint32_t log_level;
	bool cautious;                 /* begin with the form for kernels that refuse the usual one; for tests */
	bool past_exec;                /* execve is looked at when it has succeeded, as before Linux 6.10; for tests */
	source_begin_fn *begin;        /* NULL: there is nothing to begin with */
	source_body_fn *body, *unread; /* for wants with needs */
	void *body_context;
	struct ship_options ship;   /* for wants without; on_event NULL where there are none */
	struct asterism_diag *news; /* is told while the set lasts; may be NULL */
};

/*
 * Plans and loads, attaches nothing. Returns 0; -EPERM, -EOPNOTSUPP, -EINVAL (the verifier refused), -E2BIG (one type
 * alone is too much for a program), -ENOMEM, with a sentence.
 */
int source_set_new(const struct source_set_options *options, struct asterism_diag *diag, struct source_set **made);

/*
 * The same without programs, to be asked source_set_places and freed. What decides where programs are attached is tried
 * in the kernel; features NULL: it is not, for lack of privileges, and taken to be there.
 */
int source_set_imagine(const struct source_set_options *options, struct asterism_diag *diag, struct source_set **made);

enum source_kind {
	SOURCE_RAW,     /* at a tracepoint, by its type in BTF */
	SOURCE_TRACEFS, /* at a tracepoint, by its number in tracefs */
	SOURCE_PROBE,   /* in user code */
};

enum source_role {
	SOURCE_OWN,       /* the unit's own program */
	SOURCE_LATE,      /* gives back what is awaited */
	SOURCE_LATE_EXEC, /* the same, of an execve */
	SOURCE_PREFETCH,  /* sees to it that memory is there */
};

/* Where a program is attached, as long as the verifier does not make several of it. */
struct source_place {
	const struct source_unit *unit; /* whose entries it has, and its calls or spots */
	enum source_kind kind;
	const char *tracepoint; /* of calls and spots, the unit has their own */
	size_t chain;           /* in a chain of so many programs; 0: it is attached itself */
	enum source_role role;
	const char *why; /* a clause */
};

/* Whether the program is about the entry of its unit. */
bool source_place_has(const struct source_place *place, const struct source_entry *entry);

/* Stores what source_set_new and source_set_attach do with the set's plan; alloc_free. Returns 0, -ENOMEM. */
int source_set_places(const struct source_set *set, struct source_place **places, size_t *count);

/* No event begins after this; programs may still run on other CPUs. */
void source_set_detach(struct source_set *set);

/* Detaches everything first, so that no event sees half of it. */
void source_set_free(struct source_set *set);

/* From here on events happen. Returns 0, -EPERM, -errno, with a sentence. */
int source_set_attach(struct source_set *set, struct asterism_diag *diag);

/*
 * Of an attached set: detaches programs of which nothing is wanted, and attaches those again of which something is;
 * others are not touched. Programs with a part in several places stay. Returns as source_set_attach.
 */
int source_set_adjust(struct source_set *set, bool (*is_wanted)(void *context, const struct source_want *want),
		      void *context, struct asterism_diag *diag);

/* As scope_add, scope_has. */
int source_set_add(struct source_set *set, pid_t pid);
bool source_set_has(const struct source_set *set, pid_t pid);

/* Polls readable when shipped events should be fetched; -1 where nothing is shipped. */
int source_set_fd(const struct source_set *set);

/*
 * Hands out shipped events, and stores in *missed_now how many firings the kernel has newly been found to have kept
 * from us (they are told to on_lost too, beside what the ring had no room for), and in *wait_ns how long the caller may
 * wait at most. The last poll asks for firings that were missed whenever it comes. Returns 0, what on_event returned,
 * -errno.
 */
int source_set_poll(struct source_set *set, bool last, uint64_t *missed_now, uint64_t *wait_ns);

/* Events in scope so far, over all wants that are counted. */
uint64_t source_set_events(const struct source_set *set);

/* System calls of 32-bit code in scope so far, none of which is an event. */
uint64_t source_set_calls_32bit(const struct source_set *set);

/* Operations of io_uring in scope so far whose opcodes are among the bits; none is an event. */
uint64_t source_set_io_uring(const struct source_set *set, uint64_t opcodes);

/* Firings missed and records dropped so far, as far as polls have found out. */
uint64_t source_set_lost(const struct source_set *set);

/* Files with probes of the set that have been replaced since: what begins with the new ones meets no probe. */
uint64_t source_set_replaced(const struct source_set *set);

/* As ebpf_run_time. */
void run_time_of_sources(const struct source_set *set, struct ebpf_run_time *time);

/* For tests and -v: programs, and what each is attached to. */
size_t source_set_programs(const struct source_set *set);
int source_set_program(const struct source_set *set, size_t program);
const char *source_set_tracepoint(const struct source_set *set, size_t program);

#endif
