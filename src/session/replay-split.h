/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_SPLIT_H
#define SESSION_REPLAY_SPLIT_H

/* Which rules of a program may run apart from each other, without anybody noticing. */

#include "program/load.h"

#include <stdbool.h>

struct replay_split {
	uint32_t part_count;
	bool *rules; /* part_count times rule_count: whether the part has the rule */
};

/*
 * Splits the rules into at most part_max parts of about the same size. Free with replay_split_fini. Returns 0, -ENOMEM.
 */
int replay_split_init(struct replay_split *split, const struct program *program, uint32_t part_max);
void replay_split_fini(struct replay_split *split);

#endif
