// SPDX-License-Identifier: BSD-2-Clause
/*
 * Evaluates nodes: this is their meaning, which other executors follow. Recursion is bounded by PROGRAM_DEPTH_MAX and
 * the nodes visited by PROGRAM_EXPANSION_MAX; the loader has found the kinds to be consistent, so they are trusted
 * here.
 */

#include "program/eval.h"
#include "program/query.h"

#include "event/type.h"

#include <errno.h>
#include <string.h>

static const struct program_node *operand_node(const struct program_operand *operand, uint32_t node)
{
	return &operand->program->nodes[node];
}

/* Fills a value of the node's kind from the 8 bytes (or the text) at from. */
static void read_word(const void *from, struct program_value *value)
{
	uint64_t word;

	if (value->kind == PROGRAM_STRING) {
		value->text = from;
		return;
	}
	memcpy(&word, from, sizeof word);
	if (value->kind == PROGRAM_BOOL)
		value->boolean = word != 0;
	else
		value->u64 = word;
}

static void eval_field(const struct program_operand *operand, const struct program_node *node,
		       struct program_value *value)
{
	const struct program_field *field = &operand->program->fields[node->a];
	const char *at = (const char *)operand->record + field->offset;
	uint32_t half;

	if (field->bytes == sizeof half) { /* a header integer */
		memcpy(&half, at, sizeof half);
		value->u64 = half;
		return;
	}
	read_word(at, value);
}

static void read_slot(const struct program_operand *operand, const struct program_node *node,
		      struct program_value *value)
{
	const struct program_slot *slot = &program_slots(operand->program, operand->rule)[node->a];

	read_word((const char *)operand->slots + slot->offset, value);
}

static uint64_t shift_right(enum program_kind kind, uint64_t value, unsigned count)
{
	return kind == PROGRAM_I64 ? (uint64_t)((int64_t)value >> count) : value >> count;
}

