/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_PLACE_H
#define SESSION_OUTPUT_PLACE_H

/*
 * The container or the unit of systemd that the process of a match is in. It is looked up when the match is written, so
 * of one that has ended nothing is said; nor where another process has its number by now.
 */

#include "base/container.h"
#include "program/match.h"

#include <stdint.h>

enum { PLACES = 16 };

/* What was found last, by number. All zero: nothing. */
struct places {
	struct place {
		uint32_t pid;               /* 0: nobody's */
		uint64_t until_ns, seen_ns; /* how long it holds; since when it is known to be there */
		struct container container;
	} recent[PLACES];
};

struct program_rule;

/*
 * Where the process of the rule's match is, whose ids are of this machine and of our pid namespace. NULL: unknown, or
 * nowhere. Holds until the next call.
 */
const struct container *place_find(struct places *places, const struct program_rule *rule,
				   const struct program_match *match);

#endif
