// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers simple questions about checked structures: what is empty, what follows, what begins or ends with a negation.
 */

#include "lang/check/check-priv.h"

bool lang_is_repeated(const struct lang_structure *structure)
{
	return structure->repeat_min != 1 || structure->repeat_max != 1;
}

bool lang_is_within(const struct lang_structure *structure, const struct lang_structure *group)
{
	while (structure && structure != group)
		structure = structure->parent;
	return structure == group;
}

bool lang_is_nullable(const struct lang_structure *structure)
{
	if (structure->repeat_min == 0)
		return true;
	if (structure->kind == LANG_SPEC || structure->kind == LANG_NEGATION)
		return structure->kind == LANG_NEGATION;
	for (uint32_t i = 0; i < structure->child_count; i++) {
		bool nullable = lang_is_nullable(structure->children[i]);

		if (structure->kind == LANG_ALTERNATIVE && nullable)
			return true;
		if (structure->kind == LANG_SEQUENCE && !nullable)
			return false;
	}
	return structure->kind == LANG_SEQUENCE;
}

/* The negation at one end: of a sequence its first or last child counts, of an alternative every branch. */
static const struct lang_structure *end_negation(const struct lang_structure *structure, bool last)
{
	const struct lang_structure *found = NULL;

	if (structure->kind == LANG_NEGATION)
		return structure;
	if (structure->kind == LANG_SEQUENCE)
		return end_negation(structure->children[last ? structure->child_count - 1 : 0], last);
	for (uint32_t i = 0; i < structure->child_count && !found; i++)
		found = end_negation(structure->children[i], last);
	return found;
}

const struct lang_structure *lang_last_negation(const struct lang_structure *structure)
{
	return end_negation(structure, true);
}

const struct lang_structure *lang_first_negation(const struct lang_structure *structure)
{
	return end_negation(structure, false);
}

bool lang_is_strict(const struct lang_rule *rule)
{
	return rule->semantics == LANG_STRICT_SEQUENCE || rule->semantics == LANG_STRICT_PARTITION;
}

const char *lang_semantics_name(enum lang_semantics semantics)
{
	static const char *const names[] = {
		[LANG_STRICT_SEQUENCE] = "STRICTSEQUENCE",
		[LANG_STRICT_PARTITION] = "STRICTPARTITION",
		[LANG_SKIP_TILL_NEXT] = "SKIPTILLNEXT",
		[LANG_SKIP_TILL_ANY] = "SKIPTILLANY",
	};

	return names[semantics];
}
