/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MATCHER_MATCHER_PRIV_H
#define EBPF_MATCHER_MATCHER_PRIV_H

/* Inside the matcher: its maps, what it knows of its rules, and what its files offer each other. */

#include "ebpf/kernel/load.h"
#include "ebpf/lower/lower.h"
#include "ebpf/matcher/matcher.h"
#include "ebpf/memory/memory.h"
#include "ebpf/source/scope.h"
#include "program/emissions.h"

/* How many rules EMIT may connect: a program holds all that follows from its event. */
enum { MATCHER_COMPANY_MAX = 32 };

/* A piece of the value of a map. */
struct matcher_region {
	uint32_t map; /* index in maps */
	uint32_t off;
};

struct matcher_map {
	int fd;
	uint64_t bytes;
	uint8_t *memory; /* mapped into this process */
};

/*
 * Classes with the same slots form a group: their runs share chains, and a run that goes from one class to another of
 * its group stays where it is.
 */
struct matcher_group {
	uint32_t class; /* the first of them, of the rule */
};

/* RETURN SEQUENCE: room in a run for the events that it keeps. entries 0: it keeps none. */
struct matcher_history {
	uint32_t entries, entry_bytes;
};

struct matcher_rule {
	const struct program_rule *rule;
	uint32_t index;
	bool here;                 /* runs in the kernel */
	bool has_runs;             /* some run outlives its first event */
	bool wide;                 /* an event may touch several buckets: one lock for all of them */
	bool timed;                /* a machine whose instances have timers */
	bool interrupted;          /* a program of this rule can interrupt another one on its CPU */
	bool locks_out_interrupts; /* ... but not while that one holds a lock */
	bool raises;               /* it EMITs events that some rule here takes */
	bool raised;               /* it takes events that some rule here EMITs */
	/* What it raises at a deadline may open runs that are due this much later; UINT64_MAX: it raises nothing then.
	 */
	uint64_t raises_due_ns;
	struct matcher_history history;
	uint32_t area_bytes;  /* of the slot area and what is kept behind it */
	uint32_t stride;      /* bytes of a run */
	uint32_t bucket_bits; /* 2^this buckets */
	/*
	 * A machine with events that name a part of the key only: the slots of the key that all of them name (a bit
	 * each) choose a stripe of 2^inner_bits buckets, which has one lock. 0: there are no stripes.
	 */
	uint32_t stripe_slots, inner_bits;
	struct matcher_region control, cpus, runs, buckets, aside;
	uint64_t look_again;  /* until then no run can be overdue */
	uint64_t swept_epoch; /* of losses, when what they spoiled was last looked for */
	uint32_t *group_of;   /* per class of the rule */
	struct matcher_group *groups;
	uint32_t group_count;
};

/*
 * Header fields, bit i for event_header_fields[i], by when they are needed: to find out whether the event matters, once
 * it does, only for a match. No field is in two of them.
 */
struct matcher_header {
	uint8_t early, late, match;
};

enum { MATCHER_HEADER_WHO = 1 << 2 | 1 << 3 | 1 << 4 };

/* The code for one type: rules [first, end) of the program. */
struct matcher_part {
	uint32_t first, end;
	struct matcher_header header;
};

struct matcher_type {
	struct matcher_part *parts;
	size_t part_count, part_capacity;
	bool raised; /* a rule here EMITs it, and one takes it */
};

/* Matches taken from the ring and not yet handed out: items are offsets in bytes. */
struct matcher_inbox {
	struct consumer *ring;
	uint8_t *bytes;
	size_t used, capacity;
	uint32_t *items;
	size_t count, item_capacity, next;
	struct program_match_event events[MATCHER_HISTORY_MAX]; /* of the match being handed out */
	uint64_t frames[PROGRAM_FRAMES_MAX];                    /* ... and its stack */
};

struct matcher_due {
	uint32_t rule, run;
	uint64_t deadline, made;
	uint32_t ordinal;
	bool only_ends;
};

struct matcher_sweep {
	int fd; /* of the program; -1: no rule has WITHIN */
	struct matcher_region work;
	uint64_t seq; /* of the last event that was fed */
	bool again;   /* what was raised at deadlines may be due, and what comes after that */
	struct matcher_due *due;
	size_t due_count, due_capacity;
};

