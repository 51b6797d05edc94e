/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_LISTEN_H
#define TRACE_BABEL_LISTEN_H

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

#include <sys/types.h>

/*
 * The source that a reading process makes of its words. Takes fd and pid, also on failure: the process is ended and
 * waited for when the source is freed. Returns as trace_babel_new.
 */
struct babel_listen_options {
	int fd;
	pid_t pid;
	const char *name; /* copied */
	struct event_catalog *catalog;
	struct asterism_diag *diag;
};

int babel_listen(const struct babel_listen_options *options, struct event_source **made);

#endif
