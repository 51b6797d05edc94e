// SPDX-License-Identifier: BSD-2-Clause
/*
 * Classifies a condition (guard, correlation, relation, part of a negation) and checks which events it names together.
 */

#include "lang/check/check-priv.h"

/* What a condition names, each by its first reference; NULL: nothing of that sort. */
struct usage {
	const struct lang_expr *first;  /* any reference */
	const struct lang_expr *second; /* to another element than first */
	const struct lang_expr *latest; /* to the element that comes last in the pattern */
	const struct lang_expr *negated, *other_negated;
	const struct lang_expr *array_field; /* plain field of an array */
	const struct lang_expr *array_function;
};

static void note_reference(const struct lang_check *c, struct usage *usage, const struct lang_expr *expr)
{
	const struct lang_element *element = &c->rule->elements[expr->element];

	if (!usage->first)
		usage->first = expr;
	else if (!usage->second && usage->first->element != expr->element)
		usage->second = expr;
	if (!usage->latest || usage->latest->element < expr->element)
		usage->latest = expr;
	if (element->is_negated && !usage->negated)
		usage->negated = expr;
	else if (element->is_negated && !usage->other_negated && usage->negated->element != expr->element)
		usage->other_negated = expr;
	if (expr->op != LANG_FIELD)
		usage->array_function = usage->array_function ? usage->array_function : expr;
	else if (element->is_array && !usage->array_field)
		usage->array_field = expr;
}

/* Calls visit for every reference in the expression. */
typedef void visit_fn(struct lang_check *c, struct usage *usage, const struct lang_expr *expr);

static void walk_expr(struct lang_check *c, struct usage *usage, const struct lang_expr *expr, visit_fn *visit)
{
	if (!expr)
		return;
	if (expr->op >= LANG_FIELD && expr->op <= LANG_LAST)
		visit(c, usage, expr);
	walk_expr(c, usage, expr->left, visit);
	walk_expr(c, usage, expr->right, visit);
}

static void visit_note(struct lang_check *c, struct usage *usage, const struct lang_expr *expr)
{
	note_reference(c, usage, expr);
}

static const char *element_name(const struct lang_check *c, const struct lang_expr *expr)
{
	return c->rule->elements[expr->element].name;
}

/* A name from inside a repeat, with one that comes later and lies outside of it. */
static void visit_group(struct lang_check *c, struct usage *usage, const struct lang_expr *expr)
{
	const struct lang_element *element = &c->rule->elements[expr->element];
	const struct lang_element *latest = &c->rule->elements[usage->latest->element];

	if (element->group && !lang_is_within(latest->structure, element->group))
		lang_error(c->report, &expr->location, NULL,
			   "'%s' lies inside a repeat and cannot be used outside of it", element->name);
}

/* A name that no way through the pattern binds together with the latest one. */
static void visit_branch(struct lang_check *c, struct usage *usage, const struct lang_expr *expr)
{
	const struct lang_structure *common = c->rule->elements[expr->element].structure;
	const struct lang_structure *latest = c->rule->elements[usage->latest->element].structure;

	if (expr->element == usage->latest->element)
		return;
	while (common && !lang_is_within(latest, common))
		common = common->parent;
	if (common && common->kind == LANG_ALTERNATIVE)
		lang_warn(c->report, &expr->location, NULL,
			  "'%s' and '%s' are in different branches, so this condition is never tested",
			  element_name(c, expr), element_name(c, usage->latest));
}

static bool check_negated_names(struct lang_check *c, const struct usage *usage)
{
	const struct lang_element *element, *other;

	if (usage->other_negated) {
		element = &c->rule->elements[usage->negated->element];
		other = &c->rule->elements[usage->other_negated->element];
		if (element->negation == other->negation)
			lang_error(c->report, &usage->other_negated->location,
				   "relate each of them to an earlier event",
				   "a condition cannot relate events of one negation to each other");
		else
			lang_error(c->report, &usage->other_negated->location,
				   "relate each of them to an earlier event",
				   "a condition cannot relate two negated events");
		return false;
	}
	if (usage->negated && usage->latest->element > usage->negated->element) {
		lang_error(c->report, &usage->latest->location, "a negated event may be related to earlier events",
			   "'%s' comes after the negated event '%s' and cannot be related to it",
			   element_name(c, usage->latest), element_name(c, usage->negated));
		return false;
	}
	return true;
}

static bool check_array_field(struct lang_check *c, const struct usage *usage)
{
	const struct lang_expr *field = usage->array_field;

	if (field && usage->second) {
		lang_error(c->report, &field->location,
			   "write which: '.first.', '.last.', '.min.', '.max.', '.sum.' or '.avg.'",
			   "a field of the array '%s' cannot be related to another event", element_name(c, field));
		return false;
	}
	if (field && usage->array_function) {
		lang_error(c->report, &field->location, NULL,
			   "a field of each event of '%s' cannot be related to a function of the array",
			   element_name(c, field));
		return false;
	}
	return true;
}

/* Whether side is a plain field of element; a conversion for the sake of the other side does not count. */
static bool is_bare(const struct lang_expr *side, uint32_t element)
{
	if (side->op == LANG_CONVERT)
		side = side->left;
	return side->op == LANG_FIELD && side->element == element;
}

static enum lang_condition_kind condition_kind(const struct usage *usage, const struct lang_expr *expr)
{
	if (usage->negated)
		return LANG_NEGATED;
	if (usage->array_function)
		return LANG_RELATION;
	if (!usage->second)
		return LANG_GUARD;
	if (expr->op == LANG_EQ &&
	    (is_bare(expr->left, usage->latest->element) || is_bare(expr->right, usage->latest->element)))
		return LANG_CORRELATION;
	return LANG_RELATION;
}

void lang_classify(struct lang_check *c, struct lang_expr *expr)
{
	struct usage usage = { 0 };

	walk_expr(c, &usage, expr, visit_note);
	if (!check_negated_names(c, &usage) || !check_array_field(c, &usage)) {
		c->lost_condition = true;
		return;
	}
	if (usage.second) {
		walk_expr(c, &usage, expr, visit_group);
		walk_expr(c, &usage, expr, visit_branch);
	}
	c->rule->conditions[c->rule->condition_count++] = (struct lang_condition){
		.kind = condition_kind(&usage, expr),
		.expr = expr,
		.location = expr->location,
		.element = usage.negated  ? usage.negated->element
			   : usage.latest ? usage.latest->element
					  : UINT32_MAX,
	};
}
