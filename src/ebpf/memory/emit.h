/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_EMIT_H
#define EBPF_MEMORY_EMIT_H

/*
 * The emitter: code for one rule and one event type, under way, and what it does to memory: how runs, chains, locks,
 * counters and the frame are read and changed by generated code; what is done when is for ebpf/codegen. It may touch:
 * the plan and the layout, which it only reads, and the assembler. Registers throughout: r6 record, r7 run (or whatever
 * holds the slots), r8 scratch between calls, r9 frame (struct matcher_frame) on main's stack.
 */

#include "ebpf/lower/lower.h"
#include "ebpf/memory/frame.h"
#include "ebpf/memory/layout.h"
#include "program/query.h"
#include "program/why/why.h"

#include <stddef.h>

/* Members of what lies in memory, from its address. */
#define RUN(member)     offsetof(struct matcher_run, member)
#define BUCKET(member)  offsetof(struct matcher_bucket, member)
#define CONTROL(member) offsetof(struct matcher_control, member)
#define CPU(member)     offsetof(struct matcher_cpu, member)
#define MATCH(member)   offsetof(struct matcher_match, member)
#define HEADER(member)  offsetof(struct event_header, member)

struct ebpf_acts;
struct scope;

/* What all code of a matcher is generated from. */
struct emit_context {
	const struct plan *plan;
	struct memory *memory;
	const struct emit_derived *derived; /* of the program under way: for raised events; NULL: none */
	int room;                           /* and a map for what is added up (sums/sums.h); -1: none */
	bool has_repeats;                   /* it raises a type in several ways */
	bool knows_who;                     /* the record has who it was */
	bool silent;                        /* a match does not wake this process */
	uint32_t record_bytes;              /* for functions that are followed once; 0: the record is for none */
	const struct scope *scope;          /* what actions ask before they touch a process */
	const struct ebpf_acts *acts;       /* codegen/acts.h; NULL: nothing is done */
	int32_t irq_save, irq_restore;      /* BTF ids of bpf_local_irq_save/restore; 0: missing */
};

/* Functions that a rule's code calls; made when the rule is begun. */
struct emit_functions {
	uint32_t lock;        /* (bucket): 0, or 1 when it could not be had */
	uint32_t take;        /* (): a free run; 0: the pool is full; more than the pool: too much contention */
	uint32_t release;     /* (number) */
	uint32_t late, match; /* (record): fill what is needed once the event matters, for a match */
	uint32_t link;        /* (number, bucket number): appends to the chain, or gives the run back */
	/* Of a rule with a log: (older entry): a new one, 0: there is no room, more than there are: too much
	 * contention; (entry): one reference less. */
	uint32_t keep, forget;
};

struct emit {
	const struct emit_context *context;
	struct ebpf_asm *as;
	const struct program *program;
	const struct program_rule *rule;
	const struct plan_rule *plan;
	const struct plan_event *event;
	const struct plan_acts *acts; /* what is done at a match */
	const struct memory_rule *at; /* where the rule's runs, buckets and counters are */
	struct ebpf_lower lower;
	struct emit_functions functions;
	struct plan_header header;
	int16_t irq_flags; /* room on the stack of the current function for the interrupt state */
	bool fetches_once; /* control passes at most once where the late part of the header is fetched */
	bool has_late;     /* it has been fetched before what follows */
	bool holds;        /* what it touches is locked all the time */
	bool is_derived;   /* the event was raised by a rule; then, where scratch lies behind this CPU's queue */
	bool is_behind;    /* and comes when all programs have dealt with the event that led to it */
	uint32_t derived_scratch;
	const struct emit_derived *derived; /* codegen/derived.h; NULL: nothing is raised here */
};

/* Ready to generate code for what the event does to its rule. */
struct emit emit_of(const struct emit_context *context, struct ebpf_asm *as, const struct plan_event *event);

/* The transitions of the rule's state on the event's type: the first of *count. */
static inline const struct program_transition *emit_transitions(const struct emit *emit, uint32_t state,
								uint32_t *count)
{
	return program_transitions_on(emit->program, &program_states(emit->program, emit->rule)[state],
				      emit->event->type, count);
}

