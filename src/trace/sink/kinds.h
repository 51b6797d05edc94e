/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_SINK_KINDS_H
#define TRACE_SINK_KINDS_H

#include "event/sink.h"

extern const struct event_sink_kind trace_sink_text, trace_sink_json;

#endif
