// SPDX-License-Identifier: BSD-2-Clause
/* The ring with real threads, and what it does where a size is wrong or somebody wrote nonsense into it. */

#include "ring/ring.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SUB_UNITS = 512, SUB_COUNT = 8, WRITERS = 3, EVENTS = 700000, PAYLOAD_MAX = 40 };

static struct ring ring_make(void)
{
	struct ring ring = { .sub_units = SUB_UNITS, .sub_count = SUB_COUNT };

	ring.control = calloc(1, ring_control_bytes(SUB_COUNT));
	ring.data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	assert_non_null(ring.control);
	assert_non_null(ring.data);
	return ring;
}

static void ring_drop(struct ring *ring)
{
	free(ring->control);
	free(ring->data);
}

struct writer {
	const struct ring *ring;
	uint32_t tid;
	uint64_t written, dropped;
};

/* Payload: number, then as many words as the number says, each number * tid. */
static void *write_all(void *context)
{
	struct writer *writer = context;
	struct ring_context who = { .tid = writer->tid, .pid = 7, .comm = "writer" };

	for (uint64_t i = 1; i <= EVENTS; i++) {
		uint64_t payload[PAYLOAD_MAX + 1] = { i };
		uint32_t words = (uint32_t)(i * writer->tid % PAYLOAD_MAX);

		for (uint32_t j = 0; j < words; j++)
			payload[1 + j] = i * writer->tid;
		int result = ring_put(writer->ring, &who, (uint16_t)(1 + words), payload, 1 + words);

		writer->written += result == 0;
		writer->dropped += result != 0;
	}
	return NULL;
}

struct reading {
	uint64_t last[WRITERS + 1]; /* number, per tid */
	uint64_t last_ts, events;
};

static void check(struct reading *reading, const uint64_t *buffer, const struct ring_part *part)
{
	const struct ring_packet *packet = (const void *)buffer;
	uint32_t tid = 0, unit = RING_HEADER_UNITS, end = part->bytes / RING_UNIT_BYTES;
	uint64_t events = 0;

	assert_true(packet->timestamp_begin >= reading->last_ts);
	while (unit < end) {
		uint32_t id = buffer[unit] & UINT16_MAX;
		uint64_t ts = buffer[unit] >> 16;

		assert_true(ts >= (reading->last_ts & UINT64_MAX >> 16));
		reading->last_ts = ts;
		if (id == RING_ID_CONTEXT) {
			tid = (uint32_t)buffer[unit + 1];
			assert_in_range(tid, 1, WRITERS);
			assert_string_equal((const char *)&buffer[unit + 2], "writer");
			unit += RING_CONTEXT_UNITS;
			continue;
		}
		uint64_t number = buffer[unit + 1];

		assert_int_equal(id, 1 + number * tid % PAYLOAD_MAX);
		assert_true(number > reading->last[tid]);
		reading->last[tid] = number;
		for (uint32_t i = 0; i + 1 < id; i++)
			assert_int_equal(buffer[unit + 2 + i], number * tid);
		unit += 1 + id;
		events++;
	}
	assert_int_equal(unit, end);
	assert_int_equal(events, part->events);
	reading->events += events;
	assert_true(packet->timestamp_end >= reading->last_ts);
}

static void test_threads(void **unused)
{
	struct ring ring = ring_make();
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	struct reading reading = { 0 };
	struct ring_cursor cursor = { 0 };
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], written = 0, dropped = 0;
	int result;

	(void)unused;
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .ring = &ring, .tid = i + 1 };
		assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
	}
	while (ring_written(&ring) + ring_dropped(&ring) < (uint64_t)WRITERS * EVENTS) {
		result = ring_next(&ring, &cursor, buffer, &part);
		assert_true(result >= 0);
		if (result)
			check(&reading, buffer, &part);
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		written += writers[i].written;
		dropped += writers[i].dropped;
	}
	while ((result = ring_finish(&ring, &cursor, buffer, &part)) == 1)
		check(&reading, buffer, &part);
	assert_int_equal(result, 0);
	assert_int_equal(ring_written(&ring), written);
	assert_int_equal(ring_dropped(&ring), dropped);
	assert_int_equal(reading.events + cursor.lost, written);
	assert_int_equal(written + dropped, (uint64_t)WRITERS * EVENTS);
	ring_drop(&ring);
}