/* The class whose slots are the keys of group. */
static inline const struct program_class *emit_class_of(const struct emit *emit, uint32_t group)
{
	return &program_classes(emit->program, emit->rule)[emit->plan->groups[group].class];
}

/* The group that runs in state wait in. */
static inline uint32_t emit_group(const struct emit *emit, uint32_t state)
{
	return emit->plan->group_of[program_states(emit->program, emit->rule)[state].class];
}

static inline bool emit_is_machine(const struct emit *emit)
{
	return plan_is_machine(emit->plan);
}

/* The slots are those at off from register base from here on. */
static inline void emit_set_slots(struct emit *emit, uint8_t base, size_t off)
{
	emit->lower.slots = base;
	emit->lower.slots_off = (int32_t)off;
	emit->lower.slots_zero = false;
}

/* counters: addresses and counters. */
void emit_region(struct emit *emit, uint8_t dst, const struct memory_region *region);
void emit_item_address(struct emit *emit, const struct memory_region *region, uint32_t bytes, uint8_t dst,
		       uint8_t index);
void emit_control(struct emit *emit, uint8_t dst);
void emit_line_of(struct emit *emit, uint8_t dst, uint8_t index);
void emit_cpu_line(struct emit *emit, uint8_t dst, uint32_t unknown);
void emit_run_address(struct emit *emit, uint8_t dst, uint8_t index);
void emit_bucket_address(struct emit *emit, uint8_t dst, uint8_t index);
void emit_check_index(struct emit *emit, uint8_t index, uint32_t bad);
void emit_count(struct emit *emit, size_t counter, int32_t by);
void emit_count_here(struct emit *emit, size_t counter);
void emit_count_opened(struct emit *emit, uint32_t none);
void emit_lose(struct emit *emit);
void emit_lose_raised(struct emit *emit); /* the same of an event that the rule raises */
void emit_now(struct emit *emit);

/* bucket: locks and chains. */
uint32_t emit_function_lock(struct ebpf_asm *as);
uint32_t emit_function_link(struct emit *emit);
/* A function of the rule that takes numbers and returns one. */
uint32_t emit_function_of_numbers(struct emit *emit, const char *name, uint32_t numbers);
void emit_lock(struct emit *emit, uint8_t bucket, uint32_t busy);
void emit_unlock(struct emit *emit, uint8_t bucket);
void emit_unlink(struct emit *emit);

/*
 * held: the lock that an event holds to its end. r8 = what is locked; bucket number r1 becomes the frame's, with its
 * lock, r8 = its address; locking where the bucket is known, the frame's; giving back. Overwrites r0-r5, r8.
 */
void emit_load_held(struct emit *emit);
void emit_lock_at(struct emit *emit);
void emit_lock_held(struct emit *emit, uint32_t busy);
void emit_let_go(struct emit *emit);

/* pool: places for runs; r8 = a place for what may turn out not to be wanted, 0: there is none. */
void emit_functions_new(struct emit *emit);
void emit_take(struct emit *emit, uint32_t none);
/* For an opened run: where the rule replaces, this CPU's spare place where there is no other; ahead: if spares. */
void emit_take_opened(struct emit *emit, uint32_t none);
void emit_take_ahead(struct emit *emit, bool spares);
void emit_release(struct emit *emit, size_t number);

/* header */
void emit_header_begin(struct ebpf_asm *as, const struct plan_header *header, struct emit_functions *functions);
void emit_header_late(struct emit *emit);
void emit_header_match(struct emit *emit);

/* chain */
void emit_fetch_run(struct emit *emit, uint32_t end);
void emit_turn_end(struct emit *emit, uint32_t end);
void emit_remove_run(struct emit *emit);
void emit_check_key(struct emit *emit, const struct plan_walk *walk, uint32_t other);
void emit_loop_turns(struct emit *emit);
void emit_loop_chain(struct emit *emit, uint32_t function);
void emit_loop_locked(struct emit *emit, uint32_t function);
void emit_fetch_place(struct emit *emit, uint32_t none, uint32_t end);
void emit_loop_places(struct emit *emit, uint32_t function);
/* Lets the run number r8 in r7 wait in its bucket. */
void emit_link(struct emit *emit, uint32_t group);

