// SPDX-License-Identifier: BSD-2-Clause
/* Reports on rules that found nothing: what it counts where it was asked for, else that it can be. */

#include "cmd/text/why.h"

#include "base/alloc.h"
#include "cli/print.h"
#include "program/why/report.h"

#include <inttypes.h>

/* More rules than these without a match are told together: of many, most find nothing on a good day. */
enum { RULES_TOLD = 3 };

static struct program_why_report report_of(const struct program *program, const struct session_totals *totals,
					   uint32_t rule, bool is_live)
{
	return (struct program_why_report){
		.program = program,
		.rule = &program->rules[rule],
		.counts = totals->why->rules[rule],
		.stats = &totals->rules[rule],
		.is_live = is_live,
	};
}

static void write_text(FILE *stream, struct text_buffer *text)
{
	char *taken = NULL;

	if (text_take(text, &taken))
		cli_error("out of memory");
	else
		fputs(taken, stream);
	alloc_free(taken);
}

void why_write_json(FILE *stream, const struct program *program, const struct session_totals *totals, bool is_live)
{
	for (uint32_t i = 0; totals->why && i < totals->rule_count; i++) {
		struct program_why_report report = report_of(program, totals, i, is_live);
		struct text_buffer text = { 0 };

		program_why_json(&report, &text);
		write_text(stream, &text);
	}
}

static void put_hint(void *context, const char *hint)
{
	(void)context;
	cli_hint("%s", hint);
}

static void write_table(const struct program_why_report *report, const struct why_manner *manner)
{
	struct text_buffer text = { 0 };

	if (manner->tells_why)
		program_why_text(report, &text);
	if (manner->verbose)
		program_why_transitions(report, &text);
	write_text(stderr, &text);
	if (manner->tells_why)
		program_why_hints(report, put_hint, NULL);
}

/* Machines warn of what must not be: that they find nothing is what one hopes for. */
static bool is_missed(const struct program *program, const struct session_totals *totals, uint32_t rule)
{
	return program->rules[rule].semantics != PROGRAM_MACHINE && totals->rules[rule].matches == 0;
}

static void put_missed(const struct program *program, const struct session_totals *totals, uint32_t rule)
{
	const struct program_rule_stats *stats = &totals->rules[rule];
	const char *name = program_text(program, program->rules[rule].name);

	if (stats->excepted)
		cli_note("rule %s: every match is excepted", name);
	else if (stats->runs_opened)
		cli_note("rule %s: 0 matches; %" PRIu64 " run%s opened, none completed", name, stats->runs_opened,
			 stats->runs_opened == 1 ? " was" : "s were");
	else
		cli_note("rule %s: 0 matches; no event opened a run", name);
}

static void put_all_missed(const struct program *program, const struct session_totals *totals)
{
	uint32_t missed = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		missed += is_missed(program, totals, i);
	if (missed > RULES_TOLD)
		cli_note("%" PRIu32 " rules did not match", missed);
	for (uint32_t i = 0; missed <= RULES_TOLD && i < totals->rule_count; i++)
		if (is_missed(program, totals, i))
			put_missed(program, totals, i);
	if (missed)
		cli_hint("--why shows which conditions failed");
}

void why_write_text(const struct program *program, const struct session_totals *totals, const struct why_manner *manner)
{
	for (uint32_t i = 0; totals->why && i < totals->rule_count; i++) {
		struct program_why_report report = report_of(program, totals, i, manner->is_live);

		write_table(&report, manner);
	}
	if (!manner->tells_why && !manner->quiet)
		put_all_missed(program, totals);
}
