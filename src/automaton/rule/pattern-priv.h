/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef AUTOMATON_RULE_PATTERN_PRIV_H
#define AUTOMATON_RULE_PATTERN_PRIV_H

/*
 * The position automaton of a pattern (Glushkov's construction: one position per event specification, edges by what may
 * follow, hence no epsilon edges to remove), extended with counters for repeats, with priorities where the language
 * closes an array or repeat "at the first event that fits its follower", and with the negations that an edge crosses.
 */

#include "base/alloc.h"
#include "lang/syntax/ast.h"

struct position;

/* A node of the pattern, with what the construction finds out about it. */
struct pattern_node {
	const struct lang_structure *source;
	struct pattern_node *parent;
	struct pattern_node **children;
	uint32_t child_count;
	uint32_t index;    /* in the parent */
	uint64_t min, max; /* repeat, or length of an array */
	bool repeats;      /* an array, or a group whose repeat is not {1, 1} */
	bool unrolled;     /* a repeat whose children are its rounds; the last one stands for all further ones */
	bool nullable;     /* may stand for no event at all */
	bool eager;        /* repeats: closes as soon as its count may */
	bool guarded;      /* a group with a negation behind it, which is in force from the minimum on */
	bool counted;      /* repeats: the count is needed at run time */
	uint32_t counter;  /* then: number of its counter, from 0 */
	struct position *position; /* of an event specification */
};

/* One event specification, as a place in the automaton. */
struct position {
	uint32_t id; /* in the order of the text */
	struct pattern_node *node;
	uint32_t element;
	const struct lang_element *spec;
	bool plain;     /* neither name nor length nor guard: may be shared by alternatives */
	uint64_t *may;  /* set of elements that some way here binds, itself included */
	uint64_t *must; /* set of elements that every way here binds, itself included */
	bool reached;
};

enum count_op { COUNT_AT_LEAST, COUNT_LESS, COUNT_IS };

/* A condition on the counter of a repeat: judged before the edge's own steps. */
struct count_test {
	const struct count_test *next;
	const struct pattern_node *node;
	enum count_op op;
	uint64_t value;
};

/*
 * A repeat begins (its counter, if it has one, becomes 1) or goes round (plus one). Either way what it had bound in
 * its last round is bound no longer.
 */
struct count_step {
	const struct count_step *next;
	const struct pattern_node *node;
	bool begins;
};

/* A negation that an edge crosses, in force under the tests collected before it. */
struct passed_negation {
	const struct passed_negation *next;
	const struct pattern_node *negation;
	const struct count_test *tests;
};

/* How one gets from a position to the next. Lists share their tails. */
struct path {
	const struct count_test *tests;
	const struct count_step *steps;
	const struct passed_negation *passed;
};

struct edge {
	const struct position *target; /* NULL: the pattern is complete */
	struct path path;
	bool overflow;  /* the event that is one too many for a repeat: the run ends */
	uint32_t group; /* edges of one group cannot be told apart by their event type; 0: none */
};

struct edges {
	struct edge *items;
	size_t count, capacity;
	uint32_t groups;
	bool failed; /* out of memory */
};

/* A repeat of which something became known only once the tree was there. */
struct noted {
	const struct noted *next;
	const struct lang_structure *source;
};

struct pattern {
	const struct lang_rule *rule;
	const struct noted *uneven;  /* rounds must not share positions however many they are: they close differently */
	const struct noted *guarded; /* see struct pattern_node */
	struct arena *arena;
	struct pattern_node *root;
	struct position *positions;
	uint32_t position_count;
	uint32_t counter_count;
	uint32_t set_words; /* words of a set of elements */
};

/* Builds the positions of rule in arena. Returns 0, -E2BIG (too many positions), -ENOMEM. */
int pattern_build(struct pattern *pattern, const struct lang_rule *rule, struct arena *arena);

/* The edges out of the start of the pattern, in the order to try. The caller frees edges->items. */
int pattern_first(const struct pattern *pattern, struct edges *edges);

/*
 * The edges out of position once its own event (or, of an array, the last one) has come, in the order to try.
 * For an array that is not eager they include its own going round and overflow. Returns 0 or -ENOMEM.
 */
int pattern_follow(const struct pattern *pattern, const struct position *position, struct edges *edges);

/*
 * The edges out of the groups that position is in a further round of than their minimum asks for, as if they had ended
 * before it: what negations they cross is in force.
 */
int pattern_beyond(const struct pattern *pattern, const struct position *position, struct edges *edges);

/* The edges inside a negated structure: out of its start (from NULL) or out of one of its positions. */
int pattern_inside(const struct pattern *pattern, const struct pattern_node *negation, const struct position *from,
		   struct edges *edges);

/* The node of position's branch under the innermost alternative that both share in different branches, or NULL. */
const struct pattern_node *pattern_shared_alternative(const struct position *a, const struct position *b);

/* True if nothing more needs to come within node after position. */
bool pattern_completes(const struct position *position, const struct pattern_node *node);

bool pattern_is_noted(const struct noted *noted, const struct lang_structure *structure);

/*
 * Determines for every repeat whether it is eager (docs/language.md, arrays). Where that differs among rounds that
 * share their positions it adds to pattern->uneven, and groups with a negation behind them to pattern->guarded.
 */
int pattern_decide_eager(struct pattern *pattern);

/* Whether a condition on element alone is a guard of it. */
bool pattern_has_guard(const struct lang_rule *rule, uint32_t element);

/* Takes the elements below node out of set. */
void pattern_unbind(const struct pattern_node *node, uint64_t *set);

/* Computes may and must of every reachable position. */
int pattern_bind(struct pattern *pattern);

static inline bool set_has(const uint64_t *set, uint32_t item)
{
	return set[item / 64] >> (item % 64) & 1;
}

static inline void set_add(uint64_t *set, uint32_t item)
{
	set[item / 64] |= UINT64_C(1) << (item % 64);
}

static inline void set_remove(uint64_t *set, uint32_t item)
{
	set[item / 64] &= ~(UINT64_C(1) << (item % 64));
}

#endif
