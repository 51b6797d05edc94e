/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_LEVEL_H
#define SESSION_EXECUTOR_LEVEL_H

/*
 * How many runs of a divided rule are open at once, all its shares together. Each share keeps a log of its own while it
 * works through a batch; afterwards the logs of the batch are added up, item by item where it matters.
 */

#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>

struct level_change {
	uint32_t item; /* of the batch */
	uint32_t live; /* after it */
	uint32_t peak; /* the most after a run was opened at it; 0: none was */
};

/* So many items in a row are looked at together. */
enum { LEVEL_BLOCK_ITEMS = 64 };

struct level_block {
	uint32_t end;     /* changes up to its end */
	uint32_t highest; /* the greatest peak in it */
};

/* What one share notes about one batch. Zeroed, it is empty. */
struct level_log {
	struct level_change *changes;
	size_t count, room;
	struct level_block *blocks; /* those that are over, and the one at work */
	size_t block_count, block_room;
	uint32_t highest;    /* of the block at work */
	uint32_t live;       /* at its end so far */
	bool has_refused;    /* a run, at any time */
	double memory_share; /* as engine_memory_share, at the end */
};

/* Empties the log for a batch that begins with live runs. */
void level_log_begin(struct level_log *log, uint32_t live);
/* Items may be left out where nothing changes. Both return 0, -ENOMEM. */
int level_log_add(struct level_log *log, uint32_t item, struct engine_level level);
/* The batch ends with so many items. */
int level_log_end(struct level_log *log, uint32_t item_count);
void level_log_fini(struct level_log *log);

/* All shares of a rule together. */
struct level_sum {
	uint32_t shard_count; /* 0: the rule is not divided */
	uint32_t *live;       /* per share, after the batches so far */
	size_t *at;           /* per share: changes of this batch that were added */
	uint64_t total, max;  /* of all shares */
};

int level_sum_init(struct level_sum *sum, uint32_t shard_count);
void level_sum_fini(struct level_sum *sum);

/* Adds a batch; logs has one per share. */
void level_sum_add(struct level_sum *sum, const struct level_log *const *logs);

#endif
