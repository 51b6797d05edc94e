/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_EMIT_PRIV_H
#define EBPF_CODEGEN_EMIT_PRIV_H

/*
 * Inside the generator of matching code. For one rule and one event type, in main:
 *
 *   for each walk:  step the runs in the chain of the bucket of the event's key
 *   open:           try the start state's transitions
 *   settle:         runs that now wait under another key go to their new buckets; so does the opened one
 *
 * A rule holds one lock at most, through all of this or in one of these steps (codegen/hold.c), and nothing that was
 * linked during an event is stepped by it. A walk is a callback of bpf_loop; it shares the frame (struct matcher_frame)
 * on main's stack. Registers throughout: r6 record, r7 run (or whatever holds the slots), r8 scratch between calls, r9
 * frame.
 */

#include "ebpf/matcher/matcher-priv.h"
#include "ebpf/memory/frame.h"
#include "program/query.h"

#include <stddef.h>
#include <stdio.h>

/* Functions that a rule's code calls; made when the rule is begun. */
struct emit_functions {
	uint32_t lock;        /* (bucket): 0, or 1 when it could not be had */
	uint32_t take;        /* (): a free run; 0: the pool is full; more than the pool: too much contention */
	uint32_t release;     /* (number) */
	uint32_t late, match; /* (record): fill what is needed once the event matters, for a match */
	uint32_t link;        /* (number, bucket number): appends to the chain, or gives the run back */
};

struct emit_derived;

struct emit {
	struct ebpf_matcher *matcher;
	struct ebpf_asm *as;
	const struct program *program;
	const struct matcher_rule *place;
	const struct program_rule *rule;
	uint32_t type;
	struct ebpf_lower lower;
	struct emit_functions functions;
	struct matcher_header header;
	int16_t irq_flags; /* room on the stack of the current function for the interrupt state */
	bool is_alone;     /* no other rule is in the part */
	bool is_late_once; /* control passes at most once where the late part of the header is fetched */
	bool has_late;     /* it has been fetched before what follows */
	bool is_sweep;     /* the code runs in our own process, at a deadline */
	bool holds;        /* what it touches is locked all the time */
	const struct emit_derived *derived; /* NULL: nothing is raised here */
	bool is_derived;                    /* the event was raised by a rule */
};

/* What a step may lead to, as labels of the callback. */
struct emit_exits {
	uint32_t stay;  /* the run waits on where it is */
	uint32_t end;   /* it ends */
	uint32_t match; /* it matches and ends */
	uint32_t moves; /* it waits under another key */
	/* Only of a machine: a match is told and the run stays; the timer may be another, and it stays. */
	uint32_t tell, timed;
};

/* Runs that an event finds together: one key of one group. */
struct emit_walk {
	uint32_t group;
	const struct program_key *key;
};

/* The transitions of the rule's state on the event's type: the first of *count. */
static inline const struct program_transition *emit_transitions(const struct emit *emit, uint32_t state,
								uint32_t *count)
{
	return program_transitions_on(emit->program, &program_states(emit->program, emit->rule)[state], emit->type,
				      count);
}

/* The class whose slots are the keys of group. */
static inline const struct program_class *emit_class_of(const struct emit *emit, uint32_t group)
{
	return &program_classes(emit->program, emit->rule)[emit->place->groups[group].class];
}

static inline bool emit_is_machine(const struct emit *emit)
{
	return emit->rule->semantics == PROGRAM_MACHINE;
}

/* Whether a run that takes the transition goes on. */
static inline bool emit_lives_on(const struct program_transition *transition)
{
	return transition->target != PROGRAM_TARGET_END && transition->target != PROGRAM_TARGET_MATCH;
}

/* Ready to generate code for rule at type. */
struct emit matcher_emit_of(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t rule, uint32_t type);

/* emit-memory: addresses and counters. */
void emit_control(struct emit *emit, uint8_t dst);
void emit_line_of(struct emit *emit, uint8_t dst, uint8_t index);
void emit_cpu_line(struct emit *emit, uint8_t dst, uint32_t unknown);
void emit_run_address(struct emit *emit, uint8_t dst, uint8_t index);
void emit_bucket_address(struct emit *emit, uint8_t dst, uint8_t index);
void emit_check_index(struct emit *emit, uint8_t index, uint32_t bad);
void emit_count(struct emit *emit, size_t counter, int32_t by);
void emit_count_opened(struct emit *emit, uint32_t none);
void emit_lose(struct emit *emit);

/* The same where what is lost is an event that the rule raises. */
void emit_lose_raised(struct emit *emit);
void emit_now(struct emit *emit);

/* emit-bucket: locks and chains. */
uint32_t emit_function_lock(struct ebpf_asm *as);
uint32_t emit_function_link(struct emit *emit);
/* A function of the rule that takes numbers and returns one. */
uint32_t emit_function_of_numbers(struct emit *emit, const char *name, uint32_t numbers);
void emit_lock(struct emit *emit, uint8_t bucket, uint32_t busy);
void emit_unlock(struct emit *emit, uint8_t bucket);
void emit_unlink(struct emit *emit);

/*
 * emit-hold: whether an event takes the lock before everything else; doing so, leaving for none if there is nothing to
 * do or (a loss) it cannot be had; and giving it back.
 */
bool emit_needs_hold(const struct emit *emit);
void emit_hold(struct emit *emit, uint32_t none);
void emit_let_go(struct emit *emit);
/* The same lock where the bucket is known, the frame's. Overwrites r0-r5, r8. */
void emit_lock_held(struct emit *emit, uint32_t busy);

