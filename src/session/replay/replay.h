/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_REPLAY_H
#define SESSION_REPLAY_REPLAY_H

/*
 * Replays: rules over recorded events. A replay decides which inputs can hold what the rules ask for, in which order
 * the events of several inputs come, and which executor gets them. It may touch files and the executor's interface; the
 * running system only where SESSION_ENGINE_KERNEL lets the kernel's programs match, by test runs.
 */

#include "base/diag.h"
#include "event/source.h"
#include "program/aggregate/aggregate.h"
#include "session/load/rules.h"
#include "session/output/totals.h"
#include "trace/jsonl/jsonl.h"

#include <signal.h>
#include <stdbool.h>

enum session_engine { SESSION_ENGINE_USER, SESSION_ENGINE_KERNEL };

struct session_progress {
	uint64_t events;
	uint64_t bytes_read, bytes_total; /* total 0: unknown */
};

/* A point in the time of the inputs. */
struct session_moment {
	uint64_t ns;
	bool since_start; /* counted from the first event of all inputs, else as their events have it */
};

/* Who looks at the events beside the rules: what it wants to be decoded, and every event, before the rules have it. */
struct session_tap {
	bool (*wants)(void *context, const struct event_type *type);
	bool (*wants_field)(void *context, const struct event_type *type, uint32_t field);
	int (*on_event)(void *context, const struct event_source *source, const struct event *event);
	void *context;
};

struct session_replay_options {
	const char *const *files; /* of events; "-" is standard input. Several are merged by time */
	size_t file_count;
	bool relaxed; /* a single file of JSON lines may be written as tests are (trace/jsonl/jsonl.h) */
	const struct trace_jsonl_form *form;    /* of all files of JSON lines; NULL: as dump writes them */
	const struct session_moment *from, *to; /* events before from, and at or after to, are left out; NULL: none */
	const char *remedy; /* what to tell who lacks recorded events: how to record what the rules need; may be NULL */
	bool skips_missing; /* rules that cannot match in these inputs are left out with a warning, unless all are */
	enum session_engine engine;
	/*
	 * How many threads the user-space engine may use for matching; 0 or 1: the calling one. With more, matches are
	 * the same and in the same order, but come some thousand events later.
	 */
	uint32_t jobs;
	bool counts_why; /* what becomes of runs is counted, into totals->why */
	program_match_fn *on_match;
	aggregate_report_fn *on_aggregate; /* NULL: nobody wants them */
	struct aggregates *aggregates;     /* to which what the executor adds up by itself goes; NULL: none */
	void (*on_time)(void *context,
			uint64_t ns); /* of the first event, before its matches; and the last, after them */
	/*
	 * Before the first event: runs of the rule do not end with their process or thread, as missing was not
	 * recorded: types as record's -e takes them, with ", " between. There is a warning of it, too, which who does
	 * not ask how many runs are open does not need: NULL.
	 */
	void (*on_no_end)(void *context, uint32_t rule, const char *missing);
	void (*on_progress)(void *context, const struct session_progress *progress); /* NULL: none */
	void *context;                                                               /* of all of these */
	struct event_machine
		*machine; /* takes the inputs' clock and host, before the first match, else at the end; NULL: no need */
	const struct session_tap *tap;     /* NULL: nobody */
	const volatile sig_atomic_t *stop; /* becomes true when the session is to end; NULL: never */
};

/*
 * Replays files of events. Returns 0 with *totals, also when stopped; -EINVAL (an input is wrong, the diag says
 * where), -ENOMEM, what on_match returned, or, with SESSION_ENGINE_KERNEL, -EPERM or -EOPNOTSUPP. *totals is always
 * valid and to be freed with session_totals_fini.
 */
int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals);

#endif
