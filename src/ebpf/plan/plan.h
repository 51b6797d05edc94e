/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_PLAN_H
#define EBPF_PLAN_PLAN_H

/*
 * The match plan decides what the code for a program's rules is like: which rules run in the kernel, how their runs are
 * kept and locked, what is done at their matches, and for each event type what it does to each rule - which runs it
 * finds, whether it opens any, whether they go to wait elsewhere, what is locked meanwhile, which fields it needs.
 *
 * All of it follows from the image and a few options, is found once, before any code is made, and never changes: code
 * generation reads the plan and asks nothing. It needs no kernel and no privilege, so it is printed (explain.h) and
 * tested as data. Lengths and places in memory that also depend on the machine are those of memory/layout.h.
 *
 * It may touch: the image, and what lowering knows of expressions. The image outlives the plan. Threads may share it.
 */

#include "ebpf/lower/nodes.h"
#include "program/load.h"

#include <stdbool.h>

enum {
	PLAN_COMPANY_MAX = 32,         /* rules that EMIT connects: a program holds all that follows from its event */
	PLAN_HISTORY_MAX = 16,         /* events that a run itself keeps for RETURN SEQUENCE */
	PLAN_HISTORY_BYTES_MAX = 2048, /* ... and their size */
	PLAN_KEPT_BYTES = 8,           /* in front of each of them */
	PLAN_ENTRY_BYTES = 24,         /* in front of each event in a rule's log */
	PLAN_WHO_BYTES = 8,            /* who opened a run */
	PLAN_STATES_MAX = UINT16_MAX - 1, /* a run keeps its state in 16 bits */
	PLAN_SUMS_BYTES_MAX = 4 << 20     /* of one table of a rule's sums: what every kernel takes */
};

/* What the rules run with. */
struct plan_options {
	const bool *excluded;       /* per rule: it runs elsewhere; NULL: none does */
	const bool *may_be_unread;  /* per field of the program; NULL: every string may be */
	const bool *from_interrupt; /* per type: its events may interrupt a program; NULL: none may */
	const bool *allowed;        /* per statement: programs may do it at a match; NULL: none */
	bool may_stop;              /* stops are noted, so programs may stop a process */
	bool can_lock_out;          /* the kernel lets programs keep interrupts out */
	bool counts_why;            /* what becomes of runs is counted */
	bool deliver_all;           /* every match is delivered: none is added up by programs alone */
	bool live;                  /* events are those of the current task now; else they are fed */
};

/*
 * Header fields, bit i for event_header_fields[i], by when they are needed: to find out whether the event matters, once
 * it does, only for a match. No field is in two of them.
 */
struct plan_header {
	uint8_t early, late, match;
};

enum { PLAN_HEADER_TS = 1 << 0, PLAN_HEADER_WHO = 1 << 2 | 1 << 3 | 1 << 4 };

/* Runs that an event finds together: one key of one group, and in which states the event concerns them. */
struct plan_walk {
	uint32_t group;
	const struct program_key *key; /* NULL: of a timer, the one instance */
	const uint32_t *states;
	uint32_t state_count;
};

/* The event only concerns the rule if the field has this value. */
struct plan_guard {
	bool is_there;
	uint32_t field;
	int32_t value;
};

/* What a rule that runs here does at an event of a type of its stream. */
struct plan_event {
	uint32_t rule;
	uint32_t type;    /* of the program; PROGRAM_TIMER: the timer goes off; PROGRAM_NONE: the time is up */
	bool wants;       /* there is anything to do */
	bool opens;       /* a run, or a match of one event */
	bool opens_runs;  /* that live on */
	bool moves;       /* some run goes to wait under another key, or a copy of it */
	bool copies;      /* of a machine: copies of instances, for another key */
	bool names_part;  /* of a machine: a part of the key, so that there may be many instances */
	bool holds;       /* the lock is taken before everything else, and kept to the end */
	bool links_late;  /* an opened run is linked after everything else */
	bool in_order;    /* its matches are found in the order in which their runs were opened */
	bool once;        /* control passes at most once where it is found that the event matters */
	uint32_t scratch; /* number of the room for slots of a run that has no place yet; NONE: none is needed */
	struct plan_guard guard;
	const struct program_key *key; /* the event's for the rule's first class; NULL: it has none */
	const struct plan_walk *walks;
	uint32_t walk_count;
	struct plan_header header;         /* fields in late and match may be in early, too: see plan_part_header */
	const bool *reads, *may_be_unread; /* per body field of the type: the rule looks at it; and it may be unread */
	bool doubtful;                     /* some of may_be_unread */
	const bool *ends;                  /* per body field: a string that may be cut, and a LIKE asks how it ends */
	bool asks_ends;                    /* some of ends */
};

/* What a transition does to a run that is open. */
struct plan_transition {
	bool moves;      /* it is linked anew: it waits under another key afterwards, or has come to replace another */
	bool leaves;     /* it waits under another key */
	bool copies;     /* a copy of it takes the transition and lives on */
	bool sets_timer; /* of a machine's instance */
};

/*
 * What the programs do at a match. Bits are for the statements of the rule. Where all of `alone` are done nothing is
 * left to do that cannot wait; 0: something is, or there are none.
 */
struct plan_acts {
	uint64_t done, alone;
	bool reports; /* user space hears of the match */
};

/*
 * Classes with the same slots form a group: their runs share chains, and a run that goes from one class to another of
 * its group stays where it is.
 */
struct plan_group {
	uint32_t class; /* the first of them, of the rule */
};

