/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_WHOSE_H
#define PROGRAM_WHOSE_H

/*
 * Whose values a match returns. Some mean something in their process alone - addresses, descriptors - and a match may
 * be of several processes. What is said here follows from the image: all events that the match has values of are of one
 * process, as they have their process or their thread in common, or as there is only one of them.
 *
 * It may touch: the image and the match. Errors: -ENOMEM.
 */

#include "program/match.h"
#include "program/query.h"

#include <stdbool.h>

/* By which slot that process is known. */
struct program_whose {
	bool is_one;       /* the values are those of one process */
	bool has_slot;     /* else: those of the event that completes the match */
	uint32_t slot;     /* of the rule */
	bool is_of_thread; /* it has the thread, else the process */
};

/* One of each rule, to be freed by alloc_free. */
int program_find_whose(const struct program *program, struct program_whose **found);

/* Whether the values of match, whose rule has this, are those of the process that match names. */
bool program_has_own_values(const struct program *program, const struct program_match *match,
			    const struct program_whose *whose);

/* The event that a value is from. */
struct program_owner {
	uint64_t ts;
	uint32_t pid, tid;
	char comm[EVENT_COMM_BYTES];
};

/*
 * Where the value of node, over match's slots, is from one event whose process the run has kept: stores that. Rules
 * whose events are not of one process keep it for addresses.
 */
bool program_find_owner(const struct program *program, const struct program_match *match, uint32_t node,
			struct program_owner *owner);

#endif
