/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_H
#define TRACE_BABEL_H

/*
 * Any CTF trace, by means of libbabeltrace2: LTTng's of the kernel and of user space, and what other tools write.
 * docs/formats/lttng.md tells which events and fields it makes of them.
 *
 * The library and what it pulls in (glib) stay out of processes that do not need them: the code that uses it is a
 * module of its own, asterism-babel.so, loaded by the first trace.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "trace/source.h"

/*
 * Opens the trace, or all traces below folder, merged by time. Event types that neither the map nor the catalog knows
 * are added to the catalog when their first event comes. catalog and diag are borrowed until the source is freed; name
 * is what messages call the trace. Returns 0; -EINVAL (not a trace, or broken), -EOPNOTSUPP (asterism was built
 * without libbabeltrace2, or the module is not there), -ENOMEM; the diag says why.
 */
int trace_babel_new(const char *folder, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct trace_source **made);

/* Whether folder, or a folder below it, holds a file called metadata. */
bool trace_babel_is_trace(const char *folder);

#endif
