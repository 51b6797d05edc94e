// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the kinds of values: what operators make of them and where conversions go. Integers meet as u64 when one of
 * them is u64 or addr, with f64 everything meets as f64; comparisons of integers need no conversion. A constant takes
 * the kind of the other side where it fits.
 */

#include "lang/check/meanings-priv.h"

#include <string.h>

static const struct operator_text {
	const char *text;
	bool integers; /* no f64 */
} arithmetic[] = {
	[LANG_ADD] = { "+", false }, [LANG_SUB] = { "-", false }, [LANG_MUL] = { "*", false },
	[LANG_DIV] = { "/", false }, [LANG_MOD] = { "%", true },  [LANG_AND] = { "&", true },
	[LANG_OR] = { "|", true },   [LANG_XOR] = { "^", true },  [LANG_SHL] = { "<<", true },
	[LANG_SHR] = { ">>", true },
};

static const char *const comparisons[] = {
	[LANG_EQ] = "==", [LANG_NE] = "!=", [LANG_LT] = "<", [LANG_LE] = "<=", [LANG_GT] = ">", [LANG_GE] = ">=",
};

enum lang_kind lang_kind_of(enum event_value value)
{
	switch (value) {
	case EVENT_F64:
		return LANG_F64;
	case EVENT_BOOL:
		return LANG_BOOL;
	case EVENT_STRING:
		return LANG_STRING;
	default:
		return event_value_is_unsigned64(value) ? LANG_U64 : LANG_I64;
	}
}

const char *lang_kind_name(enum lang_kind kind)
{
	switch (kind) {
	case LANG_F64:
		return "a real number";
	case LANG_BOOL:
		return "true or false";
	case LANG_STRING:
		return "a string";
	default:
		return "an integer";
	}
}

static bool is_integer_expr(const struct lang_expr *expr)
{
	return expr->kind == LANG_I64 || expr->kind == LANG_U64;
}

static bool is_number_expr(const struct lang_expr *expr)
{
	return is_integer_expr(expr) || expr->kind == LANG_F64;
}

struct lang_expr *lang_new_expr(struct lang_check *c, enum lang_op op, enum lang_kind kind,
				const struct diag_location *location)
{
	struct lang_expr *expr = lang_keep(c, 1, sizeof *expr);

	if (expr) {
		expr->op = op;
		expr->kind = kind;
		expr->location = *location;
	}
	return expr;
}

/* A number as kind, bits kept between the integers; constants change in place. */
static struct lang_expr *convert(struct lang_check *c, struct lang_expr *expr, enum lang_kind kind)
{
	if (expr->kind == kind)
		return expr;
	if (expr->op == LANG_CONST && kind != LANG_F64 && is_integer_expr(expr)) {
		expr->kind = kind;
		return expr;
	}
	if (expr->op == LANG_CONST && kind == LANG_F64) {
		expr->real = expr->kind == LANG_I64 ? (double)(int64_t)expr->integer : (double)expr->integer;
		expr->kind = kind;
		return expr;
	}
	struct lang_expr *converted = lang_new_expr(c, LANG_CONVERT, kind, &expr->location);

	if (converted) {
		converted->left = expr;
		converted->meaning = expr->meaning;
	}
	return converted;
}

/* A constant integer becomes the other's kind of integer where it fits. */
static void adapt(struct lang_expr *constant, const struct lang_expr *other)
{
	if (constant->op == LANG_CONST && is_integer_expr(constant) && is_integer_expr(other) &&
	    constant->integer <= INT64_MAX)
		constant->kind = other->kind;
}

static bool needs_number(struct lang_check *c, const struct lang_expr *expr, enum lang_op op)
{
	if (is_integer_expr(expr) || (is_number_expr(expr) && !arithmetic[op].integers))
		return true;
	lang_error(c->report, &expr->location, NULL, "'%s' needs %s, but this is %s", arithmetic[op].text,
		   arithmetic[op].integers ? "integers" : "numbers", lang_kind_name(expr->kind));
	return false;
}

static struct lang_expr *make_expr(struct lang_expr *expr, struct lang_expr *left, struct lang_expr *right)
{
	if (!expr || !left || !right)
		return NULL;
	expr->left = left;
	expr->right = right;
	return expr;
}

static bool is_zero(const struct lang_expr *expr)
{
	return expr->op == LANG_CONST && is_integer_expr(expr) && expr->integer == 0;
}

static struct lang_expr *type_arithmetic(struct lang_check *c, enum lang_op op, struct lang_expr *left,
					 struct lang_expr *right, const struct diag_location *location)
{
	enum lang_kind kind = LANG_I64;
	bool fine = needs_number(c, left, op);

