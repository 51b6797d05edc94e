// SPDX-License-Identifier: BSD-2-Clause
/* Adds up the matches of a rule. */

#include "program/aggregate/aggregate.h"

#include "base/alloc.h"
#include "base/hash-table.h"
#include "base/hash.h"
#include "program/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct aggregate_table {
	const struct program *program;
	uint32_t rule;
	const struct program_aggregation *row;
	const struct program_aggregate *by, *aggregates; /* of the image */
	uint32_t offsets[PROGRAM_BY_MAX], key_bytes;
	uint64_t seed; /* of the hash: observed processes choose keys */
	struct hash_table index;
	char *keys;
	struct aggregate_cell *cells; /* of one key together */
	uint64_t *matches;            /* of one key */
	size_t count, key_capacity, cell_capacity, match_capacity;
	bool has_matches;
	uint64_t other;
	struct aggregate_row *sorted;
	size_t sorted_capacity;
	char *key; /* of the match at hand */
};

static void lay_out_table(struct aggregate_table *table)
{
	table->key_bytes = sizeof(uint64_t);
	for (uint32_t i = 0; i < table->row->by_count; i++) {
		table->offsets[i] = table->key_bytes;
		table->key_bytes += program_value_bytes(table->program, table->rule, table->by[i].node);
	}
}

int aggregate_table_new(const struct program *program, uint32_t rule, struct aggregate_table **made)
{
	struct aggregate_table *table = alloc_zero(1, sizeof *table);

	if (!table)
		return -ENOMEM;
	table->program = program;
	table->rule = rule;
	table->row = program_aggregation(program, &program->rules[rule]);
	table->by = program_by(program, table->row);
	table->aggregates = program_aggregates(program, table->row);
	lay_out_table(table);
	table->seed = hash_seed(table);
	table->key = alloc_zero(table->key_bytes, 1);
	if (!table->key) {
		aggregate_table_free(table);
		return -ENOMEM;
	}
	*made = table;
	return 0;
}

static void free_buckets(struct aggregate_table *table)
{
	for (size_t i = 0; i < table->count * table->row->aggregate_count; i++)
		alloc_free(table->cells[i].buckets.counts);
}

void aggregate_table_free(struct aggregate_table *table)
{
	if (!table)
		return;
	free_buckets(table);
	hash_table_fini(&table->index);
	alloc_free(table->keys);
	alloc_free(table->cells);
	alloc_free(table->matches);
	alloc_free(table->sorted);
	alloc_free(table->key);
	alloc_free(table);
}

void aggregate_table_clear(struct aggregate_table *table)
{
	free_buckets(table);
	hash_table_fini(&table->index);
	table->index = (struct hash_table){ 0 };
	table->count = 0;
	table->has_matches = false;
	table->other = 0;
}

bool aggregate_table_is_empty(const struct aggregate_table *table)
{
	return !table->has_matches && !table->other;
}

const struct program_aggregation *aggregate_table_row(const struct aggregate_table *table)
{
	return table->row;
}

const struct program *aggregate_table_program(const struct aggregate_table *table)
{
	return table->program;
}

/* False: the match lacks the value, or an integer was divided by zero. */
static bool evaluate_aggregate(const struct aggregate_table *table, const struct program_match *match,
			       const struct program_aggregate *row, struct program_value *value)
{
	const struct program_operand operand = {
		.program = table->program,
		.rule = &table->program->rules[table->rule],
		.slots = match->slots,
	};
	struct program_value there;

	if (row->there && (program_eval(&operand, row->there - 1, &there) || !there.boolean))
		return false;
	return program_eval(&operand, row->node, value) == 0;
}

/* What equal values have in common: there is one zero, and one that is no number. */
static uint64_t equal_bits(const struct program_value *value)
{
	double number = value->f64;

	if (value->kind == PROGRAM_BOOL)
		return value->boolean;
	if (value->kind != PROGRAM_F64)
		return value->u64;
	if (number == 0)
		number = 0; /* not -0 */
	else if (__builtin_isnan(number))
		number = __builtin_nan("");
	return ((union {
		       double real;
		       uint64_t bits;
	       }){ .real = number })
		.bits;
}

static void make_row_key(struct aggregate_table *table, const struct program_match *match)
{
	uint64_t there = 0;

	memset(table->key, 0, table->key_bytes);
	for (uint32_t i = 0; i < table->row->by_count; i++) {
		char *at = table->key + table->offsets[i];
		struct program_value value;

		if (!evaluate_aggregate(table, match, &table->by[i], &value))
			continue;
		there |= UINT64_C(1) << i;
		if (value.kind == PROGRAM_STRING) {
			uint32_t next = i + 1 < table->row->by_count ? table->offsets[i + 1] : table->key_bytes;

			memcpy(at, value.text, strnlen(value.text, next - table->offsets[i] - 1));
		} else {
			memcpy(at, &(uint64_t){ equal_bits(&value) }, sizeof(uint64_t));
		}
	}
	memcpy(table->key, &there, sizeof there);
}

