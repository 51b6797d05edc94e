// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how events go to the workers and how their matches are put in order. The owner fills batches, which stand in
 * a ring; every worker takes every batch, one after the other. A batch that all are done with is done: its matches,
 * kept per worker in the order of that worker's engine, are handed out in the order of their places. So a worker is
 * ahead of another by no more than the ring, and memory is bounded by it.
 *
 * Who may touch what: a batch's items belong to the owner until it is published, and then are read only; a batch's list
 * of matches belongs to its worker until the batch is done, then to the owner. Both changes of hands happen under lock.
 */

#include "session/replay-crew.h"

#include "base/alloc.h"
#include "engine/engine.h"
#include "session/replay-found.h"
#include "session/replay-split.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
	BATCHES = 4,
	BATCH_BYTES = 1 << 19,
};

/* Types of items that are no events: seq is how many were lost, or ts the time that it is. */
enum { ITEM_LOSS = PROGRAM_NONE - 1, ITEM_TIME = PROGRAM_NONE - 2 };

/* In a batch that is not full yet, the time, a record and the time again always fit. */
#define MARGIN (EVENT_RECORD_BYTES_MAX + 2 * sizeof(struct event_header))

struct batch {
	char *items; /* records, each of as many bytes as its type has */
	size_t used;
	struct found_list *found; /* per worker */
	int *failed;              /* per worker: 0 or a negative result */
	uint32_t left;            /* workers that are not done with it */
};

struct worker {
	struct crew *crew;
	uint32_t index;
	struct engine *engine;
	pthread_t thread;
	bool started;
	struct batch *batch; /* at work */
	uint32_t item;       /* of it */
};

struct crew {
	const struct program *program;
	struct crew_options options;
	struct replay_split split;
	struct worker *workers;
	uint32_t worker_count;
	struct batch batches[BATCHES];
	struct found_reader *readers; /* per worker */
	struct found_events events;
	bool over_all;        /* some rule sees types that the program does not know */
	uint64_t now;         /* the latest time told */
	uint64_t told;        /* the latest time that an item has */
	uint64_t delivered;   /* batches whose matches were handed out */
	int failed;           /* sticks: nothing more is handed out */
	pthread_mutex_t lock; /* of what follows, and of batches' left */
	pthread_cond_t publish, done;
	uint64_t published;
	bool ends;
};

static size_t item_bytes(const struct program *program, const struct event_header *item)
{
	return item->type < program->type_count ? program->types[item->type].record_bytes : sizeof *item;
}

static int on_match(void *context, const struct program_match *match)
{
	struct worker *worker = context;
	const struct found_place place = { worker->item, engine_turn(worker->engine) + 1 }; /* NONE: 0 */

	return found_add(&worker->batch->found[worker->index], worker->crew->program, place, match);
}

static int do_item(struct worker *worker, const struct event_header *item)
{
	switch (item->type) {
	case ITEM_LOSS:
		engine_lose(worker->engine, item->seq);
		return 0;
	case ITEM_TIME:
		return engine_advance(worker->engine, item->ts);
	default:
		return engine_feed(worker->engine, item);
	}
}

static int do_batch(struct worker *worker, struct batch *batch)
{
	const char *at = batch->items, *end = at + batch->used;
	int result = 0;

	worker->batch = batch;
	for (worker->item = 0; at < end && !result; worker->item++) {
		const struct event_header *item = (const struct event_header *)at;

		result = do_item(worker, item);
		at += item_bytes(worker->crew->program, item);
	}
	return result;
}

