// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what the negations in force in a state forbid. A negated structure is followed through all its ways at once:
 * a slot holds a bit for each of its positions that some way has come to. What completes it ends the run.
 */

#include "automaton/rule-priv.h"

#include <errno.h>

enum { INSIDE_MAX = 64 };

/* A position of a negated structure. */
struct inside {
	const struct position *position;
	bool first, last, goes_on;
	uint64_t before; /* bits of the positions that may come directly before it */
};

struct negated {
	const struct pattern_node *negation;
	const struct count_test *tests; /* in force when these hold */
	struct inside items[INSIDE_MAX];
	uint32_t count;
};

static int unsupported(struct rule_build *build, const struct pattern_node *negation, const char *what)
{
	return diag_error(build->unit->diag, &negation->source->place, -EINVAL, "%s", what);
}

static struct inside *find(struct rule_build *build, struct negated *negated, const struct position *position)
{
	for (uint32_t i = 0; i < negated->count; i++) {
		if (negated->items[i].position == position)
			return &negated->items[i];
	}
	if (negated->count == INSIDE_MAX) {
		rule_fail(build, unsupported(build, negated->negation, "a negation may hold at most 64 events"));
		return &negated->items[0];
	}
	negated->items[negated->count] = (struct inside){ .position = position };
	return &negated->items[negated->count++];
}

/* Notes the edges inside the negation out of position number from (UINT32_MAX: out of its start). */
static void explore(struct rule_build *build, struct negated *negated, uint32_t from)
{
	const struct position *position = from == UINT32_MAX ? NULL : negated->items[from].position;
	struct edges edges = { 0 };

	if (pattern_inside(&build->pattern, negated->negation, position, &edges))
		rule_fail(build, -ENOMEM);
	for (size_t i = 0; i < edges.count && !build->error; i++) {
		const struct edge *edge = &edges.items[i];

		if (edge->path.tests)
			rule_fail(build, unsupported(build, negated->negation, "a counted repeat cannot be negated"));
		if (!edge->target) {
			if (position)
				negated->items[from].last = true;
			continue;
		}
		struct inside *to = find(build, negated, edge->target);

		if (position) {
			negated->items[from].goes_on = true;
			to->before |= UINT64_C(1) << from;
		} else {
			to->first = true;
		}
	}
	alloc_free(edges.items);
}

static bool known(const struct negated *all, size_t count, const struct pattern_node *negation)
{
	for (size_t i = 0; i < count; i++) {
		if (all[i].negation == negation)
			return true;
	}
	return false;
}

/* The negations in force in state; the caller frees *all. */
static void in_force(struct rule_build *build, const struct state *state, struct negated **all, size_t *count)
{
	struct edges edges = { 0 };
	size_t capacity = 0;

	*all = NULL;
	*count = 0;
	for (uint32_t i = 0; i < state->position_count; i++) {
		if (state->open && state->positions[i]->node->eager)
			continue;
		if (pattern_follow(&build->pattern, state->positions[i], &edges))
			rule_fail(build, -ENOMEM);
	}
	for (size_t i = 0; i < edges.count && !build->error; i++) {
		for (const struct crossed *at = edges.items[i].path.crossed; at; at = at->next) {
			if (known(*all, *count, at->negation))
				continue;
			if (alloc_grow(all, &capacity, *count, sizeof **all)) {
				rule_fail(build, -ENOMEM);
				break;
			}
			struct negated *negated = &(*all)[(*count)++];
			*negated = (struct negated){ .negation = at->negation, .tests = at->tests };
			explore(build, negated, UINT32_MAX);
			for (uint32_t j = 0; j < negated->count && !build->error; j++)
				explore(build, negated, j);
		}
	}
	alloc_free(edges.items);
	if (*count && state->position_count > 1 && !build->error)
		rule_fail(build, unsupported(build, (*all)[0].negation,
					     "alternatives that begin with the same event cannot be told apart here, "
					     "directly before a negation"));
}

