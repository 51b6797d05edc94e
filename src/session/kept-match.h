/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_KEPT_MATCH_H
#define SESSION_KEPT_MATCH_H

/* A copy of a match, for whoever needs it longer than the callback that got it. */

#include "program/load.h"
#include "program/match.h"

struct kept_match {
	struct program_match match;
	struct program_reaction *reactions; /* match.reactions, to be changed */
};

/* NULL: memory is short. What the reactions' texts say is copied as well. */
struct kept_match *kept_match_new(const struct program *program, const struct program_match *match);
void kept_match_free(struct kept_match *kept);

#endif
