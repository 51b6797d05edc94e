// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the edges of the position automaton: what may come after a position. The order of the edges is the order in
 * which an event tries them; it settles what the language settles by "closes at the first event that fits its
 * follower": followers come before another round. Edges that no order settles get a common group.
 */

#include "automaton/rule/pattern-priv.h"

#include <errno.h>

struct walk {
	const struct pattern *pattern;
	struct edges *edges;
	bool all;                         /* what may begin is entered though it is eager */
	const struct pattern_node *limit; /* do not leave this node; completing it completes the walk */
	bool overflows;
};

static void enter_node(struct walk *walk, const struct pattern_node *node, struct path path);
static void complete(struct walk *walk, const struct pattern_node *node, struct path path);

static void put_edge(struct walk *walk, struct position *target, struct path path)
{
	struct edges *edges = walk->edges;

	if (alloc_grow(&edges->items, &edges->capacity, edges->count, sizeof *edges->items)) {
		edges->failed = true;
		return;
	}
	edges->items[edges->count++] = (struct edge){ .target = target, .path = path, .overflow = walk->overflows };
}

static struct path with_test(struct walk *walk, struct path path, const struct pattern_node *node, enum count_op op,
			     uint64_t value)
{
	struct count_test *test = arena_zero(walk->pattern->arena, 1, sizeof *test);

	if (!test) {
		walk->edges->failed = true;
		return path;
	}
	*test = (struct count_test){ .next = path.tests, .node = node, .op = op, .value = value };
	path.tests = test;
	return path;
}

static struct path with_step(struct walk *walk, struct path path, const struct pattern_node *node, bool begins)
{
	struct count_step *step = arena_zero(walk->pattern->arena, 1, sizeof *step);

	if (!step) {
		walk->edges->failed = true;
		return path;
	}
	*step = (struct count_step){ .next = path.steps, .node = node, .begins = begins };
	path.steps = step;
	return path;
}

static struct path with_negation(struct walk *walk, struct path path, const struct pattern_node *negation)
{
	struct passed_negation *passed = arena_zero(walk->pattern->arena, 1, sizeof *passed);

	if (!passed) {
		walk->edges->failed = true;
		return path;
	}
	*passed = (struct passed_negation){ .next = path.passed, .negation = negation, .tests = path.tests };
	path.passed = passed;
	return path;
}

/* The children of sequence from index on. fresh: none of its events has come yet in this round. */
static void rest(struct walk *walk, const struct pattern_node *sequence, uint32_t index, struct path path, bool fresh)
{
	for (; index < sequence->child_count; index++) {
		if (sequence->children[index]->source->kind != LANG_NEGATION)
			break;
		path = with_negation(walk, path, sequence->children[index]);
	}
	if (walk->edges->failed)
		return;
	if (index == sequence->child_count) {
		if (!fresh)
			complete(walk, sequence, path);
		return;
	}
	const struct pattern_node *child = sequence->children[index];

	if (child->nullable)
		rest(walk, sequence, index + 1, path, fresh);
	if (!(child->nullable && child->eager && !walk->all))
		enter_node(walk, child, path);
}

/* One round of node begins. */
static void enter_body(struct walk *walk, const struct pattern_node *node, struct path path)
{
	size_t first = walk->edges->count;

	if (node->unrolled) {
		enter_node(walk, node->children[0], path);
		return;
	}
	switch (node->source->kind) {
	case LANG_SPEC:
		put_edge(walk, node->position, path);
		break;
	case LANG_SEQUENCE:
		rest(walk, node, 0, path, true);
		break;
	case LANG_ALTERNATIVE:
		for (uint32_t i = 0; i < node->child_count; i++)
			enter_node(walk, node->children[i], path);
		for (size_t i = first; i < walk->edges->count; i++) {
			for (size_t j = i + 1; j < walk->edges->count && !walk->all; j++) {
				struct edge *a = &walk->edges->items[i], *b = &walk->edges->items[j];

				if (a->target->spec->type != b->target->spec->type || a->overflow != b->overflow)
					continue;
				if (pattern_shared_alternative(a->target, b->target) != node)
					continue;
				if (!a->group)
					a->group = ++walk->edges->groups;
				b->group = a->group;
			}
		}
		break;
	case LANG_NEGATION:
		break;
	}
}

static void enter_node(struct walk *walk, const struct pattern_node *node, struct path path)
{
	if (node->repeats)
		path = with_step(walk, path, node, true);
	enter_body(walk, node, path);
}

