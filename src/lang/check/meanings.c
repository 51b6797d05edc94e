// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes what operators make of what values mean (meaning/meaning.h), and reports values that have nothing to do with
 * each other. What is lost on the way is only shown as a number; an error is what nobody can have meant.
 */

#include "lang/check/meanings-priv.h"

#include "lang/check/machine-priv.h"

#include "meaning/meaning.h"

enum { BARE_MAX = 1000 }; /* ns: more of them without a unit are told */

static bool is_literal(const struct lang_expr *expr)
{
	return expr->op == LANG_CONST && !expr->meaning;
}

/* A moment, or what is of type time and may be one. */
static bool may_be_time(const struct lang_check *c, const struct lang_expr *expr)
{
	if (expr->meaning)
		return expr->meaning == &meaning_time;
	if (expr->op == LANG_VARIABLE)
		return c->scope->machine->variables[expr->element].type == EVENT_TIME;
	return expr->field && expr->field->value == EVENT_TIME;
}

static bool is_time_expr(const struct lang_expr *expr)
{
	return expr->meaning == &meaning_time;
}

/* What both sides mean, or what one of them means beside a literal. */
static const struct meaning *shared(const struct lang_expr *left, const struct lang_expr *right)
{
	if (is_literal(right) || left->meaning == right->meaning)
		return left->meaning;
	return is_literal(left) ? right->meaning : NULL;
}

static const struct meaning *times(const struct lang_expr *left, const struct lang_expr *right)
{
	if (meaning_is_amount(left->meaning) && !right->meaning)
		return left->meaning;
	return meaning_is_amount(right->meaning) && !left->meaning ? right->meaning : NULL;
}

const struct meaning *lang_meaning_of(const struct lang_check *c, enum lang_op op, const struct lang_expr *left,
				      const struct lang_expr *right)
{
	bool is_part = meaning_is_amount(left->meaning) && !right->meaning;

	switch (op) {
	case LANG_SUB:
		if ((is_time_expr(left) && may_be_time(c, right)) || (may_be_time(c, left) && is_time_expr(right)))
			return &meaning_duration;
		return shared(left, right);
	case LANG_ADD:
		return shared(left, right);
	case LANG_MUL:
		return times(left, right);
	case LANG_DIV:
	case LANG_MOD:
		return is_part ? left->meaning : NULL;
	case LANG_AND:
	case LANG_OR:
	case LANG_XOR:
		return meaning_has_names(shared(left, right)) ? shared(left, right) : NULL;
	default:
		return NULL;
	}
}

bool lang_meaning_adds(struct lang_check *c, enum lang_op op, const struct lang_expr *left,
		       const struct lang_expr *right, const struct diag_location *location)
{
	if (op != LANG_ADD || !is_time_expr(left) || !is_time_expr(right))
		return true;
	lang_error(c->report, location, "subtract one time from the other to get a duration",
		   "two times cannot be added: both are moments, not durations");
	return false;
}

static void warn_of_bare(struct lang_check *c, const struct lang_expr *duration, const struct lang_expr *number)
{
	struct text_buffer text;
	char shown[MEANING_TEXT_BYTES];
	bool is_real = number->kind == LANG_F64;
	int64_t ns = is_real ? 0 : (int64_t)number->integer;

	if (duration->meaning != &meaning_duration || number->op != LANG_CONST || !number->is_bare)
		return;
	if (is_real ? !(number->real > BARE_MAX || number->real < -BARE_MAX) : ns <= BARE_MAX && ns >= -BARE_MAX)
		return;
	text_init_fixed(&text, shown, sizeof shown);
	if (is_real)
		meaning_show_real(&text, &meaning_duration, number->real);
	else
		meaning_show(&text, &meaning_duration, (struct meaning_number){ number->integer, true });
	lang_warn(c->report, &number->location, "say the unit: ns, us, ms, s, min or h",
		  "a number without a unit, compared with a duration, is in nanoseconds: this is %s", shown);
}

bool lang_meaning_compares(struct lang_check *c, const struct lang_expr *left, const struct lang_expr *right,
			   const struct diag_location *location)
{
	if (!meaning_is_comparable(left->meaning, right->meaning)) {
		lang_error(c->report, location, NULL, "cannot compare '%s' with '%s': they mean different things",
			   left->meaning->text, right->meaning->text);
		return false;
	}
	warn_of_bare(c, left, right);
	warn_of_bare(c, right, left);
	return true;
}
