/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_TOTALS_H
#define SESSION_OUTPUT_TOTALS_H

/* What a session counts, filled by executors, recordings and reactions, written by result.h. */

#include "base/severity.h"
#include "program/match.h"
#include "program/why/why.h"
#include "react/tally.h"
#include "session/record/recording.h"

/* What was refused because it was asked for too often. */
struct session_refusal {
	uint32_t rule;
	const struct react_action *action;
	uint64_t count;
	char why[48]; /* the last time */
};

struct session_refusals {
	struct session_refusal *items;
	size_t count, capacity;
};

void session_refusals_fini(struct session_refusals *refusals);

/* What came of the sensors that rules wait for. */
struct session_sensors {
	uint64_t events, lost;
	uint64_t late;       /* events that came after younger ones had been dealt with */
	uint64_t unfinished; /* events that processes had begun when they ended */
	uint64_t gaps;       /* times without a directory; each counts as one event lost */
	uint64_t unread;     /* processes that were refused, or cannot be read; each counts as one event lost */
	uint64_t processes, out_of_scope;
	uint64_t unknown; /* processes that ended before it was known whether they are in scope */
	struct recording_unannounced unannounced;
};

/* What a session counted. */
struct session_totals {
	uint64_t events;
	uint64_t lost;    /* everything lost, all rules together */
	uint64_t missing; /* of these, what an input says that it lacks; it counts for every rule */
	uint64_t elapsed_ns;
	struct program_rule_stats *rules; /* one per rule of the program */
	uint32_t rule_count;
	struct program_why *why;           /* what became of runs; NULL: it was not asked for */
	uint32_t threads;                  /* of a replay: how many matched */
	struct recording_totals recording; /* of a recording */
	struct session_sensors sensors;
	struct react_tallies tallies; /* counters and histograms of the rules */
	uint64_t stops_refused;       /* processes that were not stopped: too many are */
	uint64_t requests_lost;       /* questions that got their default answer without being told */
	uint64_t replaced;            /* files with probes that are others by now */
	struct session_refusals refusals;
	enum severity least_severity; /* matches of rules below it were counted, but not told */
};

/* Events that rules did not see, or not whole, as something in them could not be read; all rules together. */
uint64_t session_totals_unread(const struct session_totals *totals);

/* System calls of 32-bit code, where a rule looked for system calls or they were recorded. */
uint64_t session_totals_calls_32bit(const struct session_totals *totals);

/* The most operations of io_uring that a rule, or a recording, did not see as calls. */
uint64_t session_totals_io_uring(const struct session_totals *totals);

void session_totals_fini(struct session_totals *totals);

#endif
