// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explores how two writers and a reader that merges their rings can come in each other's way. The code is that of
 * src/ring and src/sensor/stream, compiled against model/ring/atomic.h; before every look of the reader, at a ring or
 * at the clock, the writers may go any number of steps further: reserve, read the clock, commit. No two readings of the
 * clock are the same. An event must never be handed out when one that is before it is still to come.
 *
 * A run is a list of choices; after it the last choice that has another value takes that, so all are made in the end.
 * Where there are too many, they are drawn instead.
 *
 * Every defect of `defects` is one that the exploration must find.
 */

#include "ring/atomic.h"
#include "ring/exclusive.h"
#include "sensor/stream/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* src/ring/elements.c, whose functions have other names here */
bool real_is_idle(struct ring_elements *reader);
bool real_is_still_idle(const struct ring_elements *reader);

enum { WRITERS = 2, SUB_UNITS = 32, SUB_COUNT = 2, EVENTS_MAX = 4, CHOICES_MAX = 256, DRAWN = 50000, ID = 1 };

enum defect {
	NONE,
	IGNORES_OPEN,  /* the watermark passes a ring in which a writer is in between */
	LOOKS_AT_OPEN, /* only whether one is in between counts, not whether all has been taken */
	CLOCK_AHEAD,   /* the clock is read when the ring has been looked at */
	IS_STILL,      /* a ring that was idle once is taken for idle */
	TURN_LATE,     /* the turn's clock is read when rings have been looked at */
	DEFECTS,
};

struct writer {
	struct ring ring;
	struct ring_exclusive exclusive;
	uint32_t step, last_step; /* three an event */
	uint64_t ts;
	struct {
		struct ring_control control;
		uint64_t commits[SUB_COUNT];
		uint64_t data[SUB_UNITS * SUB_COUNT];
	} memory;
};

static struct writer writers[WRITERS];
static struct stream_reader readers[WRITERS];
static struct merge merge;
static uint64_t clock_ns, handed_out, last_ts;
static bool violated, is_drawn, is_quiet, has_turns, is_large;
static enum defect defect;
static uint8_t choices[CHOICES_MAX], limits[CHOICES_MAX];
static uint32_t made, known; /* choices: of this run, and of it given from the one before */
static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % below;
}

/* One of so many. */
static uint32_t choose(uint32_t count)
{
	if (is_drawn)
		return draw(4) ? 0 : draw(count);
	assert_true(made < CHOICES_MAX);
	if (made == known)
		choices[known++] = 0;
	limits[made] = (uint8_t)count;
	return choices[made++];
}

static void go(struct writer *writer)
{
	switch (writer->step++ % 3) {
	case 0:
		assert_non_null(ring_exclusive_reserve(&writer->exclusive, 1));
		break;
	case 1:
		writer->ts = ++clock_ns;
		break;
	default:
		ring_exclusive_commit(&writer->exclusive, ID, writer->ts);
	}
}

void model_step(void)
{
	while (!is_quiet) {
		struct writer *able[WRITERS];
		uint32_t count = 0, choice;

		for (int i = 0; i < WRITERS; i++)
			if (writers[i].step < writers[i].last_step)
				able[count++] = &writers[i];
		choice = count ? choose(count + 1) : 0;
		if (!choice)
			return;
		go(able[choice - 1]);
	}
}

static uint64_t now(void)
{
	model_step();
	return ++clock_ns + (defect == CLOCK_AHEAD ? 3 : 0);
}

bool ring_elements_is_idle(struct ring_elements *reader)
{
	if (defect == IGNORES_OPEN)
		return true;
	return defect == LOOKS_AT_OPEN ? !ring_elements_in_flight(reader) : real_is_idle(reader);
}

bool ring_elements_is_still_idle(const struct ring_elements *reader)
{
	return defect == IS_STILL ? reader->was_idle : real_is_still_idle(reader);
}

static int on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	(void)context;
	(void)input;
	violated |= record->ts < last_ts || event_is_late(record);
	last_ts = record->ts;
	handed_out++;
	return 0;
}

