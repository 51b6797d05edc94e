// SPDX-License-Identifier: BSD-2-Clause
/* Builds the states of a rule and the targets of their transitions. */

#include "automaton/rule/rule-priv.h"

#include <errno.h>
#include <string.h>

static bool same_state(const struct state *a, const struct state *b)
{
	return a->position_count == b->position_count && a->open == b->open && a->deadline == b->deadline &&
	       !memcmp(a->positions, b->positions, a->position_count * sizeof a->positions[0]);
}

uint32_t states_find(struct rule_build *build, const struct state *wanted)
{
	for (size_t i = 1; i < build->state_count; i++) {
		if (same_state(&build->states[i], wanted))
			return (uint32_t)i;
	}
	if (build->state_count == STATES_MAX) {
		if (!build->error)
			diag_error(build->unit->diag, &build->rule->location, 0, "rule '%s' needs more than %d states",
				   build->rule->name, STATES_MAX);
		rule_fail(build, -E2BIG);
		return 0;
	}
	if (alloc_grow(&build->states, &build->state_capacity, build->state_count, sizeof *build->states)) {
		rule_fail(build, -ENOMEM);
		return 0;
	}
	build->states[build->state_count] = *wanted;
	return (uint32_t)build->state_count++;
}

struct pending_transition *states_pending(struct rule_build *build, uint32_t index, const struct event_type *type)
{
	struct state *state = &build->states[index];

	if (alloc_grow(&state->pending, &state->pending_capacity, state->pending_count, sizeof *state->pending)) {
		rule_fail(build, -ENOMEM);
		build->nowhere = (struct pending_transition){ .type = type };
		return &build->nowhere;
	}
	struct pending_transition *pending = &state->pending[state->pending_count++];
	*pending = (struct pending_transition){
		.type = type,
		.fit = PROGRAM_NONE,
		.hold = PROGRAM_NONE,
		.target = PROGRAM_TARGET_END,
		.element = PROGRAM_NONE,
	};
	return pending;
}

void states_bound(const struct rule_build *build, const struct state *state, struct pattern_point *point)
{
	uint32_t words = build->pattern.set_words;
	uint64_t *may, *must;

	point->may = point->must = NULL;
	if (!state->position_count)
		return;
	if (state->position_count == 1) {
		point->may = state->positions[0]->may;
		point->must = state->positions[0]->must;
		return;
	}
	may = arena_zero(build->arena, words, sizeof *may);
	must = arena_zero(build->arena, words, sizeof *must);
	for (uint32_t i = 0; may && must && i < words; i++) {
		must[i] = ~UINT64_C(0);
		for (uint32_t j = 0; j < state->position_count; j++) {
			may[i] |= state->positions[j]->may[i];
			must[i] &= state->positions[j]->must[i];
		}
	}
	point->may = may;
	point->must = must;
}

/* What a run in state has bound once it goes along edge: a group that begins or comes round forgets its last round. */
static void bound_along(struct rule_build *build, const struct state *state, const struct edge *edge,
			struct pattern_point *point)
{
	uint32_t words = build->pattern.set_words;
	uint64_t *sets;

	states_bound(build, state, point);
	if (!point->may || !edge->path.steps)
		return;
	sets = arena_zero(build->arena, 2 * words, sizeof *sets);
	if (!sets) {
		rule_fail(build, -ENOMEM);
		return;
	}
	memcpy(sets, point->may, words * sizeof *sets);
	memcpy(sets + words, point->must, words * sizeof *sets);
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (step->node->position)
			continue;
		pattern_unbind(step->node, sets);
		pattern_unbind(step->node, sets + words);
	}
	point->may = sets;
	point->must = sets + words;
}

/* Where an edge may land, and under which further tests (on the counters as they are before the edge). */
struct destination {
	struct state state;
	bool matches;
	const struct count_test *tests;
	struct destination *otherwise;
	bool never; /* the tests are false whatever the counters are */
};

static struct count_test *test_before(struct rule_build *build, const struct edge *edge, const struct count_test *after,
				      bool *never)
{
	struct count_test *test = arena_zero(build->arena, 1, sizeof *test);

	if (!test) {
		rule_fail(build, -ENOMEM);
		return NULL;
	}
	*test = *after;
	test->next = NULL;
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (step->node != after->node)
			continue;
		if (!step->begins) {
			test->value--;
			return test;
		}
		*never |= after->value > 1;
		return NULL;
	}
	return test;
}

