// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the records of a source that take part, before any are combined: those that what is said of them alone holds
 * for. Where the source is aggregated, one stands for all that agree in every other field that is needed.
 */

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "desl/check-priv.h"

#include <errno.h>
#include <string.h>

static bool is_bit_kept(struct desl_making *making, uint32_t bit, struct desl_at *at)
{
	const struct desl_type *type = making->type;

	for (unsigned i = 0; i < type->conjunct_count; i++) {
		if (making->tested[i] && desl_sources_of(type, type->conjuncts[i]) == bit &&
		    !desl_holds(type->conjuncts[i], at))
			return false;
	}
	return true;
}

static bool is_aggregated(const struct desl_type *type, uint32_t bit)
{
	for (unsigned i = 0; i < type->aggregate_count; i++) {
		if (desl_sources_of(type, type->aggregates[i]) == bit)
			return true;
	}
	return false;
}

struct selection {
	struct desl_making *making;
	struct desl_input *input;
	const struct desl_type *of;
	unsigned keys[DESL_FIELDS_MAX], key_count;
	unsigned slots[64], slot_count;
	struct hash_table known;
	size_t capacity, sum_capacity;
	uint32_t last; /* candidate */
};

static bool is_same_row(const struct selection *selection, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < selection->key_count; i++) {
		unsigned column = selection->keys[i];
		union desl_cell *cells = selection->input->table->cells[column];

		if (!desl_is_equal(selection->of->fields[column].kind, cells[a], cells[b]))
			return false;
	}
	return true;
}

static int add_candidate(struct selection *selection, uint32_t record)
{
	struct desl_input *input = selection->input;
	unsigned slots = selection->making->type->aggregate_count;

	if (alloc_grow(&input->list, &selection->capacity, input->count, sizeof *input->list))
		return -ENOMEM;
	input->list[input->count] = record;
	if (selection->slot_count) {
		if (alloc_grow(&input->sums, &selection->sum_capacity, (input->count + 1) * slots, sizeof *input->sums))
			return -ENOMEM;
		memset(input->sums + input->count * slots, 0, slots * sizeof *input->sums);
	}
	selection->last = (uint32_t)input->count++;
	return 0;
}

/* The candidate that stands for the record, a new one if need be. */
static int find_candidate(struct selection *selection, uint32_t record)
{
	const struct desl_input *input = selection->input;
	uint64_t hash = selection->making->program->texts.seed;
	int result;

	if (input->count && is_same_row(selection, input->list[selection->last], record))
		return 0;
	for (unsigned i = 0; i < selection->key_count; i++) {
		unsigned column = selection->keys[i];

		hash = desl_hash(hash, selection->of->fields[column].kind, input->table->cells[column][record]);
	}
	for (size_t step = 0;;) {
		uint32_t found = hash_table_next(&selection->known, hash, &step);

		if (found == HASH_NONE)
			break;
		if (!is_same_row(selection, input->list[found], record))
			continue;
		selection->last = found;
		return 0;
	}
	result = add_candidate(selection, record);
	if (!result)
		result = hash_table_reserve(&selection->known, NULL, input->count);
	if (!result)
		hash_table_add(&selection->known, hash, selection->last);
	return result;
}

static int aggregate(struct selection *selection, struct desl_at *at)
{
	const struct desl_type *type = selection->making->type;
	struct desl_sum *sums = selection->input->sums + (size_t)selection->last * type->aggregate_count;

	for (unsigned i = 0; i < selection->slot_count; i++) {
		const struct desl_expr *operand = type->aggregates[selection->slots[i]]->operands;
		union desl_cell cell = desl_value(operand, at);
		double value = operand->kind == DESL_NUMBER ? cell.number : 0;

		if (!desl_is_absent(operand->kind, cell))
			desl_sum_add(&sums[selection->slots[i]], &(struct desl_sum){ value, 1, value, value });
	}
	return 0;
}

static int select_all(struct selection *selection, unsigned source)
{
	struct desl_making *making = selection->making;
	const struct desl_table *table = selection->input->table;
	uint32_t bit = UINT32_C(1) << source, row[DESL_SOURCES_MAX];
	/* While records are looked at, they are their own candidates. */
	struct desl_input input = *selection->input, *kept = selection->input;
	struct desl_making plain = *making;
	struct desl_at at = { .making = &plain, .row = row };
	int result = 0;

	memset(row, 0xff, sizeof row);
	plain.inputs[source] = input;
	for (uint32_t i = 0; i < table->rows && !result; i++) {
		row[source] = i;
		at.is_divided = false;
		if (!is_bit_kept(making, bit, &at))
			continue;
		result = selection->slot_count ? find_candidate(selection, i) : add_candidate(selection, i);
		if (!result && selection->slot_count)
			result = aggregate(selection, &at);
	}
	if (!kept->list && !result)
		kept->list = alloc_zero(1, sizeof *kept->list);
	return result ? result : kept->list ? 0 : -ENOMEM;
}

int desl_select(struct desl_making *making, unsigned source)
{
	const struct desl_type *type = making->type;
	uint32_t bit = UINT32_C(1) << source;
	struct selection selection = { .making = making,
				       .input = &making->inputs[source],
				       .of = type->sources[source].type };
	bool is_plain = !is_aggregated(type, bit);
	int result;

	selection.input->table = &selection.of->table;
	for (unsigned i = 0; i < type->conjunct_count; i++) {
		if (desl_sources_of(type, type->conjuncts[i]) != bit || type->sources[source].optional)
			continue;
		making->tested[i] = true;
		is_plain = false;
	}
	if (is_plain) {
		selection.input->count = selection.of->table.rows;
		return 0;
	}
	for (unsigned i = 0; i < selection.of->field_count; i++) {
		if (type->sources[source].used[i])
			selection.keys[selection.key_count++] = i;
	}
	for (unsigned i = 0; i < type->aggregate_count; i++) {
		if (desl_sources_of(type, type->aggregates[i]) == bit)
			selection.slots[selection.slot_count++] = i;
	}
	result = select_all(&selection, source);
	hash_table_fini(&selection.known);
	return result;
}
