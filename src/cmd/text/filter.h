/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_FILTER_H
#define CMD_TEXT_FILTER_H

/* Which events of the inputs a command shows: by type, process, thread, CPU, time and ordinal. */

#include "cmd/options/options.h"
#include "event/source.h"

struct filter_list {
	uint32_t *items;
	size_t count, capacity;
};

struct filter_name {
	const char *pattern; /* a glob; not NUL-terminated */
	size_t length;
	bool is_met; /* by a type */
};

struct filter {
	struct filter_name *names; /* none: all types */
	size_t name_count, name_capacity;
	struct filter_list pids, tids, cpus; /* empty: all */
	uint64_t first, last;                /* ordinals */
	uint64_t from_ns, to_ns;
	bool from_is_relative, to_is_relative; /* to the first event of the inputs */
	uint64_t start_ns, last_ns;            /* of that; of the last one seen */
	bool has_start;
	char *types; /* per type number: 0 not asked yet, else one of enum filter_type */
	size_t type_count, type_capacity;
};

enum filter_verdict {
	FILTER_SHOW,
	FILTER_LEAVE_OUT,
	FILTER_END, /* and so are all after it */
};

/* Reads the options. Returns STATUS_FINE, or the status to end with after saying why. filter_close either way. */
int filter_open(struct filter *filter, const struct cli_arguments *arguments);
void filter_close(struct filter *filter);

/* What to tell the source; it borrows the filter. */
struct event_want filter_want(struct filter *filter);

/* Every event of the inputs must be asked about, as the first is where relative times begin. */
enum filter_verdict filter_judge(struct filter *filter, const struct event *event);

/* Complains of type names that no event type had. */
int filter_check_names(const struct filter *filter);

/* Warns if the inputs, which were read to their end, have ended before the time from which on events are shown. */
void filter_warn_of_end(const struct filter *filter);

#endif
