/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_SINK_EVENT_TEXT_H
#define TRACE_SINK_EVENT_TEXT_H

/* How an event is written. Texts are growing ones; failures stick to them. time is less than 100 bytes. */

#include "base/text.h"
#include "event/event.h"

/* One line: a JSON object as docs/language.md tells ("Events as JSON lines"), which replay reads back. */
void event_text_json(struct text_buffer *text, const struct event *event);

/* One line for people: time (as given), CPU, who, event, fields. */
void event_text_line(struct text_buffer *text, const struct event *event, const char *time);

#endif
