/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_GUARDS_H
#define EBPF_PLAN_GUARDS_H

/*
 * Rules that are only concerned if a field has one value, sorted by it. Dozens of rules that all ask for another number
 * of a system call, say, are then told apart by a few comparisons.
 */

#include "ebpf/plan/plan.h"

struct plan_guards {
	const struct plan_event **events; /* all about the same field, in the order of the values */
	uint32_t count;                   /* 0: they are not worth a tree */
};

/* Of the rules of part. Returns 0, -ENOMEM. */
int plan_guards(const struct plan *plan, uint32_t type, const struct plan_part *part, struct plan_guards *guards);
void plan_guards_fini(struct plan_guards *guards);
bool plan_guards_has(const struct plan_guards *guards, const struct plan_event *event);

#endif
