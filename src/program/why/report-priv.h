/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_WHY_REPORT_PRIV_H
#define PROGRAM_WHY_REPORT_PRIV_H

/* The counts of a rule, transition by transition and added up. */

#include "program/query.h"
#include "program/why/report.h"

/* A transition of the rule with its counts; goes through all of them. Zeroed it stands before the first. */
struct why_step {
	uint32_t state, index; /* index: in the state, from 1 */
	const struct program_transition *transition;
	const uint64_t *counts; /* enum program_why_transition */
};

bool why_next(const struct program_why_report *report, struct why_step *step);

static inline bool why_is_machine(const struct program_why_report *report)
{
	return report->rule->semantics == PROGRAM_MACHINE;
}

static inline const uint64_t *why_state(const struct program_why_report *report, uint32_t state)
{
	return report->counts + program_why_state(state);
}

static inline const uint64_t *why_type(const struct program_why_report *report, uint32_t type)
{
	return report->counts + program_why_type(report->program, report->rule, type);
}

/* A condition of a step: how often it was asked, and true. */
struct why_condition {
	uint32_t node;
	bool is_hold;
	uint64_t asked, was_true;
};

/* Those of fit, then those of hold; found has room for two times PROGRAM_WHY_CONDITIONS_MAX. Returns how many. */
uint32_t why_conditions(const struct program_why_report *report, const struct why_step *step,
			struct why_condition *found);

/* "match", "end", or the state that a step leads to. */
const char *why_target(const struct program_why_report *report, const struct why_step *step);

/* Runs that a transition ended, by itself or because its hold was false. */
uint64_t why_ended(const struct why_step *step);

/* How often a run in the state met an event of the step's type and nothing came of it; the step is the first of its
 * type. */
uint64_t why_passed(const struct program_why_report *report, const struct why_step *step);

/* Whether the step is the first of its state and type. */
bool why_is_first(const struct program_why_report *report, const struct why_step *step);

/* All runs that ended without a match; those of a state that have ended or wait. */
uint64_t why_all_ended(const struct program_why_report *report);
uint64_t why_all_open(const struct program_why_report *report);

/* The event of a step as a pattern writes it, B:b, or ~B:b where it is forbidden; AFTER 1s. */
void why_put_event(const struct program_why_report *report, const struct why_step *step, struct text_buffer *out);

/* A node of the step's transition, for people. */
void why_put_condition(const struct program_why_report *report, const struct why_step *step, uint32_t node,
		       struct text_buffer *out);

const char *why_type_name(const struct program_why_report *report, uint32_t type);
const char *why_state_label(const struct program_why_report *report, uint32_t state);

#endif
