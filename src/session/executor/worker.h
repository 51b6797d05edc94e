/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_WORKER_H
#define SESSION_EXECUTOR_WORKER_H

/* What a worker of the sharded executor does: it has an engine with the rules of one part. */

#include "engine/engine.h"
#include "session/executor/batch.h"

#include <pthread.h>
#include <stdbool.h>

struct worker {
	struct sharded *sharded;
	const struct program *program;
	const uint32_t *item_bytes; /* per type */
	uint32_t index;
	struct engine *engine;
	pthread_t thread;
	bool started;
	struct batch_turn *turn; /* at work */
	uint32_t item;           /* of the batch */
};

/* Does what there is to do for the worker in the batch. The result is in its turn. */
void worker_do(struct worker *worker, const struct batch *batch);

/* A program_match_fn for the worker's engine; context is the worker. */
int worker_match(void *context, const struct program_match *match);

#endif
