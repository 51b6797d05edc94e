// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns and their watch over simulated time: producers that are as dense as they may be, evaluations that take as long
 * as they may. What was admitted is never late; and of every way to make elements late the cause is found.
 */

#include "../size.h"

#include "monitor/admission.h"
#include "monitor/watch.h"
#include "session/monitor/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { SENSORS_MAX = 3, RUNS = 10000, PERIODS = 60, US = 1000, WAKE_NS = 20 * US };

enum defect { NONE, LATE_WAKE, OVER_COST, OVER_RATE, UNDECLARED, HELD, LATE_ELEMENT, NEWCOMER, DEFECTS };

static const enum watch_cause expected[DEFECTS] = {
	[LATE_WAKE] = WATCH_LATE_WAKE,   [OVER_COST] = WATCH_OVER_COST, [OVER_RATE] = WATCH_OVER_RATE,
	[UNDECLARED] = WATCH_UNDECLARED, [HELD] = WATCH_HELD,           [LATE_ELEMENT] = WATCH_HELD,
	[NEWCOMER] = WATCH_NEWCOMER,
};

struct producer {
	uint64_t phase_ns, made;
	uint64_t next_ns, last_ns;
	bool is_dense; /* else it takes its time now and then */
};

struct world {
	struct admission admission;
	struct admission_sensor sensors[SENSORS_MAX];
	struct watch_sensor watched[SENSORS_MAX];
	struct producer producers[SENSORS_MAX];
	struct watch watch;
	enum defect defect;
	uint64_t now, end, seed;
	uint64_t held_until;
	bool planted;
};

static uint64_t draw(struct world *world, uint64_t below)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 7;
	world->seed ^= world->seed << 17;
	return world->seed % below;
}

static void next(struct world *world, uint32_t index)
{
	const struct jcs *stream = &world->sensors[index].stream;
	struct producer *producer = &world->producers[index];
	uint64_t by_distance = producer->made * stream->distance, by_period = producer->made * stream->period;

	by_period = by_period > stream->earliness ? by_period - stream->earliness : 0;
	producer->last_ns = producer->next_ns;
	producer->next_ns = producer->phase_ns + (by_distance > by_period ? by_distance : by_period);
	if (!producer->is_dense && draw(world, 8) == 0)
		producer->phase_ns += draw(world, stream->period * 4);
	producer->made++;
}

static uint64_t now_of(void *context)
{
	return ((struct world *)context)->now;
}

/* Half way through, once, something goes wrong. */
static bool is_time(struct world *world, enum defect defect)
{
	if (world->defect != defect || world->planted || world->now < world->end / 2)
		return false;
	world->planted = true;
	return true;
}

static void sleep_until(void *context, uint64_t at_ns)
{
	struct world *world = context;

	world->now = at_ns;
	if (is_time(world, LATE_WAKE))
		world->now += 20 * world->admission.monitor.period;
}

static void evaluate(struct world *world, uint32_t index)
{
	const struct admission_sensor *sensor = &world->sensors[index];
	struct watch_element element = { .at_ns = world->producers[index].next_ns, .sensor = index };
	struct watch_violation violation;

	element.begin_ns = world->now;
	world->now += sensor->cost_ns;
	if (is_time(world, OVER_COST))
		world->now += 20 * world->admission.monitor.period;
	element.is_late = is_time(world, LATE_ELEMENT);
	element.is_new = is_time(world, NEWCOMER);
	if (element.is_late || element.is_new)
		element.at_ns -= 20 * world->admission.monitor.period;
	element.end_ns = world->now;
	watch_take(&world->watch, &element, &violation);
	next(world, index);
}

/* Elements that come faster than was said. */
static void flood(struct world *world, uint64_t begin)
{
	struct watch_violation violation;

	if (!is_time(world, OVER_RATE) && !is_time(world, UNDECLARED))
		return;
	for (uint64_t at = begin; world->now < begin + 20 * world->admission.monitor.period; at++) {
		struct watch_element element = { .at_ns = begin, .begin_ns = world->now };

		world->now += world->sensors[0].cost_ns;
		element.end_ns = world->now;
		watch_take(&world->watch, &element, &violation);
	}
}

static bool turn(void *context, uint64_t due_ns, uint64_t idle_ns)
{
	struct world *world = context;
	uint64_t begin = world->now;

	watch_wake(&world->watch, due_ns, idle_ns, begin);
	world->now += WAKE_NS;
	if (is_time(world, HELD))
		world->held_until = world->now + 20 * world->admission.monitor.period;
	flood(world, begin);
	while (world->now >= world->held_until) {
		uint32_t first = 0;

		for (uint32_t i = 1; i < world->admission.count; i++)
			if (world->producers[i].next_ns < world->producers[first].next_ns)
				first = i;
		if (world->producers[first].next_ns >= begin)
			break;
		evaluate(world, first);
	}
	watch_rest(&world->watch, world->now, world->now < world->held_until);
	return world->now < world->end;
}

