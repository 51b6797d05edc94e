/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_WHO_H
#define TRACE_BABEL_WHO_H

/*
 * Who raised an event, where the event does not say so: a kernel trace without contexts tells who runs on a CPU
 * when it switches, and which process a thread belongs to when it is born or, at the start, dumped.
 */

#include "trace/babel/class.h"

struct babel_who;

struct babel_who *babel_who_new(void);
void babel_who_free(struct babel_who *who);

/* Fills in what the class has no context for. */
void babel_who_apply(const struct babel_who *who, const struct babel_class *class, const bt_event *event,
		     struct event_header *header);

/* Takes note of what the event says about who runs. Every event, in order, after babel_who_apply. */
void babel_who_learn(struct babel_who *who, const struct babel_class *class, const bt_event *event);

#endif
