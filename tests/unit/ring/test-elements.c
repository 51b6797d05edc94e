// SPDX-License-Identifier: BSD-2-Clause
/* The exclusive writer and the reader of elements, one thread after the other; and what the reader makes of nonsense.
 */

#include "ring/elements.h"
#include "ring/exclusive.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SUB_UNITS = 64, SUB_COUNT = 4, IDS = 6 };

#define HOUR_NS (UINT64_C(3600) * 1000000000)

/* Element i has i units of payload, and there is no element 0. */
static const uint32_t units[IDS] = { RING_ELEMENT_NONE, 1, 2, 3, 4, 5 };

struct rig {
	struct ring ring;
	struct ring_exclusive writer;
	struct ring_elements reader;
	uint64_t written, read, ts;
};

static void own(struct rig *rig, uint32_t tid, const char *comm)
{
	struct ring_context who = { .tid = tid, .pid = 9 };

	memcpy(who.comm, comm, strlen(comm));
	ring_exclusive_own(&rig->writer, &who);
}

static void rig_open(struct rig *rig)
{
	*rig = (struct rig){ .ring = { .sub_units = SUB_UNITS, .sub_count = SUB_COUNT } };
	rig->ring.control = calloc(1, ring_control_bytes(SUB_COUNT));
	rig->ring.data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	assert_non_null(rig->ring.control);
	assert_non_null(rig->ring.data);
	ring_exclusive_init(&rig->writer, rig->ring.control, rig->ring.data, SUB_UNITS, SUB_COUNT);
	own(rig, 7, "seven");
	ring_elements_init(&rig->reader, &rig->ring, units, IDS);
}

static void rig_close(struct rig *rig)
{
	free(rig->ring.control);
	free(rig->ring.data);
}

/* The payload of event number n: n in all units. Its id goes around. */
static uint16_t id_of(uint64_t n)
{
	return (uint16_t)(1 + n % (IDS - 1));
}

static void put_at(struct rig *rig, uint64_t ts)
{
	uint16_t id = id_of(rig->written);
	uint64_t *payload = ring_exclusive_reserve(&rig->writer, units[id]);

	assert_non_null(payload);
	for (uint32_t i = 0; i < units[id]; i++)
		payload[i] = rig->written;
	ring_exclusive_commit(&rig->writer, id, ts);
	rig->written++;
}

static void put(struct rig *rig, uint64_t count)
{
	while (count--)
		put_at(rig, rig->written);
}

/* Takes the next element, which must be number n, raised at ts. */
static void expect(struct rig *rig, uint64_t n, uint64_t ts)
{
	struct ring_element element;

	assert_int_equal(ring_elements_look(&rig->reader, &element), 1);
	assert_int_equal(element.number, n);
	assert_int_equal(element.ts, ts);
	assert_int_equal(element.id, id_of(n));
	assert_int_equal(element.units, units[id_of(n)]);
	for (uint32_t i = 0; i < element.units; i++)
		assert_int_equal(element.payload[i], n);
	assert_true(ring_elements_take(&rig->reader));
	assert_false(ring_elements_take(&rig->reader));
	rig->read++;
}

static void expect_none(struct rig *rig)
{
	struct ring_element element;

	assert_int_equal(ring_elements_look(&rig->reader, &element), 0);
	assert_false(ring_elements_take(&rig->reader));
	assert_false(ring_elements_in_flight(&rig->reader));
}

/* Each element can be read as soon as it is committed, over many laps. */
static void test_one_by_one(void **unused)
{
	struct rig rig;

	(void)unused;
	rig_open(&rig);
	expect_none(&rig);
	for (uint64_t i = 0; i < 1000; i++) {
		put_at(&rig, i * 10);
		expect(&rig, i, i * 10);
		expect_none(&rig);
		assert_int_equal(rig.reader.who.tid, 7);
		assert_int_equal(rig.reader.who.pid, 9);
		assert_string_equal(rig.reader.who.comm, "seven");
	}
	assert_int_equal(rig.reader.lost, 0);
	assert_int_equal(ring_written(&rig.ring), 1000);
	rig_close(&rig);
}

/* Reserves for borrower number tid; NULL payload: it is given up. */
static void borrow(struct rig *rig, uint32_t tid, uint64_t ts, bool is_committed)
{
	struct ring_borrower by = { .who = { .tid = tid, .pid = 9, .comm = "borrower" }, .now = ts };
	uint16_t id = id_of(rig->written);
	uint64_t *payload = ring_exclusive_borrow(&rig->writer, &by, units[id]);

	assert_non_null(payload);
	for (uint32_t i = 0; i < units[id]; i++)
		payload[i] = rig->written;
	if (!is_committed)
		return;
	ring_exclusive_return(&rig->writer, id, ts);
	rig->written++;
}

