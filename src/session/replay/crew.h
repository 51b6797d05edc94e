/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_CREW_H
#define SESSION_REPLAY_CREW_H

/*
 * The rules of a replay at work on several processors: each worker thread has an engine with a part of the rules, or
 * one rule and a share of its keys, and all of them get the same batches of events. What comes out is what one engine
 * with all rules gives: the same matches in the same order, the same counts. All calls, and all calls of on_match, are
 * made by one thread, the owner.
 *
 * One thing the shares of a rule cannot do: find out which run has no place when the pool of them all is full. Then the
 * crew gives up before it hands out a match that may be wrong; what has been handed out until then is right.
 */

#include "base/diag.h"
#include "program/load.h"
#include "program/match.h"

#include <stdbool.h>

struct crew;

struct crew_options {
	uint32_t jobs;      /* workers at most */
	bool by_key;        /* rules may be divided by their keys; then the crew may give up */
	size_t batch_bytes; /* events that go to the workers together; 0: as many as is good. For tests */
	program_match_fn *on_match;
	void *context;
};

/*
 * Starts the workers. Returns 0; also where the rules cannot be split, or jobs is 1: then *made is NULL and an engine
 * does as well. -ENOMEM, -E2BIG (as engine_new), -EAGAIN (no threads to be had), with a sentence.
 */
int crew_new(const struct program *program, const struct crew_options *options, struct asterism_diag *diag,
	     struct crew **made);
void crew_free(struct crew *crew);

/*
 * As engine_feed and engine_lose; matches come later, but in order. Return 0, what on_match returned, -ENOMEM, and
 * -EAGAIN when the crew gave up.
 */
int crew_feed(struct crew *crew, const struct event_header *record);
int crew_lose(struct crew *crew, uint64_t lost);

/* Waits until all has been done that was asked for, and hands out the last matches. Results as crew_feed. */
int crew_finish(struct crew *crew);

/* Whether the crew gave up: the whole has to be done again without by_key. */
bool crew_gave_up(const struct crew *crew);

/* How many workers there are, and how many rules are divided among several of them. */
struct crew_shape {
	uint32_t workers, divided;
};

struct crew_shape crew_shape(const struct crew *crew);

/* The counters of rule, after crew_finish. */
void crew_stats(const struct crew *crew, uint32_t rule, struct program_rule_stats *stats);

#endif
