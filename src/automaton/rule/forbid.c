// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiles the negations in force in a state to transitions that end the run. A negated structure is followed through
 * all its ways at once: a slot holds a bit for each of its positions that some way has come to. What completes it ends
 * the run.
 */

#include "automaton/rule/rule-priv.h"

#include <errno.h>

enum { INSIDE_MAX = 64 };

/* A position of a negated structure. */
struct inside {
	const struct position *position;
	bool first, last, goes_on;
	uint64_t before; /* bits of the positions that may come directly before it */
};

struct negated {
	const struct position *owner; /* in force after this position */
	const struct pattern_node *negation;
	uint32_t when; /* node: in force when this is true; NONE: always */
	struct inside items[INSIDE_MAX];
	uint32_t count;
};

static int unsupported(struct rule_build *build, const struct pattern_node *negation, const char *what)
{
	return diag_error(build->unit->diag, &negation->source->location, -EINVAL, "%s", what);
}

static struct inside *find_inside(struct rule_build *build, struct negated *negated, const struct position *position)
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
		struct inside *to = find_inside(build, negated, edge->target);

		if (position) {
			negated->items[from].goes_on = true;
			to->before |= UINT64_C(1) << from;
		} else {
			to->first = true;
		}
	}
	alloc_free(edges.items);
}

static struct negated *known(struct negated *all, size_t count, const struct position *owner,
			     const struct pattern_node *negation)
{
	for (size_t i = 0; i < count; i++) {
		if (all[i].owner == owner && all[i].negation == negation)
			return &all[i];
	}
	return NULL;
}

/* Negations on their way into a list. */
struct listing {
	struct negated *items;
	size_t count, capacity;
};

/* Adds the negation that an edge crosses after owner, or that it is in force there also when this edge says so. */
static void list_negation(struct rule_build *build, struct listing *all, const struct position *owner,
			  const struct passed_negation *at)
{
	uint32_t when = conditions_tests(build, at->tests);
	struct negated *negated = known(all->items, all->count, owner, at->negation);

	if (negated) {
		negated->when = negated->when == PROGRAM_NONE || when == PROGRAM_NONE
					? PROGRAM_NONE
					: node_or(build, negated->when, when);
		return;
	}
	if (alloc_grow(&all->items, &all->capacity, all->count, sizeof *all->items)) {
		rule_fail(build, -ENOMEM);
		return;
	}
	negated = &all->items[all->count++];
	*negated = (struct negated){ .owner = owner, .negation = at->negation, .when = when };
	explore(build, negated, UINT32_MAX);
	for (uint32_t i = 0; i < negated->count && !build->error; i++)
		explore(build, negated, i);
}

/* Adds the negations in force after owner; closed: its own event, or the last one of an array, has come. */
static void in_force_after(struct rule_build *build, const struct position *owner, bool closed, struct listing *all)
{
	struct edges edges = { 0 };

	if (pattern_beyond(&build->pattern, owner, &edges) ||
	    (closed && pattern_follow(&build->pattern, owner, &edges)))
		rule_fail(build, -ENOMEM);
	for (size_t i = 0; i < edges.count; i++) {
		for (const struct passed_negation *at = edges.items[i].path.passed; at && !build->error; at = at->next)
			list_negation(build, all, owner, at);
	}
	alloc_free(edges.items);
}

/* The negations in force in state; the caller frees the items. */
static struct listing in_force(struct rule_build *build, const struct state *state)
{
	struct listing all = { 0 };

	for (uint32_t i = 0; i < state->position_count; i++)
		in_force_after(build, state->positions[i], !state->open || !state->positions[i]->node->eager, &all);
	return all;
}

