/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_ENGINE_PRIV_H
#define ENGINE_ENGINE_PRIV_H

/*
 * What the files of the engine share. The tables (dispatch, states, classes) are built once by dispatch.c and live in
 * the engine's arena; runs, index entries and history grow lazily, bounded by the rules' pools.
 */

#include "engine/engine.h"
#include "engine/rule-priv.h"

/* The event being processed. */
struct engine_event {
	const struct event_header *record;
	uint32_t record_bytes;
	uint64_t number; /* every event has its own, emitted ones too */
};

/* Raised events that wait for their turn. */
struct engine_raised {
	char *bytes; /* records, each behind a head: emit.c */
	size_t room, used, next;
	char *record;   /* a copy of the one being dealt with */
	bool lost;      /* there was no room for one */
	uint64_t count; /* how often there were any */
};

/*
 * A rule with a limit and a lower bound of (deadline, ordinal) of its first overdue run. Where none of those at this
 * deadline does anything but end, their turn comes after all that do: ENGINE_ENDING is added to the ordinal.
 */
#define ENGINE_ENDING (UINT64_C(1) << 63)

struct engine_deadline {
	uint64_t at, ordinal;
	struct engine_rule *rule;
};

struct engine {
	const struct program *program;
	struct engine_options options;
	struct arena *arena;
	struct engine_code code;
	struct engine_frame frame;
	struct engine_rule *rules;
	const struct engine_transition *transitions; /* per transition of the program */
	uint64_t *seen; /* why.c: events per type, the last one of types that the program does not know; or NULL */
	uint64_t *live; /* a bit per rule that has parked runs */
	struct engine_dispatch *dispatch; /* per type; the last one for types that the program does not know */
	const char *zeros;                /* the slots of a run that no transition has touched */
	struct engine_run **cursors;      /* one per class that an event can concern */
	uint64_t seed;                    /* of all hashes */
	uint64_t now, seq;
	uint64_t ordinal;  /* of the next run */
	uint64_t number;   /* of the event last processed */
	uint64_t deadline; /* no run is overdue before time has passed this; UINT64_MAX: none at all */
	struct engine_deadline *heap;
	uint32_t heap_count;
	bool expiring;  /* time passes; no event is at work */
	uint64_t level; /* of the event being dealt with: how many matches led to it; 0: it came from outside */
	uint32_t root;  /* the rule whose match, at the event from outside, led to it; 0: that told last */
	int failed;     /* what on_match returned, while it was negative */
	struct engine_raised raised;
	struct event_header *own;           /* room for a copy of a record that is late or whose ts went back */
	struct program_match_event *events; /* of the match being told */
	size_t event_room;
};

static inline void engine_live_add(struct engine_rule *rule)
{
	if (rule->live++ == 0)
		*rule->live_word |= UINT64_C(1) << rule->index % 64;
}

static inline void engine_live_remove(struct engine_rule *rule)
{
	if (--rule->live == 0)
		*rule->live_word &= ~(UINT64_C(1) << rule->index % 64);
}

/* Counts a run that could not be kept. */
static inline void engine_refuse(struct engine_rule *rule)
{
	rule->stats.pool_exhausted++;
	rule->stats.lost++;
}

/* counting.c: whether class (of the rule) is counted as a whole; fills all of found but slot_offset. */
bool engine_counting_find(const struct program *program, const struct program_rule *rule, uint32_t class,
			  struct engine_counting *found);

/* select.c: finds the rules that a constant guard lets through. */
bool engine_guard_find(const struct program *program, uint32_t node, struct engine_guard *guard);
/* Takes entries of the row over where that pays. Returns 0, -ENOMEM. */
int engine_select_build(struct arena *arena, struct engine_dispatch *row, uint32_t rule_count);
void engine_select_pass(struct engine *engine, const struct engine_dispatch *row, const struct engine_event *event);

/* dispatch.c: the tables. Return 0, -ENOMEM. */
int engine_dispatch_build(struct engine *engine);

/* history.c */
void engine_history_release(struct engine_history *history, struct engine_history_node *node);

/* runs.c: after the tables, which say how a run is laid out. */
int engine_runs_init(struct engine_rule *rule);
void engine_runs_fini(struct engine_rule *rule);
/* A run that no run has been in before; NULL when memory is short. */
struct engine_run *engine_runs_carve(struct engine_runs *runs);

/* A run in no list yet, slots and history not set; NULL when memory is short. */
static inline struct engine_run *engine_runs_take(struct engine_rule *rule)
{
	struct engine_runs *runs = &rule->runs;
	struct engine_run *run = runs->free;

	if (run)
		runs->free = run->next;
	else
		run = engine_runs_carve(runs);
	if (runs->history_offset && run)
		*engine_history_of(runs, run) = NULL;
	return run;
}

/* Gives a run's place and history back. */
static inline void engine_runs_give(struct engine_rule *rule, struct engine_run *run)
{
	if (rule->history)
		engine_history_release(rule->history, *engine_history_of(&rule->runs, run));
	run->next = rule->runs.free;
	rule->runs.free = run;
}

/* Sorts a list by ordinal; the link of a run is the pointer link_offset bytes into it. Returns the new first run. */
struct engine_run *engine_runs_sort(struct engine_run *first, size_t link_offset);

