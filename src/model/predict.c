// SPDX-License-Identifier: BSD-2-Clause
/*
 * Predicts by the numbers of a trace: the chain of a rule's states, what is to be expected of a candidate, and, with
 * the rates of events, of a second.
 */

#include "model/chain.h"
#include "model/counts-priv.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* Of a Poisson distribution, 99 % lie below its mean and so many deviations. */
#define DEVIATIONS 2.33

/* Where so many runs came to a state and all were there at the end of the trace, they are taken to stay. */
enum { ENDLESS_MIN = 5 };

static bool is_strict(const struct model *model)
{
	return model->rule->semantics <= PROGRAM_STRICT_PARTITION;
}

static double judged_of_group(const struct model *model, uint32_t from)
{
	return model->ways[from].tried; /* the first of its type is asked for every event */
}

/* Events judged in the state that fit nowhere. */
static double unfit(const struct model *model, const struct model_state *state)
{
	double left = 0;

	for (uint32_t i = 0; i < state->way_count; i += model_group(model, state->first_way + i)) {
		uint32_t from = state->first_way + i, count = model_group(model, from);
		const struct model_way *first = &model->ways[from];
		double judged = judged_of_group(model, from);

		for (const struct model_way *way = first; way < first + count; way++)
			judged -= way->taken;
		left += judged > 0 ? judged : 0;
	}
	return left;
}

/* What happens to runs in the state that is no event judged by it: it does not depend on any probability. */
static double happens(const struct model *model, const struct model_state *state)
{
	double in_between = is_strict(model) ? unfit(model, state) : 0;

	return state->expired + state->matured + (state->ended > in_between ? state->ended - in_between : 0);
}

/* Probabilities that are assumed give other numbers of runs that take each way; those of events stay. */
static void assume(struct model *model)
{
	for (uint32_t from = 0; from < model->way_count; from += model_group(model, from)) {
		struct model_way *first = &model->ways[from];
		double judged = judged_of_group(model, from);

		for (struct model_way *way = first; way < first + model_group(model, from); way++) {
			way->tried = model_left_over(model, first, way, judged);
			way->taken = way->tried * way->fits;
			way->failed = way->taken * (1 - way->holds);
		}
	}
}

struct rows {
	struct model *model;
	double *q, *returns, *left, *stays; /* per state: matches, seconds of a step; how many stay at a step */
};

static void put_ways(struct rows *rows, uint32_t index)
{
	struct model *model = rows->model;
	struct model_state *state = &model->states[index];
	double *row = rows->q + (size_t)index * model->rule->state_count;

	for (const struct model_way *way = &model->ways[state->first_way];
	     way < &model->ways[state->first_way] + state->way_count; way++) {
		if (way->transition->target < PROGRAM_TARGET_MATCH)
			row[way->transition->target] += model_arrives(model, way) / state->steps;
		if (way->transition->target == PROGRAM_TARGET_MATCH || way->transition->flags & PROGRAM_TELL)
			rows->returns[index] += way->taken * way->holds / state->steps;
	}
}