static void put_some(const struct ring *ring, uint32_t count)
{
	struct ring_context who = { .tid = 1, .comm = "some" };
	uint64_t payload[1] = { 0 };

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ring_put(ring, &who, 1, payload, 1), 0);
}

static uint64_t time_now;

static uint64_t planted_time(void)
{
	return time_now;
}

/* The times of all events of a part, each from its 48 bits and the one before, as every reader of packets has them. */
static uint32_t read_times(const uint64_t *buffer, const struct ring_part *part, uint64_t *times)
{
	uint64_t ts = ((const struct ring_packet *)(const void *)buffer)->timestamp_begin;
	uint32_t events = 0;

	for (uint32_t at = RING_HEADER_UNITS; at < part->bytes / RING_UNIT_BYTES;) {
		bool is_context = (buffer[at] & UINT16_MAX) == RING_ID_CONTEXT;

		ts += ((buffer[at] >> 16) - ts) & (UINT64_MAX >> 16);
		if (!is_context)
			times[events++] = ts;
		at += is_context ? RING_CONTEXT_UNITS : 2;
	}
	return events;
}

/* An event's word has 48 bits of its time. However long a ring was idle, the whole time can be told. */
static void test_idle(void **unused)
{
	static const uint64_t hour = UINT64_C(3600) * 1000000000;
	const uint64_t when[] = { 5, 6, 19 * hour, 20 * hour, 79 * hour, 79 * hour + 1, 400 * hour, 100000 * hour };
	enum { WHEN = sizeof when / sizeof *when };
	struct ring ring = ring_make();
	struct ring_cursor cursor = { 0 };
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], times[SUB_UNITS];
	uint32_t count = 0;

	(void)unused;
	ring.now = planted_time;
	for (uint32_t i = 0; i < WHEN; i++) {
		time_now = when[i];
		put_some(&ring, 1);
	}
	while (ring_finish(&ring, &cursor, buffer, &part) == 1) {
		uint32_t events = read_times(buffer, &part, times);

		for (uint32_t i = 0; i < events; i++)
			assert_int_equal(times[i], when[count + i]);
		count += events;
	}
	assert_int_equal(count, WHEN);
	assert_int_equal(cursor.lost, 0);
	ring_drop(&ring);
}

static void test_too_large(void **unused)
{
	struct ring ring = ring_make();
	struct ring_context who = { .tid = 1 };
	struct ring_part part;
	uint64_t payload[SUB_UNITS] = { 0 }, buffer[SUB_UNITS];
	uint32_t most = SUB_UNITS - RING_HEADER_UNITS - RING_CONTEXT_UNITS - 2;

	(void)unused;
	assert_int_equal(ring_drain(&ring, buffer, &part), 0);
	assert_int_equal(ring_put(&ring, &who, 1, payload, most + 1), -EMSGSIZE);
	assert_int_equal(ring_put(&ring, &who, 1, payload, UINT32_MAX), -EMSGSIZE);
	assert_int_equal(ring_dropped(&ring), 2);
	assert_int_equal(ring_put(&ring, &who, 1, payload, most), 0);
	assert_int_equal(ring_put(&ring, &who, 1, payload, most), 0);
	assert_int_equal(ring_read(&ring, 0, buffer, &part), 1);
	assert_int_equal(part.bytes, (SUB_UNITS - 1) * RING_UNIT_BYTES);
	assert_int_equal(ring_drain(&ring, buffer, &part), 1);
	assert_int_equal(part.events_before, 1);
	ring_drop(&ring);
}

