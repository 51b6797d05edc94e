/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_SESSION_CLOSED_H
#define TESTS_UNIT_SESSION_CLOSED_H

/*
 * An instance of a machine `closed`, with its tables written by hand: its notices, and a trail of four places.
 *
 *   Open -closed-> Closed, Closed -used-> Closed, Closed -AFTER-> END
 */

#include "program/load.h"
#include "program/match.h"

enum { TRAIL = 4 };

/* WARNS: two pieces with values and CALLs. COUNTS: CALL Count alone. PLAIN: a text alone. ODD: what divides by zero. */
enum { NO_NOTICE, WARNS, COUNTS, PLAIN, ODD, NOTICES = ODD };

enum { SLOT_NOTICE, SLOT_FD, SLOT_USES, SLOT_NAME, SLOT_TRAIL, SLOTS = SLOT_TRAIL + TRAIL * PROGRAM_TRAIL_WORDS };

struct slots {
	uint64_t notice, fd, uses;
	char name[32];
	uint64_t trail[TRAIL][PROGRAM_TRAIL_WORDS]; /* newest first */
};

enum { PIECES = 8, RETURNS = 5, STATEMENTS = 4 };

struct closed {
	struct program program;
	struct program_header header;
	struct program_type types[2];
	struct program_rule rule;
	struct program_slot slots[SLOTS];
	struct program_state states[2];
	struct program_transition transitions[3];
	struct program_node nodes[8];
	struct program_return returns[RETURNS];
	struct program_statement statements[STATEMENTS];
	struct program_arg args[8];
	struct program_notice notices[NOTICES];
	struct program_piece pieces[PIECES];
	struct slots instance;
	struct program_match match;
};

void closed_make(struct closed *closed);

/* The match is that of the notice. */
void closed_report(struct closed *closed, uint32_t notice);

/* A step of the trail, the newest so far: transition is counted from 1. */
void closed_step(struct closed *closed, uint64_t ts, uint64_t transition, uint64_t cpu);

#endif
