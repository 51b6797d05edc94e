/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_WHY_REPORT_H
#define PROGRAM_WHY_REPORT_H

/* What became of a rule's runs, told: a table for people, with what to try, or one JSON object. */

#include "base/text.h"
#include "program/match.h"
#include "program/why/why.h"

struct program_why_report {
	const struct program *program;
	const struct program_rule *rule;
	const uint64_t *counts;
	const struct program_rule_stats *stats;
	bool is_live; /* events come from the running system, where what is observed can be chosen */
};

/* Some lines; each hint is a line of its own, to be printed behind them. */
void program_why_text(const struct program_why_report *report, struct text_buffer *out);

/* The rule's transitions: how often each was tried, taken and held, and of each condition how often it was asked and
 * true. */
void program_why_transitions(const struct program_why_report *report, struct text_buffer *out);

/* Calls put for what the counts suggest, what ended most first; nothing where they suggest nothing. */
void program_why_hints(const struct program_why_report *report, void (*put)(void *context, const char *hint),
		       void *context);

/* {"why":"<rule>",...} and a newline. */
void program_why_json(const struct program_why_report *report, struct text_buffer *out);

/* The event of a rule's transition as a pattern writes it, and a node of it: for whoever tells of transitions. */
void program_why_event(const struct program *program, const struct program_rule *rule,
		       const struct program_transition *transition, struct text_buffer *out);
void program_why_condition(const struct program *program, const struct program_rule *rule,
			   const struct program_transition *transition, uint32_t node, struct text_buffer *out);

#endif
