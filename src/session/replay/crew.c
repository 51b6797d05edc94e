// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how events go to the workers and how their matches are put in order. The owner fills batches, which stand in
 * a ring; every worker takes every batch, one after the other. A batch that all are done with is done: its matches,
 * kept per worker in the order of that worker's engine, are handed out in the order of their places. So a worker is
 * ahead of another by no more than the ring, and memory is bounded by it.
 *
 * The owner, who has just read an event, says which share of a divided rule it is in, so that the workers of the others
 * need not touch it. Inputs are read and decoded once, however many workers there are. The workers note how many runs
 * they have; when a batch is done that tells how many there were at once in all shares, and whether one engine would
 * have had to refuse one.
 */

#include "session/replay/crew.h"

#include "base/alloc.h"
#include "session/replay/want.h"
#include "session/replay/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
	BATCHES = 4,
	BATCH_BYTES = 1 << 20,
};

/* A rule that several workers share. */
struct divided {
	uint32_t rule;
	const struct replay_key *key;
	uint32_t share_count;
	uint32_t *workers; /* per share */
	struct level_sum sum;
	const struct level_log **logs; /* per share, for the moment */
};

struct crew {
	/* Of the owner alone, and of every event. */
	struct batch *filling;
	uint64_t now;         /* the latest time told */
	uint64_t told;        /* the latest time that an item has */
	uint32_t *item_bytes; /* per type: how much of a record is looked at */
	bool *doubtful;       /* per field of the program: a string that some rule looks at, and that may be unread */
	uint32_t type_count;
	bool over_all; /* some rule sees types that the program does not know */
	int failed;    /* sticks: nothing more is handed out */
	struct divided *divided;
	uint32_t divided_count;

	const struct program *program;
	struct crew_options options;
	struct replay_split split;
	struct worker **workers;
	uint32_t worker_count;
	struct batch batches[BATCHES];
	struct found_reader *readers; /* per worker */
	struct found_room room;
	uint64_t lost;        /* told to every worker */
	uint64_t delivered;   /* batches whose matches were handed out */
	bool gave_up;         /* that is why it failed */
	pthread_mutex_t lock; /* of what follows, and of batches' left */
	pthread_cond_t publish, done;
	uint64_t published;
	bool ends;
};

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
		worker_do(worker, batch);
		pthread_mutex_lock(&crew->lock);
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
		crew->readers[i] = (struct found_reader){ .list = &batch->turns[i].found };
	while (!result && (worker = earliest(crew)) < crew->worker_count) {
		struct program_match match;

		result = found_take(&crew->readers[worker], &crew->room, &match);
		if (!result && crew->options.on_match)
			result = crew->options.on_match(crew->options.context, &match);
	}
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		if (!result && batch->turns[i].failed)
			result = batch->turns[i].failed;
	}
	return result;
}

/* Adds the batch up for a rule; false if one engine may have refused a run. */
static bool add_levels(const struct crew *crew, const struct batch *batch, struct divided *divided)
{
	bool has_refused = false;
	double memory_share = 0;

	for (uint32_t i = 0; i < divided->share_count; i++) {
		const struct level_log *log = &batch->turns[divided->workers[i]].levels;

		divided->logs[i] = log;
		has_refused |= log->has_refused;
		memory_share += log->memory_share;
	}
	level_sum_add(&divided->sum, divided->logs);
	return !has_refused && memory_share <= 1 && divided->sum.max <= crew->program->rules[divided->rule].pool;
}

/* Whether the batch is what one engine gives. The logs of a worker that failed are not whole. */
static int check(struct crew *crew, const struct batch *batch)
{
	for (uint32_t i = 0; crew->divided_count && i < crew->worker_count; i++) {
		if (batch->turns[i].failed)
			return batch->turns[i].failed;
	}
	for (uint32_t i = 0; i < crew->divided_count; i++) {
		if (!add_levels(crew, batch, &crew->divided[i]))
			crew->gave_up = true;
	}
	return crew->gave_up ? -EAGAIN : 0;
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
		crew->failed = check(crew, batch);
	if (!crew->failed)
		crew->failed = hand_out(crew, batch);
	batch_empty(batch, crew->worker_count);
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

/* Gives an event to the share that its key falls into, of every divided rule. */
static inline void give_event(struct crew *crew, const struct event_header *item, struct batch_item added)
{
	for (uint32_t i = 0; i < crew->divided_count; i++) {
		const struct divided *divided = &crew->divided[i];
		uint32_t share = replay_key_share(divided->key, item, divided->share_count);

		if (share != PROGRAM_NONE)
			batch_give(crew->filling, divided->workers[share], added);
	}
}

static void give_all(struct crew *crew, struct batch_item added)
{
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		if (crew->split.parts[i].share_count > 1)
			batch_give(crew->filling, i, added);
	}
}

static void tell_all(struct crew *crew, const struct event_header *item)
{
	give_all(crew, batch_add(crew->filling, item, sizeof *item, crew->now));
}