static void *work(void *context)
{
	struct worker *worker = context;
	struct crew *crew = worker->crew;

	pthread_mutex_lock(&crew->lock);
	for (uint64_t next = 0;; next++) {
		struct batch *batch = &crew->batches[next % BATCHES];

		while (crew->published == next && !crew->ends)
			pthread_cond_wait(&crew->publish, &crew->lock);
		if (crew->published == next)
			break;
		pthread_mutex_unlock(&crew->lock);
		int result = do_batch(worker, batch);
		pthread_mutex_lock(&crew->lock);
		batch->failed[worker->index] = result;
		if (--batch->left == 0)
			pthread_cond_signal(&crew->done);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static bool is_before(struct found_place a, struct found_place b)
{
	return a.item != b.item ? a.item < b.item : a.turn < b.turn;
}

/* The worker with the earliest match left, or worker_count. No two have matches of one place. */
static uint32_t earliest(const struct crew *crew)
{
	uint32_t found = crew->worker_count;
	struct found_place place, best = { 0 };

	for (uint32_t i = 0; i < crew->worker_count; i++) {
		if (found_peek(&crew->readers[i], &place) && (found == crew->worker_count || is_before(place, best))) {
			found = i;
			best = place;
		}
	}
	return found;
}

/* Hands out the matches of a batch that is done. A worker that failed has given those before. */
static int hand_out(struct crew *crew, struct batch *batch)
{
	int result = 0;
	uint32_t worker;

	for (uint32_t i = 0; i < crew->worker_count; i++)
		crew->readers[i] = (struct found_reader){ .list = &batch->found[i] };
	while (!result && (worker = earliest(crew)) < crew->worker_count) {
		struct program_match match;

		result = found_take(&crew->readers[worker], &crew->events, &match);
		if (!result && crew->options.on_match)
			result = crew->options.on_match(crew->options.context, &match);
	}
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		if (!result && batch->failed[i])
			result = batch->failed[i];
	}
	return result;
}

/* Waits for the oldest batch that is out and takes it back. */
static void take_back(struct crew *crew)
{
	struct batch *batch = &crew->batches[crew->delivered++ % BATCHES];

	pthread_mutex_lock(&crew->lock);
	while (batch->left)
		pthread_cond_wait(&crew->done, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
	if (!crew->failed)
		crew->failed = hand_out(crew, batch);
	batch->used = 0;
	for (uint32_t i = 0; i < crew->worker_count; i++)
		found_clear(&batch->found[i]);
}

/* Without waiting. */
static bool oldest_is_done(struct crew *crew)
{
	bool done;

	pthread_mutex_lock(&crew->lock);
	done = crew->delivered < crew->published && !crew->batches[crew->delivered % BATCHES].left;
	pthread_mutex_unlock(&crew->lock);
	return done;
}

static struct batch *filling(struct crew *crew)
{
	return &crew->batches[crew->published % BATCHES];
}

/* Sees to it that time passes for the rules, even where no event concerned them. */
static void add_time(struct crew *crew)
{
	struct batch *batch = filling(crew);
	struct event_header item = { .ts = crew->now, .type = ITEM_TIME };

	if (crew->told >= crew->now)
		return;
	memcpy(batch->items + batch->used, &item, sizeof item);
	batch->used += sizeof item;
	crew->told = crew->now;
}

/* Gives the batch being filled away; the next one is free then. */
static void publish(struct crew *crew)
{
	add_time(crew);
	if (filling(crew)->used == 0)
		return;
	pthread_mutex_lock(&crew->lock);
	filling(crew)->left = crew->worker_count;
	crew->published++;
	pthread_cond_broadcast(&crew->publish);
	pthread_mutex_unlock(&crew->lock);
	if (crew->published - crew->delivered == BATCHES)
		take_back(crew);
	while (oldest_is_done(crew))
		take_back(crew);
}

static struct event_header *add_item(struct crew *crew, const struct event_header *item)
{
	struct batch *batch = filling(crew);
	size_t bytes = item_bytes(crew->program, item);
	struct event_header *added = (struct event_header *)(batch->items + batch->used);

	memcpy(added, item, bytes);
	batch->used += bytes;
	return added;
}

static int publish_full(struct crew *crew)
{
	if (filling(crew)->used >= crew->options.batch_bytes)
		publish(crew);
	return crew->failed;
}

int crew_feed(struct crew *crew, const struct event_header *record)
{
	struct event_header *added;

	if (record->ts > crew->now)
		crew->now = record->ts;
	if (record->type >= crew->program->type_count && !crew->over_all)
		return crew->failed;
	added = add_item(crew, record);
	added->ts = crew->now; /* as an engine that had seen all events would take it */
	if (added->type >= crew->program->type_count)
		added->type = PROGRAM_NONE;
	crew->told = crew->now;
	return publish_full(crew);
}

int crew_lose(struct crew *crew, uint64_t lost)
{
	/* Runs whose time was up before the loss are not concerned. */
	add_time(crew);
	add_item(crew, &(struct event_header){ .seq = lost, .type = ITEM_LOSS });
	return publish_full(crew);
}

int crew_finish(struct crew *crew)
{
	publish(crew);
	while (crew->delivered < crew->published)
		take_back(crew);
	return crew->failed;
}

void crew_stats(const struct crew *crew, uint32_t rule, struct program_rule_stats *stats)
{
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		if (crew->split.rules[(size_t)i * crew->program->rule_count + rule])
			engine_stats(crew->workers[i].engine, rule, stats);
	}
}

static int make_batches(struct crew *crew)
{
	for (int i = 0; i < BATCHES; i++) {
		struct batch *batch = &crew->batches[i];

		batch->items = alloc_zero(crew->options.batch_bytes + MARGIN, 1);
		batch->found = alloc_zero(crew->worker_count, sizeof *batch->found);
		batch->failed = alloc_zero(crew->worker_count, sizeof *batch->failed);
		if (!batch->items || !batch->found || !batch->failed)
			return -ENOMEM;
	}
	crew->readers = alloc_zero(crew->worker_count, sizeof *crew->readers);
	return crew->readers ? 0 : -ENOMEM;
}

static int make_engines(struct crew *crew, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < crew->worker_count && !result; i++) {
		struct worker *worker = &crew->workers[i];
		const struct engine_options options = {
			.on_match = on_match,
			.context = worker,
			.rules = crew->split.rules + (size_t)i * crew->program->rule_count,
		};

		worker->crew = crew;
		worker->index = i;
		result = engine_new(crew->program, &options, diag, &worker->engine);
	}
	return result;
}

