/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MATCHER_PRIV_H
#define EBPF_MATCHER_PRIV_H

/*
 * Inside the matcher: what lies where in the maps. Runs are numbered from 1 within their rule's pool, so that zeroed
 * memory says "none" everywhere and needs no preparation.
 */

#include "ebpf/load.h"
#include "ebpf/lower.h"
#include "ebpf/matcher.h"

enum {
	MATCHER_CACHE_LINE = 64,
	MATCHER_MAPS_MAX = 48,
	MATCHER_HISTORY_MAX = 16,            /* events that a run keeps for RETURN SEQUENCE */
	MATCHER_HISTORY_BYTES_MAX = 2048,    /* ... and their size */
	MATCHER_STATES_MAX = UINT16_MAX - 1, /* a run keeps its state in 16 bits */
};

/*
 * A run. It waits in the chain of one bucket (bucket != 0), or belongs to the program that holds it, or is free
 * (then next is the next free one). Everything but `next` of a free one is only touched under the bucket's lock.
 */
struct matcher_run {
	uint32_t next, prev; /* in the chain; 0: none */
	uint32_t bucket;     /* in whose chain it is, plus 1; 0: in none */
	uint16_t state;
	uint16_t group;
	uint64_t first_ts;
	uint64_t made;    /* when: ts of the event that opened or copied it; its seq where events are fed */
	uint32_t epoch;   /* of losses, when it was opened */
	uint32_t ordinal; /* among those made by one CPU */
			  /* the slot area follows */
};

/* A chain of runs whose keys have the same hash, in the order they came. */
struct matcher_bucket {
	uint32_t lock; /* 0, or 1 + the CPU that holds it */
	uint32_t head, tail;
	uint32_t reserved;
};

/* Of one rule: what changes rarely. */
struct matcher_control {
	uint64_t used; /* places ever taken */
	uint64_t epoch;
	uint64_t matches;
	uint64_t refused; /* pool_exhausted */
	uint64_t lost;
	uint64_t divisions;
	uint64_t pad[2];
};

/* Of one rule and one CPU: what changes with every run. */
struct matcher_cpu {
	uint32_t free;     /* the run given back last */
	uint32_t free_tag; /* counts changes of free, so that a compare-and-exchange of both cannot be fooled */
	uint64_t opened;
	uint64_t pad[6];
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
};

/* An event that a run keeps; its record follows. Behind the slot area: the number of them, then the entries. */
struct matcher_kept {
	uint64_t element;
};

/* Runs whose time may be up, for the sweeping program. */
struct matcher_overdue {
	uint32_t rule, run;
};

enum { MATCHER_WORK_MAX = 1024 };

struct matcher_work {
	uint64_t count, now;
	struct matcher_overdue items[MATCHER_WORK_MAX];
};

_Static_assert(sizeof(struct matcher_run) == 40, "shared with generated code");
_Static_assert(sizeof(struct matcher_bucket) == 16, "shared with generated code");
_Static_assert(sizeof(struct matcher_control) == MATCHER_CACHE_LINE, "shared with generated code");
_Static_assert(sizeof(struct matcher_cpu) == MATCHER_CACHE_LINE, "shared with generated code");
_Static_assert(sizeof(struct matcher_match) == 56, "shared with generated code");

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
	bool interrupted;          /* a program of this rule can interrupt another one on its CPU */
	bool locks_out_interrupts; /* ... but not while that one holds a lock */
	struct matcher_history history;
	uint32_t area_bytes;  /* of the slot area and what is kept behind it */
	uint32_t stride;      /* bytes of a run */
	uint32_t bucket_bits; /* 2^this buckets */
	struct matcher_region control, cpus, runs, buckets, aside;
	uint64_t look_again; /* until then no run can be overdue */
	uint32_t *group_of;  /* per class of the rule */
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

/* The code for one type: rules [first, end) of the program. */
struct matcher_part {
	uint32_t first, end;
	struct matcher_header header;
};

struct matcher_type {
	struct matcher_part *parts;
	size_t part_count, part_capacity;
};

/* Matches taken from the ring and not yet handed out: items are offsets in bytes. */
struct matcher_inbox {
	struct ring_buffer *ring;
	uint8_t *bytes;
	size_t used, capacity;
	uint32_t *items;
	size_t count, item_capacity, next;
	struct program_match_event events[MATCHER_HISTORY_MAX]; /* of the match being handed out */
};

struct matcher_due {
	uint32_t rule, run;
	uint64_t deadline, made;
	uint32_t ordinal;
};

struct matcher_sweep {
	int fd; /* of the program; -1: no rule has WITHIN */
	struct matcher_region work;
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
	struct matcher_inbox inbox;
	struct matcher_sweep sweep;
	struct matcher_region feed; /* the record of a test run */
};

/* 1, 0 with the reason, -ENOMEM */
int matcher_can_run(const struct program *program, const struct ebpf_node_info *nodes, uint32_t rule, char *reason,
		    size_t size);

/* history: 0, -E2BIG when a run could collect too many events, -ENOMEM. */
int matcher_history(const struct program *program, const struct program_rule *rule, struct matcher_history *history);

/* layout: where everything is. Regions first, then the maps that hold them. */
int matcher_layout(struct ebpf_matcher *matcher, struct asterism_diag *diag);
int matcher_make_maps(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_close_maps(struct ebpf_matcher *matcher);

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

static inline void *matcher_at(const struct ebpf_matcher *matcher, const struct matcher_region *region)
{
	return matcher->maps[region->map].memory + region->off;
}

/* Whether type is in rule's stream. */
bool matcher_rule_has(const struct program *program, const struct program_rule *rule, uint32_t type);

/* The first transition of state on type, and how many. */
const struct program_transition *matcher_transitions(const struct program *program, const struct program_state *state,
						     uint32_t type, uint32_t *count);

/* The key of class for type (its own or that for all types), or NULL. */
const struct program_key *matcher_key(const struct program *program, const struct program_class *class, uint32_t type);

static inline const struct program_state *matcher_state(const struct program *program, const struct program_rule *rule,
							uint32_t state)
{
	return &program->states[rule->first_state + state];
}

static inline const struct program_class *matcher_class(const struct program *program, const struct program_rule *rule,
							uint32_t class)
{
	return &program->classes[rule->first_class + class];
}

#endif
