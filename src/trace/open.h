/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_OPEN_H
#define TRACE_OPEN_H

/* Finds out what recorded events a path has, and opens them. */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

#include <stdbool.h>

/* Whether path is a stream from elsewhere rather than a file (trace/listen.h). */
bool trace_is_stream(const char *path);

/*
 * Opens path: such a stream; a trace of ours or another directory of CTF; else a file of JSON lines, or standard input
 * for "-". path, catalog and diag are borrowed until the source is freed. Returns 0, -EINVAL (there is no such thing,
 * or it is wrong), -EOPNOTSUPP (a foreign trace that this build cannot read), -ENOMEM, -errno, with a sentence.
 */
int trace_open(const char *path, struct event_catalog *catalog, struct asterism_diag *diag, struct event_source **made);

#endif