/* Signals are the owner's: they interrupt its reading. */
static int start_workers(struct crew *crew, struct asterism_diag *diag)
{
	sigset_t all, before;
	int result = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < crew->worker_count && !result; i++) {
		result = pthread_create(&crew->workers[i].thread, NULL, work, &crew->workers[i]);
		crew->workers[i].started = result == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result ? diag_error(diag, NULL, -EAGAIN, "no threads to be had: %s", strerror(result)) : 0;
}

static int init(struct crew *crew, struct asterism_diag *diag)
{
	int result;

	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->publish, NULL);
	pthread_cond_init(&crew->done, NULL);
	result = replay_split_init(&crew->split, crew->program, crew->options.jobs);
	crew->worker_count = crew->split.part_count;
	if (!result) {
		crew->workers = alloc_zero(crew->worker_count, sizeof *crew->workers);
		result = crew->workers ? make_batches(crew) : -ENOMEM;
	}
	if (result)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < crew->program->rule_count; i++)
		crew->over_all |= crew->program->rules[i].flags & PROGRAM_RULE_OVER_ALL;
	if (crew->worker_count < 2)
		return 0;
	result = make_engines(crew, diag);
	return result ? result : start_workers(crew, diag);
}

int crew_new(const struct program *program, const struct crew_options *options, struct asterism_diag *diag,
	     struct crew **made)
{
	struct crew *crew = options->jobs > 1 ? alloc_zero(1, sizeof *crew) : NULL;
	int result;

	*made = NULL;
	if (options->jobs < 2)
		return 0;
	if (!crew)
		return diag_no_memory(diag);
	crew->program = program;
	crew->options = *options;
	if (!crew->options.batch_bytes)
		crew->options.batch_bytes = BATCH_BYTES;
	result = init(crew, diag);
	if (result || crew->worker_count < 2)
		crew_free(crew);
	else
		*made = crew;
	return result;
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->publish);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; crew->workers && i < crew->worker_count; i++) {
		if (crew->workers[i].started)
			pthread_join(crew->workers[i].thread, NULL);
		engine_free(crew->workers[i].engine);
	}
	for (int i = 0; i < BATCHES; i++) {
		struct batch *batch = &crew->batches[i];

		for (uint32_t j = 0; batch->found && j < crew->worker_count; j++)
			found_fini(&batch->found[j]);
		alloc_free(batch->found);
		alloc_free(batch->failed);
		alloc_free(batch->items);
	}
	alloc_free(crew->events.items);
	alloc_free(crew->readers);
	alloc_free(crew->workers);
	replay_split_fini(&crew->split);
	pthread_cond_destroy(&crew->done);
	pthread_cond_destroy(&crew->publish);
	pthread_mutex_destroy(&crew->lock);
	alloc_free(crew);
}
