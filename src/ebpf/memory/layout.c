// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes where runs, buckets and counters lie: all rules share as few array maps as possible, whose only value is
 * addressed directly, without a lookup. Sizes are settled before anything is created.
 */

#include "ebpf/memory/layout-priv.h"

#include "base/alloc.h"
#include "ebpf/kernel/cpus.h"
#include "ebpf/lower/pattern.h"
#include "ebpf/plan/runs.h"
#include "event/type.h"
#include "program/query.h"

#include <errno.h>

enum { KEPT_SHARE = 64 };

_Static_assert(sizeof(struct matcher_run) == PLAN_RUN_BYTES, "what plan/can-run.c reckons with");

/* Whether CPUs keep a place each. Fed events see the pool that the rule asks for, to the last place. */
static bool keeps_one(const struct memory *memory, const struct plan_rule *rule)
{
	return memory->plan->live && !rule->interrupted && rule->rule->pool / KEPT_SHARE >= memory->cpu_count;
}

/* What a rule's runs take, computed without a plan. */
struct sizes {
	struct plan_sizes plan;
	uint32_t stride;
	uint64_t runs_bytes, buckets_bytes, log_bytes, opened_bytes;
};

static int sizes_of(const struct program *program, const struct program_rule *rule, uint32_t who_bytes, uint32_t spare,
		    struct sizes *sizes)
{
	int error = plan_sizes(program, rule, &sizes->plan);

	sizes->stride = (uint32_t)sizeof(struct matcher_run) + sizes->plan.area_bytes + who_bytes;
	sizes->runs_bytes = sizes->buckets_bytes = sizes->opened_bytes = 0;
	sizes->log_bytes = memory_log_bytes(&sizes->plan.history);
	if (error || !sizes->plan.has_runs)
		return error;
	sizes->runs_bytes = (rule->pool + 1 + spare) * sizes->stride;
	sizes->buckets_bytes = sizeof(struct matcher_bucket) << sizes->plan.bucket_bits;
	sizes->opened_bytes = rule->per_process ? PROGRAM_OPENERS * sizeof(uint64_t) : 0;
	return 0;
}

uint64_t ebpf_pool_bytes(const struct program *program, uint32_t rule)
{
	struct sizes sizes;

	sizes_of(program, &program->rules[rule], 0, 0, &sizes);
	return sizeof(struct matcher_control) + sizes.runs_bytes + sizes.buckets_bytes + sizes.log_bytes +
	       sizes.opened_bytes;
}

uint32_t ebpf_kept_events(const struct program *program, uint32_t rule)
{
	struct sizes sizes;

	sizes_of(program, &program->rules[rule], 0, 0, &sizes);
	return sizes.plan.history.log_entries;
}

static int too_large(const struct memory *memory, const struct plan_rule *rule, int error, struct asterism_diag *diag)
{
	const struct program *program = memory->plan->program;

	return diag_error(diag, NULL, error,
			  "the pool of %s %s (%llu runs of %u bytes) is larger than this kernel allows",
			  program_sort(rule->rule), program_text(program, rule->rule->name),
			  (unsigned long long)rule->rule->pool, memory->rules[rule->index].stride);
}

/* About as many segments as each has places, so that looking through both is least. */
static int lay_out_segments(struct memory *memory, struct memory_rule *at)
{
	while (at->places >> at->segment_bits >> at->segment_bits)
		at->segment_bits++;
	at->segment_count = ((at->places - 1) >> at->segment_bits) + 1;
	return memory_place(memory, at->segment_count * sizeof(uint64_t), &at->segments);
}

/* Where rules replace, each CPU has one of the places behind the pool to begin with. */
static void fill_spares(const struct memory *memory)
{
	for (uint32_t i = 0; i < memory->plan->program->rule_count; i++) {
		const struct plan_rule *rule = &memory->plan->rules[i];
		struct matcher_cpu *cpus;

		if (!rule->here || !rule->has_runs || !(rule->rule->flags & PROGRAM_RULE_REPLACE))
			continue;
		cpus = memory_at(memory, &memory->rules[i].cpus);
		for (uint32_t cpu = 0; cpu < memory->cpu_count; cpu++)
			cpus[cpu].spare = (uint32_t)rule->rule->pool + 1 + cpu;
	}
}

