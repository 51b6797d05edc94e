// SPDX-License-Identifier: BSD-2-Clause
/*
 * An area that an application fills with anything, and changes while it is merged with others' events. Every turn comes
 * to an end, what is handed out is a record, and times do not go back but where they are marked as late.
 *
 * The input: what an application says its types are (a byte each: units, or that the text is another's), flags (1: the
 * processor's counter, 2: somebody writes events as they should be, too), then words of the first ring, then changes:
 * which word (4 bytes), and what it becomes.
 */

#include "base/alloc.h"
#include "event/catalog.h"
#include "ring/exclusive.h"
#include "sensor/stream/merge.h"
#include "sensor/stream/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SLOTS = 2,
	SUB_UNITS = 256,
	SUB_COUNT = 2,
	TYPES = 3,
	TURNS = 256,
	EVENTS_A_TURN = 4096,
	RECORD_BYTES = 512,
	WRITES = 2
};

static const char *const texts[TYPES] = {
	"EVENT a \"one\" { x: u32 UNIT \"\" \"\", s: string[16] UNIT \"\" \"\" }",
	"EVENT b { y: i64, z: f64, f: bool }",
	"EVENT c {}",
};
static const uint32_t units[TYPES] = { 3, 3, 0 };
static const struct sensor_shape shape = { SLOTS, SUB_UNITS, SUB_COUNT };
static uint64_t clock_ns, last_ns, events;

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static uint64_t now(void)
{
	return clock_ns += 1000;
}

static int on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	(void)context;
	(void)input;
	promise((record->type & ~EVENT_LATE) < TYPES && memchr(record->comm, 0, sizeof record->comm));
	promise(event_is_late(record) || record->ts >= last_ns);
	if (!event_is_late(record))
		last_ns = record->ts;
	events++;
	return 0;
}

static void change(uint64_t *words, size_t count, const uint8_t **data, const uint8_t *end)
{
	for (int i = 0; i < 4 && end - *data >= 12; i++) {
		uint32_t word;

		memcpy(&word, *data, sizeof word);
		memcpy(&words[word % count], *data + sizeof word, sizeof *words);
		*data += 12;
	}
}

static void write_some(struct ring_exclusive *writer)
{
	for (uint16_t id = 1; id <= TYPES; id++) {
		uint64_t *payload = ring_exclusive_reserve(writer, units[id - 1]);

		memset(payload, id, units[id - 1] * sizeof *payload);
		ring_exclusive_commit(writer, id, now());
	}
}

static void turn_all(struct stream_process *process, struct ring_exclusive *writer, const uint8_t *data,
		     const uint8_t *end)
{
	uint64_t *words = process->area->memory;
	struct merge merge = { 0 };

	for (uint32_t i = 0; i < process->reader_count; i++)
		promise(merge_add(&merge, &process->readers[i].input) == 0);
	for (int i = 0; i < TURNS; i++) {
		promise(merge_turn(&merge, EVENTS_A_TURN, on_event, NULL) == 0);
		if (writer)
			write_some(writer);
		stream_process_dropped(process, now());
		stream_process_unfinished(process);
		change(words, sensor_area_bytes(&shape) / 8, &data, end);
		if (i == TURNS - 16) {
			for (uint32_t j = 0; j < process->reader_count; j++)
				process->readers[j].is_closed = true;
		}
	}
	merge_fini(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event_catalog *catalog;
	static struct stream_want items[TYPES];
	struct stream_wants wants = { items, TYPES };
	struct stream_reading reading = {
		.now = now, .visible_ns = 1, .hold_ns = 10000, .end_ns = MERGE_NEVER, .record_bytes = RECORD_BYTES
	};
	struct sensor_process told = { .number = 1, .pid = 1, .comm = "fuzz" };
	struct sensor_mapping *area = alloc_zero(1, sizeof *area);
	const uint8_t *end = data + size;
	struct stream_process *process;

	if (!catalog) {
		catalog = event_catalog_new();
		for (uint32_t i = 0; i < TYPES; i++) {
			promise(!event_catalog_parse(catalog, "t", texts[i], strlen(texts[i]), NULL));
			items[i] = (struct stream_want){ event_catalog_get(catalog, i),
							 i == 0   ? "a"
							 : i == 1 ? "b"
								  : "c",
							 i, 0 };
		}
	}
	if (size < TYPES + 1) {
		alloc_free(area);
		return 0;
	}
	clock_ns = last_ns = 0;
	*area = (struct sensor_mapping){ .bytes = sensor_area_bytes(&shape),
					 .shape = shape,
					 .clock = data[TYPES] & 1 ? RING_CLOCK_TSC : RING_CLOCK_MONOTONIC };
	area->memory = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	promise(area->memory != MAP_FAILED && stream_process_new(&told, area, &reading, &process) == 0);
	stream_process_join(process, &wants);
	for (uint32_t i = 0; i < TYPES; i++) {
		struct sensor_type type = { .number = 1, .id = i + 1, .units = data[i] & 4 ? data[i] : units[i] };

		stream_process_type(process, &type, texts[data[i] & 3 ? i : (i + 1) % TYPES], &wants, NULL);
	}
	uint8_t flags = data[TYPES];

	data += TYPES + 1;
	size_t room = sensor_ring_bytes(&shape), given = (size_t)(end - data) < room ? (size_t)(end - data) : room;
	struct ring ring = sensor_mapping_ring(area, 0);
	struct ring_exclusive writer;

	if (flags & WRITES) {
		ring_exclusive_init(&writer, ring.control, ring.data, SUB_UNITS, SUB_COUNT);
		ring_exclusive_own(&writer, &(struct ring_context){ .pid = 1, .tid = 1, .comm = "writer" });
	} else {
		memcpy(ring.control, data, given);
		data += given;
	}
	turn_all(process, flags & WRITES ? &writer : NULL, data, end);
	stream_process_free(process);
	return 0;
}
