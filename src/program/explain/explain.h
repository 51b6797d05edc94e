/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_EXPLAIN_EXPLAIN_H
#define PROGRAM_EXPLAIN_EXPLAIN_H

/*
 * One rule's automaton: as text for people, as a drawing for Graphviz, as one JSON object on one line for programs. All
 * append to a text; whether that went well, text_take tells.
 */

#include "base/text.h"
#include "program/load.h"

/* What the image does not hold. Zeroed: nothing is known. */
struct program_explain_facts {
	const char *where;         /* "in the kernel", or NULL */
	const char *why;           /* one clause without a full stop, or NULL */
	uint64_t kernel_bytes;     /* memory that the rule's pool takes in the kernel; 0: not told */
	uint64_t user_space_bytes; /* and in the user-space engine */
	uint32_t
		kept_events; /* RETURN SEQUENCE: the most that all runs keep together in the kernel; 0: no such bound */
	/* Who does the calls, per statement of the rule: "the kernel", and what that guarantees; NULL: not known. */
	const char *const *who, *const *guarantees;
	const char *who_adds;  /* who adds matches up for AGGREGATE; NULL: not known */
	const char *why_added; /* why the kernel delivers every one of them, one clause; NULL: it does not */
};

void program_explain_text(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out);
void program_explain_dot(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			 struct text_buffer *out);
void program_explain_json(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out);

/*
 * A condition over an event and slots as a person would write it: fields of the event behind its name (NULL: it has
 * none), constants by what they are compared with: b.ts - a.ts > 10ms, a.id == openat.
 */
void program_print_condition(struct text_buffer *out, const struct program *program, const struct program_rule *rule,
			     uint32_t node, const char *event);

#endif
