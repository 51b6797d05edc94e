// SPDX-License-Identifier: BSD-2-Clause
/* Rings of applications and events that are handed over, one after the other in one thread: what becomes of each. */

#include "ring/exclusive.h"
#include "sensor/stream/pace.h"
#include "sensor/stream/queue.h"
#include "sensor/stream/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SUB_UNITS = 64, SUB_COUNT = 4, RINGS = 2, IDS = 3, TYPE_A = 5, TYPE_B = 6, OUT_MAX = 65536 };

/* { u64 number; i16 small; u8 tiny; char name[8]; } */
static const struct stream_field fields[] = {
	{ .from = 0, .from_bytes = 8, .to = 48, .to_bytes = 8, .value = EVENT_U64 },
	{ .from = 8, .from_bytes = 2, .to = 56, .to_bytes = 8, .value = EVENT_I16 },
	{ .from = 10, .from_bytes = 1, .to = 64, .to_bytes = 8, .value = EVENT_U8 },
	{ .from = 16, .from_bytes = 8, .to = 72, .to_bytes = 16, .value = EVENT_STRING },
};

static const uint32_t units[IDS] = { RING_ELEMENT_NONE, 3, 1 };
static const struct stream_form forms[IDS] = {
	{ .type = STREAM_NO_TYPE },
	{ .type = TYPE_A, .record_bytes = 88, .fields = fields, .field_count = 4 },
	{ .type = STREAM_NO_TYPE },
};

struct record {
	struct event_header header;
	uint64_t number, small, tiny;
	char name[16];
};

static struct rig {
	struct ring rings[RINGS];
	struct ring_exclusive writers[RINGS];
	struct stream_reader readers[RINGS];
	struct stream_reading reading;
	struct queue queue;
	struct merge merge;
	struct record out[OUT_MAX];
	uint32_t count;
} rig;

static uint64_t clock_ns;

static uint64_t now(void)
{
	return clock_ns;
}

static int on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	(void)context;
	(void)input;
	assert_true(rig.count < OUT_MAX);
	memcpy(&rig.out[rig.count++], record, sizeof rig.out[0]);
	return 0;
}

static void open_ring(int i)
{
	const struct ring_context who = { .tid = 70u + (uint32_t)i, .pid = 1, .comm = "worker" };
	struct ring *ring = &rig.rings[i];

	*ring = (struct ring){ .sub_units = SUB_UNITS, .sub_count = SUB_COUNT };
	ring->control = calloc(1, ring_control_bytes(SUB_COUNT));
	ring->data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	assert_non_null(ring->control);
	assert_non_null(ring->data);
	ring_exclusive_init(&rig.writers[i], ring->control, ring->data, SUB_UNITS, SUB_COUNT);
	ring_exclusive_own(&rig.writers[i], &who);
}

static int set_up(void **unused)
{
	(void)unused;
	memset(&rig, 0, sizeof rig);
	clock_ns = 1000000;
	rig.reading = (struct stream_reading){ .now = now,
					       .visible_ns = 10,
					       .hold_ns = 500,
					       .end_ns = MERGE_NEVER,
					       .record_bytes = sizeof(struct record) };
	assert_int_equal(queue_init(&rig.queue, sizeof(struct record)), 0);
	for (int i = 0; i < RINGS; i++) {
		const struct stream_reader_options options = { &rig.rings[i], units, forms, IDS, 42 };

		open_ring(i);
		assert_int_equal(stream_reader_init(&rig.readers[i], &rig.reading, &options), 0);
		assert_int_equal(merge_add(&rig.merge, &rig.readers[i].input), 0);
	}
	return merge_add(&rig.merge, &rig.queue.input);
}

static int tear_down(void **unused)
{
	(void)unused;
	for (int i = 0; i < RINGS; i++) {
		stream_reader_fini(&rig.readers[i]);
		free(rig.rings[i].control);
		free(rig.rings[i].data);
	}
	merge_fini(&rig.merge);
	queue_fini(&rig.queue);
	return 0;
}

static void begin(int ring, uint64_t number, int16_t small, uint8_t tiny, const char *name)
{
	uint64_t *payload = ring_exclusive_reserve(&rig.writers[ring], 3);
	uint8_t *bytes = (uint8_t *)payload;

	assert_non_null(payload);
	memcpy(bytes, &number, 8);
	memcpy(bytes + 8, &small, 2);
	memcpy(bytes + 10, &tiny, 1);
	memcpy(bytes + 16, name, strnlen(name, 8) < 8 ? strlen(name) + 1 : 8);
}

