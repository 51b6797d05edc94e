// SPDX-License-Identifier: BSD-2-Clause
/*
 * Combines records of several sources: one source after the other, by equal values where the constraint has some (a
 * hash join), else by a range of sorted values, else each with each.
 */

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "desl/check-priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JOIN_KEYS_MAX = 16 };

/* A source that is being added: by which values its records are found. */
struct step {
	struct desl_making *making;
	unsigned source;
	const struct desl_expr *own[JOIN_KEYS_MAX], *other[JOIN_KEYS_MAX];
	unsigned key_count;
	const struct desl_expr *low, *high; /* of a range, in terms of sources before */
	const struct desl_expr *column;
	const struct desl_expr *tests[256]; /* what can be told from now on */
	unsigned test_count;
	union desl_cell *keys;
	uint32_t *next, *heads, *sorted;
	uint32_t mask;
	uint32_t *rows;
	size_t count, capacity;
};

static unsigned sources_in(const struct desl_making *making)
{
	uint32_t joined = 0;

	for (unsigned i = 0; i < making->type->source_count; i++)
		joined |= making->inputs[i].is_joined ? UINT32_C(1) << i : 0;
	return joined;
}

static void take_key(struct step *step, const struct desl_expr *relation, uint32_t joined)
{
	const struct desl_type *type = step->making->type;
	const struct desl_expr *x = relation->operands, *a = x->next;
	uint32_t bit = UINT32_C(1) << step->source;

	if (relation->op != DESL_EQ || step->key_count == JOIN_KEYS_MAX)
		return;
	if (desl_sources_of(type, x) != bit || desl_sources_of(type, a) & ~joined || !desl_sources_of(type, a)) {
		const struct desl_expr *swapped = x;

		x = a;
		a = swapped;
	}
	if (desl_sources_of(type, x) != bit || desl_sources_of(type, a) & ~joined || !desl_sources_of(type, a))
		return;
	step->own[step->key_count] = x;
	step->other[step->key_count++] = a;
}

/* "a rel x" with one side a field of the source: a bound of it. */
static void take_bound(struct step *step, const struct desl_expr *relation, uint32_t joined)
{
	const struct desl_type *type = step->making->type;
	const struct desl_expr *x = relation->operands, *a = x->next, *own, *other;
	bool is_low = relation->op == DESL_GREATER || relation->op == DESL_GREATER_EQ; /* of a */
	uint32_t bit = UINT32_C(1) << step->source;

	if (!desl_is_relation(relation->op) || relation->op == DESL_EQ)
		return;
	own = a->op == DESL_COLUMN && a->source == step->source ? a : x;
	other = own == a ? x : a;
	if (own->op != DESL_COLUMN || own->source != step->source || desl_sources_of(type, other) & ~joined ||
	    !desl_sources_of(type, other) || desl_sources_of(type, other) & bit)
		return;
	if (step->column && step->column->column != own->column)
		return;
	step->column = own;
	if (is_low == (own == a))
		step->low = other;
	else
		step->high = other;
}

static void prepare_join_step(struct step *step, bool only_look)
{
	struct desl_making *making = step->making;
	const struct desl_type *type = making->type;
	const struct desl_expr *optional = type->sources[step->source].optional;
	uint32_t joined = sources_in(making), bit = UINT32_C(1) << step->source;

	for (unsigned i = 0; i < type->conjunct_count; i++) {
		const struct desl_expr *conjunct = type->conjuncts[i];
		uint32_t of = desl_sources_of(type, conjunct);

		if (!(of & bit) || making->tested[i])
			continue;
		if (desl_is_relation(conjunct->op) && !optional) {
			take_key(step, conjunct, joined);
			take_bound(step, conjunct, joined);
		}
		if (of & ~(joined | bit) || only_look)
			continue;
		making->tested[i] = true;
		step->tests[step->test_count++] = conjunct;
	}
	if (optional)
		take_key(step, optional, joined);
}

