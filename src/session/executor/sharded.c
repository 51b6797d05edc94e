// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules in user space on several CPUs: each worker thread has an engine with a part of the rules, and all of them
 * get the same batches of events. What comes out is what one engine with all rules gives: the same matches in the same
 * order, the same counts; a match comes some thousand events later. All calls of on_match are made by the owner's
 * thread. One job, or rules that cannot be split, are not for this kind.
 *
 * The owner fills batches, which stand in a ring; every worker takes every batch, one after the other. A batch that all
 * are done with is done: its matches, kept per worker in the order of that worker's engine, are handed out in the order
 * of their places. So a worker is ahead of another by no more than the ring, and memory is bounded by it. Inputs are
 * read and decoded once, however many workers there are.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "program/reads.h"
#include "session/executor/split.h"
#include "session/executor/worker.h"

#include <errno.h>
#include <string.h>

enum {
	BATCHES = 4,
	BATCH_BYTES = 1 << 20,
};

struct sharded {
	struct executor executor; /* first */
	/* Of the owner alone, and of every event. */
	struct batch *filling;
	uint64_t now;         /* the latest time told */
	uint64_t reported;    /* the latest time that an item has */
	uint32_t *item_bytes; /* per type: how much of a record is looked at */
	uint32_t type_count;
	bool over_all; /* some rule sees types that the program does not know */
	int failed;    /* sticks: nothing more is handed out */

	const struct program *program;
	struct executor_options options;
	struct shard_split split;
	struct worker **workers;
	uint32_t worker_count;
	struct batch batches[BATCHES];
	struct found_reader *readers; /* per worker */
	struct found_room room;
	uint64_t lost;        /* told to every worker */
	uint64_t delivered;   /* batches whose matches were handed out */
	pthread_mutex_t lock; /* of what follows, and of batches' left */
	pthread_cond_t publish, done;
	uint64_t published;
	bool ends;
};

static void *work_on_batches(void *context)
{
	struct worker *worker = context;
	struct sharded *sharded = worker->sharded;

	pthread_mutex_lock(&sharded->lock);
	for (uint64_t next = 0;; next++) {
		struct batch *batch = &sharded->batches[next % BATCHES];

		while (sharded->published == next && !sharded->ends)
			pthread_cond_wait(&sharded->publish, &sharded->lock);
		if (sharded->published == next)
			break;
		pthread_mutex_unlock(&sharded->lock);
		worker_do(worker, batch);
		pthread_mutex_lock(&sharded->lock);
		if (--batch->left == 0)
			pthread_cond_signal(&sharded->done);
	}
	pthread_mutex_unlock(&sharded->lock);
	return NULL;
}

static bool is_place_before(struct found_place a, struct found_place b)
{
	return a.item != b.item ? a.item < b.item : a.turn < b.turn;
}

/* The worker with the earliest match left, or worker_count. No two have matches of one place. */
static uint32_t earliest(const struct sharded *sharded)
{
	uint32_t found = sharded->worker_count;
	struct found_place place, best = { 0 };

	for (uint32_t i = 0; i < sharded->worker_count; i++) {
		if (found_peek(&sharded->readers[i], &place) &&
		    (found == sharded->worker_count || is_place_before(place, best))) {
			found = i;
			best = place;
		}
	}
	return found;
}

/* Hands out the matches of a batch that is done. A worker that failed has given those before. */
static int hand_out_batch(struct sharded *sharded, struct batch *batch)
{
	int result = 0;
	uint32_t worker;

	for (uint32_t i = 0; i < sharded->worker_count; i++)
		sharded->readers[i] = (struct found_reader){ .list = &batch->turns[i].found };
	while (!result && (worker = earliest(sharded)) < sharded->worker_count) {
		struct program_match match;

		result = found_take(&sharded->readers[worker], &sharded->room, &match);
		if (!result && sharded->options.on_match)
			result = sharded->options.on_match(sharded->options.context, &match);
	}
	for (uint32_t i = 0; i < sharded->worker_count; i++) {
		if (!result && batch->turns[i].failed)
			result = batch->turns[i].failed;
	}
	return result;
}

