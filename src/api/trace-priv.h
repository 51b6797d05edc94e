/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_TRACE_PRIV_H
#define API_TRACE_PRIV_H

/* What the iteration over a trace and the reading of its items share. */

#include "api/export.h"

#include "api/trace-filter.h"
#include "base/text.h"
#include "event/catalog.h"

struct meaning;

/* A type of the trace as catalogs know it; type NULL: none does. */
struct trace_lent {
	const struct event_type *type;
	bool is_known;
};

struct asterism_trace {
	struct asterism_diag *diag;
	struct arena *arena; /* paths, and what the options hold */
	struct event_catalog **catalogs;
	size_t catalog_count;
	struct event_source *source;
	struct trace_filter filter;
	struct event event; /* the one in hand */
	int item;           /* the last result */
	bool is_held;       /* the event is to be judged yet: the loss before it was given first */
	bool has_ended;     /* item is the result for ever */
	uint64_t told_lost; /* of the source's losses, those that were given */
	struct asterism_trace_loss loss;
	struct asterism_trace_stats stats;
	uint64_t last_ns;             /* time of the last event read */
	struct text_buffer text;      /* of JSON */
	struct event_catalog *lender; /* NULL: not asked yet */
	struct trace_lent *lent;      /* per type number */
	size_t lent_count, lent_capacity;
};

/* What the field's numbers stand for; *meaning NULL: nothing. Returns 0, -EINVAL (a catalog is wrong), -ENOMEM. */
int trace_meaning(struct asterism_trace *trace, const struct event_field *field, const struct meaning **meaning);

#endif
