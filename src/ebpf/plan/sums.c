// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the rules with AGGREGATE whose matches are added up by the programs that find them, and computes how large
 * the tables are. Where matches are wanted one by one anyway, or a value is beyond what programs can do, every match is
 * delivered and added up in user space.
 */

#include "ebpf/plan/can-run.h"
#include "ebpf/plan/plan-priv.h"
#include "program/calls.h"
#include "program/emissions.h"

#include <errno.h>

enum {
	KEY_BYTES_MAX = 512,
	BUCKETS_MAX = 1 << 17,
	BUCKETS_PER_KEY = 128,   /* that there is room for on average, */
	BUCKETS_LEAST = 1 << 11, /* and for two keys with all that there are: 496 each way */
	INDEX_HEAD_BYTES = 8,    /* of an entry, in front of its key */
};

static bool is_float(const struct program *program, const struct program_aggregate *row)
{
	return row->node != PROGRAM_NONE && program->nodes[row->node].kind == PROGRAM_F64;
}

/* NULL: the value can be computed. */
static const char *judge_value(const struct plan_draft *draft, const struct program_aggregate *row)
{
	if (is_float(draft->program, row))
		return "a value is a floating-point number";
	if (row->node != PROGRAM_NONE && !draft->nodes[row->node].in_kernel)
		return "a value computes with floating-point numbers";
	if (row->there && !draft->nodes[row->there - 1].in_kernel)
		return "whether a value exists depends on floating-point numbers";
	return NULL;
}

static const char *obstacle_in_statements(const struct program *program, const struct program_rule *rule)
{
	if (program_is_reported(program, rule))
		return "each match is reported as well";
	for (uint32_t i = 0; i < rule->statement_count; i++)
		if (program_is_emission(&program_statements(program, rule)[i]))
			return "the matches emit events";
	return rule->statement_count ? "the rule also has DO" : NULL;
}

static const char *judge_sums(const struct plan_draft *draft, uint32_t rule, uint32_t key_bytes)
{
	const struct program *program = draft->program;
	const struct program_aggregation *row = program_aggregation(program, &program->rules[rule]);
	const char *why_not = obstacle_in_statements(program, &program->rules[rule]);

	if (!why_not && draft->options->deliver_all)
		why_not = "each match is reported as well";
	if (!why_not && key_bytes > KEY_BYTES_MAX)
		why_not = "a key takes more than 512 bytes";
	for (uint32_t i = 0; i < row->by_count && !why_not; i++)
		why_not = judge_value(draft, &program_by(program, row)[i]);
	for (uint32_t i = 0; i < row->aggregate_count && !why_not; i++)
		why_not = judge_value(draft, &program_aggregates(program, row)[i]);
	return why_not;
}

static uint32_t key_bytes_of(const struct program *program, uint32_t rule)
{
	const struct program_aggregation *row = program_aggregation(program, &program->rules[rule]);
	uint32_t bytes = sizeof(uint64_t);

	for (uint32_t i = 0; i < row->by_count; i++)
		bytes += program_value_bytes(program, rule, program_by(program, row)[i].node);
	return bytes;
}

int ebpf_can_add_up(const struct program *program, uint32_t rule, const char **why_not)
{
	static const struct plan_options none = { .live = true };
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	const struct plan_draft draft = { .program = program, .options = &none, .nodes = nodes };

	*why_not = nodes ? judge_sums(&draft, rule, key_bytes_of(program, rule)) : "out of memory";
	alloc_free(nodes);
	return !*why_not;
}

bool ebpf_must_deliver(const struct program *program, uint32_t rule, const char **why_not)
{
	return program->rules[rule].aggregation && !obstacle_in_statements(program, &program->rules[rule]) &&
	       !ebpf_can_add_up(program, rule, why_not);
}

static struct plan_sum plan_one(const struct plan_draft *draft, const struct program_aggregate *row, uint32_t *words)
{
	struct plan_sum sum = { .has_buckets = row->op >= PROGRAM_HISTOGRAM_OF };

	sum.may_lack = row->there || (row->node != PROGRAM_NONE && draft->nodes[row->node].divides);
	if (sum.has_buckets || row->op == PROGRAM_COUNT_OF)
		return sum;
	sum.word = ++*words;
	if (sum.may_lack)
		sum.count_word = ++*words;
	return sum;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* How many keys fit, and room for their buckets. */
static void size_tables(struct plan_sums *sums, uint64_t pool, uint32_t with_buckets)
{
	uint32_t entries = PLAN_SUMS_BYTES_MAX / ((INDEX_HEAD_BYTES + sums->key_bytes) * sums->indexes) - 1;
	uint32_t rows = PLAN_SUMS_BYTES_MAX / (sums->row_words * 8 * sums->halves) - 1, buckets;

	sums->keys = least(pool, least(entries, rows));
	if (!with_buckets)
		return;
	buckets = least((uint64_t)sums->keys * BUCKETS_PER_KEY, BUCKETS_MAX);
	buckets = buckets < BUCKETS_LEAST ? BUCKETS_LEAST : buckets;
	buckets = least((uint64_t)buckets * with_buckets, BUCKETS_MAX);
	while (1u << sums->bucket_bits < buckets)
		sums->bucket_bits++;
}

int plan_sums(const struct plan_draft *draft, struct plan_rule *rule)
{
	const struct program *program = draft->program;
	const struct program_aggregation *row = program_aggregation(program, rule->rule);
	struct plan_sums *sums = &rule->sums;
	struct plan_sum *each;
	uint32_t with_buckets = 0;

	if (!row)
		return 0;
	sums->key_bytes = key_bytes_of(program, rule->index);
	sums->why_not = judge_sums(draft, rule->index, sums->key_bytes);
	if (sums->why_not)
		return 0;
	sums->sums = each = arena_zero(draft->plan->arena, row->aggregate_count, sizeof *each);
	if (!each)
		return -ENOMEM;
	sums->here = true;
	sums->row_words = 1; /* how many matches */
	for (uint32_t i = 0; i < row->aggregate_count; i++) {
		each[i] = plan_one(draft, &program_aggregates(program, row)[i], &sums->row_words);
		with_buckets += each[i].has_buckets;
	}
	sums->halves = row->every_ns ? 2 : 1;
	sums->indexes = row->flags & PROGRAM_AGGREGATION_DELTA ? 2 : 1;
	size_tables(sums, rule->rule->pool, with_buckets);
	return 0;
}
