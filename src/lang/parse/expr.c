// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses expressions. Tightest first: unary minus, * / %, + -, << >>, &, ^, |, comparisons with IN and LIKE, NOT, AND,
 * OR. Trees are at most LANG_DEPTH_MAX deep; chains of AND and OR are lists and may be long.
 */

#include "lang/parse/parser-priv.h"

static const struct binary_operator {
	enum lang_token_kind token;
	enum lang_op op;
	int level; /* the higher, the tighter; 0: a comparison */
} operators[] = {
	{ LANG_TOKEN_STAR, LANG_MUL, 6 }, { LANG_TOKEN_SLASH, LANG_DIV, 6 },     { LANG_TOKEN_PERCENT, LANG_MOD, 6 },
	{ LANG_TOKEN_PLUS, LANG_ADD, 5 }, { LANG_TOKEN_MINUS, LANG_SUB, 5 },     { LANG_TOKEN_SHL, LANG_SHL, 4 },
	{ LANG_TOKEN_SHR, LANG_SHR, 4 },  { LANG_TOKEN_AMPERSAND, LANG_AND, 3 }, { LANG_TOKEN_CARET, LANG_XOR, 2 },
	{ LANG_TOKEN_BAR, LANG_OR, 1 },   { LANG_TOKEN_EQ, LANG_EQ, 0 },         { LANG_TOKEN_NE, LANG_NE, 0 },
	{ LANG_TOKEN_LT, LANG_LT, 0 },    { LANG_TOKEN_LE, LANG_LE, 0 },         { LANG_TOKEN_GT, LANG_GT, 0 },
	{ LANG_TOKEN_GE, LANG_GE, 0 },    { LANG_TOKEN_ASSIGN, LANG_EQ, 0 }, /* read as == after the error that says so
									      */
};

static const struct binary_operator *find_operator(const struct lang_parser *p)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (operators[i].token == p->token.kind)
			return &operators[i];
	}
	return NULL;
}

static bool enter_expr(struct lang_parser *p)
{
	if (p->depth == LANG_DEPTH_MAX) {
		lang_error(p->report, &p->token.location, NULL, "the expression is nested more than %d levels deep",
			   LANG_DEPTH_MAX);
		return false;
	}
	p->depth++;
	return true;
}

static struct lang_syntax_expr *new_syntax_expr(struct lang_parser *p, enum lang_syntax_op syntax)
{
	struct lang_syntax_expr *expr = lang_node(p, sizeof *expr);

	if (expr) {
		expr->syntax = syntax;
		expr->location = p->token.location;
		expr->depth = expr->size = 1;
		if (syntax != LANG_SYNTAX_CONST && syntax != LANG_SYNTAX_REFERENCE)
			expr->op_location = p->token.location;
	}
	return expr;
}

