/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_TOLD_H
#define TRACE_BABEL_TOLD_H

/*
 * Who raised the events of traces that asterism recorded with LTTng's names: there it is told by an event of its own,
 * for all that follow it in the stream (docs/formats/trace.md).
 */

#include "event/packed.h"

#include <babeltrace2/babeltrace.h>

struct babel_reported_stream {
	const bt_stream *stream; /* a reference */
	struct event_packed_context context;
	bool unread; /* the next event has strings that could not be read */
};

/* Zero: nothing told yet. */
struct babel_reported {
	struct babel_reported_stream *streams;
	size_t count, capacity, last;
};

void babel_reported_fini(struct babel_reported *reported);

/* Whether asterism recorded the trace of this event. */
bool babel_reported_has(const bt_event *event);

/* Whether the event, of such a trace, is one that tells. Holds for all of its class. */
bool babel_reported_anything(const bt_event *event);

/* Takes what an event tells that babel_reported_anything. Returns 0 or -ENOMEM. */
int babel_reported_learn(struct babel_reported *reported, const bt_event *event);

/*
 * Fills pid, tid and comm of the event's record, if its stream has told them, and makes its strings unread if some are:
 * which, such a trace does not say. type NULL: the event is not wanted.
 */
void babel_reported_fill(struct babel_reported *reported, const bt_event *event, const struct event_type *type,
			 struct event_header *record);

#endif
