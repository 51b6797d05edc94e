// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which moments are kept. The newest is always the last look, so that little lies behind it; the one before is
 * at most BASELINE_NS older, and what goes on behind the newest is the line from the one before that. Moments that lie
 * closer together are forgotten.
 */

#include "sensor/stream/clock.h"

#include "base/clock.h"

#include <string.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum { SLOPE_BITS = 32, TRIES = 5 };

/* Reading both takes some tens of ns, of which the line must not see much. */
#define BASELINE_NS UINT64_C(200000000)

static uint64_t read_raw(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#else
	return clock_now_ns();
#endif
}

static uint64_t slope_of(const struct stream_clock_point *from, const struct stream_clock_point *to)
{
	unsigned __int128 rise = (unsigned __int128)(to->ns - from->ns) << SLOPE_BITS;

	return (uint64_t)(rise / (to->raw - from->raw));
}

/* Whether the newest moment may be forgotten for one at ns: the line from the one before to it would be too short. */
static int is_close(const struct stream_clock *clock, uint64_t ns)
{
	return clock->count >= 2 && ns - clock->points[clock->count - 2].ns < BASELINE_NS;
}

void stream_clock_note(struct stream_clock *clock, uint64_t raw, uint64_t ns)
{
	struct stream_clock_point *points = clock->points;

	if (clock->count && (raw <= points[clock->count - 1].raw || ns <= points[clock->count - 1].ns))
		return;
	if (is_close(clock, ns))
		clock->count--;
	if (clock->count == STREAM_CLOCK_POINTS)
		memmove(points, points + 1, --clock->count * sizeof *points);
	points[clock->count] = (struct stream_clock_point){ .raw = raw, .ns = ns };
	if (clock->count) {
		points[clock->count - 1].slope = slope_of(&points[clock->count - 1], &points[clock->count]);
		points[clock->count].slope =
			slope_of(&points[clock->count - (clock->count > 1 ? 2 : 1)], &points[clock->count]);
	}
	clock->count++;
}

void stream_clock_look(struct stream_clock *clock)
{
	uint64_t best = UINT64_MAX, raw = 0, ns = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = read_raw(), now = clock_now_ns(), took = read_raw() - before;

		if (took >= best)
			continue;
		best = took;
		raw = before + took / 2;
		ns = now;
	}
	stream_clock_note(clock, raw, ns);
}

uint64_t stream_clock_ns(const struct stream_clock *clock, uint64_t raw)
{
	const struct stream_clock_point *point = clock->points;

	if (!clock->count)
		return 0;
	for (uint32_t i = clock->count - 1; i; i--) {
		if (raw < clock->points[i].raw)
			continue;
		point = &clock->points[i];
		break;
	}
	if (raw >= point->raw)
		return point->ns + (uint64_t)((unsigned __int128)(raw - point->raw) * point->slope >> SLOPE_BITS);
	uint64_t back = (uint64_t)((unsigned __int128)(point->raw - raw) * point->slope >> SLOPE_BITS);

	return back < point->ns ? point->ns - back : 0;
}