/* Scratch for every type that needs it, for every CPU: programs for different types may interrupt each other. */
static int lay_out_runs(struct memory *memory, const struct plan_rule *rule, struct asterism_diag *diag)
{
	struct memory_rule *at = &memory->rules[rule->index];
	struct sizes sizes;
	uint32_t spare = rule->rule->flags & PROGRAM_RULE_REPLACE ? memory->cpu_count : 0;
	int error = sizes_of(memory->plan->program, rule->rule, rule->keeps_who ? PLAN_WHO_BYTES : 0, spare, &sizes);

	if (error)
		return diag_no_memory(diag);
	at->stride = sizes.stride;
	at->places = (uint32_t)rule->rule->pool + spare;
	at->keeps_one = keeps_one(memory, rule);
	error = memory_place(memory, (uint64_t)rule->scratch_count * memory->cpu_count * at->stride, &at->scratch);
	if (!error && rule->has_runs)
		error = memory_place(memory, sizes.runs_bytes, &at->runs);
	if (!error && rule->has_runs)
		error = memory_place(memory, sizes.buckets_bytes, &at->buckets);
	if (!error && rule->has_runs && spare)
		error = lay_out_segments(memory, at);
	if (!error && sizes.opened_bytes)
		error = memory_place(memory, sizes.opened_bytes, &at->opened);
	if (!error && sizes.log_bytes)
		error = memory_place(memory, sizes.log_bytes, &at->log);
	return error ? too_large(memory, rule, error, diag) : 0;
}

static int lay_out_rule(struct memory *memory, const struct plan_rule *rule, struct asterism_diag *diag)
{
	struct memory_rule *at = &memory->rules[rule->index];

	if (memory_place(memory, sizeof(struct matcher_control), &at->control) ||
	    memory_place(memory, (uint64_t)memory->cpu_count * sizeof(struct matcher_cpu), &at->cpus) ||
	    memory_place(memory, memory_why_bytes(memory, rule), &at->why))
		return diag_error(diag, NULL, -E2BIG, "too many rules for the kernel's maps");
	if (memory_lay_out_sums(memory, rule))
		return diag_error(diag, NULL, -E2BIG, "the sums of AGGREGATE are too large for the kernel's maps");
	return lay_out_runs(memory, rule, diag);
}

static int lay_out_memory(struct memory *memory, struct asterism_diag *diag)
{
	const struct plan *plan = memory->plan;
	uint64_t tallies, patterns = ebpf_pattern_count(plan->program, plan->nodes);
	int error = 0;

	memory->rules = alloc_zero(plan->program->rule_count, sizeof *memory->rules);
	if (!memory->rules || memory_lay_out_tallies(memory, &tallies))
		return diag_no_memory(diag);
	if (memory_place(memory, MATCHER_CACHE_LINE, &memory->zero) ||
	    memory_place(memory, patterns * sizeof(struct ebpf_pattern), &memory->patterns) ||
	    memory_place(memory, sizeof(struct matcher_work), &memory->work) ||
	    memory_place(memory, EVENT_RECORD_BYTES_MAX, &memory->feed) ||
	    memory_place(memory, tallies, &memory->tallies) || memory_lay_out_stacks(memory) ||
	    memory_place(memory, memory_seen_bytes(memory), &memory->seen))
		return diag_error(diag, NULL, -E2BIG, "the kernel's maps are too small");
	for (uint32_t i = 0; i < plan->program->rule_count && !error; i++)
		if (plan->rules[i].here)
			error = lay_out_rule(memory, &plan->rules[i], diag);
	return error;
}

bool memory_is_brief(const struct program *program, const struct program_rule *rule)
{
	const struct program_state *states = program_states(program, rule);

	if (!rule->within_ns || rule->within_ns >= MATCHER_BRIEF_NS || rule->flags & PROGRAM_RULE_TIMER)
		return false;
	for (uint32_t i = 0; i < rule->state_count; i++)
		if (states[i].flags & PROGRAM_STATE_DEADLINE)
			return false;
	return true;
}

static void fill_patterns(const struct memory *memory)
{
	const struct program *program = memory->plan->program;
	struct ebpf_pattern *patterns = memory_at(memory, &memory->patterns);

	for (uint32_t i = 0; i < program->header->sections[PROGRAM_NODES].count; i++) {
		uint32_t number = memory->plan->nodes[i].pattern;

		if (number)
			ebpf_pattern_build(ebpf_pattern_text(program, &program->nodes[i]), &patterns[number - 1]);
	}
}

int memory_init(struct memory *memory, const struct plan *plan, uint32_t ring_bytes, struct asterism_diag *diag)
{
	int cpus, error;

	memory->plan = plan;
	memory->ring_fd = -1;
	memory->multiplier = memory_draw_multiplier();
	cpus = ebpf_possible_cpus(diag);
	if (cpus < 0)
		return cpus;
	memory->cpu_count = (uint32_t)cpus;
	error = lay_out_memory(memory, diag);
	error = error ? error : memory_make_maps(memory, ring_bytes, diag);
	if (!error)
		fill_patterns(memory);
	if (!error)
		fill_spares(memory);
	return error;
}

void memory_fini(struct memory *memory)
{
	memory_close_maps(memory);
	alloc_free(memory->rules);
	alloc_free(memory->tally_offsets);
}
