/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_WHY_PRIV_H
#define ENGINE_WHY_PRIV_H

/*
 * What became of runs, counted where that is asked for (program/why/why.h): elsewhere rule->why is NULL, and a step has
 * a branch that is never taken. All but engine_why_init are for rules whose why is not NULL.
 * That they are cold keeps the code for everything else together.
 */

#include "engine/engine-priv.h"
#include "program/why/why.h"

struct engine_step;

/* Of one rule. */
struct engine_why {
	const struct program *program;
	const uint64_t *now; /* the engine's */
	uint64_t *counts;
	const struct engine_transition *transitions; /* of the program */
	const uint32_t *places;                      /* per transition: where in counts its own begin */
};

/* After the tables, before anything runs. Returns 0, -ENOMEM. */
int engine_why_init(struct engine *engine);

#define COLD __attribute__((cold))

/* The run is opened by the event. */
COLD void engine_why_open(struct engine_rule *rule, struct engine_run *run, const struct event_header *record);
/* A run in another state than the start is judged by the transitions of group. */
COLD void engine_why_meet(struct engine_rule *rule, const struct engine_group *group);
/* What count transitions ask of the event and of slots, and which of their conditions are true: those of a group. */
COLD void engine_why_judge(const struct engine_step *step, const struct engine_transition *transitions, uint32_t count,
			   const char *slots);
/* The same of hold. */
COLD void engine_why_hold(const struct engine_step *step, const struct engine_transition *transition,
			  const char *slots);
/* A transition fits; of a run that is open, or that opens with it: NULL. Its hold is false. */
COLD void engine_why_take(struct engine_rule *rule, struct engine_run *run, const struct engine_transition *transition,
			  const struct event_header *record);
COLD void engine_why_fail(struct engine_rule *rule, struct engine_run *run, const struct engine_transition *transition,
			  const struct event_header *record);
/* An event of type fits nowhere, and ends a run. */
COLD void engine_why_break(const struct engine *engine, struct engine_rule *rule, uint32_t type);
COLD void engine_why_expire(struct engine_rule *rule, const struct engine_run *run);
/* A run that is kept comes to a state, leaves the one that it is in, does both. */
COLD void engine_why_come(struct engine_rule *rule, uint32_t state);
COLD void engine_why_leave(struct engine_rule *rule, const struct engine_run *run);
COLD void engine_why_move(struct engine_rule *rule, const struct engine_run *run, uint32_t state);
COLD void engine_why_end(struct engine_rule *rule, enum program_why_rule how);

#undef COLD

#endif
