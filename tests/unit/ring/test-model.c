// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explores every interleaving of writers and a reader over a tiny ring. The code is that of src/ring, compiled against
 * model/ring/atomic.h, so that each access to the ring's memory is a step. A thread has no state but the values that
 * its steps have given it: to go one step further its current call is run again, is given those values, takes one more
 * step and is left by longjmp. So a state is the memory and these values, and states that were seen are not
 * explored again.
 *
 * Neighbouring words of data are taken in one step (see is_step); that is still fine enough to tear an event.
 *
 * Every defect of `defects` is a mutation that the exploration must find.
 */

#include "ring/atomic.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
	SUB_UNITS = 32,
	SUB_COUNT = 2,
	PAYLOAD_MAX = 5, /* units: two events of different threads do not fit into one sub-buffer; with 3 they do */
	THREADS_MAX = 4,
	EVENTS_MAX = 8,
	LOG_MAX = 192, /* of one call */
	DEPTH_MAX = 512,
	SEEN_SLOTS = 1 << 21,
	PUT_STEPS_MAX = 24 * RING_ATTEMPTS, /* of one ring_put */
	DATA_STEP_UNITS = 16,
};

enum reading {
	NO_READER,
	READS,  /* the oldest sub-buffer */
	DRAINS, /* the one that is written to */
};

enum defect {
	NONE,
	NO_RECHECK,       /* the reader does not look again after copying */
	NO_SETTLED_CHECK, /* a sub-buffer is opened though a writer of the last lap is in it */
	BLIND_EXCHANGE,   /* the word is stored, not exchanged */
	NO_COMMIT_LOOK,   /* the reader takes every sub-buffer for complete */
	EARLY_CLOCK,      /* the clock is read before the position */
	TOLD_BY_THREAD,   /* the context is taken as told whenever the thread is the same that told last */
	TORN_COMMIT,      /* counters are added to without being atomic */
	DEFECTS,
};

static const char *const defect_names[] = {
	"none",        "no re-check",         "no look at the last lap", "blind exchange", "no look at counters",
	"early clock", "told by thread only", "torn addition",
};

/* Everything that differs between states. */
struct memory {
	struct ring_control control;
	uint64_t commits[SUB_COUNT];
	uint64_t data[SUB_UNITS * SUB_COUNT];
	uint64_t clock;
};

struct thread {
	bool started, finished;
	uint32_t call;        /* which of its calls it is in */
	uint32_t count;       /* values that the call has been given */
	uint64_t first, last; /* what there was to read */
	bool has_range;
	uint64_t log[LOG_MAX];
};

/* What really happened, in the order of the ring. */
struct truth {
	uint64_t ts;
	uint32_t tid, number;
};

struct state {
	struct memory memory;
	struct thread threads[THREADS_MAX];
	struct truth truth[EVENTS_MAX];
	uint32_t truth_count, dropped;
};

struct scenario {
	const char *name;
	uint32_t writers;
	uint32_t events[THREADS_MAX]; /* per writer */
	uint32_t tids[THREADS_MAX];
	bool nested; /* a writer that has begun runs before those with lower numbers go on */
	uint32_t payload_units;
	bool has_room; /* for all events, so that none may be dropped */
	enum reading reading;
	uint64_t due;    /* as in the control block; the clock begins at 0 */
	uint64_t before; /* laps behind us */
	uint64_t events_before;
};

static const struct scenario *scenario;
static enum defect defect;
static struct state now;
static const char *violation;
static uint64_t explored;

/* The running thread. */
static struct thread *running;
static uint32_t replayed, put_steps;
static bool has_stepped, is_direct;
static uint32_t current_tid, current_number;
static uint64_t last_clock, last_word; /* as it has seen them */
static jmp_buf out;

static struct ring ring(void)
{
	return (struct ring){ &now.memory.control, now.memory.data, SUB_UNITS, SUB_COUNT };
}

static void violate(const char *text)
{
	if (!violation)
		violation = text;
}