struct ebpf_matcher {
	const struct program *program;
	struct ebpf_matcher_options options;
	struct ebpf_node_info *nodes;
	struct matcher_rule *rules;
	struct matcher_type *types;
	struct matcher_map maps[MATCHER_MAPS_MAX];
	uint32_t map_count;
	bool asked_large_values, large_values;
	uint32_t cpu_count;
	int ring_fd;
	int *queues; /* maps of raised events, one for each program and part in it */
	size_t queue_count, queue_capacity;
	struct matcher_inbox inbox;
	struct matcher_sweep sweep;
	struct matcher_region feed; /* the record of a test run */
	const struct scope *scope;
	bool knows_who;               /* ebpf_matcher_set_place */
	struct matcher_region stacks; /* stack-table.h */
	struct matcher_region zero;   /* bytes that stay 0: memory/frame.c */
	struct matcher_region
		tallies; /* for every CPU tally_stride bytes, in them those of a statement at its offset */
	uint32_t tally_stride, *tally_offsets;
};

/* 1, 0 with the reason, -ENOMEM */
int matcher_can_run(const struct program *program, const struct ebpf_node_info *nodes, uint32_t rule, char *reason,
		    size_t size);

/* derived: notes what is raised in the rules and types of matcher, whose rules are chosen. 0, -ENOMEM. */
int derived_find(struct ebpf_matcher *matcher);
/* map: room for the raised events of one program; the descriptor, which the matcher keeps, or -errno. */
int matcher_make_queue(struct ebpf_matcher *matcher, uint64_t bytes);

/* As ebpf_can_act. */
bool matcher_can_act(const struct program *program, const struct ebpf_node_info *nodes, uint32_t statement);

/* history: 0, -E2BIG when a run could collect too many events, -ENOMEM. */
int matcher_history(const struct program *program, const struct program_rule *rule, struct matcher_history *history);

/* layout: where everything is. Regions first, then the maps that hold them. */
int matcher_layout(struct ebpf_matcher *matcher, struct asterism_diag *diag);
int matcher_make_maps(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_close_maps(struct ebpf_matcher *matcher);

/* tally: how many bytes counters and histograms take. 0 or -ENOMEM. */
int matcher_lay_out_tallies(struct ebpf_matcher *matcher, uint64_t *bytes);

/* emit-hold: whether some event of the rule may touch several buckets. Needs its groups. */
bool matcher_is_wide(struct ebpf_matcher *matcher, uint32_t rule);

/* emit-part: whether rule has anything to do at an event of type. */
bool matcher_wants(struct ebpf_matcher *matcher, uint32_t rule, uint32_t type);

/* needs */
void matcher_header_needs(const struct ebpf_matcher *matcher, uint32_t type, struct matcher_part *part);

/* inbox */
int matcher_inbox_open(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_inbox_close(struct ebpf_matcher *matcher);
/* Hands out all matches in the ring. Returns 0, what on_match returned, -errno. */
int matcher_inbox_drain(struct ebpf_matcher *matcher);

/* sweep */
int matcher_sweep_open(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_sweep_close(struct ebpf_matcher *matcher);
/* Lets time pass up to now, exclusive of deadlines at now itself. Returns as matcher_inbox_drain. */
int matcher_sweep_to(struct ebpf_matcher *matcher, uint64_t now);
uint64_t matcher_sweep_next(const struct ebpf_matcher *matcher);
void matcher_emit_sweep(struct ebpf_matcher *matcher, struct ebpf_asm *as);

/* Whether time alone does something to its runs. */
static inline bool matcher_has_deadlines(const struct matcher_rule *rule)
{
	return rule->here && rule->has_runs && (rule->rule->within_ns || rule->timed);
}

/* Whether its runs may end without an event of theirs: by time, or because a loss has spoiled them. */
static inline bool matcher_is_swept(const struct matcher_rule *rule)
{
	return matcher_has_deadlines(rule) || (rule->here && rule->has_runs && rule->rule->loss == PROGRAM_DISCARD);
}

static inline void *matcher_at(const struct ebpf_matcher *matcher, const struct matcher_region *region)
{
	return matcher->maps[region->map].memory + region->off;
}

#endif
