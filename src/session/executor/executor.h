/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_EXECUTOR_H
#define SESSION_EXECUTOR_EXECUTOR_H

/*
 * An executor: rules of a program at work, behind one interface. docs/internals/execution.md says what each of them
 * does with an event; where rules run, on how many threads and how events reach them is the matter of a kind. What a
 * kind promises beyond that stands at the head of its file. One executor belongs to one thread at a time, which also is
 * the one that on_match is called in.
 *
 * Another kind is a file with a descriptor and a row in executor.c.
 */

#include "base/diag.h"
#include "ebpf/ebpf.h"
#include "ebpf/run-time.h"
#include "event/catalog.h"
#include "program/aggregate/aggregate.h"
#include "program/load.h"
#include "program/match.h"
#include "program/why/why.h"
#include "session/output/totals.h"

#include <errno.h>

struct executor;
struct stream_clock;

/* Where events come from. */
enum executor_input {
	EXECUTOR_FED,      /* executor_feed, for rules in user space */
	EXECUTOR_TEST_RUN, /* executor_feed, for rules in the kernel: for comparing the two */
	EXECUTOR_LIVE,     /* the running system; rules run in the kernel where they can */
};

struct executor_options {
	const struct program *program; /* must outlive the executor */
	struct event_catalog *catalog; /* of its types; only where rules run in the kernel */
	enum executor_input input;
	const bool *rules; /* per rule: it runs here; must outlive the executor. NULL: all do */
	program_match_fn *on_match;
	void *context;
	bool counts_why; /* what becomes of runs is counted, for executor_count_why */

	/* Fed. */
	uint32_t jobs;      /* threads that may match; 0: the calling one */
	size_t batch_bytes; /* events that threads get together; 0: as many as is good. For tests */

	/* Live: whom, and what may be done to them. As in ebpf_options. */
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	struct ebpf_recorder *recorder;
	struct stream_clock *clock; /* of sensors, that a recording has, too; NULL: there is none */
	const bool *allowed;
	bool anywhere;
	struct ebpf_stops *stops;
	/*
	 * How many matches of the kernel's programs, or events for rules in user space, a poll hands out before it
	 * leaves the rest to the next one, and returns EXECUTOR_PAUSE. 0: no limit.
	 */
	uint32_t batch;
	bool deliver_all;           /* every match is handed out, also where the kernel's programs could add it up */
	struct asterism_diag *news; /* is told while it lasts; may be NULL */
};

/* A result that is no failure: there is more to hand out at once. No callback may return it. */
enum { EXECUTOR_PAUSE = -ERESTART };

/*
 * What a kind has to bring. Events are handed over or come by themselves: a kind has the operations of one of these
 * groups, or of both. Of the others lose, look, tally, count_why, source and run_time may be NULL: there is nothing to
 * do or to tell.
 */
struct executor_kind {
	const char *name;

	/*
	 * Sets the rules to work: loads, attaches, starts. Returns 0 with *made, or without it where the options ask
	 * for another kind; -EINVAL (a rule that has to cannot run there), -EPERM, -EOPNOTSUPP, -E2BIG (shared actions
	 * unfold to too much code), -EAGAIN (no threads to be had), -ENOMEM, with a sentence.
	 */
	int (*open)(const struct executor_options *options, struct asterism_diag *diag, struct executor **made);
	void (*free)(struct executor *executor);

	/*
	 * Events that are handed over, in order. feed: as engine_feed. lose: events may be missing before the next one;
	 * who says so counts them. advance: time has passed up to now_ns (exclusive of deadlines at now itself). Return
	 * 0, what on_match returned, -errno.
	 */
	int (*feed)(struct executor *executor, const struct event_header *record);
	int (*lose)(struct executor *executor, uint64_t lost);
	int (*advance)(struct executor *executor, uint64_t now_ns);

	/*
	 * Events that come by themselves. add: a process to the scope; has: whether one is in it; had: whether one that
	 * has ended was, as a child of parent (NULL: has knows). fd: polls readable when poll has something to do.
	 * poll: as ebpf_poll, or EXECUTOR_PAUSE.
	 */
	int (*add)(struct executor *executor, pid_t pid);
	bool (*has)(const struct executor *executor, pid_t pid);
	bool (*had)(const struct executor *executor, pid_t parent);
	int (*fd)(const struct executor *executor);
	int (*poll)(struct executor *executor, uint64_t *wait_ns);

