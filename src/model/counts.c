// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns the counts of an automaton into the numbers of a model: how often each transition was asked, which share of
 * those it took, and how runs left each state.
 */

#include "model/counts-priv.h"

#include "program/query.h"

#include <string.h>

static const uint64_t *counts_of(const struct model *model, const struct program_transition *transition)
{
	return model->counts + program_why_transition(model->program, model->rule, transition);
}

/* How often events of the way's type were judged in its state. */
static double judged(const struct model *model, const struct model_way *first)
{
	uint32_t type = first->transition->type;

	if (first->state)
		return (double)counts_of(model, first->transition)[PROGRAM_WHY_MET];
	return (double)model->counts[program_why_type(model->program, model->rule, type) + PROGRAM_WHY_SEEN];
}

uint32_t model_group(const struct model *model, uint32_t from)
{
	const struct model_way *first = &model->ways[from];
	const struct model_state *state = &model->states[first->state];
	uint32_t end = state->first_way + state->way_count, count = 1;

	while (from + count < end && model->ways[from + count].transition->type == first->transition->type)
		count++;
	return count;
}

double model_left_over(const struct model *model, const struct model_way *first, const struct model_way *way,
		       double judged)
{
	for (const struct model_way *before = first; before < way; before++)
		if (program_why_precedes(model->rule, before->transition, way->transition))
			judged -= before->taken;
	return judged > 0 ? judged : 0;
}

static void read_group(struct model *model, uint32_t from)
{
	struct model_way *first = &model->ways[from];
	double all = judged(model, first);

	model->states[first->state].judged += all;
	for (struct model_way *way = first; way < first + model_group(model, from); way++) {
		const uint64_t *counts = counts_of(model, way->transition);

		way->taken = (double)counts[PROGRAM_WHY_TAKEN];
		way->failed = (double)counts[PROGRAM_WHY_FAILED];
		way->tried = model_left_over(model, first, way, all);
		way->fits = way->tried > 0 ? way->taken / way->tried : 0;
		way->holds = way->taken > 0 ? 1 - way->failed / way->taken : 1;
	}
}

static void read_state(struct model *model, uint32_t index, uint64_t last_ns)
{
	struct model_state *state = &model->states[index];
	const uint64_t *counts = model->counts + program_why_state(index);

	for (uint32_t i = 0; i < state->way_count; i += model_group(model, state->first_way + i))
		read_group(model, state->first_way + i);
	state->open = (double)counts[PROGRAM_WHY_OPEN];
	state->expired = (double)counts[PROGRAM_WHY_EXPIRED];
	state->stayed_s = (double)(int64_t)program_why_stayed(model->counts, index, last_ns) / 1e9;
	if (state->stayed_s < 0) /* events came late */
		state->stayed_s = 0;
}

bool model_copies(const struct model *model, const struct model_way *way)
{
	uint32_t flags = way->transition->flags;

	if (model->rule->semantics == PROGRAM_MACHINE)
		return flags & PROGRAM_COPY;
	return way->state && model->rule->semantics == PROGRAM_SKIP_TILL_ANY &&
	       !(flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE));
}

double model_leaves(const struct model *model, const struct model_way *way)
{
	if (model_copies(model, way))
		return 0;
	return way->transition->target == way->state ? way->taken * (1 - way->holds) : way->taken;
}

double model_arrives(const struct model *model, const struct model_way *way)
{
	if (way->transition->target == way->state && !model_copies(model, way))
		return 0;
	return way->taken * way->holds;
}

/* What the counts do not say of one state, runs that came and went tell: those that ended otherwise. */
static void balance_state(struct model *model, uint32_t index)
{
	struct model_state *state = &model->states[index];
	bool matures = program_states(model->program, model->rule)[index].flags & PROGRAM_STATE_DEADLINE;
	double left = state->open + state->expired;

	for (uint32_t i = 0; i < state->way_count; i++)
		left += model_leaves(model, &model->ways[state->first_way + i]);
	state->ended = state->came > left ? state->came - left : 0;
	if (matures) {
		state->matured = state->ended;
		state->ended = 0;
	}
}

void model_read(struct model *model, uint64_t last_ns)
{
	for (uint32_t i = 0; i < model->rule->state_count; i++)
		read_state(model, i, last_ns);
	for (const struct model_way *way = model->ways; way < model->ways + model->way_count; way++)
		if (way->transition->target < PROGRAM_TARGET_MATCH)
			model->states[way->transition->target].came += model_arrives(model, way);
	for (uint32_t i = 1; i < model->rule->state_count; i++)
		balance_state(model, i);
}
