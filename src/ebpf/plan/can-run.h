/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_CAN_RUN_H
#define EBPF_PLAN_CAN_RUN_H

/* What can be done in the kernel, judged by the image alone. */

#include "program/load.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether rule can run in the kernel. Returns 1, or 0 with the reason (one clause, no full stop) in reason. */
int ebpf_can_run(const struct program *program, uint32_t rule, char *reason, size_t size);

/* Something of a rule that the kernel cannot do. */
struct ebpf_obstacle {
	const char *reason;  /* one clause, no full stop */
	const char *instead; /* what to write; NULL: there is nothing */
	const char *word;    /* the keyword that it stands behind in the rule's text; NULL: none */
	uint32_t node;       /* the expression that it is in; PROGRAM_NONE: none */
};

typedef void ebpf_obstacle_fn(void *context, const struct ebpf_obstacle *obstacle);

/* Who wants to know: put is called for each, one may come several times; NULL: the first reason is enough. */
struct ebpf_obstacles {
	ebpf_obstacle_fn *put;
	void *context;
	char *reason; /* takes the first one's */
	size_t size;
};

/* As ebpf_can_run, with all that keeps the rule out. */
int ebpf_each_obstacle(const struct program *program, uint32_t rule, const struct ebpf_obstacles *found);

/* Whether EMIT connects rule with another one; such rules run in one place, and all that follows in one program. */
bool ebpf_emit_connects(const struct program *program, uint32_t rule);

/* Whether the kernel's programs can do the call of a statement at a match; they may not reach its target, even so. */
bool ebpf_can_act(const struct program *program, uint32_t statement);

/*
 * Whether the kernel's programs can add up the matches of rule, which runs there and has AGGREGATE. Returns 1, or 0
 * with the reason why every match is delivered to be added up in user space: one clause, in which "they" are the
 * matches.
 */
int ebpf_can_add_up(const struct program *program, uint32_t rule, const char **why_not);

/* Whether they cannot for what is added up, and not because matches are wanted one by one as well: then why not. */
bool ebpf_must_deliver(const struct program *program, uint32_t rule, const char **why_not);

#endif
