// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where runs, buckets and counters lie: all rules share as few array maps as possible, whose only value is
 * addressed directly, without a lookup. Sizes are settled before anything is created.
 */

#include "ebpf/codegen/emit-priv.h"
#include "ebpf/matcher/stack-table.h"
#include "ebpf/plan/can-run.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { STRIPES_BITS_MIN = 6, STRIPE_BITS_MAX = 12 };

enum {
	VALUE_BYTES_SMALL = 4 << 20,   /* what every kernel takes */
	VALUE_BYTES_LARGE = 256 << 20, /* below the verifier's limit for offsets, 512 MiB */
	BUCKET_BITS_MAX = 24,
};

/* How large a map may grow that is to hold bytes. The kernel is asked only where it matters: asking takes long. */
static uint64_t value_bytes_max(struct ebpf_matcher *matcher, uint64_t bytes)
{
	if (bytes <= VALUE_BYTES_SMALL)
		return VALUE_BYTES_SMALL;
	if (!matcher->asked_large_values)
		matcher->large_values = ebpf_has_large_values();
	matcher->asked_large_values = true;
	return matcher->large_values ? VALUE_BYTES_LARGE : VALUE_BYTES_SMALL;
}

/* Finds room for bytes; -E2BIG where no map could hold them. */
static int place(struct ebpf_matcher *matcher, uint64_t bytes, struct matcher_region *region)
{
	struct matcher_map *map = matcher->map_count ? &matcher->maps[matcher->map_count - 1] : NULL;

	bytes = (bytes + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
	uint64_t most = value_bytes_max(matcher, map ? map->bytes + bytes : bytes);

	if (bytes > most)
		return -E2BIG;
	if (!map || map->bytes + bytes > most) {
		if (matcher->map_count == MATCHER_MAPS_MAX)
			return -E2BIG;
		map = &matcher->maps[matcher->map_count++];
		*map = (struct matcher_map){ .fd = -1 };
	}
	*region = (struct matcher_region){ .map = (uint32_t)(map - matcher->maps), .off = (uint32_t)map->bytes };
	map->bytes += bytes;
	return 0;
}

static bool same_slots(const struct program *program, const struct program_class *a, const struct program_class *b)
{
	return a->slot_count == b->slot_count &&
	       memcmp(program_class_slots(program, a), program_class_slots(program, b),
		      a->slot_count * sizeof *program->indices) == 0;
}

static void group_classes(const struct program *program, struct matcher_rule *rule)
{
	for (uint32_t class = 0; class < rule->rule->class_count; class ++) {
		const struct program_class *wanted = &program_classes(program, rule->rule)[class];
		uint32_t group = 0;

		while (group < rule->group_count &&
		       !same_slots(program, wanted, &program_classes(program, rule->rule)[rule->groups[group].class]))
			group++;
		if (group == rule->group_count)
			rule->groups[rule->group_count++] = (struct matcher_group){ .class = class };
		rule->group_of[class] = group;
	}
}

static uint32_t bits_for(uint64_t count)
{
	uint32_t bits = 0;

	while (bits < BUCKET_BITS_MAX && (uint64_t)1 << bits < count)
		bits++;
	return bits;
}

/*
 * Whether a machine has events that name a part of the key only; the slots of the key, a bit each, that all of these
 * name.
 */
static bool find_stripe(const struct program *program, const struct program_rule *rule, uint32_t *slots)
{
	const struct program_class *class = rule->class_count ? &program_classes(program, rule)[0] : NULL;
	uint32_t all = class ? program_class_whole(class) : 0;

	*slots = all;
	if (rule->semantics != PROGRAM_MACHINE || !class)
		return false;
	for (uint32_t i = 0; i < class->key_count; i++)
		*slots &= program_key_given(program, class, &program_keys(program, class)[i]);
	return *slots != all;
}

/*
 * How many bits choose a bucket within a stripe: many, so that the chains of one that has most instances (a process
 * with thousands of descriptors) stay short; few, so that there are locks for many processors, and that going along a
 * stripe takes microseconds.
 */
static uint32_t inner_bits(uint32_t bits)
{
	uint32_t wanted = bits > STRIPES_BITS_MIN + STRIPE_BITS_MAX ? STRIPE_BITS_MAX
			  : bits > STRIPES_BITS_MIN                 ? bits - STRIPES_BITS_MIN
								    : 0;

	return wanted > bits / 2 ? wanted : bits / 2;
}

/* Without a slot that chooses a stripe, events that name a part of the key go along every chain. */
static void lay_out_stripes(const struct program *program, struct matcher_rule *rule)
{
	uint32_t slots;

	if (!find_stripe(program, rule->rule, &slots))
		return;
	rule->stripe_slots = slots;
	rule->inner_bits = slots ? inner_bits(rule->bucket_bits) : rule->bucket_bits;
}

static bool has_keys(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->class_count; i++)
		if (program_classes(program, rule)[i].slot_count)
			return true;
	return false;
}