/* Many have a ring in turn, some give up, the owner comes back, and there are hours between: who it was is always
 * right, and the sub-buffers hold many of them. */
static void test_borrowed(void **unused)
{
	uint64_t ts = 0;
	struct rig rig;

	(void)unused;
	rig_open(&rig);
	srand(3);
	for (int i = 0; i < 20000; i++) {
		uint32_t tid = 100 + (uint32_t)rand() % 3;

		ts += rand() % 500 ? (uint64_t)(rand() % 100) : 7 * HOUR_NS;
		if (rand() % 4 == 0)
			borrow(&rig, 100 + (uint32_t)rand() % 3, ts, false);
		if (rand() % 16 == 0) {
			tid = 7;
			own(&rig, 7, "seven");
			put_at(&rig, ts);
		} else {
			borrow(&rig, tid, ts, true);
		}
		expect(&rig, rig.written - 1, ts);
		assert_int_equal(rig.reader.who.tid, tid);
		assert_string_equal(rig.reader.who.comm, tid == 7 ? "seven" : "borrower");
		expect_none(&rig);
	}
	assert_int_equal(rig.reader.lost, 0);
	rig_close(&rig);
}

/* Owners come and go without many sub-buffers being left unfilled. */
static void test_borrowed_in_one(void **unused)
{
	struct rig rig;

	(void)unused;
	rig_open(&rig);
	for (uint32_t i = 0; i < 5; i++)
		borrow(&rig, 100 + i % 2, i, true);
	assert_true(rig.writer.position < SUB_UNITS);
	for (uint32_t i = 0; i < 5; i++) {
		expect(&rig, i, i);
		assert_int_equal(rig.reader.who.tid, 100 + i % 2);
	}
	rig_close(&rig);
}

static void test_in_flight(void **unused)
{
	struct rig rig;
	struct ring_element element;

	(void)unused;
	rig_open(&rig);
	assert_false(ring_elements_in_flight(&rig.reader));
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t *payload = ring_exclusive_reserve(&rig.writer, 1);

		assert_true(ring_elements_in_flight(&rig.reader));
		assert_int_equal(ring_elements_look(&rig.reader, &element), 0);
		*payload = i;
		ring_exclusive_commit(&rig.writer, 1, i);
		assert_false(ring_elements_in_flight(&rig.reader));
		assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
		assert_true(ring_elements_take(&rig.reader));
	}
	rig_close(&rig);
}

/* What is reserved and never committed leaves no trace, wherever in a sub-buffer, even if the owner changes. */
static void test_abandoned(void **unused)
{
	struct rig rig;

	(void)unused;
	for (int changes = 0; changes < 2; changes++) {
		rig_open(&rig);
		for (uint64_t i = 0; i < 500; i++) {
			uint64_t *payload = ring_exclusive_reserve(&rig.writer, (uint32_t)(i * 7 % 40));

			assert_non_null(payload);
			*payload = UINT64_MAX;
			if (changes && i % 3 == 0)
				own(&rig, (uint32_t)i, "other");
			put(&rig, 1);
			expect(&rig, i, i);
			expect_none(&rig);
			assert_int_equal(rig.reader.who.tid, changes ? i - i % 3 : 7);
		}
		assert_int_equal(ring_written(&rig.ring), 500);
		assert_int_equal(rig.reader.lost, 0);
		rig_close(&rig);
	}
}

/* A reader that is too late knows exactly what it has lost. */
static void test_lost(void **unused)
{
	struct rig rig;
	struct ring_element element;

	(void)unused;
	rig_open(&rig);
	for (uint64_t round = 0; round < 200; round++) {
		put(&rig, round * 13 % 170);
		while (ring_elements_look(&rig.reader, &element) == 1) {
			assert_int_equal(element.number, rig.read + rig.reader.lost);
			expect(&rig, element.number, element.number);
		}
		assert_int_equal(rig.read + rig.reader.lost, rig.written);
	}
	assert_true(rig.reader.lost > 1000);
	assert_true(rig.read > 1000);
	rig_close(&rig);
}

/* An element that is overwritten while it is looked at cannot be taken. */
static void test_overwritten_meanwhile(void **unused)
{
	struct rig rig;
	struct ring_element element;

	(void)unused;
	rig_open(&rig);
	put(&rig, 1);
	assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
	put(&rig, 1000);
	assert_false(ring_elements_take(&rig.reader));
	assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
	assert_true(rig.reader.lost > 800);
	assert_int_equal(element.number, rig.reader.lost);
	rig_close(&rig);
}

