// SPDX-License-Identifier: BSD-2-Clause
/* Decides where counters and histograms lie: each CPU has its own, so that counting meets nobody. */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "react/tally.h"

#include <errno.h>

enum { HISTOGRAM_BYTES = REACT_BUCKETS * 8, COUNTER_BYTES = 8 };

static uint32_t bytes_of(const struct ebpf_matcher *matcher, uint32_t statement)
{
	const struct react_action *action = program_call(matcher->program, &matcher->program->statements[statement]);

	if (action && action->primitive == REACT_HISTOGRAM)
		return HISTOGRAM_BYTES;
	return action && action->primitive == REACT_COUNT ? COUNTER_BYTES : 0;
}

int matcher_lay_out_tallies(struct ebpf_matcher *matcher, uint64_t *bytes)
{
	uint32_t count = matcher->program->header->sections[PROGRAM_STATEMENTS].count, used = 0;

	matcher->tally_offsets = alloc_zero(count, sizeof *matcher->tally_offsets);
	if (!matcher->tally_offsets)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && matcher->options.acts; i++) {
		matcher->tally_offsets[i] = used;
		used += bytes_of(matcher, i);
	}
	matcher->tally_stride = (used + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
	*bytes = (uint64_t)matcher->tally_stride * matcher->cpu_count;
	return 0;
}

void ebpf_matcher_tally(const struct ebpf_matcher *matcher, uint32_t statement, uint64_t *buckets)
{
	uint32_t count = matcher->options.acts ? bytes_of(matcher, statement) / 8 : 0;

	for (uint32_t cpu = 0; cpu < matcher->cpu_count && count; cpu++) {
		const uint8_t *own =
			(const uint8_t *)matcher_at(matcher, &matcher->tallies) + cpu * matcher->tally_stride;
		const uint64_t *counted = (const uint64_t *)(own + matcher->tally_offsets[statement]);

		for (uint32_t i = 0; i < count; i++)
			buckets[i] += __atomic_load_n(&counted[i], __ATOMIC_RELAXED);
	}
}