/* Waits for the oldest batch that is out and takes it back. */
static void take_batch_back(struct sharded *sharded)
{
	struct batch *batch = &sharded->batches[sharded->delivered++ % BATCHES];

	pthread_mutex_lock(&sharded->lock);
	while (batch->left)
		pthread_cond_wait(&sharded->done, &sharded->lock);
	pthread_mutex_unlock(&sharded->lock);
	if (!sharded->failed)
		sharded->failed = hand_out_batch(sharded, batch);
	batch_empty(batch, sharded->worker_count);
}

/* Without waiting. */
static bool oldest_is_done(struct sharded *sharded)
{
	bool done;

	pthread_mutex_lock(&sharded->lock);
	done = sharded->delivered < sharded->published && !sharded->batches[sharded->delivered % BATCHES].left;
	pthread_mutex_unlock(&sharded->lock);
	return done;
}

/* Sees to it that time passes for the rules, even where no event concerned them. */
static void add_time_item(struct sharded *sharded)
{
	if (sharded->reported >= sharded->now)
		return;
	batch_add(sharded->filling, &(struct event_header){ .ts = sharded->now, .type = ITEM_TIME },
		  sizeof(struct event_header));
	sharded->reported = sharded->now;
}

/* Gives the batch being filled away; the next one is free then. */
static void publish_batch(struct sharded *sharded)
{
	add_time_item(sharded);
	if (sharded->filling->used == 0)
		return;
	pthread_mutex_lock(&sharded->lock);
	sharded->filling->left = sharded->worker_count;
	sharded->published++;
	pthread_cond_broadcast(&sharded->publish);
	pthread_mutex_unlock(&sharded->lock);
	sharded->filling = &sharded->batches[sharded->published % BATCHES];
	if (sharded->published - sharded->delivered == BATCHES)
		take_batch_back(sharded);
	while (oldest_is_done(sharded))
		take_batch_back(sharded);
}

static int publish_full(struct sharded *sharded)
{
	if (sharded->filling->used >= sharded->options.batch_bytes)
		publish_batch(sharded);
	return sharded->failed;
}

static int sharded_feed(struct executor *executor, const struct event_header *record)
{
	struct sharded *sharded = (struct sharded *)executor;
	uint32_t type = event_type_of(record);
	bool is_known = type < sharded->type_count;
	struct event_header *item;

	if (record->ts > sharded->now)
		sharded->now = record->ts;
	if (!is_known && !sharded->over_all)
		return sharded->failed;
	item = batch_add(sharded->filling, record, is_known ? sharded->item_bytes[type] : sizeof *record);
	if (!event_is_late(record))
		item->ts = sharded->now; /* as an engine that had seen all events would take it */
	if (!is_known)
		item->type = PROGRAM_NONE;
	sharded->reported = sharded->now;
	return publish_full(sharded);
}

static int sharded_advance(struct executor *executor, uint64_t now_ns)
{
	struct sharded *sharded = (struct sharded *)executor;

	if (now_ns > sharded->now)
		sharded->now = now_ns;
	return sharded->failed;
}

static int sharded_lose(struct executor *executor, uint64_t lost)
{
	struct sharded *sharded = (struct sharded *)executor;

	/* Runs whose time was up before the loss are not concerned. */
	add_time_item(sharded);
	batch_add(sharded->filling, &(struct event_header){ .seq = lost, .type = ITEM_LOSS },
		  sizeof(struct event_header));
	sharded->lost += lost;
	return publish_full(sharded);
}

static int sharded_finish(struct executor *executor)
{
	struct sharded *sharded = (struct sharded *)executor;

	publish_batch(sharded);
	while (sharded->delivered < sharded->published)
		take_batch_back(sharded);
	return sharded->failed;
}