static void raise_at(int ring, uint64_t number, uint64_t ts)
{
	begin(ring, number, -3, 200, "eight__x");
	ring_exclusive_commit(&rig.writers[ring], 1, ts);
}

static void hand_over(uint64_t number, uint64_t ts, uint32_t flags)
{
	const struct record record = { .header = { .ts = ts, .type = TYPE_B | flags }, .number = number };

	queue_put(&rig.queue, &record.header, sizeof record);
}

static void turn(uint64_t settled_ns)
{
	queue_settle(&rig.queue, settled_ns);
	merge_turn(&rig.merge, UINT32_MAX, on_event, NULL);
}

static void expect(const uint64_t *numbers, uint32_t count)
{
	assert_int_equal(rig.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(rig.out[i].number, numbers[i]);
}

#define EXPECT(...) expect((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void test_values(void **unused)
{
	(void)unused;
	raise_at(0, UINT64_MAX - 1, 5000);
	turn(MERGE_NEVER);
	EXPECT(UINT64_MAX - 1);
	assert_int_equal(rig.out[0].header.ts, 5000);
	assert_int_equal(rig.out[0].header.type, TYPE_A);
	assert_int_equal(rig.out[0].header.pid, 42); /* the ring says 1 */
	assert_int_equal(rig.out[0].header.tid, 70);
	assert_int_equal(rig.out[0].header.cpu, EVENT_NO_CPU);
	assert_string_equal(rig.out[0].header.comm, "worker");
	assert_true((int64_t)rig.out[0].small == -3);
	assert_int_equal(rig.out[0].tiny, 200);
	assert_string_equal(rig.out[0].name, "eight__x"); /* without a NUL of its own */
}

/* Events of both rings and of the queue come in the order of their times, and wait for each other. */
static void test_order(void **unused)
{
	(void)unused;
	raise_at(0, 1, 100);
	hand_over(4, 400, 0);
	hand_over(2, 200, 0); /* of another processor */
	raise_at(1, 3, 300);
	raise_at(0, 5, 500);
	turn(250);
	EXPECT(1, 2);
	assert_int_equal(rig.merge.watermark_ns, 250);
	turn(MERGE_NEVER);
	EXPECT(1, 2, 3, 4, 5);
	assert_int_equal(rig.merge.watermark_ns, clock_ns - 10);
	assert_int_equal(rig.merge.late, 0);
}

/* What waited for its strings comes where it came in, with the time that it has. */
static void test_waited(void **unused)
{
	(void)unused;
	hand_over(1, 300, 0);
	hand_over(2, 100, EVENT_LATE);
	hand_over(3, 400, 0);
	raise_at(0, 9, 200);
	turn(MERGE_NEVER);
	EXPECT(9, 1, 2, 3);
	assert_int_equal(rig.out[2].header.ts, 100);
	assert_int_equal(rig.merge.late, 0);
}

/* A writer in between holds all others back, but not for ever; its event is late then. */
static void test_held(void **unused)
{
	(void)unused;
	begin(0, 1, 0, 0, "");
	raise_at(1, 2, clock_ns);
	turn(MERGE_NEVER);
	EXPECT();
	clock_ns += 499;
	turn(MERGE_NEVER);
	EXPECT();
	assert_int_equal(rig.reading.held, 0);
	clock_ns += 20;
	turn(MERGE_NEVER);
	EXPECT(2);
	turn(MERGE_NEVER);
	assert_int_equal(rig.reading.held, 1);
	ring_exclusive_commit(&rig.writers[0], 1, clock_ns - 300);
	turn(MERGE_NEVER);
	EXPECT(2, 1);
	assert_int_equal(rig.merge.late, 1);
	assert_true(event_is_late(&rig.out[1].header));
	assert_int_equal(rig.out[1].header.ts, clock_ns - 300);
}

/* The event in between cannot be older than the last look at which there was none. */
static void test_floor_stays(void **unused)
{
	(void)unused;
	turn(MERGE_NEVER);
	begin(0, 1, 0, 0, "");
	raise_at(1, 2, clock_ns - 10);
	raise_at(1, 3, clock_ns);
	turn(MERGE_NEVER);
	EXPECT(2);
	ring_exclusive_commit(&rig.writers[0], 1, clock_ns);
	clock_ns += 10;
	turn(MERGE_NEVER);
	assert_int_equal(rig.count, 3);
	assert_int_equal(rig.merge.late, 0);
}

/* What is overwritten is counted to the last one, and what nobody wants is passed over. */
static void test_lost(void **unused)
{
	enum { EVENTS = 1000 };

	(void)unused;
	for (uint64_t i = 0; i < EVENTS; i++)
		raise_at(0, i, 100 + i);
	for (uint64_t i = 0; i < 3; i++) {
		assert_non_null(ring_exclusive_reserve(&rig.writers[1], 1));
		ring_exclusive_commit(&rig.writers[1], 2, 100 + i);
	}
	turn(MERGE_NEVER);
	assert_in_range(rig.count, 1, EVENTS - 1);
	assert_int_equal(rig.out[rig.count - 1].number, EVENTS - 1);
	assert_int_equal(stream_reader_lost(&rig.readers[0]) + rig.count, EVENTS);
	assert_int_equal(stream_reader_lost(&rig.readers[1]), 0);
}

/* An id that nobody has announced may be that of a type which is being told of: it is looked at twice. */
static void test_nonsense(void **unused)
{
	(void)unused;
	raise_at(0, 1, 100);
	assert_non_null(ring_exclusive_reserve(&rig.writers[0], 1));
	ring_exclusive_commit(&rig.writers[0], 77, 200);
	raise_at(1, 2, 300);
	turn(MERGE_NEVER);
	EXPECT(1);
	assert_int_equal(rig.readers[0].elements.failed, 0);
	turn(MERGE_NEVER);
	EXPECT(1, 2);
	assert_true(rig.readers[0].elements.failed < 0);
}

/* What was raised before the beginning, or after the end, is left out. */
static void test_window(void **unused)
{
	(void)unused;
	rig.reading.begin_ns = 200;
	rig.reading.end_ns = 300;
	raise_at(0, 1, 100);
	raise_at(0, 2, 200);
	raise_at(0, 3, 301);
	raise_at(1, 4, 300);
	for (int i = 0; i < RINGS; i++)
		rig.readers[i].is_closed = true;
	turn(MERGE_NEVER);
	EXPECT(2, 4);
	assert_int_equal(rig.readers[0].input.floor_ns, MERGE_NEVER);
	assert_int_equal(rig.readers[1].input.floor_ns, MERGE_NEVER);
}

/* A limit cuts a turn, and nothing is lost or late by that. */
static void test_limit(void **unused)
{
	(void)unused;
	for (uint64_t i = 0; i < 20; i++)
		raise_at((int)(i % 2), i, 100 + i);
	queue_settle(&rig.queue, MERGE_NEVER);
	for (int i = 0; i < 4; i++) {
		merge_turn(&rig.merge, 6, on_event, NULL);
		assert_int_equal(rig.merge.has_more, i < 3);
	}
	assert_int_equal(rig.count, 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(rig.out[i].number, i);
	assert_int_equal(rig.merge.late, 0);
}

/* A queue without room pushes on, and a ring that is removed takes its event with it. */
static void test_full(void **unused)
{
	uint32_t put = 0;

	(void)unused;
	for (; !queue_is_full(&rig.queue); put++)
		hand_over(put, 1000 - put % 2, 0);
	turn(0);
	EXPECT();
	queue_push_on(&rig.queue);
	turn(0);
	assert_in_range(rig.count, 1, OUT_MAX);
	assert_false(queue_is_full(&rig.queue));
	raise_at(0, 7, 2000);
	begin(1, 1, 0, 0, "");
	turn(0);
	assert_non_null(rig.readers[0].input.head);
	merge_remove(&rig.merge, &rig.readers[0].input);
	assert_int_equal(rig.merge.heap_count, 0);
	assert_int_equal(rig.merge.input_count, 2);
}

/* A counter of 3 GHz that runs 100 parts in a million too fast from the middle on. */
static void test_clock(void **unused)
{
	struct stream_clock clock = { .count = 0 };
	uint64_t raw = 7000000000, ns = 1000000000, last = 0;

	(void)unused;
	assert_int_equal(stream_clock_ns(&clock, raw), 0);
	for (int i = 0; i < 400; i++) {
		uint64_t step = i < 200 ? 15000000 : 15001500; /* in 5 ms */

		stream_clock_note(&clock, raw, ns);
		stream_clock_note(&clock, raw - 5, ns + 5); /* nonsense */
		for (uint64_t j = 0; j < 10; j++) {
			uint64_t at = stream_clock_ns(&clock, raw + step * j / 10), right = ns + 500000 * j;
			uint64_t error = at > right ? at - right : right - at;

			/* Right after the change it follows what was before. */
			assert_true(i < 2 || error < (i >= 199 && i < 245 ? 600 : 50));
			assert_true(i < 2 || at + 600 > last);
			last = at;
		}
		raw += step;
		ns += 5000000;
	}
	assert_in_range(stream_clock_ns(&clock, 7000000000 + 1500000000), 1499999900, 1500000100);
	assert_in_range(stream_clock_ns(&clock, 7000000000 - 3000000), 998999900, 999000100);
}

/* Who looks seldom, now and then, and reads the clock some ns off, is right all the same. */
static void test_clock_seldom(void **unused)
{
	static const uint64_t pauses_ms[] = { 5, 120, 3, 300, 1, 700, 7, 7, 90, 250 };
	struct stream_clock clock = { .count = 0 };
	uint64_t raw = 7000000000, ns = 1000000000, last = 0;

	(void)unused;
	stream_clock_note(&clock, raw, ns);
	stream_clock_note(&clock, raw + 3000000, ns + 1000000);
	for (int i = 0; i < 300; i++) {
		uint64_t pause = pauses_ms[i % 10] * 1000000;

		for (uint64_t j = 1; j <= 10; j++) {
			uint64_t at = stream_clock_ns(&clock, raw + pause * 3 * j / 10), right = ns + pause * j / 10;
			uint64_t error = at > right ? at - right : right - at;

			assert_true(i < 4 || error < 1000);
			assert_true(at >= last);
			last = at;
		}
		ns += pause;
		raw += pause * 3;
		stream_clock_note(&clock, raw, ns + (i % 3) * 20);
	}
}

/* What it is off by, for a suspended machine or a bad look, is made good soon, and does not come back. */
static void test_clock_off(void **unused)
{
	struct stream_clock clock = { .count = 0 };
	uint64_t raw = 7000000000, ns = 1000000000, last = 0;

	(void)unused;
	for (int i = 0; i < 200; i++) {
		stream_clock_note(&clock, raw, ns);
		for (int j = 0; j < 10; j++) {
			uint64_t at = stream_clock_ns(&clock, raw + 1500000 * j);

			assert_true(at >= last);
			last = at;
		}
		raw += 15000000;
		ns += 5000000;
		if (i == 100)
			ns += 7000000;
		if (i == 150)
			ns -= 4000000;
	}
	assert_in_range(stream_clock_ns(&clock, raw + 300000000), ns + 100000000 - 1500000, ns + 100000000 + 1500000);
}

/* As often as the fastest ring needs it, and again seldom when that has been still for a while. */
static void test_pace(void **state)
{
	const struct pace_ring still = { 1 << 14, 0 }, fast = { 1 << 14, 1 << 13 }, mad = { 1 << 14, 1ull << 40 };
	uint64_t wait = pace_begin(PACE_MAX_NS);

	(void)state;
	assert_int_equal(wait, PACE_MAX_NS);
	assert_int_equal(pace_limit(wait, &still, wait), PACE_MAX_NS);
	assert_int_equal(pace_limit(wait, &fast, wait), PACE_MAX_NS / 2); /* half full: half as long */
	assert_int_equal(pace_limit(wait, &fast, 0), PACE_MIN_NS);
	assert_int_equal(pace_limit(wait, &mad, wait), PACE_MIN_NS);
	assert_int_equal(pace_limit(wait, &mad, UINT64_MAX), wait);
	wait = PACE_MIN_NS;
	for (int i = 0; i < 60; i++) {
		assert_true(pace_begin(wait) > wait || wait == PACE_MAX_NS);
		wait = pace_begin(wait);
	}
	assert_int_equal(wait, PACE_MAX_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_floor_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_clock_seldom),
		cmocka_unit_test(test_clock_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