/* Sees to it that time passes for the rules, even where no event concerned them. */
static void add_time(struct crew *crew)
{
	if (crew->told >= crew->now)
		return;
	tell_all(crew, &(struct event_header){ .ts = crew->now, .type = ITEM_TIME });
	crew->told = crew->now;
}

/* Gives the batch being filled away; the next one is free then. */
static void publish(struct crew *crew)
{
	add_time(crew);
	if (crew->filling->used == 0)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->filling->left = crew->worker_count;
	crew->published++;
	pthread_cond_broadcast(&crew->publish);
	pthread_mutex_unlock(&crew->lock);
	crew->filling = &crew->batches[crew->published % BATCHES];
	if (crew->published - crew->delivered == BATCHES)
		take_back(crew);
	while (oldest_is_done(crew))
		take_back(crew);
}

static int publish_full(struct crew *crew)
{
	if (crew->filling->used >= crew->options.batch_bytes)
		publish(crew);
	return crew->failed;
}

static bool has_unread(const struct crew *crew, const struct event_header *record, uint32_t type)
{
	const struct program_type *row = &crew->program->types[type];

	for (uint32_t i = row->first_field; i < row->first_field + row->field_count; i++) {
		const struct program_field *field = &crew->program->fields[i];

		if (crew->doubtful[i] && event_string_is_unread(record, field->offset, field->bytes))
			return true;
	}
	return false;
}

int crew_feed(struct crew *crew, const struct event_header *record)
{
	uint32_t type = event_type_of(record);
	bool is_known = type < crew->type_count;
	struct batch_item added;
	struct event_header *item;

	if (record->ts > crew->now)
		crew->now = record->ts;
	if (!is_known && !crew->over_all)
		return crew->failed;
	added = batch_add(crew->filling, record, is_known ? crew->item_bytes[type] : sizeof *record, crew->now);
	item = (struct event_header *)(crew->filling->items + added.offset);
	if (crew->divided_count && is_known && has_unread(crew, item, type)) {
		crew->gave_up = true; /* it marks the runs of all shares, but is seen by one */
		crew->failed = crew->failed ? crew->failed : -EAGAIN;
		return crew->failed;
	}
	if (!event_is_late(record))
		item->ts = crew->now; /* as an engine that had seen all events would take it */
	if (!is_known)
		item->type = PROGRAM_NONE;
	give_event(crew, record, added);
	crew->told = crew->now;
	return publish_full(crew);
}

int crew_lose(struct crew *crew, uint64_t lost)
{
	/* Runs whose time was up before the loss are not concerned. */
	add_time(crew);
	tell_all(crew, &(struct event_header){ .seq = lost, .type = ITEM_LOSS });
	crew->lost += lost;
	return publish_full(crew);
}

int crew_finish(struct crew *crew)
{
	publish(crew);
	while (crew->delivered < crew->published)
		take_back(crew);
	return crew->failed;
}

bool crew_gave_up(const struct crew *crew)
{
	return crew->gave_up;
}

struct crew_shape crew_shape(const struct crew *crew)
{
	return (struct crew_shape){ crew->worker_count, crew->divided_count };
}

static void add_stats(struct program_rule_stats *stats, const struct program_rule_stats *more)
{
	stats->matches += more->matches;
	stats->runs_opened += more->runs_opened;
	stats->runs_live_max += more->runs_live_max;
	stats->pool_exhausted += more->pool_exhausted;
	stats->unraised += more->unraised;
	stats->lost += more->lost;
	stats->divisions_by_zero += more->divisions_by_zero;
	stats->unread += more->unread;
}

void crew_stats(const struct crew *crew, uint32_t rule, struct program_rule_stats *stats)
{
	*stats = (struct program_rule_stats){ 0 };
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		struct program_rule_stats part;

		if (!crew->workers[i]->part->rules[rule])
			continue;
		engine_stats(crew->workers[i]->engine, rule, &part);
		add_stats(stats, &part);
	}
	for (uint32_t i = 0; i < crew->divided_count; i++) {
		if (crew->divided[i].rule != rule)
			continue;
		stats->lost -= (crew->divided[i].share_count - 1) * crew->lost;
		stats->runs_live_max = crew->divided[i].sum.max;
	}
}

/* Of each record, up to the last field that some rule looks at. */
static int find_bytes(struct crew *crew)
{
	const struct program *program = crew->program;
	struct replay_want want;
	int result = replay_want_init(&want, program);

	crew->item_bytes = alloc_zero(program->type_count, sizeof *crew->item_bytes);
	crew->doubtful = alloc_zero(program->field_count, sizeof *crew->doubtful);
	if (!crew->item_bytes || !crew->doubtful)
		result = -ENOMEM;
	for (uint32_t i = 0; i < program->type_count && !result; i++) {
		const struct program_type *type = &program->types[i];
		uint32_t end = sizeof(struct event_header);

		for (uint32_t j = type->first_field; j < type->first_field + type->field_count; j++) {
			uint32_t field_end = program->fields[j].offset + program->fields[j].bytes;

			if (want.fields[j] && field_end > end)
				end = field_end;
			crew->doubtful[j] = want.fields[j] && program->fields[j].value == EVENT_STRING;
		}
		crew->item_bytes[i] = (end + 7) / 8 * 8;
	}
	replay_want_fini(&want);
	return result;
}