static void after(struct walk *walk, const struct pattern_node *node, struct path path);

/* A round of the unrolled node is done, the one that its child index stands for. */
static void after_round(struct walk *walk, const struct pattern_node *node, uint32_t index, struct path path)
{
	uint64_t done = index + 1, need = node->min > 1 ? node->min : 1;
	bool closes = node->eager && done >= need;

	if (done >= node->min)
		after(walk, node, path);
	if (!closes && done < node->child_count)
		enter_node(walk, node->children[done], with_step(walk, path, node, false));
	else if (!closes && node->max == LANG_UNBOUNDED)
		enter_node(walk, node->children[index], with_step(walk, path, node, false));
	if (walk->all || node->eager || walk->overflows || done != node->max)
		return;
	walk->overflows = true;
	enter_node(walk, node->children[0], path);
	walk->overflows = false;
}

/* All rounds of node are done. */
static void after(struct walk *walk, const struct pattern_node *node, struct path path)
{
	if (walk->edges->failed)
		return;
	if (node == walk->limit || !node->parent)
		put_edge(walk, NULL, path);
	else if (node->parent->unrolled)
		after_round(walk, node->parent, node->index, path);
	else if (node->parent->source->kind == LANG_SEQUENCE)
		rest(walk, node->parent, node->index + 1, path, false);
	else if (node->parent->source->kind == LANG_ALTERNATIVE)
		complete(walk, node->parent, path);
	else
		put_edge(walk, NULL, path);
}

static void go_round(struct walk *walk, const struct pattern_node *node, struct path path)
{
	uint64_t max = node->eager ? (node->min > 1 ? node->min : 1) : node->max;
	struct path again = path;

	if (max > 1) {
		if (node->counted && max != LANG_UNBOUNDED)
			again = with_test(walk, again, node, COUNT_LESS, max);
		enter_body(walk, node, with_step(walk, again, node, false));
	}
	if (walk->all || node->eager || node->max == LANG_UNBOUNDED || walk->overflows)
		return;
	if (node->counted)
		path = with_test(walk, path, node, COUNT_IS, node->max);
	walk->overflows = true;
	enter_body(walk, node, path);
	walk->overflows = false;
}

/* One round of node is done: leave it if its count may, or go round. */
static void complete(struct walk *walk, const struct pattern_node *node, struct path path)
{
	struct path leaving = path;

	if (!node->repeats) {
		after(walk, node, path);
		return;
	}
	if (node->counted && node->min > 1)
		leaving = with_test(walk, leaving, node, COUNT_AT_LEAST, node->min);
	after(walk, node, leaving);
	go_round(walk, node, path);
}

/* An event that is one too many is so only where nothing else wants it: those edges go last. */
static int walked(struct walk *walk)
{
	struct edges *edges = walk->edges;
	size_t kept = 0;

	if (edges->failed)
		return -ENOMEM;
	for (size_t i = 0; i < edges->count; i++) {
		struct edge edge = edges->items[i];

		if (edge.overflow)
			continue;
		for (size_t j = i; j > kept; j--)
			edges->items[j] = edges->items[j - 1];
		edges->items[kept++] = edge;
	}
	return 0;
}

int pattern_first(const struct pattern *pattern, struct edges *edges)
{
	struct walk walk = { .pattern = pattern, .edges = edges };

	enter_node(&walk, pattern->root, (struct path){ 0 });
	return walked(&walk);
}

int pattern_follow(const struct pattern *pattern, const struct position *position, struct edges *edges)
{
	struct walk walk = { .pattern = pattern, .edges = edges };

	if (position->node->repeats && position->node->eager)
		after(&walk, position->node, (struct path){ 0 });
	else
		complete(&walk, position->node, (struct path){ 0 });
	return walked(&walk);
}

int pattern_beyond(const struct pattern *pattern, const struct position *position, struct edges *edges)
{
	struct walk walk = { .pattern = pattern, .edges = edges };

	for (const struct pattern_node *node = position->node; node; node = node->parent) {
		const struct pattern_node *group = node->parent;
		struct path path = { 0 };

		if (group && group->unrolled && group->guarded && !group->eager && node->index >= group->min)
			after(&walk, group, path);
		if (!node->guarded || node->unrolled || node->eager || node->max <= node->min)
			continue;
		if (node->min)
			path = with_test(&walk, path, node, COUNT_AT_LEAST, node->min + 1);
		after(&walk, node, path);
	}
	return walked(&walk);
}

