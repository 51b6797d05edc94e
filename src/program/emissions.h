/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_EMISSIONS_H
#define PROGRAM_EMISSIONS_H

/*
 * Who emits events for whom. EMIT makes a graph of an image's rules: one feeds another whose matches can depend on what
 * it emits. Executors keep rules together that are connected in it, and refuse or divide what they must.
 *
 * What counts as depending: under strict semantics every event of the stream; otherwise events for which the rule has a
 * transition in some state. That a rule's stream names a type makes it no taker.
 *
 * Shapes: rules and types are rows of the image. Lists are of rules, each once, nearest first.
 *
 * Errors: -ENOMEM, and -E2BIG where the caller's limit is passed. It may touch: the image alone; nothing is kept, so
 * threads may ask at once. Feeding is found anew by every question, in time linear in the transitions of the taker, so
 * a caller that asks often keeps the answer.
 *
 * That no cycle of emissions carries on for ever is the loader's to see to (check-emissions.c).
 */

#include "program/query.h"

/* Whether the statement is EMIT; if so, of statement->type. */
static inline bool program_is_emission(const struct program_statement *statement)
{
	return statement->type != PROGRAM_NONE;
}

/* Whether rule emits anything. */
bool program_emits(const struct program *program, const struct program_rule *rule);

/* Whether a rule of the image emits events of type. */
bool program_is_emitted(const struct program *program, uint32_t type);

/* Whether matches of rule can depend on events of type. */
bool program_takes(const struct program *program, uint32_t rule, uint32_t type);

/* The same of any rule of the image. */
bool program_is_taken(const struct program *program, uint32_t type);

/* Whether from emits what to takes. */
bool program_feeds(const struct program *program, uint32_t from, uint32_t to);

enum program_way {
	PROGRAM_DOWNSTREAM, /* from those that emit to those that take */
	PROGRAM_BOTH_WAYS,
};

struct program_reached {
	uint32_t *rules; /* alloc_free; NULL: none */
	uint32_t count;
};

/*
 * Lists the rules that are reached from rule; rule is one of them where the way leads back to it. Returns 0; -ENOMEM,
 * -E2BIG (they are more than max): reached is then empty.
 */
int program_reach(const struct program *program, uint32_t rule, enum program_way way, uint32_t max,
		  struct program_reached *reached);

#endif