/* The number of the key, a new one where there is room for it; HASH_NONE: there is none. */
static int find_key(struct aggregate_table *table, const char *key, uint32_t *number)
{
	uint64_t hash = hash_bytes(table->seed, key, table->key_bytes);
	size_t width = table->row->aggregate_count;

	for (size_t step = 0; (*number = hash_table_next(&table->index, hash, &step)) != HASH_NONE;)
		if (memcmp(table->keys + (size_t)*number * table->key_bytes, key, table->key_bytes) == 0)
			return 0;
	if (table->count >= table->program->rules[table->rule].pool)
		return 0;
	if (alloc_grow(&table->keys, &table->key_capacity, table->count, table->key_bytes) ||
	    alloc_grow(&table->cells, &table->cell_capacity, table->count, width * sizeof *table->cells) ||
	    alloc_grow(&table->matches, &table->match_capacity, table->count, sizeof *table->matches) ||
	    hash_table_reserve(&table->index, NULL, table->count + 1))
		return -ENOMEM;
	memcpy(table->keys + table->count * table->key_bytes, key, table->key_bytes);
	memset(table->cells + table->count * width, 0, width * sizeof *table->cells);
	table->matches[table->count] = 0;
	*number = (uint32_t)table->count++;
	hash_table_add(&table->index, hash, *number);
	return 0;
}

/* Makes the buckets reach from bucket low to bucket high at least. */
static int stretch(struct aggregate_buckets *buckets, int32_t low, int32_t high)
{
	int32_t end = buckets->first + (int32_t)buckets->count;

	if (!buckets->count)
		buckets->first = end = low;
	if (low >= buckets->first && high < end)
		return 0;
	low = low < buckets->first ? low : buckets->first;
	end = high < end ? end : high + 1;
	uint64_t *counts = alloc_zero((size_t)(end - low), sizeof *counts);

	if (!counts)
		return -ENOMEM;
	if (buckets->count)
		memcpy(counts + (buckets->first - low), buckets->counts, buckets->count * sizeof *counts);
	alloc_free(buckets->counts);
	*buckets = (struct aggregate_buckets){ low, (uint32_t)(end - low), counts };
	return 0;
}

/* count values of one bucket. */
static int add_bucket(struct aggregate_cell *cell, int32_t bucket, uint64_t count)
{
	if (stretch(&cell->buckets, bucket, bucket))
		return -ENOMEM;
	cell->buckets.counts[bucket - cell->buckets.first] += count;
	cell->count += count;
	return 0;
}

static void add_up_cell(struct aggregate_cell *cell, const struct program_value *value)
{
	if (value->kind == PROGRAM_F64)
		cell->real += value->f64;
	else
		cell->bits += value->u64;
}

static bool is_less(enum program_kind kind, uint64_t a, uint64_t b)
{
	union {
		uint64_t bits;
		double real;
	} left = { a }, right = { b };

	if (kind == PROGRAM_F64)
		return left.real < right.real;
	return kind == PROGRAM_U64 ? a < b : (int64_t)a < (int64_t)b;
}

static void keep_best(struct aggregate_cell *cell, const struct program_value *value, bool greatest)
{
	if (!cell->count ||
	    is_less(value->kind, greatest ? cell->bits : value->u64, greatest ? value->u64 : cell->bits))
		cell->bits = value->u64;
}

/* What the cell keeps of a value, or of a sum of some; nothing where it counts. */
static void add_to_cell(struct aggregate_cell *cell, uint32_t op, const struct program_value *value)
{
	if (op == PROGRAM_SUM_OF || op == PROGRAM_AVG_OF)
		add_up_cell(cell, value);
	else if (op == PROGRAM_MIN_OF || op == PROGRAM_MAX_OF)
		keep_best(cell, value, op == PROGRAM_MAX_OF);
}

static int add_value_to_cell(struct aggregate_cell *cell, uint32_t op, const struct program_value *value)
{
	if (op == PROGRAM_HISTOGRAM_OF || op == PROGRAM_QUANTILES_OF)
		return add_bucket(cell, aggregate_bucket(value), 1);
	add_to_cell(cell, op, value);
	cell->count++;
	return 0;
}

int aggregate_table_add(struct aggregate_table *table, const struct program_match *match)
{
	uint32_t number;

	make_row_key(table, match);
	if (aggregate_table_put(table, table->key, 1, &number))
		return -ENOMEM;
	if (number == AGGREGATE_NO_ROW)
		return 0;
	for (uint32_t i = 0; i < table->row->aggregate_count; i++) {
		const struct program_aggregate *row = &table->aggregates[i];
		struct aggregate_cell *cell = &table->cells[(size_t)number * table->row->aggregate_count + i];
		struct program_value value = { 0 };

		if (row->op != PROGRAM_COUNT_OF && !evaluate_aggregate(table, match, row, &value))
			continue;
		if (add_value_to_cell(cell, row->op, &value))
			return -ENOMEM;
	}
	return 0;
}

