/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_ENGINE_MACHINES_H
#define TESTS_ENGINE_MACHINES_H

/*
 * Machines made row by row, at work on events in short notation, and what they tell as text. A machine's key is x and
 * u; it has a count n; all transitions of A, B and C are found by the whole key unless a test says otherwise.
 */

#include "maker.h"

#include "engine/engine.h"

enum machines_slot {
	SLOT_X,
	SLOT_U,
	SLOT_N,
	SLOT_NOTICE,
	SLOT_TIMER,
	SLOT_CPU,
	SLOT_PID,
	SLOT_TID,
	SLOT_COMM,
	SLOT_COUNT
};

struct machines {
	struct program_build *build;
	struct program *program;
	struct engine *engine;
	program_match_fn *on_match; /* notes matches, its context is this; for engines of a test's own */
	char log[1 << 14];
	size_t used;
	uint64_t ts;
	int result; /* what matches return */
};

/* A machine of one waiting state, which has no transitions yet. */
struct maker_rule machines_base(const char *name);
/* Adds a transition to a state of the rule. */
struct maker_transition *machines_add(struct maker_rule *rule, uint32_t state, uint32_t type, uint32_t target);
void machines_set(struct maker_transition *transition, uint32_t slot, uint32_t node);

/* Nodes. */
uint32_t machines_int(struct machines *machines, int64_t value);
uint32_t machines_word(struct machines *machines, uint64_t value);
uint32_t machines_slot(struct machines *machines, uint32_t slot);
uint32_t machines_field(struct machines *machines, uint32_t type, enum maker_field field);
/* n + value; header ts + value as U64. */
uint32_t machines_plus(struct machines *machines, int64_t value);
uint32_t machines_later(struct machines *machines, uint64_t value);

/* Adds what opening does: sets x and u from the event, n to a number. */
void machines_open(struct machines *machines, struct maker_transition *transition, int64_t n);
void machines_notice(struct machines *machines, struct maker_transition *transition, uint64_t notice);

void machines_init(struct machines *machines);
void machines_start(struct machines *machines);
void machines_fini(struct machines *machines);

/*
 * Feeds events: "A1.2" is an A with x 1, u 2 and b false, one ns after the one before it; "A1.2+" b is true; "@50" at
 * 50 ns; "#7" of pid 7.
 */
int machines_feed(struct machines *machines, const char *events);

/* Matches since the last call: "rule/notice@ts=n" each, "!" behind it when tainted. */
#define machines_assert(machines, text)                     \
	do {                                                \
		assert_string_equal((machines)->log, text); \
		(machines)->used = 0;                       \
		(machines)->log[0] = 0;                     \
	} while (0)

struct program_rule_stats machines_stats(const struct machines *machines, uint32_t rule);

/* How many instances there are; and when time next does something, UINT64_MAX: never. */
uint64_t machines_live(const struct machines *machines, uint32_t rule);
uint64_t machines_deadline(const struct machines *machines);

#endif
