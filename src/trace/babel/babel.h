/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_BABEL_H
#define TRACE_BABEL_BABEL_H

/*
 * Any CTF trace, by means of libbabeltrace2: LTTng's of the kernel and of user space, and what other tools write.
 * docs/formats/lttng.md tells which events and fields it makes of them.
 *
 * Each trace is read in a process of its own, which ends with the source: the library aborts over some damaged traces,
 * and this way decoding does not wait for the user of the events. The library and what it pulls in (glib) are in that
 * process only: the code that uses it is a module, asterism-babel.so.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

/*
 * Opens the trace, or all traces below folder, merged by time. Event types that neither the map nor the catalog knows
 * are added to the catalog when their first event comes. catalog and diag are borrowed until the source is freed; name
 * is what messages call the trace. Returns 0; -EINVAL (not a trace, or broken, or a
 * trace of asterism is among those below folder), -EOPNOTSUPP (asterism was built
 * without libbabeltrace2, or the module is not there), -ENOMEM; the diag says why.
 */
int trace_babel_new(const char *folder, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct event_source **made);

/* Whether folder, or a folder below it, holds a file called metadata. */
bool trace_babel_is_trace(const char *folder);

#endif
