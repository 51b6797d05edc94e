// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explores what a reader may see of one writer's stores where the machine keeps no order but what C11 demands. The code
 * is that of src/ring, compiled against weak/ring/order.h.
 *
 * A writer reads nothing that a reader writes, so what it stores, and in which order, is always the same: it runs once,
 * and the stores of every word are kept with what they carry along. A reader's load may then take any store to its word
 * (those still in a store buffer are the ones it does not take) that is not older than
 *   - the one that it has read there before, and
 *   - the last one there of which it has to know: an acquiring load that took a releasing store, or one behind a
 * release fence, has to know of everything before that; a relaxed load only once an acquire fence has followed. As all
 * stores are one thread's, what has to be known is a number: that of a store, with all before it.
 *
 * For every load every choice is explored, call by call; states between calls that were seen are not explored again.
 * More than `strays` loads of data in one call that take a store newer than the oldest one allowed are left out: one is
 * enough to tear an event. `test-ring-order STRAYS EVENTS` allows so many more of both, which takes long.
 *
 * Every defect of `defects` is one that the exploration must find.
 */

#include "ring/elements.h"
#include "ring/exclusive.h"
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
	CONTROL_WORDS = sizeof(struct ring_control) / 8 + SUB_COUNT,
	WORDS = CONTROL_WORDS + SUB_UNITS * SUB_COUNT,
	STORES_MAX = 2048,
	EVENTS_MAX = 64,
	CHOICES_MAX = 256,
	STATES_MAX = 1 << 20,
};

enum writing { EXCLUSIVE, SHARED };
enum reading { ELEMENTS, SUB_BUFFERS, PEEKS };

enum defect {
	NONE,
	NO_RELEASE_FENCE,    /* after the reserve word is stored */
	NO_FENCE_AT_OPENING, /* the same, only where a sub-buffer is opened */
	LATE_RESERVE,        /* the reserve word is stored directly before the counter */
	RELAXED_COMMIT,
	EARLY_COMMIT, /* the counter is stored before the event's word */
	RELAXED_LOOK, /* at the counter */
	NO_ACQUIRE_FENCE,
	NO_RECHECK, /* the reserve word is what it was when the counter was looked at */
	DEFECTS,
};

static const char *const defect_names[] = {
	"none",         "no release fence", "no fence at an opening", "late reserve",   "relaxed commit",
	"early commit", "relaxed look",     "no acquire fence",       "no second look",
};

struct scenario {
	const char *name;
	enum writing writing;
	enum reading reading;
	uint32_t events, payload_units;
	uint32_t strays;    /* in one call */
	uint32_t leap;      /* the event before which so much time passes that it needs another sub-buffer */
	uint32_t abandoned; /* every so many events one is reserved and not committed */
	uint64_t before;    /* laps behind us */
	uint64_t events_before;
};

/* A store: its value, the word, and the last store of which who reads it in order has to know. */
struct store {
	uint64_t value;
	uint32_t word, known;
	uint32_t next; /* store to the same word; 0: none */
};

/* What a reader is between two calls. */
struct state {
	struct ring_elements reader;
	struct ring_cursor cursor;
	uint64_t taken;
	uint32_t known, pending; /* the last store of which it has to know, now and after an acquire fence */
	uint32_t read[WORDS];    /* the last store read */
};

static const struct scenario *scenario;
static enum defect defect;
static uint32_t strays_more, events_more;
static const char *violation;

/* The writer's: number 0 is what all words begin with. */
static uint64_t memory[WORDS];
static uint64_t begin_values[WORDS];
static struct store stores[STORES_MAX];
static uint32_t store_count, last_store[WORDS], first_store[WORDS], fenced;
static bool is_writing, holds_reserve, holds_word;
static uint64_t held_reserve, held_word, *held_at, writer_clock;

static struct {
	uint64_t ts, value;
} truth[EVENTS_MAX];
static uint32_t written;

/* The reader's. */
static struct state now;
static uint32_t counter_known, strays;
static bool is_direct;
static struct {
	uint8_t options[CHOICES_MAX], chosen[CHOICES_MAX];
	uint32_t count, used;
} script;

