// SPDX-License-Identifier: BSD-2-Clause
/*
 * A ring in memory that somebody else writes: its control block and data are the input, and what follows changes them
 * while they are read. Every reader comes to an end, and hands out nothing but what lies in the ring.
 */

#include "ring/elements.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SUB_UNITS = 64,
	SUB_COUNT = 4,
	CONTROL_BYTES = sizeof(struct ring_control) + SUB_COUNT * sizeof(uint64_t),
	DATA_BYTES = SUB_UNITS * SUB_COUNT * RING_UNIT_BYTES,
	WORDS = (CONTROL_BYTES + DATA_BYTES) / 8,
	IDS = 6,
	CALLS_MAX = 4096,
};

static const uint32_t units[IDS] = { RING_ELEMENT_NONE, 1, 2, 3, 4, 5 };
static uint64_t memory[WORDS];

static void promise(bool kept)
{
	if (!kept)
		abort();
}

/* The next change: which word, and what it becomes. */
static bool change(const uint8_t **data, const uint8_t *end)
{
	uint16_t word;

	if (end - *data < (ptrdiff_t)(sizeof word + sizeof *memory))
		return false;
	memcpy(&word, *data, sizeof word);
	memcpy(&memory[word % WORDS], *data + sizeof word, sizeof *memory);
	*data += sizeof word + sizeof *memory;
	return true;
}

static void read_elements(struct ring_elements *reader)
{
	struct ring_element element;
	int result = ring_elements_look(reader, &element);
	const uint64_t *first = reader->ring.data;

	promise(result >= 0 || reader->failed == result);
	if (result != 1)
		return;
	promise(element.id < IDS && element.units == units[element.id]);
	promise(element.payload >= first && element.payload + element.units <= first + SUB_UNITS * SUB_COUNT);
	ring_elements_take(reader);
}

static void read_parts(const struct ring *ring, struct ring_cursor *cursor)
{
	uint64_t buffer[SUB_UNITS];
	struct ring_part part;

	if (ring_peek(ring, cursor, buffer, &part) != 1)
		return;
	promise(part.bytes <= sizeof buffer && part.bytes > sizeof(struct ring_packet) && part.skip <= part.bytes);
	promise(part.events < SUB_UNITS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	size_t given = size < sizeof memory ? size : sizeof memory;
	struct ring_memory where = { memory, (char *)memory + CONTROL_BYTES, CONTROL_BYTES, DATA_BYTES };
	struct ring ring = { (void *)memory, where.data, SUB_UNITS, SUB_COUNT }, described;
	struct ring_elements reader;
	struct ring_cursor cursor = { 0 };

	memset(memory, 0, sizeof memory);
	memcpy(memory, data, given);
	data += given;
	if (ring_describe(&where, &described) == 0)
		promise((uint64_t)described.sub_units * described.sub_count <= SUB_UNITS * SUB_COUNT);
	ring_elements_init(&reader, &ring, units, IDS);
	for (int i = 0; i < CALLS_MAX; i++) {
		read_elements(&reader);
		read_parts(&ring, &cursor);
		ring_elements_in_flight(&reader);
		if (i % 16 == 15)
			ring_elements_newest(&reader);
		if (!change(&data, end) && i > 64)
			break;
	}
	return 0;
}