static void add_stats(struct program_rule_stats *stats, const struct program_rule_stats *more)
{
	stats->matches += more->matches;
	stats->runs_opened += more->runs_opened;
	stats->runs_live_max += more->runs_live_max;
	stats->pool_exhausted += more->pool_exhausted;
	stats->replaced += more->replaced;
	stats->crowded += more->crowded;
	stats->events_refused += more->events_refused;
	stats->unraised += more->unraised;
	stats->lost += more->lost;
	stats->divisions_by_zero += more->divisions_by_zero;
	stats->unread += more->unread;
	if (more->unread_type) {
		stats->unread_type = more->unread_type;
		stats->unread_pid = more->unread_pid;
	}
	stats->excepted += more->excepted;
}

static void rule_stats(const struct sharded *sharded, uint32_t rule, struct program_rule_stats *stats)
{
	*stats = (struct program_rule_stats){ 0 };
	for (uint32_t i = 0; i < sharded->worker_count; i++) {
		struct program_rule_stats part;

		if (!sharded->split.parts[i][rule])
			continue;
		engine_stats(sharded->workers[i]->engine, rule, &part);
		add_stats(stats, &part);
	}
}

static void sharded_count(const struct executor *executor, struct session_totals *totals)
{
	const struct sharded *sharded = (const struct sharded *)executor;

	for (uint32_t i = 0; i < totals->rule_count; i++) {
		rule_stats(sharded, i, &totals->rules[i]);
		totals->lost += totals->rules[i].lost - sharded->lost;
	}
	totals->threads = sharded->worker_count;
}

static void sharded_count_why(const struct executor *executor, struct program_why *why)
{
	const struct sharded *sharded = (const struct sharded *)executor;

	for (uint32_t i = 0; i < sharded->worker_count; i++)
		for (uint32_t rule = 0; rule < why->program->rule_count; rule++)
			if (sharded->split.parts[i][rule])
				engine_count_why(sharded->workers[i]->engine, rule, why->rules[rule]);
}

static void note_shard_field(void *context, uint32_t field, enum program_read what_for)
{
	(void)what_for;
	((bool *)context)[field] = true;
}

/* Of each record, up to the last field that some rule looks at. */
static int find_bytes(struct sharded *sharded)
{
	const struct program *program = sharded->program;
	bool *is_read = alloc_zero(program->field_count, sizeof *is_read);

	sharded->item_bytes = alloc_zero(program->type_count, sizeof *sharded->item_bytes);
	if (!sharded->item_bytes || !is_read) {
		alloc_free(is_read);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < program->rule_count; i++)
		program_each_read(program, i, PROGRAM_NONE, note_shard_field, is_read);
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct program_type *type = &program->types[i];
		uint32_t end = sizeof(struct event_header);

		for (uint32_t j = type->first_field; j < type->first_field + type->field_count; j++) {
			uint32_t field_end = program->fields[j].offset + program->fields[j].bytes;

			if (is_read[j] && field_end > end)
				end = field_end;
		}
		sharded->item_bytes[i] = (end + 7) / 8 * 8;
	}
	alloc_free(is_read);
	return 0;
}

static int make_parts(struct sharded *sharded)
{
	int result = find_bytes(sharded);

	sharded->readers = alloc_zero(sharded->worker_count, sizeof *sharded->readers);
	sharded->workers = alloc_zero(sharded->worker_count, sizeof(struct worker *));
	if (!sharded->readers || !sharded->workers)
		result = -ENOMEM;
	for (int i = 0; i < BATCHES && !result; i++)
		result = batch_init(&sharded->batches[i], sharded->worker_count, sharded->options.batch_bytes);
	return result;
}

static int make_worker(struct sharded *sharded, uint32_t index, struct asterism_diag *diag)
{
	struct worker *worker = alloc_zero(1, sizeof *worker);
	const struct engine_options options = {
		.counts_why = sharded->options.counts_why,
		.on_match = worker_match,
		.context = worker,
		.rules = sharded->split.parts[index],
	};

	if (!worker)
		return diag_no_memory(diag);
	sharded->workers[index] = worker;
	worker->sharded = sharded;
	worker->program = sharded->program;
	worker->item_bytes = sharded->item_bytes;
	worker->index = index;
	return engine_new(sharded->program, &options, diag, &worker->engine);
}