/* What a rule's runs take, computed without a matcher. */
struct sizes {
	struct matcher_history history;
	uint32_t area_bytes, stride, bucket_bits;
	uint64_t runs_bytes, buckets_bytes;
};

static int sizes_of(const struct program *program, const struct program_rule *rule, struct sizes *found)
{
	struct sizes sizes = { .area_bytes = rule->slot_bytes };
	int error = matcher_history(program, rule, &sizes.history);

	if (sizes.history.entries)
		sizes.area_bytes += 8 + sizes.history.entries * sizes.history.entry_bytes;
	sizes.stride = (uint32_t)sizeof(struct matcher_run) + sizes.area_bytes;
	*found = sizes;
	if (error || rule->state_count <= 1)
		return error;
	sizes.bucket_bits = bits_for(has_keys(program, rule) ? rule->pool : rule->class_count);
	sizes.runs_bytes = (rule->pool + 1) * sizes.stride;
	sizes.buckets_bytes = sizeof(struct matcher_bucket) << sizes.bucket_bits;
	*found = sizes;
	return 0;
}

uint64_t ebpf_pool_bytes(const struct program *program, uint32_t rule)
{
	struct sizes sizes;

	sizes_of(program, &program->rules[rule], &sizes);
	return sizeof(struct matcher_control) + sizes.runs_bytes + sizes.buckets_bytes;
}

/* Room aside for every type that needs it, for every CPU: programs for different types may interrupt each other. */
static uint64_t aside_bytes(struct ebpf_matcher *matcher, const struct matcher_rule *rule)
{
	const struct emit emit = matcher_emit_of(matcher, NULL, rule->index, PROGRAM_NONE);
	uint64_t types = 0;

	for (uint32_t type = 0; type < matcher->program->type_count; type++)
		types += emit_needs_aside(&emit, type);
	return types * matcher->cpu_count * rule->stride;
}

static int too_large(const struct ebpf_matcher *matcher, const struct matcher_rule *rule, int error,
		     struct asterism_diag *diag)
{
	return diag_error(diag, NULL, error, "the pool of %s %s (%llu runs of %u bytes) is more than this kernel takes",
			  program_sort(rule->rule), program_text(matcher->program, rule->rule->name),
			  (unsigned long long)rule->rule->pool, rule->stride);
}

static int lay_out_runs(struct ebpf_matcher *matcher, struct matcher_rule *rule, struct asterism_diag *diag)
{
	struct sizes sizes;
	int error = sizes_of(matcher->program, rule->rule, &sizes);

	if (error)
		return diag_no_memory(diag);
	rule->history = sizes.history;
	rule->area_bytes = sizes.area_bytes;
	rule->has_runs = sizes.runs_bytes != 0;
	rule->stride = sizes.stride;
	error = place(matcher, aside_bytes(matcher, rule), &rule->aside);
	if (!rule->has_runs)
		return error ? too_large(matcher, rule, error, diag) : 0;
	rule->bucket_bits = sizes.bucket_bits;
	rule->group_of = alloc_zero(rule->rule->class_count, sizeof *rule->group_of);
	rule->groups = alloc_zero(rule->rule->class_count, sizeof *rule->groups);
	if (!rule->group_of || !rule->groups)
		return diag_no_memory(diag);
	group_classes(matcher->program, rule);
	rule->timed = rule->rule->flags & PROGRAM_RULE_TIMER;
	lay_out_stripes(matcher->program, rule);
	rule->wide = matcher_is_wide(matcher, rule->index);
	if (!error)
		error = place(matcher, sizes.runs_bytes, &rule->runs);
	if (!error)
		error = place(matcher, sizes.buckets_bytes, &rule->buckets);
	return error ? too_large(matcher, rule, error, diag) : 0;
}

int matcher_layout(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	uint64_t tallies;

	if (matcher_lay_out_tallies(matcher, &tallies))
		return diag_no_memory(diag);
	if (place(matcher, MATCHER_CACHE_LINE, &matcher->zero) ||
	    place(matcher, sizeof(struct matcher_work), &matcher->sweep.work) ||
	    place(matcher, EVENT_RECORD_BYTES_MAX, &matcher->feed) || place(matcher, tallies, &matcher->tallies) ||
	    place(matcher, matcher_stack_bytes(matcher), &matcher->stacks))
		return diag_error(diag, NULL, -E2BIG, "the kernel's maps are too small");
	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		struct matcher_rule *rule = &matcher->rules[i];
		int error;

		if (!rule->here)
			continue;
		if (place(matcher, sizeof(struct matcher_control), &rule->control) ||
		    place(matcher, (uint64_t)matcher->cpu_count * sizeof(struct matcher_cpu), &rule->cpus))
			return diag_error(diag, NULL, -E2BIG, "there are more rules than the kernel's maps can hold");
		error = lay_out_runs(matcher, rule, diag);
		if (error)
			return error;
	}
	return 0;
}