/* RETURN SEQUENCE: room for events: in each run, or for those of all runs in the rule's log. 0: there is none. */
struct plan_history {
	uint32_t entries, log_entries, entry_bytes;
};

/* Of one aggregate: 1 + the word of a row that counts its values, that holds what they come to; 0: it needs none. */
struct plan_sum {
	uint32_t count_word, word;
	bool may_lack; /* a match may have no value for it */
	bool has_buckets;
};

/*
 * AGGREGATE whose matches programs add up (ebpf/sums/sums.h). why_not: one clause where matches are delivered to be
 * added up; NULL where programs do, or there is nothing to add up.
 */
struct plan_sums {
	bool here;
	const char *why_not;
	uint32_t keys;                 /* how many a table has room for: all of POOL, or as many as are possible */
	uint32_t key_bytes, row_words; /* of an entry; of a row */
	uint32_t bucket_bits;          /* 2^this places for buckets of values; 0: none are needed */
	uint32_t halves;               /* 2 where there is EVERY: one is read while matches go to the other */
	uint32_t indexes;              /* of keys and buckets: with DELTA each half has its own */
	const struct plan_sum *sums;   /* per aggregate */
};

struct plan_rule {
	const struct program_rule *rule;
	uint32_t index;
	bool here;                 /* runs in the kernel; if not, nothing below is known */
	bool has_runs;             /* some run outlives its first event */
	bool wide;                 /* an event may touch several buckets: one lock for all of them */
	bool timed;                /* a machine whose instances have timers */
	bool due;                  /* time alone does something to its runs */
	bool swept;                /* its runs may end without an event: by time, or because a loss has spoiled them */
	bool interrupted;          /* a program of this rule can interrupt another one on its CPU */
	bool locks_out_interrupts; /* ... but not while that one holds a lock */
	bool raises;               /* it EMITs events that some rule here takes */
	bool raised;               /* it takes events that some rule here EMITs */
	bool aside;                /* a match at an event is put together before room in the ring is asked for */
	bool silences;             /* a machine with notices that are not reported */
	bool moves;                /* at some event */
	bool keeps_who;            /* a run knows who opened it: PLAN_WHO_BYTES at the end of its area */
	/* What it raises at a deadline may open runs that are due this much later; UINT64_MAX: it raises nothing then.
	 */
	uint64_t raises_due_ns;
	struct plan_history history;
	uint32_t area_bytes;  /* of the slot area and what is kept behind it */
	uint32_t bucket_bits; /* 2^this buckets */
	/*
	 * A machine with events that name a part of the key only: the slots of the key that all of them name (a bit
	 * each) choose a stripe of 2^inner_bits buckets, which has one lock. 0: there are no stripes.
	 */
	uint32_t stripe_slots, inner_bits;
	const uint32_t *group_of; /* per class of the rule */
	const struct plan_group *groups;
	uint32_t group_count;
	uint32_t scratch_count; /* types that need room for slots */
	struct plan_acts at_event, at_deadline;
	struct plan_sums sums;
	struct plan_event timer, deadline;
};

struct plan_type {
	const struct plan_event *events; /* of the rules here whose stream has the type, in their order */
	uint32_t event_count;
	bool raised; /* a rule here EMITs it, and one takes it */
};

/* The code for one type that goes into one program: rules [first, end) of the program. */
struct plan_part {
	uint32_t first, end;
	struct plan_header header;
};

struct plan {
	const struct program *program;
	bool live;
	bool counts_why;
	bool acts;  /* programs may do something at matches */
	bool waits; /* some matches leave nothing to be done, so they need not wake this process */
	const struct ebpf_node_info *nodes;
	const struct plan_rule *rules;             /* per rule of the program */
	const struct plan_type *types;             /* per type of the program */
	const struct plan_transition *transitions; /* per transition of the program */
	struct arena *arena;                       /* of all the above */
};

/* Returns 0, -ENOMEM. */
int plan_new(const struct program *program, const struct plan_options *options, struct plan **made);
void plan_free(struct plan *plan);

/* What the rule does at an event of type; NULL: it is not of its stream, or the rule does not run here. */
const struct plan_event *plan_event(const struct plan *plan, uint32_t rule, uint32_t type);

/* The next event of a type from *i on that some rule of part wants; NULL: no more. Leaves *i behind it. */
const struct plan_event *plan_next(const struct plan *plan, uint32_t type, const struct plan_part *part, uint32_t *i);

/* How many rules of part want events of type. */
uint32_t plan_wanting(const struct plan *plan, uint32_t type, const struct plan_part *part);

/* What the rules of part need of the header: the fields of a live event that anybody needs early are early. */
struct plan_header plan_part_header(const struct plan *plan, uint32_t type, const struct plan_part *part);

/* The type of the event that a statement (of the program) EMITs for some rule here; PROGRAM_NONE: it does not. */
static inline uint32_t plan_raised_type(const struct plan *plan, const struct program_statement *statement)
{
	return statement->type != PROGRAM_NONE && plan->types[statement->type].raised ? statement->type : PROGRAM_NONE;
}

static inline const struct plan_transition *plan_transition(const struct plan *plan,
							    const struct program_transition *transition)
{
	return &plan->transitions[transition - plan->program->transitions];
}

static inline bool plan_is_machine(const struct plan_rule *rule)
{
	return rule->rule->semantics == PROGRAM_MACHINE;
}

/* Whether a run that takes the transition goes on. */
static inline bool plan_lives_on(const struct program_transition *transition)
{
	return transition->target != PROGRAM_TARGET_END && transition->target != PROGRAM_TARGET_MATCH;
}

#endif
