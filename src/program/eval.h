/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_EVAL_H
#define PROGRAM_EVAL_H

/*
 * The meaning of expression nodes, spelled out once: what everybody who evaluates or generates code for them must agree
 * with. Plain and complete rather than fast.
 */

#include "program/load.h"

#include <stdbool.h>

struct program_operand {
	const struct program *program;
	const struct program_rule *rule;
	const void *record; /* the current event's record, or NULL for expressions over slots only */
	const void *slots;  /* the run's slot area */
};

/* A value: bits of an I64, U64, F64 or BOOL; for STRING a borrowed NUL-terminated text. */
struct program_value {
	enum program_kind kind;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		bool boolean;
		const char *text;
	};
};

/* Evaluates node. Returns 0, or -EDOM when an integer was divided by zero (the value is then untouched). */
int program_eval(const struct program_operand *operand, uint32_t node, struct program_value *value);

/* True when node is PROGRAM_NONE or yields true; a division by zero is false and adds one to *divisions. */
bool program_holds(const struct program_operand *operand, uint32_t node, uint64_t *divisions);

/* The glob match of LIKE: `*` in pattern stands for any bytes. */
bool program_like(const char *text, const char *pattern);

/* Whether the pattern has no star but at its end, so that it takes a comparison of whole words. */
bool program_pattern_is_prefix(const char *pattern);

/* The expression as text, for people, written NUL-terminated into the size bytes at buffer. */
void program_print_node(const struct program *program, const struct program_rule *rule, uint32_t node, char *buffer,
			size_t size);

#endif
