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
	/* Who does the calls, per statement of the rule: "the kernel", and what that guarantees; NULL: not known. */
	const char *const *who, *const *guarantees;
	const char *who_adds; /* who adds matches up for AGGREGATE; NULL: not known */
};

void program_explain_text(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out);
void program_explain_dot(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			 struct text_buffer *out);
void program_explain_json(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out);

#endif
