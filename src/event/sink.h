/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_SINK_H
#define EVENT_SINK_H

/*
 * A sink of events: a format, or somebody far away, behind one interface; what event/source.h is to those who read.
 * Events are put in the order of their source. What is written may wait in the sink until it is flushed. One sink
 * belongs to one thread at a time.
 *
 * Another format is a file with a descriptor and a row in trace/sink/sink.c.
 */

#include "event/source.h"

#include <errno.h>
#include <signal.h>

struct event_sink;

/* How times are written, where they are for people. */
enum event_sink_time {
	EVENT_TIME_START, /* seconds since the first event of the source */
	EVENT_TIME_WALL,  /* the date; where the source does not know it, as above */
	EVENT_TIME_CLOCK, /* as the events have them */
};

struct event_sink_options {
	int fd;       /* where bytes go; stays the caller's */
	bool at_once; /* an event is out when it has been put */
	/* Becomes true when a reader is not to be waited for any more: a write that was interrupted is -EPIPE then.
	 * NULL: never. */
	const volatile sig_atomic_t *stop;
	enum event_sink_time time; /* and the next one: of formats for people */
	bool ordinals;             /* the event's comes first */
};

/* What a format has to bring. */
struct event_sink_kind {
	const char *name; /* by which users choose it */
	/* Returns 0, -ENOMEM. */
	int (*open)(const struct event_sink_options *options, struct event_sink **made);
	/*
	 * Both return 0, or -errno: what was put since the last flush may be missing, and there is no more to come.
	 * -EPIPE: the reader has gone away.
	 */
	int (*put)(struct event_sink *sink, const struct event *event);
	int (*flush)(struct event_sink *sink);
	/* Does not flush. */
	void (*free)(struct event_sink *sink);
};

/* The first member of every sink. What is known of the source when an event is put: */
struct event_sink {
	const struct event_sink_kind *kind;
	uint64_t lost;     /* as the source has it, with this event */
	uint64_t wall_ns;  /* likewise */
	uint64_t start_ns; /* the time of its first event, whether that was put or not */
};

/* An event of source, which began at start_ns. */
static inline int event_sink_put(struct event_sink *sink, const struct event_source *source, uint64_t start_ns,
				 const struct event *event)
{
	sink->lost = source->lost;
	sink->wall_ns = source->machine.wall_ns;
	sink->start_ns = start_ns;
	return sink->kind->put(sink, event);
}

static inline int event_sink_flush(struct event_sink *sink)
{
	return sink->kind->flush(sink);
}

static inline void event_sink_free(struct event_sink *sink)
{
	if (sink)
		sink->kind->free(sink);
}

#endif