static void violate(const char *text)
{
	if (!violation)
		violation = text;
}

static struct ring_control *control(void)
{
	return (struct ring_control *)(void *)memory;
}

static uint64_t planted_clock(void)
{
	return ++writer_clock;
}

static struct ring ring(void)
{
	return (struct ring){ control(), memory + CONTROL_WORDS, SUB_UNITS, SUB_COUNT, .now = planted_clock };
}

/* ---- the writer */

static void store_now(uint64_t *at, uint64_t value, bool releases)
{
	uint32_t word = (uint32_t)(at - memory), number = ++store_count;

	assert_true(number < STORES_MAX);
	stores[number] = (struct store){ value, word, releases ? number : fenced, 0 };
	if (last_store[word])
		stores[last_store[word]].next = number;
	else
		first_store[word] = number;
	last_store[word] = number;
	*at = value;
}

static bool is_counter(const uint64_t *at)
{
	return at >= control()->commits && at < control()->commits + SUB_COUNT;
}

static void give_up_held(void)
{
	if (holds_reserve)
		store_now(&control()->reserve, held_reserve, false);
	holds_reserve = false;
}

void weak_store(uint64_t *at, uint64_t value, enum weak_order order)
{
	bool releases = order == WEAK_ORDERED && !(defect == RELAXED_COMMIT && is_counter(at));

	if (defect == LATE_RESERVE && at == &control()->reserve) {
		holds_reserve = true;
		held_reserve = *at = value;
		return;
	}
	if (defect == LATE_RESERVE && is_counter(at))
		give_up_held();
	if (defect == EARLY_COMMIT && at >= memory + CONTROL_WORDS && !is_counter(at)) {
		if (holds_word)
			store_now(held_at, held_word, false);
		holds_word = true;
		held_at = at;
		held_word = *at = value;
		return;
	}
	store_now(at, value, releases);
	if (holds_word && is_counter(at)) {
		store_now(held_at, held_word, false);
		holds_word = false;
	}
}

void weak_fence_release(void)
{
	uint64_t position = memory[offsetof(struct ring_control, reserve) / 8] & UINT32_MAX;
	bool opens = position % SUB_UNITS == RING_HEADER_UNITS + RING_CONTEXT_UNITS + 1 + scenario->payload_units;

	if (defect != NO_RELEASE_FENCE && !(defect == NO_FENCE_AT_OPENING && opens))
		fenced = store_count;
}

static void note_truth(uint64_t ts, uint64_t value)
{
	assert_true(written < EVENTS_MAX);
	truth[written].ts = ts;
	truth[written++].value = value;
}

static void write_exclusive(struct ring_exclusive *writer, uint64_t n)
{
	uint32_t units = scenario->payload_units;

	if (scenario->abandoned && n % scenario->abandoned == 0)
		ring_order_store(ring_exclusive_reserve(writer, units), 1000 + n);
	uint64_t *payload = ring_exclusive_reserve(writer, units);

	if (scenario->leap && n == scenario->leap)
		writer_clock += RING_AGE_MAX;
	for (uint32_t i = 0; i < units; i++)
		ring_order_store(&payload[i], 2000 + n * 16 + i);
	ring_exclusive_commit(writer, 1, planted_clock());
	note_truth(writer_clock, 2000 + n * 16);
}

static void write_shared(const struct ring *view, const struct ring_context *who, uint64_t n)
{
	uint64_t payload[8];

	for (uint32_t i = 0; i < scenario->payload_units; i++)
		payload[i] = 2000 + n * 16 + i;
	assert_int_equal(ring_put(view, who, 1, payload, scenario->payload_units), 0);
	note_truth(writer_clock, 2000 + n * 16);
}

