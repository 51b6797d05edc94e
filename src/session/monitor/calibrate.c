// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes up elements to calibrate with: numbers of which some are the same as in others, as ids are, and short texts.
 * What depends on what really comes - how many runs are open, how long values are - they do not show.
 */

#include "session/monitor/calibrate.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "monitor/evaluations.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ELEMENTS = 4000,
	LEFT_OUT = ELEMENTS / 200, /* interruptions, which are no cost of ours */
	STEP_NS = 10000,           /* from one to the next */
	DISTINCT = ELEMENTS,       /* values of a number */
	MERGE_NS = 250,            /* reading, merging, and two looks at the clock */
	SAFETY = 2,
};

static uint32_t draw_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 16);
}

static void make_up(const struct event_type *type, uint64_t *seed, uint8_t *record)
{
	struct event_header *header = (struct event_header *)(void *)record;

	header->ts += STEP_NS;
	header->seq++;
	header->pid = 1;
	header->tid = 1 + draw_random(seed) % 4;
	for (uint32_t i = 0; i < type->field_count; i++) {
		uint64_t value = draw_random(seed) % DISTINCT;

		if (type->fields[i].value == EVENT_STRING)
			record[type->fields[i].offset] = (uint8_t)('a' + value % 26);
		else if (type->fields[i].value == EVENT_F64)
			*(double *)(void *)(record + type->fields[i].offset) = (double)value;
		else
			memcpy(record + type->fields[i].offset, &value, sizeof value);
	}
}

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

struct rehearsal {
	const struct calibrate_row *rows;
	void **twins;
	size_t count;
	uint64_t *took;
	uint8_t *record;
};

static bool concerns(const struct calibrate_row *row, uint32_t sensor)
{
	return row->sensor == MONITOR_ANY_SENSOR || row->sensor == sensor;
}

static int make_twins(struct rehearsal *rehearsal, uint32_t sensor, const char **name)
{
	for (size_t i = 0; i < rehearsal->count; i++) {
		const struct calibrate_row *row = &rehearsal->rows[i];

		if (!concerns(row, sensor))
			continue;
		*name = row->kind->name;
		if (!row->kind->twin)
			return -ENOTSUP;
		rehearsal->twins[i] = row->kind->twin(row->context);
		if (!rehearsal->twins[i])
			return -ENOMEM;
	}
	return 0;
}

static uint64_t rehearse(struct rehearsal *rehearsal, const struct event_type *type, uint32_t sensor)
{
	struct event_header *header = (struct event_header *)(void *)rehearsal->record;
	uint64_t seed = 88172645463325252u;

	header->type = sensor;
	header->cpu = EVENT_NO_CPU;
	header->ts = clock_now_ns();
	for (int i = 0; i < ELEMENTS; i++) {
		make_up(type, &seed, rehearsal->record);
		const struct monitor_element element = {
			.sensor = sensor,
			.pid = header->pid,
			.tid = header->tid,
			.cpu = header->cpu,
			.at_ns = header->ts,
			.data = rehearsal->record,
			.bytes = type->record_bytes,
		};
		uint64_t begin = clock_now_ns();

		for (size_t row = 0; row < rehearsal->count; row++)
			if (rehearsal->twins[row])
				monitor_evaluate(rehearsal->rows[row].kind, rehearsal->twins[row], &element);
		rehearsal->took[i] = clock_now_ns() - begin;
	}
	qsort(rehearsal->took, ELEMENTS, sizeof *rehearsal->took, compare_times);
	return rehearsal->took[ELEMENTS - 1 - LEFT_OUT];
}

int calibrate_cost(const struct calibrate_row *rows, size_t count, const struct stream_want *want,
		   struct calibrate_cost *cost)
{
	struct rehearsal rehearsal = {
		.rows = rows,
		.twins = alloc_zero(count, sizeof(void *)),
		.count = count,
		.took = alloc_zero(ELEMENTS, sizeof(uint64_t)),
		.record = alloc_zero(want->type->record_bytes, 1),
	};
	int result = -ENOMEM;

	if (rehearsal.twins && rehearsal.took && rehearsal.record)
		result = make_twins(&rehearsal, want->number, &cost->culprit);
	if (!result)
		cost->ns = SAFETY * (rehearse(&rehearsal, want->type, want->number) + MERGE_NS);
	for (size_t i = 0; rehearsal.twins && i < count; i++)
		if (rehearsal.twins[i] && rows[i].kind->release)
			rows[i].kind->release(rehearsal.twins[i]);
	alloc_free(rehearsal.twins);
	alloc_free(rehearsal.took);
	alloc_free(rehearsal.record);
	return result;
}
