/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_EMIT_PRIV_H
#define EBPF_EMIT_PRIV_H

/*
 * Inside the generator of matching code. For one rule and one event type, in main:
 *
 *   for each walk:  lock the bucket of the event's key, step the runs in its chain, unlock
 *   open:           try the start state's transitions
 *   settle:         runs that now wait under another key go to their new buckets; so does the opened one
 *
 * Never are two buckets locked at once, and nothing that was linked during an event is stepped by it. A walk is a
 * callback of bpf_loop; it shares the frame (struct matcher_frame) on main's stack. Registers throughout: r6 record, r7 run
 * (or whatever holds the slots), r8 scratch between calls, r9 frame.
 */

#include "ebpf/matcher-priv.h"

#include <stddef.h>

/* On main's stack, 8 bytes per member; pointers are the kernel's. */
struct matcher_frame {
	uint64_t record;
	uint64_t next;   /* the run to step next */
	uint64_t bucket; /* address of the locked one */
	uint64_t moved;  /* runs to link again, by their next; 0: none */
	uint64_t matched; /* some run matched at this event (AFTER MATCH DROP) */
	uint64_t epoch;  /* of losses when the event arrived */
	uint64_t holder; /* address of a match's slots, for dropping by its key */
	uint64_t spare;
};

/* Functions that a rule's code calls; made when the rule is begun. */
struct emit_functions {
	uint32_t lock;    /* (bucket): 0, or 1 when it could not be had */
	uint32_t take;    /* (): a free run; 0: the pool is full; more than the pool: too much contention */
	uint32_t release; /* (run, index) */
	uint32_t link;    /* (run, index, bucket index): appends to the chain; when that cannot be, gives the run back */
};

struct emit {
	struct ebpf_matcher *matcher;
	struct ebpf_asm *as;
	const struct program *program;
	const struct matcher_rule *place;
	const struct program_rule *rule;
	uint32_t type;
	struct ebpf_lower lower;
	struct emit_functions functions;
	int16_t frame; /* offset from r10 in main */
	uint32_t drop_walk;
};

/* What a step may lead to, as labels of the callback. */
struct emit_exits {
	uint32_t stay;  /* the run waits on where it is */
	uint32_t end;   /* it ends */
	uint32_t match; /* it matches and ends */
	uint32_t moves; /* it waits under another key */
};

/* Runs that an event finds together: one key of one group. */
struct emit_walk {
	uint32_t group;
	const struct program_key *key;
	bool any; /* there is something to do */
};

/* emit-pool: locks, chains, places. */
void emit_functions_new(struct emit *emit);
void emit_run_address(struct emit *emit, uint8_t dst, uint8_t index);
void emit_count(struct emit *emit, size_t counter, int32_t by);
void emit_lose(struct emit *emit);
void emit_unlock(struct emit *emit, uint8_t bucket);
void emit_unlink(struct emit *emit);
void emit_control(struct emit *emit, uint8_t dst);
void emit_scratch(struct emit *emit, uint8_t dst);

/* emit-hash: r1 = the bucket of an event's key (record in r6), of a run's (slots in r7), given its group. */
void emit_hash_event(struct emit *emit, const struct emit_walk *walk);
void emit_hash_run(struct emit *emit, uint32_t group);
/* Leaves for differ unless the run in r7 has the event's key. */
void emit_compare_key(struct emit *emit, const struct emit_walk *walk, uint32_t differ);
void emit_bucket_address(struct emit *emit, uint8_t dst, uint8_t index);

/* emit-step: takes the run in r7 through the transitions of its state. */
void emit_condition(struct emit *emit, uint32_t node, uint32_t if_false);
void emit_actions(struct emit *emit, const struct program_transition *transition);
void emit_note_transition(struct emit *emit, const struct program_transition *transition);
void emit_step(struct emit *emit, uint32_t state, const struct emit_exits *exits);
bool emit_moves(const struct emit *emit, uint32_t from, const struct program_transition *transition);

/* emit-copy: SKIPTILLANY's copy of the run in r7. */
void emit_copy(struct emit *emit, const struct program_transition *transition, uint32_t done);

/* emit-match */
void emit_match_run(struct emit *emit, uint32_t end);
void emit_match_reserve(struct emit *emit, uint32_t none);
void emit_match_submit(struct emit *emit, uint8_t match);
void emit_match_discard(struct emit *emit, uint8_t match);

/* emit-walk, emit-open, emit-settle: the parts of a rule's code in main. */
uint32_t emit_walks(const struct emit *emit, struct emit_walk *walks, uint32_t max);
void emit_walk(struct emit *emit, const struct emit_walk *walk);
void emit_open(struct emit *emit);
void emit_settle(struct emit *emit);

/* emit-rule: everything one rule does at one type. */
void emit_rule(struct emit *emit);

#endif