static void begin_memory(void)
{
	uint64_t position = scenario->before * SUB_UNITS * SUB_COUNT;

	memset(memory, 0, sizeof memory);
	memset(last_store, 0, sizeof last_store);
	memset(first_store, 0, sizeof first_store);
	control()->reserve = (position & UINT32_MAX) | scenario->events_before << 32;
	control()->position = position;
	control()->events = scenario->events_before;
	for (int i = 0; i < SUB_COUNT; i++)
		control()->commits[i] = scenario->before * SUB_UNITS;
	memcpy(begin_values, memory, sizeof memory);
	store_count = fenced = written = 0;
	writer_clock = 0;
	holds_reserve = holds_word = false;
}

static void write_all(void)
{
	struct ring view = ring();
	struct ring_context who = { .tid = 1, .pid = 9, .comm = "model" };
	struct ring_exclusive writer;

	begin_memory();
	is_writing = true;
	ring_exclusive_init(&writer, view.control, view.data, SUB_UNITS, SUB_COUNT);
	ring_exclusive_own(&writer, &who);
	writer.position = scenario->before * SUB_UNITS * SUB_COUNT;
	writer.events = scenario->events_before;
	writer.due = scenario->before ? 1 : 0;
	for (uint64_t n = 0; n < scenario->events + events_more; n++)
		if (scenario->writing == SHARED)
			write_shared(&view, &who, n);
		else
			write_exclusive(&writer, n);
	give_up_held();
	is_writing = false;
}

/* ---- the reader */

static uint32_t choose(uint32_t options)
{
	assert_true(options <= UINT8_MAX);
	if (options == 1)
		return 0;
	if (script.used == script.count) {
		assert_true(script.count < CHOICES_MAX);
		script.options[script.count] = (uint8_t)options;
		script.chosen[script.count++] = 0;
	}
	return script.chosen[script.used++];
}

/* The script after this one; false: there is none. */
static bool next_script(void)
{
	while (script.count && script.chosen[script.count - 1] + 1 == script.options[script.count - 1])
		script.count--;
	if (!script.count)
		return false;
	script.chosen[script.count - 1]++;
	return true;
}

static uint32_t next_of(uint32_t word, uint32_t number)
{
	return number ? stores[number].next : first_store[word];
}

/* The oldest store that a load of word may take. */
static uint32_t oldest(uint32_t word, uint32_t known)
{
	uint32_t number = now.read[word], next;

	while ((next = next_of(word, number)) != 0 && next <= known)
		number = next;
	return number;
}

static uint32_t pick(uint32_t word)
{
	uint32_t first = oldest(word, now.known), options = 1, number = first;
	bool is_data = word >= CONTROL_WORDS;

	if (is_direct)
		return last_store[word];
	if (defect == NO_RECHECK && word == offsetof(struct ring_control, reserve) / 8 && counter_known)
		return oldest(word, counter_known);
	for (uint32_t next = next_of(word, first); next; next = next_of(word, next))
		options++;
	uint32_t choice = is_data && strays >= scenario->strays + strays_more ? 0 : choose(options);

	strays += is_data && choice;
	while (choice--)
		number = next_of(word, number);
	return number;
}

uint64_t weak_load(const uint64_t *at, enum weak_order order)
{
	uint32_t word = (uint32_t)(at - memory);

	if (is_writing)
		return *at;
	uint32_t number = pick(word), known = number ? stores[number].known : 0;

	now.read[word] = number;
	if (known > now.pending)
		now.pending = known;
	if (order == WEAK_ORDERED && !(defect == RELAXED_LOOK && is_counter(at)) && known > now.known)
		now.known = known;
	if (is_counter(at))
		counter_known = number;
	return number ? stores[number].value : begin_values[word];
}

void weak_fence_acquire(void)
{
	if (defect != NO_ACQUIRE_FENCE && now.pending > now.known)
		now.known = now.pending;
}

/* An event as it was read, number n from the scenario's beginning; payload is what is read of it. */
static void check_event(uint64_t n, uint64_t word, const uint64_t *payload)
{
	if (n >= written) {
		violate("an event that nobody wrote");
		return;
	}
	if (word != ring_event_word(1, truth[n].ts))
		violate("a torn event: its word");
	for (uint32_t i = 0; i < scenario->payload_units; i++)
		if (payload[i] != truth[n].value + i)
			violate("a torn event: its payload");
}

