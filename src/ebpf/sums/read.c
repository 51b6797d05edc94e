// SPDX-License-Identifier: BSD-2-Clause
/* Reads what programs have added up into a table, and ends the table's periods where there is EVERY. */

#include "ebpf/sums/sums-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sums_reader {
	const struct memory *memory;
	const struct plan_sums *plan;
	const struct memory_sums *at;
	const struct program_aggregation *row;
	const struct program_aggregate *aggregates;
	struct aggregate_table *table;
	uint32_t *rows; /* of the table, per number of a key */
};

static struct sums_reader reader_of(const struct memory *memory, uint32_t rule, struct aggregate_table *table)
{
	const struct program *program = memory->plan->program;
	const struct program_aggregation *row = program_aggregation(program, &program->rules[rule]);

	return (struct sums_reader){ .memory = memory,
				     .plan = &memory->plan->rules[rule].sums,
				     .at = &memory->rules[rule].sums,
				     .row = row,
				     .aggregates = program_aggregates(program, row),
				     .table = table };
}

static struct matcher_sums *head_of(const struct sums_reader *reader, uint32_t half)
{
	return (struct matcher_sums *)memory_at(reader->memory, &reader->at->heads) + half;
}

static uint32_t sums_index(const struct sums_reader *reader, uint32_t half)
{
	return reader->plan->indexes > 1 ? half : 0;
}

static uint32_t used_of(const struct sums_reader *reader, uint32_t half)
{
	uint64_t used = __atomic_load_n(&head_of(reader, sums_index(reader, half))->used, __ATOMIC_ACQUIRE);

	return used < reader->plan->keys ? (uint32_t)used : reader->plan->keys;
}

static const char *sums_key(const struct sums_reader *reader, uint32_t half, uint32_t number)
{
	size_t bytes = sizeof(struct matcher_sums_key) + reader->plan->key_bytes;
	size_t entry = (size_t)sums_index(reader, half) * (reader->plan->keys + 1) + number;

	return (const char *)memory_at(reader->memory, &reader->at->keys) + entry * bytes +
	       sizeof(struct matcher_sums_key);
}

static uint64_t *sums_row(const struct sums_reader *reader, uint32_t half, uint32_t lane, uint32_t number)
{
	size_t row = ((size_t)half * reader->at->lanes + lane) * (reader->plan->keys + 1) + number;

	return (uint64_t *)memory_at(reader->memory, &reader->at->rows) + row * reader->plan->row_words;
}

static uint64_t *names_of(const struct sums_reader *reader, uint32_t half)
{
	return (uint64_t *)memory_at(reader->memory, &reader->at->names) +
	       ((size_t)sums_index(reader, half) << reader->plan->bucket_bits);
}

static uint64_t *buckets_of(const struct sums_reader *reader, uint32_t half, uint32_t lane)
{
	return (uint64_t *)memory_at(reader->memory, &reader->at->buckets) +
	       (((size_t)half * reader->at->lanes + lane) << reader->plan->bucket_bits);
}

static uint64_t matches_of(const struct sums_reader *reader, uint32_t half, uint32_t number)
{
	uint64_t matches = 0;

	for (uint32_t lane = 0; lane < reader->at->lanes; lane++)
		matches += __atomic_load_n(sums_row(reader, half, lane, number), __ATOMIC_RELAXED);
	return matches;
}

static bool is_empty(const struct sums_reader *reader, uint32_t half)
{
	uint32_t used = used_of(reader, half);

	if (__atomic_load_n(&head_of(reader, half)->other, __ATOMIC_RELAXED))
		return false;
	for (uint32_t number = 1; number <= used; number++)
		if (matches_of(reader, half, number))
			return false;
	return true;
}

/* The value of a least or greatest one: the code keeps it turned. */
static uint64_t turned_back(const struct sums_reader *reader, const struct program_aggregate *row, uint64_t bits)
{
	const struct program *program = reader->memory->plan->program;

	if (row->op == PROGRAM_MIN_OF)
		bits = ~bits;
	return program->nodes[row->node].kind == PROGRAM_I64 ? bits ^ UINT64_C(1) << 63 : bits;
}

static void take_row(const struct sums_reader *reader, const uint64_t *words, uint32_t table_row)
{
	for (uint32_t i = 0; i < reader->row->aggregate_count; i++) {
		const struct program_aggregate *row = &reader->aggregates[i];
		const struct plan_sum *sum = &reader->plan->sums[i];
		struct aggregate_part part = { table_row, i, words[sum->count_word ? sum->count_word - 1 : 0] };
		uint64_t bits = sum->word ? words[sum->word - 1] : 0;

		if (sum->has_buckets)
			continue;
		if (row->op == PROGRAM_MIN_OF || row->op == PROGRAM_MAX_OF)
			bits = turned_back(reader, row, bits);
		aggregate_table_put_bits(reader->table, &part, bits);
	}
}

static int take_keys(const struct sums_reader *reader, uint32_t half, uint32_t used)
{
	for (uint32_t number = 1; number <= used; number++) {
		uint64_t matches = matches_of(reader, half, number);

		reader->rows[number] = AGGREGATE_NO_ROW;
		if (!matches)
			continue;
		if (aggregate_table_put(reader->table, sums_key(reader, half, number), matches, &reader->rows[number]))
			return -ENOMEM;
		for (uint32_t lane = 0; lane < reader->at->lanes && reader->rows[number] != AGGREGATE_NO_ROW; lane++)
			take_row(reader, sums_row(reader, half, lane, number), reader->rows[number]);
	}
	return 0;
}

