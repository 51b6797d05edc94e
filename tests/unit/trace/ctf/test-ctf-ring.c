// SPDX-License-Identifier: BSD-2-Clause
/* From a ring through a trace to its reader: every event written is read or told as lost, however late the ring is
 * read. */

#include "ctf-rig.h"
#include "ring/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SUB_UNITS = 64, SUB_COUNT = 4, EVENTS = 5000 };

static void take(struct rig *rig, const struct ring *ring, struct ring_cursor *cursor, bool is_end)
{
	uint64_t buffer[SUB_UNITS];
	struct ring_part part;

	while ((is_end ? ring_finish : ring_next)(ring, cursor, buffer, &part) == 1)
		assert_int_equal(ctf_writer_packet(rig->writer, 1, buffer, part.bytes, cursor->lost), 0);
}

static void what_a_ring_has_held_is_read_or_lost(void **state)
{
	struct rig *rig = *state;
	struct ring ring = { .sub_units = SUB_UNITS, .sub_count = SUB_COUNT };
	struct ring_cursor cursor = { 0 };
	struct event_source *source;
	struct event event;
	uint64_t read = 0, next = 0, lost = 0;

	ring.control = calloc(1, ring_control_bytes(SUB_COUNT));
	ring.data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	rig_open_writer(rig);
	for (uint64_t n = 0; n < EVENTS; n++) {
		struct ring_context who = { .tid = (uint32_t)(n / 10), .pid = 7, .comm = "ring" };
		uint64_t payload[] = { n, 1 };

		assert_int_equal(ring_put(&ring, &who, TICK, payload, 2), 0);
		/* Now in time, now too late. */
		if (n % 20 == 0 && n / 1000 % 2 == 0)
			take(rig, &ring, &cursor, false);
	}
	take(rig, &ring, &cursor, true);
	rig_close_writer(rig);
	free(ring.control);
	free(ring.data);

	source = rig_open_reader(rig);
	while (event_source_next(source, &event) == 1) {
		uint64_t n = rig_word(&event, "n");

		/* What is missing has been told by now. */
		assert_true(n >= next && n - next <= source->lost - lost);
		lost += n - next;
		next = n + 1;
		assert_int_equal(event.record->tid, n / 10);
		assert_string_equal(event.record->comm, "ring");
		read++;
	}
	assert_true(source->lost > 0 && read > EVENTS / 2);
	assert_int_equal(read + source->lost, EVENTS);
	event_source_free(source);
}

static uint64_t time_now;

static uint64_t planted_time(void)
{
	return time_now;
}

/* However long no event comes: those behind it have their time, and are taken. */
static void an_idle_ring_keeps_the_time(void **state)
{
	static const uint64_t hour = UINT64_C(3600) * 1000000000;
	const uint64_t when[] = { hour, 2 * hour, 42 * hour, 43 * hour, 130 * hour, 5000 * hour };
	struct rig *rig = *state;
	struct ring ring = { .sub_units = SUB_UNITS, .sub_count = 16, .now = planted_time };
	struct ring_cursor cursor = { 0 };
	struct event_source *source;
	struct event event;
	size_t count = 0;

	ring.control = calloc(1, ring_control_bytes(ring.sub_count));
	ring.data = calloc((size_t)SUB_UNITS * ring.sub_count, RING_UNIT_BYTES);
	rig_open_writer(rig);
	for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
		struct ring_context who = { .tid = 7, .pid = 7, .comm = "idle" };
		uint64_t payload[] = { i, 1 };

		time_now = when[i];
		assert_int_equal(ring_put(&ring, &who, TICK, payload, 2), 0);
	}
	take(rig, &ring, &cursor, true);
	rig_close_writer(rig);
	free(ring.control);
	free(ring.data);

	source = rig_open_reader(rig);
	for (; event_source_next(source, &event) == 1; count++)
		assert_int_equal(event.record->ts, when[count]);
	assert_int_equal(count, sizeof when / sizeof *when);
	event_source_free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_ring_has_held_is_read_or_lost, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(an_idle_ring_keeps_the_time, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