/* Notes an event of the running thread at the moment of its exchange. */
static void note_truth(uint64_t ts)
{
	if (now.truth_count == EVENTS_MAX) {
		violate("more events than the model has room for");
		return;
	}
	if (now.truth_count && now.truth[now.truth_count - 1].ts > ts)
		violate("times go back");
	now.truth[now.truth_count++] = (struct truth){ ts, current_tid, current_number };
}

static uint64_t exchange(uint64_t *at, uint64_t old, uint64_t new)
{
	if (defect != BLIND_EXCHANGE && *at != old)
		return 0;
	*at = new;
	note_truth(last_clock);
	return 1;
}

static uint64_t perform(enum model_kind kind, uint64_t *at, uint64_t a, uint64_t b)
{
	switch (kind) {
	case MODEL_CLOCK:
		return ++now.memory.clock;
	case MODEL_EXCHANGE:
		return exchange(at, a, b);
	case MODEL_COMMIT_ADD:
	case MODEL_DROP_ADD:
		*at += a;
		return 0;
	case MODEL_TOLD_COMM_STORE:
	case MODEL_TOLD_STORE:
	case MODEL_LONG_STORE:
	case MODEL_DATA_STORE:
		*at = a;
		return 0;
	default:
		return *at;
	}
}

/* Whether somebody else may run before this access. Data goes in pieces, and what no other step depends on follows. */
static bool is_step(enum model_kind kind, const uint64_t *at)
{
	switch (kind) {
	case MODEL_DATA:
	case MODEL_DATA_STORE:
		return (size_t)(at - now.memory.data) % DATA_STEP_UNITS == 0;
	case MODEL_TOLD_COMM:
	case MODEL_TOLD_COMM_STORE:
	case MODEL_DROP_ADD:
	case MODEL_DROP:
		return false;
	case MODEL_LONG:
	case MODEL_LONG_STORE:
		return at != &now.memory.control.events;
	default:
		return true;
	}
}

static uint64_t take_step(enum model_kind kind, uint64_t *at, uint64_t a, uint64_t b)
{
	if (is_direct)
		return perform(kind, at, a, b);
	if (replayed < running->count)
		return running->log[replayed++];
	if (has_stepped && is_step(kind, at))
		longjmp(out, 1);
	if (running->count == LOG_MAX) {
		violate("a thread does not come to an end");
		longjmp(out, 1);
	}
	has_stepped = true;
	uint64_t value = perform(kind, at, a, b);

	running->log[running->count++] = value;
	replayed++;
	return value;
}

/* What the counter of a sub-buffer is once everything before last_word is committed. */
static uint64_t committed(uint32_t slot)
{
	uint64_t position = last_word & UINT32_MAX, last = (position - 1) / SUB_UNITS;
	uint64_t sequence = last - (last - slot) % SUB_COUNT, laps = sequence / SUB_COUNT;

	return laps * SUB_UNITS + (sequence == last ? position - last * SUB_UNITS : SUB_UNITS);
}

/* The accesses as the mutations make them. All that differs between runs must come from steps. */
static uint64_t defective_access(enum model_kind kind, uint64_t *at, uint64_t a, uint64_t b)
{
	uint64_t value = 0;

	if (defect == NO_RECHECK && kind == MODEL_WORD_AGAIN)
		return last_word;
	if (defect == EARLY_CLOCK && kind == MODEL_CLOCK)
		return last_clock;
	if (defect == EARLY_CLOCK && kind == MODEL_WORD)
		last_clock = take_step(MODEL_CLOCK, NULL, 0, 0);
	if (defect == TORN_COMMIT && kind == MODEL_COMMIT_ADD) {
		value = take_step(MODEL_COMMIT, at, 0, 0);
		return take_step(MODEL_LONG_STORE, at, value + a, 0);
	}
	value = take_step(kind, at, a, b);
	if (defect == NO_SETTLED_CHECK && kind == MODEL_COMMIT_CHECK) {
		uint64_t start = ((last_word & UINT32_MAX) + SUB_UNITS - 1) / SUB_UNITS;

		return start / SUB_COUNT * SUB_UNITS;
	}
	if (defect == TOLD_BY_THREAD && kind == MODEL_TOLD)
		return value >> 32 << 32 | (last_word & UINT32_MAX);
	if (defect == NO_COMMIT_LOOK && kind == MODEL_COMMIT)
		return committed((uint32_t)(at - now.memory.control.commits));
	return value;
}

