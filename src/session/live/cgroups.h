/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_CGROUPS_H
#define SESSION_LIVE_CGROUPS_H

/*
 * Whether the kernel keeps processes in cgroups of version 2, which is what events say of them: without, every process
 * is in the root of a hierarchy that nobody uses.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "program/load.h"
#include "session/record/selection.h"

/*
 * Warns of a field about cgroups that the rules of program look at, or that is recorded with an event of selection,
 * where the kernel has nothing to say of them.
 */
void live_cgroups_warn(const struct program *program, struct event_catalog *catalog, struct asterism_diag *diag);
void live_cgroups_warn_recorded(const struct selection *selection, struct asterism_diag *diag);

#endif
