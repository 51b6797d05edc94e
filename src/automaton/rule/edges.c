// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merges the edges of a state: alternatives that begin with the same event are merged into an edge to a set of
 * positions (the subset construction, done only where the shared event carries nothing of its own), and what cannot be
 * told apart is diagnosed with both places.
 */

#include "automaton/rule/rule-priv.h"

#include <errno.h>

/* The edges out of one position of the state. */
static int out_of(struct rule_build *build, const struct state *state, uint32_t number, struct edges *edges)
{
	const struct position *position;
	struct count_step *round;

	if (!state->position_count)
		return pattern_first(&build->pattern, edges);
	position = state->positions[number];
	if (!state->open || !position->node->eager)
		return pattern_follow(&build->pattern, position, edges);
	/* An eager array that still collects waits for nothing but its own kind. */
	round = arena_zero(build->arena, 1, sizeof *round);
	if (!round || alloc_grow(&edges->items, &edges->capacity, edges->count, sizeof *edges->items))
		return -ENOMEM;
	round->node = position->node;
	edges->items[edges->count++] = (struct edge){
		.target = position,
		.path.steps = round,
	};
	return 0;
}

static int explain_conflict(struct rule_build *build, const struct position *a, const struct position *b,
			    const char *what, const char *hint)
{
	struct asterism_diag *diag = build->unit->diag;
	const struct position *second = a->id > b->id ? a : b, *first = a->id > b->id ? b : a;

	diag_add(diag, ASTERISM_ERROR, &second->spec->location, hint, "%s: '%s' here and at line %u, column %u", what,
		 second->spec->type->name, first->spec->location.line, first->spec->location.column);
	diag_add(diag, ASTERISM_NOTE, &first->spec->location, NULL, "the other '%s'", first->spec->type->name);
	return -EINVAL;
}

static bool same_tests(const struct count_test *a, const struct count_test *b)
{
	for (; a && b; a = a->next, b = b->next) {
		if (a->node != b->node || a->op != b->op || a->value != b->value)
			return false;
	}
	return !a && !b;
}

/* Whether a and b, reached by the same event, may share a state. */
static int may_share(struct rule_build *build, const struct edge *a, const struct edge *b)
{
	const struct position *x = a->target, *y = b->target;
	const struct pattern_node *alternative = pattern_shared_alternative(x, y);

	if (!x->plain || !y->plain || !same_tests(a->path.tests, b->path.tests))
		return explain_conflict(
			build, x, y, "alternatives begin with the same event",
			"they can share it only if it has no name, length or condition of its own; write it once, "
			"before the alternative");
	if (alternative && pattern_completes(x, alternative) && pattern_completes(y, alternative))
		return explain_conflict(build, x, y, "two alternatives are equal", "remove one of them");
	if (alternative && (pattern_completes(x, alternative) || pattern_completes(y, alternative)))
		return explain_conflict(
			build, x, y, "one alternative is the beginning of the other",
			"it is ambiguous whether to match at once or to wait; make the longer part optional or "
			"drop it");
	return 0;
}

static bool same_event(const struct merged_edge *a, const struct merged_edge *b)
{
	if (!a->edge.target || !b->edge.target || a->edge.overflow || b->edge.overflow)
		return false;
	if (a->edge.target->spec->type != b->edge.target->spec->type)
		return false;
	return a->origins[0] != b->origins[0] || (a->edge.group && a->edge.group == b->edge.group);
}

static bool has_step(const struct count_step *steps, const struct pattern_node *node)
{
	for (; steps; steps = steps->next) {
		if (steps->node == node)
			return true;
	}
	return false;
}

static int join_edges(struct rule_build *build, struct merged_edge *into, const struct merged_edge *other)
{
	int err = may_share(build, &into->edge, &other->edge);

	for (const struct count_step *step = other->edge.path.steps; step && !err; step = step->next) {
		struct count_step *copy;

		if (has_step(into->edge.path.steps, step->node))
			continue;
		copy = arena_zero(build->arena, 1, sizeof *copy);
		if (!copy)
			return -ENOMEM;
		*copy = *step;
		copy->next = into->edge.path.steps;
		into->edge.path.steps = copy;
	}
	if (err)
		return err;
	if (into->target_count == SET_MAX)
		return diag_error(build->unit->diag, &into->edge.target->spec->location, -E2BIG,
				  "more than %d alternatives begin with '%s'", SET_MAX,
				  into->edge.target->spec->type->name);
	into->origins[into->target_count] = other->origins[0];
	into->targets[into->target_count++] = other->edge.target;
	return 0;
}

static int merge(struct rule_build *build, struct merged_edge *all, size_t count, size_t *kept)
{
	*kept = 0;
	for (size_t i = 0; i < count; i++) {
		size_t twin = *kept;

		for (size_t j = 0; j < *kept && twin == *kept; j++) {
			if (same_event(&all[j], &all[i]))
				twin = j;
		}
		if (twin == *kept) {
			all[(*kept)++] = all[i];
			continue;
		}
		int err = join_edges(build, &all[twin], &all[i]);
		if (err)
			return err;
	}
	return 0;
}

int edges_merge(struct rule_build *build, const struct state *state, struct merged_edge **merged, size_t *count)
{
	uint32_t origins = state->position_count ? state->position_count : 1;
	struct merged_edge *all = NULL;
	size_t used = 0, capacity = 0;
	int err = 0;

	for (uint32_t i = 0; i < origins && !err; i++) {
		struct edges edges = { 0 };

		err = out_of(build, state, i, &edges);
		for (size_t j = 0; j < edges.count && !err; j++) {
			err = alloc_grow(&all, &capacity, used, sizeof *all);
			if (err)
				break;
			all[used++] = (struct merged_edge){
				.edge = edges.items[j],
				.origins = { state->position_count ? state->positions[i] : NULL },
				.targets = { edges.items[j].target },
				.target_count = 1,
			};
		}
		alloc_free(edges.items);
	}
	if (!err)
		err = merge(build, all, used, count);
	if (err) {
		alloc_free(all);
		return err;
	}
	*merged = all;
	return 0;
}