static uint32_t progress_slot(struct rule_build *build, const struct negated *negated)
{
	return slot_get(build, &(struct slot){
				       .purpose = SLOT_PROGRESS,
				       .what = negated->negation,
				       .kind = PROGRAM_U64,
				       .bytes = 8,
				       .name = "negated so far",
			       });
}

/* True where one of the positions before item has been come to; NONE where item may come first. */
static uint32_t begun(struct rule_build *build, const struct negated *negated, const struct inside *item)
{
	uint32_t word, mask;

	if (item->first)
		return PROGRAM_NONE;
	word = node_slot(build, progress_slot(build, negated));
	mask = node_const(build, PROGRAM_U64, item->before);
	return node_op(build, PROGRAM_OP_NE, PROGRAM_BOOL, node_op(build, PROGRAM_OP_AND, PROGRAM_U64, word, mask),
		       node_const(build, PROGRAM_U64, 0));
}

static bool is_strict(const struct rule_build *build)
{
	return build->rule->semantics == LANG_STRICT_SEQUENCE || build->rule->semantics == LANG_STRICT_PARTITION;
}

static void forbid(struct rule_build *build, uint32_t index, const struct negated *negated, const struct inside *item)
{
	struct place_in_pattern place = { .current = item->position->element };
	const struct lang_element *element = item->position->spec;
	struct draft *draft = states_draft(build, index, element->type);

	states_bound(build, &build->states[index], &place);
	draft->flags = PROGRAM_FORBID;
	draft->note = arena_format(build->arena, "%s%s%s is forbidden", element->type->name, element->name ? ":" : "",
				   element->name ? element->name : "");
	draft->fit = node_and(build, conditions_tests(build, negated->tests), begun(build, negated, item));
	conditions_fit(build, draft, &place, false);
}

void forbid_before(struct rule_build *build, uint32_t index)
{
	const struct state state = build->states[index];
	struct negated *all;
	size_t count;

	in_force(build, &state, &all, &count);
	for (size_t i = 0; i < count && !build->error; i++) {
		for (uint32_t j = 0; j < all[i].count; j++) {
			const struct inside *item = &all[i].items[j];

			/* Under the strict semantics a begun negation has already ended the run. */
			if (item->last && (item->first || !is_strict(build)))
				forbid(build, index, &all[i], item);
		}
	}
	alloc_free(all);
}

/*
 * Moves what draft's state waits for from own to draft: joins hold for all positions alike and can serve as a key; the
 * rest is the position's own. Returns the condition under which the event is the position's.
 */
static uint32_t condition_of(struct rule_build *build, struct draft *draft, const struct draft *own)
{
	uint32_t fit = own->fit;

	for (uint32_t i = 0; i < own->equality_count; i++) {
		const struct equality *equality = &own->equalities[i];
		struct program_node field = {
			.op = PROGRAM_OP_FIELD, .depth = 1, .a = equality->field, .b = PROGRAM_NONE
		};
		bool there = false;

		if (build->slots[equality->slot].purpose == SLOT_JOIN) {
			for (uint32_t k = 0; k < draft->equality_count; k++)
				there |= draft->equalities[k].slot == equality->slot;
			if (!there)
				draft->equalities[draft->equality_count++] = *equality;
			continue;
		}
		field.kind = build->slots[equality->slot].kind;
		uint32_t left = program_build_add(build->unit->out, PROGRAM_NODES, &field, 1);

		fit = node_and(build, fit,
			       node_op(build, PROGRAM_OP_EQ, PROGRAM_BOOL, left, node_slot(build, equality->slot)));
	}
	return fit;
}

/* The bit of position number j of negated if the event is that position's now, else 0. */
static uint32_t advance(struct rule_build *build, const struct state *state, const struct negated *negated, uint32_t j,
			struct draft *draft)
{
	const struct inside *item = &negated->items[j];
	struct place_in_pattern place = { .current = item->position->element };
	struct draft own = { .type = draft->type, .fit = begun(build, negated, item) };
	uint32_t bit;

