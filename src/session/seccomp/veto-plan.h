/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_VETO_PLAN_H
#define SESSION_SECCOMP_VETO_PLAN_H

/* What rules with Veto need: the calls to be held, as a filter for the kernel, and how each becomes events. */

#include "session/executor/placement.h"
#include "session/load/policy.h"
#include "session/load/rules.h"
#include "session/seccomp/veto-call.h"

#include <linux/filter.h>

/* The event with which runs end when their process or thread does; it is made of no call. */
struct veto_end {
	bool wanted, of_threads;
	uint32_t index;                 /* of its type in the program */
	uint32_t record_bytes, last_at; /* last_at: of the field that says that the whole process has ended */
};

struct veto_plan {
	struct arena *arena;
	bool *rules;  /* per rule of the program: it judges calls */
	bool *others; /* per rule: it does not */
	struct veto_type *types;
	uint32_t type_count;
	bool wants_who; /* events need pid and comm, not only matches */
	struct veto_end end;
	struct sock_fprog filter;
};

/* Whether rule has a Veto that may be done under policy (NULL: nothing may). */
bool veto_plan_concerns(const struct program *program, uint32_t rule, const struct session_policy *policy);

/*
 * Plans for those rules. Without any, rules stays NULL. Returns 0; -EINVAL when a rule asks for what a held call does
 * not tell; -ENOMEM. To be ended with veto_plan_fini either way.
 */
int veto_plan_init(struct veto_plan *plan, const struct session_rules *rules, const struct session_policy *policy,
		   struct asterism_diag *diag);
void veto_plan_fini(struct veto_plan *plan);

/* Determines where rule (index in the program) runs if it may do all that it says. */
void session_place(const struct program *program, uint32_t rule, struct session_placement *placement);

#endif