/* What complete means at target: matched, or waiting for the deadline where negations are crossed. */
static void land_complete(struct rule_build *build, const struct merged_edge *merged, struct destination *destination)
{
	struct edges follow = { 0 };
	const struct edge *complete = NULL;

	if (pattern_follow(&build->pattern, merged->targets[0], &follow))
		rule_fail(build, -ENOMEM);
	for (size_t i = 0; i < follow.count && !complete; i++) {
		if (!follow.items[i].target)
			complete = &follow.items[i];
	}
	if (complete) {
		struct destination *plain = arena_zero(build->arena, 1, sizeof *plain);
		bool never = false;

		if (!plain) {
			rule_fail(build, -ENOMEM);
			goto out;
		}
		*plain = *destination;
		for (const struct count_test *test = complete->path.tests; test; test = test->next) {
			struct count_test *before = test_before(build, &merged->edge, test, &never);

			if (before) {
				before->next = destination->tests;
				destination->tests = before;
			}
		}
		destination->never = never;
		destination->otherwise = never || destination->tests ? plain : NULL;
		destination->matches = !complete->path.passed;
		destination->state.deadline = complete->path.passed != NULL;
	}
out:
	alloc_free(follow.items);
}

static struct destination *land(struct rule_build *build, const struct merged_edge *merged)
{
	const struct pattern_node *node = merged->targets[0]->node;
	struct destination *destination = arena_zero(build->arena, 1, sizeof *destination), *open;
	struct count_test last = { .node = node, .op = COUNT_AT_LEAST, .value = node->min > 1 ? node->min : 1 };
	bool never = false;

	if (!destination) {
		rule_fail(build, -ENOMEM);
		return NULL;
	}
	destination->state.position_count = merged->target_count;
	memcpy(destination->state.positions, merged->targets, merged->target_count * sizeof merged->targets[0]);
	if (node->source->kind != LANG_SPEC || !node->repeats) {
		land_complete(build, merged, destination);
		return destination;
	}
	if (!node->eager) {
		destination->state.open = true;
		return destination;
	}
	open = arena_zero(build->arena, 1, sizeof *open);
	if (!open) {
		rule_fail(build, -ENOMEM);
		return NULL;
	}
	*open = *destination;
	open->state.open = true;
	land_complete(build, merged, destination);
	struct count_test *closes = test_before(build, &merged->edge, &last, &never);
	if (never)
		return open;
	if (closes) {
		struct destination *inner = destination->otherwise;

		closes->next = destination->tests;
		destination->tests = closes;
		destination->otherwise = open;
		/* Closed but not complete for an outer count: told apart by the closing test alone. */
		if (inner) {
			struct count_test *again = arena_zero(build->arena, 1, sizeof *again);

			if (!again) {
				rule_fail(build, -ENOMEM);
				return NULL;
			}
			*again = (struct count_test){ .node = closes->node, .op = closes->op, .value = closes->value };
			inner->tests = again;
			inner->otherwise = open;
			destination->otherwise = inner;
		}
	}
	return destination;
}

static const char *with_element_name(struct rule_build *build, const struct lang_element *element, const char *what)
{
	return arena_format(build->arena, "%s%s%s%s", element->type->name, element->name ? ":" : "",
			    element->name ? element->name : "", what);
}

static void set_joins(struct rule_build *build, struct pending_transition *pending, uint32_t element)
{
	for (uint32_t i = 0; i < build->rule->join_count; i++) {
		const struct event_field *field = build->rule->joins[i].fields[element];
		uint32_t slot = slots_join(build, i), node = node_field(build, pending->type, field);
		struct program_action action = { .op = PROGRAM_SET, .slot = slot };

		if (unit_kind(field->value) != build->slots[slot].kind)
			node = node_op(build, PROGRAM_OP_CONVERT, build->slots[slot].kind, node, PROGRAM_NONE);
		action.node = node;
		uint32_t index = program_build_add(build->unit->out, PROGRAM_ACTIONS, &action, 1);
		if (!pending->action_count++)
			pending->first_action = index;
	}
}

/* Whether edge adds an event to the array that collects in state, rather than closing it. */
static bool collects(const struct state *state, const struct edge *edge)
{
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		if (state->open && !step->begins && step->node == state->positions[0]->node)
			return true;
	}
	return false;
}

/* Whether a group around position begins another round along edge: what its round has stored is then overwritten. */
static bool renews(const struct position *position, const struct edge *edge)
{
	for (const struct count_step *step = edge->path.steps; step; step = step->next) {
		const struct pattern_node *node = position->node;

		while (node && node != step->node)
			node = node->parent;
		if (node)
			return true;
	}
	return false;
}