static double sum_of_leaving(const struct model *model, const struct model_state *state)
{
	double sum = 0;

	for (uint32_t i = 0; i < state->way_count; i++)
		sum += model_leaves(model, &model->ways[state->first_way + i]);
	return sum;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void fill_state_row(struct rows *rows, uint32_t index, double other)
{
	struct model *model = rows->model;
	struct model_state *state = &model->states[index];
	double leaving = sum_of_leaving(model, state) + (index ? other : 0);

	if (index && is_strict(model))
		leaving += unfit(model, state);
	state->steps = index ? state->judged + other : state->judged;
	if (index && !(leaving > 0) && state->came > 0 && state->came < ENDLESS_MIN)
		leaving = state->came; /* too few to say that it has no end */
	else if (index && !(leaving > 0) && state->came > state->steps)
		state->steps = state->came;
	if (state->steps < leaving) /* events that end all instances count for one state alone */
		state->steps = leaving;
	if (!(state->steps > 0))
		return;
	for (struct model_way *way = &model->ways[state->first_way];
	     way < &model->ways[state->first_way] + state->way_count; way++) {
		double of = model_copies(model, way) ? state->came : index ? leaving : state->judged;
		bool is_loop = index && !model_copies(model, way) && way->transition->target == index;

		way->share = is_loop ? 0 : ratio(way->taken * way->holds, of);
		way->failed_share = ratio(way->taken * (1 - way->holds), of);
	}
	put_ways(rows, index);
	rows->returns[index] += state->matured / state->steps;
	rows->left[index] = state->stayed_s / state->steps;
	rows->stays[index] = index ? 1 - leaving / state->steps : 0;
	rows->q[(size_t)index * model->rule->state_count + index] += rows->stays[index];
}

static void find_endless(struct model *model, const struct rows *rows)
{
	model->is_unbounded = true;
	for (uint32_t i = 1; i < model->rule->state_count && !model->endless; i++)
		if (rows->stays[i] >= 1)
			model->endless = i;
}

/* N, B and t. Nobody leaves by a state to which nobody came: its row is 0. */
static int fill_rows(struct rows *rows)
{
	struct model *model = rows->model;
	uint32_t count = model->rule->state_count;
	const struct model_chain chain = { count, rows->q };
	double *visits = alloc_zero(count, sizeof *visits);
	int result = visits ? model_visits(&chain, visits) : -ENOMEM;

	if (!result)
		result = model_expect(&chain, rows->returns, rows->returns);
	if (!result)
		result = model_expect(&chain, rows->left, rows->left);
	for (uint32_t i = 0; i < count && !result; i++) {
		model->states[i].visits = visits[i];
		model->states[i].returns = rows->returns[i];
		model->states[i].left_s = rows->left[i];
	}
	if (result == -ERANGE) {
		find_endless(model, rows);
		result = 0;
	}
	alloc_free(visits);
	return result;
}

/* Seconds that a run spends in the state on one visit, at most the rule's WITHIN. */
static double dwell_s(const struct model *model, const struct model_state *state, double stays)
{
	double step_s = state->steps > 0 ? state->stayed_s / state->steps : 0,
	       limit_s = (double)model->rule->within_ns / 1e9;
	double visit_s = stays < 1 ? step_s / (1 - stays) : 0;

	if (model->assumed && model->rule->within_ns && visit_s > limit_s)
		return limit_s * (1 - stays);
	return step_s;
}

static void rate(struct model *model, const struct rows *rows)
{
	struct model_rates *rates = &model->rates;
	double seconds = model->seconds, open_s = 0;

	for (uint32_t i = 0; i < model->rule->over_count; i++) {
		uint32_t type = program_over(model->program, model->rule)[i];
		const uint64_t *counts = model->counts + program_why_type(model->program, model->rule, type);

		rates->seen += (double)counts[PROGRAM_WHY_SEEN] / seconds;
	}
	for (uint32_t i = 1; i < model->rule->state_count; i++)
		rates->measured += model->states[i].stayed_s / seconds;
	rates->peak = (double)model->stats->runs_live_max;
	rates->candidates = model->states[0].judged / seconds;
	for (uint32_t i = 0; i < model->states[0].way_count; i++)
		rates->opened += model->ways[model->states[0].first_way + i].taken / seconds;
	for (const struct model_way *way = model->ways; way < model->ways + model->way_count; way++)
		rates->copied += model_copies(model, way) ? way->taken / seconds : 0;
	if (model->is_unbounded)
		return;
	for (uint32_t i = 0; i < model->rule->state_count; i++) {
		rates->s += model->states[i].visits;
		open_s += i ? model->states[i].visits * dwell_s(model, &model->states[i], rows->stays[i]) : 0;
	}
	rates->returned = model->states[0].returns;
	rates->matches = rates->candidates * rates->returned;
	rates->steps = rates->candidates * (rates->s - 1);
	rates->open = rates->candidates * open_s;
	rates->life_s = rates->opened > 0 ? rates->open / rates->opened : 0;
	rates->pool = ceil(fmax(rates->peak, rates->open + DEVIATIONS * sqrt(rates->open)));
}

static int predict(struct model *model)
{
	uint32_t count = model->rule->state_count;
	struct rows rows = {
		.model = model,
		.q = alloc_zero((size_t)count * count, sizeof *rows.q),
		.returns = alloc_zero(count, sizeof *rows.returns),
		.left = alloc_zero(count, sizeof *rows.left),
		.stays = alloc_zero(count, sizeof *rows.stays),
	};
	double *other = alloc_zero(count, sizeof *other);
	int result = rows.q && rows.returns && rows.left && rows.stays && other ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < count && !result; i++)
		other[i] = happens(model, &model->states[i]);
	if (!result && model->assumed)
		assume(model);
	for (uint32_t i = 0; i < count && !result; i++)
		fill_state_row(&rows, i, other[i]);
	if (!result)
		result = fill_rows(&rows);
	if (!result)
		rate(model, &rows);
	alloc_free(rows.q);
	alloc_free(rows.returns);
	alloc_free(rows.left);
	alloc_free(rows.stays);
	alloc_free(other);
	return result;
}

