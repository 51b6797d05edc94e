// SPDX-License-Identifier: BSD-2-Clause
/* Writes the properties of a rule - what its matches mean to people - into the image. */

#include "automaton/rule/rule-priv.h"

void rule_emit_properties(struct rule_build *build, const struct lang_properties *properties, struct program_rule *out)
{
	struct program_build *image = build->unit->out;

	out->severity = properties->severity;
	out->description = properties->description ? 1 + program_build_text(image, properties->description) : 0;
	out->first_tag = program_build_count(image, PROGRAM_INDICES);
	out->tag_count = properties->tag_count;
	for (uint32_t i = 0; i < properties->tag_count; i++) {
		uint32_t tag = program_build_text(image, properties->tags[i]);

		program_build_add(image, PROGRAM_INDICES, &tag, 1);
	}
}
