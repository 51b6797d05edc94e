/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_EXPLAIN_EXPLAIN_PRIV_H
#define PROGRAM_EXPLAIN_EXPLAIN_PRIV_H

/* The words that all explanations share. */

#include "program/explain/explain.h"
#include "program/explain/print-priv.h"

struct explain {
	struct text_buffer *out;
	const struct program *program;
	const struct program_rule *rule;
	const struct program_explain_facts *facts;
};

/* "SKIPTILLNEXT", "TAINT", "SYNCHRONOUS" as the language has them; "" for a mode left to the compiler. */
const char *explain_semantics(const struct program_rule *rule);
const char *explain_loss(const struct program_rule *rule);
const char *explain_mode(const struct program_rule *rule);

/* "i64", "string", ... */
const char *explain_kind(uint32_t kind);

const char *explain_type_name(const struct explain *explain, uint32_t type);
const struct program_state *explain_state(const struct explain *explain, uint32_t state);

/* The event of a transition as a pattern writes it: B[]:b. */
void explain_event(const struct explain *explain, const struct program_transition *transition);

/* An action: a.x = x. */
void explain_action(const struct explain *explain, const struct program_action *action);

/* A statement as a rule writes it. */
void explain_statement(const struct explain *explain, const struct program_statement *statement);

/* How runs of a class are found: "runs wait under tid = a.tid". */
void explain_class(const struct explain *explain, uint32_t class);

/* Which fields carry the key of a class: "tid = a.tid". */
void explain_keys(const struct explain *explain, const struct program_class *class);

/* A node as a JSON string, or null. */
void explain_put_node(const struct explain *explain, uint32_t node);

/* Of explain/aggregate.c: AGGREGATE, where the rule has it. */
void explain_aggregation_text(const struct explain *explain);
void explain_aggregation_json(const struct explain *explain);

/* Of explain/machine.c. */
static inline bool explain_is_machine(const struct explain *explain)
{
	return explain->rule->semantics == PROGRAM_MACHINE;
}

/* Where a machine's transition leads, out of the state number from. */
void explain_machine_target(const struct explain *explain, uint32_t from, const struct program_transition *transition);

/* Whether an action of a machine only keeps its books: trail, context, notice. */
bool explain_is_bookkeeping(const struct explain *explain, const struct program_action *action);

/* The number of the notice that a transition tells, from 1; 0: none. */
uint32_t explain_notice(const struct explain *explain, const struct program_transition *transition);

/* The warning of a notice as a machine writes it, values in braces; nothing where it warns of nothing. */
void explain_warning(const struct explain *explain, uint32_t notice);

#endif
