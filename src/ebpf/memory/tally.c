// SPDX-License-Identifier: BSD-2-Clause
/* Lays out counters and histograms: each CPU has its own, so that counting never contends. */

#include "ebpf/memory/layout-priv.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "react/tally.h"

#include <errno.h>

enum { HISTOGRAM_BYTES = REACT_BUCKETS * 8, COUNTER_BYTES = 8 };

static uint32_t tally_bytes(const struct memory *memory, uint32_t statement)
{
	const struct react_action *action =
		program_call(memory->plan->program, &memory->plan->program->statements[statement]);

	if (action && action->primitive == REACT_HISTOGRAM)
		return HISTOGRAM_BYTES;
	return action && action->primitive == REACT_COUNT ? COUNTER_BYTES : 0;
}

int memory_lay_out_tallies(struct memory *memory, uint64_t *bytes)
{
	uint32_t count = memory->plan->program->header->sections[PROGRAM_STATEMENTS].count, used = 0;

	memory->tally_offsets = alloc_zero(count, sizeof *memory->tally_offsets);
	if (!memory->tally_offsets)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && memory->plan->acts; i++) {
		memory->tally_offsets[i] = used;
		used += tally_bytes(memory, i);
	}
	memory->tally_stride = (used + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
	*bytes = (uint64_t)memory->tally_stride * memory->cpu_count;
	return 0;
}

void memory_tally(const struct memory *memory, uint32_t statement, uint64_t *buckets)
{
	uint32_t count = memory->plan->acts ? tally_bytes(memory, statement) / 8 : 0;

	for (uint32_t cpu = 0; cpu < memory->cpu_count && count; cpu++) {
		const uint8_t *own = (const uint8_t *)memory_at(memory, &memory->tallies) + cpu * memory->tally_stride;
		const uint64_t *counted = (const uint64_t *)(own + memory->tally_offsets[statement]);

		for (uint32_t i = 0; i < count; i++)
			buckets[i] += __atomic_load_n(&counted[i], __ATOMIC_RELAXED);
	}
}
