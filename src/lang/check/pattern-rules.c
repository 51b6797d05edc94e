// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rejects forbidden shapes of patterns: where negations may not stand, what may not be negated, what may not be empty.
 * Only the structure is looked at; what conditions change is judged in negated-rules.c.
 */

#include "lang/check/check-priv.h"

/* Below a negation: no further negation, no array, no repeat. */
static void check_negated(struct lang_check *c, const struct lang_structure *structure)
{
	if (structure->kind == LANG_NEGATION) {
		lang_error(c->report, &structure->location, NULL, "a negation cannot contain a negation");
		return;
	}
	if (structure->kind == LANG_SPEC) {
		if (c->rule->elements[structure->element].is_array)
			lang_error(c->report, &structure->location, NULL, "an array cannot be negated");
		return;
	}
	if (lang_is_repeated(structure))
		lang_error(c->report, &structure->location, NULL, "a repeat cannot be negated");
	for (uint32_t i = 0; i < structure->child_count; i++)
		check_negated(c, structure->children[i]);
}

/* The structure at one end of structure that may be empty, NULL where something surely stands there. */
static const struct lang_structure *empty_end(const struct lang_structure *structure, bool last)
{
	const struct lang_structure *found = NULL;

	if (structure->kind == LANG_NEGATION)
		return NULL;
	if (lang_is_nullable(structure))
		return structure;
	if (structure->kind == LANG_SEQUENCE)
		return empty_end(structure->children[last ? structure->child_count - 1 : 0], last);
	for (uint32_t i = 0; i < structure->child_count && !found; i++)
		found = empty_end(structure->children[i], last);
	return found;
}

/* before and after stand side by side: where one of them is a negation the other must not be empty. */
static void check_neighbours(struct lang_check *c, const struct lang_structure *before,
			     const struct lang_structure *after)
{
	static const char text[] = "the elements next to a negation must not be optional";
	const struct lang_structure *empty = NULL;

	if (lang_last_negation(before) && !lang_first_negation(after))
		empty = empty_end(after, false);
	else if (lang_first_negation(after) && !lang_last_negation(before))
		empty = empty_end(before, true);
	if (empty)
		lang_error(c->report, &empty->location, "let it occur at least once", "%s", text);
}

static void check_branch(struct lang_check *c, const struct lang_structure *branch)
{
	const struct lang_structure *negation = lang_first_negation(branch);

	if (negation)
		lang_error(c->report, &negation->location, "negate between two events",
			   "a branch cannot begin with a negation");
}

static void check_structure(struct lang_check *c, const struct lang_structure *structure)
{
	if (structure->kind == LANG_NEGATION) {
		check_negated(c, structure->children[0]);
		return;
	}
	for (uint32_t i = 0; i < structure->child_count; i++) {
		check_structure(c, structure->children[i]);
		if (structure->kind == LANG_ALTERNATIVE)
			check_branch(c, structure->children[i]);
		else if (i > 0)
			check_neighbours(c, structure->children[i - 1], structure->children[i]);
	}
	if (!lang_is_repeated(structure))
		return;
	if (structure->kind == LANG_SEQUENCE && structure->repeat_max > 1)
		check_neighbours(c, structure->children[structure->child_count - 1], structure->children[0]);
	struct lang_structure once = *structure;

	once.repeat_min = once.repeat_max = 1;
	if (lang_is_nullable(&once))
		lang_error(c->report, &structure->location, "let the inner part occur at least once",
			   "this repeats something that may be empty");
}

void lang_check_shape(struct lang_check *c)
{
	const struct lang_structure *root = c->rule->root, *first = root, *empty;

	check_structure(c, root);
	while (first->kind == LANG_SEQUENCE)
		first = first->children[0];
	if (first->kind == LANG_NEGATION)
		lang_error(c->report, &first->location, "begin with the event after which it must not come",
			   "a pattern cannot begin with a negation");
	empty = lang_first_negation(root) ? NULL : empty_end(root, false);
	if (empty)
		lang_error(c->report, &empty->location, "let it occur at least once",
			   "the first element of a pattern must not be possibly empty");
}
