/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_LIVE_PLAN_H
#define EBPF_LIVE_PLAN_H

/* The plan that a live session makes, to be shown; no kernel is asked. */

#include "ebpf/plan/explain.h"
#include "event/catalog.h"

/*
 * Every statement is taken to be allowed, and the kernel to have what programs ask for. excluded: per rule, whether it
 * runs elsewhere. Returns 0, -ENOMEM; plan_free.
 */
int ebpf_live_plan(const struct program *program, struct event_catalog *catalog, const bool *excluded,
		   struct plan **made);

#endif
