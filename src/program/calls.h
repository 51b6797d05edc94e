/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_CALLS_H
#define PROGRAM_CALLS_H

/* What the statements of a validated program mean. */

#include "program/eval.h"
#include "react/react.h"

/* The action that a statement calls; NULL for EMIT. */
const struct react_action *program_call(const struct program *program, const struct program_statement *statement);

/*
 * Whether all that rule does at a match is to count, in counters and histograms, and it returns nothing, or whether it
 * says so by RETURN NOTHING: then its matches need not be reported one by one. Of a machine: all its notices are
 * such, or no match at all.
 */
bool program_only_tallies(const struct program *program, const struct program_rule *rule);

/* The same of one of a machine's notices, from 1: what warns is heard. */
bool program_notice_only_tallies(const struct program *program, const struct program_rule *rule, uint32_t notice);

/* Whether matches of a rule are reported one by one: not where only aggregates, counters or histograms say of them. */
bool program_is_reported(const struct program *program, const struct program_rule *rule);

/*
 * Evaluates the arguments of a call over the slots of operand, at most room of them, into values. Returns how many, or
 * -EDOM when one divides by zero.
 */
int program_call_values(const struct program_operand *operand, const struct program_statement *statement,
			struct react_value *values, uint32_t room);

/* What a rule asks user space: what is done without an answer, and how ABORT is done. */
struct program_ask {
	bool aborts; /* by default */
	int signal;
};

/* statement: a call of an action that is REACT_HOLD. */
void program_ask(const struct program *program, const struct program_statement *statement, struct program_ask *ask);

#endif