/* One call of the reader of elements. True: there was something. */
static bool take_element(void)
{
	struct ring_element element;
	uint64_t payload[8];
	int result = ring_elements_look(&now.reader, &element);

	if (result < 0)
		violate("the reader finds nonsense");
	if (result != 1)
		return false;
	for (uint32_t i = 0; i < element.units; i++)
		payload[i] = ring_order_load(&element.payload[i]);
	if (!ring_elements_take(&now.reader))
		return false;
	now.taken++;
	check_event(element.number - scenario->events_before, ring_event_word(element.id, element.ts), payload);
	if (element.number - scenario->events_before < written &&
	    element.ts != truth[element.number - scenario->events_before].ts)
		violate("another time than the event's");
	if (now.reader.who.tid != 1 || now.reader.who.pid != 9 || strcmp(now.reader.who.comm, "model") != 0)
		violate("an event in another's context");
	if (now.taken + now.reader.lost != now.reader.number - scenario->events_before)
		violate("the number lost is not exact");
	return true;
}

static void check_part(const uint64_t *buffer, const struct ring_part *part)
{
	uint32_t unit = part->skip ? part->skip / 8 : RING_HEADER_UNITS;
	uint64_t n = part->events_before - scenario->events_before, end = n + part->events;

	while (unit < part->bytes / 8) {
		bool is_context = (buffer[unit] & UINT16_MAX) == RING_ID_CONTEXT;

		if (is_context && (buffer[unit + 1] != (1 | UINT64_C(9) << 32)))
			violate("a torn context");
		if (!is_context)
			check_event(n++, buffer[unit], &buffer[unit + 1]);
		unit += is_context ? RING_CONTEXT_UNITS : 1 + scenario->payload_units;
	}
	if (n != end)
		violate("another number of events than the part says");
}

static bool take_part(void)
{
	struct ring view = ring();
	struct ring_part part;
	uint64_t buffer[SUB_UNITS];
	int result = (scenario->reading == PEEKS ? ring_peek : ring_next)(&view, &now.cursor, buffer, &part);

	if (result < 0)
		violate("the reader finds nonsense");
	if (result != 1)
		return false;
	check_part(buffer, &part);
	now.taken += part.events;
	if (now.taken + now.cursor.lost != now.cursor.events - scenario->events_before)
		violate("the number lost is not exact");
	return true;
}

static bool take(void)
{
	counter_known = strays = 0;
	return scenario->reading == ELEMENTS ? take_element() : take_part();
}

/* Once all stores have arrived the reader comes to the end, and all is taken or lost. */
static void check_end(void)
{
	struct state before = now;
	uint64_t lost;

	is_direct = true;
	for (uint32_t i = 0; i < 4 * EVENTS_MAX && !violation; i++)
		take();
	is_direct = false;
	lost = scenario->reading == ELEMENTS ? now.reader.lost : now.cursor.lost;
	if (scenario->reading != SUB_BUFFERS && now.taken + lost != written)
		violate("not all that is left can be read");
	now = before;
}

/* ---- all choices */

static uint64_t *seen;
static struct state *open_states;
static uint32_t open_count, seen_count;

static bool is_new(void)
{
	const uint64_t *words = (const void *)&now;
	uint64_t hash = 1;

	for (size_t i = 0; i < sizeof now / 8; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
		hash ^= hash >> 29;
	}
	hash += !hash;
	for (uint64_t slot = hash % (2 * STATES_MAX);; slot = (slot + 1) % (2 * STATES_MAX)) {
		if (seen[slot] == hash)
			return false;
		if (!seen[slot]) {
			seen[slot] = hash;
			assert_true(++seen_count < STATES_MAX);
			return true;
		}
	}
}

_Static_assert(sizeof(struct state) % 8 == 0, "hashed as words");

