/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_KEY_H
#define SESSION_EXECUTOR_KEY_H

/*
 * The key by which one rule can be divided: every event that means anything to the rule carries it, and an event
 * touches only runs that were opened with the same key. So the events may be dealt out by it, each to one of several
 * engines, and no engine misses what another has.
 */

#include "event/type.h"
#include "program/load.h"

#include <stdbool.h>

struct shard_key_part {
	uint32_t offset; /* in the record */
	uint32_t bytes;  /* 4 or 8; 0: a text */
};

struct shard_key {
	uint32_t part_count;          /* 0: there is no such key */
	uint32_t type_count;          /* of the program; in its place, types that the program does not know */
	bool *concerns;               /* per type: whether its events mean anything to the rule */
	struct shard_key_part *parts; /* part_count per type */
};

/*
 * Finds the key of rule (index in the program), looking at this rule alone: whether it emits events for others is for
 * the caller to judge. Free with shard_key_fini. Returns 0, -ENOMEM.
 */
int shard_key_init(struct shard_key *key, const struct program *program, uint32_t rule);
void shard_key_fini(struct shard_key *key);

/* Which of shard_count shares the event belongs to, or PROGRAM_NONE: to none. For a key that there is. */
uint32_t shard_key_shard(const struct shard_key *key, const struct event_header *record, uint32_t shard_count);

#endif