/* Events of two units each in a part, what was handed out before left out. */
static uint64_t count_rest(const uint64_t *buffer, const struct ring_part *part)
{
	uint32_t at = part->skip ? part->skip / RING_UNIT_BYTES : RING_HEADER_UNITS;
	uint64_t events = 0;

	while (at < part->bytes / RING_UNIT_BYTES) {
		bool is_context = (buffer[at] & 0xffff) == RING_ID_CONTEXT;

		events += !is_context;
		at += is_context ? RING_CONTEXT_UNITS : 2;
	}
	assert_int_equal(at, part->bytes / RING_UNIT_BYTES);
	return events;
}

/* What comes slowly can be had before its sub-buffer is full, in pieces that make the whole. */
static void test_peek(void **unused)
{
	static const uint32_t steps[] = { 1, 1, 3, 0, 50, 2, 120, 1, 1, 300, 5, 0, 1 };
	struct ring ring = ring_make();
	struct ring_cursor cursor = { 0 };
	struct ring_part part = { 0 };
	uint64_t buffer[SUB_UNITS], written = 0, handed_out = 0;
	int result;

	(void)unused;
	assert_int_equal(ring_peek(&ring, &cursor, buffer, &part), 0);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		put_some(&ring, steps[i]);
		written += steps[i];
		while ((result = ring_peek(&ring, &cursor, buffer, &part)) == 1) {
			assert_int_equal(part.events_before, handed_out + cursor.lost);
			assert_int_equal(count_rest(buffer, &part), part.events);
			handed_out += part.events;
		}
		assert_int_equal(result, 0);
		assert_int_equal(handed_out + cursor.lost, written);
	}
	put_some(&ring, 1);
	assert_int_equal(ring_finish(&ring, &cursor, buffer, &part), 1);
	assert_int_equal(part.events, 1);
	assert_int_equal(ring_finish(&ring, &cursor, buffer, &part), 0);
	assert_int_equal(cursor.lost + handed_out + 1, written + 1);
	ring_drop(&ring);
}

/* A sub-buffer of which a part was handed out: full with nothing more in it, full with more, or gone. */
static void test_peek_then_next(void **unused)
{
	struct ring ring = ring_make();
	struct ring_cursor cursor = { 0 };
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], handed_out;
	uint32_t put = 0;

	(void)unused;
	put_some(&ring, 2);
	assert_int_equal(ring_peek(&ring, &cursor, buffer, &part), 1);
	assert_int_equal(part.skip, 0);
	assert_int_equal(part.events, 2);
	assert_int_equal(ring_next(&ring, &cursor, buffer, &part), 0);
	for (put = 2; ring_next(&ring, &cursor, buffer, &part) == 0; put++)
		put_some(&ring, 1);
	assert_true(part.skip > 0);
	assert_int_equal(part.events, put - 3); /* the last one has opened the next sub-buffer */
	assert_int_equal(count_rest(buffer, &part), part.events);
	assert_int_equal(ring_peek(&ring, &cursor, buffer, &part), 1);
	handed_out = put;
	put_some(&ring, 4000);
	while (ring_finish(&ring, &cursor, buffer, &part) == 1)
		handed_out += part.events;
	assert_true(cursor.lost > 0);
	assert_int_equal(handed_out + cursor.lost, put + 4000);
	ring_drop(&ring);
}

static void test_random_access(void **unused)
{
	struct ring ring = ring_make();
	struct ring_cursor cursor;
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], first, last, sum = 0;
	int result;

	(void)unused;
	assert_false(ring_range(&ring, &first, &last));
	put_some(&ring, 4000);
	assert_true(ring_range(&ring, &first, &last));
	assert_int_equal(last - first, SUB_COUNT - 1);
	assert_int_equal(ring_read(&ring, first - 1, buffer, &part), -ESTALE);
	assert_int_equal(ring_read(&ring, last, buffer, &part), 0);
	assert_int_equal(ring_read(&ring, last + 1, buffer, &part), 0);
	assert_int_equal(ring_read(&ring, first, buffer, &part), 1);
	uint64_t before = part.events_before;

	ring_cursor_rewind(&ring, &cursor);
	while ((result = ring_finish(&ring, &cursor, buffer, &part)) == 1)
		sum += part.events;
	assert_int_equal(result, 0);
	assert_int_equal(cursor.lost, 0);
	assert_int_equal(before + sum, 4000);
	cursor = (struct ring_cursor){ 0 };
	while ((result = ring_finish(&ring, &cursor, buffer, &part)) == 1)
		;
	assert_int_equal(cursor.lost, before);
	ring_drop(&ring);
}

