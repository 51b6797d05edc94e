// SPDX-License-Identifier: BSD-2-Clause
/* Parses a formula: names and numbers with + - * / and parentheses, * and / first. */

#include "counters/counters-priv.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct formula {
	struct counter_reading *reading;
	struct counter_step steps[COUNTER_STEPS_MAX];
	uint32_t count;
};

static int add_formula_step(struct formula *formula, const struct counter_step *step)
{
	if (formula->count == COUNTER_STEPS_MAX)
		return counters_wrong(formula->reading, NULL, "a formula has at most %d names and signs",
				      COUNTER_STEPS_MAX);
	formula->steps[formula->count++] = *step;
	return 0;
}

static int read_sum(struct formula *formula, unsigned depth);

static int read_operand(struct formula *formula, unsigned depth)
{
	struct counter_reading *reading = formula->reading;
	struct counter_step step = { .type = HASH_NONE };
	int result;

	counters_skip_blanks(reading);
	if (reading->at < reading->end && *reading->at == '(') {
		if (depth == DEPTH_MAX)
			return counters_wrong(reading, NULL, "parentheses are nested more than %d levels deep",
					      DEPTH_MAX);
		reading->at++;
		result = read_sum(formula, depth + 1);
		if (result)
			return result;
		if (reading->at == reading->end || *reading->at != ')')
			return counters_wrong(reading, NULL, "expected )");
		reading->at++;
		counters_skip_blanks(reading);
		return 0;
	}
	step.place = counters_place_of(reading, reading->at, 1);
	if (reading->at < reading->end && isdigit((unsigned char)*reading->at)) {
		step.op = COUNTER_CONSTANT;
		result = counters_number(reading, &step.number);
	} else {
		step.op = COUNTER_OPERAND;
		result = counters_name(reading, "the name of a counter or a number", true, &step.name);
		if (!result)
			step.place.length = (uint32_t)strlen(step.name);
	}
	return result ? result : add_formula_step(formula, &step);
}

/* Operands with the two signs between them. */
static int read_chain(struct formula *formula, unsigned depth, bool is_sum)
{
	static const enum counter_op ops[] = { COUNTER_ADD, COUNTER_SUBTRACT, COUNTER_MULTIPLY, COUNTER_DIVIDE };
	static const char signs[] = "+-*/";
	struct counter_reading *reading = formula->reading;
	int result = is_sum ? read_chain(formula, depth, false) : read_operand(formula, depth);

	while (!result && reading->at < reading->end && *reading->at) {
		const char *sign = strchr(signs, *reading->at);
		struct counter_step step = { .type = HASH_NONE };

		if (!sign || (sign < signs + 2) != is_sum)
			break;
		step.op = ops[sign - signs];
		step.place = counters_place_of(reading, reading->at, 1);
		reading->at++;
		result = is_sum ? read_chain(formula, depth, false) : read_operand(formula, depth);
		if (!result)
			result = add_formula_step(formula, &step);
	}
	return result;
}

static int read_sum(struct formula *formula, unsigned depth)
{
	return read_chain(formula, depth, true);
}

int counters_read_formula(struct counter_reading *reading, struct counter_formula **read)
{
	struct formula formula = { .reading = reading };
	struct arena *arena = reading->counters->arena;
	const char *start;
	int result;

	counters_skip_blanks(reading);
	start = reading->at;
	result = read_sum(&formula, 0);
	if (result)
		return result;
	*read = arena_zero(arena, 1, sizeof **read);
	if (!*read)
		return diag_no_memory(reading->diag);
	(*read)->text = arena_text(arena, start, (size_t)(reading->at - start));
	(*read)->steps = arena_zero(arena, formula.count, sizeof *formula.steps);
	(*read)->count = formula.count;
	if (!(*read)->text || !(*read)->steps)
		return diag_no_memory(reading->diag);
	memcpy((*read)->steps, formula.steps, formula.count * sizeof *formula.steps);
	return 0;
}

static double apply(enum counter_op op, double left, double right)
{
	switch (op) {
	case COUNTER_ADD:
		return left + right;
	case COUNTER_SUBTRACT:
		return left - right;
	case COUNTER_MULTIPLY:
		return left * right;
	default:
		return right != 0 ? left / right : NAN;
	}
}

double counters_formula_value(const struct counter_formula *formula, const double *values)
{
	double stack[COUNTER_STEPS_MAX] = { 0 };
	uint32_t height = 0;

	for (uint32_t i = 0; i < formula->count; i++) {
		const struct counter_step *step = &formula->steps[i];

		if (step->op == COUNTER_OPERAND)
			stack[height++] = values[step->type];
		else if (step->op == COUNTER_CONSTANT)
			stack[height++] = step->number;
		else {
			height--;
			stack[height - 1] = apply(step->op, stack[height - 1], stack[height]);
		}
	}
	return stack[0];
}