static uint32_t larger_bound(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Closes an expression that starts at first: its place, its end, its bounds. NULL: too deep or too large. */
static struct lang_syntax_expr *finish_expr(struct lang_parser *p, struct lang_syntax_expr *expr,
					    const struct diag_location *first)
{
	expr->location = lang_location_to_end(p, first);
	expr->end = p->end;
	if (expr->depth > LANG_DEPTH_MAX) {
		lang_error(p->report, &expr->op_location, NULL, "the expression is nested more than %d levels deep",
			   LANG_DEPTH_MAX);
		return NULL;
	}
	if (expr->size > LANG_EXPRESSION_MAX) {
		lang_error(p->report, &expr->op_location, NULL, "the expression has more than %d parts",
			   LANG_EXPRESSION_MAX);
		return NULL;
	}
	return expr;
}

static struct lang_syntax_expr *parse_literal(struct lang_parser *p)
{
	struct lang_syntax_expr *expr = new_syntax_expr(p, LANG_SYNTAX_CONST);

	if (!expr)
		return NULL;
	expr->is_bare = p->token.unit == LANG_PLAIN;
	switch (p->token.kind) {
	case LANG_TOKEN_INTEGER:
		expr->kind = p->token.integer > INT64_MAX && !p->token.negative ? LANG_U64 : LANG_I64;
		expr->integer = p->token.integer;
		break;
	case LANG_TOKEN_REAL:
		expr->kind = LANG_F64;
		expr->real = p->token.real;
		break;
	case LANG_TOKEN_STRING:
		expr->kind = LANG_STRING;
		expr->text = p->token.text;
		break;
	case LANG_TOKEN_TRUTH:
		expr->kind = LANG_BOOL;
		expr->integer = p->token.integer;
		break;
	default:
		expr->kind = LANG_BOOL;
		expr->integer = lang_token_is(&p->token, "TRUE");
	}
	lang_advance(p);
	return finish_expr(p, expr, &expr->location);
}

/* name, name.first or name.first.second, brackets behind the name allowed */
static struct lang_syntax_expr *parse_reference(struct lang_parser *p)
{
	struct lang_syntax_expr *expr = new_syntax_expr(p, LANG_SYNTAX_REFERENCE);
	struct lang_syntax_reference *reference = lang_node(p, sizeof *reference);

	bool plain = p->ahead.kind != LANG_TOKEN_DOT && p->ahead.kind != LANG_TOKEN_LBRACKET;
	bool is_set = p->token.param != NULL;
	const char *hint = plain && !is_set ? lang_params_nearest(p) : NULL;

	if (!expr || !reference || !lang_take_word(p, &reference->name, "a value"))
		return NULL;
	reference->is_set = is_set;
	expr->reference = reference;
	reference->hint = hint;
	if (lang_accept(p, LANG_TOKEN_LBRACKET)) {
		reference->brackets = true;
		if (!lang_expect(p, LANG_TOKEN_RBRACKET, "']'", "an array function is written 'name[].len'"))
			return NULL;
	}
	if ((p->machine || plain) && p->token.kind != LANG_TOKEN_DOT)
		return finish_expr(p, expr, &expr->location);
	if (!lang_expect(p, LANG_TOKEN_DOT, "'.'", "write a field as 'a.field', where a is the name of an event"))
		return NULL;
	if (!lang_take_word(p, &reference->first, "a field name"))
		return NULL;
	if (lang_accept(p, LANG_TOKEN_DOT) && !lang_take_word(p, &reference->second, "a field name"))
		return NULL;
	return finish_expr(p, expr, &expr->location);
}

static struct lang_syntax_expr *parse_parentheses(struct lang_parser *p)
{
	struct diag_location first = p->token.location;

	if (!enter_expr(p))
		return NULL;
	lang_advance(p);
	struct lang_syntax_expr *expr = lang_parse_condition(p);

	p->depth--;
	if (!expr || !lang_expect(p, LANG_TOKEN_RPAREN, "')'", NULL))
		return NULL;
	return finish_expr(p, expr, &first);
}

static struct lang_syntax_expr *parse_primary(struct lang_parser *p)
{
	const char *hint = NULL;

	lang_substitute(p);
	switch (p->token.kind) {
	case LANG_TOKEN_INTEGER:
	case LANG_TOKEN_REAL:
	case LANG_TOKEN_STRING:
	case LANG_TOKEN_TRUTH:
		return parse_literal(p);
	case LANG_TOKEN_LPAREN:
		return parse_parentheses(p);
	case LANG_TOKEN_WORD:
		if (p->token.param)
			return parse_reference(p);
		if (lang_token_is(&p->token, "TRUE") || lang_token_is(&p->token, "FALSE"))
			return parse_literal(p);
		if (!lang_is_operator_word(&p->token) && !lang_at_modifier(p) && !lang_at_statement(p))
			return parse_reference(p);
		if (lang_token_is(&p->token, "NOT"))
			hint = "put NOT and what follows it in parentheses";
		break;
	case LANG_TOKEN_LBRACKET:
		hint = "separate a join field such as [tid] from other conditions by commas";
		break;
	case LANG_TOKEN_LNOT_C:
		hint = "write NOT";
		break;
	case LANG_TOKEN_SLASH:
		hint = "write strings in double quotes";
		break;
	case LANG_TOKEN_HASH:
		hint = "#TID and #PID are arguments of CALL; a field is written 'name.tid'";
		break;
	default:
		break;
	}
	lang_unexpected(p, "a value", hint);
	return NULL;
}

/* A minus before a number is part of it. */
static struct lang_syntax_expr *negate_literal(struct lang_parser *p, struct lang_syntax_expr *literal,
					       const struct diag_location *first)
{
	literal = finish_expr(p, literal, first);
	if (!literal)
		return NULL;
	if (literal->kind == LANG_F64) {
		literal->real = -literal->real;
		return literal;
	}
	if (literal->kind == LANG_U64 && literal->integer > (uint64_t)INT64_MAX + 1) {
		lang_error(p->report, &literal->location, "the smallest integer is -9223372036854775808",
			   "the number is too small");
		return NULL;
	}
	literal->kind = LANG_I64;
	literal->integer = -literal->integer;
	return literal;
}

static struct lang_syntax_expr *parse_unary(struct lang_parser *p)
{
	struct diag_location first = p->token.location;

	if (p->token.kind != LANG_TOKEN_MINUS)
		return parse_primary(p);
	if (!enter_expr(p))
		return NULL;
	lang_advance(p);
	lang_substitute(p);
	bool number = p->token.kind == LANG_TOKEN_INTEGER || p->token.kind == LANG_TOKEN_REAL;
	struct lang_syntax_expr *minus = number ? NULL : new_syntax_expr(p, LANG_SYNTAX_MINUS);

	if (minus)
		minus->op_location = first;
	struct lang_syntax_expr *operand = parse_unary(p);

	p->depth--;
	if (!operand || (!number && !minus))
		return NULL;
	if (number)
		return negate_literal(p, operand, &first);
	minus->left = operand;
	minus->depth = operand->depth + 1;
	minus->size = operand->size + 2;
	return finish_expr(p, minus, &first);
}

static struct lang_syntax_expr *make_binary(struct lang_parser *p, struct lang_syntax_expr *expr,
					    struct lang_syntax_expr *left, struct lang_syntax_expr *right)
{
	if (!expr || !right)
		return NULL;
	expr->left = left;
	expr->right = right;
	expr->depth = larger_bound(left->depth, right->depth) + 1;
	expr->size = left->size + right->size + 1;
	return finish_expr(p, expr, &left->location);
}

/* Operators of at least this level. */
static struct lang_syntax_expr *parse_arithmetic(struct lang_parser *p, int level)
{
	struct lang_syntax_expr *left = parse_unary(p);
	const struct binary_operator *operator;

	while (left && (operator= find_operator(p)) && operator->level >= level) {
		struct lang_syntax_expr *expr = new_syntax_expr(p, LANG_SYNTAX_BINARY);

		if (expr)
			expr->op = operator->op;
		lang_advance(p);
		left = make_binary(p, expr, left, parse_arithmetic(p, operator->level + 1));
	}
	return left;
}

struct lang_syntax_expr *lang_parse_value(struct lang_parser *p)
{
	return parse_arithmetic(p, 1);
}

/* left IN { value, ... }; IN is next */
static struct lang_syntax_expr *parse_in(struct lang_parser *p, struct lang_syntax_expr *left)
{
	struct lang_list list = {
		.separator = LANG_TOKEN_COMMA, .closer = LANG_TOKEN_RBRACE, .item = "a value", .expect = "',' or '}'"
	};
	struct lang_syntax_expr *expr = new_syntax_expr(p, LANG_SYNTAX_IN), **end, *value;

	lang_advance(p);
	if (!expr || !lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'a.x IN { 1, 2 }'") || !lang_list_begin(p, &list))
		return NULL;
	expr->left = left;
	expr->depth = left->depth;
	end = &expr->list;
	do {
		value = *end = lang_parse_value(p);
		if (!value)
			return NULL;
		end = &value->next;
		expr->depth = larger_bound(expr->depth, value->depth);
		expr->size += left->size + value->size + 1;
		if (!finish_expr(p, expr, &left->location))
			return NULL;
	} while (lang_list_next(p, &list, true));
	expr->depth++;
	return list.broken ? NULL : finish_expr(p, expr, &left->location);
}

/* The operator behind a value, where it is a comparison. */
static bool is_comparison(struct lang_parser *p, enum lang_op *op)
{
	const struct binary_operator *operator= find_operator(p);

	if (lang_token_is(&p->token, "LIKE"))
		*op = LANG_LIKE;
	else if (operator&& operator->level == 0)
		*op = operator->op;
	else
		return false;
	return true;
}

static struct lang_syntax_expr *parse_comparison(struct lang_parser *p)
{
	struct lang_syntax_expr *left = lang_parse_value(p), *expr;
	enum lang_op op;

	if (!left)
		return NULL;
	if (lang_token_is(&p->token, "IN")) {
		left = parse_in(p, left);
	} else if (is_comparison(p, &op)) {
		if (p->token.kind == LANG_TOKEN_ASSIGN)
			lang_error(p->report, &p->token.location, "write '=='", "'=' does not compare");
		expr = new_syntax_expr(p, LANG_SYNTAX_BINARY);
		if (expr)
			expr->op = op;
		lang_advance(p);
		left = make_binary(p, expr, left, lang_parse_value(p));
	} else if (lang_token_is(&p->token, "NOT")) {
		lang_unexpected(p, "an operator", "write 'NOT a.x IN { ... }'");
		return NULL;
	}
	if (left && (is_comparison(p, &op) || lang_token_is(&p->token, "IN"))) {
		lang_error(p->report, &p->token.location, "join two comparisons with AND",
			   "comparisons cannot be chained");
		return NULL;
	}
	return left;
}

static struct lang_syntax_expr *parse_not(struct lang_parser *p)
{
	struct diag_location first = p->token.location;

	if (p->token.kind == LANG_TOKEN_LNOT_C)
		lang_error(p->report, &first, "write NOT", "'!' is not an operator");
	else if (!lang_token_is(&p->token, "NOT") || p->ahead.kind == LANG_TOKEN_DOT)
		return parse_comparison(p);
	if (!enter_expr(p))
		return NULL;
	struct lang_syntax_expr *expr = new_syntax_expr(p, LANG_SYNTAX_NOT);

	lang_advance(p);
	struct lang_syntax_expr *operand = parse_not(p);

	p->depth--;
	if (!expr || !operand)
		return NULL;
	expr->left = operand;
	expr->depth = operand->depth + 1;
	expr->size = operand->size + 1;
	return finish_expr(p, expr, &first);
}

/* True when the token joins conditions by op; the spelling of other languages is an error that does not stop. */
static bool joins(struct lang_parser *p, enum lang_op op)
{
	enum lang_token_kind foreign = op == LANG_LAND ? LANG_TOKEN_LAND_C : LANG_TOKEN_LOR_C;
	const char *word = op == LANG_LAND ? "AND" : "OR";

	if (lang_token_is(&p->token, word))
		return true;
	if (p->token.kind != foreign)
		return false;
	lang_error(p->report, &p->token.location, op == LANG_LAND ? "write AND" : "write OR", "'%s' is not an operator",
		   op == LANG_LAND ? "&&" : "||");
	return true;
}

/* Operands joined by AND, or chains of those joined by OR. */
static struct lang_syntax_expr *parse_expr_chain(struct lang_parser *p, enum lang_op op)
{
	struct lang_syntax_expr *first = op == LANG_LOR ? parse_expr_chain(p, LANG_LAND) : parse_not(p), *last = first;

	if (!first || !joins(p, op))
		return first;
	struct lang_syntax_expr *chain = new_syntax_expr(p, LANG_SYNTAX_CHAIN);

	if (!chain)
		return NULL;
	chain->op = op;
	chain->list = first;
	chain->depth = first->depth + 1;
	chain->size = first->size;
	while (joins(p, op)) {
		lang_advance(p);
		struct lang_syntax_expr *next = op == LANG_LOR ? parse_expr_chain(p, LANG_LAND) : parse_not(p);

		if (!next)
			return NULL;
		last->next = next;
		last = next;
		chain->depth = larger_bound(chain->depth, next->depth + 1);
		chain->size += next->size + 1;
		if (!finish_expr(p, chain, &first->location))
			return NULL;
	}
	return chain;
}

struct lang_syntax_expr *lang_parse_condition(struct lang_parser *p)
{
	return parse_expr_chain(p, LANG_LOR);
}

struct lang_syntax_expr *lang_parse_constant_value(struct lang_parser *p)
{
	struct diag_location location = p->token.location;
	struct lang_syntax_expr *expr = parse_unary(p);

	if (!expr || expr->syntax == LANG_SYNTAX_CONST)
		return expr;
	lang_error(p->report, &location, NULL, "expected a constant");
	return NULL;
}

struct lang_syntax_expr *lang_parse_guard(struct lang_parser *p)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a condition",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_expr *chain = new_syntax_expr(p, LANG_SYNTAX_CHAIN), **end;
	struct diag_location first = p->token.location;
	bool fine;

	if (!lang_accept(p, LANG_TOKEN_LBRACE))
		return lang_parse_condition(p);
	if (!chain || !lang_list_begin(p, &list))
		return NULL;
	chain->op = LANG_LAND;
	end = &chain->list;
	do {
		struct lang_syntax_expr *expr = lang_parse_condition(p);

		fine = expr && lang_list_item_ends(p, &list);
		if (!fine)
			continue;
		*end = expr;
		end = &expr->next;
		chain->depth = larger_bound(chain->depth, expr->depth + 1);
		chain->size += expr->size + 1;
		fine = finish_expr(p, chain, &first) != NULL;
	} while (lang_list_next(p, &list, fine));
	return list.broken ? NULL : chain;
}