static void test_late_reader(void **unused)
{
	struct rig rig;
	struct ring_element element;

	(void)unused;
	rig_open(&rig);
	ring_elements_newest(&rig.reader);
	put(&rig, 500);
	ring_elements_newest(&rig.reader);
	assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
	assert_in_range(element.number, 480, 499);
	assert_int_equal(rig.reader.lost, 0);
	ring_elements_init(&rig.reader, &rig.ring, units, IDS);
	ring_elements_oldest(&rig.reader);
	assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
	assert_in_range(element.number, 430, 470);
	for (uint64_t n = element.number; n < 500; n++)
		expect(&rig, n, n);
	assert_int_equal(rig.reader.lost, 0);
	expect_none(&rig);
	rig_close(&rig);
}

/* However long nothing happens, and where the clock goes back, the writer's does not. */
static void test_times(void **unused)
{
	struct rig rig;
	uint64_t hour = 1;

	(void)unused;
	rig_open(&rig);
	for (uint64_t i = 0; hour < 10000; i++, hour += i % 5 == 0 ? i * 7 : i % 2) {
		put_at(&rig, hour * HOUR_NS);
		expect(&rig, i, hour * HOUR_NS);
	}
	put_at(&rig, 5);
	expect(&rig, rig.written - 1, rig.writer.last_ts);
	assert_int_equal(rig.reader.lost, 0);
	rig_close(&rig);
}

static void test_too_large(void **unused)
{
	struct rig rig;
	struct ring_element element;
	uint32_t most = SUB_UNITS - RING_HEADER_UNITS - RING_CONTEXT_UNITS - 2;
	uint32_t large[] = { RING_ELEMENT_NONE, most };

	(void)unused;
	rig_open(&rig);
	assert_null(ring_exclusive_reserve(&rig.writer, most + 1));
	assert_null(ring_exclusive_reserve(&rig.writer, UINT32_MAX));
	assert_int_equal(ring_dropped(&rig.ring), 2);
	ring_elements_init(&rig.reader, &rig.ring, large, 2);
	for (uint64_t i = 0; i < 10; i++) {
		assert_non_null(ring_exclusive_reserve(&rig.writer, most));
		ring_exclusive_commit(&rig.writer, 1, i);
		assert_int_equal(ring_elements_look(&rig.reader, &element), 1);
		assert_int_equal(element.units, most);
		assert_true(ring_elements_take(&rig.reader));
	}
	rig_close(&rig);
}

/* Readers of whole sub-buffers read what it writes, and lose nothing that they do not know of. */
static void test_read_as_sub_buffers(void **unused)
{
	struct rig rig;
	struct ring_cursor cursor = { 0 };
	struct ring_part part;
	uint64_t buffer[SUB_UNITS], handed_out = 0, last = 0;
	int result;

	(void)unused;
	rig_open(&rig);
	for (uint64_t round = 0; round < 300; round++) {
		put(&rig, round * 13 % 70);
		while ((result = ring_peek(&rig.ring, &cursor, buffer, &part)) == 1) {
			const struct ring_packet *packet = (const void *)buffer;

			assert_true(packet->timestamp_begin >= last);
			assert_true(part.skip || packet->timestamp_begin == part.events_before);
			last = packet->timestamp_begin;
			handed_out += part.events;
		}
		assert_int_equal(result, 0);
		assert_int_equal(handed_out + cursor.lost, rig.written);
	}
	assert_true(cursor.lost > 0);
	rig_close(&rig);
}

static void test_form(void **unused)
{
	struct rig rig;
	struct ring found;

	(void)unused;
	rig_open(&rig);
	struct ring_memory memory = { rig.ring.control, rig.ring.data, ring_control_bytes(SUB_COUNT),
				      SUB_UNITS * SUB_COUNT * RING_UNIT_BYTES };

	assert_int_equal(ring_describe(&memory, &found), -EBADMSG);
	rig.ring.clock = RING_CLOCK_TSC;
	ring_name(&rig.ring);
	assert_int_equal(ring_describe(&memory, &found), 0);
	assert_ptr_equal(found.control, rig.ring.control);
	assert_int_equal(found.sub_units, SUB_UNITS);
	assert_int_equal(found.sub_count, SUB_COUNT);
	assert_int_equal(found.clock, RING_CLOCK_TSC);
	memory.data_bytes--;
	assert_int_equal(ring_describe(&memory, &found), -EBADMSG);
	memory.data_bytes++;
	memory.control_bytes--;
	assert_int_equal(ring_describe(&memory, &found), -EBADMSG);
	memory.control_bytes++;
	for (int bit = 0; bit < 64; bit++) {
		rig.ring.control->form ^= UINT64_C(1) << bit;
		int result = ring_describe(&memory, &found);

		/* Another clock, or a smaller shape, is as good as this one. */
		assert_true(result == 0 || result == -EBADMSG);
		assert_true(result || (uint64_t)found.sub_units * found.sub_count <= SUB_UNITS * SUB_COUNT);
		assert_true(bit < 17 || result == -EBADMSG);
		rig.ring.control->form ^= UINT64_C(1) << bit;
	}
	rig_close(&rig);
}

