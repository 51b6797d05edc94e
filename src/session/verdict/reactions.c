// SPDX-License-Identifier: BSD-2-Clause
/* Carries out what a rule does at a match, or leaves it to whom it belongs, and reports it. */

#include "session/verdict/reactions.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/proc.h"
#include "program/calls.h"
#include "program/emissions.h"
#include "program/machine.h"
#include "program/query.h"
#include "program/whose.h"
#include "session/output/addresses.h"
#include "session/output/frames.h"
#include "session/output/result.h"
#include "session/verdict/thread-stacks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ARGS_MAX = 32, STOPS_TOLD_MAX = 16 };

struct reactions {
	const struct program *program;
	struct reactions_options options;
	struct react_agent *agent;
	struct react_stop_table *stops;      /* NULL: no process is stopped in the kernel */
	const struct react_action **actions; /* per statement of the program; NULL: EMIT */
	bool *allowed, *in_kernel;           /* per statement: by the policy; also of the kernel's programs */
	struct frames *frames;               /* NULL: no rule wants a stack, or tells addresses */
	struct addresses *addresses;         /* NULL: none are told */
	struct thread_stacks *threads;       /* NULL: none are asked for */
	struct program_whose *whose;         /* per rule */
	struct program_namer namer;          /* of addresses; name NULL: nobody can name them */
	bool lets_go_on;                     /* some rule lets processes go on, however stopped */
	uint32_t stops_reported;
	bool *quiet; /* per rule, then per notice of machines: not reported */
	struct program_reaction reported[REACT_STATEMENTS_MAX];
	char why[REACT_STATEMENTS_MAX][REACT_WHY_BYTES];
};

static bool reaction_stops_process(const struct react_action *action)
{
	return action->primitive == REACT_HOLD || action->signal == SIGSTOP;
}

static const char *name_address(void *addresses, const struct program_match *match, uint64_t address)
{
	return addresses_name(addresses, match, address);
}

static bool passes_addresses(const struct program *program, const struct program_statement *statement)
{
	for (uint32_t i = 0; i < statement->arg_count; i++)
		if (result_means_address(program, program_args(program, statement)[i].meaning))
			return true;
	return false;
}

/* Whether matches of the rule tell addresses of their process. */
static bool tells_addresses(const struct reactions *reactions, uint32_t index)
{
	const struct program *program = reactions->program;
	const struct program_rule *rule = &program->rules[index];
	bool tells = rule->flags & PROGRAM_RULE_SEQUENCE;
	bool knows_whose = reactions->whose[index].is_one || rule->semantics != PROGRAM_MACHINE;

	for (uint32_t i = 0; i < rule->return_count && knows_whose; i++)
		tells |= result_means_address(program, program_returns(program, rule)[i].meaning);
	for (uint32_t i = 0; i < rule->statement_count && knows_whose; i++)
		tells |= !program_is_emission(&program_statements(program, rule)[i]) &&
			 passes_addresses(program, &program_statements(program, rule)[i]);
	return tells && !reactions->quiet[index];
}

/* Only where there is something to be named is anything logged, and later read. */
static int bind_addresses(struct reactions *reactions)
{
	bool tells = false;

	if (reactions->options.recorded || reactions->options.agent.foreign_ids)
		return 0;
	if (program_find_whose(reactions->program, &reactions->whose))
		return -ENOMEM;
	for (uint32_t i = 0; i < reactions->program->rule_count && !tells; i++)
		tells = tells_addresses(reactions, i);
	if (!tells)
		return 0;
	if (!reactions->frames)
		reactions->frames = frames_new(true);
	reactions->addresses = reactions->frames ? addresses_new(reactions->frames) : NULL;
	reactions->namer = (struct program_namer){ name_address, reactions->addresses };
	return reactions->addresses ? 0 : -ENOMEM;
}

static bool tells_stack(const struct react_action *action)
{
	return action->primitive == REACT_STACK || action == react_find("StackOf");
}

