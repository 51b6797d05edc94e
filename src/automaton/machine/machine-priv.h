/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef AUTOMATON_MACHINE_MACHINE_PRIV_H
#define AUTOMATON_MACHINE_MACHINE_PRIV_H

/*
 * How a machine becomes a rule of the image. State 0 stands for "no instance": it is the start as events see it that
 * find no instance. The start has a state of its own behind the others only if instances come back to it.
 */

#include "automaton/rule/rule-priv.h"

/* What a transition tells: its WARNs, EMITs and CALLs in order, and where each of their values is found. */
struct notice {
	const struct lang_machine_action **actions;
	uint32_t action_count;
	uint32_t *places; /* per value, in order: the slot that keeps it; NONE: it is had from the instance as it is */
	uint32_t place_count;
	bool silent;
};

struct machine_build {
	struct rule_build base; /* its slots begin with the keys, then the variables */
	struct lang_rule named; /* name and place, for what base has to say */
	const struct lang_machine *machine;
	const struct lang_transition **models; /* per key row: the first transition for its type */
	uint32_t model_count;
	uint32_t *fits;       /* per transition: its guard where there is an instance; 0: not made yet, else node + 1 */
	uint32_t start;       /* state of the image that the start has of its own, or NONE */
	uint32_t state_count; /* of the image */
	uint32_t context, timer, entered, opener, notice, trail; /* slots, or NONE */
	uint32_t first_capture;                                  /* slots from here on keep what notices say */
	uint32_t first_transition;                               /* in the image */
	struct notice *notices;
	size_t notice_count, notice_capacity;
};

/* Where an expression stands. */
struct machine_scope {
	const struct lang_transition *transition; /* NULL: there is no event */
	bool opens;  /* judged before there is an instance: keys from the event, variables as they begin */
	bool copies; /* judged for a copy: its own key from the event */
};

/* A transition in a state of the image. */
struct machine_row {
	const struct lang_transition *transition;
	uint32_t from;   /* state of the machine */
	bool opens;      /* in state 0 */
	uint32_t target; /* state of the image, or PROGRAM_TARGET_END */
	uint32_t to;     /* state of the machine that is entered, also anew; NONE: none is */
	bool reports;
	const struct lang_machine_action **actions; /* EXIT, its own, ENTRY */
	uint32_t action_count;
};

/* machine/slots.c */
void machine_slots(struct machine_build *build);
uint32_t machine_slot(struct machine_build *build, enum program_kind kind, uint32_t bytes, const char *name);

/* machine/node.c */
uint32_t machine_expr(struct machine_build *build, const struct lang_expr *expr, const struct machine_scope *scope);
uint32_t machine_header(struct machine_build *build, uint32_t field);
uint32_t machine_convert(struct machine_build *build, enum program_kind kind, uint32_t node);
uint32_t machine_word(struct machine_build *build, uint64_t word);
uint32_t machine_initial(struct machine_build *build, const struct lang_variable *variable);
uint32_t machine_key_field(struct machine_build *build, uint32_t key, const struct lang_transition *transition,
			   const struct event_field *field);
/* What is left of node's value in an integer as narrow as variable. */
uint32_t machine_narrow(struct machine_build *build, const struct lang_variable *variable, uint32_t node);

/* Whether a timed transition holds in a state; the times after which something happens in it, 0: there is no more. */
bool machine_applies(const struct lang_transition *transition, uint32_t state);
uint64_t machine_after(const struct machine_build *build, uint32_t state, uint64_t beyond);
bool machine_has_several(const struct machine_build *build, uint32_t state);
uint32_t machine_due(struct machine_build *build, uint64_t after_ns);
void machine_arm(struct machine_build *build, const struct machine_row *row, struct program_transition *out);
void machine_rearm(struct machine_build *build, const struct machine_row *row, struct program_transition *out);
uint32_t machine_fallbacks(struct machine_build *build, uint32_t state, uint32_t image_state);
const char *machine_after_note(struct machine_build *build, uint64_t ns);

/* machine/actions.c: adds the actions of row, and says in out what it tells. */
void machine_set(struct machine_build *build, struct program_transition *out, uint32_t slot, uint32_t node);
void machine_actions(struct machine_build *build, const struct machine_row *row, struct program_transition *out);

/* machine/notices.c: captures what row tells while its blocks are run; the number of the notice, from 1. */
struct machine_reporting {
	const struct machine_row *row;
	struct program_transition *out;
	uint32_t *places;
	const char **names; /* of the values of warnings, NULL elsewhere */
	uint32_t *epochs;   /* per place: how many assignments came before */
	uint32_t count, epoch;
};
int machine_report_begin(struct machine_build *build, struct machine_reporting *reporting);
void machine_report(struct machine_build *build, struct machine_reporting *reporting, uint32_t action);
uint32_t machine_report_end(struct machine_build *build, struct machine_reporting *reporting);
void machine_emit_notices(struct machine_build *build, struct program_rule *out);

/* machine/rows.c: the states and their transitions. */
void machine_emit_states(struct machine_build *build, struct program_rule *out);

static inline bool machine_is_outside(const struct lang_transition *transition)
{
	return transition->state == LANG_OUTSIDE;
}

#endif
