// SPDX-License-Identifier: BSD-2-Clause
/* Parses what of C a guard and an action may be: calls, comparisons of arguments and constants, && || ! and ( ). */

#include "smc/smc-priv.h"

#include <string.h>

static const char guards_are[] =
	"guards are calls, comparisons of arguments and constants, && || ! ( ); make the rest a function and bind it";

static struct smc_expr *new_guard_expr(struct smc_reading *reading, enum smc_expr_kind kind)
{
	struct smc_expr *expr;

	if (++reading->parts > SMC_PARTS_MAX) {
		smc_refuse(reading, NULL, "this has more than 64 parts");
		return NULL;
	}
	expr = arena_zero(reading->arena, 1, sizeof *expr);
	if (!expr) {
		lang_no_memory(reading->report);
		return NULL;
	}
	expr->kind = kind;
	expr->word = smc_word_of(reading);
	return expr;
}

static bool parse_operand(struct smc_reading *reading, struct smc_expr **operand);

static bool parse_args(struct smc_reading *reading, struct smc_expr *call)
{
	struct smc_expr **last = &call->args;
	unsigned count = 0;

	while (reading->token.kind != LANG_TOKEN_RPAREN) {
		if (!parse_operand(reading, last))
			return false;
		if (++count > SMC_ARGS_MAX)
			return smc_refuse(reading, NULL, "a call has at most 16 arguments");
		if ((*last)->kind == SMC_NAME && strcmp((*last)->word.text, "ctxt") == 0)
			*last = NULL;
		else
			last = &(*last)->next;
		if (!smc_accept(reading, LANG_TOKEN_COMMA) && reading->token.kind != LANG_TOKEN_RPAREN)
			return smc_refuse(reading, guards_are, "this argument is not a single value");
	}
	smc_advance(reading);
	return true;
}

/* A name, a call, a number or a string. */
static bool parse_operand(struct smc_reading *reading, struct smc_expr **operand)
{
	enum lang_token_kind kind = reading->token.kind;
	bool is_negative = smc_accept(reading, LANG_TOKEN_MINUS), is_fine;

	kind = reading->token.kind;
	if (kind == LANG_TOKEN_WORD && !is_negative)
		*operand = new_guard_expr(reading, SMC_NAME);
	else if (kind == LANG_TOKEN_STRING && !is_negative)
		*operand = new_guard_expr(reading, SMC_STRING);
	else if (kind == LANG_TOKEN_INTEGER && reading->token.unit == LANG_PLAIN)
		*operand = new_guard_expr(reading, SMC_LITERAL);
	else
		return smc_refuse(reading, guards_are, "this cannot be translated");
	if (!*operand)
		return false;
	if (is_negative)
		(*operand)->word.text = lang_hint(reading->report, "-%s", (*operand)->word.text);
	smc_advance(reading);
	if (kind != LANG_TOKEN_WORD || reading->token.kind != LANG_TOKEN_LPAREN)
		return true;
	if (++reading->depth > LANG_DEPTH_MAX)
		return smc_refuse(reading, NULL, "this is nested too deeply");
	smc_advance(reading);
	(*operand)->kind = SMC_CALL;
	is_fine = parse_args(reading, *operand);
	reading->depth--;
	return is_fine;
}

static bool parse_or(struct smc_reading *reading, struct smc_expr **guard);

static bool parse_comparison(struct smc_reading *reading, struct smc_expr **guard)
{
	struct smc_expr *left, *comparison;

	if (!parse_operand(reading, &left))
		return false;
	*guard = left;
	if (reading->token.kind < LANG_TOKEN_EQ || reading->token.kind > LANG_TOKEN_GE)
		return left->kind == SMC_CALL || smc_refuse(reading, guards_are, "a value alone is not a guard here");
	comparison = new_guard_expr(reading, SMC_COMPARE);
	if (!comparison)
		return false;
	smc_advance(reading);
	comparison->left = left;
	*guard = comparison;
	return parse_operand(reading, &comparison->right);
}

static bool parse_not(struct smc_reading *reading, struct smc_expr **guard)
{
	bool is_fine;

	if (++reading->depth > LANG_DEPTH_MAX)
		return smc_refuse(reading, NULL, "this is nested too deeply");
	if (reading->token.kind == LANG_TOKEN_LNOT_C) {
		*guard = new_guard_expr(reading, SMC_NOT);
		smc_advance(reading);
		is_fine = *guard && parse_not(reading, &(*guard)->left);
	} else if (smc_accept(reading, LANG_TOKEN_LPAREN)) {
		is_fine = parse_or(reading, guard) && smc_take(reading, LANG_TOKEN_RPAREN, "')'");
	} else {
		is_fine = parse_comparison(reading, guard);
	}
	reading->depth--;
	return is_fine;
}

/* A chain of && or of ||: LAND binds tighter. Chains lean to the left, so only their length grows. */
static bool parse_guard_chain(struct smc_reading *reading, struct smc_expr **guard, bool is_and)
{
	if (!(is_and ? parse_not(reading, guard) : parse_guard_chain(reading, guard, true)))
		return false;
	while (reading->token.kind == (is_and ? LANG_TOKEN_LAND_C : LANG_TOKEN_LOR_C)) {
		struct smc_expr *both = new_guard_expr(reading, is_and ? SMC_AND : SMC_OR);

		smc_advance(reading);
		if (!both)
			return false;
		both->left = *guard;
		*guard = both;
		if (!(is_and ? parse_not(reading, &both->right) : parse_guard_chain(reading, &both->right, true)))
			return false;
	}
	return true;
}

static bool parse_or(struct smc_reading *reading, struct smc_expr **guard)
{
	return parse_guard_chain(reading, guard, false);
}

bool smc_parse_guard(struct smc_reading *reading, struct smc_expr **guard)
{
	reading->depth = reading->parts = 0;
	return parse_or(reading, guard) && (smc_accept(reading, LANG_TOKEN_RBRACKET) ||
					    smc_refuse(reading, guards_are, "this cannot be translated"));
}

bool smc_parse_call(struct smc_reading *reading, struct smc_expr **call)
{
	reading->depth = 0;
	if (!parse_operand(reading, call))
		return false;
	if ((*call)->kind != SMC_CALL) {
		lang_error(reading->report, &(*call)->word.at, "as in: warning(\"text\");", "an action is a call");
		return false;
	}
	return smc_take(reading, LANG_TOKEN_SEMICOLON, "';'");
}