	/* No event after this. What was fed is handed out; for what came by itself there is one more poll. As feed. */
	int (*finish)(struct executor *executor);

	/*
	 * Adds to totals what was counted here: events that came by themselves, and everything lost but what lose told.
	 * The counters of the rules that run here, for which there must be room, it sets, with all that the rule lost.
	 */
	void (*count)(const struct executor *executor, struct session_totals *totals);

	/*
	 * Sets the counters of the rules that run here as count does, but at the cost of looking at them: what is lost
	 * elsewhere is not in them.
	 */
	void (*look)(const struct executor *executor, struct program_rule_stats *rules);

	/* Adds what statement has counted, where that was not a match that was handed out, to buckets. */
	void (*tally)(const struct executor *executor, uint32_t statement, uint64_t *buckets);
	/* Adds what became of the runs of the rules that run here. */
	void (*count_why)(const struct executor *executor, struct program_why *why);
	/* Who adds up matches that are not handed out; the source lives as long as the executor. */
	void (*source)(const struct executor *executor, struct aggregate_source *source);
	/* As ebpf_run_time. */
	void (*run_time)(const struct executor *executor, struct ebpf_run_time *time);
};

/* The first member of every executor. */
struct executor {
	const struct executor_kind *kind;
};

/* Of the first kind that takes the options; results as its open, and -EINVAL where none does. */
int executor_new(const struct executor_options *options, struct asterism_diag *diag, struct executor **made);

static inline void executor_free(struct executor *executor)
{
	if (executor)
		executor->kind->free(executor);
}

static inline int executor_feed(struct executor *executor, const struct event_header *record)
{
	return executor->kind->feed(executor, record);
}

static inline int executor_lose(struct executor *executor, uint64_t lost)
{
	return executor->kind->lose ? executor->kind->lose(executor, lost) : 0;
}

static inline int executor_advance(struct executor *executor, uint64_t now_ns)
{
	return executor->kind->advance(executor, now_ns);
}

static inline int executor_add(struct executor *executor, pid_t pid)
{
	return executor->kind->add(executor, pid);
}

static inline bool executor_has(const struct executor *executor, pid_t pid)
{
	return executor->kind->has(executor, pid);
}

static inline bool executor_had(const struct executor *executor, pid_t pid, pid_t parent)
{
	return executor_has(executor, pid) || (executor->kind->had && executor->kind->had(executor, parent));
}

static inline int executor_fd(const struct executor *executor)
{
	return executor->kind->fd(executor);
}

static inline int executor_poll(struct executor *executor, uint64_t *wait_ns)
{
	return executor->kind->poll(executor, wait_ns);
}

static inline int executor_finish(struct executor *executor)
{
	return executor->kind->finish(executor);
}

static inline void executor_count(const struct executor *executor, struct session_totals *totals)
{
	executor->kind->count(executor, totals);
}

static inline void executor_look(const struct executor *executor, struct program_rule_stats *rules)
{
	if (executor->kind->look)
		executor->kind->look(executor, rules);
}

static inline void executor_tally(const struct executor *executor, uint32_t statement, uint64_t *buckets)
{
	if (executor->kind->tally)
		executor->kind->tally(executor, statement, buckets);
}

static inline void executor_count_why(const struct executor *executor, struct program_why *why)
{
	if (executor->kind->count_why)
		executor->kind->count_why(executor, why);
}

/* Matches that executor adds up by itself are taken from there as well. */
static inline void executor_attach(const struct executor *executor, struct aggregates *aggregates)
{
	struct aggregate_source source;

	if (!executor->kind->source)
		return;
	executor->kind->source(executor, &source);
	aggregates_attach(aggregates, &source);
}

static inline void executor_run_time(const struct executor *executor, struct ebpf_run_time *time)
{
	*time = (struct ebpf_run_time){ 0 };
	if (executor->kind->run_time)
		executor->kind->run_time(executor, time);
}

#endif
