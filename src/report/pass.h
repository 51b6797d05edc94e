/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PASS_H
#define REPORT_PASS_H

/* The pass over the events: who was in which state when, told to all reports (report.h). */

#include "report/report.h"

struct report_pass;

/* What a thread is about to begin with, as its program's code lay in memory then. */
struct report_start {
	uint64_t address, code_start;
	uint64_t inode, wall_ns; /* of the program's file; the time of day, 0: not known */
	const char *program;     /* its path */
};

/*
 * source is borrowed; it has not been read. Events before from_ns and after to_ns (UINT64_MAX: none) count for states,
 * while slices are cut to that time. Returns 0, -ENOMEM.
 */
struct report_options {
	uint64_t from_ns, to_ns;
	bool from_is_relative, to_is_relative; /* to the first event */
	bool is_redacted;
	const char *pair; /* report_view */
	uint32_t tid;     /* of the thread that is asked about; 0: none is */
	/* What the function is called, until the next call, with context; NULL: not known. NULL: nobody knows any. */
	const char *(*function)(void *context, const struct report_start *start);
	void *context;
};

int report_pass_new(struct event_source *source, const struct report_options *options, struct report_pass **made);
void report_pass_free(struct report_pass *pass);

/* For the kinds' open, and for those who write. */
const struct report_view *report_pass_view(const struct report_pass *pass);

/* Before the first event: the report is told from now on. It stays the caller's. */
int report_pass_add(struct report_pass *pass, struct report *report);

/* Before the first event: the trace was to hold events of type. */
void report_pass_hold(struct report_pass *pass, const struct event_type *type);

/* Takes the next event of the source, which the caller has read. Returns 0, 1: no later one counts, -ENOMEM. */
int report_pass_event(struct report_pass *pass, const struct event *event);

/* The thread that has the tid now, or REPORT_NONE. */
uint32_t report_pass_thread(const struct report_pass *pass, uint32_t tid);

/*
 * A match of a rule that ran over the same trace; in the order of time with the events. Those outside of what is shown
 * are left out.
 */
int report_pass_match(struct report_pass *pass, const struct report_match *match);

/* Ends all slices and tells all reports. */
int report_pass_finish(struct report_pass *pass);

#endif