static uint32_t progress_slot(struct rule_build *build, const struct negated *negated)
{
	return slots_get(build, &(struct slot){
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

/* Whether the event that is item completes what is forbidden. Strictly, what began has already ended the run. */
static bool completes(const struct rule_build *build, const struct inside *item)
{
	return item->last && (item->first || !is_strict(build));
}

static void forbid(struct rule_build *build, uint32_t index, const struct negated *negated, const struct inside *item)
{
	struct pattern_point point = { .current = item->position->element };
	const struct lang_element *element = item->position->spec;
	struct pending_transition *pending = states_pending(build, index, element->type);

	states_bound(build, &build->states[index], &point);
	pending->flags = PROGRAM_FORBID;
	pending->note = arena_format(build->arena, "%s%s%s is forbidden", element->type->name, element->name ? ":" : "",
				     element->name ? element->name : "");
	pending->fit = node_and(build, negated->when, begun(build, negated, item));
	conditions_fit(build, pending, &point, false);
}

void forbid_before(struct rule_build *build, uint32_t index)
{
	const struct state state = build->states[index];
	struct listing all;

	if (state.position_count > 1)
		return;
	all = in_force(build, &state);
	for (size_t i = 0; i < all.count && !build->error; i++) {
		const struct negated *negated = &all.items[i];

		for (uint32_t j = 0; j < negated->count; j++) {
			if (completes(build, &negated->items[j]))
				forbid(build, index, negated, &negated->items[j]);
		}
	}
	alloc_free(all.items);
}

/*
 * Moves what the pending transition's state waits for from own to the pending transition: joins hold for all positions
 * alike and can serve as a key; the rest is the position's own. Returns the condition under which the event is the
 * position's.
 */
static uint32_t condition_of(struct rule_build *build, struct pending_transition *pending,
			     const struct pending_transition *own)
{
	uint32_t fit = own->fit;

	for (uint32_t i = 0; i < own->equality_count; i++) {
		const struct equality *equality = &own->equalities[i];
		struct program_node field = {
			.op = PROGRAM_OP_FIELD, .depth = 1, .a = equality->field, .b = PROGRAM_NONE
		};
		bool there = false;

		if (build->slots[equality->slot].purpose == SLOT_JOIN) {
			for (uint32_t k = 0; k < pending->equality_count; k++)
				there |= pending->equalities[k].slot == equality->slot;
			if (!there)
				pending->equalities[pending->equality_count++] = *equality;
			continue;
		}
		if (equality->differs)
			continue; /* it is in `fit` */
		field.kind = build->slots[equality->slot].kind;
		uint32_t left = program_build_add(build->unit->out, PROGRAM_NODES, &field, 1);

		fit = node_and(build, fit,
			       node_op(build, PROGRAM_OP_EQ, PROGRAM_BOOL, left, node_slot(build, equality->slot)));
	}
	return fit;
}

/* The bit of position number j of negated if the event is that position's now, else 0. */
static uint32_t advance_forbidden(struct rule_build *build, const struct state *state, const struct negated *negated,
				  uint32_t j, struct pending_transition *pending)
{
	const struct inside *item = &negated->items[j];
	struct pattern_point point = { .current = item->position->element };
	struct pending_transition own = { .type = pending->type, .fit = begun(build, negated, item) };
	uint32_t bit;

	own.fit = node_and(build, negated->when, own.fit);
	states_bound(build, state, &point);
	conditions_fit(build, &own, &point, false);
	own.fit = condition_of(build, pending, &own);
	if (own.fit == PROGRAM_NONE)
		return node_const(build, PROGRAM_U64, UINT64_C(1) << j);
	bit = node_op(build, PROGRAM_OP_CONVERT, PROGRAM_U64, own.fit, PROGRAM_NONE);
	return node_op(build, PROGRAM_OP_SHL, PROGRAM_U64, bit, node_const(build, PROGRAM_U64, j));
}

static bool moves(const struct negated *negated, uint32_t j, const struct event_type *type)
{
	return negated->items[j].goes_on && negated->items[j].position->spec->type == type;
}

enum { PARTING_MAX = 4 };

/* Members of a state to which an event may be forbidden, and a subset of them as bits. */
struct parting {
	const struct event_type *type;
	const struct position *members[PARTING_MAX];
	uint32_t count, lost;
};

static bool is_lost(const struct parting *parting, const struct position *position)
{
	for (uint32_t i = 0; i < parting->count; i++) {
		if (parting->lost >> i & 1 && parting->members[i] == position)
			return true;
	}
	return false;
}

/* Negations in force in a state; those after positions that parting loses are left alone. */
struct negations {
	const struct negated *items;
	size_t count;
	const struct parting *parting; /* or NULL */
};

/* Gives the pending transition the actions by which its event moves the negations on. */
static void move_on(struct rule_build *build, const struct state *state, const struct negations *all,
		    struct pending_transition *pending)
{
	struct program_action actions[INSIDE_MAX];
	uint32_t used = 0;

	for (size_t i = 0; i < all->count && used < INSIDE_MAX; i++) {
		const struct negated *negated = &all->items[i];
		uint32_t slot = PROGRAM_NONE, word = PROGRAM_NONE;

		if (all->parting && is_lost(all->parting, negated->owner))
			continue;
		for (uint32_t j = 0; j < negated->count; j++) {
			if (!moves(negated, j, pending->type))
				continue;
			slot = progress_slot(build, negated);
			if (word == PROGRAM_NONE)
				word = node_slot(build, slot);
			word = node_op(build, PROGRAM_OP_OR, PROGRAM_U64, word,
				       advance_forbidden(build, state, negated, j, pending));
		}
		if (slot != PROGRAM_NONE)
			actions[used++] = (struct program_action){ .op = PROGRAM_SET, .slot = slot, .node = word };
	}
	pending->first_action = program_build_add(build->unit->out, PROGRAM_ACTIONS, actions, used);
	pending->action_count = used;
}

/* The one transition by which events of type move the negations on. */
static void progress(struct rule_build *build, uint32_t index, const struct negations *all,
		     const struct event_type *type)
{
	const struct state state = build->states[index];
	struct pending_transition *pending = states_pending(build, index, type);

	pending->flags = PROGRAM_IN_PLACE;
	pending->target = index;
	pending->note = arena_format(build->arena, "%s may begin what is forbidden", type->name);
	move_on(build, &state, all, pending);
}

static bool has_pending(const struct state *state, const struct event_type *type, uint32_t flags)
{
	for (size_t i = 0; i < state->pending_count; i++) {
		if (state->pending[i].type == type && state->pending[i].flags & flags)
			return true;
	}
	return false;
}

/* The condition under which an event of the pending transition's type is forbidden to owner: NONE never, else *always
 * or the node. */
static uint32_t forbidden_to(struct rule_build *build, const struct state *state, const struct position *owner,
			     struct pending_transition *pending, bool *always)
{
	uint32_t forbidden = PROGRAM_NONE;
	struct listing all = { 0 };

	*always = false;
	in_force_after(build, owner, true, &all);
	for (size_t i = 0; i < all.count && !build->error; i++) {
		const struct negated *negated = &all.items[i];

		for (uint32_t j = 0; j < negated->count; j++) {
			struct pattern_point point = { .current = negated->items[j].position->element };
			struct pending_transition own = { .type = pending->type, .fit = PROGRAM_NONE };

			if (negated->items[j].position->spec->type != pending->type ||
			    !completes(build, &negated->items[j]))
				continue;
			own.fit = node_and(build, negated->when, begun(build, negated, &negated->items[j]));
			states_bound(build, state, &point);
			conditions_fit(build, &own, &point, false);
			own.fit = condition_of(build, pending, &own);
			*always |= own.fit == PROGRAM_NONE;
			forbidden = node_or(build, forbidden, own.fit);
		}
	}
	alloc_free(all.items);
	return forbidden;
}

bool forbid_edge(struct rule_build *build, const struct state *state, const struct merged_edge *merged,
		 struct pending_transition *pending)
{
	for (uint32_t i = 0; i < merged->target_count; i++) {
		struct pending_transition joins = { .type = pending->type, .fit = PROGRAM_NONE };
		bool always;
		uint32_t forbidden = forbidden_to(build, state, merged->origins[i], &joins, &always);

		if (always && merged->target_count == 1)
			return false;
		if (forbidden == PROGRAM_NONE && !always)
			continue;
		if (merged->target_count > 1) {
			diag_error(build->unit->diag, &merged->targets[i]->spec->location, 0,
				   "alternatives that begin with the same events cannot be distinguished here: '%s' is "
				   "also "
				   "forbidden to one of them",
				   pending->type->name);
			rule_fail(build, -EINVAL);
			return false;
		}
		forbidden = node_op(build, PROGRAM_OP_LNOT, PROGRAM_BOOL, forbidden, PROGRAM_NONE);
		pending->fit = node_and(build, pending->fit, forbidden);
	}
	return true;
}

/* The members of the state to which events of type are forbidden; the others are not concerned. */
static uint32_t concerned(struct rule_build *build, const struct state *state, const struct event_type *type,
			  const struct position **members)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->position_count; i++) {
		struct pending_transition joins = { .type = type, .fit = PROGRAM_NONE };
		bool always;
		uint32_t forbidden = forbidden_to(build, state, state->positions[i], &joins, &always);

		if (forbidden == PROGRAM_NONE && !always)
			continue;
		if (count < PARTING_MAX)
			members[count] = state->positions[i];
		count++;
	}
	return count;
}

/* The transition that leaves of state number index what is not lost. */
static void part_state(struct rule_build *build, uint32_t index, const struct negations *all)
{
	const struct parting *parting = all->parting;
	const struct state from = build->states[index];
	struct state left = { 0 };
	uint32_t target = PROGRAM_TARGET_END;
	struct pending_transition *pending;

	for (uint32_t i = 0; i < from.position_count; i++) {
		if (!is_lost(parting, from.positions[i]))
			left.positions[left.position_count++] = from.positions[i];
	}
	if (left.position_count)
		target = states_find(build, &left);
	pending = states_pending(build, index, parting->type);
	pending->target = target;
	pending->flags = target == PROGRAM_TARGET_END ? PROGRAM_FORBID : PROGRAM_IN_PLACE;
	pending->note = arena_format(build->arena, "%s is forbidden to some of the alternatives", parting->type->name);
	for (uint32_t i = 0; i < parting->count; i++) {
		bool always;
		uint32_t forbidden;

		if (!(parting->lost >> i & 1))
			continue;
		forbidden = forbidden_to(build, &from, parting->members[i], pending, &always);
		if (!always)
			pending->fit = node_and(build, pending->fit, forbidden);
	}
	if (target != PROGRAM_TARGET_END)
		move_on(build, &from, all, pending);
}

static bool any_moves(const struct negations *all, const struct event_type *type)
{
	for (size_t i = 0; i < all->count; i++) {
		for (uint32_t j = 0; j < all->items[i].count; j++) {
			if (moves(&all->items[i], j, type))
				return true;
		}
	}
	return false;
}

/* An event of type in a state of several positions: what is forbidden to some leaves the others, which move on. */
static void part_at(struct rule_build *build, uint32_t index, struct negations all, const struct event_type *type)
{
	const struct state state = build->states[index];
	struct parting parting = { .type = type };

	parting.count = concerned(build, &state, type, parting.members);
	if (parting.count > PARTING_MAX) {
		rule_fail(build, unsupported(build, all.items[0].negation, "too many alternatives diverge here"));
		return;
	}
	all.parting = &parting;
	for (parting.lost = (1u << parting.count) - 1; parting.lost && !build->error; parting.lost--)
		part_state(build, index, &all);
	if (any_moves(&all, type) && !build->error)
		progress(build, index, &all, type);
}

static void forbid_some(struct rule_build *build, uint32_t index)
{
	const struct state state = build->states[index];
	const struct listing found = in_force(build, &state);
	const struct negations all = { .items = found.items, .count = found.count };

	for (size_t i = 0; i < all.count && !build->error; i++) {
		for (uint32_t j = 0; j < all.items[i].count && !build->error; j++) {
			const struct event_type *type = all.items[i].items[j].position->spec->type;

			if (!has_pending(&build->states[index], type, PROGRAM_IN_PLACE | PROGRAM_FORBID))
				part_at(build, index, all, type);
		}
	}
	alloc_free(found.items);
}

void forbid_after(struct rule_build *build, uint32_t index)
{
	const struct state state = build->states[index];

	if (is_strict(build))
		return;
	if (state.position_count > 1) {
		forbid_some(build, index);
		return;
	}
	const struct listing found = in_force(build, &state);
	const struct negations all = { .items = found.items, .count = found.count };

	for (size_t i = 0; i < all.count && !build->error; i++) {
		for (uint32_t j = 0; j < all.items[i].count; j++) {
			const struct inside *item = &all.items[i].items[j];

			if (item->goes_on &&
			    !has_pending(&build->states[index], item->position->spec->type, PROGRAM_IN_PLACE))
				progress(build, index, &all, item->position->spec->type);
		}
	}
	alloc_free(found.items);
}

static bool has_progress(const struct negated *negated)
{
	for (uint32_t i = 0; i < negated->count; i++) {
		if (negated->items[i].goes_on)
			return true;
	}
	return false;
}

static bool crosses(const struct edge *edge, const struct pattern_node *negation)
{
	for (const struct passed_negation *at = edge->path.passed; at; at = at->next) {
		if (at->negation == negation)
			return true;
	}
	return false;
}

void forbid_begin(struct rule_build *build, const struct state *from, const struct merged_edge *merged,
		  const struct state *target, struct pending_transition *pending)
{
	struct listing before, all;

	if (is_strict(build))
		return;
	before = in_force(build, from);
	all = in_force(build, target);
	for (size_t i = 0; i < all.count && !build->error; i++) {
		const struct pattern_node *negation = all.items[i].negation;
		struct program_action action = { .op = PROGRAM_SET };

		if (!has_progress(&all.items[i]) || (known(before.items, before.count, merged->origins[0], negation) &&
						     !crosses(&merged->edge, negation)))
			continue;
		action.slot = progress_slot(build, &all.items[i]);
		action.node = node_const(build, PROGRAM_U64, 0);
		uint32_t added = program_build_add(build->unit->out, PROGRAM_ACTIONS, &action, 1);
		if (!pending->action_count++)
			pending->first_action = added;
	}
	alloc_free(before.items);
	alloc_free(all.items);
}
