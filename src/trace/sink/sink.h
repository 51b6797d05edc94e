/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_SINK_SINK_H
#define TRACE_SINK_SINK_H

/* Where events are written, as a stream of bytes. What trace/open.h is to those who read. */

#include "event/sink.h"

/* Opens one of the kind called name: text, json. Returns as its open, or -ENOENT: there is none. */
int trace_sink_open(const char *name, const struct event_sink_options *options, struct event_sink **made);

#endif