/* emit-pool: places for runs. */
void emit_functions_new(struct emit *emit);
void emit_take(struct emit *emit, uint32_t none);
void emit_release(struct emit *emit, size_t number);

/* emit-header */
void emit_header_begin(struct ebpf_asm *as, const struct matcher_header *header, struct emit_functions *functions);
void emit_header_late(struct emit *emit);
void emit_header_match(struct emit *emit);

/* emit-chain */
void emit_fetch_run(struct emit *emit, uint32_t end);
void emit_turn_end(struct emit *emit, uint32_t end);
void emit_remove_run(struct emit *emit);
void emit_check_key(struct emit *emit, const struct emit_walk *walk, uint32_t other);
void emit_loop_turns(struct emit *emit);
void emit_loop_chain(struct emit *emit, uint32_t function);

/* emit-hash: r1 = the bucket of an event's key (record in r6), of a run's (slots in r7), given its group. */
void emit_hash_event(struct emit *emit, const struct emit_walk *walk);
void emit_hash_run(struct emit *emit, uint32_t group);
/* Leaves for differ unless the run in r7 has the event's key. */
void emit_compare_key(struct emit *emit, const struct emit_walk *walk, uint32_t differ);
/* Leaves for differ unless the runs in r7 and r6 have the same key. */
void emit_compare_runs(struct emit *emit, uint32_t group, uint32_t differ);

/* emit-step: takes the run in r7 through the transitions of its state. */
void emit_condition(struct emit *emit, uint32_t node, uint32_t if_false);
void emit_actions(struct emit *emit, const struct program_transition *transition);
void emit_note_transition(struct emit *emit, uint32_t state, const struct program_transition *transition,
			  const char *part, uint32_t node);
uint32_t emit_group(const struct emit *emit, uint32_t state);
void emit_overdue(struct emit *emit, uint32_t overdue);
void emit_step(struct emit *emit, uint32_t state, const struct emit_exits *exits);
bool emit_moves(const struct emit *emit, uint32_t from, const struct program_transition *transition);

/* emit-copy: SKIPTILLANY's copy of the run in r7; whether a transition makes one that lives on. */
bool emit_copies(const struct emit *emit, const struct program_transition *transition);
void emit_copy(struct emit *emit, uint32_t state, const struct program_transition *transition);

/* emit-history: RETURN SEQUENCE, over the slots in use. */
void emit_history_begin(struct emit *emit);
void emit_history_append(struct emit *emit, const struct program_transition *transition);

/* emit-aside: a place per CPU for the slots of a run that may end before it is one. */
bool emit_needs_aside(const struct emit *emit, uint32_t type);
void emit_aside(struct emit *emit, uint8_t dst);

/* emit-open: what opening and copying share. */
void emit_set_slots(struct emit *emit, uint8_t base, size_t off);
void emit_link(struct emit *emit, uint32_t group);

/*
 * emit-match: r8 = room in the ring for a match, leaving for none (a counted loss) where there is none; fill everything
 * but the slots (order in r7's run, or in r1 where there is no run) and hand it over, or give it back.
 */
void emit_match_reserve(struct emit *emit, uint32_t none);
void emit_match_fill(struct emit *emit);
void emit_match_submit(struct emit *emit);
void emit_match_discard(struct emit *emit);
void emit_tainted(struct emit *emit);
void emit_match_order(struct emit *emit);
/* The whole of it for the run in r7; fill as emit_match_fill. Overwrites r8. */
void emit_match_run(struct emit *emit, void (*fill)(struct emit *emit));

/*
 * emit-act: whether the programs do something at a match of the rule; whether user space is to hear of it; and doing it
 * for the run in the slots, done (on the stack of the current function) being the statements that are. Overwrites
 * r0-r5.
 */
bool emit_acts(const struct emit *emit);
/* If these statements are done, nothing is left to do that cannot wait; 0: something is, or there are none. */
uint64_t emit_acts_alone(const struct emit *emit);
bool emit_tells(const struct emit *emit);
void emit_act(struct emit *emit, int16_t done);

/* emit-walk: steps the runs that the event finds. */
uint32_t emit_walk_count(const struct emit *emit);
/* How many walks there are; *last is the last of them, if there is one. */
uint32_t emit_find_walks(const struct emit *emit, struct emit_walk *last);
void emit_look_at_walks(struct emit *emit, uint32_t some);
void emit_walks(struct emit *emit);
/* The key under which the event finds runs of class, or NULL. */
const struct program_key *emit_key_of(const struct emit *emit, uint32_t class);
/* Calls function for the runs in the chain of the event's key. */
void emit_walk_chain(struct emit *emit, const struct emit_walk *walk, uint32_t function);

/* emit-drop: ends, or marks, runs of the event's key; one that a loss has spoiled. */
void emit_drop(struct emit *emit);
void emit_if_stale(struct emit *emit, uint32_t stale);
void emit_mark_if(struct emit *emit, uint32_t marked);

/* emit-open, emit-settle: the rest of a rule's code in main. */
bool emit_has_moves(const struct emit *emit);
bool emit_links_late(const struct emit *emit);
void emit_push_moved(struct emit *emit, uint8_t run, size_t number);
void emit_open(struct emit *emit);
/* Leaves for some if the event may open a run. */
void emit_look_at_openings(struct emit *emit, uint32_t some);
void emit_settle(struct emit *emit);

/* emit-rule: everything one rule does at one type. */
bool emit_rule_wants(const struct emit *emit);
void emit_rule(struct emit *emit);

#endif
