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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_ring_has_held_is_read_or_lost, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
