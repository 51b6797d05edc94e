// SPDX-License-Identifier: BSD-2-Clause
/* Turns a pattern's syntax into structures and elements: types, names, nesting. */

#include "lang/check/check-priv.h"

#include <string.h>

/* What a structure lies in. */
struct surroundings {
	struct lang_structure *parent, *negation, *group;
};

/* Words that have a meaning inside expressions and so cannot name an event. */
static const char *const reserved_in_pattern[] = { "AND", "OR", "NOT", "IN", "LIKE", "AS", "TRUE", "FALSE" };

static struct lang_structure *build(struct lang_check *c, const struct lang_syntax_structure *syntax,
				    struct surroundings around);

static void check_element_name(struct lang_check *c, const struct lang_word *name, struct lang_element *element)
{
	uint32_t index = (uint32_t)(element - c->rule->elements);

	for (size_t i = 0; i < sizeof reserved_in_pattern / sizeof *reserved_in_pattern; i++) {
		if (lang_word_is(name->text, strlen(name->text), reserved_in_pattern[i])) {
			lang_error(c->report, &name->location, NULL, "'%s' is a keyword and cannot name an event",
				   name->text);
			return;
		}
	}
	uint32_t other = lang_names_add(c->names, name->text, index);

	element->name = name->text;
	if (other == LANG_NO_NAME)
		return;
	lang_error(c->report, &name->location, "each needs its own name, even in different branches of an alternative",
		   "two events of the pattern are named '%s'", name->text);
	lang_note(c->report, &c->rule->elements[other].location, "the other one is here");
}

static void build_element(struct lang_check *c, const struct lang_syntax_structure *syntax,
			  struct lang_structure *structure, const struct surroundings *around)
{
	structure->element = c->rule->element_count++;
	struct lang_element *element = &c->rule->elements[structure->element];

	*element = (struct lang_element){
		.type = lang_find_type(c, &syntax->type, syntax->name.text),
		.location = syntax->location,
		.structure = structure,
		.is_array = syntax->is_array,
		.is_negated = around->negation != NULL,
		.length_min = syntax->min,
		.length_max = syntax->max,
		.negation = around->negation,
		.group = around->group,
	};
	if (syntax->name.text)
		check_element_name(c, &syntax->name, element);
}

static bool build_children(struct lang_check *c, const struct lang_syntax_structure *syntax,
			   struct lang_structure *structure, struct surroundings around)
{
	structure->children = lang_keep(c, syntax->child_count, sizeof *structure->children);
	if (!structure->children)
		return false;
	around.parent = structure;
	if (structure->kind == LANG_NEGATION)
		around.negation = structure;
	else if (lang_is_repeated(structure))
		around.group = structure;
	for (const struct lang_syntax_structure *child = syntax->first; child; child = child->next) {
		struct lang_structure *built = build(c, child, around);

		if (!built)
			return false;
		structure->children[structure->child_count++] = built;
	}
	return true;
}

/* NULL only when memory is short. */
static struct lang_structure *build(struct lang_check *c, const struct lang_syntax_structure *syntax,
				    struct surroundings around)
{
	bool repeated = syntax->min != 1 || syntax->max != 1;

	if (syntax->kind == LANG_SEQUENCE && syntax->child_count == 1 && !repeated)
		return build(c, syntax->first, around);
	struct lang_structure *structure = lang_keep(c, 1, sizeof *structure);

	if (!structure)
		return NULL;
	structure->kind = syntax->kind;
	structure->location = syntax->location;
	structure->parent = around.parent;
	structure->repeat_min = structure->repeat_max = 1;
	if (syntax->kind == LANG_SPEC) {
		build_element(c, syntax, structure, &around);
		return structure;
	}
	structure->repeat_min = syntax->min;
	structure->repeat_max = syntax->max;
	return build_children(c, syntax, structure, around) ? structure : NULL;
}

bool lang_check_pattern(struct lang_check *c)
{
	if (!c->syntax->pattern)
		return false;
	c->names = lang_names_new(c->scratch, c->syntax->element_count);
	c->rule->elements = lang_keep(c, c->syntax->element_count, sizeof *c->rule->elements);
	if (!c->names || !c->rule->elements) {
		lang_no_memory(c->report);
		return false;
	}
	c->rule->root = build(c, c->syntax->pattern, (struct surroundings){ 0 });
	return c->rule->root != NULL;
}
