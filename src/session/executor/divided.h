/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_DIVIDED_H
#define SESSION_EXECUTOR_DIVIDED_H

/* A rule that several workers of a sharded executor share. */

#include "session/executor/batch.h"

struct divided {
	uint32_t rule;
	const struct shard_key *key;
	uint32_t shard_count;
	uint32_t *workers; /* per share */
	struct level_sum sum;
	const struct level_log **logs; /* per share, for the moment */
};

/* The rule of a part of split that is its first share. Free with divided_fini either way. Returns 0, -ENOMEM. */
int divided_init(struct divided *divided, const struct shard_split *split, uint32_t part);
void divided_fini(struct divided *divided);

/* Adds a batch up that is done; false if one engine whose pool has room for so many may have refused a run. */
bool divided_add(struct divided *divided, const struct batch *batch, uint64_t pool);

#endif
