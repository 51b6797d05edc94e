// SPDX-License-Identifier: BSD-2-Clause
/* Computes and compares values; they may be absent: a relation with it does not hold. */

#include "desl/run-priv.h"

#include "base/hash.h"

#include <string.h>

static union desl_cell number_cell(double number)
{
	return (union desl_cell){ .number = number };
}

static union desl_cell absent_cell(enum desl_kind kind)
{
	return kind == DESL_NUMBER ? number_cell(NAN) : (union desl_cell){ .text = 0 };
}

static union desl_cell column_value(const struct desl_expr *expr, const struct desl_at *at)
{
	const struct desl_input *input = &at->making->inputs[expr->source];
	const struct desl_source *source = &at->making->type->sources[expr->source];
	uint32_t candidate = at->row[expr->source];

	if (candidate != HASH_NONE)
		return input->table->cells[expr->column][input->list ? input->list[candidate] : candidate];
	if (source->has_default[expr->column] && expr->kind == DESL_NUMBER)
		return number_cell(source->defaults[expr->column]);
	return absent_cell(expr->kind);
}

static union desl_cell earlier_value(const struct desl_expr *expr, const struct desl_at *at)
{
	const struct desl_type *type = at->making->type;

	if (at->earlier != HASH_NONE)
		return type->table.cells[expr->column][at->earlier];
	if (type->has_earlier_default[expr->column] && expr->kind == DESL_NUMBER)
		return number_cell(type->earlier_defaults[expr->column]);
	return absent_cell(expr->kind);
}

void desl_sum_add(struct desl_sum *to, const struct desl_sum *from)
{
	if (from->count <= 0)
		return;
	to->min = to->count > 0 ? fmin(to->min, from->min) : from->min;
	to->max = to->count > 0 ? fmax(to->max, from->max) : from->max;
	to->sum += from->sum;
	to->count += from->count;
}

static double result_of(const struct desl_expr *expr, const struct desl_sum *sum)
{
	switch (expr->op) {
	case DESL_NUM:
		return sum->count;
	case DESL_INC:
		return sum->count * expr->number;
	case DESL_SUM:
		return sum->sum;
	case DESL_AVG:
		return sum->count > 0 ? sum->sum / sum->count : NAN;
	case DESL_MIN:
		return sum->count > 0 ? sum->min : NAN;
	default:
		return sum->count > 0 ? sum->max : NAN;
	}
}

/* Over the earlier records; where there is none, over one that is made of defaults. */
static double earlier_sum(const struct desl_expr *expr, struct desl_at *at)
{
	struct desl_sum total = { 0 };
	uint32_t before = at->earlier;

	for (uint32_t i = 0; i < at->earlier_count || i == 0; i++) {
		at->earlier = at->earlier_count ? at->earlier_first + i : HASH_NONE;
		double value = desl_value(expr->operands, at).number;

		if (isnan(value)) {
			at->earlier = before;
			return NAN;
		}
		desl_sum_add(&total, &(struct desl_sum){ value, 1, value, value });
	}
	at->earlier = before;
	return result_of(expr, &total);
}

static double arithmetic(const struct desl_expr *expr, struct desl_at *at)
{
	double a = desl_value(expr->operands, at).number, b = desl_value(expr->operands->next, at).number;

	switch (expr->op) {
	case DESL_ADD:
		return a + b;
	case DESL_SUB:
		return a - b;
	case DESL_MUL:
		return a * b;
	default:
		if (b == 0) {
			at->is_divided = true;
			return NAN;
		}
		return a / b;
	}
}

union desl_cell desl_value(const struct desl_expr *expr, struct desl_at *at)
{
	switch (expr->op) {
	case DESL_CONST:
		return number_cell(expr->number);
	case DESL_TEXT_CONST:
		return (union desl_cell){ .text = expr->text };
	case DESL_COLUMN:
		return column_value(expr, at);
	case DESL_OWN:
		return at->own ? at->own[expr->column] : desl_value(at->making->type->fields[expr->column].filter, at);
	case DESL_EARLIER:
		return earlier_value(expr, at);
	case DESL_ADD:
	case DESL_SUB:
	case DESL_MUL:
	case DESL_DIV:
		return number_cell(arithmetic(expr, at));
	default:
		if (expr->slot == UINT32_MAX)
			return number_cell(earlier_sum(expr, at));
		return number_cell(at->sums ? result_of(expr, &at->sums[expr->slot]) : NAN);
	}
}

int desl_compare(const struct desl_program *program, enum desl_kind kind, union desl_cell a, union desl_cell b)
{
	if (kind == DESL_NUMBER)
		return a.number < b.number ? -1 : a.number > b.number;

	const struct desl_text *x = &program->texts.texts[a.text], *y = &program->texts.texts[b.text];

	if (x->is_address != y->is_address)
		return x->is_address ? -1 : 1;
	if (x->is_address)
		return x->address < y->address ? -1 : x->address > y->address;
	return a.text == b.text ? 0 : strcmp(x->bytes, y->bytes);
}

bool desl_is_equal(enum desl_kind kind, union desl_cell a, union desl_cell b)
{
	return kind == DESL_NUMBER ? a.number == b.number || (isnan(a.number) && isnan(b.number)) : a.text == b.text;
}

/* a stands in the relation to x. */
static bool relation_holds(const struct desl_expr *expr, struct desl_at *at)
{
	enum desl_kind kind = expr->operands->kind;
	union desl_cell x = desl_value(expr->operands, at), a = desl_value(expr->operands->next, at);
	const struct desl_program *program = at->making->program;
	int order;

	if (desl_is_absent(kind, x) || desl_is_absent(kind, a))
		return false;
	if (expr->op == DESL_EQ)
		return desl_is_equal(kind, a, x);
	if (kind == DESL_LINE && program->texts.texts[a.text].is_address != program->texts.texts[x.text].is_address)
		return false;
	order = desl_compare(program, kind, a, x);
	return expr->op == DESL_LESS      ? order < 0
	       : expr->op == DESL_LESS_EQ ? order <= 0
	       : expr->op == DESL_GREATER ? order > 0
					  : order >= 0;
}

bool desl_holds(const struct desl_expr *expr, struct desl_at *at)
{
	if (desl_is_relation(expr->op))
		return relation_holds(expr, at);
	if (expr->op == DESL_NOT)
		return !desl_holds(expr->operands, at);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (desl_holds(operand, at) != (expr->op == DESL_AND))
			return expr->op == DESL_OR;
	}
	return expr->op == DESL_AND;
}

bool desl_is_advised(const struct desl_program *program, const struct desl_type *type, const struct desl_advice *advice,
		     size_t record, bool *is_divided)
{
	const struct desl_making making = { .program = (struct desl_program *)program,
					    .type = (struct desl_type *)type };
	union desl_cell own[DESL_FIELDS_MAX];
	struct desl_at at = { .making = &making, .own = own };
	bool is_for = false;

	for (unsigned i = 0; i < type->field_count; i++)
		own[i] = type->table.cells[i][record];
	is_for = desl_holds(advice->condition, &at) && !at.is_divided;
	*is_divided = *is_divided || at.is_divided;
	return is_for;
}

uint64_t desl_hash(uint64_t hash, enum desl_kind kind, union desl_cell cell)
{
	uint64_t bits = cell.text;

	if (kind == DESL_NUMBER && (cell.number == 0 || isnan(cell.number)))
		bits = cell.number == 0 ? 0 : 1;
	hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}
