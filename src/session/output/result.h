/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_RESULT_H
#define SESSION_OUTPUT_RESULT_H

/*
 * What a session found, written: a match as one JSON object per line (docs/language.md, "Results") or as text for
 * people, and the counts at the end. Nothing here fails by itself: an output that cannot be written shows in
 * ferror(stream).
 */

#include "program/eval.h"
#include "program/load.h"
#include "program/match.h"
#include "session/output/totals.h"
#include "session/output/when.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * One line; "sequence" only where the rule returns it, "calls" only where there are CALL statements, "severity", "tags"
 * and "description" where the rule says them, "stack" and
 * "threads" only where one of them has taken some, "warning" and "trail" only of machines. Of a machine's match only
 * what belongs to its notice is written. when: what else is said of place, time and host, at the end of the line; NULL:
 * nothing.
 */
void result_write_json(FILE *stream, const struct program *program, const struct program_match *match,
		       const struct when *when);

/*
 * The text of a machine's warning. is_shown: values are written as everywhere in text; else they are as they are:
 * numbers as numbers, control characters that a process has put into a string are in it. Empty where nothing is warned
 * of. The caller frees it; NULL: memory is short.
 */
char *result_warning(const struct program *program, const struct program_match *match, bool is_shown);

/*
 * Value number row of those that the rule returns, for people and without quotes, in *text, which the caller frees.
 * Returns its length; -ENODATA, -ENOENT, -EDOM: the match does not have it; -ENOMEM.
 */
int result_shown(const struct program *program, const struct program_match *match, uint32_t row, char **text);

/* How long before a warning ts is: "-1.2 ms", in the unit that leaves one to three digits before the point. */
enum { RESULT_AGO_BYTES = 32 };
void result_print_ago(uint64_t ts, uint64_t warned, char text[RESULT_AGO_BYTES]);

/* Whether matches of the rule are told where only those of severity least and above are. */
bool result_is_reported(const struct program_rule *rule, enum severity least);

/* How many matches of the rule of this number were not, as it is below totals->least_severity. */
uint64_t result_unreported(const struct program *program, const struct session_totals *totals, uint32_t rule);

/* A line of JSON: a stream of that name broke off after so many events. */
void result_write_cut_json(FILE *stream, const char *name, uint64_t events);

/* A line of JSON: the rule has refused runs, or replaced them for want of places. */
/* A rule that looks for calls has met what raises none. */
void result_write_bypass_json(FILE *stream, const struct program *program, uint32_t rule,
			      const struct program_rule_stats *stats);

void result_write_crowd_json(FILE *stream, const struct program *program, uint32_t rule,
			     const struct program_rule_stats *stats);

/* The last line of a JSON output. totals->rules are those of program. */
void result_write_stats(FILE *stream, const struct program *program, const struct session_totals *totals);

/* A line per match, its stack and its events or its trail indented below it. when: as above; NULL: as WHEN_MONO. */
void result_write_text(FILE *stream, const struct program *program, const struct program_match *match,
		       struct when *when);

/* A short table of the counts per rule. */
void result_write_table(FILE *stream, const struct program *program, const struct session_totals *totals);

/* Counters and histograms for people. */
void result_write_tallies(FILE *stream, const struct react_tallies *tallies);

/* Whether numbers of this meaning, as the image has it, are addresses: a match's namer may know them. */
bool result_means_address(const struct program *program, uint32_t meaning);

/* The field of the record, as a value of its type; texts are borrowed from the record. */
void result_read_field(const struct program_field *field, const void *record, struct program_value *value);

#endif
