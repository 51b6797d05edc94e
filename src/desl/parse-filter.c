// SPDX-License-Identifier: BSD-2-Clause
/* Parses filters and constraints: sums and products as in the rule language, all else as functions. */

#include "desl/reading-priv.h"

#include <string.h>

static const struct {
	const char *word;
	enum desl_op op;
} functions[] = {
	{ "avg", DESL_AVG }, { "sum", DESL_SUM },    { "min", DESL_MIN },       { "max", DESL_MAX },
	{ "inc", DESL_INC }, { "num", DESL_NUM },    { "l", DESL_LESS },        { "g", DESL_GREATER },
	{ "eq", DESL_EQ },   { "le", DESL_LESS_EQ }, { "ge", DESL_GREATER_EQ }, { "not", DESL_NOT },
	{ "or", DESL_OR },   { "and", DESL_AND },
};

static bool parse_sum(struct desl_reading *reading, struct desl_expr **expr);

static bool enter_filter(struct desl_reading *reading)
{
	if (reading->depth < DESL_DEPTH_MAX) {
		reading->depth++;
		return true;
	}
	lang_error(reading->report, &reading->token.location, "derive a part of it in a type of its own",
		   "the expression is nested more than %d levels deep", DESL_DEPTH_MAX);
	return false;
}

static struct desl_expr *new_filter_expr(struct desl_reading *reading, enum desl_op op)
{
	struct desl_expr *expr = desl_node(reading, sizeof *expr);

	if (expr) {
		expr->op = op;
		expr->location = reading->token.location;
	}
	return expr;
}

/* The place from where the expression begins to the token consumed last, if that is on the same line. */
static bool finish_filter(struct desl_reading *reading, struct desl_expr *expr)
{
	if (reading->last.line == expr->location.line)
		expr->location.length = (uint32_t)(reading->end - expr->location.offset);
	return true;
}

/* A number with a sign, which may begin with its point. */
static bool parse_number(struct desl_reading *reading, double *number)
{
	bool is_negative = desl_at(reading, LANG_TOKEN_MINUS), is_fraction;

	if (is_negative || desl_at(reading, LANG_TOKEN_PLUS))
		desl_advance(reading);
	is_fraction = desl_at(reading, LANG_TOKEN_DOT);
	if (is_fraction)
		desl_advance(reading);
	if (desl_at(reading, LANG_TOKEN_REAL) && !is_fraction)
		*number = reading->token.real;
	else if (desl_at(reading, LANG_TOKEN_INTEGER))
		*number = (double)reading->token.integer;
	else
		return desl_unexpected(reading, "a number", NULL);
	for (uint32_t i = 0; is_fraction && i < reading->token.location.length; i++)
		*number /= 10;
	if (is_negative)
		*number = -*number;
	desl_advance(reading);
	return true;
}

bool desl_parse_qualifier(struct desl_reading *reading, struct desl_expr **expr)
{
	struct desl_expr *name = new_filter_expr(reading, DESL_NAME);

	if (!name || !desl_take_word(reading, &name->name, "a field"))
		return false;
	*expr = name;
	if (!desl_at(reading, LANG_TOKEN_DOT) || reading->ahead.kind != LANG_TOKEN_WORD)
		return true;
	desl_advance(reading);
	name->qualifier = name->name;
	return desl_take_word(reading, &name->name, "a field") && finish_filter(reading, name);
}

/* A weight behind a field: a point, of the line or raised, and a number. */
static bool parse_weight(struct desl_reading *reading, struct desl_expr **expr)
{
	struct desl_expr *product, *weight;

	if (!desl_at(reading, LANG_TOKEN_MIDDLE_DOT) && !desl_at(reading, LANG_TOKEN_DOT))
		return true;
	desl_advance(reading);
	product = new_filter_expr(reading, DESL_MUL);
	weight = new_filter_expr(reading, DESL_CONST);
	if (!product || !weight || !parse_number(reading, &weight->number))
		return false;
	product->location = (*expr)->location;
	product->operands = *expr;
	(*expr)->next = weight;
	*expr = product;
	return finish_filter(reading, weight) && finish_filter(reading, product);
}