/* index.c, whose other half is index-priv.h */
/* Doubles the buckets, whose runs have the next one and their hash so far in. Returns 0, -ENOMEM. */
int engine_index_widen(struct engine_index *index, size_t aside_offset, size_t hash_offset);
/* The same for those of a rule, of which there are to be two for each parked run. */
int engine_index_grow(struct engine_rule *rule);
/* Brings the counts of a counted chain's runs up to date. */
void engine_index_spread(struct engine_rule *rule, const struct engine_counting *counting, struct engine_run *first);

/* timers.c */
/* original: the run that this one is a copy of, or NULL. */
void engine_timers_add(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		       struct engine_run *original);
void engine_timers_remove(struct engine_rule *rule, struct engine_run *run);
/* Says that a run of a machine is due at a time. */
void engine_timers_hasten(struct engine *engine, struct engine_rule *rule, uint64_t at, uint64_t ordinal);
/* Handles every run that is overdue at now. */
void engine_timers_expire(struct engine *engine, uint64_t now);

/* machine.c */
void engine_machine_step(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event);
/* Whether any timer is set; fills in which is due first. */
bool engine_machine_first(const struct engine_rule *rule, struct engine_deadline *first);
/* Lets the first timer go off; there is one. */
void engine_machine_expire(struct engine *engine, struct engine_rule *rule);

/* machine-table.c: what a machine has beyond a rule. Returns 0, -ENOMEM. */
int engine_machine_new(struct engine *engine, struct engine_rule *rule);
void engine_machine_fini(struct engine_machine *machine);
/* The index by the slots in mask (bit i: slot i of the machine's class), whose parts the caller sets if it is new. */
struct engine_any *engine_machine_any(struct engine_machine *machine, uint32_t mask);
/* How much longer an instance is than a run, whose bytes these are. Lays out what there is so. */
size_t engine_machine_lay_out(struct engine_machine *machine, size_t run_bytes);
/* The same, and what the machine's pool takes in indices and timers, from the image alone. */
size_t engine_machine_more_bytes(const struct program *program, const struct program_rule *rule);
uint64_t engine_machine_pool_bytes(const struct program *program, const struct program_rule *rule);

/* step.c */
void engine_step(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event);

/* drop.c */
/* Ends the parked runs of the join key in slots that were opened before limit, except those spared. */
struct engine_spared {
	uint64_t limit, opened; /* ordinals: from here on; this one */
	bool deadline;          /* and those that match when the time is up, opened at first_ts */
	uint64_t first_ts;
};
void engine_drop(struct engine_rule *rule, const char *slots, const struct engine_spared *spared);
/* The open runs of this join key, but for the one spared, depend on a run that was refused. */
void engine_mark_key(struct engine_rule *rule, const char *slots, uint64_t spared);
/* All open runs may be wrong: events were lost. */
void engine_mark_all(struct engine_rule *rule);

/* emit.c: tells a match and does its statements. Returns whether it counts as a match. */
bool engine_report(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		   const struct event_header *header, uint64_t epoch);
/* The same for a machine, whose instance says by its notice slot what is to be told. */
void engine_report_notice(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
			  const struct event_header *header, uint64_t epoch);
int engine_emit_init(struct engine *engine);
/* Deals with what was raised, and what that raises. */
void engine_raise(struct engine *engine);

/* history.c */
int engine_history_new(struct engine_history **made);
void engine_history_free(struct engine_history *history);
/* Adds the event as element in front of the history at *node. Returns 0, -ENOMEM (also when its bound is reached). */
int engine_history_append(struct engine_history *history, struct engine_history_node **node,
			  const struct engine_event *event, uint32_t element);
void engine_history_share(struct engine_history_node *node);
uint32_t engine_history_count(const struct engine_history_node *node);
/* Fills events (as many as count says) in stream order. */
void engine_history_list(const struct engine_history_node *node, struct program_match_event *events);

static inline void engine_pass_one(struct engine *engine, const struct engine_entry *entry,
				   const struct engine_event *event)
{
	if (__builtin_expect(entry->machine, false))
		engine_machine_step(engine, entry, event);
	else
		engine_step(engine, entry, event);
}

/* unread.c: the tables, before select.c takes entries over; 0, -ENOMEM. Hands an event with an unread string on. */
int engine_unread_build(struct engine *engine, struct engine_dispatch *rows);
void engine_unread_unknown(struct engine *engine, uint32_t type);
void engine_unread_pass(struct engine *engine, const struct engine_dispatch *row, const struct engine_event *event);

static inline bool engine_has_unread(const struct engine_dispatch *row, const struct event_header *record)
{
	for (uint32_t i = 0; i < row->doubt_count; i++)
		if (((const char *)record)[row->doubts->ends[i]])
			return true;
	return false;
}

/* Hands an event to every rule that it means something to, by the row of its type. */
static inline void engine_pass(struct engine *engine, const struct engine_dispatch *row,
			       const struct engine_event *event)
{
	const struct engine_entry *entry = row->entries, *end = entry + row->count;

	if (row->selects) {
		engine_select_pass(engine, row, event);
		return;
	}
	for (; entry < end && !engine->failed; entry++)
		engine_pass_one(engine, entry, event);
}

#endif
