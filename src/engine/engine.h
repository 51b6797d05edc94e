/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

/*
 * The user-space executor: runs the rules of one program over a stream of event records. All memory is taken when
 * the engine is made (or while runs first grow into it, bounded by the rules' pools); the event path does not allocate.
 * One engine belongs to one thread at a time. docs/internals/execution.md says what it does with an event.
 */

#include "base/diag.h"
#include "program/load.h"
#include "program/match.h"

struct engine;

struct engine_options {
	program_match_fn *on_match;
	void *context;
	const bool *rules; /* per rule of the program: whether it runs here; NULL: all do */
	/* An event that a rule raises by EMIT, when the others get it; borrowed. NULL: nobody else wants it. */
	void (*on_raise)(void *context, const struct event_header *record);
	bool counts_why; /* what becomes of runs is counted, for engine_count_why */
};

/* The program must outlive the engine. Returns 0, -ENOMEM, -E2BIG (shared actions unfold to too much code). */
int engine_new(const struct program *program, const struct engine_options *options, struct asterism_diag *diag,
	       struct engine **made);
void engine_free(struct engine *engine);

/*
 * Feeds one event. record->type is the index of its type in the program, or PROGRAM_NONE for a type that the program
 * does not know (it still is part of an OVER { * } stream and lets time pass). Time must not go back: an earlier ts is
 * taken as the latest seen, unless the record is marked as late (EVENT_LATE), which keeps its ts. Returns 0 or what
 * on_match returned.
 */
int engine_feed(struct engine *engine, const struct event_header *record);

/* Lets time pass up to now (exclusive of deadlines at now itself) without an event. */
int engine_advance(struct engine *engine, uint64_t now_ns);

/*
 * Says that events may have been lost before the next one: every open run of every rule is marked. lost is added to
 * the rules' counters.
 */
void engine_lose(struct engine *engine, uint64_t lost);

/*
 * While on_match is called: the match's place among those of the event fed, for putting engines for parts of a program
 * in order; matches of one place are in order already. 0 while time passes; at the event itself rules take their turns
 * in the order of the program, then come the events that these raised, in the same order, then those raised at these.
 */
uint64_t engine_turn(const struct engine *engine);

/* The counters of rule (index in the program). */
void engine_stats(const struct engine *engine, uint32_t rule, struct program_rule_stats *stats);

/* Adds what became of rule's runs, as program/why/why.h has it, to counts. */
void engine_count_why(const struct engine *engine, uint32_t rule, uint64_t *counts);

/* The most memory that rule's runs and their index take when its pool is full; not what RETURN SEQUENCE remembers. */
uint64_t engine_pool_bytes(const struct program *program, uint32_t rule);

#endif
