/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LOAD_ORDER_H
#define SESSION_LOAD_ORDER_H

#include "base/diag.h"
#include "event/catalog.h"
#include "program/load.h"

/*
 * Notes in diag where the rule may see the beginning of a call after other events of its that happened within the call.
 * Returns 0, -ENOMEM.
 */
int session_report_order(const struct program *program, struct event_catalog *catalog, uint32_t rule,
			 struct asterism_diag *diag);

#endif
