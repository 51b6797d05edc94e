/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_EXECUTOR_H
#define SESSION_EXECUTOR_EXECUTOR_H

/*
 * The rules of a live session at work: the kernel programs of those that run in the kernel and, where there are others,
 * the kernel programs that ship events and the engine that they feed. To the event loop it is one thing with one
 * descriptor.
 */

#include "ebpf/ebpf.h"
#include "ebpf/run-time.h"
#include "session/load/rules.h"
#include "session/output/totals.h"

#include <errno.h>

struct executor;

struct executor_options {
	enum ebpf_scope scope;
	struct ebpf_recorder *recorder; /* as in ebpf_options */
	const bool *allowed;            /* likewise */
	bool anywhere;
	const bool *elsewhere; /* per rule: somebody else runs it; NULL: nobody does */
	struct ebpf_stops *stops;
	program_match_fn *on_match;
	void *context;
	/*
	 * How many matches of the kernel's programs, or events for the engine, a poll hands out before it leaves the
	 * rest to the next one, and returns EXECUTOR_PAUSE. 0: no limit.
	 */
	uint32_t batch;
};

enum { EXECUTOR_PAUSE = -ERESTART };

/* Loads and attaches. Returns 0, -EINVAL (a rule that must run in the kernel cannot), -EPERM, -EOPNOTSUPP, -ENOMEM. */
int executor_new(const struct session_rules *rules, const struct executor_options *options, struct asterism_diag *diag,
		 struct executor **made);
void executor_free(struct executor *executor);

/* Adds a process to the scope. */
int executor_add(struct executor *executor, pid_t pid);

bool executor_has(const struct executor *executor, pid_t pid);

/* Adds what statement has counted in the kernel to buckets. */
void executor_tally(const struct executor *executor, uint32_t statement, uint64_t *buckets);

/* As ebpf_run_time. */
void executor_run_time(const struct executor *executor, struct ebpf_run_time *time);

/* Polls readable when executor_poll has something to do. */
int executor_fd(const struct executor *executor);

/* As ebpf_poll, for everything. */
int executor_poll(struct executor *executor, uint64_t *wait_ns);

/* No event after this; what has happened is there for the next executor_poll. */
void executor_detach(struct executor *executor);

/* The counts so far; totals->rules must have room for every rule. */
void executor_count(const struct executor *executor, struct session_totals *totals);

#endif