	own.fit = node_and(build, conditions_tests(build, negated->tests), own.fit);
	states_bound(build, state, &place);
	conditions_fit(build, &own, &place, false);
	own.fit = condition_of(build, draft, &own);
	if (own.fit == PROGRAM_NONE)
		return node_const(build, PROGRAM_U64, UINT64_C(1) << j);
	bit = node_op(build, PROGRAM_OP_CONVERT, PROGRAM_U64, own.fit, PROGRAM_NONE);
	return node_op(build, PROGRAM_OP_SHL, PROGRAM_U64, bit, node_const(build, PROGRAM_U64, j));
}

static bool moves(const struct negated *negated, uint32_t j, const struct event_type *type)
{
	return negated->items[j].goes_on && negated->items[j].position->spec->type == type;
}

/* The one transition by which events of type move the negations on. */
static void progress(struct rule_build *build, uint32_t index, const struct negated *all, size_t count,
		     const struct event_type *type)
{
	const struct state state = build->states[index];
	struct draft *draft = states_draft(build, index, type);
	struct program_action actions[INSIDE_MAX];
	uint32_t used = 0;

	draft->flags = PROGRAM_IN_PLACE;
	draft->target = index;
	draft->note = arena_format(build->arena, "%s may begin what is forbidden", type->name);
	for (size_t i = 0; i < count && used < INSIDE_MAX; i++) {
		uint32_t slot = PROGRAM_NONE, word = PROGRAM_NONE;

		for (uint32_t j = 0; j < all[i].count; j++) {
			if (!moves(&all[i], j, type))
				continue;
			slot = progress_slot(build, &all[i]);
			if (word == PROGRAM_NONE)
				word = node_slot(build, slot);
			word = node_op(build, PROGRAM_OP_OR, PROGRAM_U64, word,
				       advance(build, &state, &all[i], j, draft));
		}
		if (slot != PROGRAM_NONE)
			actions[used++] = (struct program_action){ .op = PROGRAM_SET, .slot = slot, .node = word };
	}
	draft->first_action = program_build_add(build->unit->out, PROGRAM_ACTIONS, actions, used);
	draft->action_count = used;
}

static bool has_progress(const struct state *state, const struct event_type *type)
{
	for (size_t i = 0; i < state->draft_count; i++) {
		if (state->drafts[i].type == type && state->drafts[i].flags & PROGRAM_IN_PLACE)
			return true;
	}
	return false;
}

void forbid_after(struct rule_build *build, uint32_t index)
{
	const struct state state = build->states[index];
	struct negated *all;
	size_t count;

	if (is_strict(build))
		return;
	in_force(build, &state, &all, &count);
	for (size_t i = 0; i < count && !build->error; i++) {
		for (uint32_t j = 0; j < all[i].count; j++) {
			const struct event_type *type = all[i].items[j].position->spec->type;

			if (all[i].items[j].goes_on && !has_progress(&build->states[index], type))
				progress(build, index, all, count, type);
		}
	}
	alloc_free(all);
}

void forbid_reset(struct rule_build *build, const struct state *target, struct draft *draft)
{
	struct negated *all;
	size_t count;

	if (is_strict(build))
		return;
	in_force(build, target, &all, &count);
	for (size_t i = 0; i < count && !build->error; i++) {
		bool goes_on = false;

		for (uint32_t j = 0; j < all[i].count; j++)
			goes_on |= all[i].items[j].goes_on;
		if (!goes_on)
			continue;
		struct program_action action = { .op = PROGRAM_SET, .slot = progress_slot(build, &all[i]) };

		action.node = node_const(build, PROGRAM_U64, 0);
		uint32_t added = program_build_add(build->unit->out, PROGRAM_ACTIONS, &action, 1);
		if (!draft->action_count++)
			draft->first_action = added;
	}
	alloc_free(all);
}
