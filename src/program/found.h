/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_FOUND_H
#define PROGRAM_FOUND_H

/* Matches kept for later, with everything that they borrow from the engine, and where they stand in the order of all.
 */

#include "program/match-copy.h"

/* A list of matches; zeroed, it is empty. */
struct found_list {
	char *bytes;
	size_t used, room;
};

/* The place of a match: the item of the batch, and engine_turn at it. */
struct found_place {
	uint64_t item, turn;
};

/* A reader of a list. */
struct found_reader {
	const struct found_list *list;
	size_t at;
};

/* Adds a copy of match. Returns 0, -ENOMEM. */
int found_add(struct found_list *list, const struct program *program, struct found_place place,
	      const struct program_match *match);

/* Forgets the matches, keeps the memory. */
void found_clear(struct found_list *list);
void found_fini(struct found_list *list);

/* The place of the reader's next match; false at the end. */
bool found_peek(const struct found_reader *reader, struct found_place *place);

/* Room for what one match points to, reused. */
struct found_room {
	char *bytes;
	size_t capacity;
};

/* Takes the next match, which borrows from the list and from room. Returns 0, -ENOMEM. */
int found_take(struct found_reader *reader, struct found_room *room, struct program_match *match);

#endif
