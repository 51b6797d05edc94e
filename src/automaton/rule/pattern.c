// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the positions of a pattern, and answers what the construction asks about its tree: counts, emptiness, order.
 */

#include "automaton/rule/pattern-priv.h"

#include <errno.h>

enum { POSITIONS_MAX = 2048, UNROLLED_MAX = 64 };

static uint64_t count_specs(const struct pattern *pattern, const struct lang_structure *structure);

bool pattern_is_noted(const struct noted *noted, const struct lang_structure *structure)
{
	for (; noted; noted = noted->next) {
		if (noted->source == structure)
			return true;
	}
	return false;
}

/*
 * How many rounds of a repeat get positions of their own: all that differ, where that is cheap or known to matter,
 * since then each round's arrays and optional parts know what follows in it, and whether a negation behind the repeat
 * is in force. One: the rounds share their positions and a counter tells.
 */
static uint64_t rounds_of(const struct pattern *pattern, const struct lang_structure *structure, uint64_t specs)
{
	uint64_t rounds = structure->repeat_max;

	if (rounds == LANG_UNBOUNDED)
		rounds = structure->repeat_min + pattern_is_noted(pattern->guarded, structure);
	if (structure->kind == LANG_SPEC || structure->kind == LANG_NEGATION || rounds <= 1)
		return 1;
	if (pattern_is_noted(pattern->uneven, structure))
		return rounds <= POSITIONS_MAX ? rounds : POSITIONS_MAX + 1;
	return rounds <= UNROLLED_MAX && rounds * specs <= UNROLLED_MAX ? rounds : 1;
}

static uint64_t count_below(const struct pattern *pattern, const struct lang_structure *structure)
{
	uint64_t count = structure->kind == LANG_SPEC;

	for (uint32_t i = 0; i < structure->child_count; i++)
		count += count_specs(pattern, structure->children[i]);
	return count;
}

static uint64_t count_specs(const struct pattern *pattern, const struct lang_structure *structure)
{
	uint64_t below = count_below(pattern, structure);

	return below > POSITIONS_MAX ? below : below * rounds_of(pattern, structure, below);
}

bool pattern_has_guard(const struct lang_rule *rule, uint32_t element)
{
	for (uint32_t i = 0; i < rule->condition_count; i++) {
		const struct lang_condition *condition = &rule->conditions[i];

		if (condition->kind == LANG_GUARD && condition->element == element)
			return true;
	}
	return false;
}

static void make_position(struct pattern *pattern, struct pattern_node *node)
{
	struct position *position = &pattern->positions[pattern->position_count];
	const struct lang_element *spec = &pattern->rule->elements[node->source->element];

	*position = (struct position){
		.id = pattern->position_count++,
		.node = node,
		.element = node->source->element,
		.spec = spec,
	};
	position->plain = !spec->name && !spec->is_array && !pattern_has_guard(pattern->rule, position->element);
	node->position = position;
	node->min = spec->is_array ? spec->length_min : 1;
	node->max = spec->is_array ? spec->length_max : 1;
	node->repeats = spec->is_array;
}

/* Emptiness as the language has it: no event at all may stand for the node. */
static bool is_nullable(const struct pattern_node *node)
{
	bool any = false, all = true;

	if (node->source->kind == LANG_SPEC)
		return false;
	if (node->min == 0 || node->source->kind == LANG_NEGATION)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++) {
		any |= node->children[i]->nullable;
		all &= node->children[i]->nullable;
	}
	return node->source->kind == LANG_ALTERNATIVE ? any : all;
}

static struct pattern_node *make_node(struct pattern *pattern, const struct lang_structure *source,
				      struct pattern_node *parent, uint32_t index);

static int make_children(struct pattern *pattern, struct pattern_node *node, uint32_t count)
{
	node->child_count = count;
	node->children = arena_zero(pattern->arena, count + 1, sizeof *node->children);
	for (uint32_t i = 0; node->children && i < count; i++) {
		const struct lang_structure *source = node->unrolled ? node->source : node->source->children[i];

		node->children[i] = make_node(pattern, source, node, i);
		if (!node->children[i])
			return -ENOMEM;
	}
	return node->children ? 0 : -ENOMEM;
}

