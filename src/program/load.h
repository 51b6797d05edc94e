/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_LOAD_H
#define PROGRAM_LOAD_H

#include "base/diag.h"
#include "program/image.h"

#include <stddef.h>

struct meaning_users; /* meaning/meaning.h */

/*
 * A validated image with its tables as typed pointers. Read-only after loading and then shared freely between
 * threads. Everything an executor derives from it is the executor's own.
 */
struct program {
	const struct program_header *header;
	const char *strings;
	const struct program_type *types;
	const struct program_field *fields;
	const struct program_rule *rules;
	const struct program_element *elements;
	const struct program_slot *slots;
	const struct program_state *states;
	const struct program_transition *transitions;
	const struct program_action *actions;
	const struct program_node *nodes;
	const struct program_class *classes;
	const struct program_key *keys;
	const uint32_t *indices;
	const struct program_return *returns;
	const struct program_statement *statements;
	const struct program_arg *args;
	const struct program_notice *notices;
	const struct program_piece *pieces;
	const struct program_aggregation *aggregations;
	const struct program_aggregate *aggregates;
	uint32_t type_count, field_count, rule_count;
	size_t total_bytes;
	struct meaning_users
		*users; /* whose names are shown; NULL: none. Not of the image: borrowed, set by who loaded it */
};

/*
 * Validates a copy of the length bytes at bytes and stores the program. The image is untrusted input: whatever it
 * holds, the result is a program that satisfies image.h or an error. origin names it in messages, which carry the byte
 * offset. Returns 0, -EINVAL (not an image, truncated, altered, wrong version, or inconsistent), -ENOMEM.
 */
int program_load(const void *bytes, size_t length, const char *origin, struct asterism_diag *diag,
		 struct program **loaded);

void program_free(struct program *program);

static inline const char *program_text(const struct program *program, uint32_t text)
{
	return text == PROGRAM_NONE ? "" : program->strings + text;
}

/* What messages call a rule of an image. */
static inline const char *program_sort(const struct program_rule *rule)
{
	return rule->semantics == PROGRAM_MACHINE ? "machine" : "rule";
}

/* The index of the type called name, or PROGRAM_NONE. */
uint32_t program_type_find(const struct program *program, const char *name);

#endif
