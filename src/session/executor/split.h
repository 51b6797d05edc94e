/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_SPLIT_H
#define SESSION_EXECUTOR_SPLIT_H

/* Which parts of the work of a program may be done apart from each other, without anybody noticing. */

#include "program/load.h"
#include "session/executor/key.h"

#include <stdbool.h>

/* Some rules, and all events; or one rule, and those events whose key falls into this share. */
struct shard_part {
	bool *rules;                 /* per rule of the program: whether the part has it */
	uint32_t shard, shard_count; /* shard_count 1: all events */
	const struct shard_key *key; /* where there are several shares */
	uint32_t rule;               /* and of which rule */
};

struct shard_split {
	uint32_t part_count;
	struct shard_part *parts;
	struct shard_key *keys; /* per rule; those that are used are filled in */
	uint32_t rule_count, part_room;
};

struct shard_split_options {
	uint32_t part_max;
	bool by_key; /* whether rules may be divided */
};

/*
 * Splits the rules into at most part_max parts of about the same size, and divides rules only where there would be
 * fewer parts. Free with shard_split_fini. Returns 0, -ENOMEM.
 */
int shard_split_init(struct shard_split *split, const struct program *program,
		     const struct shard_split_options *options);
void shard_split_fini(struct shard_split *split);

#endif