/* Signed division where the one quotient that does not fit wraps. The divisor is not 0. */
static uint64_t divide_signed(enum program_op op, enum program_kind kind, uint64_t a, uint64_t b)
{
	bool quotient = op == PROGRAM_OP_DIV;

	if (kind == PROGRAM_U64)
		return quotient ? a / b : a % b;
	if (b == UINT64_MAX) /* -1 */
		return quotient ? 0 - a : 0;
	return (uint64_t)(quotient ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static int integer_arithmetic(const struct program_node *node, uint64_t a, uint64_t b, uint64_t *result)
{
	enum program_op op = node->op;

	switch (op) {
	case PROGRAM_OP_ADD:
		*result = a + b;
		return 0;
	case PROGRAM_OP_SUB:
		*result = a - b;
		return 0;
	case PROGRAM_OP_MUL:
		*result = a * b;
		return 0;
	case PROGRAM_OP_DIV:
	case PROGRAM_OP_MOD:
		if (b == 0)
			return -EDOM;
		*result = divide_signed(op, node->kind, a, b);
		return 0;
	case PROGRAM_OP_AND:
		*result = a & b;
		return 0;
	case PROGRAM_OP_OR:
		*result = a | b;
		return 0;
	case PROGRAM_OP_XOR:
		*result = a ^ b;
		return 0;
	case PROGRAM_OP_SHL:
		*result = a << (b & 63);
		return 0;
	default:
		*result = shift_right(node->kind, a, (unsigned)(b & 63));
		return 0;
	}
}

static double real_arithmetic(enum program_op op, double a, double b)
{
	switch (op) {
	case PROGRAM_OP_ADD:
		return a + b;
	case PROGRAM_OP_SUB:
		return a - b;
	case PROGRAM_OP_MUL:
		return a * b;
	default:
		return a / b;
	}
}

static bool bit_operation(enum program_op op, bool a, bool b)
{
	return op == PROGRAM_OP_AND ? (a & b) : op == PROGRAM_OP_OR ? (a | b) : a != b;
}

static int eval_arithmetic(const struct program_operand *operand, const struct program_node *node,
			   struct program_value *value)
{
	struct program_value a, b;
	int result = program_eval(operand, node->a, &a);

	if (!result)
		result = program_eval(operand, node->b, &b);
	if (result)
		return result;
	switch (value->kind) {
	case PROGRAM_F64:
		value->f64 = real_arithmetic(node->op, a.f64, b.f64);
		return 0;
	case PROGRAM_BOOL:
		value->boolean = bit_operation(node->op, a.boolean, b.boolean);
		return 0;
	default:
		return integer_arithmetic(node, a.u64, b.u64, &value->u64);
	}
}

/* The nearest integer towards zero; what does not fit gives the bound on its side, what is no number 0. */
static uint64_t real_to_integer(double real, enum program_kind kind)
{
	/* the greatest doubles below 2^63 and 2^64 */
	const double most_i64 = 0x1.fffffffffffffp62, most_u64 = 0x1.fffffffffffffp63;

	if (real != real)
		return 0;
	if (kind == PROGRAM_I64) {
		if (real < -most_i64)
			return (uint64_t)INT64_MIN;
		return real <= most_i64 ? (uint64_t)(int64_t)real : INT64_MAX;
	}
	if (real <= 0)
		return 0;
	return real <= most_u64 ? (uint64_t)real : UINT64_MAX;
}

static int eval_convert(const struct program_operand *operand, const struct program_node *node,
			struct program_value *value)
{
	struct program_value from;
	int result = program_eval(operand, node->a, &from);

	if (result)
		return result;
	if (from.kind == PROGRAM_BOOL) {
		from.kind = PROGRAM_U64;
		from.u64 = from.boolean;
	}
	if (from.kind == value->kind)
		*value = from;
	else if (from.kind == PROGRAM_F64)
		value->u64 = real_to_integer(from.f64, value->kind);
	else if (value->kind != PROGRAM_F64)
		value->u64 = from.u64;
	else
		value->f64 = from.kind == PROGRAM_I64 ? (double)from.i64 : (double)from.u64;
	return 0;
}

/* -1, 0, 1: the order of two numbers, whatever the signedness of either. */
static int order_integers(const struct program_value *a, const struct program_value *b)
{
	bool a_negative = a->kind == PROGRAM_I64 && a->i64 < 0;
	bool b_negative = b->kind == PROGRAM_I64 && b->i64 < 0;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	return a->u64 < b->u64 ? -1 : a->u64 > b->u64; /* two negative ones keep their order as unsigned */
}

static bool compare_reals(enum program_op op, double a, double b)
{
	switch (op) {
	case PROGRAM_OP_EQ:
		return a == b;
	case PROGRAM_OP_NE:
		return a != b;
	case PROGRAM_OP_LT:
		return a < b;
	case PROGRAM_OP_LE:
		return a <= b;
	case PROGRAM_OP_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static bool compare_order(enum program_op op, int order)
{
	switch (op) {
	case PROGRAM_OP_EQ:
		return order == 0;
	case PROGRAM_OP_NE:
		return order != 0;
	case PROGRAM_OP_LT:
		return order < 0;
	case PROGRAM_OP_LE:
		return order <= 0;
	case PROGRAM_OP_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

static int eval_comparison(const struct program_operand *operand, const struct program_node *node,
			   struct program_value *value)
{
	struct program_value a, b;
	int result = program_eval(operand, node->a, &a);

	if (!result)
		result = program_eval(operand, node->b, &b);
	if (result)
		return result;
	switch (a.kind) {
	case PROGRAM_F64:
		value->boolean = compare_reals(node->op, a.f64, b.f64);
		return 0;
	case PROGRAM_BOOL:
		value->boolean = compare_order(node->op, a.boolean - b.boolean);
		return 0;
	case PROGRAM_STRING:
		value->boolean = compare_order(node->op, strcmp(a.text, b.text));
		return 0;
	default:
		value->boolean = compare_order(node->op, order_integers(&a, &b));
		return 0;
	}
}

static int eval_like(const struct program_operand *operand, const struct program_node *node,
		     struct program_value *value)
{
	struct program_value text;
	int result = program_eval(operand, node->a, &text);

	if (!result)
		value->boolean =
			program_like(text.text, program_text(operand->program, operand_node(operand, node->b)->a));
	return result;
}

static int eval_logic(const struct program_operand *operand, const struct program_node *node,
		      struct program_value *value)
{
	struct program_value part;
	int result = program_eval(operand, node->a, &part);

	if (!result && node->op != PROGRAM_OP_LNOT && part.boolean == (node->op == PROGRAM_OP_LAND))
		result = program_eval(operand, node->b, &part);
	if (!result)
		value->boolean = node->op == PROGRAM_OP_LNOT ? !part.boolean : part.boolean;
	return result;
}

static void read_constant(const struct program_node *node, struct program_value *value)
{
	if (value->kind == PROGRAM_BOOL)
		value->boolean = node->imm != 0;
	else
		value->u64 = node->imm;
}

static int eval_node(const struct program_operand *operand, const struct program_node *node,
		     struct program_value *value)
{
	switch ((enum program_op)node->op) {
	case PROGRAM_OP_CONST:
		read_constant(node, value);
		return 0;
	case PROGRAM_OP_TEXT:
		value->text = program_text(operand->program, node->a);
		return 0;
	case PROGRAM_OP_FIELD:
		eval_field(operand, node, value);
		return 0;
	case PROGRAM_OP_SLOT:
		read_slot(operand, node, value);
		return 0;
	case PROGRAM_OP_CONVERT:
		return eval_convert(operand, node, value);
	case PROGRAM_OP_EQ:
	case PROGRAM_OP_NE:
	case PROGRAM_OP_LT:
	case PROGRAM_OP_LE:
	case PROGRAM_OP_GT:
	case PROGRAM_OP_GE:
		return eval_comparison(operand, node, value);
	case PROGRAM_OP_LIKE:
		return eval_like(operand, node, value);
	case PROGRAM_OP_LAND:
	case PROGRAM_OP_LOR:
	case PROGRAM_OP_LNOT:
		return eval_logic(operand, node, value);
	default:
		return eval_arithmetic(operand, node, value);
	}
}

int program_eval(const struct program_operand *operand, uint32_t node, struct program_value *value)
{
	struct program_value found = { .kind = operand_node(operand, node)->kind };
	int result = eval_node(operand, operand_node(operand, node), &found);

	if (!result)
		*value = found;
	return result;
}

bool program_holds(const struct program_operand *operand, uint32_t node, uint64_t *divisions)
{
	struct program_value value;

	if (node == PROGRAM_NONE)
		return true;
	if (program_eval(operand, node, &value)) {
		++*divisions;
		return false;
	}
	return value.boolean;
}

/*
 * The text before the first star and after the last one is fixed; every piece between two stars is looked for from
 * where the one before it ended, leftmost first. Nothing is tried twice, so the time is linear.
 */
bool program_pattern_is_prefix(const char *pattern)
{
	const char *star = strchr(pattern, '*');

	return !star || !star[strspn(star, "*")];
}

bool program_like(const char *text, const char *pattern)
{
	size_t left = strlen(text), prefix = strcspn(pattern, "*");

	if (left < prefix || memcmp(text, pattern, prefix) != 0)
		return false;
	text += prefix;
	left -= prefix;
	pattern += prefix;
	if (!*pattern)
		return left == 0;
	for (;;) {
		size_t piece = strcspn(++pattern, "*"); /* behind a star */

		if (!pattern[piece])
			return left >= piece && memcmp(text + left - piece, pattern, piece) == 0;
		const char *found = memmem(text, left, pattern, piece);
		if (!found)
			return false;
		left -= (size_t)(found - text) + piece;
		text = found + piece;
		pattern += piece;
	}
}