uint64_t model_access(enum model_kind kind, uint64_t *at, uint64_t a, uint64_t b)
{
	uint64_t value = defective_access(kind, at, a, b);

	put_steps++;
	if (kind == MODEL_WORD)
		last_word = value;
	if (kind == MODEL_CLOCK)
		last_clock = value;
	return value;
}

/* The running thread has come to a call; what it was given before does not matter any more. */
static void begin_call(uint32_t call)
{
	if (running->call != call)
		running->count = replayed = 0;
	running->call = call;
	put_steps = 0;
}

static void write_events(uint32_t writer)
{
	struct ring view = ring();
	struct ring_context who = { .tid = scenario->tids[writer], .pid = 9, .comm = "model" };

	for (uint32_t i = running->call; i < scenario->events[writer]; i++) {
		uint64_t payload[PAYLOAD_MAX];

		begin_call(i);
		current_tid = who.tid;
		current_number = writer * EVENTS_MAX + i;
		for (int j = 0; j < (int)scenario->payload_units; j++)
			payload[j] = current_number * 16 + (uint64_t)j;
		if (ring_put(&view, &who, 1, payload, scenario->payload_units))
			now.dropped++;
		if (put_steps > PUT_STEPS_MAX)
			violate("a writer takes too many steps");
	}
}

/* Compares an event in a part with what was written. */
static void check_event(const uint64_t *unit, uint32_t tid, uint64_t index)
{
	const struct truth *truth = &now.truth[index];

	if (index >= now.truth_count) {
		violate("an event that nobody wrote");
		return;
	}
	if ((unit[0] & UINT16_MAX) != 1 || unit[0] >> 16 != truth->ts)
		violate("a torn event: its word");
	for (int i = 0; i < (int)scenario->payload_units; i++)
		if (unit[1 + i] != truth->number * 16 + (uint64_t)i)
			violate("a torn event: its payload");
	if (tid != truth->tid)
		violate("an event in another's context");
}

/* Everything that is called consistent must be what was written. */
static void check_part(const uint64_t *buffer, const struct ring_part *part)
{
	uint64_t index = part->events_before - scenario->events_before, end = index + part->events, last = 0;
	const struct ring_packet *packet = (const void *)buffer;
	uint32_t unit = RING_HEADER_UNITS, tid = UINT32_MAX;

	while (unit < part->bytes / RING_UNIT_BYTES) {
		bool is_context = (buffer[unit] & UINT16_MAX) == RING_ID_CONTEXT;
		uint32_t units = is_context ? RING_CONTEXT_UNITS : 1 + scenario->payload_units;

		if (unit + units > part->bytes / RING_UNIT_BYTES) {
			violate("a torn event: its end");
			return;
		}
		if (buffer[unit] >> 16 < last || buffer[unit] >> 16 < packet->timestamp_begin ||
		    buffer[unit] >> 16 > packet->timestamp_end)
			violate("times go back in a part");
		last = buffer[unit] >> 16;
		if (is_context)
			tid = (uint32_t)buffer[unit + 1];
		else
			check_event(&buffer[unit], tid, index++);
		unit += units;
	}
	if (index != end)
		violate("another number of events than the part says");
}

static struct ring_cursor first_cursor(void)
{
	return (struct ring_cursor){ .next = scenario->before * SUB_COUNT, .events = scenario->events_before };
}

/* A reader that comes at any time; the oldest sub-buffer is asked for and read in two calls. */
static int read_part(const struct ring *view, uint32_t call, void *buffer, struct ring_part *part)
{
	if (scenario->reading == DRAINS)
		return ring_drain(view, buffer, part);
	if (call == 0)
		return running->has_range = ring_range(view, &running->first, &running->last), 0;
	/* Before the beginning of the scenario there is nothing. */
	if (running->has_range && running->first < first_cursor().next)
		running->first++;
	return running->has_range ? ring_read(view, running->first, buffer, part) : 0;
}