/* Operands in parentheses, the opening one being next. */
static bool parse_operands(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_expr **end = &expr->operands;

	if (!enter_filter(reading) || !desl_take(reading, LANG_TOKEN_LPAREN, "'('"))
		return false;
	for (;;) {
		bool takes_conditions = expr->op >= DESL_LESS;

		if (!(takes_conditions ? desl_parse_condition(reading, end) : parse_sum(reading, end)))
			return false;
		end = &(*end)->next;
		if (!desl_at(reading, LANG_TOKEN_COMMA))
			break;
		desl_advance(reading);
	}
	reading->depth--;
	if (!desl_at(reading, LANG_TOKEN_RPAREN) && desl_repair(reading, DESL_QUIRK_OPEN_CALL, NULL))
		return true;
	return desl_take(reading, LANG_TOKEN_RPAREN, "')'") && finish_filter(reading, expr);
}

static enum desl_op function_at(const struct desl_reading *reading)
{
	for (size_t i = 0; reading->ahead.kind == LANG_TOKEN_LPAREN && i < sizeof functions / sizeof *functions; i++) {
		if (desl_at_word(reading, functions[i].word))
			return functions[i].op;
	}
	return DESL_CONST;
}

static bool wrong_count(struct desl_reading *reading, const struct desl_expr *expr, const char *takes)
{
	lang_error(reading->report, &expr->location, NULL, "it takes %s", takes);
	return false;
}

/* How many operands a function has. */
static bool check_count(struct desl_reading *reading, struct desl_expr *expr)
{
	unsigned count = 0;

	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		count++;
	if (expr->op == DESL_INC) {
		struct desl_expr *step = expr->operands->next;

		if (count != 2 || step->op != DESL_CONST)
			return wrong_count(reading, expr, "a value and a constant number");
		expr->number = step->number;
		expr->operands->next = NULL;
		return true;
	}
	if (desl_is_aggregate(expr->op) && count != 1)
		return wrong_count(reading, expr, "one value");
	if (desl_is_relation(expr->op) && count != 2)
		return wrong_count(reading, expr, "two values: rel(x, a) compares a with x");
	return expr->op != DESL_NOT || count == 1 || wrong_count(reading, expr, "one condition");
}

static bool parse_call(struct desl_reading *reading, struct desl_expr **expr)
{
	struct desl_expr *call = new_filter_expr(reading, function_at(reading));

	*expr = call;
	if (!call)
		return false;
	desl_advance(reading);
	return parse_operands(reading, call) && check_count(reading, call);
}

static bool parse_literal(struct desl_reading *reading, struct desl_expr **expr)
{
	bool is_text = desl_at(reading, LANG_TOKEN_STRING);
	struct desl_expr *literal = *expr = new_filter_expr(reading, is_text ? DESL_TEXT_CONST : DESL_CONST);

	if (!literal)
		return false;
	if (!is_text)
		return parse_number(reading, &literal->number) && finish_filter(reading, literal);
	if (desl_text_add(&reading->program->texts, reading->token.text, strlen(reading->token.text), false,
			  &literal->text))
		lang_no_memory(reading->report);
	desl_advance(reading);
	return true;
}

static bool parse_parentheses(struct desl_reading *reading, struct desl_expr **expr)
{
	if (!enter_filter(reading))
		return false;
	desl_advance(reading);
	if (!parse_sum(reading, expr))
		return false;
	reading->depth--;
	if (!desl_at(reading, LANG_TOKEN_RPAREN) && desl_repair(reading, DESL_QUIRK_OPEN_CALL, NULL))
		return true;
	return desl_take(reading, LANG_TOKEN_RPAREN, "')'");
}

static bool parse_primary(struct desl_reading *reading, struct desl_expr **expr)
{
	switch (reading->token.kind) {
	case LANG_TOKEN_LPAREN:
		return parse_parentheses(reading, expr);
	case LANG_TOKEN_INTEGER:
	case LANG_TOKEN_REAL:
	case LANG_TOKEN_STRING:
	case LANG_TOKEN_MINUS:
	case LANG_TOKEN_PLUS:
	case LANG_TOKEN_DOT:
		return parse_literal(reading, expr);
	case LANG_TOKEN_WORD:
		if (function_at(reading))
			return parse_call(reading, expr);
		return desl_parse_qualifier(reading, expr) && parse_weight(reading, expr);
	default:
		return desl_unexpected(reading, "a value", NULL);
	}
}

