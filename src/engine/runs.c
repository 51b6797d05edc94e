// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocates runs from per-rule pools. A rule's pool costs what it has been used for: chunks double, and what a chunk
 * holds is carved off when it is first needed. How many runs a rule may have is not decided here but where they are
 * parked; a step holds a few more for the moment (the opened run, copies that match, matches not told yet).
 */

#include "engine/engine-priv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_CHUNK_RUNS = 16 };

static int grow_runs(struct engine_runs *runs)
{
	size_t count = (size_t)FIRST_CHUNK_RUNS << runs->chunk_count;
	void *chunk;

	if (runs->chunk_count == ENGINE_CHUNKS_MAX)
		return -ENOMEM;
	chunk = alloc_zero(count * runs->run_bytes + (size_t)2 * ENGINE_CACHE_LINE, 1);
	if (!chunk)
		return -ENOMEM;
	runs->chunks[runs->chunk_count++] = chunk;
	runs->fresh = (char *)(((uintptr_t)chunk + 2 * ENGINE_CACHE_LINE - 1) & ~(uintptr_t)(ENGINE_CACHE_LINE - 1));
	runs->fresh -= runs->lead;
	runs->fresh_count = count;
	return 0;
}

int engine_runs_init(struct engine_rule *rule)
{
	struct engine_runs *runs = &rule->runs;
	size_t bytes = offsetof(struct engine_run, slots) + rule->image->slot_bytes;

	if (rule->image->within_ns) {
		runs->timer_offset = bytes;
		bytes += sizeof(struct engine_timer);
	}
	if (rule->image->flags & PROGRAM_RULE_SEQUENCE) {
		runs->history_offset = bytes;
		bytes += sizeof(struct engine_history_node *);
	}
	for (uint32_t i = 0; i < rule->image->class_count; i++) {
		if (rule->classes[i].counting)
			runs->pending_offset = bytes;
	}
	if (runs->pending_offset)
		bytes += sizeof(uint64_t);
	if (rule->replaces || rule->drops_all) {
		runs->age_offset = bytes;
		bytes += sizeof(struct engine_age);
	}
	if (rule->why && !rule->machine) {
		runs->who_offset = bytes;
		bytes += sizeof(uint64_t);
	}
	runs->lead = rule->machine ? ENGINE_INSTANCE_LEAD : 0;
	if (rule->machine)
		bytes += engine_machine_lay_out(rule->machine, bytes);
	runs->run_bytes = (bytes + ENGINE_CACHE_LINE - 1) / ENGINE_CACHE_LINE * ENGINE_CACHE_LINE;
	return grow_runs(runs);
}

void engine_runs_fini(struct engine_rule *rule)
{
	for (uint32_t i = 0; i < rule->runs.chunk_count; i++)
		alloc_free(rule->runs.chunks[i]);
}

struct engine_run *engine_runs_carve(struct engine_runs *runs)
{
	struct engine_run *run;

	if (!runs->fresh_count && grow_runs(runs))
		return NULL;
	run = (struct engine_run *)runs->fresh;
	runs->fresh += runs->run_bytes;
	runs->fresh_count--;
	return run;
}

static struct engine_run **link_of(struct engine_run *run, size_t link_offset)
{
	return (struct engine_run **)((char *)run + link_offset);
}

static struct engine_run *merge(struct engine_run *a, struct engine_run *b, size_t link_offset)
{
	struct engine_run *first = NULL, **tail = &first;

	while (a && b) {
		struct engine_run **least = a->ordinal < b->ordinal ? &a : &b;

		*tail = *least;
		tail = link_of(*tail, link_offset);
		*least = *tail;
	}
	*tail = a ? a : b;
	return first;
}

/* Bottom-up merge sort: bins[i] holds a sorted list of 2^i runs. */
struct engine_run *engine_runs_sort(struct engine_run *first, size_t link_offset)
{
	struct engine_run *bins[40] = { NULL }, *sorted = NULL;
	size_t i;

	while (first) {
		struct engine_run *run = first;

		first = *link_of(run, link_offset);
		*link_of(run, link_offset) = NULL;
		for (i = 0; bins[i]; i++) {
			run = merge(bins[i], run, link_offset);
			bins[i] = NULL;
		}
		bins[i] = run;
	}
	for (i = 0; i < sizeof bins / sizeof *bins; i++)
		sorted = merge(bins[i], sorted, link_offset);
	return sorted;
}

/* Chunks double, so do the tables of buckets, of which there are at least twice as many as runs. */
uint64_t engine_pool_bytes(const struct program *program, uint32_t rule)
{
	const struct program_rule *image = &program->rules[rule];
	uint64_t run_bytes = offsetof(struct engine_run, slots) + image->slot_bytes + sizeof(uint64_t);
	uint64_t runs = FIRST_CHUNK_RUNS, buckets = FIRST_CHUNK_RUNS;

	if (image->within_ns)
		run_bytes += sizeof(struct engine_timer);
	if (image->flags & PROGRAM_RULE_SEQUENCE)
		run_bytes += sizeof(struct engine_history_node *);
	if (image->flags & (PROGRAM_RULE_REPLACE | PROGRAM_RULE_DROP_ALL))
		run_bytes += sizeof(struct engine_age);
	if (image->semantics == PROGRAM_MACHINE)
		run_bytes += engine_machine_more_bytes(program, image);
	run_bytes = (run_bytes + ENGINE_CACHE_LINE - 1) / ENGINE_CACHE_LINE * ENGINE_CACHE_LINE;
	while (runs < image->pool)
		runs = runs * 2 + FIRST_CHUNK_RUNS;
	while (buckets < 2 * image->pool)
		buckets *= 2;
	return runs * run_bytes + buckets * sizeof(struct engine_run *) +
	       (image->per_process ? PROGRAM_OPENERS * sizeof(uint32_t) : 0) +
	       (image->semantics == PROGRAM_MACHINE ? engine_machine_pool_bytes(program, image) : 0);
}