static void read_parts(void)
{
	struct ring view = ring();
	struct ring_part part;
	uint64_t buffer[SUB_UNITS];

	for (uint32_t i = running->call; i < 2; i++) {
		begin_call(i);
		int result = read_part(&view, i, buffer, &part);

		if (result == 1)
			check_part(buffer, &part);
		if (result < 0 && result != -ESTALE)
			violate("a reader finds nonsense");
	}
}

/* Once all are at rest: everything is handed out or lost, and nothing else. */
static void check_end(void)
{
	struct ring_cursor cursor = first_cursor();
	struct ring view = ring();
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], handed_out = 0, before = 0;
	int result;

	is_direct = true;
	while ((result = ring_finish(&view, &cursor, buffer, &part)) == 1) {
		check_part(buffer, &part);
		before = cursor.lost;
		handed_out += part.events;
	}
	if (result < 0)
		violate("the last reader finds nonsense");
	if (handed_out + cursor.lost != now.truth_count)
		violate("the number lost is not exact");
	if (cursor.lost != before)
		violate("writers at rest, but not all can be read");
	if (ring_written(&view) != scenario->events_before + now.truth_count)
		violate("the number written is not exact");
	if (ring_dropped(&view) != now.dropped)
		violate("the number dropped is not exact");
	if (scenario->has_room && now.dropped)
		violate("an event is dropped though there is room");
	is_direct = false;
}

static void run_one_step(uint32_t index)
{
	running = &now.threads[index];
	running->started = true;
	replayed = 0;
	has_stepped = false;
	if (setjmp(out))
		return;
	if (index < scenario->writers)
		write_events(index);
	else
		read_parts();
	running->finished = true;
}

static bool may_run(uint32_t index)
{
	if (now.threads[index].finished)
		return false;
	for (uint32_t i = index + 1; i < scenario->writers && scenario->nested; i++)
		if (index < scenario->writers && now.threads[i].started && !now.threads[i].finished)
			return false;
	return true;
}

