/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_WHY_WHY_H
#define PROGRAM_WHY_WHY_H

/*
 * What became of a rule's runs, counted: docs/internals/execution.md says what each executor counts when it is asked
 * to. The counts of a rule are one array of numbers, so that executors add them up without a look at what they mean;
 * where in it a fact stands is decided here.
 */

#include "program/load.h"

#include <stdbool.h>

/* Of a rule. */
enum program_why_rule {
	/* Under AFTER MATCH DROP, runs ended by the match of another one, or as one that might have matched was
	   refused. */
	PROGRAM_WHY_DROPPED,
	PROGRAM_WHY_DISCARDED, /* runs ended by a loss (ON LOSS DISCARD) */
	PROGRAM_WHY_RULE_WORDS,
};

/* Of a state. */
enum program_why_state {
	PROGRAM_WHY_EXPIRED, /* runs whose time was up here, without a match */
	PROGRAM_WHY_OPEN,    /* runs that are here when the counts are read */
	/*
	 * ns in which runs were here: when they left less when they came, modulo 2^64. So of those that are open the
	 * time of reading is missing: program_why_stayed. By the user-space engine alone.
	 */
	PROGRAM_WHY_STAYED,
	PROGRAM_WHY_STATE_WORDS,
};

/* Of a type of the stream (program_over), and behind these of all others together where program_why_has_others. */
enum program_why_type {
	PROGRAM_WHY_SEEN,  /* events; not of the other types */
	PROGRAM_WHY_BROKE, /* runs that ended because the event fits nowhere (strict semantics) */
	PROGRAM_WHY_TYPE_WORDS,
};

/* Of a transition. */
enum program_why_transition {
	/* The first of its type in a state, a rule's start aside: how often runs, or events at a machine's start, were
	   judged. */
	PROGRAM_WHY_MET,
	PROGRAM_WHY_TAKEN,         /* it fits, and is the one */
	PROGRAM_WHY_FAILED,        /* of these: hold is false, and the run ends */
	PROGRAM_WHY_OTHER_PROCESS, /* of the runs that it ended: by an event of another process than opened the run */
	PROGRAM_WHY_OTHER_THREAD,  /* the same of threads */
	/* Here on, for each condition of `fit` but the last, then of `hold` but the last: how often it was true. */
	PROGRAM_WHY_TRUE,
};

/* The conditions that AND joins, in the order in which they are asked: one is asked where those before it are true. */
enum { PROGRAM_WHY_CONDITIONS_MAX = 16 };
struct program_why_conditions {
	uint32_t count, nodes[PROGRAM_WHY_CONDITIONS_MAX];
};

/* Of node, which may be PROGRAM_NONE: none. Where there are more than fit, some stay together as one. */
void program_why_conditions(const struct program *program, uint32_t node, struct program_why_conditions *found);

/* Where in the counts of a transition those of its hold stand. */
uint32_t program_why_hold_true(const struct program *program, const struct program_transition *transition);

/* How many numbers a transition has. */
uint32_t program_why_transition_words(const struct program *program, const struct program_transition *transition);

/* Whether an event that fits one transition of a state is not tried at the other, of the same type and behind it. */
bool program_why_precedes(const struct program_rule *rule, const struct program_transition *one,
			  const struct program_transition *other);

/* How often a transition of the state was tried. */
uint64_t program_why_tried(const struct program *program, const struct program_rule *rule, const uint64_t *counts,
			   const struct program_transition *transition);

/* Whether events of types that the rule does not name matter to it: OVER { * } under the strict semantics. */
bool program_why_has_others(const struct program_rule *rule);

/* Whether events of type may do something to the rule: only these are counted. */
bool program_why_looks_at(const struct program *program, const struct program_rule *rule, uint32_t type);

/* How many numbers a rule has. */
uint32_t program_why_words(const struct program *program, const struct program_rule *rule);

/* Where the first number of a state is (of the rule), of a transition (of the program), of a type (of the program). */
uint32_t program_why_state(uint32_t state);
uint32_t program_why_type(const struct program *program, const struct program_rule *rule, uint32_t type);
uint32_t program_why_transition(const struct program *program, const struct program_rule *rule,
				const struct program_transition *transition);

/* The counts of all rules of a program. */
struct program_why {
	const struct program *program;
	uint64_t **rules; /* per rule: its numbers */
};

/* ns in which runs of a state were there, until now_ns (of the events' clock), when the counts were read. */
static inline uint64_t program_why_stayed(const uint64_t *counts, uint32_t state, uint64_t now_ns)
{
	const uint64_t *own = counts + program_why_state(state);

	return own[PROGRAM_WHY_STAYED] + own[PROGRAM_WHY_OPEN] * now_ns;
}

/* All 0. Returns 0, -ENOMEM. program_why_free takes NULL, too. */
int program_why_new(const struct program *program, struct program_why **made);
void program_why_free(struct program_why *why);

#endif