/* Operands joined by one of two operators, from left to right. */
static bool parse_filter_chain(struct desl_reading *reading, struct desl_expr **expr, bool is_product)
{
	enum lang_token_kind first = is_product ? LANG_TOKEN_STAR : LANG_TOKEN_PLUS;
	enum lang_token_kind second = is_product ? LANG_TOKEN_SLASH : LANG_TOKEN_MINUS;
	unsigned depth = reading->depth;

	if (!(is_product ? parse_primary(reading, expr) : parse_filter_chain(reading, expr, true)))
		return false;
	while (desl_at(reading, first) || desl_at(reading, second)) {
		bool is_first = desl_at(reading, first);
		struct desl_expr *node = new_filter_expr(reading, is_product ? is_first ? DESL_MUL : DESL_DIV
								  : is_first ? DESL_ADD
									     : DESL_SUB);

		if (!node || !enter_filter(reading))
			return false;
		desl_advance(reading);
		node->location = (*expr)->location;
		node->operands = *expr;
		*expr = node;
		if (!(is_product ? parse_primary(reading, &node->operands->next)
				 : parse_filter_chain(reading, &node->operands->next, true)))
			return false;
		finish_filter(reading, node);
	}
	reading->depth = depth;
	return true;
}

static bool parse_sum(struct desl_reading *reading, struct desl_expr **expr)
{
	return parse_filter_chain(reading, expr, false);
}

/* run(type) = bottom_up */
static bool parse_run(struct desl_reading *reading, struct desl_expr **expr)
{
	struct desl_expr *run = *expr = new_filter_expr(reading, DESL_RUN);

	desl_advance(reading);
	if (!run || !desl_take(reading, LANG_TOKEN_LPAREN, "'('") ||
	    !desl_take_word(reading, &run->name, "an event type") || !desl_take(reading, LANG_TOKEN_RPAREN, "')'") ||
	    !desl_take(reading, LANG_TOKEN_ASSIGN, "'='"))
		return false;
	run->number = desl_at_word(reading, "top_down");
	if (!desl_at_word(reading, "top_down") && !desl_at_word(reading, "bottom_up"))
		return desl_unexpected(reading, "bottom_up or top_down", NULL);
	desl_advance(reading);
	return finish_filter(reading, run);
}

/* name.field(relation, value without one); the parenthesis is next */
static bool parse_reference(struct desl_reading *reading, struct desl_expr *name)
{
	struct desl_expr *value;

	name->op = DESL_REFERENCE;
	if (!parse_operands(reading, name))
		return false;
	value = name->operands->next;
	name->relation_end = reading->last.offset; /* that of ')' */
	if (!desl_is_relation(name->operands->op) || (value && (value->op != DESL_CONST || value->next))) {
		lang_error(reading->report, &name->location, "write r.field(eq(x, a), 0)",
			   "a reference takes a relation and, where there is no record, a constant");
		return false;
	}
	if (value) {
		name->has_default = true;
		name->number = value->number;
		name->operands->next = NULL;
	}
	return true;
}

bool desl_parse_condition(struct desl_reading *reading, struct desl_expr **expr)
{
	if (desl_at_word(reading, "run") && reading->ahead.kind == LANG_TOKEN_LPAREN)
		return parse_run(reading, expr);
	if (!parse_sum(reading, expr))
		return false;
	if ((*expr)->op == DESL_NAME && (*expr)->qualifier.text && desl_at(reading, LANG_TOKEN_LPAREN))
		return parse_reference(reading, *expr);
	return true;
}

bool desl_parse_filter(struct desl_reading *reading, struct desl_expr **expr)
{
	struct desl_expr *list;

	if (desl_at_word(reading, "none")) {
		*expr = new_filter_expr(reading, DESL_NONE);
		desl_advance(reading);
		return *expr != NULL;
	}
	if (!desl_at(reading, LANG_TOKEN_AT))
		return parse_sum(reading, expr);
	list = *expr = new_filter_expr(reading, DESL_LIST_OF);
	desl_advance(reading);
	if (!list || !desl_parse_condition(reading, &list->operands))
		return false;
	if (desl_is_relation(list->operands->op))
		return finish_filter(reading, list);
	lang_error(reading->report, &list->location, "write @eq(name.field, a)", "'@' must be followed by a relation");
	return false;
}
