/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

/*
 * A source of recorded events: a format behind one interface. Every source numbers the event types that it meets, from
 * 0 in the order of their first event, and puts this number into record->type. So whoever reads maps each type once,
 * when its number is first seen, and then by a table. One source belongs to one thread at a time.
 */

#include "event/type.h"

struct trace_event {
	struct event_header *record;   /* the reader may change it; valid until the next event is asked for */
	const struct event_type *type; /* what record->type stands for, of the catalog that the source was given */
};

struct trace_source;

/* What a format has to bring. */
struct trace_source_kind {
	const char *name;
	/*
	 * Fills event and returns 1; 0 at the end; -EINVAL (the input is wrong, the diag says where), -ENOMEM, -EINTR
	 * (a signal came while it waited for input; it may be asked again), -errno.
	 */
	int (*next)(struct trace_source *source, struct trace_event *event);
	void (*free)(struct trace_source *source);
	/* How many bytes of the input have been read. */
	uint64_t (*position)(const struct trace_source *source);
};

/* The first member of every source. */
struct trace_source {
	const struct trace_source_kind *kind;
};

static inline int trace_source_next(struct trace_source *source, struct trace_event *event)
{
	return source->kind->next(source, event);
}

static inline uint64_t trace_source_position(const struct trace_source *source)
{
	return source->kind->position(source);
}

static inline void trace_source_free(struct trace_source *source)
{
	if (source)
		source->kind->free(source);
}

#endif
