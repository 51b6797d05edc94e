/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_SPLIT_H
#define SESSION_EXECUTOR_SPLIT_H

/* Which rules of a program may be worked on apart from each other, without anybody noticing. */

#include "program/load.h"

#include <stdbool.h>

struct shard_split {
	uint32_t part_count;
	bool **parts; /* per part, per rule of the program: whether the part has it */
};

/*
 * Splits the rules into at most part_max parts of about the same size. Free with split_fini either way. Returns
 * 0, -ENOMEM.
 */
int split_init(struct shard_split *split, const struct program *program, uint32_t part_max);
void split_fini(struct shard_split *split);

#endif