static void begin_reader(void)
{
	static uint32_t units[2] = { RING_ELEMENT_NONE };
	struct ring view = ring();

	units[1] = scenario->payload_units;
	memset(&now, 0, sizeof now);
	ring_elements_init(&now.reader, &view, units, 2);
	now.reader.position = scenario->before * SUB_UNITS * SUB_COUNT;
	now.reader.number = scenario->events_before;
	now.cursor.next = scenario->before * SUB_COUNT;
	now.cursor.events = scenario->events_before;
}

static uint64_t explore(const struct scenario *chosen, enum defect mutation)
{
	uint64_t calls = 0;

	scenario = chosen;
	defect = mutation;
	violation = NULL;
	write_all();
	memset(seen, 0, 2 * STATES_MAX * sizeof *seen);
	seen_count = open_count = 0;
	begin_reader();
	is_new();
	open_states[open_count++] = now;
	while (open_count && !violation) {
		const struct state from = open_states[--open_count];

		now = from;
		check_end();
		script.count = 0;
		do {
			now = from;
			script.used = 0;
			take();
			calls++;
			if (!violation && is_new())
				open_states[open_count++] = now;
		} while (next_script() && !violation);
	}
	return calls;
}

static const struct scenario scenarios[] = {
	{ "exclusive, elements", EXCLUSIVE, ELEMENTS, .events = 9, .payload_units = 3, .strays = 2 },
	{ "exclusive, large elements", EXCLUSIVE, ELEMENTS, .events = 6, .payload_units = 5, .strays = 2 },
	{ "exclusive, elements, some abandoned", EXCLUSIVE, ELEMENTS, .events = 7, .payload_units = 3, .strays = 1,
	  .abandoned = 2 },
	{ "exclusive, elements, one comes after hours", EXCLUSIVE, ELEMENTS, .events = 6, .payload_units = 3,
	  .strays = 1, .leap = 2 },
	{ "exclusive, elements, where positions and numbers wrap", EXCLUSIVE, ELEMENTS, .events = 9, .payload_units = 3,
	  .strays = 1, .before = (UINT64_C(2) << 32) / (SUB_UNITS * SUB_COUNT) - 1, .events_before = UINT32_MAX - 4 },
	{ "exclusive, sub-buffers", EXCLUSIVE, SUB_BUFFERS, .events = 5, .payload_units = 5, .strays = 1 },
	{ "exclusive, peeked at", EXCLUSIVE, PEEKS, .events = 3, .payload_units = 8, .strays = 1 },
	{ "one of many, sub-buffers", SHARED, SUB_BUFFERS, .events = 5, .payload_units = 5, .strays = 1 },
	{ "one of many, peeked at", SHARED, PEEKS, .events = 3, .payload_units = 8, .strays = 1 },
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static void test_all_orders(void **unused)
{
	(void)unused;
	for (int i = 0; i < SCENARIOS; i++) {
		uint64_t calls = explore(&scenarios[i], NONE);

		print_message("%s: %u states, %llu calls\n", scenarios[i].name, seen_count, (unsigned long long)calls);
		if (violation)
			fail_msg("%s: %s", scenarios[i].name, violation);
	}
}

static void test_finds_every_defect(void **unused)
{
	(void)unused;
	for (int mutation = NONE + 1; mutation < DEFECTS; mutation++) {
		int i;

		violation = NULL;
		for (i = 0; i < SCENARIOS && !violation; i++)
			explore(&scenarios[i], (enum defect)mutation);
		if (!violation)
			fail_msg("%s: not found", defect_names[mutation]);
		print_message("%s: %s (%s)\n", defect_names[mutation], violation, scenarios[i - 1].name);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_orders),
		cmocka_unit_test(test_finds_every_defect),
	};

	if (argc > 1)
		strays_more = (uint32_t)atoi(argv[1]);
	if (argc > 2)
		events_more = (uint32_t)atoi(argv[2]);
	seen = calloc(2 * STATES_MAX, sizeof *seen);
	open_states = calloc(STATES_MAX, sizeof *open_states);
	if (!seen || !open_states)
		return 1;
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(seen);
	free(open_states);
	return result;
}
