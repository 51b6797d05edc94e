/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_PLAN_PRIV_H
#define EBPF_PLAN_PLAN_PRIV_H

/* Inside the making of a plan: what its files add to it, in the order in which they do. */

#include "ebpf/plan/plan.h"
#include "program/query.h"

#include "base/alloc.h"

/* A plan while it is made: the same tables, to be written. */
struct plan_draft {
	struct plan *plan;
	const struct plan_options *options;
	const struct program *program;
	const struct ebpf_node_info *nodes;
	struct plan_rule *rules;
	struct plan_type *types;
	struct plan_event **events; /* per type */
	struct plan_transition *transitions;
};

/* can-run: as ebpf_can_run, for all rules at once. 0, -ENOMEM. */
int plan_choose(const struct program *program, const struct ebpf_node_info *nodes, bool *can_run);

/* can-run: as ebpf_can_act. */
bool plan_can_act(const struct program *program, const struct ebpf_node_info *nodes, uint32_t statement);

/* history: 0, -ENOMEM. */
int plan_history(const struct program *program, const struct program_rule *rule, struct plan_history *history);

/* runs: how the runs of a rule are kept; what a transition does to them. 0, -ENOMEM. */
int plan_runs(struct plan_draft *draft, struct plan_rule *rule);

/* raised: which rules here raise events for each other, and what follows from that. 0, -ENOMEM. */
int plan_find_raised(struct plan_draft *draft);

/* sums: whether programs add up the matches of rule, and in what tables. 0, -ENOMEM. */
int plan_sums(const struct plan_draft *draft, struct plan_rule *rule);

/* acts: what is done at a match of rule; at_deadline: in our own process. */
struct plan_acts plan_acts(const struct plan_draft *draft, const struct plan_rule *rule, bool at_deadline);

/*
 * walks: which runs the event finds, and where; needs its rule, type and key. 0, -ENOMEM. Whether it finds no run but
 * those of one bucket, and leaves them there.
 */
int plan_walks(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event);
bool plan_touches_one(const struct plan_draft *draft, const struct plan_rule *rule, const struct plan_event *event);

/* event: what rule does at its type, but what depends on other events: plan_settle_event. 0, -ENOMEM. */
int plan_one_event(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event);
void plan_settle_event(const struct plan_rule *rule, struct plan_event *event);

/* scratch: whether slots are computed at the rule's events of type before it is known whether they become a run's. */
bool plan_needs_scratch(const struct plan_draft *draft, const struct plan_rule *rule, uint32_t type);

/* fields: which of them the rule needs, and which may be unread. 0, -ENOMEM. */
int plan_fields(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event);

/* The transitions of the rule's state on the event's type: the first of *count. */
static inline const struct program_transition *plan_transitions_on(const struct plan_draft *draft,
								   const struct plan_rule *rule, uint32_t state,
								   uint32_t type, uint32_t *count)
{
	return program_transitions_on(draft->program, &program_states(draft->program, rule->rule)[state], type, count);
}

/* The group of the class that runs in state wait in; not of the start state. */
static inline uint32_t plan_group_of(const struct program *program, const struct plan_rule *rule, uint32_t state)
{
	return rule->group_of[program_states(program, rule->rule)[state].class];
}

#endif