/* A writer that died between reservation and commit. */
static void test_dead_writer(void **unused)
{
	struct ring ring = ring_make();
	struct ring_cursor cursor = { 0 };
	struct ring_context who = { .tid = 1 };
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], payload[1] = { 0 }, handed_out = 0;
	int result;

	(void)unused;
	put_some(&ring, 600);
	ring.control->commits[1] -= 2;
	assert_int_equal(ring_next(&ring, &cursor, buffer, &part), 1);
	handed_out += part.events;
	assert_int_equal(ring_next(&ring, &cursor, buffer, &part), 0);
	assert_int_equal(ring_next(&ring, &cursor, buffer, &part), 0);
	while ((result = ring_finish(&ring, &cursor, buffer, &part)) == 1)
		handed_out += part.events;
	assert_int_equal(result, 0);
	assert_true(cursor.lost > 200);
	assert_int_equal(handed_out + cursor.lost, 600);
	/* Its sub-buffer is not opened again; who would need it is turned away. */
	for (result = 0; result == 0;)
		result = ring_put(&ring, &who, 1, payload, 1);
	assert_int_equal(result, -EBUSY);
	assert_int_equal(ring_put(&ring, &who, 1, payload, 1), -EBUSY);
	assert_int_equal(ring_dropped(&ring), 2);
	ring_drop(&ring);
}

/* A ring of another process may hold anything. */
static void test_nonsense(void **unused)
{
	struct ring ring = ring_make();
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], seed = 1;
	struct ring_packet *packet = (void *)ring.data;

	(void)unused;
	put_some(&ring, 400);
	assert_int_equal(ring_read(&ring, 0, buffer, &part), 1);
	struct ring_packet good = *packet;

	packet->content_bits = UINT64_MAX;
	assert_int_equal(ring_read(&ring, 0, buffer, &part), -EBADMSG);
	*packet = good;
	packet->events_after = 0;
	packet->events_before = 1;
	assert_int_equal(ring_read(&ring, 0, buffer, &part), -EBADMSG);
	*packet = good;
	packet->packet_seq_num = 1;
	assert_int_equal(ring_read(&ring, 0, buffer, &part), -EBADMSG);
	for (int i = 0; i < 20000; i++) {
		struct ring_cursor cursor = { 0 };
		unsigned char *control = (void *)ring.control;

		for (int j = 0; j < 3; j++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			control[(seed >> 33) % ring_control_bytes(SUB_COUNT)] = (unsigned char)(seed >> 56);
			((unsigned char *)ring.data)[(seed >> 20) % sizeof *packet] = (unsigned char)(seed >> 48);
		}
		for (int j = 0; j < 3 * SUB_COUNT; j++)
			if (ring_finish(&ring, &cursor, buffer, &part) == 1)
				assert_in_range(part.bytes, sizeof *packet, (SUB_UNITS - 1) * RING_UNIT_BYTES);
	}
	ring_drop(&ring);
}

static void test_shapes(void **unused)
{
	(void)unused;
	assert_true(ring_shape_is_valid(256 * 1024, 2));
	assert_true(ring_shape_is_valid(256, 1024));
	assert_false(ring_shape_is_valid(128, 2));
	assert_false(ring_shape_is_valid(4096, 1));
	assert_false(ring_shape_is_valid(4096, 3));
	assert_false(ring_shape_is_valid(5000, 2));
	assert_false(ring_shape_is_valid(UINT64_C(1) << 33, 2));
	assert_false(ring_shape_is_valid(4096, UINT64_C(1) << 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),       cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_peek),          cmocka_unit_test(test_peek_then_next),
		cmocka_unit_test(test_random_access), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_shapes),        cmocka_unit_test(test_dead_writer),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
