/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_RULE_PRIV_H
#define ENGINE_RULE_PRIV_H

/* A rule as the engine holds it, and the tables that tell what an event of a type means to it. */

#include "engine/plan-priv.h"
#include "engine/run-priv.h"
#include "program/match.h"

struct engine;
struct engine_any;
struct engine_event;
struct engine_history;
struct engine_machine;
struct engine_why;

/* One value of a key: where an event carries it and where a run keeps it. */
struct engine_part {
	struct engine_field field; /* a text's has an offset only, and no mask */
	uint32_t slot;             /* offset in the slot area */
};

/* A class whose runs are counted as a whole: counting.c. */
struct engine_counting {
	uint32_t type;
	uint32_t slot;        /* of the rule */
	uint32_t slot_offset; /* in the slot area */
	int64_t threshold;    /* the count from which on an event of the type does more than count */
};

struct engine_class {
	uint32_t index; /* in the rule */
	uint32_t part_count;
	bool has_text;                          /* among the parts */
	const struct engine_part *parts;        /* the key as slots carry it: their fields are slots */
	const struct engine_counting *counting; /* or NULL */
	uint32_t same;                          /* the first class of the rule with the same slots */
	uint64_t seed;
};

/* How events of one type carry the key of a class. */
struct engine_key {
	struct engine_class *class;
	const struct engine_part *parts; /* as many as the class has */
};

struct engine_transition {
	struct engine_condition fit;
	struct engine_effect effect;
	uint32_t target;
	uint32_t element; /* PROGRAM_NONE unless the rule keeps a history */
	bool forbid, in_place;
	bool reports, copies; /* of a machine: whether it tells something; is taken by a copy; */
	bool times, arms;     /* writes the timer slot; the timer is armed anew */
	bool leaves;          /* the run has to leave its chain: it ends, or its class or a value of its key changes */
};

/* The transitions of one state for one type, in the order to try. */
struct engine_group {
	uint32_t type;
	uint32_t count;
	const struct engine_transition *transitions;
};

struct engine_state {
	const struct engine_group *groups;
	uint32_t group_count;
	uint32_t class;                  /* of the rule */
	uint32_t key;                    /* the first state of the rule whose runs have the same slots for a key */
	const struct engine_class *more; /* the part of it that the class does not have; NULL: none */
	bool deadline;
};

/* `field == constant`, the constant and the field's values as 64 bits (of a text: its hash). */
struct engine_guard {
	uint32_t field;       /* offset in the record */
	uint32_t field_bytes; /* 4 or 8; 0 for a text */
	uint64_t word;
};

/* What an event of one type means to one rule. */
struct engine_entry {
	struct engine_rule *rule;
	const struct engine_key *keys; /* the classes that it concerns */
	uint32_t key_count;
	bool guarded;              /* nothing but opening runs, and only where guard holds */
	bool machine;              /* not a rule */
	struct engine_group start; /* the start state's transitions */
	struct engine_guard guard;
	const struct engine_group *const *groups; /* of a machine: the transitions, per state */
	const struct engine_any *any; /* of a machine: the index that keys are for; NULL: that by the whole key */
};

enum { ENGINE_SELECTORS_MAX = 4 };

/* The strings of a type that rules look at: where in the record their last bytes are; and all entries of the type. */
struct engine_doubts {
	uint32_t *ends;
	struct engine_entry *entries;
	uint32_t entry_count;
};

struct engine_dispatch {
	uint32_t record_bytes;
	bool selects;                       /* there is more than entries */
	uint32_t doubt_count;               /* unread.c: strings that may be unread */
	const struct engine_doubts *doubts; /* NULL where there are none */
	struct engine_entry *entries;       /* in image order; without those that select.c has taken over */
	uint32_t count;
	uint32_t selector_count;
	struct engine_selector *selectors; /* select.c: rules by a constant; */
	struct engine_waiting *waiting;    /* rules that only waiting runs interest; or NULL */
};

struct engine_rule {
	const struct program_rule *image;
	uint32_t index; /* in the image */
	bool strict, any, drop, emits;
	bool latest, replaces, drops_all;
	bool shares; /* an opened run may take another one's place, or not have one though there are some */
	bool defers; /* matches are told when all runs have been stepped, not at once */
	const struct engine_state *states;
	struct engine_class *classes;
	uint64_t live;          /* parked runs */
	uint32_t *opened;       /* PER PROCESS: how many of them each process opened; otherwise NULL */
	uint32_t opener_offset; /* in slots, which process that is */
	uint64_t *live_word;    /* of engine->live; the rule's bit in it is set while runs are parked */
	uint64_t epoch;
	bool doubts; /* the event that it deals with is not known whole: what comes of it is marked */
	struct engine_runs runs;
	struct engine_index by_key;
	struct engine_timers timers;
	struct {
		struct engine_run *oldest, *youngest;
	} ages;                         /* of parked runs, where it replaces or drops all */
	struct engine_history *history; /* NULL unless RETURN SEQUENCE */
	struct engine_machine *machine; /* NULL unless it is one */
	struct engine_why *why;         /* NULL unless what becomes of runs is counted */
	struct program_rule_stats stats;
};

#endif