/* Threads of this machine, and of now. */
static int bind_threads(struct reactions *reactions)
{
	if (reactions->threads || reactions->options.recorded)
		return 0;
	reactions->threads = thread_stacks_new(reactions->frames);
	reactions->options.agent.stack = thread_stacks_take;
	reactions->options.agent.stack_context = reactions->threads;
	return reactions->threads ? 0 : -ENOMEM;
}

static int bind(struct reactions *reactions)
{
	const struct program *program = reactions->program;
	uint32_t count = program->header->sections[PROGRAM_STATEMENTS].count;

	reactions->actions = alloc_zero(count, sizeof *reactions->actions);
	reactions->allowed = alloc_zero(count, sizeof *reactions->allowed);
	reactions->in_kernel = alloc_zero(count, sizeof *reactions->in_kernel);
	reactions->quiet = alloc_zero(program->rule_count + program->header->sections[PROGRAM_NOTICES].count,
				      sizeof *reactions->quiet);
	if (!reactions->actions || !reactions->allowed || !reactions->in_kernel || !reactions->quiet)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct react_action *action = program_call(program, &program->statements[i]);

		reactions->actions[i] = action;
		if (!action)
			continue;
		if (tells_stack(action) && !reactions->frames)
			reactions->frames = frames_new(!reactions->options.recorded);
		if (tells_stack(action) && !reactions->frames)
			return -ENOMEM;
		if (action == react_find("StackOf") && bind_threads(reactions))
			return -ENOMEM;
		reactions->allowed[i] = policy_allows(reactions->options.policy, action);
		reactions->lets_go_on |=
			reactions->allowed[i] && (action->signal == SIGCONT || action == react_find("Thaw"));
		/* Who cannot be named here could not be let go on at the end. */
		reactions->in_kernel[i] = reactions->allowed[i] &&
					  !(reactions->options.agent.foreign_ids && reaction_stops_process(action));
	}
	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		reactions->quiet[i] = !program_is_reported(program, rule);
		for (uint32_t j = 1; j <= rule->notice_count; j++)
			reactions->quiet[program->rule_count + rule->first_notice + j - 1] =
				program_notice_only_tallies(program, rule, j);
	}
	return bind_addresses(reactions);
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
	reactions->options.agent.statement_count = program->header->sections[PROGRAM_STATEMENTS].count;
	result = bind(reactions) ? diag_no_memory(diag)
				 : react_agent_new(&reactions->options.agent, diag, &reactions->agent);
	if (result)
		reactions_free(reactions);
	else
		*made = reactions;
	return result;
}

void reactions_follow(struct reactions *reactions, pid_t pid)
{
	if (reactions->frames)
		frames_follow(reactions->frames, pid);
}

void reactions_free(struct reactions *reactions)
{
	if (!reactions)
		return;
	react_agent_free(reactions->agent);
	thread_stacks_free(reactions->threads);
	addresses_free(reactions->addresses);
	frames_free(reactions->frames);
	alloc_free(reactions->actions);
	alloc_free(reactions->allowed);
	alloc_free(reactions->in_kernel);
	alloc_free(reactions->quiet);
	alloc_free(reactions->whose);
	alloc_free(reactions);
}

struct react_agent *reactions_agent(const struct reactions *reactions)
{
	return reactions->agent;
}

const bool *reactions_allowed(const struct reactions *reactions)
{
	return reactions->in_kernel;
}

static bool is_tally(const struct react_action *action)
{
	return action->primitive == REACT_COUNT || action->primitive == REACT_HISTOGRAM;
}

