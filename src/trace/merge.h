/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

/*
 * Several sources as one: events by time, those of equal times in the order in which the sources were given. Types and
 * events are numbered anew: a type has one number whichever source it comes from (all sources share one catalog), and
 * ordinals count the events of all.
 *
 * A source whose time goes back gives its late events at once.
 */

#include "base/diag.h"
#include "event/source.h"

#include <stddef.h>

/*
 * Takes the sources, on success only: they are freed with the merged one. count >= 1; the array stays the caller's.
 * Returns 0, -ENOMEM.
 */
int trace_merge_new(struct event_source *const *sources, size_t count, struct asterism_diag *diag,
		    struct event_source **made);

#endif
