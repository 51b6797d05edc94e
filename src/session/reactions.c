// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is done at a match, by whom, and what is said of it. */

#include "session/reactions.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "react/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ARGS_MAX = 32 };

struct reactions {
	const struct program *program;
	struct reactions_options options;
	struct react_agent *agent;
	struct react_stop_table *stops;      /* NULL: nobody is stopped in the kernel */
	const struct react_action **actions; /* per statement of the program; NULL: EMIT */
	bool *allowed, *quiet;               /* per statement; per rule */
	struct program_reaction told[REACT_STATEMENTS_MAX];
	char why[REACT_STATEMENTS_MAX][REACT_WHY_BYTES];
};

static int bind(struct reactions *reactions)
{
	const struct program *program = reactions->program;
	uint32_t count = program->header->sections[PROGRAM_STATEMENTS].count;

	reactions->actions = alloc_zero(count, sizeof *reactions->actions);
	reactions->allowed = alloc_zero(count, sizeof *reactions->allowed);
	reactions->quiet = alloc_zero(program->rule_count, sizeof *reactions->quiet);
	if (!reactions->actions || !reactions->allowed || !reactions->quiet)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		reactions->actions[i] = program_call(program, &program->statements[i]);
		if (reactions->actions[i])
			reactions->allowed[i] = policy_allows(reactions->options.policy, reactions->actions[i]);
	}
	for (uint32_t i = 0; i < program->rule_count; i++)
		reactions->quiet[i] = program_only_tallies(program, &program->rules[i]);
	return 0;
}

int reactions_new(const struct program *program, const struct reactions_options *options, struct asterism_diag *diag,
		  struct reactions **made)
{
	struct reactions *reactions = alloc_zero(1, sizeof *reactions);
	int result;

	if (!reactions)
		return diag_no_memory(diag);
	reactions->program = program;
	reactions->options = *options;
	result = bind(reactions) ? diag_no_memory(diag) : react_agent_new(&options->agent, diag, &reactions->agent);
	if (result)
		reactions_free(reactions);
	else
		*made = reactions;
	return result;
}

void reactions_free(struct reactions *reactions)
{
	if (!reactions)
		return;
	react_agent_free(reactions->agent);
	alloc_free(reactions->actions);
	alloc_free(reactions->allowed);
	alloc_free(reactions->quiet);
	alloc_free(reactions);
}

const bool *reactions_allowed(const struct reactions *reactions)
{
	return reactions->allowed;
}

static bool is_tally(const struct react_action *action)
{
	return action->primitive == REACT_COUNT || action->primitive == REACT_HISTOGRAM;
}

static void not_done(struct reactions *reactions, uint32_t index, const char *why)
{
	snprintf(reactions->why[index], sizeof reactions->why[index], "%s", why);
	reactions->told[index] = (struct program_reaction){ PROGRAM_NOT_DONE, reactions->why[index] };
}

/* A stop is remembered by the agent now: the note that a program made of it has done its duty. */
static void drop_note(const struct reactions *reactions, const struct react_call *call)
{
	struct react_stop_notes notes;
	pid_t pid;

	if (!reactions->stops || call->action->signal != SIGSTOP)
		return;
	pid = proc_process_of((pid_t)call->args[0].i64);
	if (!pid)
		return;
	react_stops_find(reactions->stops, pid, true, &notes);
	react_stops_forget(reactions->stops, &notes, 1);
}

/* Does one call, or says why not. */
static void perform(struct reactions *reactions, const struct program_match *match, uint32_t index)
{
	const struct program_rule *rule = &reactions->program->rules[match->rule];
	uint32_t statement = rule->first_statement + index;
	const struct program_operand operand = { .program = reactions->program, .rule = rule, .slots = match->slots };
	struct react_value values[ARGS_MAX];
	struct react_call call = { .action = reactions->actions[statement],
				   .rule = program_text(reactions->program, rule->name),
				   .args = values,
				   .pid = match->pid,
				   .tid = match->tid };
	struct program_reaction *told = &reactions->told[index];
	int count = program_call_values(&operand, &reactions->program->statements[statement], values, ARGS_MAX);

	call.arg_count = count < 0 ? 0 : (uint32_t)count;
	if (match->done >> index & 1) {
		told->how = PROGRAM_DONE_IN_KERNEL;
		if (react_agent_note(reactions->agent, &call))
			not_done(reactions, index, call.why);
		drop_note(reactions, &call);
	} else if (!reactions->allowed[statement]) {
		*told = (struct program_reaction){ PROGRAM_NOT_DONE, "not allowed" };
	} else if (count < 0) {
		*told = (struct program_reaction){ PROGRAM_NOT_DONE, "division by zero" };
	} else if (react_agent_perform(reactions->agent, &call)) {
		not_done(reactions, index, call.why);
	} else {
		told->how = PROGRAM_DONE;
	}
}

bool reactions_do(struct reactions *reactions, const struct program_match *match, struct program_match *told)
{
	const struct program_rule *rule = &reactions->program->rules[match->rule];

	memset(reactions->told, 0, rule->statement_count * sizeof *reactions->told);
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct react_action *action = reactions->actions[rule->first_statement + i];

		if (action && (!reactions->options.recorded || is_tally(action)))
			perform(reactions, match, i);
	}
	*told = *match;
	if (!reactions->options.recorded)
		told->reactions = reactions->told;
	return !reactions->quiet[match->rule];
}

struct undo *reactions_undo(const struct reactions *reactions)
{
	return react_agent_undo(reactions->agent);
}

void reactions_set_stops(struct reactions *reactions, struct react_stop_table *stops)
{
	reactions->stops = stops;
}

void reactions_poll(struct reactions *reactions, uint64_t now_ns, uint64_t *wait_ns)
{
	react_agent_poll(reactions->agent, now_ns, wait_ns);
}

static int add_tally(struct react_tallies *tallies, const char *name, bool is_histogram, const uint64_t *buckets)
{
	struct react_tally *tally = react_tallies_get(tallies, name, is_histogram);

	if (!tally)
		return -ENOMEM;
	for (uint32_t i = 0; i < REACT_BUCKETS; i++) {
		tally->count += buckets[i];
		if (is_histogram)
			tally->buckets[i] += buckets[i];
	}
	return 0;
}

/* The name that a Count or Histogram gives. */
static const char *name_of(const struct program *program, const struct program_statement *statement)
{
	return program_text(program, program->nodes[program->args[statement->first_arg].node].a);
}

int reactions_tallies(struct reactions *reactions, reactions_tally_fn *add, void *context,
		      struct react_tallies *tallies)
{
	const struct program *program = reactions->program;
	const struct react_tallies *own = react_agent_tallies(reactions->agent);
	int result = 0;

	for (uint32_t i = 0; i < program->header->sections[PROGRAM_STATEMENTS].count && !result; i++) {
		const struct react_action *action = reactions->actions[i];
		uint64_t buckets[REACT_BUCKETS] = { 0 };

		if (!action || !is_tally(action))
			continue;
		if (add)
			add(context, i, buckets);
		result = add_tally(tallies, name_of(program, &program->statements[i]),
				   action->primitive == REACT_HISTOGRAM, buckets);
	}
	for (size_t i = 0; i < own->count && !result; i++) {
		struct react_tally *tally = react_tallies_get(tallies, own->items[i].name, own->items[i].is_histogram);

		if (!tally)
			return -ENOMEM;
		tally->count += own->items[i].count;
		for (uint32_t j = 0; j < REACT_BUCKETS; j++)
			tally->buckets[j] += own->items[i].buckets[j];
	}
	return result;
}
