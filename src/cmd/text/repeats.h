/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_REPEATS_H
#define CMD_TEXT_REPEATS_H

/* How often each rule has matched in each program, and how many of these matches are shown. */

#include "base/hash-table.h"
#include "program/load.h"
#include "program/match.h"

#include <stdbool.h>
#include <stdio.h>

enum { REPEATS_SHOWN = 20 /* of a rule in a program, in text */, REPEATS_PAIRS_MAX = 4096 };

/* A rule in a program, which is told by its comm. What finds no room of its own is counted in one pair of the rule. */
struct repeats_pair {
	uint32_t rule;
	char comm[EVENT_COMM_BYTES];
	bool is_rest;
	uint64_t count;
};

struct repeats {
	uint64_t limit; /* matches of a pair that are shown */
	struct repeats_pair *pairs;
	size_t count, capacity;
	struct hash_table numbers; /* of pairs, by rule and comm */
};

/*
 * Counts a match. Returns whether it is to be shown; *is_first: it is the first of its pair that is not. Where memory
 * is short it is shown.
 */
bool repeats_take(struct repeats *repeats, const struct program_match *match, bool *is_first);

/* How many matches of the rule were not shown, and of all rules together. */
uint64_t repeats_hidden(const struct repeats *repeats, uint32_t rule);
uint64_t repeats_all_hidden(const struct repeats *repeats);

/* "+5,620 more of open_failed in python3", a line for each pair with matches that were not shown. */
void repeats_put_hidden(FILE *stream, const struct repeats *repeats, const struct program *program);

/* The table of rules and programs, most matches first. */
void repeats_put_table(FILE *stream, const struct repeats *repeats, const struct program *program);

void repeats_fini(struct repeats *repeats);

#endif