	fine &= needs_number(c, right, op);
	if (!fine)
		return NULL;
	if ((op == LANG_DIV || op == LANG_MOD) && is_zero(right) && is_integer_expr(left)) {
		lang_error(c->report, &right->location, NULL, "this divides by zero");
		return NULL;
	}
	if (op == LANG_SHL || op == LANG_SHR)
		return make_expr(lang_new_expr(c, op, left->kind, location), left, right);
	if (!lang_meaning_adds(c, op, left, right, location))
		return NULL;
	const struct meaning *meaning = lang_meaning_of(c, op, left, right);

	adapt(left, right);
	adapt(right, left);
	if (left->kind == LANG_F64 || right->kind == LANG_F64)
		kind = LANG_F64;
	else if (left->kind == LANG_U64 || right->kind == LANG_U64)
		kind = LANG_U64;
	struct lang_expr *expr = lang_new_expr(c, op, kind, location);

	if (expr)
		expr->meaning = meaning;
	return make_expr(expr, convert(c, left, kind), convert(c, right, kind));
}

/* TRUE and FALSE stand for 1 and 0 beside an integer. */
static void adapt_truth(struct lang_expr *constant, const struct lang_expr *other)
{
	if (constant->op == LANG_CONST && constant->kind == LANG_BOOL && is_integer_expr(other))
		constant->kind = other->kind;
}

static bool mismatch(struct lang_check *c, const struct lang_expr *left, const struct lang_expr *right,
		     const struct diag_location *op_location)
{
	const char *hint = NULL;

	if (left->kind == LANG_BOOL || right->kind == LANG_BOOL)
		hint = "compare it with TRUE or FALSE";
	lang_error(c->report, op_location, hint, "cannot compare %s with %s", lang_kind_name(left->kind),
		   lang_kind_name(right->kind));
	return false;
}

/* Brings both sides of a comparison to kinds that it takes. False: reported. */
static bool align_kinds(struct lang_check *c, struct lang_expr **left, struct lang_expr **right,
			const struct diag_location *op_location)
{
	adapt_truth(*left, *right);
	adapt_truth(*right, *left);
	if (is_number_expr(*left) && is_number_expr(*right)) {
		adapt(*left, *right);
		adapt(*right, *left);
		if ((*left)->kind == LANG_F64 || (*right)->kind == LANG_F64) {
			*left = convert(c, *left, LANG_F64);
			*right = convert(c, *right, LANG_F64);
		}
		return *left && *right;
	}
	return (*left)->kind == (*right)->kind || mismatch(c, *left, *right, op_location);
}

static struct diag_location span(const struct lang_expr *left, const struct lang_expr *right)
{
	struct diag_location location = left->location;
	uint64_t end = right->location.offset + right->location.length;

	if (right->location.line == location.line && end > location.offset)
		location.length = (uint32_t)(end - location.offset);
	return location;
}

/* A pattern where only the text itself is meant: the star of LIKE is no star here. */
static void warn_of_star(struct lang_check *c, const struct lang_expr *text)
{
	if (text->op == LANG_CONST && text->kind == LANG_STRING && strchr(text->text, '*'))
		lang_warn(c->report, &text->location, "use LIKE to match any text in its place",
			  "'*' is an ordinary character here");
}

struct lang_expr *lang_type_equal(struct lang_check *c, enum lang_op op, struct lang_expr *left,
				  struct lang_expr *right, const struct diag_location *op_location)
{
	struct diag_location location = span(left, right);

	if (!lang_meaning_compares(c, left, right, op_location) || !align_kinds(c, &left, &right, op_location))
		return NULL;
	warn_of_star(c, left);
	warn_of_star(c, right);
	return make_expr(lang_new_expr(c, op, LANG_BOOL, &location), left, right);
}

static struct lang_expr *type_order(struct lang_check *c, const struct lang_syntax_expr *syntax, struct lang_expr *left,
				    struct lang_expr *right)
{
	const struct lang_expr *odd = is_number_expr(left) ? right : left;

	if (!is_number_expr(odd)) {
		const char *hint = odd->kind == LANG_STRING ? "strings are compared with == != IN and LIKE"
							    : "compare it with == or !=";

		lang_error(c->report, &syntax->op_location, hint, "'%s' needs numbers, but one side is %s",
			   comparisons[syntax->op], lang_kind_name(odd->kind));
		return NULL;
	}
	if (!lang_meaning_compares(c, left, right, &syntax->op_location) ||
	    !align_kinds(c, &left, &right, &syntax->op_location))
		return NULL;
	return make_expr(lang_new_expr(c, syntax->op, LANG_BOOL, &syntax->location), left, right);
}