/* States, ways and the names of their probabilities, as the automaton has them. */
static void lay_out_model(struct model *model)
{
	struct model_way *way = model->ways;

	for (uint32_t i = 0; i < model->rule->state_count; i++) {
		const struct program_state *state = &program_states(model->program, model->rule)[i];

		model->states[i].first_way = (uint32_t)(way - model->ways);
		model->states[i].way_count = state->transition_count;
		for (uint32_t j = 0; j < state->transition_count; j++, way++) {
			way->state = i;
			way->transition = &program_transitions(model->program, state)[j];
			if (way->transition->fit != PROGRAM_NONE)
				way->fit_name = ++model->name_count;
			if (way->transition->hold != PROGRAM_NONE)
				way->hold_name = ++model->name_count;
		}
	}
}

static int take_assumption(struct model *model, const struct model_assumption *assumption, struct asterism_diag *diag)
{
	for (struct model_way *way = model->ways; way < model->ways + model->way_count; way++) {
		if (way->fit_name == assumption->name)
			way->fits = assumption->value;
		else if (way->hold_name == assumption->name)
			way->holds = assumption->value;
		else
			continue;
		model->assumed = true;
		return 0;
	}
	return diag_error(diag, NULL, -EINVAL, "%s has no probability p%" PRIu32 ": it has %" PRIu32,
			  program_text(model->program, model->rule->name), assumption->name, model->name_count);
}

static int fill_model(struct model *model, const struct model_trace *trace, const struct model_assumption *assumptions,
		      size_t count, struct asterism_diag *diag)
{
	int result = 0;

	lay_out_model(model);
	model_read(model, trace->last_ns);
	for (size_t i = 0; i < count && !result; i++)
		result = take_assumption(model, &assumptions[i], diag);
	return result ? result : predict(model);
}

int model_new(const struct model_trace *trace, const struct model_assumption *assumptions, size_t count,
	      struct asterism_diag *diag, struct model **made)
{
	const struct program_rule *rule = &trace->program->rules[trace->rule];
	struct model *model = alloc_zero(1, sizeof *model);
	int result;

	if (!model)
		return -ENOMEM;
	model->program = trace->program;
	model->rule = rule;
	model->counts = trace->counts;
	model->stats = trace->stats;
	/* Events at one time are as many as one likes in a second. */
	model->seconds = trace->last_ns > trace->first_ns ? (double)(trace->last_ns - trace->first_ns) / 1e9 : 1;
	for (uint32_t i = 0; i < rule->state_count; i++)
		model->way_count += program_states(trace->program, rule)[i].transition_count;
	model->states = alloc_zero(rule->state_count, sizeof *model->states);
	model->ways = alloc_zero(model->way_count + 1, sizeof *model->ways);
	if (rule->state_count > MODEL_STATES_MAX)
		result = -E2BIG;
	else
		result = model->states && model->ways ? fill_model(model, trace, assumptions, count, diag) : -ENOMEM;
	if (result)
		model_free(model);
	else
		*made = model;
	return result;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	alloc_free(model->states);
	alloc_free(model->ways);
	alloc_free(model);
}