static uint64_t *seen;
static struct state *path; /* to where we are */
static uint32_t seen_count;

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint64_t *words = data;

	for (size_t i = 0; i < bytes / 8; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_new(uint32_t threads)
{
	uint64_t hash = mix(1, &now.memory, sizeof now.memory);

	hash = mix(hash, now.truth, sizeof now.truth);
	for (uint32_t i = 0; i < threads; i++) {
		const struct thread *thread = &now.threads[i];

		hash = hash * 31 + thread->finished * 1000 + thread->call * 2 + thread->started;
		if (thread->finished)
			continue;
		hash = mix(hash + thread->count + thread->has_range, &thread->first, 2 * sizeof thread->first);
		hash = mix(hash, thread->log, thread->count * sizeof thread->log[0]);
	}
	hash += !hash;
	for (uint64_t slot = hash % SEEN_SLOTS;; slot = (slot + 1) % SEEN_SLOTS) {
		if (seen[slot] == hash)
			return false;
		if (!seen[slot]) {
			seen[slot] = hash;
			return true;
		}
	}
}

static void explore(uint32_t threads, uint32_t depth)
{
	struct state *before = &path[depth];
	bool at_rest = true;

	if (violation || !is_new(threads))
		return;
	assert_true(++seen_count < SEEN_SLOTS / 4 * 3);
	assert_true(depth < DEPTH_MAX);
	*before = now;
	for (uint32_t i = 0; i < threads && !violation; i++) {
		if (!may_run(i))
			continue;
		at_rest = false;
		run_one_step(i);
		explore(threads, depth + 1);
		now = *before;
	}
	if (at_rest)
		check_end();
}

static void begin(void)
{
	uint64_t position = scenario->before * SUB_UNITS * SUB_COUNT;

	now = (struct state){ 0 };
	now.memory.control.reserve = (position & UINT32_MAX) | scenario->events_before << 32;
	now.memory.control.position = position;
	now.memory.control.events = scenario->events_before;
	now.memory.control.due = scenario->due;
	for (int i = 0; i < SUB_COUNT; i++)
		now.memory.control.commits[i] = scenario->before * SUB_UNITS;
	violation = NULL;
	seen_count = 0;
	memset(seen, 0, SEEN_SLOTS * sizeof *seen);
}

static const char *explore_all(const struct scenario *chosen, enum defect mutation)
{
	scenario = chosen;
	defect = mutation;
	begin();
	explore(scenario->writers + (scenario->reading != NO_READER), 0);
	explored += seen_count;
	return violation;
}

#define TWO_AT_A_TIME .writers = 2, .tids = { 1, 2 }
#define TWO_NESTED    .writers = 2, .tids = { 1, 1 }, .nested = true

static const struct scenario scenarios[] = {
	{ "two at a time, in two sub-buffers", TWO_AT_A_TIME, .events = { 2, 1 }, .payload_units = 3,
	  .has_room = true },
	{ "two nested that fill one sub-buffer each", TWO_NESTED, .events = { 2, 2 }, .payload_units = 5,
	  .has_room = true },
	{ "two at a time, in one sub-buffer", TWO_AT_A_TIME, .events = { 2, 2 }, .payload_units = 3 },
	{ "two at a time, over two laps", TWO_AT_A_TIME, .events = { 2, 2 }, .payload_units = 5 },
	{ "one, read", .writers = 1, .tids = { 1 }, .events = { 6 }, .payload_units = 5, .reading = READS },
	{ "two nested, read", TWO_NESTED, .events = { 2, 3 }, .payload_units = 5, .reading = READS },
	{ "two nested, drained", TWO_NESTED, .events = { 1, 2 }, .payload_units = 5, .reading = DRAINS },
	{ "two at a time, read", TWO_AT_A_TIME, .events = { 1, 2 }, .payload_units = 5, .reading = READS },
	{ "two at a time, drained", TWO_AT_A_TIME, .events = { 1, 1 }, .payload_units = 3, .reading = DRAINS },
	{ "two at a time, one sub-buffer too old, read", TWO_AT_A_TIME, .events = { 2, 1 }, .payload_units = 3,
	  .reading = READS, .due = 3 },
	{ "three nested", .writers = 3, .tids = { 1, 2, 1 }, .nested = true, .events = { 2, 2, 2 },
	  .payload_units = 5 },
	{ "two nested where positions and numbers wrap", TWO_NESTED, .events = { 2, 3 }, .payload_units = 5,
	  .before = (UINT64_C(1) << 32) / (SUB_UNITS * SUB_COUNT) - 1, .events_before = UINT32_MAX - 1 },
	{ "one, read where positions and numbers wrap", .writers = 1, .tids = { 1 }, .events = { 6 },
	  .payload_units = 5, .reading = READS, .before = (UINT64_C(1) << 32) / (SUB_UNITS * SUB_COUNT) - 1,
	  .events_before = UINT32_MAX - 1 },
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static void test_all_interleavings(void **unused)
{
	(void)unused;
	for (int i = 0; i < SCENARIOS; i++) {
		const char *found = explore_all(&scenarios[i], NONE);

		print_message("%s: %u states\n", scenarios[i].name, seen_count);
		if (found)
			fail_msg("%s: %s", scenarios[i].name, found);
	}
}

static void test_finds_every_defect(void **unused)
{
	(void)unused;
	for (int mutation = NONE + 1; mutation < DEFECTS; mutation++) {
		const char *found = NULL;
		int i;

		for (i = 0; i < SCENARIOS && !found; i++)
			found = explore_all(&scenarios[i], (enum defect)mutation);
		if (!found)
			fail_msg("%s: not found", defect_names[mutation]);
		print_message("%s: %s (%s)\n", defect_names[mutation], found, scenarios[i - 1].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_interleavings),
		cmocka_unit_test(test_finds_every_defect),
	};

	seen = calloc(SEEN_SLOTS, sizeof *seen);
	path = calloc(DEPTH_MAX, sizeof *path);
	if (!seen || !path)
		return 1;
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(seen);
	free(path);
	return result;
}
