/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_MEMORY_H
#define EBPF_MEMORY_MEMORY_H

/*
 * What lies in the maps, as generated code and this process see it. Runs are numbered from 1 within their rule's pool,
 * so that zeroed memory says "none" everywhere and needs no preparation.
 */

#include "ebpf/plan/plan.h"
#include "event/type.h"

#include <stdint.h>

enum { MATCHER_CACHE_LINE = 64 };

/*
 * A run. It waits in the chain of one bucket (bucket != 0), or belongs to the program that holds it, or is free
 * (then next is the next free one). Everything but `next` of a free one is only touched under the bucket's lock.
 */
struct matcher_run {
	uint32_t next, prev; /* in the chain; 0: none */
	uint32_t bucket;     /* in whose chain it is, plus 1; 0: in none */
	uint16_t state;
	uint16_t group;
	uint64_t first_ts; /* of a machine that replaces: of the last transition, in the measure of made */
	uint64_t made;     /* when it was opened or copied, its timer armed: ts; a number where events are fed */
	uint32_t epoch;    /* of losses, when it was opened */
	uint32_t ordinal;  /* among those made by one CPU */
			   /* the slot area follows */
};

/* A chain of runs whose keys have the same hash, in the order they came. */
struct matcher_bucket {
	uint32_t lock; /* 0, or 1 + the CPU that holds it; where it is the rule's, the first bucket's */
	uint32_t head, tail;
	/* In the first one: how often runs were moved under the rule's lock; or how much of a stripe is left to do. */
	uint32_t moves;
};

/* Of one rule: what changes rarely. */
struct matcher_control {
	uint64_t used; /* places ever taken */
	uint64_t epoch;
	uint64_t matches;
	uint64_t refused; /* pool_exhausted */
	uint64_t lost;
	uint64_t divisions;
	uint64_t unread; /* the upper 16 bits: 1 + the type of the last of them */
	uint64_t unraised;
};

enum { MATCHER_UNREAD_BITS = 48 };

/* Of one rule and one CPU: what changes with every run. */
struct matcher_cpu {
	uint32_t free;     /* the run given back last */
	uint32_t free_tag; /* counts changes of free, so that a compare-and-exchange of both cannot be fooled */
	uint64_t opened;
	uint32_t kept;     /* a free run for this CPU alone; 0: none */
	uint32_t spare;    /* where the rule replaces: a free place for the run after which another one goes; 0: none */
	uint64_t due;      /* the first timer that was set here since this was looked at; 0: none */
	uint64_t excepted; /* matches that an exception kept back */
	uint64_t log_free; /* the entry of the rule's log given back last, and a tag as above */
	uint64_t replaced; /* runs that ended for a newer one; */
	uint64_t crowded;  /* of them, as there was no place left, or none for their key */
};

/* What a match says in the ring. The slot area follows. */
struct matcher_match {
	uint32_t rule;
	uint16_t tainted;
	uint16_t at_deadline; /* not at an event */
	uint64_t ts;
	uint64_t made; /* with ordinal: its place among the matches of one event */
	uint32_t cpu, pid, tid, ordinal;
	char comm[EVENT_COMM_BYTES];
	uint64_t done; /* bit i: statement i of the rule was done in the kernel; above: the number of its stack */
};

/* An event that a run keeps; its record follows. Behind the slot area: the number of them, then the entries. */
struct matcher_kept {
	uint64_t element;
};

/*
 * An event that runs of a rule with a log keep; its record follows. Behind a run's slot area: the number of its
 * youngest. What refers to an entry: a younger one, runs, matches that have not been read. One that is referred to is
 * not changed but for the number of references; one that nothing refers to is free, and refers to its older one until
 * it is used again.
 */
struct matcher_entry {
	uint32_t older; /* 0: none */
	uint32_t next;  /* of a free one: the next that is free */
	uint32_t references;
	uint32_t count; /* from here to the oldest */
	uint64_t element;
};

/* In place of entry number 0. */
struct matcher_log {
	uint64_t used;    /* entries ever taken */
	uint64_t refused; /* runs that found none free */
};

/* Runs whose time may be up, for the sweeping program. */
struct matcher_overdue {
	uint32_t rule, run;
};

/*
 * The place of a match among those of one event from outside, where its own was raised by a rule: how many matches led
 * to it (0: it came from outside), the first of them, and the number of the event among those dealt with together.
 */
