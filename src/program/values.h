/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_VALUES_H
#define PROGRAM_VALUES_H

/*
 * How the values that a rule returns lie in a C structure, which programs that embed asterism get as generated code:
 *
 *   uint64_t layout;   the identity of this layout: rule, names, kinds, places
 *   uint64_t missing;  bit i: value i has none: it divides by zero, or is no name of this match (program/returned.h)
 *   then every value in its order, numbers in 8 bytes, truths in 1, texts in the capacity that the rule gives them;
 *   each aligned to its size, texts to 1, the whole to 8.
 */

#include "program/load.h"
#include "program/match.h"

struct program_place {
	uint32_t name; /* text */
	uint32_t node;
	enum program_kind kind;
	size_t offset, bytes;
};

/* A walk over the places of a rule's values; zero: before the first. */
struct program_values {
	uint32_t count;  /* of places so far */
	size_t bytes;    /* up to here; of the whole structure after the last */
	uint64_t layout; /* likewise */
};

enum { PROGRAM_VALUES_HEAD_BYTES = 16 };

/* The next place. Returns false past the last. */
bool program_values_next(const struct program *program, uint32_t rule, struct program_values *values,
			 struct program_place *place);

/* The whole layout of rule. */
void program_values_layout(const struct program *program, uint32_t rule, struct program_values *values);

/* Writes a structure of this layout, all of its bytes, to memory. */
void program_values_fill(const struct program *program, const struct program_match *match,
			 const struct program_values *layout, void *memory);

#endif
