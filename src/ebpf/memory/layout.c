// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where runs, buckets and counters lie: all rules share as few array maps as possible, whose only value is
 * addressed directly, without a lookup. Sizes are settled before anything is created.
 */

#include "ebpf/memory/layout-priv.h"

#include "base/alloc.h"
#include "ebpf/kernel/cpus.h"
#include "ebpf/kernel/feature.h"
#include "ebpf/plan/runs.h"
#include "event/type.h"

#include <errno.h>

enum {
	VALUE_BYTES_SMALL = 4 << 20,   /* what every kernel takes */
	VALUE_BYTES_LARGE = 256 << 20, /* below the verifier's limit for offsets, 512 MiB */
	KEPT_SHARE = 64,
};

/* How large a map may grow that is to hold bytes. The kernel is asked only where it matters: asking takes long. */
static uint64_t value_bytes_max(struct memory *memory, uint64_t bytes)
{
	if (bytes <= VALUE_BYTES_SMALL)
		return VALUE_BYTES_SMALL;
	if (!memory->asked_large_values)
		memory->large_values = ebpf_has_large_values();
	memory->asked_large_values = true;
	return memory->large_values ? VALUE_BYTES_LARGE : VALUE_BYTES_SMALL;
}

/* Finds room for bytes; -E2BIG where no map could hold them. */
static int place(struct memory *memory, uint64_t bytes, struct memory_region *region)
{
	struct memory_map *map = memory->map_count ? &memory->maps[memory->map_count - 1] : NULL;

	bytes = (bytes + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
	uint64_t most = value_bytes_max(memory, map ? map->bytes + bytes : bytes);

	if (bytes > most)
		return -E2BIG;
	if (!map || map->bytes + bytes > most) {
		if (memory->map_count == MEMORY_MAPS_MAX)
			return -E2BIG;
		map = &memory->maps[memory->map_count++];
		*map = (struct memory_map){ .fd = -1 };
	}
	*region = (struct memory_region){ .map = (uint32_t)(map - memory->maps), .off = (uint32_t)map->bytes };
	map->bytes += bytes;
	return 0;
}

/* Whether CPUs keep a place each. Fed events see the pool that the rule asks for, to the last place. */
static bool keeps_one(const struct memory *memory, const struct plan_rule *rule)
{
	return memory->plan->live && !rule->interrupted && rule->rule->pool / KEPT_SHARE >= memory->cpu_count;
}

/* What a rule's runs take, computed without a plan. */
struct sizes {
	struct plan_sizes plan;
	uint32_t stride;
	uint64_t runs_bytes, buckets_bytes;
};

static int sizes_of(const struct program *program, const struct program_rule *rule, struct sizes *sizes)
{
	int error = plan_sizes(program, rule, &sizes->plan);

	sizes->stride = (uint32_t)sizeof(struct matcher_run) + sizes->plan.area_bytes;
	sizes->runs_bytes = sizes->buckets_bytes = 0;
	if (error || !sizes->plan.has_runs)
		return error;
	sizes->runs_bytes = (rule->pool + 1) * sizes->stride;
	sizes->buckets_bytes = sizeof(struct matcher_bucket) << sizes->plan.bucket_bits;
	return 0;
}

uint64_t ebpf_pool_bytes(const struct program *program, uint32_t rule)
{
	struct sizes sizes;

	sizes_of(program, &program->rules[rule], &sizes);
	return sizeof(struct matcher_control) + sizes.runs_bytes + sizes.buckets_bytes;
}

static int too_large(const struct memory *memory, const struct plan_rule *rule, int error, struct asterism_diag *diag)
{
	const struct program *program = memory->plan->program;

	return diag_error(diag, NULL, error, "the pool of %s %s (%llu runs of %u bytes) is more than this kernel takes",
			  program_sort(rule->rule), program_text(program, rule->rule->name),
			  (unsigned long long)rule->rule->pool, memory->rules[rule->index].stride);
}

/* Scratch for every type that needs it, for every CPU: programs for different types may interrupt each other. */
static int lay_out_runs(struct memory *memory, const struct plan_rule *rule, struct asterism_diag *diag)
{
	struct memory_rule *at = &memory->rules[rule->index];
	struct sizes sizes;
	int error = sizes_of(memory->plan->program, rule->rule, &sizes);

	if (error)
		return diag_no_memory(diag);
	at->stride = sizes.stride;
	at->keeps_one = keeps_one(memory, rule);
	error = place(memory, (uint64_t)rule->scratch_count * memory->cpu_count * at->stride, &at->scratch);
	if (!error && rule->has_runs)
		error = place(memory, sizes.runs_bytes, &at->runs);
	if (!error && rule->has_runs)
		error = place(memory, sizes.buckets_bytes, &at->buckets);
	return error ? too_large(memory, rule, error, diag) : 0;
}

static int lay_out_rule(struct memory *memory, const struct plan_rule *rule, struct asterism_diag *diag)
{
	struct memory_rule *at = &memory->rules[rule->index];

	if (place(memory, sizeof(struct matcher_control), &at->control) ||
	    place(memory, (uint64_t)memory->cpu_count * sizeof(struct matcher_cpu), &at->cpus))
		return diag_error(diag, NULL, -E2BIG, "there are more rules than the kernel's maps can hold");
	return lay_out_runs(memory, rule, diag);
}

static int lay_out(struct memory *memory, struct asterism_diag *diag)
{
	const struct plan *plan = memory->plan;
	uint64_t tallies;
	int error = 0;

	memory->rules = alloc_zero(plan->program->rule_count, sizeof *memory->rules);
	if (!memory->rules || memory_lay_out_tallies(memory, &tallies))
		return diag_no_memory(diag);
	if (place(memory, MATCHER_CACHE_LINE, &memory->zero) ||
	    place(memory, sizeof(struct matcher_work), &memory->work) ||
	    place(memory, EVENT_RECORD_BYTES_MAX, &memory->feed) || place(memory, tallies, &memory->tallies) ||
	    place(memory, memory_stack_bytes(plan), &memory->stacks))
		return diag_error(diag, NULL, -E2BIG, "the kernel's maps are too small");
	for (uint32_t i = 0; i < plan->program->rule_count && !error; i++)
		if (plan->rules[i].here)
			error = lay_out_rule(memory, &plan->rules[i], diag);
	return error;
}

int memory_init(struct memory *memory, const struct plan *plan, uint32_t ring_bytes, struct asterism_diag *diag)
{
	int cpus, error;

	memory->plan = plan;
	memory->ring_fd = -1;
	cpus = ebpf_possible_cpus(diag);
	if (cpus < 0)
		return cpus;
	memory->cpu_count = (uint32_t)cpus;
	error = lay_out(memory, diag);
	return error ? error : memory_make_maps(memory, ring_bytes, diag);
}

void memory_fini(struct memory *memory)
{
	memory_close_maps(memory);
	alloc_free(memory->rules);
	alloc_free(memory->tally_offsets);
}
