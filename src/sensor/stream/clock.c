// SPDX-License-Identifier: BSD-2-Clause
/*
 * Approximates CLOCK_MONOTONIC by lines over the counter, and places where these begin. The first ones are short, as a
 * line along little is off soon, and each is a quarter longer than the one before until they take LINE_NS: as long as
 * somebody takes to look again, who looks often. What a line is off by at its end the next one makes good within such a
 * length, and then it goes as the counter counts, as whoever looks may have been kept from it for seconds. How fast the
 * counter counts is learnt over BASE_NS.
 */

#include "sensor/stream/clock.h"

#include "base/clock.h"
#include "ring/counter.h"

#include <stdbool.h>
#include <time.h>

enum {
	SLOPE_BITS = 32,
	TRIES = 5,
	FIRST_NS = 1000000,
	GROWTH = 4,
	LINE_NS = 5000000,
	BASE_NS = 200000000,
	STEEP = 2,          /* what it is off by is made good in twice as long, at least */
	JUMP_NS = 10000000, /* off by more, as where the machine has slept: times jump */
};

static uint64_t slope_of(uint64_t ns, uint64_t raw)
{
	return (uint64_t)(((unsigned __int128)ns << SLOPE_BITS) / raw);
}

static uint64_t ns_of_counts(uint64_t raw, uint64_t slope)
{
	return (uint64_t)((unsigned __int128)raw * slope >> SLOPE_BITS);
}

/* Where raw lies on the line. */
static uint64_t along(const struct stream_clock_point *line, uint64_t raw)
{
	if (line->bend_raw && raw >= line->bend_raw)
		return line->bend_ns + ns_of_counts(raw - line->bend_raw, line->rest);
	if (raw >= line->raw)
		return line->ns + ns_of_counts(raw - line->raw, line->slope);
	uint64_t back = ns_of_counts(line->raw - raw, line->slope);

	return back < line->ns ? line->ns - back : 0;
}

static struct stream_clock_point *point_at(struct stream_clock *clock, uint32_t index)
{
	return &clock->points[(clock->first + index) % STREAM_CLOCK_POINTS];
}

static struct stream_clock_point *last_clock_point(struct stream_clock *clock)
{
	return point_at(clock, clock->count ? clock->count - 1 : 0);
}

/* How long a line is that begins at ns. */
static uint64_t length_at(struct stream_clock *clock, uint64_t ns)
{
	uint64_t known = (ns - point_at(clock, 0)->read_ns) / GROWTH;

	return known < LINE_NS ? known : LINE_NS;
}

/* The moment since which it is asked how fast the counter counts. */
static const struct stream_clock_point *clock_base(struct stream_clock *clock, uint64_t ns)
{
	uint32_t index = clock->count - 1;

	while (index && ns - point_at(clock, index)->read_ns < BASE_NS)
		index--;
	return point_at(clock, index);
}

static struct stream_clock_point line_from(struct stream_clock *clock, uint64_t raw, uint64_t ns)
{
	const struct stream_clock_point *base = clock_base(clock, ns);
	struct stream_clock_point line = { .raw = raw, .ns = along(last_clock_point(clock), raw), .read_ns = ns };
	uint64_t length = length_at(clock, ns), off = ns > line.ns ? ns - line.ns : line.ns - ns;

	line.rest = slope_of(ns - base->read_ns, raw - base->raw);
	if (off > JUMP_NS)
		line.ns = ns;
	if (length < STEEP * off) /* no faster than that, nor backwards */
		length = STEEP * off;
	if (off > JUMP_NS || !length) {
		line.slope = line.rest;
		return line;
	}
	line.bend_ns = ns + length;
	line.slope = (uint64_t)((unsigned __int128)line.rest * (line.bend_ns - line.ns) / length);
	line.bend_raw = raw + (uint64_t)(((unsigned __int128)length << SLOPE_BITS) / line.rest);
	return line;
}

static void add_clock_point(struct stream_clock *clock, uint64_t raw, uint64_t ns)
{
	struct stream_clock_point line = line_from(clock, raw, ns);

	if (clock->count == STREAM_CLOCK_POINTS)
		clock->first = (clock->first + 1) % STREAM_CLOCK_POINTS;
	else
		clock->count++;
	*last_clock_point(clock) = line;
}

void stream_clock_note(struct stream_clock *clock, uint64_t raw, uint64_t ns)
{
	struct stream_clock_point *last = last_clock_point(clock);

	if (clock->count && (raw <= last->raw || ns <= last->read_ns))
		return;
	if (!clock->count) {
		*last = (struct stream_clock_point){ .raw = raw, .ns = ns, .read_ns = ns };
		clock->count = 1;
	} else if (!last->slope) {
		last->slope = slope_of(ns - last->read_ns, raw - last->raw);
		add_clock_point(clock, raw, ns);
	} else if (ns - last->read_ns >= length_at(clock, last->read_ns)) {
		add_clock_point(clock, raw, ns);
	}
}

static void read_both(struct stream_clock *clock)
{
	uint64_t best = UINT64_MAX, raw = 0, ns = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ring_counter(1), now = clock_now_ns(), took = ring_counter(1) - before;

		if (took >= best)
			continue;
		best = took;
		raw = before + took / 2;
		ns = now;
	}
	stream_clock_note(clock, raw, ns);
}

/* Whether a look would be left out: most are. */
static bool is_clock_recent(struct stream_clock *clock)
{
	const struct stream_clock_point *last = last_clock_point(clock);

	return clock->count > 1 && clock_now_ns() - last->read_ns < length_at(clock, last->read_ns);
}

static void look_at_stream_clock(struct stream_clock *clock)
{
	if (is_clock_recent(clock))
		return;
	read_both(clock);
	if (clock->count > 1)
		return;
	nanosleep(&(struct timespec){ .tv_nsec = FIRST_NS }, NULL);
	read_both(clock);
}

void stream_clock_look(struct stream_clock *clock)
{
	struct stream_clock *shared = clock->shared;

	if (!shared)
		return look_at_stream_clock(clock);
	pthread_mutex_lock(&shared->lock);
	look_at_stream_clock(shared);
	pthread_mutex_unlock(&shared->lock);
}

/* Along the last line that began before it. */
static uint64_t convert(struct stream_clock *clock, uint64_t raw)
{
	uint32_t low = 0, high = clock->count;

	if (!clock->count)
		return 0;
	if (raw >= last_clock_point(clock)->raw)
		return along(last_clock_point(clock), raw);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (raw < point_at(clock, middle)->raw)
			high = middle;
		else
			low = middle;
	}
	return along(point_at(clock, low), raw);
}

uint64_t stream_clock_ns(struct stream_clock *clock, uint64_t raw)
{
	struct stream_clock *shared = clock->shared;
	uint64_t ns;

	if (!shared)
		return convert(clock, raw);
	pthread_mutex_lock(&shared->lock);
	ns = convert(shared, raw);
	pthread_mutex_unlock(&shared->lock);
	return ns;
}