int aggregate_table_put(struct aggregate_table *table, const char *key, uint64_t matches, uint32_t *row)
{
	if (find_key(table, key, row))
		return -ENOMEM;
	if (*row == AGGREGATE_NO_ROW) {
		table->other += matches;
		return 0;
	}
	table->matches[*row] += matches;
	table->has_matches |= matches > 0;
	return 0;
}

void aggregate_table_put_other(struct aggregate_table *table, uint64_t matches)
{
	table->other += matches;
}

static struct aggregate_cell *cell_of(const struct aggregate_table *table, const struct aggregate_part *part)
{
	return &table->cells[(size_t)part->row * table->row->aggregate_count + part->index];
}

void aggregate_table_put_bits(struct aggregate_table *table, const struct aggregate_part *part, uint64_t bits)
{
	const struct program_aggregate *row = &table->aggregates[part->index];
	struct aggregate_cell *cell = cell_of(table, part);
	struct program_value value = { .u64 = bits };

	if (!part->count)
		return;
	if (row->op != PROGRAM_COUNT_OF) {
		value.kind = (enum program_kind)table->program->nodes[row->node].kind;
		add_to_cell(cell, row->op, &value);
	}
	cell->count += part->count;
}

int aggregate_table_put_bucket(struct aggregate_table *table, const struct aggregate_part *part, int32_t bucket)
{
	return add_bucket(cell_of(table, part), bucket, part->count);
}

bool aggregate_key(const struct aggregate_table *table, const struct aggregate_row *row, uint32_t index,
		   struct program_value *value)
{
	const char *at = row->key + table->offsets[index];
	uint64_t there;

	memcpy(&there, row->key, sizeof there);
	value->kind = table->program->nodes[table->by[index].node].kind;
	if (value->kind == PROGRAM_STRING) {
		value->text = at;
	} else {
		memcpy(&value->u64, at, sizeof value->u64);
		if (value->kind == PROGRAM_BOOL)
			value->boolean = value->u64 != 0;
	}
	return there >> index & 1;
}

bool aggregate_value(const struct aggregate_table *table, const struct aggregate_row *row, uint32_t index,
		     struct program_value *value)
{
	const struct program_aggregate *aggregate = &table->aggregates[index];
	const struct aggregate_cell *cell = &row->cells[index];

	if (aggregate->op == PROGRAM_COUNT_OF) {
		*value = (struct program_value){ .kind = PROGRAM_U64, .u64 = cell->count };
		return true;
	}
	value->kind = table->program->nodes[aggregate->node].kind;
	value->u64 = cell->bits;
	if (aggregate->op != PROGRAM_AVG_OF || !cell->count)
		return cell->count != 0;
	double sum = value->kind == PROGRAM_F64   ? cell->real
		     : value->kind == PROGRAM_U64 ? (double)value->u64
						  : (double)value->i64;

	*value = (struct program_value){ .kind = PROGRAM_F64, .f64 = sum / (double)cell->count };
	return true;
}

static int compare_values(const struct program_value *a, const struct program_value *b)
{
	if (a->kind == PROGRAM_STRING)
		return strcmp(a->text, b->text);
	return is_less(a->kind, equal_bits(b), equal_bits(a)) - is_less(a->kind, equal_bits(a), equal_bits(b));
}

/* By what there is of the first aggregate: the number, or of a histogram how many values. */
static int compare_firsts(const struct aggregate_table *table, const struct aggregate_row *a,
			  const struct aggregate_row *b)
{
	bool has_buckets = table->aggregates->op >= PROGRAM_HISTOGRAM_OF;
	struct program_value left, right;
	bool has_left = aggregate_value(table, a, 0, &left), has_right = aggregate_value(table, b, 0, &right);

	if (has_buckets)
		return (b->cells->count > a->cells->count) - (b->cells->count < a->cells->count);
	if (!has_left || !has_right)
		return has_right - has_left;
	return compare_values(&right, &left);
}

static int compare_table_rows(const void *left, const void *right, void *context)
{
	const struct aggregate_table *table = context;
	const struct aggregate_row *a = left, *b = right;
	int order = compare_firsts(table, a, b);

	for (uint32_t i = 0; i < table->row->by_count && !order; i++) {
		struct program_value x, y;
		bool has_x = aggregate_key(table, a, i, &x), has_y = aggregate_key(table, b, i, &y);

		order = has_x && has_y ? compare_values(&x, &y) : has_x - has_y;
	}
	return order;
}

int aggregate_table_sort(struct aggregate_table *table, struct aggregate_report *report)
{
	size_t width = table->row->aggregate_count, count = 0;

	if (table->count &&
	    alloc_grow(&table->sorted, &table->sorted_capacity, table->count - 1, sizeof *table->sorted))
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		if (table->matches[i])
			table->sorted[count++] =
				(struct aggregate_row){ table->keys + i * table->key_bytes, table->cells + i * width };
	if (count)
		qsort_r(table->sorted, count, sizeof *table->sorted, compare_table_rows, table);
	report->rows = table->sorted;
	report->row_count = table->row->top && table->row->top < count ? table->row->top : count;
	report->left_out = count - report->row_count;
	report->other = table->other;
	return 0;
}
