// SPDX-License-Identifier: BSD-2-Clause
/*
 * Real threads: two exclusive writers with a ring each, and readers that follow both, one of them too slow on purpose.
 * Every element that a reader takes must be what was written, in its order and at its number, and what it has not taken
 * must be what it counts as lost.
 */

#include "ring/atomic.h"
#include "ring/elements.h"
#include "ring/exclusive.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

enum { SUB_UNITS = 128, SUB_COUNT = 8, WRITERS = 2, EVENTS = 1000000, SIZES = 8, IDS = 1 + SIZES };

/* Element i has i units of payload. */
static const uint32_t units[IDS] = { RING_ELEMENT_NONE, 1, 2, 3, 4, 5, 6, 7, 8 };

struct writer {
	struct ring ring;
	uint64_t written;
	bool is_done;
};

struct outcome {
	uint64_t taken[WRITERS], lost[WRITERS], errors;
};

struct reader {
	struct writer *writers;
	bool is_slow;
	struct outcome outcome;
};

static bool is_done(const struct writer *writer)
{
	return __atomic_load_n(&writer->is_done, __ATOMIC_ACQUIRE);
}

static void ring_make(struct ring *ring)
{
	*ring = (struct ring){ .sub_units = SUB_UNITS, .sub_count = SUB_COUNT, .clock = RING_CLOCK_TSC };
	ring->control = calloc(1, ring_control_bytes(SUB_COUNT));
	ring->data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	assert_non_null(ring->control);
	assert_non_null(ring->data);
}

static void *write_all(void *context)
{
	struct writer *writer = context;
	const struct ring *ring = &writer->ring;
	struct ring_context who = { .tid = 7, .pid = 9, .comm = "stress" };
	struct ring_exclusive exclusive;

	ring_exclusive_init(&exclusive, ring->control, ring->data, SUB_UNITS, SUB_COUNT);
	ring_exclusive_own(&exclusive, &who);
	for (uint64_t n = 0; n < EVENTS; n++) {
		uint16_t id = (uint16_t)(1 + n * 7 % SIZES);
		uint64_t *payload = ring_exclusive_reserve(&exclusive, id);

		for (uint32_t i = 0; i < id; i++)
			ring_order_store(&payload[i], n * 3 + i);
		ring_exclusive_commit(&exclusive, id, ring_clock_now(ring));
		if (n < EVENTS / 2 && n % 500 == 0) /* half of the time a reader can keep up */
			nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	}
	writer->written = EVENTS;
	__atomic_store_n(&writer->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Takes what there is in one ring, at most so many elements. Returns how many. */
static uint32_t take_some(struct ring_elements *elements, struct outcome *outcome, uint32_t which, uint32_t most)
{
	struct ring_element element;
	uint32_t taken = 0;
	int result = 0;

	while (taken < most && (result = ring_elements_look(elements, &element)) == 1) {
		uint64_t last_ts = elements->ts;
		bool good = element.units == element.id && element.id == 1 + element.number * 7 % SIZES;

		for (uint32_t i = 0; i < element.units; i++)
			good &= ring_order_load(&element.payload[i]) == element.number * 3 + i;
		if (!ring_elements_take(elements))
			continue;
		taken++;
		outcome->errors += !good || element.ts < last_ts || elements->who.tid != 7;
	}
	outcome->errors += result < 0;
	outcome->taken[which] += taken;
	outcome->lost[which] = elements->lost;
	return result < 0 ? 0 : taken;
}

static void *read_all(void *context)
{
	struct reader *reader = context;
	struct ring_elements elements[WRITERS];

	for (uint32_t i = 0; i < WRITERS; i++)
		ring_elements_init(&elements[i], &reader->writers[i].ring, units, IDS);
	for (uint32_t open = WRITERS; open;) {
		open = 0;
		for (uint32_t i = 0; i < WRITERS; i++) {
			bool done = is_done(&reader->writers[i]);
			uint32_t taken = take_some(&elements[i], &reader->outcome, i, 1000);

			open += !done || taken;
		}
		if (reader->is_slow)
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	}
	return NULL;
}

static void test_stress(void **unused)
{
	struct writer writers[WRITERS] = { 0 };
	struct reader readers[] = { { .writers = writers }, { .writers = writers, .is_slow = true } };
	enum { READERS = sizeof readers / sizeof *readers };
	pthread_t writing[WRITERS], reading[READERS];

	(void)unused;
	for (uint32_t i = 0; i < WRITERS; i++)
		ring_make(&writers[i].ring);
	for (uint32_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&reading[i], NULL, read_all, &readers[i]), 0);
	for (uint32_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writing[i], NULL, write_all, &writers[i]), 0);
	for (uint32_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(writing[i], NULL), 0);
	for (uint32_t i = 0; i < READERS; i++) {
		const struct outcome *outcome = &readers[i].outcome;

		assert_int_equal(pthread_join(reading[i], NULL), 0);
		assert_int_equal(outcome->errors, 0);
		for (uint32_t j = 0; j < WRITERS; j++) {
			print_message("reader %u, ring %u: %llu taken, %llu lost\n", i, j,
				      (unsigned long long)outcome->taken[j], (unsigned long long)outcome->lost[j]);
			assert_int_equal(outcome->taken[j] + outcome->lost[j], writers[j].written);
			assert_true(outcome->taken[j] > 0);
		}
	}
	assert_true(readers[1].outcome.lost[0] > 0 && readers[1].outcome.lost[1] > 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		assert_int_equal(ring_written(&writers[i].ring), EVENTS);
		free(writers[i].ring.control);
		free(writers[i].ring.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stress) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
