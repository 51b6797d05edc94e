/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MATCHER_MATCHER_H
#define EBPF_MATCHER_MATCHER_H

/*
 * The rules of a program that run in the kernel: their maps, and the code that steps them at an event. The matcher
 * knows event records only; where records come from (a tracepoint's arguments, a test run) is the business of
 * the part that wraps its code into programs.
 *
 * Frame. Before the code of ebpf_matcher_emit, r6 points to the record (on the stack or in a map value), in which the
 * fields of ebpf_matcher_needs are filled; fields beyond those may hold anything. In a live program the code itself
 * fetches those header fields that only matter once a condition holds; it then reads the clock unless ts is not 0. The
 * code falls through to its end and leaves r6 alone; r0-r5 and r7-r9 are lost. It calls helpers and functions. It takes
 * at most EBPF_MATCHER_STACK_BYTES of main's stack (through ebpf_stack_take) and EBPF_CALL_STACK_BYTES in its
 * callbacks, and EBPF_RAISED_STACK_BYTES more where needs say that rules raise events, so main may use the rest of 512
 * bytes. It must run with preemption off, never twice at once on one CPU for
 * one program.
 */

#include "base/diag.h"
#include "ebpf/asm/asm.h"
#include "ebpf/codegen/acts.h"
#include "ebpf/kernel/feature.h"
#include "ebpf/source/needs.h"
#include "event/type.h"
#include "program/aggregate/aggregate.h"
#include "program/load.h"
#include "program/match.h"

#include <stdbool.h>

struct ebpf_matcher;
struct scope;

struct ebpf_matcher_options {
	const bool *excluded;          /* per rule, or NULL: none */
	const bool *may_be_unread;     /* per field of the program; NULL: every string may be */
	const bool *from_interrupt;    /* per type of the program: its events may interrupt a program; NULL: none may */
	int32_t irq_save, irq_restore; /* BTF ids of the kernel functions bpf_local_irq_save/restore; 0: missing */
	const struct ebpf_features *features;
	const struct ebpf_acts *acts; /* NULL: nothing is done */
	bool counts_why;              /* what becomes of runs is counted */
	bool deliver_all;             /* every match is handed out: none is added up by the programs alone */
	bool live; /* the events are those of the current task now: header fields may be fetched when they are needed */
	/*
	 * A match does not wake this process: that would take locks of the kernel while our programs run, and so raise
	 * events that rules about locks would take for the observed process's, or miss. The caller looks by itself.
	 */
	bool silent;
	uint32_t log_level;  /* as ebpf_options.verifier_log */
	uint32_t part_insns; /* how many instructions a part may have; 0: as many as are usually taken */
	uint32_t ring_bytes; /* of the ring of matches: a power of two, at least a page */
	program_match_fn *on_match;
	void *context;
};

/* Makes the maps. Returns 0, -EPERM, -ENOMEM, -E2BIG (a pool beyond what the kernel can hold); the diag says why. */
int ebpf_matcher_new(const struct program *program, const struct ebpf_matcher_options *options,
		     struct asterism_diag *diag, struct ebpf_matcher **made);
/*
 * Waits for the program that ends runs in time, which is loaded while its owner makes others. Before events can come.
 * Returns 0, -ENOMEM, -E2BIG (without a sentence), or what else ebpf_load_program does.
 */
int ebpf_matcher_ready(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void ebpf_matcher_free(struct ebpf_matcher *matcher);

/*
 * The code for one event type comes in parts, each small enough for one program (rules are spread over parts). 0: no
 * rule wants the type. Parts of one type must see the same events; their order does not matter.
 */
uint32_t ebpf_matcher_parts(const struct ebpf_matcher *matcher, uint32_t type);
void ebpf_matcher_needs(const struct ebpf_matcher *matcher, uint32_t type, uint32_t part, struct ebpf_needs *needs);

/*
 * Where the code goes that is emitted next: what actions ask before they touch a process (needed where there are acts),
 * and whether records come with pid, tid and comm, which are not the current task's then.
 */
void ebpf_matcher_set_place(struct ebpf_matcher *matcher, const struct scope *scope, bool knows_who);

/* A part of the code for a type. */
struct ebpf_matcher_part {
	uint32_t type, part;
};

/* Begins a program in as: which parts are emitted to it from now on. Errors stick to as. */
void ebpf_matcher_begin(struct ebpf_matcher *matcher, struct ebpf_asm *as, const struct ebpf_matcher_part *parts,
			size_t count);

/*
 * Emits the code of one of these parts. record_bytes: so much of the record is filled, and may be shown to functions
 * that the verifier follows once; 0: nothing. Errors stick to as.
 */
void ebpf_matcher_emit(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part,
		       uint32_t record_bytes);

/*
 * Emits code for an event that the rules of the part cannot be shown, because what they look at could not be read: it
 * is unread for each that looks at anything that may be, or for all where none is known whether it happened. r6 is left
 * alone.
 */
void ebpf_matcher_emit_unread(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part,
			      bool for_all);

/* Whether some matches, of rules that leave nothing to be done, wait until ebpf_matcher_poll is called: none wakes us.
 */
bool ebpf_matcher_waits(const struct ebpf_matcher *matcher);

/* Readable when ebpf_matcher_poll has matches to hand out. */
int ebpf_matcher_fd(const struct ebpf_matcher *matcher);

/* Hands out matches and lets time pass up to now. Stores how long to wait at most. Returns 0, what on_match returned,
 * -errno. */
int ebpf_matcher_poll(struct ebpf_matcher *matcher, uint64_t now_ns, uint64_t *wait_ns);

/* Events may have been lost: marks every open run of every rule, adds lost to the rules' counters. */
void ebpf_matcher_lose(struct ebpf_matcher *matcher, uint64_t lost);

/* Adds what statement (index in the program), a Count or Histogram, has counted to buckets (REACT_BUCKETS of them). */
void ebpf_matcher_tally(const struct ebpf_matcher *matcher, uint32_t statement, uint64_t *buckets);

/* Adds what became of rule's runs (program/why/why.h) to counts, where that was asked for. */
void ebpf_matcher_count_why(const struct ebpf_matcher *matcher, uint32_t rule, uint64_t *counts);

/* What programs add up for AGGREGATE: fills the source, which lives as long as the matcher. */
void ebpf_matcher_source(const struct ebpf_matcher *matcher, struct aggregate_source *source);

void ebpf_matcher_stats(const struct ebpf_matcher *matcher, uint32_t rule, struct program_rule_stats *stats);

#endif