static struct lang_expr *type_like(struct lang_check *c, const struct lang_syntax_expr *syntax, struct lang_expr *left,
				   struct lang_expr *right)
{
	bool fine = left->kind == LANG_STRING;

	if (!fine)
		lang_error(c->report, &left->location, NULL, "LIKE needs a string on its left, but this is %s",
			   lang_kind_name(left->kind));
	if (right->op != LANG_CONST || right->kind != LANG_STRING) {
		lang_error(c->report, &right->location, "write a pattern such as \"ssh*\"",
			   "LIKE needs a quoted string on its right");
		return NULL;
	}
	return fine ? make_expr(lang_new_expr(c, LANG_LIKE, LANG_BOOL, &syntax->location), left, right) : NULL;
}

struct lang_expr *lang_type_binary(struct lang_check *c, const struct lang_syntax_expr *syntax, struct lang_expr *left,
				   struct lang_expr *right)
{
	if (!left || !right)
		return NULL;
	switch (syntax->op) {
	case LANG_EQ:
	case LANG_NE:
		return lang_type_equal(c, syntax->op, left, right, &syntax->op_location);
	case LANG_LT:
	case LANG_LE:
	case LANG_GT:
	case LANG_GE:
		return type_order(c, syntax, left, right);
	case LANG_LIKE:
		return type_like(c, syntax, left, right);
	default:
		return type_arithmetic(c, syntax->op, left, right, &syntax->location);
	}
}

struct lang_expr *lang_type_minus(struct lang_check *c, struct lang_expr *operand, const struct diag_location *location)
{
	struct lang_expr *zero = lang_new_expr(c, LANG_CONST, LANG_I64, location);

	return zero && operand ? type_arithmetic(c, LANG_SUB, zero, operand, location) : NULL;
}

/* Whether a constant integer lies in the range of the field's type. */
static bool fits(const struct lang_expr *expr, enum event_value value)
{
	static const struct range {
		int64_t min;
		uint64_t max;
	} ranges[] = {
		[EVENT_U8] = { 0, UINT8_MAX },
		[EVENT_U16] = { 0, UINT16_MAX },
		[EVENT_U32] = { 0, UINT32_MAX },
		[EVENT_U64] = { 0, UINT64_MAX },
		[EVENT_I8] = { INT8_MIN, INT8_MAX },
		[EVENT_I16] = { INT16_MIN, INT16_MAX },
		[EVENT_I32] = { INT32_MIN, INT32_MAX },
		[EVENT_I64] = { INT64_MIN, INT64_MAX },
		[EVENT_F64] = { INT64_MIN, UINT64_MAX },
		[EVENT_BOOL] = { 0, 0 },
		[EVENT_TIME] = { INT64_MIN, INT64_MAX },
		[EVENT_ADDR] = { 0, UINT64_MAX },
		[EVENT_STRING] = { 0, 0 },
	};
	bool negative = expr->kind == LANG_I64 && (int64_t)expr->integer < 0;

	return negative ? (int64_t)expr->integer >= ranges[value].min : expr->integer <= ranges[value].max;
}

struct lang_expr *lang_type_assign(struct lang_check *c, struct lang_expr *expr, const struct event_field *field)
{
	enum lang_kind kind = lang_kind_of(field->value);

	if (expr->op == LANG_CONST && expr->kind == LANG_BOOL && (kind == LANG_I64 || kind == LANG_U64))
		expr->kind = kind;
	if (expr->kind == kind && !is_integer_expr(expr))
		return expr;
	if (!is_number_expr(expr) || kind == LANG_BOOL || kind == LANG_STRING) {
		lang_error(c->report, &expr->location, NULL, "'%s' is %s and cannot take %s", field->name,
			   lang_kind_name(kind), lang_kind_name(expr->kind));
		return NULL;
	}
	if (expr->op == LANG_CONST && is_integer_expr(expr) && !fits(expr, field->value)) {
		lang_error(c->report, &expr->location, NULL, "this does not fit into '%s', which is %s", field->name,
			   event_value_name(field->value));
		return NULL;
	}
	return convert(c, expr, kind);
}

void *lang_keep(struct lang_check *c, size_t count, size_t size)
{
	void *memory = arena_zero(c->arena, count, size);

	if (!memory)
		lang_no_memory(c->report);
	return memory;
}