/* The rule of the part's share, which is its first one. */
static int add_divided(struct crew *crew, const struct replay_part *part)
{
	struct divided *divided = &crew->divided[crew->divided_count++];

	divided->rule = part->rule;
	divided->key = part->key;
	divided->share_count = part->share_count;
	divided->workers = alloc_zero(part->share_count, sizeof *divided->workers);
	divided->logs = alloc_zero(part->share_count, sizeof(const struct level_log *));
	if (!divided->workers || !divided->logs)
		return -ENOMEM;
	for (uint32_t i = 0; i < crew->worker_count; i++) {
		const struct replay_part *other = &crew->split.parts[i];

		if (other->share_count > 1 && other->rule == part->rule)
			divided->workers[other->share] = i;
	}
	return level_sum_init(&divided->sum, part->share_count);
}

static int make_divided(struct crew *crew)
{
	int result = 0;

	crew->divided = alloc_zero(crew->program->rule_count, sizeof *crew->divided);
	if (!crew->divided)
		return -ENOMEM;
	for (uint32_t i = 0; i < crew->worker_count && !result; i++) {
		const struct replay_part *part = &crew->split.parts[i];

		if (part->share_count > 1 && part->share == 0)
			result = add_divided(crew, part);
	}
	return result;
}

static int make_parts(struct crew *crew)
{
	int result = find_bytes(crew);

	crew->readers = alloc_zero(crew->worker_count, sizeof *crew->readers);
	crew->workers = alloc_zero(crew->worker_count, sizeof(struct worker *));
	if (!crew->readers || !crew->workers)
		result = -ENOMEM;
	for (int i = 0; i < BATCHES && !result; i++)
		result = batch_init(&crew->batches[i], &crew->split, crew->options.batch_bytes);
	return result ? result : make_divided(crew);
}

static int make_worker(struct crew *crew, uint32_t index, struct asterism_diag *diag)
{
	struct worker *worker = alloc_zero(1, sizeof *worker);
	const struct engine_options options = {
		.on_match = worker_match,
		.context = worker,
		.rules = crew->split.parts[index].rules,
	};

	if (!worker)
		return diag_no_memory(diag);
	crew->workers[index] = worker;
	worker->crew = crew;
	worker->program = crew->program;
	worker->part = &crew->split.parts[index];
	worker->item_bytes = crew->item_bytes;
	worker->index = index;
	worker->expires = crew->program->rules[worker->part->rule].within_ns != 0;
	return engine_new(crew->program, &options, diag, &worker->engine);
}

static int make_workers(struct crew *crew, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < crew->worker_count && !result; i++)
		result = make_worker(crew, i, diag);
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
		result = pthread_create(&crew->workers[i]->thread, NULL, work, crew->workers[i]);
		crew->workers[i]->started = result == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result ? diag_error(diag, NULL, -EAGAIN, "no threads to be had: %s", strerror(result)) : 0;
}

static int init(struct crew *crew, struct asterism_diag *diag)
{
	const struct replay_split_options split = { crew->options.jobs, crew->options.by_key };
	int result;

	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->publish, NULL);
	pthread_cond_init(&crew->done, NULL);
	result = replay_split_init(&crew->split, crew->program, &split);
	crew->worker_count = crew->split.part_count;
	if (!result)
		result = make_parts(crew);
	if (result)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < crew->program->rule_count; i++)
		crew->over_all |= crew->program->rules[i].flags & PROGRAM_RULE_OVER_ALL;
	if (crew->worker_count < 2)
		return 0;
	result = make_workers(crew, diag);
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
	crew->type_count = program->type_count;
	crew->filling = &crew->batches[0];
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

static void free_worker(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->started)
		pthread_join(worker->thread, NULL);
	engine_free(worker->engine);
	alloc_free(worker);
}

static void free_divided(struct divided *divided)
{
	alloc_free(divided->workers);
	alloc_free(divided->logs);
	level_sum_fini(&divided->sum);
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->publish);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; crew->workers && i < crew->worker_count; i++)
		free_worker(crew->workers[i]);
	for (int i = 0; i < BATCHES; i++)
		batch_fini(&crew->batches[i], crew->worker_count);
	for (uint32_t i = 0; i < crew->divided_count; i++)
		free_divided(&crew->divided[i]);
	alloc_free(crew->divided);
	alloc_free(crew->item_bytes);
	alloc_free(crew->doubtful);
	alloc_free(crew->room.bytes);
	alloc_free(crew->readers);
	alloc_free(crew->workers);
	replay_split_fini(&crew->split);
	pthread_cond_destroy(&crew->done);
	pthread_cond_destroy(&crew->publish);
	pthread_mutex_destroy(&crew->lock);
	alloc_free(crew);
}
