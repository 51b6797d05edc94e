/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SET_PRIV_H
#define EBPF_SOURCE_SET_PRIV_H

/* What a set of programs consists of. */

#include "ebpf/kernel/array.h"
#include "ebpf/kernel/attach.h"
#include "ebpf/kernel/load.h"
#include "ebpf/source/await.h"
#include "ebpf/source/calls-32bit.h"
#include "ebpf/source/chain.h"
#include "ebpf/source/io-uring.h"
#include "ebpf/source/links.h"
#include "ebpf/source/plan.h"
#include "ebpf/source/set.h"
#include "ebpf/source/watch.h"

/* A program. */
struct loaded {
	size_t unit; /* of the plan */
	const char *tracepoint;
	bool classic;
	uint32_t attach_id;
	const struct source_spot *spots; /* of probes in user code; the plan's */
	size_t spot_count;
	const struct source_call *apart; /* the unit's */
	size_t apart_count;
	uint64_t bits; /* those of its entries: it is attached at spots with one of them */
	int program;
	struct ebpf_array area; /* a part for each CPU of stride bytes, and one for all */
	uint32_t stride;
	struct watch *watch; /* who counts what the kernel does not; may be NULL */
	int64_t misses;      /* -1: the kernel does not count */
	struct source_calls calls;
	bool late; /* awaited calls are given back here, */
	bool past; /* after their memory has gone */
	bool prefetches;
	struct chain_place place;
	bool is_behind; /* another program calls it: it is not attached */
};

/* The first attempt at a unit's own program: they are loaded side by side, as the verifier takes most of a session's
 * beginning. */
struct draft {
	struct loaded program;
	struct ebpf_load_options load;
	struct ebpf_asm *as; /* NULL: there is none, or it has been taken */
	int result;
};

/* Where awaited calls are given back. */
struct late_place {
	const char *tracepoint;
	bool for_exec; /* only for calls whose memory goes with them */
	bool after;    /* when it has gone */
	uint32_t attach_id;
};

enum { LATE_PLACES = 3 };

struct source_set {
	struct source_set_options options;
	uint32_t cpu_count;
	uint32_t cast;
	struct io_uring ring;
	struct source_want *wants; /* the options', and that of ring where there is one */
	size_t want_count;
	struct source_plan *plan;
	struct source_node *tid, *tgid; /* of the current task; NULL where its type is not known */
	struct source_await_paths await;
	struct late_place late[LATE_PLACES]; /* attach_id 0: the kernel has no such tracepoint */
	struct chains chains;
	struct scope *scope;
	struct calls_32bit calls;
	struct ship *ship;
	struct loaded *programs;
	size_t program_count, program_capacity;
	struct draft *drafts; /* while programs are loaded: of the first units of the plan */
	size_t draft_count;
	struct links links; /* owner: number of the program */
	uint64_t missed, next_misses_ns;
};

/* Decides what the set consists of, before anything of it is loaded. Returns as source_set_new. */
int source_set_plan(struct source_set *set, struct asterism_diag *diag);

#endif
