/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_EBPF_H
#define EBPF_EBPF_H

/*
 * The kernel executor: generates BPF programs from a program image, loads and attaches them, and hands out the
 * matches they find. Nothing is pinned: when the process goes, however it goes, everything in the kernel goes.
 * One session belongs to one thread at a time. docs/internals/execution.md says what happens at an event. Its folders,
 * from the bottom:
 *
 *   asm       instructions of one program, its labels and calls
 *   kernel    what the running kernel is like (types, features) and how programs get into it
 *   path      what a catalog's path reads, and the code that reads it
 *   states    how long the threads of processes run and wait
 *   source    which programs make which event records, whom they observe, and what they cannot read
 *   lower     expressions and actions of the image as instructions
 *   plan      what the code of a rule does at an event: found once, before any code
 *   memory    where runs, keys and counters lie, and the code that changes them
 *   sums      what matches come to where programs add them up, and how it is read
 *   codegen   the code that steps a rule at an event
 *   matcher   the programs of all rules, their maps, what comes out of them
 *   recorder  programs that write events into rings
 */

#include "base/diag.h"
#include "ebpf/plan/can-run.h"
#include "ebpf/source/scope.h"
#include "event/catalog.h"
#include "program/aggregate/aggregate.h"
#include "program/load.h"
#include "program/match.h"

#include <stdbool.h>
#include <sys/types.h>

struct ebpf;

struct ebpf_recorder;
struct ebpf_stops;

struct ebpf_options {
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	bool test_run;                          /* no tracepoints: events come through ebpf_feed */
	uint32_t verifier_log;      /* 0 none, else the kernel's log level; the log of a failed load goes to the diag */
	const bool *excluded;       /* per rule of the program: not for the kernel (user space does it), or NULL */
	bool counts_why;            /* what becomes of runs is counted, for ebpf_count_why */
	const bool *allowed;        /* per statement: what the programs may do at a match; NULL: nothing */
	bool anywhere;              /* to processes out of scope, too */
	struct ebpf_stops *stops;   /* where programs note whom they stop; NULL: they stop no process */
	bool deliver_all;           /* as in ebpf_matcher_options */
	program_match_fn *on_match; /* called from ebpf_poll and ebpf_feed */
	/*
	 * The stream of the excluded rules, called from ebpf_poll: every event in scope of a type in their OVER lists,
	 * in order, with all its fields; type is the program's index, seq counts from 1. A result other than 0 ends the
	 * poll. NULL: not wanted.
	 */
	int (*on_event)(void *context, const struct event_header *record);
	/* Told before the next of these events: lost were not handed over in between. May be NULL. */
	void (*on_lost)(void *context, uint64_t lost);
	struct ebpf_recorder *recorder; /* a guest (record.h) that the programs write to as well; NULL: none */
	bool past_exec;                 /* execve is looked at when it has succeeded, as before Linux 6.10; for tests */
	struct asterism_diag *news;     /* is told while it lasts; may be NULL */
	void *context;                  /* of on_match */
	void *event_context;            /* of on_event and on_lost */
};

/*
 * Generates, loads and (unless test_run) attaches. Returns 0; -EPERM (no privilege), -EOPNOTSUPP (the kernel lacks
 * BTF, a tracepoint or a feature), -EINVAL (the verifier refused: a defect of ours; the diag holds its words), -ENOMEM,
 * -E2BIG. The diag always has one clear sentence.
 */
int ebpf_new(const struct program *program, struct event_catalog *catalog, const struct ebpf_options *options,
	     struct asterism_diag *diag, struct ebpf **made);
void ebpf_free(struct ebpf *ebpf);

/*
 * No event after this; what has happened is there for the next ebpf_poll. No deadline that comes later counts: what
 * would have met it is not seen any more.
 */
void ebpf_detach(struct ebpf *ebpf);

/* Adds a process to the scope. */
int ebpf_scope_add(struct ebpf *ebpf, pid_t pid);

/* A descriptor that polls readable when ebpf_poll has something to do. */
int ebpf_fd(const struct ebpf *ebpf);

/*
 * Handles what is pending: matches, deadlines, expired runs, loss. Never blocks. Stores in *wait_ns how long the caller
 * may sleep at most if ebpf_fd stays silent (UINT64_MAX: for ever). Returns 0, or what on_match returned, or -errno.
 */
int ebpf_poll(struct ebpf *ebpf, uint64_t *wait_ns);

/* test_run only: runs one event through the generated matchers and hands out its matches. As engine_feed. */
int ebpf_feed(struct ebpf *ebpf, const struct event_header *record);

/* The same without an event: lets time pass up to now. As engine_advance. */
int ebpf_advance(struct ebpf *ebpf, uint64_t now_ns);

/* Whether a process is in scope. */
bool ebpf_scope_has(const struct ebpf *ebpf, pid_t pid);

/* As ebpf_matcher_source. */
void ebpf_source(const struct ebpf *ebpf, struct aggregate_source *source);

/* As ebpf_matcher_tally. */
void ebpf_tally(const struct ebpf *ebpf, uint32_t statement, uint64_t *buckets);

/* Adds what became of the runs of rule, as program/why/why.h has it, to counts. */
void ebpf_count_why(const struct ebpf *ebpf, uint32_t rule, uint64_t *counts);

/* The counters of rule, and over all programs the number of events seen in scope. */
void ebpf_stats(const struct ebpf *ebpf, uint32_t rule, struct program_rule_stats *stats);
uint64_t ebpf_events(const struct ebpf *ebpf);

/* System calls of 32-bit code in scope, where rule looks for system calls; they are no events. */
uint64_t ebpf_calls_32bit(const struct ebpf *ebpf, uint32_t rule);

/* Operations of io_uring in scope that stand for system calls which rule looks for; they are no events. */
uint64_t ebpf_io_uring(const struct ebpf *ebpf, uint32_t rule);

/* Events and matches that the kernel did not hand to us (recursion, ring full), all rules together; no refused runs. */
uint64_t ebpf_lost(const struct ebpf *ebpf);

/* As source_set_replaced. */
uint64_t ebpf_replaced(const struct ebpf *ebpf);

#endif