static void open_writer(struct writer *writer, uint32_t events)
{
	static const struct ring_context who = { .tid = 1 };

	memset(writer, 0, sizeof *writer);
	writer->ring = (struct ring){ &writer->memory.control, writer->memory.data, SUB_UNITS, SUB_COUNT };
	ring_exclusive_init(&writer->exclusive, writer->ring.control, writer->ring.data, SUB_UNITS, SUB_COUNT);
	ring_exclusive_own(&writer->exclusive, &who);
	writer->last_step = 3 * events;
}

static void turn(struct stream_reading *reading)
{
	if (has_turns)
		reading->turn_ns = now() + (defect == TURN_LATE ? 3 : 0);
	merge_turn(&merge, UINT32_MAX, on_event, NULL);
}

/* One run: so many turns of the reader, then what is left. */
static void run(uint32_t events, uint32_t turns)
{
	static const uint32_t units[] = { RING_ELEMENT_NONE, 1 };
	static const struct stream_form forms[] = { { .type = STREAM_NO_TYPE }, { .type = 0 } };
	static struct stream_reading reading;

	has_turns = is_drawn ? draw(2) : defect == TURN_LATE;
	reading = (struct stream_reading){
		.now = now, .hold_ns = UINT64_MAX, .end_ns = MERGE_NEVER, .record_bytes = sizeof(struct event_header)
	};
	merge = (struct merge){ 0 };
	clock_ns = handed_out = last_ts = made = 0;
	is_quiet = true;
	for (int i = 0; i < WRITERS; i++) {
		open_writer(&writers[i], events);
		const struct stream_reader_options options = { &writers[i].ring, units, forms, 2, 1 };

		assert_int_equal(stream_reader_init(&readers[i], &reading, &options), 0);
		assert_int_equal(merge_add(&merge, &readers[i].input), 0);
	}
	is_quiet = false;
	for (uint32_t i = 0; i < turns; i++)
		turn(&reading);
	is_quiet = true;
	for (int i = 0; i < WRITERS; i++)
		while (writers[i].step < writers[i].last_step)
			go(&writers[i]);
	/* The first may wait for what an input without an event has not said yet. */
	for (int i = 0; i < 2; i++)
		turn(&reading);
	violated |= handed_out != WRITERS * (uint64_t)events || merge.late;
	merge_fini(&merge);
	for (int i = 0; i < WRITERS; i++)
		stream_reader_fini(&readers[i]);
}

/* Goes on to the next run. False: that was the last. */
static bool next_run(void)
{
	known = made;
	while (known && choices[known - 1] + 1 == limits[known - 1])
		known--;
	if (known)
		choices[known - 1]++;
	return known;
}

static uint64_t explore(enum defect which, uint32_t turns)
{
	uint64_t runs = 0;

	defect = which;
	violated = is_drawn = false;
	known = 0;
	do {
		run(1, turns);
		runs++;
	} while (!violated && next_run());
	return runs;
}

static void try_some(enum defect which)
{
	defect = which;
	violated = false;
	is_drawn = true;
	for (uint32_t i = 0; i < DRAWN && !violated; i++)
		run(1 + i % EVENTS_MAX, 1 + i % 3);
}

static void test_all(void **unused)
{
	(void)unused;
	uint64_t runs = explore(NONE, is_large ? 2 : 1);

	assert_false(violated);
	assert_true(runs > 10000);
	print_message("%llu runs\n", (unsigned long long)runs);
}

static void test_some(void **unused)
{
	(void)unused;
	try_some(NONE);
	assert_false(violated);
}

static void test_defects(void **unused)
{
	(void)unused;
	for (enum defect which = NONE + 1; which < DEFECTS; which++) {
		explore(which, 2);
		if (!violated)
			fail_msg("defect %d is not found", which);
		try_some(which);
		if (!violated)
			fail_msg("defect %d is not found by drawing", which);
	}
}

/* `large`: all orders of two turns of the reader, 4.6 million runs; otherwise those of one. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_defects),
	};

	is_large = argc > 1 && !strcmp(argv[1], "large");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
