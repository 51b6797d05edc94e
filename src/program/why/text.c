// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a rule's counts as text: sections in the order in which a run lives, in each of them a number and what it
 * counts. Automata have several states for one place of a pattern; lines that say the same are one.
 */

#include "program/why/report-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum section { SEEN, OPENED, ADVANCED, PASSED, ENDED, OPEN, RESULT, SECTION_COUNT };

static const char *const names[] = {
	[SEEN] = "seen",   [OPENED] = "opened", [ADVANCED] = "went on", [PASSED] = "passed over",
	[ENDED] = "ended", [OPEN] = "open",     [RESULT] = "result",
};

/* Lines of 0 that are facts, too. */
static const bool has_zeros[SECTION_COUNT] = { [SEEN] = true, [OPENED] = true, [ADVANCED] = true };

struct line {
	enum section section;
	size_t order;
	uint64_t count, others, other_processes; /* others: by other threads */
	char *text;
};

struct lines {
	const struct program_why_report *report;
	struct line *items;
	size_t count, capacity;
	int failure;
};

/* What was written into text becomes a line, or is added to the one that says the same. NULL: memory is short. */
static struct line *add_why_line(struct lines *lines, enum section section, uint64_t count, struct text_buffer *text)
{
	char *taken = NULL;
	struct line *line;

	if (lines->failure || text_take(text, &taken) ||
	    alloc_grow(&lines->items, &lines->capacity, lines->count, sizeof *lines->items)) {
		text_fini(text);
		alloc_free(taken);
		lines->failure = -ENOMEM;
		return NULL;
	}
	for (line = lines->items; line < lines->items + lines->count; line++) {
		if (line->section == section && strcmp(line->text, taken) == 0) {
			alloc_free(taken);
			line->count += count;
			return line;
		}
	}
	*line = (struct line){ .section = section, .order = lines->count++, .count = count, .text = taken };
	return line;
}

static void add_text(struct lines *lines, enum section section, uint64_t count, const char *words)
{
	struct text_buffer text = { 0 };

	text_append(&text, words);
	add_why_line(lines, section, count, &text);
}

static void add_type_lines(struct lines *lines)
{
	const struct program_why_report *report = lines->report;

	for (uint32_t i = 0; i < report->rule->over_count; i++) {
		uint32_t type = program_over(report->program, report->rule)[i];

		if (program_why_looks_at(report->program, report->rule, type))
			add_text(lines, SEEN, why_type(report, type)[PROGRAM_WHY_SEEN], why_type_name(report, type));
	}
}

/* A machine's: from which state to which. */
static void put_move(const struct program_why_report *report, const struct why_step *step, struct text_buffer *text)
{
	uint32_t target = step->transition->target;

	if (!why_is_machine(report))
		return;
	text_printf(text, ": %s -> %s%s", why_state_label(report, step->state),
		    target < report->rule->state_count ? why_state_label(report, target) : "END",
		    step->transition->flags & PROGRAM_COPY ? ", a copy" : "");
}

static void add_taken(struct lines *lines, const struct why_step *step)
{
	const struct program_why_report *report = lines->report;
	struct text_buffer text = { 0 };

	if (step->transition->target == PROGRAM_TARGET_END && !why_is_machine(report))
		return;
	why_put_event(report, step, &text);
	put_move(report, step, &text);
	add_why_line(lines, step->state ? ADVANCED : OPENED,
		     step->counts[PROGRAM_WHY_TAKEN] - step->counts[PROGRAM_WHY_FAILED], &text);
}

static void add_passed(struct lines *lines, const struct why_step *step)
{
	const struct program_why_report *report = lines->report;
	const struct program_transition *transition = step->transition;
	struct text_buffer text = { 0 };

	if (!step->state || !why_is_first(report, step) || transition->type == PROGRAM_TIMER ||
	    !why_passed(report, step))
		return;
	text_printf(&text, "%s %s", why_type_name(report, transition->type), why_state_label(report, step->state));
	if (step->counts[PROGRAM_WHY_TAKEN] == 0 && transition->fit != PROGRAM_NONE) {
		text_append(&text, ": not ");
		why_put_condition(report, step, transition->fit, &text);
	}
	add_why_line(lines, PASSED, why_passed(report, step), &text);
}

static void add_ended(struct lines *lines, const struct why_step *step)
{
	const struct program_why_report *report = lines->report;
	struct text_buffer text = { 0 };
	struct line *line;

	if (!why_ended(step) || why_is_machine(report))
		return;
	why_put_event(report, step, &text);
	if (step->transition->target != PROGRAM_TARGET_END) {
		text_append(&text, ": not ");
		why_put_condition(report, step, step->transition->hold, &text);
	}
	line = add_why_line(lines, ENDED, why_ended(step), &text);
	if (!line)
		return;
	line->others += step->counts[PROGRAM_WHY_OTHER_THREAD];
	line->other_processes += step->counts[PROGRAM_WHY_OTHER_PROCESS];
}

