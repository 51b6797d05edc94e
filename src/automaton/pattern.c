// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which positions a pattern has and how its tree is seen by the construction: counts, emptiness, order.
 */

#include "automaton/pattern-priv.h"

#include <errno.h>

enum { POSITIONS_MAX = 2048 };

static uint32_t count_specs(const struct lang_structure *structure)
{
	uint32_t count = structure->kind == LANG_SPEC;

	for (uint32_t i = 0; i < structure->child_count; i++)
		count += count_specs(structure->children[i]);
	return count;
}

static bool has_guard(const struct lang_rule *rule, uint32_t element)
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
	position->plain = !spec->name && !spec->is_array && !has_guard(pattern->rule, position->element);
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
				      struct pattern_node *parent, uint32_t index)
{
	struct pattern_node *node = arena_zero(pattern->arena, 1, sizeof *node);

	if (!node)
		return NULL;
	node->source = source;
	node->parent = parent;
	node->index = index;
	node->min = source->repeat_min;
	node->max = source->repeat_max;
	node->repeats = source->kind != LANG_NEGATION && (node->min != 1 || node->max != 1);
	node->child_count = source->child_count;
	node->children = arena_zero(pattern->arena, source->child_count + 1, sizeof *node->children);
	if (!node->children)
		return NULL;
	for (uint32_t i = 0; i < source->child_count; i++) {
		node->children[i] = make_node(pattern, source->children[i], node, i);
		if (!node->children[i])
			return NULL;
	}
	if (source->kind == LANG_SPEC)
		make_position(pattern, node);
	node->nullable = is_nullable(node);
	return node;
}

/* A count is needed at run time unless "at least one, no limit" or "at most one" says it all. */
static void number_counters(struct pattern *pattern, struct pattern_node *node)
{
	if (node->repeats) {
		uint64_t need = node->min > 1 ? node->min : 1;
		bool array = node->source->kind == LANG_SPEC;

		if (node->eager)
			node->counted = need > 1;
		else
			node->counted = need > 1 || (node->max != LANG_UNBOUNDED && node->max != 1);
		node->counted |= array;
		if (node->counted)
			node->counter = pattern->counter_count++;
	}
	for (uint32_t i = 0; i < node->child_count; i++)
		number_counters(pattern, node->children[i]);
}

int pattern_build(struct pattern *pattern, const struct lang_rule *rule, struct arena *arena)
{
	uint32_t specs = count_specs(rule->root);
	int err;

	*pattern = (struct pattern){ .rule = rule, .arena = arena };
	if (specs > POSITIONS_MAX)
		return -E2BIG;
	pattern->set_words = (rule->element_count + 63) / 64;
	pattern->positions = arena_zero(arena, specs + 1, sizeof *pattern->positions);
	if (!pattern->positions)
		return -ENOMEM;
	pattern->root = make_node(pattern, rule->root, NULL, 0);
	if (!pattern->root)
		return -ENOMEM;
	err = pattern_decide_eager(pattern);
	if (err)
		return err;
	number_counters(pattern, pattern->root);
	return pattern_bind(pattern);
}

const struct pattern_node *pattern_shared_alternative(const struct position *a, const struct position *b)
{
	for (const struct pattern_node *x = a->node; x->parent; x = x->parent) {
		if (x->parent->source->kind != LANG_ALTERNATIVE)
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

		if (parent->source->kind != LANG_SEQUENCE)
			continue;
		for (uint32_t i = x->index + 1; i < parent->child_count; i++) {
			if (!parent->children[i]->nullable)
				return false;
		}
	}
	return true;
}
