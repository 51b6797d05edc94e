/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_DERIVE_DERIVE_H
#define SESSION_DERIVE_DERIVE_H

/*
 * What follows from recorded events: a source that gives, besides the events of a trace, those of types that were not
 * recorded but that the catalog declares over the same tracepoints. sys_enter_openat follows from sys_enter, and what a
 * call has done from sys_exit and the sys_enter before it. Only types that the reader names are derived, and only where
 * everything that it wants to know of them was recorded.
 *
 * A derived event has the header of the event that it follows from and comes right behind it, with an ordinal of its
 * own. One that depends on the arguments of a call whose beginning is not in the trace counts as lost.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

/*
 * Takes inner on success, which must know what it holds; nothing was asked of it yet. catalog and diag are borrowed.
 * Returns 0, -ENOMEM.
 */
int derive_new(struct event_source *inner, struct event_catalog *catalog, struct asterism_diag *diag,
	       struct event_source **made);

#endif