static void not_done(struct reactions *reactions, uint32_t index, const char *why)
{
	snprintf(reactions->why[index], sizeof reactions->why[index], "%s", why);
	reactions->reported[index] = (struct program_reaction){ PROGRAM_NOT_DONE, reactions->why[index] };
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

/* The signal that the call sends, 0: none. */
static int signal_of(const struct react_call *call)
{
	const struct react_value *second = &call->args[1];

	if (call->action->primitive != REACT_SEND_SIGNAL || call->action->signal || call->arg_count < 2)
		return call->action->signal;
	return second->kind == REACT_STRING ? react_signal_number(second->text) : (int)second->i64;
}

/* A user who waits for a process that nothing lets go on would wait for ever and not know why. */
static void report_stop(struct reactions *reactions, const struct react_call *call)
{
	bool freezes = call->action == react_find("Freeze");
	pid_t pid;

	if (!reactions->options.stops || reactions->lets_go_on || (!freezes && signal_of(call) != SIGSTOP) ||
	    !call->arg_count)
		return;
	pid = proc_process_of((pid_t)call->args[0].i64);
	if (!pid || reactions->stops_reported++ >= STOPS_TOLD_MAX)
		return;
	diag_add(reactions->options.stops, ASTERISM_WARNING, NULL, NULL,
		 "%s stopped process %d with %s, and no rule continues it: it stays stopped until %s%d%s%s", call->rule,
		 pid, call->action->name, freezes ? "its cgroup is thawed (process " : "'kill -CONT ", pid,
		 freezes ? ")" : "'", call->action->is_undone ? " or the end of this session" : "");
	if (reactions->stops_reported == STOPS_TOLD_MAX)
		diag_add(reactions->options.stops, ASTERISM_WARNING, NULL, NULL,
			 "further stopped processes are not reported one by one");
}

/* Does one call, or says why not. */
static void perform_reaction(struct reactions *reactions, const struct program_match *match, uint32_t index)
{
	const struct program_rule *rule = &reactions->program->rules[match->rule];
	uint32_t statement = rule->first_statement + index;
	const struct program_operand operand = { .program = reactions->program, .rule = rule, .slots = match->slots };
	struct react_value values[ARGS_MAX];
	struct react_call call = { .action = reactions->actions[statement],
				   .rule = program_text(reactions->program, rule->name),
				   .args = values,
				   .statement = statement,
				   .pid = match->pid,
				   .tid = match->tid };
	struct program_reaction *reported = &reactions->reported[index];
	int count = program_call_values(&operand, &reactions->program->statements[statement], values, ARGS_MAX);

	call.arg_count = count < 0 ? 0 : (uint32_t)count;
	if (match->done >> index & 1) {
		reported->how = call.action->fails_call ? PROGRAM_DONE : PROGRAM_DONE_IN_KERNEL;
		if (react_agent_note(reactions->agent, &call))
			not_done(reactions, index, call.why);
		if (call.action->primitive == REACT_STACK && !match->stack_count)
			not_done(reactions, index, "the stack of its thread was not kept");
		drop_note(reactions, &call);
		report_stop(reactions, &call);
	} else if (!reactions->allowed[statement]) {
		*reported = (struct program_reaction){ PROGRAM_NOT_DONE, "not allowed" };
	} else if (count < 0) {
		*reported = (struct program_reaction){ PROGRAM_NOT_DONE, "division by zero" };
	} else if (react_agent_perform(reactions->agent, &call)) {
		not_done(reactions, index, call.why);
	} else {
		reported->how = PROGRAM_DONE;
		report_stop(reactions, &call);
	}
}

/* A match that lacks what was to be told with it says why, even where nothing is done; NULL: it lacks nothing. */
static const char *why_never(const struct react_action *action)
{
	return action && tells_stack(action) ? "recorded events have no stack" : NULL;
}

static void name_stack(struct reactions *reactions, struct program_match *reported)
{
	if (!reactions->frames || !reported->stack_count)
		return;
	if (frames_name(reactions->frames, reported, reactions->options.agent.foreign_ids))
		reported->named_stack = (struct program_stack){ .frames = NULL };
}

bool reactions_do(struct reactions *reactions, const struct program_match *match, struct program_match *reported)
{
	const struct program_rule *rule = &reactions->program->rules[match->rule];

	memset(reactions->reported, 0, rule->statement_count * sizeof *reactions->reported);
	if (reactions->threads)
		thread_stacks_begin(reactions->threads, match);
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct react_action *action = reactions->actions[rule->first_statement + i];

		if (!program_statement_applies(&program_statements(reactions->program, rule)[i], match))
			continue;
		if (action && (!reactions->options.recorded || is_tally(action)))
			perform_reaction(reactions, match, i);
		if (reactions->options.recorded)
			reactions->reported[i] = (struct program_reaction){ .why = why_never(action) };
	}
	*reported = *match;
	reported->reactions = reactions->reported;
	if (reactions->namer.name) {
		reported->namer = &reactions->namer;
		reported->has_own_values =
			program_has_own_values(reactions->program, match, &reactions->whose[match->rule]);
	}
	name_stack(reactions, reported);
	if (reactions->threads)
		thread_stacks_tell(reactions->threads, reported);
	return !reactions->quiet[match->notice ? reactions->program->rule_count + rule->first_notice + match->notice - 1
					       : match->rule];
}

