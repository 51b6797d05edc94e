// SPDX-License-Identifier: BSD-2-Clause
/* Checks that what a rule says of its matches to people can be shown: a known severity, printable texts. */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "base/severity.h"

#include <string.h>

/* Tags are few, so each is held against those before it. */
static int check_tag(struct check *check, struct check_item item, const struct program_rule *rule, uint32_t index)
{
	const uint32_t *tags = program_tags(check->program, rule);
	int result = 0;

	if (tags[index] == PROGRAM_NONE)
		return check_fail(check, item, "its tag %u is not a text", index);
	result = check_label(check, item, tags[index]);
	if (!result)
		result = check_work(check, item, index);
	if (!result && !*program_text(check->program, tags[index]))
		result = check_fail(check, item, "its tag %u is empty", index);
	for (uint32_t i = 0; i < index && !result; i++)
		if (strcmp(program_text(check->program, tags[i]), program_text(check->program, tags[index])) == 0)
			result = check_fail(check, item, "it has tag %u twice", i);
	return result;
}

int check_properties(struct check *check, struct check_item item, const struct program_rule *rule)
{
	const struct check_range range = { PROGRAM_INDICES, rule->first_tag, rule->tag_count };
	int result = rule->description ? check_label(check, item, rule->description - 1) : 0;

	if (!result && rule->severity > SEVERITY_CRITICAL)
		result = check_fail(check, item, "unknown severity %u", rule->severity);
	if (!result && rule->tag_count > PROGRAM_TAGS_MAX)
		result = check_fail(check, item, "it has more than %d tags", PROGRAM_TAGS_MAX);
	if (!result)
		result = check_bounds(check, item, range);
	for (uint32_t i = 0; i < rule->tag_count && !result; i++)
		result = check_tag(check, item, rule, i);
	return result;
}