/*
 * hash: r1 = the bucket of an event's key (record in r6), of a run's (slots in r7), given its group; the first one of
 * the stripe of an event that names a part of the key.
 */
void emit_hash_event(struct emit *emit, const struct plan_walk *walk);
void emit_hash_run(struct emit *emit, uint32_t group);
void emit_hash_stripe(struct emit *emit, const struct plan_walk *walk);
/* Leaves for differ unless the run in r7 has the event's key. */
void emit_compare_key(struct emit *emit, const struct plan_walk *walk, uint32_t differ);
/* Leaves for differ unless the runs in r7 and r6 have the same key; the same values in the slots that are more of one.
 */
void emit_compare_runs(struct emit *emit, uint32_t group, uint32_t differ);
void emit_compare_more(struct emit *emit, uint32_t state, uint32_t differ);

/*
 * history: RETURN SEQUENCE, over the slots in use. append leaves for full, with the refusal counted, where there is no
 * room for the event. Overwrites r0-r5.
 */
void emit_history_begin(struct emit *emit);
void emit_history_append(struct emit *emit, const struct program_transition *transition, uint32_t full);

/*
 * log: where the rule has one, else nothing is emitted. What lies behind the slots at base + off, laid out like those
 * of a run, refers to its events once more; not any more. Overwrites r0-r5.
 */
void emit_log_functions(struct emit *emit);
void emit_log_append(struct emit *emit, const struct program_transition *transition, uint32_t full);
void emit_log_share(struct emit *emit, uint8_t base, size_t off);
void emit_log_forget(struct emit *emit, uint8_t base, size_t off);

/* stack-table: r0 = the number of the stack of the current thread, 0: there is none. Overwrites r1-r5. */
void emit_stack(struct emit *emit);

/*
 * loss: leaves for stale if a loss has spoiled the run in r7; given what is said in r0, marks it and leaves for marked,
 * unless it is to end; counts a run that there is no place for.
 */
void emit_if_stale(struct emit *emit, uint32_t stale);
void emit_mark_if(struct emit *emit, uint32_t marked);
void emit_refuse(struct emit *emit);
/* The same where a run has given way: what depends on it. */
void emit_depend(struct emit *emit);

/*
 * cut: an event of which the rule asks how a string ends that may have been cut. It is noted before the rule sees it;
 * r3 = whether it was, where a match is to say so; afterwards it is counted as unread, and the open runs are marked.
 */
void emit_look_for_cut(struct emit *emit);
void emit_cut(struct emit *emit);
void emit_count_cut(struct emit *emit);
/* The event is counted as unread, and the open runs are marked. Overwrites r1, r2. */
void emit_count_unread(struct emit *emit);

/*
 * why: counts what becomes of runs, where the plan says so; else nothing is emitted. state: of the run in r7, 0: it is
 * being opened. opened: who does so is kept in what looks like a run at base. Overwrites r0-r5.
 */
/* An event of type, once: where part is the first of several; NULL: there is one. */
void emit_why_seen(const struct emit_context *context, struct ebpf_asm *as, uint32_t type,
		   const struct plan_part *part);
void emit_why_rule(struct emit *emit, enum program_why_rule how);
void emit_why_broke(struct emit *emit);
void emit_why_expired(struct emit *emit);
void emit_why_met(struct emit *emit, const struct program_transition *first);
/* Of the transition one more condition is true, whose number stands at `at` of its own. */
void emit_why_true(struct emit *emit, const struct program_transition *transition, uint32_t at);
void emit_why_opened(struct emit *emit, uint8_t base);
void emit_why_taken(struct emit *emit, uint32_t state, const struct program_transition *transition);
void emit_why_failed(struct emit *emit, uint32_t state, const struct program_transition *transition);

/* scratch: dst = room for the slots of a run that may end before it is one, laid out like a run. */
void emit_scratch(struct emit *emit, uint8_t dst);

#endif
