/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_ORDER_ORDER_H
#define PROGRAM_ORDER_ORDER_H

/*
 * The order in which the conditions of a transition that AND joins are asked. The one that refuses most for what it
 * costs comes first: rank (1 - s) / c, s the share of events for which it is true and c its cost, as predicates are
 * ordered in query plans (Hellerstein and Stonebraker 1993, predicate migration). s is what was measured, or one half;
 * so where nothing was measured the cheapest comes first. Equal ranks keep the order in which they were written.
 *
 * A condition that may divide by zero stays where it is, and no other is moved across it: it counts each division that
 * it makes, and those before it may keep it from being asked. All others are total and without effect: a field or a
 * slot always has a value, and whether a string could be read is settled before any condition. So what AND yields, and
 * all counts but those of the conditions themselves, are the same in any order.
 */

#include "base/text.h"
#include "program/load.h"
#include "program/why/why.h"

#include <stdbool.h>

/* How often a condition was true, as `--why -f json` tells it: what it belongs to is given by its text. */
struct program_measure {
	const char *rule, *state, *event, *target, *condition;
	bool is_hold;
	uint64_t asked, was_true;
};

struct program_measures {
	struct arena *arena; /* the texts */
	struct program_measure *rows;
	size_t count, capacity;
};

/* NULL: -ENOMEM. program_measures_free takes NULL, too. */
struct program_measures *program_measures_new(void);
void program_measures_free(struct program_measures *measures);

/* Adds a copy of row. Returns 0, -ENOMEM. */
int program_measures_add(struct program_measures *measures, const struct program_measure *row);

/* Whether the node, or what it is made of, may divide by zero. */
bool program_may_fail(const struct program *program, uint32_t node);

struct program_ranked {
	uint32_t node;
	uint32_t cost;            /* about how many comparisons of numbers it takes */
	bool stays;               /* may divide by zero */
	uint64_t asked, was_true; /* asked 0: not measured */
};

/* Of which condition of a transition of rule is spoken. */
struct program_asking {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t state;
	const struct program_transition *transition;
	bool is_hold;
	const struct program_measures *measures; /* NULL: nothing is measured */
};

/* What the transition asks, in its order; ranked has room for PROGRAM_WHY_CONDITIONS_MAX. Returns how many. */
uint32_t program_order_ask(const struct program_asking *asking, struct program_ranked *ranked);

/* Sorts them. Returns whether that changes anything. */
bool program_order_sort(struct program_ranked *ranked, uint32_t count);

/*
 * Makes an image that asks in this order. measures may be NULL. Stores NULL where the order is right already; the
 * caller frees *image with alloc_free. Returns 0, -ENOMEM, -E2BIG.
 */
int program_order(const struct program *program, const struct program_measures *measures, void **image, size_t *length);

/* Whether a measure is of this rule. */
bool program_order_knows(const struct program *program, const struct program_rule *rule,
			 const struct program_measures *measures);

/* What rule asks, and why in this order, where there is more than one condition: lines; a member of a JSON object. */
void program_order_text(const struct program *program, uint32_t rule, const struct program_measures *measures,
			struct text_buffer *out);
void program_order_json(const struct program *program, uint32_t rule, const struct program_measures *measures,
			struct text_buffer *out);

#endif
