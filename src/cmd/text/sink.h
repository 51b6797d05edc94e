/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_SINK_H
#define CMD_TEXT_SINK_H

/*
 * Where the matches of a session go: standard output or the file of -o, as text or JSON lines. A reader that has gone
 * away (a closed pipe) is no failure, and nothing is said of it. Else what cannot be written ends a replay; a live
 * session goes on, and what it could not write is counted and told when it ends (cmd/help-failures.c).
 */

#include "cmd/options/options.h"
#include "cmd/text/lines.h"
#include "program/aggregate/aggregate.h"
#include "cmd/text/repeats.h"
#include "session/output/place.h"
#include "session/output/when.h"
#include "session/session.h"

#include <stdio.h>

struct sink {
	int fd;
	struct lines lines;
	const char *file; /* NULL: standard output */
	const struct program *program;
	bool json;
	bool quiet, verbose;
	bool tells_why;               /* --why: what became of runs */
	enum severity least_severity; /* matches of rules below it are only counted */
	bool at_once;                 /* a match is written out when it is found */
	bool is_live;                 /* a failure to write is no reason to end; events are of this machine */
	struct when when;
	struct event_machine machine; /* of the events; whose replay it is fills it in */
	bool names_processes;         /* their ids are those of our pid namespace */
	struct places places;         /* of their processes */
	bool must_date;               /* the date was asked for; that it is unknown is said, once */
	struct repeats repeats;
	bool *crowded;        /* per rule: that places were missing is told; NULL: of none */
	unsigned missed_told; /* of missed_tell */
	uint64_t matches;     /* told so far */
	int error;            /* errno of the first failure to write */
	bool is_gone;         /* there is no reader any more */
	bool has_lost;        /* not everything is written */
};

/* What --min-severity says; SEVERITY_NONE: every match is told. */
enum severity sink_least_severity(const struct cli_arguments *arguments);

/* Opens what the arguments ask for. Returns STATUS_FINE, or the status to end with after saying why. */
int sink_open(struct sink *sink, const struct cli_arguments *arguments, const struct program *program);

/* Whether what becomes of runs is to be counted: for --why, or for the table of transitions that -v ends with. */
static inline bool sink_counts_why(const struct sink *sink)
{
	return sink->tells_why || (sink->verbose && !sink->json);
}

/* A program_match_fn; context is the sink. Returns 0, or -errno: no more matches are wanted, or a replay cannot go on.
 */
int sink_match(void *context, const struct program_match *match);

/* An aggregate_report_fn; context and result as of sink_match. */
int sink_aggregate(void *context, const struct aggregate_report *report);

/* A rule has refused a run, or replaced one for want of a place: told at once, the first time. */
void sink_crowd(struct sink *sink, uint32_t rule, const struct program_rule_stats *stats);

/* A rule that looks for calls has met what raises none: told at once; in text for the first such rule alone. */
void sink_bypass(struct sink *sink, uint32_t rule, const struct program_rule_stats *stats);

/* A stream of events broke off (trace/jsonl/jsonl.h): what the diag says, for programs. context is the sink. */
void sink_cut(void *context, const char *name, uint64_t events);

/* What was written to lines.stream, which is no match, is whole; result as of sink_match. */
int sink_put(struct sink *sink);

/* Writes out what sink_match has kept in memory; result as there. */
int sink_flush(void *context);

/*
 * Writes the line of statistics (JSON) or a summary on standard error (text), the losses on standard error, and closes.
 * Returns STATUS_FINE, or the status to end with after saying why.
 */
int sink_close(struct sink *sink, struct session_totals *totals);

/* Closes without statistics, after an error. */
void sink_abandon(struct sink *sink);

/* The status of a session that ran to its end: STATUS_MATCH, STATUS_LOST or otherwise. */
int sink_status(const struct sink *sink, const struct cli_arguments *arguments, const struct session_totals *totals,
		int otherwise);

#endif