static int take_buckets(const struct sums_reader *reader, uint32_t half, uint32_t used)
{
	const uint64_t *names = reader->plan->bucket_bits ? names_of(reader, half) : NULL;

	for (uint32_t place = 0; names && place < 1u << reader->plan->bucket_bits; place++) {
		uint64_t name = names[place] >> SUMS_NAME_BUCKET_BITS, number = name >> SUMS_NAME_AGGREGATE_BITS;
		int32_t bucket = (int32_t)(names[place] & ((1 << SUMS_NAME_BUCKET_BITS) - 1)) - SUMS_NAME_ZERO;
		struct aggregate_part part = { .index = name & ((1 << SUMS_NAME_AGGREGATE_BITS) - 1) };

		if (!number || number > used || reader->rows[number] == AGGREGATE_NO_ROW)
			continue;
		part.row = reader->rows[number];
		for (uint32_t lane = 0; lane < reader->at->lanes; lane++)
			part.count += buckets_of(reader, half, lane)[place];
		if (part.count && aggregate_table_put_bucket(reader->table, &part, bucket))
			return -ENOMEM;
	}
	return 0;
}

/* What was taken is there no more; keys and places stay, unless they are the half's own. */
static void clear_half(const struct sums_reader *reader, uint32_t half, uint32_t used)
{
	size_t places = (size_t)1 << reader->plan->bucket_bits;

	for (uint32_t lane = 0; lane < reader->at->lanes; lane++) {
		memset(sums_row(reader, half, lane, 0), 0, (used + 1ull) * reader->plan->row_words * 8);
		if (reader->plan->bucket_bits)
			memset(buckets_of(reader, half, lane), 0, places * sizeof(uint64_t));
	}
	head_of(reader, half)->other = 0;
	if (reader->plan->indexes == 1)
		return;
	memset((uint32_t *)memory_at(reader->memory, &reader->at->chains) + ((size_t)half << reader->at->hash_bits), 0,
	       sizeof(uint32_t) << reader->at->hash_bits);
	if (reader->plan->bucket_bits)
		memset(names_of(reader, half), 0, places * sizeof(uint64_t));
	head_of(reader, half)->used = 0;
	head_of(reader, half)->shared = head_of(reader, half)->placed = 0;
}

static int take_half(struct sums_reader *reader, uint32_t half)
{
	uint32_t used = used_of(reader, half);
	int result;

	reader->rows = alloc_zero(used + 1, sizeof *reader->rows);
	if (!reader->rows)
		return -ENOMEM;
	result = take_keys(reader, half, used);
	if (!result)
		result = take_buckets(reader, half, used);
	aggregate_table_put_other(reader->table, head_of(reader, half)->other);
	clear_half(reader, half, used);
	alloc_free(reader->rows);
	reader->rows = NULL;
	return result;
}

/* No program adds to the half from here on. After the last match none is left that could. */
static void close_half(const struct sums_reader *reader, uint32_t half, uint64_t until)
{
	__atomic_store_n(&head_of(reader, half)->end, 0, __ATOMIC_SEQ_CST);
	if (reader->memory->plan->live && until != UINT64_MAX)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static uint64_t sums_end(const struct sums_reader *reader, uint32_t half)
{
	return __atomic_load_n(&head_of(reader, half)->end, __ATOMIC_RELAXED);
}

void sums_expect(const struct memory *memory, uint32_t rule, uint64_t due)
{
	struct sums_reader reader = reader_of(memory, rule, NULL);
	uint64_t next = due > UINT64_MAX - reader.row->every_ns ? UINT64_MAX : due + reader.row->every_ns;

	if (!reader.plan->here || reader.plan->halves == 1)
		return;
	for (uint32_t half = 0; half < 2; half++)
		if (sums_end(&reader, half) != due && sums_end(&reader, half) != next)
			__atomic_store_n(&head_of(&reader, half)->end, sums_end(&reader, !half) == due ? next : due,
					 __ATOMIC_SEQ_CST);
}

/* The keys that came since the last time get places in the table. */
static int place_keys(const struct sums_reader *reader, uint32_t half)
{
	struct matcher_sums *head = head_of(reader, sums_index(reader, half));
	uint32_t used = used_of(reader, half), row;

	for (; head->placed < used; head->placed++)
		if (aggregate_table_put(reader->table, sums_key(reader, half, (uint32_t)head->placed + 1), 0, &row))
			return -ENOMEM;
	return 0;
}

int sums_share(const struct memory *memory, uint32_t rule, uint64_t due, struct aggregate_table *table)
{
	struct sums_reader reader = reader_of(memory, rule, table);
	int result = 0;

	for (uint32_t half = 0; reader.plan->here && half < reader.plan->halves && !result; half++) {
		if (reader.plan->indexes > 1 && sums_end(&reader, half) != due)
			continue;
		__atomic_store_n(&head_of(&reader, half)->shared, 1, __ATOMIC_RELAXED);
		result = place_keys(&reader, half);
	}
	return result;
}

int sums_take(const struct memory *memory, uint32_t rule, uint64_t until, struct aggregate_table *table)
{
	struct sums_reader reader = reader_of(memory, rule, table);
	bool later = false;

	if (!reader.plan->here)
		return 0;
	if (reader.plan->halves == 1)
		return take_half(&reader, 0);
	for (uint32_t half = 0; half < 2; half++) {
		uint64_t end = sums_end(&reader, half);
		int result = 0;

		if (end > until) {
			later |= !is_empty(&reader, half);
		} else if (end) {
			close_half(&reader, half, until);
			result = take_half(&reader, half);
		}
		if (result)
			return result;
	}
	return later;
}
