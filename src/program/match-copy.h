/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_MATCH_COPY_H
#define PROGRAM_MATCH_COPY_H

/*
 * Copies of matches, for use after the callback that is lent one: as packed bytes, which can be
 * moved and queued, or as one object of its own.
 *
 * What belongs to a match: its slots, the events of its sequence with their records, comm, and, where there are any,
 * the reactions with their reasons and the frames of its stacks. Addresses without frames are left out: they are of use
 * only while the process is as it was. Reactions' verdict and by are texts that never end.
 *
 * Shapes: packed bytes begin at and take a multiple of 8. Unpacking needs room for the arrays that a match points to;
 * the result borrows from both, packed bytes and room, and both may be moved only before.
 *
 * Errors: only program_match_keep allocates. It may touch: the match and the image that it is of.
 */

#include "program/load.h"
#include "program/match.h"

#include <stddef.h>

/* What program_match_pack writes, in bytes. */
size_t program_match_bytes(const struct program *program, const struct program_match *match);
void program_match_pack(const struct program *program, const struct program_match *match, void *packed);

/* What is packed there: its bytes, and those of the room that it needs, a multiple of 8, 0: none. */
struct program_packed {
	size_t bytes, room_bytes;
};

struct program_packed program_match_packed(const void *packed);

/* A match that owns nothing. */
struct program_match_copy {
	struct program_match match;
	struct program_reaction *reactions; /* match.reactions, to be changed; NULL: none */
};

void program_match_unpack(const void *packed, void *room, struct program_match_copy *copy);

/* The same as an object of its own, to be freed by alloc_free. NULL: memory is short. */
struct program_match_copy *program_match_keep(const struct program *program, const struct program_match *match);

#endif
