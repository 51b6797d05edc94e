// SPDX-License-Identifier: BSD-2-Clause
/* Finds which values of a match are one value, and so which names it needs for them. */

#include "program/returned.h"

#include "program/query.h"

#include <errno.h>
#include <string.h>

static int evaluate_return(const struct program *program, const struct program_match *match,
			   const struct program_return *row, struct program_value *value)
{
	const struct program_operand operand = {
		.program = program,
		.rule = &program->rules[match->rule],
		.slots = match->slots,
	};
	struct program_value there;

	if (row->there && (program_eval(&operand, row->there - 1, &there) || !there.boolean))
		return -ENODATA;
	return program_eval(&operand, row->node, value);
}

static bool is_equal(const struct program_value *a, const struct program_value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case PROGRAM_STRING:
		return strcmp(a->text, b->text) == 0;
	case PROGRAM_F64:
		return a->f64 == b->f64 || (a->f64 != a->f64 && b->f64 != b->f64);
	case PROGRAM_BOOL:
		return a->boolean == b->boolean;
	default:
		return a->u64 == b->u64;
	}
}

static bool is_first_returned(const struct program_return *rows, uint32_t index, uint32_t first)
{
	return index == first || rows[index].first == first + 1;
}

/* Whether the row index says what one of its text says before it; two that have no value say the same. */
static bool is_said(const struct program *program, const struct program_match *match, uint32_t first, uint32_t index)
{
	const struct program_return *rows = program_returns(program, &program->rules[match->rule]);
	struct program_value own, other;
	int result = evaluate_return(program, match, &rows[index], &own);

	for (uint32_t i = first; i < index; i++) {
		if (is_first_returned(rows, i, first) && evaluate_return(program, match, &rows[i], &other) == result &&
		    (result || is_equal(&own, &other)))
			return true;
	}
	return false;
}

int program_returned(const struct program *program, const struct program_match *match, uint32_t index,
		     struct program_value *value)
{
	const struct program_rule *rule = &program->rules[match->rule];
	const struct program_return *rows = program_returns(program, rule);
	uint32_t first = rows[index].first ? rows[index].first - 1 : index, before = 0;

	if (rows[index].notice != match->notice)
		return -ENOENT;
	for (uint32_t i = first; i < index; i++)
		before += is_first_returned(rows, i, first);
	for (uint32_t i = first; i < rule->return_count; i++) {
		if (is_first_returned(rows, i, first) && !is_said(program, match, first, i) && before-- == 0)
			return evaluate_return(program, match, &rows[i], value);
	}
	return -ENOENT;
}
