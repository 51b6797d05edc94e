/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_RULES_H
#define SESSION_MONITOR_RULES_H

/*
 * The rules and machines of a program as one evaluation (monitor/evaluation.h). Their matches are packed into a queue,
 * from which another thread takes them; one that finds no room is counted.
 */

#include "base/diag.h"
#include "monitor/evaluation.h"
#include "monitor/queue.h"
#include "program/load.h"
#include "program/match.h"
#include "program/why/why.h"

struct monitor_rules;

extern const struct monitor_evaluation_kind monitor_rules_kind;

/* All borrowed. */
struct monitor_rules_options {
	const struct program *program;
	const bool *rules;             /* per rule: it is evaluated here; NULL: all are */
	struct monitor_queue *matches; /* where they go; NULL: nobody wants them */
	/* What rules EMIT, in the evaluation; NULL: nobody else wants it. */
	void (*on_raise)(void *context, const struct event_header *record);
	void *context;   /* of on_raise */
	bool counts_why; /* for monitor_rules_why */
};

/* Returns 0, -ENOMEM, -E2BIG. */
int monitor_rules_new(const struct monitor_rules_options *options, struct asterism_diag *diag,
		      struct monitor_rules **made);
void monitor_rules_free(struct monitor_rules *rules);

/* Once nobody evaluates any more: the counters of rule. */
void monitor_rules_stats(const struct monitor_rules *rules, uint32_t rule, struct program_rule_stats *stats);

/* Likewise, what became of runs, added to why. */
void monitor_rules_why(const struct monitor_rules *rules, struct program_why *why);

/* Time passes up to now_ns: what that completes is told. Not while somebody evaluates. */
void monitor_rules_finish(struct monitor_rules *rules, uint64_t now_ns);

/*
 * Takes the matches that are there, in their order. Returns how many, or what on_match returned, having taken its
 * match; -ENOMEM.
 */
int monitor_rules_take(struct monitor_queue *matches, program_match_fn *on_match, void *context);

#endif