/* A world that is admitted; false: this one is not. */
static bool make(struct world *world, uint64_t seed, enum defect defect)
{
	memset(world, 0, sizeof *world);
	world->seed = seed * 0x9e3779b97f4a7c15u + 1;
	world->defect = defect;
	world->admission = (struct admission){
		.monitor.period = 500 * US + draw(world, 3000) * US,
		.wake_ns = WAKE_NS,
		.sensors = world->sensors,
		.count = 1 + draw(world, SENSORS_MAX),
	};
	world->admission.monitor.deadline = world->admission.monitor.period;
	world->admission.wanted_ns = world->admission.monitor.period * (2 + draw(world, 6));
	for (uint32_t i = 0; i < world->admission.count; i++) {
		struct admission_sensor *sensor = &world->sensors[i];
		const struct jcs_rate rate = {
			.count = 1 + draw(world, 20000),
			.time = 1000 * 1000 * 1000,
			.burst = 1 + draw(world, 200),
			.spacing = draw(world, 2000),
		};

		*sensor = (struct admission_sensor){ .name = "x", .cost_ns = 1 + draw(world, 20 * US) };
		sensor->is_declared = true;
		if (jcs_from_rate(&rate, &sensor->stream))
			return false;
		world->producers[i].phase_ns = world->admission.monitor.period * 2 + draw(world, sensor->stream.period);
		world->producers[i].is_dense = draw(world, 2);
		next(world, i);
	}
	if (admission_decide(&world->admission, NULL))
		return false;
	world->end = world->admission.monitor.period * PERIODS;
	for (uint32_t i = 0; i < world->admission.count; i++)
		world->watched[i] = (struct watch_sensor){
			.stream = world->sensors[i].stream,
			.is_declared = defect != UNDECLARED || i,
			.cost_ns = world->sensors[i].cost_ns,
		};
	const struct watch_options options = {
		.sensors = world->watched,
		.sensor_count = (uint32_t)world->admission.count,
		.bound_ns = world->admission.latency_ns,
		.period_ns = world->admission.monitor.period,
		.bucket_ns = 10 * US,
	};

	watch_init(&world->watch, &options);
	return true;
}

static void run(struct world *world)
{
	const struct monitor_loop_options loop = {
		.period_ns = world->admission.monitor.period,
		.now = now_of,
		.sleep_until = sleep_until,
		.turn = turn,
		.context = world,
	};

	monitor_loop_run(&loop);
}

static void test_admitted_is_in_time(void **state)
{
	static struct world world;
	uint64_t elements = 0, excess = 0, tight = 0;
	int admitted = 0;

	(void)state;
	for (uint64_t seed = 1; admitted < (int)sized(RUNS, 5); seed++) {
		if (!make(&world, seed, NONE))
			continue;
		admitted++;
		run(&world);
		assert_int_equal(world.watch.violations, 0);
		elements += world.watch.elements;
		tight += world.watch.most_ns > world.admission.latency_ns / 2;
		for (uint32_t i = 0; i < world.admission.count; i++)
			excess += world.watched[i].excess;
	}
	assert_int_equal(excess, 0);
	assert_true(elements > 100 * sized(RUNS, 5));
	assert_true(tight > sized(RUNS, 5) / 20); /* the bound is tested, not idleness */
}

static void test_causes(void **state)
{
	static struct world world;

	(void)state;
	for (enum defect defect = LATE_WAKE; defect < DEFECTS; defect++) {
		int found = 0, tried = 0;

		for (uint64_t seed = 1; tried < 200; seed++) {
			if (!make(&world, seed, defect) || (defect == UNDECLARED && world.admission.count == 1))
				continue;
			tried++;
			run(&world);
			/* What makes elements late for longest is what is named; others may be late for its sake. */
			found += world.watch.violations && world.watch.causes[expected[defect]] > 0;
			assert_int_equal(world.watch.causes[WATCH_UNEXPLAINED], 0);
			for (int cause = 0; cause < WATCH_CAUSES; cause++)
				if (cause != (int)expected[defect])
					assert_int_equal(world.watch.causes[cause], 0);
		}
		/* Where elements are rare there may be none that is late. */
		assert_true(found > tried / 2);
	}
}

static void test_worst(void **state)
{
	struct watch_sensor sensor = { .is_declared = true, .stream = { 1, 0, 0 } };
	const struct watch_options options = {
		.sensors = &sensor,
		.sensor_count = 1,
		.bound_ns = 10,
		.period_ns = 10,
		.bucket_ns = 1,
	};
	static struct watch watch;
	struct watch_violation violation;

	(void)state;
	watch_init(&watch, &options);
	for (uint64_t i = 0; i < 100; i++) {
		const struct watch_element element = { .at_ns = 1000 * i,
						       .end_ns = 1000 * i + (i * 37) % 100,
						       .begin_ns = 1000 * i };

		watch_take(&watch, &element, &violation);
	}
	assert_int_equal(watch.elements, 100);
	assert_int_equal(watch.violations, 89);
	assert_int_equal(watch.worst_count, WATCH_WORST);
	for (uint32_t i = 0; i < WATCH_WORST; i++)
		assert_int_equal(watch.worst[i].response_ns, 99 - i);
	assert_int_equal(watch_quantile(&watch, 0.5), 51);
	assert_int_equal(watch_quantile(&watch, 1), 100);
	assert_int_equal(watch.most_ns, 99);
	assert_int_equal(watch.least_ns, 0);
}

/* Elements that are handed out behind later ones, as nothing was known of them or they were held up, came in their
 * time. */
static void test_behind_is_not_early(void **state)
{
	struct watch_sensor sensor = { .is_declared = true, .stream = { 100, 0, 0 } };
	const struct watch_options options = { .sensors = &sensor, .sensor_count = 1, .period_ns = 10, .bucket_ns = 1 };
	static struct watch watch;
	struct watch_violation violation;
	const struct watch_element elements[] = {
		{ .at_ns = 1000 },
		{ .at_ns = 800, .is_new = true },
		{ .at_ns = 900, .is_late = true },
		{ .at_ns = 1100, .is_new = true },
		{ .at_ns = 1200 },
		{ .at_ns = 1250, .is_new = true },
		{ .at_ns = 1200 },
	};
	const uint64_t excess[] = { 0, 0, 0, 0, 0, 1, 2 };

	(void)state;
	watch_init(&watch, &options);
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
		watch_take(&watch, &elements[i], &violation);
		assert_int_equal(sensor.excess, excess[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_admitted_is_in_time),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_behind_is_not_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