static int build_hash(struct step *step)
{
	const struct desl_input *input = &step->making->inputs[step->source];
	uint32_t row[DESL_SOURCES_MAX], size = 16;
	struct desl_at at = { .making = step->making, .row = row };

	while (size < input->count && size < UINT32_C(1) << 31)
		size *= 2;
	step->mask = size - 1;
	step->keys = alloc_zero(input->count * step->key_count, sizeof *step->keys);
	step->next = alloc_zero(input->count, sizeof *step->next);
	step->heads = alloc_zero(size, sizeof *step->heads);
	if (!step->keys || !step->next || !step->heads)
		return -ENOMEM;
	memset(row, 0xff, sizeof row);
	/* From the last: chains come out in the order of the records. */
	for (uint32_t i = (uint32_t)input->count; i--;) {
		uint64_t hash = step->making->program->texts.seed;
		bool is_absent = false;

		row[step->source] = i;
		for (unsigned j = 0; j < step->key_count; j++) {
			union desl_cell cell = desl_value(step->own[j], &at);

			is_absent = is_absent || desl_is_absent(step->own[j]->kind, cell);
			step->keys[(size_t)i * step->key_count + j] = cell;
			hash = desl_hash(hash, step->own[j]->kind, cell);
		}
		if (is_absent)
			continue;
		step->next[i] = step->heads[hash_fold(hash) & step->mask];
		step->heads[hash_fold(hash) & step->mask] = i + 1;
	}
	return 0;
}

struct sorting {
	const struct desl_program *program;
	const struct desl_input *input;
	const struct desl_expr *column;
};

static union desl_cell cell_of(const struct desl_input *input, const struct desl_expr *column, uint32_t candidate)
{
	return input->table->cells[column->column][input->list ? input->list[candidate] : candidate];
}

static int compare_candidates(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = desl_compare(sorting->program, sorting->column->kind, cell_of(sorting->input, sorting->column, a),
				 cell_of(sorting->input, sorting->column, b));

	return order ? order : a < b ? -1 : a > b;
}

static int build_sorted(struct step *step)
{
	const struct desl_input *input = &step->making->inputs[step->source];
	struct sorting sorting = { step->making->program, input, step->column };
	uint32_t count = 0;

	step->sorted = alloc_zero(input->count + 1, sizeof *step->sorted);
	if (!step->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->count; i++) {
		if (!desl_is_absent(step->column->kind, cell_of(input, step->column, i)))
			step->sorted[count++] = i;
	}
	step->mask = count;
	qsort_r(step->sorted, count, sizeof *step->sorted, compare_candidates, &sorting);
	return 0;
}

static int too_much(struct desl_making *making)
{
	diag_add(making->diag, ASTERISM_ERROR, &making->type->name.location,
		 "constrain it with eq(x, a) between the types that it is made from", "'%s' combines too many records",
		 making->type->name.text);
	return -EINVAL;
}

/* Keeps the combination if all that can be told of it holds. */
static int try_row(struct step *step, const uint32_t *row, uint32_t candidate, bool *is_found)
{
	unsigned width = step->making->type->source_count;
	uint32_t made[DESL_SOURCES_MAX];
	struct desl_at at = { .making = step->making, .row = made };

	memcpy(made, row, width * sizeof *made);
	made[step->source] = candidate;
	if (++step->making->looks > DESL_LOOKS_MAX)
		return too_much(step->making);
	for (unsigned i = 0; i < step->test_count; i++) {
		if (!desl_holds(step->tests[i], &at))
			return 0;
	}
	*is_found = true;
	if (step->count >= DESL_COMBINED_MAX)
		return too_much(step->making);
	if (alloc_grow(&step->rows, &step->capacity, (step->count + 1) * width, sizeof *step->rows))
		return -ENOMEM;
	memcpy(step->rows + step->count++ * width, made, width * sizeof *made);
	return 0;
}

static int probe_hash(struct step *step, const uint32_t *row, bool *is_found)
{
	struct desl_at at = { .making = step->making, .row = row };
	union desl_cell cells[JOIN_KEYS_MAX];
	uint64_t hash = step->making->program->texts.seed;
	int result = 0;

	for (unsigned j = 0; j < step->key_count; j++) {
		cells[j] = desl_value(step->other[j], &at);
		if (desl_is_absent(step->own[j]->kind, cells[j]))
			return 0;
		hash = desl_hash(hash, step->own[j]->kind, cells[j]);
	}
	for (uint32_t i = step->heads[hash_fold(hash) & step->mask]; i && !result; i = step->next[i - 1]) {
		const union desl_cell *keys = step->keys + (size_t)(i - 1) * step->key_count;
		bool is_same = true;

		for (unsigned j = 0; j < step->key_count; j++)
			is_same = is_same && desl_is_equal(step->own[j]->kind, keys[j], cells[j]);
		if (is_same)
			result = try_row(step, row, i - 1, is_found);
	}
	return result;
}

