/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_BESIDE_H
#define SESSION_MONITOR_BESIDE_H

/*
 * The rules of a monitor's session that wait for events of the kernel. Nothing is known of the rate of these, so they
 * are evaluated beside the promise, as `asterism run` does it: by an executor of their own, which reads the same rings
 * once more, in the thread of the session. What they cost, lose or are late by is no matter of the monitor's.
 */

#include "session/executor/executor.h"
#include "session/load/rules.h"

struct beside;

struct beside_options {
	const struct session_rules *rules; /* borrowed, as all here */
	enum ebpf_scope scope;
	bool counts_why;
	program_match_fn *on_match;
	void *context;
	struct aggregates *aggregates;
	struct asterism_diag *diag; /* what is told while it lasts */
};

/*
 * *made stays NULL where no rule waits for the kernel. Nothing is loaded yet. Returns 0; -EOPNOTSUPP: such a rule would
 * have to act; -ENOMEM.
 */
int beside_new(const struct beside_options *options, struct asterism_diag *diag, struct beside **made);
void beside_free(struct beside *beside);

/* Whether rule is one of them; NULL: none is. */
bool beside_has(const struct beside *beside, uint32_t rule);

/* Sets them to work. As executor_new. */
int beside_start(struct beside *beside, struct asterism_diag *diag);

/* As those of executors; beside may be NULL. */
int beside_add(const struct beside *beside, pid_t pid);
int beside_fd(const struct beside *beside);
int beside_poll(const struct beside *beside, uint64_t *wait_ns);

/* No event after this; all that came is evaluated. Returns what on_match returned, -errno. */
int beside_finish(const struct beside *beside);

/* What became of all that was no sensor's: lost counts what the rules have lost by themselves, too. */
struct beside_counts {
	uint32_t rules;
	uint64_t events, lost;
};

/* Sets the counters of its rules, adds to why (NULL: nobody asks). */
void beside_count(const struct beside *beside, struct program_rule_stats *rules, struct program_why *why,
		  struct beside_counts *counts);

#endif