bool reactions_may_act(const struct reactions *reactions)
{
	uint32_t count = reactions->program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < count; i++) {
		const struct react_action *action = reactions->actions[i];

		if (action && action->changes_system && reactions->allowed[i])
			return true;
	}
	return false;
}

bool reactions_call(const struct reactions *reactions, const struct react_action *action)
{
	uint32_t count = reactions->program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < count; i++)
		if (reactions->actions[i] == action)
			return true;
	return false;
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

/* What a Count or Histogram of the kernel's programs has come to; add NULL: nothing, but its name is told. */
static struct react_tally tally_of(const struct reactions *reactions, uint32_t statement, reactions_tally_fn *add,
				   void *context)
{
	const struct program *program = reactions->program;
	uint32_t name = program_args(program, &program->statements[statement])[0].node;
	struct react_tally tally = { .name = program_text(program, program->nodes[name].a),
				     .is_histogram = reactions->actions[statement]->primitive == REACT_HISTOGRAM };

	if (add)
		add(context, statement, tally.buckets);
	for (uint32_t i = 0; i < REACT_BUCKETS; i++)
		tally.count += tally.buckets[i];
	if (!tally.is_histogram)
		tally.buckets[0] = 0; /* where a counter counts */
	return tally;
}

int reactions_tallies(struct reactions *reactions, reactions_tally_fn *add, void *context,
		      struct react_tallies *tallies)
{
	const struct react_tallies *own = react_agent_tallies(reactions->agent);
	uint32_t count = reactions->program->header->sections[PROGRAM_STATEMENTS].count;
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		if (!reactions->actions[i] || !is_tally(reactions->actions[i]))
			continue;
		const struct react_tally counted = tally_of(reactions, i, add, context);

		result = react_tallies_add(tallies, &counted);
	}
	for (size_t i = 0; i < own->count && !result; i++)
		result = react_tallies_add(tallies, &own->items[i]);
	return result;
}

static int add_refusal(struct session_refusals *refusals, const struct session_refusal *refusal)
{
	if (alloc_grow(&refusals->items, &refusals->capacity, refusals->count, sizeof *refusals->items))
		return -ENOMEM;
	refusals->items[refusals->count++] = *refusal;
	return 0;
}

int reactions_refusals(const struct reactions *reactions, struct session_refusals *refusals)
{
	const struct program *program = reactions->program;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++) {
			uint32_t statement = rule->first_statement + j;
			struct session_refusal refusal = { .rule = i, .action = reactions->actions[statement] };
			const char *why;

			refusal.count = react_agent_refused(reactions->agent, statement, &why);
			snprintf(refusal.why, sizeof refusal.why, "%s", why);
			if (refusal.count && add_refusal(refusals, &refusal))
				return -ENOMEM;
		}
	}
	return 0;
}
