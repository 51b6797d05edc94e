// SPDX-License-Identifier: BSD-2-Clause
/* Writes what a rule says of its matches to people into a match, and leaves out matches that are not to be shown. */

#include "base/severity.h"
#include "program/query.h"
#include "session/output/result-priv.h"

#include <string.h>

void result_put_properties(FILE *stream, const struct program *program, const struct program_rule *rule)
{
	if (rule->severity)
		fprintf(stream, ",\"severity\":\"%s\"", severity_name(rule->severity));
	for (uint32_t i = 0; i < rule->tag_count; i++) {
		fputs(i ? "," : ",\"tags\":[", stream);
		result_put_string(stream, program_text(program, program_tags(program, rule)[i]));
	}
	if (rule->tag_count)
		putc(']', stream);
	if (rule->description) {
		fputs(",\"description\":", stream);
		result_put_string(stream, program_description(program, rule));
	}
}

void result_put_severity(FILE *stream, const struct program *program, const struct program_rule *rule)
{
	int width = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		int length = (int)strlen(severity_name(program->rules[i].severity));

		width = length > width ? length : width;
	}
	if (width)
		fprintf(stream, "%-*s  ", width, severity_name(rule->severity));
}

bool result_is_reported(const struct program_rule *rule, enum severity least)
{
	return rule->severity >= least;
}

uint64_t result_unreported(const struct program *program, const struct session_totals *totals, uint32_t rule)
{
	const struct program_rule *row = &program->rules[rule];

	return result_is_reported(row, totals->least_severity) || row->flags & PROGRAM_RULE_SILENT
		       ? 0
		       : totals->rules[rule].matches;
}
