/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_CASCADE_H
#define EBPF_PLAN_CASCADE_H

/*
 * What follows within one program from an event of a type, where rules raise events: which rules raise any, and the
 * places at which a raised event goes on. Places are numbered from 1.
 */

#include "ebpf/plan/plan.h"

struct plan_cascade {
	bool *rules;           /* per rule: it may raise an event here */
	uint32_t *rule_places; /* where the first event of a match of a rule is raised */
	uint32_t *type_places; /* where the rules that take a type begin; PROGRAM_NONE: none is raised here */
	uint32_t place_count;
};

/*
 * Adds what an event of type leads to in part to the cascade, which begins as zeros; type NONE: when the time is up.
 * Returns whether anything is raised then, or -ENOMEM. Numbers of places hold when all was added.
 */
int plan_cascade(const struct plan *plan, uint32_t type, const struct plan_part *part, struct plan_cascade *cascade);
/* Whether anything is raised there. */
bool plan_cascade_begins(const struct plan *plan, uint32_t type, const struct plan_part *part);
void plan_cascade_fini(struct plan_cascade *cascade);

#endif
