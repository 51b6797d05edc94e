// SPDX-License-Identifier: BSD-2-Clause
/* Listens to a sensor registry for a while, and computes the rates of processes. */

#include "cmd/sensors/live.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ring/order.h"
#include "sensor/pattern.h"
#include "sensor/stream/process.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MS = 2000, LOOK_MS = 200 };

static bool is_in_flight(const struct ring *ring)
{
	struct ring_elements reader;

	ring_elements_init(&reader, ring, NULL, 0);
	return ring_elements_in_flight(&reader);
}

static void look_at_live_process(struct live_sensors_process *process)
{
	const struct sensor_slot *slot;
	uint64_t now_ns = clock_now_ns(); /* since the machine was started */

	process->events = process->dropped = process->unfinished = 0;
	if (!process->area)
		return;
	slot = (const struct sensor_slot *)((char *)process->area->memory + sensor_slots_offset());
	process->dropped = __atomic_load_n(&slot->dropped, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < process->area->shape.slots; i++) {
		struct ring ring = sensor_mapping_ring(process->area, i);

		process->events += ring_written(&ring);
		process->unfinished += is_in_flight(&ring);
		process->is_damaged |= !stream_count_may_be(process->events, now_ns);
	}
	process->is_damaged |= !stream_count_may_be(process->dropped, now_ns);
	if (process->is_damaged)
		process->events = process->dropped = 0;
}

static int add_process(struct live_sensors *live, const struct sensor_notice *notice)
{
	if (alloc_grow(&live->processes, &live->process_capacity, live->process_count, sizeof *live->processes)) {
		sensor_mapping_free(notice->area);
		return -ENOMEM;
	}
	live->processes[live->process_count++] =
		(struct live_sensors_process){ .told = *notice->process, .area = notice->area, .fault = notice->fault };
	return 0;
}

static int add_left_out(struct live_sensors *live, const struct sensor_notice *notice)
{
	int result = add_process(live, notice);

	if (result)
		return result;
	live->processes[live->process_count - 1].refusal = alloc_text(notice->text);
	return live->processes[live->process_count - 1].refusal ? 0 : -ENOMEM;
}

static int add_live_type(struct live_sensors *live, const struct sensor_notice *notice)
{
	const struct event_catalog_access access = { .files = EVENT_FILES_NONE, .is_foreign = true };
	struct live_type type = { .id = notice->type->id, .readers = notice->type->readers };

	if (!live->process_count || live->processes[live->process_count - 1].told.number != notice->number)
		return -EBADMSG;
	type.process = live->process_count - 1;
	type.units = notice->type->units;
	type.is_absent = notice->type->is_absent && !live->processes[type.process].told.is_ended;
	type.text = alloc_text(notice->text);
	type.catalog = event_catalog_new();
	if (!type.text || !type.catalog ||
	    alloc_grow(&live->types, &live->type_capacity, live->type_count, sizeof *live->types)) {
		event_catalog_free(type.catalog);
		alloc_free(type.text);
		return -ENOMEM;
	}
	event_catalog_restrict(type.catalog, &access);
	event_catalog_parse(type.catalog, "sensor", notice->text, strlen(notice->text), NULL);
	type.type = event_catalog_get(type.catalog, 0);
	live->types[live->type_count++] = type;
	return type.type ? 0 : -EBADMSG;
}

static int listen_to(struct sensor_observer *observer, const char *pattern, struct live_sensors *live)
{
	for (;;) {
		struct sensor_notice notice;
		int result = sensor_observer_next(observer, ANSWER_MS, &notice);

		if (result == 0)
			return -ETIMEDOUT;
		if (result < 0 || notice.kind == SENSOR_END)
			return result < 0 ? result : 0;
		if (notice.kind == SENSOR_PROCESS)
			result = add_process(live, &notice);
		else if (notice.kind == SENSOR_LEFT_OUT &&
			 sensor_pattern_means_program(pattern, notice.process->comm, notice.process->path))
			result = add_left_out(live, &notice);
		else if (notice.kind == SENSOR_TYPE)
			result = add_live_type(live, &notice);
		if (result < 0)
			return result;
	}
}

/* The moments that the directory has noted; the one that it writes next may be in construction. */
static void take_clock(const struct sensor_observer *observer, struct live_sensors *live)
{
	const struct sensor_clock *clock = sensor_observer_clock(observer);
	uint64_t count = clock ? ring_order_load_acquire(&clock->count) : 0;
	uint64_t first = count > SENSOR_CLOCK_POINTS - 1 ? count - (SENSOR_CLOCK_POINTS - 1) : 0;

	for (uint64_t i = first; i < count; i++) {
		const struct sensor_clock_point *point = &clock->points[i % SENSOR_CLOCK_POINTS];

		stream_clock_note(&live->clock, ring_order_load(&point->tsc), ring_order_load(&point->ns));
	}
}

static void measure_rates(struct live_sensors *live)
{
	struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	uint64_t start_ns = clock_now_ns();

	for (size_t i = 0; i < live->process_count; i++) {
		look_at_live_process(&live->processes[i]);
		live->processes[i].events_before = live->processes[i].events;
	}
	if (live->process_count)
		nanosleep(&pause, NULL);
	for (size_t i = 0; i < live->process_count; i++) {
		struct live_sensors_process *process = &live->processes[i];

		look_at_live_process(process);
		process->rate =
			(double)(process->events - process->events_before) * 1e9 / (double)(clock_now_ns() - start_ns);
	}
}

int live_sensors_read(const char *path, const char *pattern, struct asterism_diag *diag, struct live_sensors *live)
{
	struct sensor_observer *observer;
	int result;

	*live = (struct live_sensors){ .processes = NULL };
	result = sensor_observer_open(path, NULL, diag, &observer);
	if (result)
		return result;
	result = sensor_observer_ask(observer, pattern, SENSOR_AREAS | SENSOR_ENDED_TOO);
	if (!result)
		result = listen_to(observer, pattern, live);
	if (result)
		diag_error(diag, NULL, result, "unexpected answer from the sensor registry: %s",
			   sensor_observer_reason(observer, result));
	else
		take_clock(observer, live);
	sensor_observer_close(observer);
	if (result)
		return result;
	measure_rates(live);
	return 0;
}

void live_sensors_fini(struct live_sensors *live)
{
	for (size_t i = 0; i < live->type_count; i++) {
		event_catalog_free(live->types[i].catalog);
		alloc_free(live->types[i].text);
	}
	for (size_t i = 0; i < live->process_count; i++) {
		sensor_mapping_free(live->processes[i].area);
		alloc_free(live->processes[i].refusal);
	}
	alloc_free(live->types);
	alloc_free(live->processes);
}