static struct pattern_node *make_node(struct pattern *pattern, const struct lang_structure *source,
				      struct pattern_node *parent, uint32_t index)
{
	struct pattern_node *node = arena_zero(pattern->arena, 1, sizeof *node);
	bool is_round = parent && parent->unrolled;
	uint64_t rounds = is_round ? 1 : rounds_of(pattern, source, count_below(pattern, source));

	if (!node)
		return NULL;
	node->source = source;
	node->parent = parent;
	node->index = index;
	node->min = is_round ? 1 : source->repeat_min;
	node->max = is_round ? 1 : source->repeat_max;
	node->repeats = source->kind != LANG_NEGATION && (node->min != 1 || node->max != 1);
	node->unrolled = rounds > 1;
	node->guarded = node->repeats && pattern_is_noted(pattern->guarded, source);
	if (make_children(pattern, node, node->unrolled ? (uint32_t)rounds : source->child_count))
		return NULL;
	if (source->kind == LANG_SPEC)
		make_position(pattern, node);
	node->nullable = is_nullable(node);
	return node;
}

/*
 * Whether the rounds of node must be counted: not where "at least one, no limit" or "at most one" says it all, unless a
 * negation tells the first round from the others.
 */
static bool needs_count(const struct pattern_node *node)
{
	uint64_t need = node->min > 1 ? node->min : 1;

	if (!node->repeats || node->unrolled)
		return false;
	if (node->source->kind == LANG_SPEC || need > 1 || (node->guarded && !node->eager && node->max > node->min))
		return true;
	return !node->eager && node->max != LANG_UNBOUNDED && node->max != 1;
}

/* The same array in several rounds has one counter, by which its length is known. */
static void number_counters(struct pattern *pattern, struct pattern_node *node)
{
	node->counted = needs_count(node);
	if (node->counted) {
		uint32_t twin = 0;

		while (node->position && twin < node->position->id &&
		       pattern->positions[twin].element != node->position->element)
			twin++;
		if (node->position && twin < node->position->id)
			node->counter = pattern->positions[twin].node->counter;
		else
			node->counter = pattern->counter_count++;
	}
	for (uint32_t i = 0; i < node->child_count; i++)
		number_counters(pattern, node->children[i]);
}

/* The tree and its positions, by what is known of the repeats. */
static int make_tree(struct pattern *pattern)
{
	uint64_t specs = count_specs(pattern, pattern->rule->root);

	if (specs > POSITIONS_MAX)
		return -E2BIG;
	pattern->position_count = 0;
	pattern->positions = arena_zero(pattern->arena, specs + 1, sizeof *pattern->positions);
	if (!pattern->positions)
		return -ENOMEM;
	pattern->root = make_node(pattern, pattern->rule->root, NULL, 0);
	return pattern->root ? pattern_decide_eager(pattern) : -ENOMEM;
}

int pattern_build(struct pattern *pattern, const struct lang_rule *rule, struct arena *arena)
{
	const struct noted *uneven, *guarded;
	int err;

	*pattern = (struct pattern){ .rule = rule, .arena = arena };
	pattern->set_words = (rule->element_count + 63) / 64;
	do {
		uneven = pattern->uneven;
		guarded = pattern->guarded;
		err = make_tree(pattern);
	} while (!err && (pattern->uneven != uneven || pattern->guarded != guarded));
	if (err)
		return err;
	number_counters(pattern, pattern->root);
	return pattern_bind(pattern);
}

const struct pattern_node *pattern_shared_alternative(const struct position *a, const struct position *b)
{
	for (const struct pattern_node *x = a->node; x->parent; x = x->parent) {
		if (x->parent->source->kind != LANG_ALTERNATIVE || x->parent->unrolled)
			continue;
		for (const struct pattern_node *y = b->node; y->parent; y = y->parent) {
			if (y->parent == x->parent)
				return y == x ? NULL : x->parent;
		}
	}
	return NULL;
}

bool pattern_completes(const struct position *position, const struct pattern_node *node)
{
	for (const struct pattern_node *x = position->node; x != node && x->parent; x = x->parent) {
		const struct pattern_node *parent = x->parent;

		if (parent->unrolled && x->index + 1 < parent->min)
			return false;
		if (parent->source->kind != LANG_SEQUENCE || parent->unrolled)
			continue;
		for (uint32_t i = x->index + 1; i < parent->child_count; i++) {
			if (!parent->children[i]->nullable)
				return false;
		}
	}
	return true;
}