static void add_interrupted(struct lines *lines, uint32_t type)
{
	uint64_t broke = why_type(lines->report, type)[PROGRAM_WHY_BROKE];
	struct text_buffer text = { 0 };

	if (!broke)
		return;
	text_printf(&text, "%s in between", why_type_name(lines->report, type));
	add_why_line(lines, ENDED, broke, &text);
}

static void add_states(struct lines *lines)
{
	const struct program_why_report *report = lines->report;

	for (uint32_t i = 0; i < report->rule->state_count; i++) {
		const uint64_t *counts = why_state(report, i);
		struct text_buffer text = { 0 };

		if (counts[PROGRAM_WHY_OPEN])
			add_text(lines, OPEN, counts[PROGRAM_WHY_OPEN], why_state_label(report, i));
		if (!counts[PROGRAM_WHY_EXPIRED])
			continue;
		text_append(&text, "WITHIN ");
		text_time(&text, report->rule->within_ns);
		text_printf(&text, " is over %s", why_state_label(report, i));
		add_why_line(lines, ENDED, counts[PROGRAM_WHY_EXPIRED], &text);
	}
}

static void add_others(struct lines *lines)
{
	const struct program_why_report *report = lines->report;
	const struct program_rule_stats *stats = report->stats;
	uint64_t known =
		why_all_ended(report) + why_all_open(report) + stats->matches + stats->excepted + stats->events_refused;

	add_text(lines, ENDED, report->counts[PROGRAM_WHY_DROPPED], "another run of their key matched");
	add_text(lines, ENDED, report->stats->replaced, "a newer run replaced them");
	add_text(lines, ENDED, report->counts[PROGRAM_WHY_DISCARDED], "events were lost (ON LOSS DISCARD)");
	if (!why_is_machine(report) && stats->runs_opened > known)
		add_text(lines, ENDED, stats->runs_opened - known, "in other ways");
	add_text(lines, ENDED, stats->events_refused, "no room to store more events (RETURN SEQUENCE)");
	add_text(lines, RESULT, stats->pool_exhausted - stats->events_refused, "refused: the pool was full");
	add_text(lines, RESULT, stats->excepted, "excepted");
	add_text(lines, RESULT, stats->matches, "matched");
}

static void add_why_lines(struct lines *lines)
{
	const struct program_why_report *report = lines->report;

	add_type_lines(lines);
	for (struct why_step step = { 0 }; why_next(report, &step);) {
		add_taken(lines, &step);
		add_passed(lines, &step);
		add_ended(lines, &step);
	}
	for (uint32_t i = 0; i < report->rule->over_count; i++)
		add_interrupted(lines, program_over(report->program, report->rule)[i]);
	add_interrupted(lines, PROGRAM_NONE);
	add_states(lines);
	add_others(lines);
}

/* By section; what ended runs by how many it ended, everything else as the pattern has it. */
static int in_order(const void *a, const void *b)
{
	const struct line *first = a, *second = b;

	if (first->section != second->section)
		return first->section < second->section ? -1 : 1;
	if (first->section == ENDED && first->count != second->count)
		return first->count > second->count ? -1 : 1;
	return first->order < second->order ? -1 : first->order > second->order;
}

static bool is_why_line_shown(const struct line *line)
{
	return line->count || has_zeros[line->section] || (line->section == RESULT && !strcmp(line->text, "matched"));
}

static int lines_width(const struct lines *lines)
{
	int width = 1;

	for (size_t i = 0; i < lines->count; i++) {
		int digits = snprintf(NULL, 0, "%" PRIu64, lines->items[i].count);

		width = is_why_line_shown(&lines->items[i]) && digits > width ? digits : width;
	}
	return width;
}

static void put_why_lines(const struct lines *lines, struct text_buffer *out)
{
	int width = lines_width(lines), section = -1;

	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->items[i];

		if (!is_why_line_shown(line))
			continue;
		text_printf(out, "  %-11s  %*" PRIu64 "  %s", section == (int)line->section ? "" : names[line->section],
			    width, line->count, line->text);
		if (line->other_processes)
			text_printf(out, " (%" PRIu64 " by other processes)", line->other_processes);
		else if (line->others)
			text_printf(out, " (%" PRIu64 " by other threads)", line->others);
		text_append(out, "\n");
		section = (int)line->section;
	}
}

void program_why_text(const struct program_why_report *report, struct text_buffer *out)
{
	struct lines lines = { .report = report };

	add_why_lines(&lines);
	if (lines.count)
		qsort(lines.items, lines.count, sizeof *lines.items, in_order);
	text_printf(out, "%s %s\n", program_sort(report->rule), program_text(report->program, report->rule->name));
	put_why_lines(&lines, out);
	if (lines.failure)
		out->failure = lines.failure;
	for (size_t i = 0; i < lines.count; i++)
		alloc_free(lines.items[i].text);
	alloc_free(lines.items);
}
