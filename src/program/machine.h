/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_MACHINE_H
#define PROGRAM_MACHINE_H

/* What the slots of a machine's instance say: which notice is told, and the way that led there. */

#include "program/load.h"
#include "program/match.h"

#include <stdbool.h>

/* One transition of an instance; texts are borrowed from the program. */
struct program_trail_event {
	uint32_t type;    /* index in the types, or PROGRAM_TIMER */
	const char *name; /* of the event; "AFTER" for a timer */
	const char *from; /* the state's name */
	const char *to;   /* likewise, "END" where the instance ends; the start's where it was not left */
	uint64_t ts;
	uint32_t cpu, pid, tid;
};

/* The number of the notice in the notice slot of slots, from 1; 0: none, or rule is no machine. */
uint32_t program_notice_of(const struct program *program, const struct program_rule *rule, const void *slots);

/* The notice that match tells; NULL where it is of a rule. */
const struct program_notice *program_match_notice(const struct program *program, const struct program_match *match);

/*
 * Writes the last transitions of the instance, up to the one that tells match, the oldest first, to events, which has
 * room for PROGRAM_TRAIL_MAX. Returns how many. Whatever the slots hold, what is written can be read.
 */
uint32_t program_trail(const struct program *program, const struct program_match *match,
		       struct program_trail_event *events);

/* Whether a statement of match's rule is part of match: all of a rule's are. */
static inline bool program_statement_applies(const struct program_statement *row, const struct program_match *match)
{
	return row->notice == match->notice;
}

#endif