struct matcher_origin {
	uint64_t made;
	uint32_t rule, ordinal;
	uint32_t turn, level;
};

/*
 * A match of a rule that raises events, and the event that it raises: next in its list, itself (their numbers, from 1),
 * what is to be done next and after the event; origin, without a turn, is that of the events. The match (with slots and
 * its own origin) and the event's record follow, where struct emit_derived says.
 */
struct matcher_raised {
	uint32_t next, self;
	uint32_t place, then;
	uint64_t seq;
	struct matcher_origin origin;
};

/* Of one program on one CPU: its raised events, which follow. */
struct matcher_queue {
	uint32_t free;          /* given back last */
	uint32_t used;          /* places ever taken */
	uint32_t first, last;   /* raised by the rule at work */
	uint32_t pending, end;  /* the first and the last to be dealt with */
	uint32_t turn;          /* how many events were */
	uint32_t fresh, cursor; /* while a place for fresh is looked for: behind cursor */
	uint32_t rest[7];
};

enum {
	MATCHER_RAISED_MAX = 128,         /* room for raised events, */
	MATCHER_RAISED_BYTES = 64 * 1024, /* as many as these hold */
	MATCHER_RAISED_LEAST = 16,        /* but not fewer than this */
	MATCHER_TURNS_MAX = 8192,         /* steps of dealing with what was raised at one event */
	MATCHER_FIRINGS_MAX = 256,        /* timers of one instance that an event lets go off before itself */
};

enum {
	MATCHER_WORK_MAX = 1024,
	MATCHER_MADE_BEHIND = 1 << 24, /* numbers are this much higher for what an event led to */
};

/* Runs that last less give their places back in time only where they are looked for more often than all else. */
enum { MATCHER_BRIEF_NS = 50 * 1000 * 1000 };

struct matcher_work {
	uint64_t dozing; /* 1: user space sleeps until what it knows of is due, and is to be woken for what comes before
			  */
	uint64_t count, now;
	uint64_t seq;  /* of the last event */
	uint64_t made; /* runs so far: where events are fed, the number of one says when it was opened, copied or armed
			*/
	struct matcher_overdue items[MATCHER_WORK_MAX];
};

/*
 * Of the sums of one rule, one half. Where there are two, matches up to end go to the half that ends first, later ones
 * to the other, and what is later than both is delivered; used is of the half's index, if it has one of its own.
 */
struct matcher_sums {
	uint64_t end;
	uint64_t used;   /* keys ever given a number, from 1; may be more than there is room for */
	uint64_t other;  /* matches whose key found no place */
	uint64_t shared; /* there were matches that were delivered: they have keys of their own */
	uint64_t placed; /* keys that have got places among them */
	uint64_t rest[3];
};

/* A key in the chain of its hash; its bytes follow. */
struct matcher_sums_key {
	uint32_t next; /* its number; 0: none */
	uint32_t tag;  /* of its hash */
};

/* Whether the rule's runs last less than MATCHER_BRIEF_NS, and nothing is told when their time is up. */
bool memory_is_brief(const struct program *program, const struct program_rule *rule);

_Static_assert(sizeof(struct matcher_sums) == MATCHER_CACHE_LINE, "shared with generated code");
_Static_assert(sizeof(struct matcher_sums_key) == 8, "shared with generated code");
_Static_assert(sizeof(struct matcher_run) == 40, "shared with generated code");
_Static_assert(sizeof(struct matcher_bucket) == 16, "shared with generated code");
_Static_assert(sizeof(struct matcher_control) == MATCHER_CACHE_LINE, "shared with generated code");
_Static_assert(sizeof(struct matcher_cpu) == MATCHER_CACHE_LINE, "shared with generated code");
_Static_assert(sizeof(struct matcher_match) == 64, "shared with generated code");
_Static_assert(sizeof(struct matcher_kept) == PLAN_KEPT_BYTES, "shared with generated code");
_Static_assert(sizeof(struct matcher_entry) == PLAN_ENTRY_BYTES, "shared with generated code");
_Static_assert(sizeof(struct matcher_origin) == 24, "shared with generated code");
_Static_assert(sizeof(struct matcher_raised) == 48, "shared with generated code");
_Static_assert(sizeof(struct matcher_queue) == MATCHER_CACHE_LINE, "shared with generated code");

#endif
