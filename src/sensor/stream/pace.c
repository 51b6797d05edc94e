// SPDX-License-Identifier: BSD-2-Clause
#include "sensor/stream/pace.h"

/* What came fast will do so again: the wait grows by a sixteenth a look. */
uint64_t pace_begin(uint64_t wait_ns)
{
	uint64_t longer = wait_ns + wait_ns / 16;

	return longer < PACE_MAX_NS ? longer : PACE_MAX_NS;
}

uint64_t pace_limit(uint64_t wait_ns, const struct pace_ring *ring, uint64_t took_ns)
{
	uint64_t quarter = ring->units / 4;

	/* Nobody needs to look sooner, and nothing below overflows. */
	if (!ring->filled || took_ns > UINT32_MAX || quarter > UINT32_MAX)
		return wait_ns;
	quarter = took_ns * quarter / ring->filled;
	if (quarter < PACE_MIN_NS)
		quarter = PACE_MIN_NS;
	return quarter < wait_ns ? quarter : wait_ns;
}