static int probe_range(struct step *step, const uint32_t *row, bool *is_found)
{
	const struct desl_making *making = step->making;
	const struct desl_input *input = &making->inputs[step->source];
	struct desl_at at = { .making = making, .row = row };
	enum desl_kind kind = step->column->kind;
	uint32_t first = 0, end = step->mask;
	union desl_cell low = { 0 }, high = { 0 };
	int result = 0;

	if (step->low)
		low = desl_value(step->low, &at);
	if (step->high)
		high = desl_value(step->high, &at);
	if ((step->low && desl_is_absent(kind, low)) || (step->high && desl_is_absent(kind, high)))
		return 0;
	while (step->low && first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (desl_compare(making->program, kind, cell_of(input, step->column, step->sorted[middle]), low) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < step->mask && !result; first++) {
		if (step->high &&
		    desl_compare(making->program, kind, cell_of(input, step->column, step->sorted[first]), high) > 0)
			break;
		result = try_row(step, row, step->sorted[first], is_found);
	}
	return result;
}

static int probe(struct step *step, const uint32_t *row)
{
	const struct desl_making *making = step->making;
	bool is_found = false, is_optional = making->type->sources[step->source].optional;
	int result = 0;

	if (step->key_count)
		result = probe_hash(step, row, &is_found);
	else if (step->column)
		result = probe_range(step, row, &is_found);
	else
		for (uint32_t i = 0; i < making->inputs[step->source].count && !result; i++)
			result = try_row(step, row, i, &is_found);
	return !result && !is_found && is_optional ? try_row(step, row, HASH_NONE, &is_found) : result;
}

static int add_source(struct desl_making *making, unsigned source)
{
	struct step *step = alloc_zero(1, sizeof *step);
	unsigned width = making->type->source_count;
	int result = 0;

	if (!step)
		return -ENOMEM;
	step->making = making;
	step->source = source;
	prepare_join_step(step, false);
	if (step->key_count)
		result = build_hash(step);
	else if (step->column)
		result = build_sorted(step);
	for (size_t i = 0; i < making->count && !result; i++)
		result = probe(step, making->rows + i * width);
	alloc_free(making->rows);
	making->rows = step->rows;
	making->count = step->count;
	making->inputs[source].is_joined = true;
	alloc_free(step->keys);
	alloc_free(step->next);
	alloc_free(step->heads);
	alloc_free(step->sorted);
	alloc_free(step);
	return result;
}

/* How well a source can be added now; those that may be missing come last. */
static int rank_source(struct desl_making *making, unsigned source)
{
	struct step step = { .making = making, .source = source };

	prepare_join_step(&step, true);
	if (making->type->sources[source].optional)
		return step.key_count ? 0 : -1;
	return step.key_count ? 4 : step.low && step.high ? 3 : step.column ? 2 : 1;
}

/* The one to begin with: not one that others give both bounds of. */
static unsigned find_first_step(struct desl_making *making)
{
	const struct desl_type *type = making->type;
	unsigned first = DESL_SOURCES_MAX;

	for (unsigned i = 0; i < type->source_count; i++) {
		bool is_bounded = false;

		if (type->sources[i].is_listed || type->sources[i].optional)
			continue;
		if (first == DESL_SOURCES_MAX)
			first = i;
		for (unsigned j = 0; j < type->source_count; j++)
			making->inputs[j].is_joined = j != i;
		is_bounded = rank_source(making, i) == 3;
		for (unsigned j = 0; j < type->source_count; j++)
			making->inputs[j].is_joined = false;
		if (!is_bounded)
			return i;
	}
	return first;
}

static int begin_join(struct desl_making *making, unsigned first)
{
	unsigned width = making->type->source_count;

	making->count = making->inputs[first].count;
	making->rows = alloc_zero(making->count * width + 1, sizeof *making->rows);
	if (!making->rows)
		return -ENOMEM;
	memset(making->rows, 0xff, making->count * width * sizeof *making->rows);
	for (size_t i = 0; i < making->count; i++)
		making->rows[i * width + first] = (uint32_t)i;
	making->inputs[first].is_joined = true;
	return 0;
}

int desl_join(struct desl_making *making)
{
	int result = begin_join(making, find_first_step(making));

	while (!result) {
		int best = -2, rank;
		unsigned source = 0;

		for (unsigned i = 0; i < making->type->source_count; i++) {
			if (making->inputs[i].is_joined || making->type->sources[i].is_listed)
				continue;
			rank = rank_source(making, i);
			if (rank > best) {
				best = rank;
				source = i;
			}
		}
		if (best == -2)
			break;
		result = add_source(making, source);
	}
	return result;
}
