/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_UNIT_H
#define SESSION_LIVE_UNIT_H

/*
 * Rules at work on the running system: their executor, what is done at their matches, and the system calls that they
 * judge. Everything is there before the first match and until the last. A unit belongs to its session's thread.
 */

#include "program/aggregate/aggregate.h"
#include "session/executor/executor.h"
#include "session/live/loop.h"
#include "session/seccomp/veto.h"
#include "session/verdict/responses.h"

struct live_unit_options {
	const struct session_rules *rules;
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	const struct session_policy *policy;    /* NULL: nothing that changes the system */
	session_ask_fn *on_ask;                 /* as in session_live_options, with the next */
	const char *ask_command;
	void *ask_context;                                /* of on_ask */
	int (*snapshot)(void *context, const char *rule); /* as in react_agent_options */
	program_match_fn *report; /* a match, with what became of its calls and, where it asked, with its verdict */
	aggregate_report_fn *on_aggregate; /* also of a muted unit: what it has found counts; NULL: no need */
	void (*on_found)(void *context, const struct program_match *match); /* the same, at once; NULL: no need */
	void *context;
	uint64_t number;             /* live_loop_take has it above LIVE_WAKE_BITS where the unit woke its session */
	struct asterism_diag *stops; /* whom a rule has stopped and no rule lets go on; outlives this; NULL */
	struct veto *veto;           /* NULL: no rule refuses system calls; the session's */
	uint32_t batch;              /* as in executor_options */
	bool counts_why;             /* likewise */
};

/* Zeroed, nothing is at work. */
struct live_unit {
	struct live_unit_options options;
	struct executor *executor; /* NULL: not started */
	struct responses responses;
	struct aggregates *aggregates; /* NULL: no rule has any */
	struct calling *calling;       /* NULL: no rule waits for sensors that call the kernel */
	uint64_t due_ns;               /* for its owner: when it wants to be polled even if nothing wakes it */
	bool muted; /* what is found is not even reacted to, but for questions, which get their default answer */
};

/* Checks what the rules may do and prepares it. As responses_open; live_unit_close is in place either way. */
int live_unit_open(struct live_unit *unit, const struct live_unit_options *options, struct asterism_diag *diag);

/* Loads and attaches; with a recording of the same events, its recorder is the guest of the programs, and sensors have
 * its clock. NULL: there is none. As executor_new. */
int live_unit_start(struct live_unit *unit, struct recording *recording, struct asterism_diag *diag);

/* Everything of the unit that may wake its session does. Returns as live_loop_watch. */
int live_unit_watch(const struct live_unit *unit, const struct live_loop *loop, struct asterism_diag *diag);
void live_unit_forget(const struct live_unit *unit, const struct live_loop *loop);

/* As executor_poll, for everything; lessens *wait_ns. Returns the first failure; everything is done all the same. */
int live_unit_poll(struct live_unit *unit, uint64_t *wait_ns);

/* The counts so far; totals->rules must have room for every rule, and so totals->why, where it is there. The tables of
 * tallies come with the end. */
void live_unit_count(const struct live_unit *unit, struct session_totals *totals);
int live_unit_tallies(struct live_unit *unit, struct react_tallies *tallies);

/*
 * No event after this. A process that was stopped since the last look goes on, and what was asked has its answer: the
 * default. Counts into *totals. Returns the first failure; everything is done all the same.
 */
int live_unit_finish(struct live_unit *unit, struct session_totals *totals);

/* Frees everything: nothing is at work. */
void live_unit_close(struct live_unit *unit);

#endif
