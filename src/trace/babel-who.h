/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_WHO_H
#define TRACE_BABEL_WHO_H

/*
 * Who raised the events of traces that asterism recorded with LTTng's names: there it is told by an event of its own,
 * for all that follow it in the stream (docs/formats/trace.md).
 */

#include "event/packed.h"

#include <babeltrace2/babeltrace.h>

struct babel_who_stream {
	const bt_stream *stream; /* a reference */
	struct event_packed_context context;
};

/* Zero: nothing told yet. */
struct babel_who {
	struct babel_who_stream *streams;
	size_t count, capacity, last;
};

void babel_who_fini(struct babel_who *who);

/* Whether asterism recorded the trace of this event. */
bool babel_who_is_told(const bt_event *event);

/* Whether the event, of such a trace, is one that tells. Holds for all of its class. */
bool babel_who_tells(const bt_event *event);

/* Takes what an event tells that babel_who_tells. Returns 0 or -ENOMEM. */
int babel_who_learn(struct babel_who *who, const bt_event *event);

/* Fills pid, tid and comm of the event's record, if its stream has told them. */
void babel_who_fill(struct babel_who *who, const bt_event *event, struct event_header *record);

#endif