/* The relations that are decided when edge closes the array that collects in state index. */
static uint32_t closing(struct rule_build *build, uint32_t index, const struct edge *edge)
{
	const struct state *state = &build->states[index];
	struct pattern_point point = { .current = PROGRAM_NONE };

	if (!state->open || collects(state, edge))
		return PROGRAM_NONE;
	states_bound(build, state, &point);
	return conditions_relations(build, &point, state->positions[0]->element);
}

/* The transition of merged from state index that ends in destination. */
static struct pending_transition *transition(struct rule_build *build, uint32_t index, const struct merged_edge *merged,
					     const struct destination *destination)
{
	const struct edge *edge = &merged->edge;
	bool opens = index == 0,
	     context = destination->state.deadline || (destination->matches && build->wants_context);
	struct pattern_point point = { .current = edge->target->element };
	uint32_t target = destination->matches ? PROGRAM_TARGET_MATCH : states_find(build, &destination->state);
	const struct state from = build->states[index];
	struct pending_transition *pending = states_pending(build, index, edge->target->spec->type);

	bound_along(build, &from, edge, &point);
	pending->target = target;
	pending->element = edge->target->element;
	pending->note =
		with_element_name(build, edge->target->spec, destination->matches ? " completes the pattern" : "");
	pending->fit =
		node_and(build, conditions_tests(build, edge->path.tests), conditions_tests(build, destination->tests));
	conditions_fit(build, pending, &point, opens);
	if (from.position_count > 1 && !forbid_edge(build, &from, merged, pending))
		pending->fit = node_const(build, PROGRAM_BOOL, 0);
	if (opens)
		set_joins(build, pending, edge->target->element);
	if (opens)
		actions_opener(build, pending);
	actions_take(build, pending, edge, context);
	if (!opens && target != PROGRAM_TARGET_MATCH)
		forbid_begin(build, &from, merged, &destination->state, pending);
	if (!destination->state.open)
		pending->hold = conditions_relations(build, &point, edge->target->element);
	return pending;
}

/*
 * The transitions for it. What a transition must hold is judged after its actions, so relations of a round whose values
 * the event overwrites must be judged before: one transition where they are true, a second one, which does not hold,
 * where they are not.
 */
static void take_edge(struct rule_build *build, uint32_t index, const struct merged_edge *merged,
		      const struct destination *destination)
{
	uint32_t relations = closing(build, index, &merged->edge);
	struct pending_transition *pending = transition(build, index, merged, destination);

	if (relations == PROGRAM_NONE)
		return;
	if (!renews(build->states[index].positions[0], &merged->edge)) {
		pending->hold = node_and(build, relations, pending->hold);
		return;
	}
	pending->fit = node_and(build, pending->fit, relations);
	pending = transition(build, index, merged, destination);
	pending->hold = node_const(build, PROGRAM_BOOL, 0);
}

/* One event too many for a repeat that holds its maximum: the run ends; under SKIPTILLANY it is passed over. */
static void overflow(struct rule_build *build, uint32_t index, const struct edge *edge)
{
	struct pattern_point point = { .current = edge->target->element };
	struct pending_transition *pending;

	if (build->rule->semantics == LANG_SKIP_TILL_ANY)
		return;
	bound_along(build, &build->states[index], edge, &point);
	pending = states_pending(build, index, edge->target->spec->type);
	pending->note = with_element_name(build, edge->target->spec, " is one too many");
	pending->fit = conditions_tests(build, edge->path.tests);
	conditions_fit(build, pending, &point, false);
}

static int expand(struct rule_build *build, uint32_t index)
{
	struct merged_edge *merged = NULL;
	size_t count = 0;
	struct state state = build->states[index];
	int err = edges_merge(build, &state, &merged, &count);

	if (err)
		return err;
	if (index)
		forbid_before(build, index);
	for (size_t i = 0; i < count && !build->error; i++) {
		if (!merged[i].edge.target)
			continue;
		if (merged[i].edge.overflow) {
			overflow(build, index, &merged[i].edge);
			continue;
		}
		for (struct destination *at = land(build, &merged[i]); at; at = at->otherwise) {
			if (!at->never)
				take_edge(build, index, &merged[i], at);
		}
	}
	if (index)
		forbid_after(build, index);
	alloc_free(merged);
	return build->error;
}

int states_build(struct rule_build *build)
{
	int err;

	if (alloc_grow(&build->states, &build->state_capacity, 0, sizeof *build->states))
		return -ENOMEM;
	build->states[0] = (struct state){ .class = PROGRAM_NONE };
	build->state_count = 1;
	for (uint32_t i = 0; i < build->state_count; i++) {
		err = expand(build, i);
		if (err)
			return err;
	}
	return 0;
}