int pattern_inside(const struct pattern *pattern, const struct pattern_node *negation, const struct position *from,
		   struct edges *edges)
{
	const struct pattern_node *body = negation->children[0];
	struct walk walk = { .pattern = pattern, .edges = edges, .all = true, .limit = body };

	if (from)
		complete(&walk, from->node, (struct path){ 0 });
	else
		enter_node(&walk, body, (struct path){ 0 });
	return walked(&walk);
}

/* The set of types that may begin node, as edges out of a walk that stays inside. */
static int begins_with(const struct pattern *pattern, const struct pattern_node *node, struct edges *edges)
{
	struct walk walk = { .pattern = pattern, .edges = edges, .all = true, .limit = node };

	enter_body(&walk, node, (struct path){ 0 });
	return walked(&walk);
}

/* Whether nothing more needs to come along edge, or nothing tells what comes from one of first. */
static bool is_reason(const struct pattern *pattern, const struct edges *first, const struct edge *edge)
{
	if (!edge->target)
		return true;
	if (pattern_has_guard(pattern->rule, edge->target->element))
		return false;
	for (size_t i = 0; i < first->count; i++) {
		if (first->items[i].target && first->items[i].target->spec->type == edge->target->spec->type)
			return true;
	}
	return false;
}

static bool is_node_within(const struct pattern_node *node, const struct pattern_node *group)
{
	while (node && node != group)
		node = node->parent;
	return node != NULL;
}

/* The repeat that another round of begins along edge. */
static const struct pattern_node *node_gone_round(const struct edge *edge)
{
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (!step->begins)
			return step->node;
	}
	return NULL;
}

/* Whether a repeat whose ways on are follow would be eager in some rounds only of group, which share positions. */
static bool rounds_differ(const struct pattern *pattern, const struct pattern_node *group, const struct edges *first,
			  const struct edges *follow)
{
	uint64_t need = group->min > 1 ? group->min : 1, most = group->eager ? need : group->max;
	bool again = false, out = false;

	for (size_t i = 0; i < follow->count; i++) {
		const struct edge *edge = &follow->items[i];
		const struct pattern_node *round = node_gone_round(edge);

		if (!is_reason(pattern, first, edge))
			continue;
		if (round == group)
			again = true;
		else if (edge->target && is_node_within(edge->target->node, group) &&
			 (!round || is_node_within(round, group)))
			return false; /* in every round */
		else
			out = true;
	}
	/* Only its last round cannot go again; only one before its minimum cannot leave. */
	return again != out && (again ? most != LANG_UNBOUNDED : need > 1);
}

static int note_group(struct pattern *pattern, const struct noted **list, const struct pattern_node *group)
{
	struct noted *noted;

	if (pattern_is_noted(*list, group->source))
		return 0;
	noted = arena_zero(pattern->arena, 1, sizeof *noted);
	if (!noted)
		return -ENOMEM;
	*noted = (struct noted){ .next = *list, .source = group->source };
	*list = noted;
	return 0;
}

/* Eager: nothing positive needs to follow, or what follows may be of the same type and nothing tells them apart. */
static int decide(struct pattern *pattern, struct pattern_node *node)
{
	struct edges first = { 0 }, follow = { 0 };
	struct walk walk = { .pattern = pattern, .edges = &follow, .all = true };
	int err = begins_with(pattern, node, &first);

	if (!err) {
		after(&walk, node, (struct path){ 0 });
		err = walked(&walk);
	}
	for (size_t i = 0; !err && i < follow.count && !node->eager; i++)
		node->eager = is_reason(pattern, &first, &follow.items[i]);
	for (size_t i = 0; !err && i < follow.count && !node->position; i++) {
		if (follow.items[i].path.passed)
			err = note_group(pattern, &pattern->guarded, node);
	}
	for (const struct pattern_node *group = node->parent; group && !err; group = group->parent) {
		if (group->repeats && !group->unrolled && rounds_differ(pattern, group, &first, &follow))
			err = note_group(pattern, &pattern->uneven, group);
	}
	alloc_free(first.items);
	alloc_free(follow.items);
	return err;
}

static int decide_below(struct pattern *pattern, struct pattern_node *node)
{
	int err = 0;

	if (node->source->kind == LANG_NEGATION)
		return 0;
	if (node->repeats)
		err = decide(pattern, node);
	for (uint32_t i = 0; i < node->child_count && !err; i++)
		err = decide_below(pattern, node->children[i]);
	return err;
}

int pattern_decide_eager(struct pattern *pattern)
{
	return decide_below(pattern, pattern->root);
}
