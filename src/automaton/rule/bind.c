// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes which events are bound at a position: on some way there (may), on every way there (must). A forward
 * data-flow analysis over the position graph, iterated to its fixed point.
 */

#include "automaton/rule/pattern-priv.h"

#include <errno.h>
#include <string.h>

void pattern_unbind(const struct pattern_node *node, uint64_t *set)
{
	if (node->position)
		set_remove(set, node->position->element);
	for (uint32_t i = 0; i < node->child_count; i++)
		pattern_unbind(node->children[i], set);
}

/* Lets the sets of from flow along edge; from NULL is the start. Returns true if the target's sets changed. */
static bool flow(const struct pattern *pattern, const struct position *from, const struct edge *edge, uint64_t *room)
{
	struct position *to = &pattern->positions[edge->target->id];
	uint32_t words = pattern->set_words;
	uint64_t *may = room, *must = room + words;
	bool changed = !to->reached;

	memset(room, 0, 2 * words * sizeof *room);
	if (from) {
		memcpy(may, from->may, words * sizeof *may);
		memcpy(must, from->must, words * sizeof *must);
	}
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (step->node->source->kind == LANG_SPEC)
			continue;
		pattern_unbind(step->node, may);
		pattern_unbind(step->node, must);
	}
	set_add(may, to->element);
	set_add(must, to->element);
	for (uint32_t i = 0; i < words; i++) {
		uint64_t new_may = to->may[i] | may[i];
		uint64_t new_must = to->reached ? to->must[i] & must[i] : must[i];

		changed |= new_may != to->may[i] || new_must != to->must[i];
		to->may[i] = new_may;
		to->must[i] = new_must;
	}
	to->reached = true;
	return changed;
}

static bool flow_all(const struct pattern *pattern, const struct position *from, const struct edges *edges,
		     uint64_t *room)
{
	bool changed = false;

	for (size_t i = 0; i < edges->count; i++) {
		if (edges->items[i].target && !edges->items[i].overflow)
			changed |= flow(pattern, from, &edges->items[i], room);
	}
	return changed;
}

static int make_sets(struct pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->position_count; i++) {
		pattern->positions[i].may = arena_zero(pattern->arena, pattern->set_words, sizeof(uint64_t));
		pattern->positions[i].must = arena_zero(pattern->arena, pattern->set_words, sizeof(uint64_t));
		if (!pattern->positions[i].may || !pattern->positions[i].must)
			return -ENOMEM;
	}
	return 0;
}

int pattern_bind(struct pattern *pattern)
{
	uint64_t *room = arena_zero(pattern->arena, 2 * pattern->set_words, sizeof *room);
	struct edges *edges = arena_zero(pattern->arena, pattern->position_count + 1, sizeof *edges);
	int err = room && edges ? make_sets(pattern) : -ENOMEM;
	bool changed = true;

	if (!err)
		err = pattern_first(pattern, &edges[pattern->position_count]);
	for (uint32_t i = 0; i < pattern->position_count && !err; i++) {
		if (!pattern->positions[i].spec->negation)
			err = pattern_follow(pattern, &pattern->positions[i], &edges[i]);
	}
	while (!err && changed) {
		changed = flow_all(pattern, NULL, &edges[pattern->position_count], room);
		for (uint32_t i = 0; i < pattern->position_count; i++) {
			if (pattern->positions[i].reached)
				changed |= flow_all(pattern, &pattern->positions[i], &edges[i], room);
		}
	}
	for (uint32_t i = 0; edges && i <= pattern->position_count; i++)
		alloc_free(edges[i].items);
	return err;
}