#define CONTROL(field) (offsetof(struct ring_control, field) / RING_UNIT_BYTES)
#define NEXT(field)    (SUB_UNITS + RING_HEADER_UNIT(field))
#define WORD(id, ts)   ((id) | (uint64_t)(ts) << RING_ID_BITS)

/* One word of the ring's memory is wrong when the reader has taken some elements of what is written. */
struct lie {
	const char *what;
	uint32_t taken;
	bool in_control;
	size_t unit;
	uint64_t value;
};

/* The first sub-buffer holds elements 0 to 11; they begin at units 16, 18, 21, 25, ... 58. */
static const struct lie lies[] = {
	{ "a counter that goes back", 3, true, CONTROL(commits), 18 },
	{ "an id that nobody announced", 0, false, 16, WORD(IDS, 0) },
	{ "an id that is none", 1, false, 18, WORD(UINT16_MAX, 1) },
	{ "an element that is larger than what is left", 11, false, 58, WORD(5, 11) },
	{ "a context after a context", 0, false, 16, WORD(RING_ID_CONTEXT, 0) },
	{ "a context that is cut off", 11, false, 58, WORD(RING_ID_CONTEXT, 11) },
	{ "a time that goes back", 3, false, 25, WORD(4, 1) },
	{ "a time too far ahead", 3, false, 25, WORD(4, UINT64_C(1) << 47 | 4) },
	{ "a sub-buffer without content", 3, false, RING_HEADER_UNIT(content_bits), 0 },
	{ "a full sub-buffer", 3, false, RING_HEADER_UNIT(content_bits), SUB_UNITS * 64 },
	{ "content of half a unit", 3, false, RING_HEADER_UNIT(content_bits), 61 * 64 - 32 },
	{ "events that are missing", 12, false, RING_HEADER_UNIT(events_after), 13 },
	{ "another sub-buffer's header", 12, false, NEXT(packet_seq_num), 5 },
	{ "a sub-buffer that begins too early", 12, false, NEXT(timestamp_begin), 10 },
	{ "fewer events before than were read", 12, false, NEXT(events_before), 11 },
	{ "more events before than there was room for", 12, false, NEXT(events_before), 65 },
};

static void test_lies(void **unused)
{
	struct rig rig;
	struct ring_element element;

	(void)unused;
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		const struct lie *lie = &lies[i];

		rig_open(&rig);
		put(&rig, 40);
		for (uint32_t n = 0; n < lie->taken; n++)
			expect(&rig, n, n);
		(lie->in_control ? (uint64_t *)rig.ring.control : rig.ring.data)[lie->unit] = lie->value;
		for (int again = 0; again < 3; again++) {
			if (ring_elements_look(&rig.reader, &element) != -EBADMSG)
				fail_msg("believed: %s", lie->what);
			assert_false(ring_elements_take(&rig.reader));
		}
		rig_close(&rig);
	}
}

/* Whatever the memory holds, and however it changes: every look ends, and what it hands out lies in the ring. */
static void test_nonsense(void **unused)
{
	struct rig rig;
	struct ring_element element;
	uint64_t seed = 1, given = 0, refused = 0;

	(void)unused;
	rig_open(&rig);
	for (int i = 0; i < 200000; i++) {
		bool is_control = seed >> 40 & 1;
		uint64_t *words = is_control ? (uint64_t *)rig.ring.control : rig.ring.data;
		size_t count = is_control ? ring_control_bytes(SUB_COUNT) / 8 : SUB_UNITS * SUB_COUNT;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (i % 4 == 0)
			words[(seed >> 33) % count] ^= UINT64_C(1) << (seed >> 58);
		put(&rig, i % 3);
		if (ring_elements_look(&rig.reader, &element) == 1) {
			assert_true(element.id < IDS && element.units == units[element.id]);
			assert_true(element.payload >= rig.ring.data);
			assert_true(element.payload + element.units <= rig.ring.data + SUB_UNITS * SUB_COUNT);
			given += ring_elements_take(&rig.reader);
		}
		ring_elements_in_flight(&rig.reader);
		refused += rig.reader.failed != 0;
		if (rig.reader.failed || i % 50 == 0) { /* it may stand far away, too, and wait */
			ring_elements_init(&rig.reader, &rig.ring, units, IDS);
			(i % 2 ? ring_elements_newest : ring_elements_oldest)(&rig.reader);
		}
	}
	assert_true(given > 1000);
	assert_true(refused > 1000);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_borrowed),
		cmocka_unit_test(test_borrowed_in_one),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_abandoned),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_overwritten_meanwhile),
		cmocka_unit_test(test_late_reader),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_read_as_sub_buffers),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
