/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_TRACE_FILTER_H
#define API_TRACE_FILTER_H

/* Which events of a trace a program is given. */

#include "api/export.h"

#include "base/alloc.h"
#include "event/source.h"

#include <stdbool.h>

struct trace_filter_list {
	const uint32_t *items; /* in the arena */
	size_t count;
};

struct trace_filter {
	const char **patterns; /* in the arena */
	bool *met;             /* per pattern: a type was called so */
	size_t pattern_count;
	struct trace_filter_list pids, tids, cpus;
	uint64_t from_ns, to_ns; /* on the clock once an event was seen */
	bool on_clock;
	unsigned char *types; /* per type number: 0 not asked yet, 1 wanted, 2 not */
	size_t type_count, type_capacity;
};

enum trace_filter_verdict { TRACE_FILTER_GIVE, TRACE_FILTER_LEAVE_OUT, TRACE_FILTER_END };

/* Takes what options say; texts and lists go into the arena. Returns 0, -EINVAL or -ENOMEM with a message. */
int trace_filter_init(struct trace_filter *filter, const struct asterism_trace_options *options, struct arena *arena,
		      struct asterism_diag *diag);
void trace_filter_fini(struct trace_filter *filter);

/* What to tell the source. It borrows the filter. */
struct event_want trace_filter_want(struct trace_filter *filter);

/* The first event is at start_ns. */
void trace_filter_start(struct trace_filter *filter, uint64_t start_ns);

enum trace_filter_verdict trace_filter_judge(struct trace_filter *filter, const struct event *event);

/* Warns of names that no type had. */
void trace_filter_warn(const struct trace_filter *filter, struct asterism_diag *diag);

#endif
