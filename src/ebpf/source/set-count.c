// SPDX-License-Identifier: BSD-2-Clause
/* Sums a set's counts over its programs' memories, each with a part per CPU. */

#include "ebpf/source/set-priv.h"

#include <stddef.h>

/* The sum of one of struct source_counters. */
static uint64_t sum(const struct source_set *set, size_t counter)
{
	uint64_t count = 0;

	for (size_t i = 0; i < set->program_count; i++) {
		const struct loaded *program = &set->programs[i];

		for (uint32_t cpu = 0; cpu < set->cpu_count; cpu++) {
			const char *counters = (const char *)program->area.memory + (size_t)cpu * program->stride;

			count +=
				__atomic_load_n((const uint64_t *)(const void *)(counters + counter), __ATOMIC_RELAXED);
		}
	}
	return count;
}

uint64_t source_set_events(const struct source_set *set)
{
	return sum(set, offsetof(struct source_counters, events));
}

uint64_t source_set_calls_32bit(const struct source_set *set)
{
	return sum(set, offsetof(struct source_counters, calls_32bit)) + calls_32bit_count(&set->calls);
}

uint64_t source_set_io_uring(const struct source_set *set, uint64_t opcodes)
{
	return io_uring_count(&set->ring, opcodes);
}

uint64_t source_set_lost(const struct source_set *set)
{
	return set->missed + (set->ship ? ship_lost(set->ship) : 0);
}

uint64_t source_set_replaced(const struct source_set *set)
{
	return links_replaced(&set->links);
}

size_t source_set_programs(const struct source_set *set)
{
	return set->program_count;
}

int source_set_program(const struct source_set *set, size_t program)
{
	return set->programs[program].program;
}

const char *source_set_tracepoint(const struct source_set *set, size_t program)
{
	return program < set->program_count ? set->programs[program].tracepoint : NULL;
}