static int make_workers(struct sharded *sharded, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < sharded->worker_count && !result; i++)
		result = make_worker(sharded, i, diag);
	return result;
}

/* Signals are the owner's: they interrupt its reading. */
static int start_workers(struct sharded *sharded, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < sharded->worker_count && !result; i++) {
		result = thread_start(&sharded->workers[i]->thread, 0, work_on_batches, sharded->workers[i]);
		sharded->workers[i]->started = result == 0;
	}
	return result ? diag_error(diag, NULL, -EAGAIN, "cannot create threads: %s", strerror(-result)) : 0;
}

static int init_sharded(struct sharded *sharded, struct asterism_diag *diag)
{
	int result;

	pthread_mutex_init(&sharded->lock, NULL);
	pthread_cond_init(&sharded->publish, NULL);
	pthread_cond_init(&sharded->done, NULL);
	result = split_init(&sharded->split, sharded->program, sharded->options.jobs);
	sharded->worker_count = sharded->split.part_count;
	if (!result)
		result = make_parts(sharded);
	if (result)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < sharded->program->rule_count; i++)
		sharded->over_all |= sharded->program->rules[i].flags & PROGRAM_RULE_OVER_ALL;
	if (sharded->worker_count < 2)
		return 0;
	result = make_workers(sharded, diag);
	return result ? result : start_workers(sharded, diag);
}

static void free_worker(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->started)
		pthread_join(worker->thread, NULL);
	engine_free(worker->engine);
	alloc_free(worker);
}

static void sharded_free(struct executor *executor)
{
	struct sharded *sharded = (struct sharded *)executor;

	pthread_mutex_lock(&sharded->lock);
	sharded->ends = true;
	pthread_cond_broadcast(&sharded->publish);
	pthread_mutex_unlock(&sharded->lock);
	for (uint32_t i = 0; sharded->workers && i < sharded->worker_count; i++)
		free_worker(sharded->workers[i]);
	for (int i = 0; i < BATCHES; i++)
		batch_fini(&sharded->batches[i], sharded->worker_count);
	alloc_free(sharded->item_bytes);
	alloc_free(sharded->room.bytes);
	alloc_free(sharded->readers);
	alloc_free(sharded->workers);
	split_fini(&sharded->split);
	pthread_cond_destroy(&sharded->done);
	pthread_cond_destroy(&sharded->publish);
	pthread_mutex_destroy(&sharded->lock);
	alloc_free(sharded);
}

/* Rules that are not all of the program could be split, too, but there is no use for that. */
static int sharded_open(const struct executor_options *options, struct asterism_diag *diag, struct executor **made)
{
	struct sharded *sharded;
	int result;

	if (options->input != EXECUTOR_FED || options->jobs < 2 || options->rules)
		return 0;
	sharded = alloc_zero(1, sizeof *sharded);
	if (!sharded)
		return diag_no_memory(diag);
	sharded->executor.kind = &executor_sharded;
	sharded->program = options->program;
	sharded->type_count = options->program->type_count;
	sharded->filling = &sharded->batches[0];
	sharded->options = *options;
	if (!sharded->options.batch_bytes)
		sharded->options.batch_bytes = BATCH_BYTES;
	result = init_sharded(sharded, diag);
	if (result || sharded->worker_count < 2)
		sharded_free(&sharded->executor);
	else
		*made = &sharded->executor;
	return result;
}

const struct executor_kind executor_sharded = {
	.name = "sharded",
	.open = sharded_open,
	.free = sharded_free,
	.feed = sharded_feed,
	.lose = sharded_lose,
	.advance = sharded_advance,
	.finish = sharded_finish,
	.count = sharded_count,
	.count_why = sharded_count_why,
};
