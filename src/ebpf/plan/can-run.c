// SPDX-License-Identifier: BSD-2-Clause
/* Decides which rules the kernel can run, and says in a clause why not. */

#include "ebpf/plan/can-run.h"

#include "base/alloc.h"
#include "ebpf/plan/plan-priv.h"
#include "program/calls.h"
#include "program/emissions.h"

#include <errno.h>
#include <stdio.h>

enum { POOL_MAX = 1 << 23, REASON_BYTES = 120 };

struct judge {
	const struct program *program;
	const struct program_rule *rule;
	const struct ebpf_node_info *nodes;
	char *reason;
	size_t size;
	int error;
};

static bool no(struct judge *judge, const char *reason)
{
	snprintf(judge->reason, judge->size, "%s", reason);
	return false;
}

static bool judge_node(struct judge *judge, uint32_t node)
{
	if (node == PROGRAM_NONE || judge->nodes[node].in_kernel)
		return true;
	return no(judge, judge->nodes[node].has_pattern ? "a LIKE pattern has a * elsewhere than at its end"
							: "it computes with floating-point numbers");
}

static bool judge_actions(struct judge *judge, const struct program_transition *transition)
{
	const struct program_action *action = program_actions(judge->program, transition);

	for (uint32_t i = 0; i < transition->action_count; i++, action++) {
		if (!judge_node(judge, action->node))
			return false;
		if (action->op != PROGRAM_SET &&
		    program_slots(judge->program, judge->rule)[action->slot].kind == PROGRAM_F64)
			return no(judge, "it computes with floating-point numbers");
	}
	return true;
}

static bool judge_transitions(struct judge *judge)
{
	for (uint32_t i = 0; i < judge->rule->state_count; i++) {
		const struct program_state *state = &program_states(judge->program, judge->rule)[i];
		const struct program_transition *transition = program_transitions(judge->program, state);

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			if (!judge_node(judge, transition->fit) || !judge_node(judge, transition->hold) ||
			    !judge_actions(judge, transition))
				return false;
	}
	return true;
}

/* What an EMIT that some rule takes computes. */
static bool judge_emission(struct judge *judge, const struct program_statement *statement)
{
	const struct program *program = judge->program;

	for (uint32_t i = 0; i < statement->arg_count; i++)
		if (!judge_node(judge, program_args(program, statement)[i].node))
			return false;
	return true;
}

/* Whether what rule raises leads to events for rule itself; 1, 0, -ENOMEM. */
static int comes_back(const struct program *program, uint32_t rule)
{
	struct program_reached fed;
	int result = program_reach(program, rule, PROGRAM_DOWNSTREAM, PLAN_COMPANY_MAX, &fed);

	for (uint32_t i = 0; i < fed.count && !result; i++)
		result = fed.rules[i] == rule;
	alloc_free(fed.rules);
	return result;
}

static bool judge_statements(struct judge *judge)
{
	const struct program *program = judge->program;
	int returns;

	for (uint32_t i = 0; i < judge->rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, judge->rule)[i];

		if (program_is_emission(statement) && program_is_taken(program, statement->type) &&
		    !judge_emission(judge, statement))
			return false;
	}
	returns = comes_back(program, (uint32_t)(judge->rule - program->rules));
	if (returns < 0)
		judge->error = returns;
	return returns ? no(judge, returns < 0 ? "memory is short" : "what it emits comes back to it") : true;
}

/* Runs of an AFTER MATCH DROP rule that the dropping event could not find would live on. */
static bool judge_drop(struct judge *judge)
{
	const struct program *program = judge->program;

	if (!(judge->rule->flags & PROGRAM_RULE_DROP))
		return true;
	for (uint32_t i = 0; i < judge->rule->state_count; i++) {
		const struct program_state *state = &program_states(program, judge->rule)[i];
		const struct program_transition *transition = program_transitions(program, state);

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			for (uint32_t c = 0; c < judge->rule->class_count; c++)
				if (transition->target == PROGRAM_TARGET_MATCH &&
				    !program_key_for(program, &program_classes(program, judge->rule)[c],
						     transition->type))
					return no(judge, "AFTER MATCH DROP needs the join field in every event");
	}
	return true;
}

static bool judge_rule(struct judge *judge)
{
	const struct program_rule *rule = judge->rule;
	struct plan_history history;

	judge->error = plan_history(judge->program, rule, &history);
	if (judge->error)
		return no(judge, judge->error == -ENOMEM ? "memory is short"
							 : "it returns a SEQUENCE of more than a few events");
	if (rule->except && !judge_node(judge, rule->except - 1))
		return false;
	if (rule->flags & PROGRAM_RULE_OVER_ALL && rule->semantics <= PROGRAM_STRICT_PARTITION)
		return no(judge, "OVER { * } under strict semantics would need every event of the kernel");
	if (rule->pool > POOL_MAX)
		return no(judge, "its POOL is larger than 8388608");
	if (rule->state_count > PLAN_STATES_MAX || rule->class_count > INT16_MAX)
		return no(judge, "its automaton is too large");
	return judge_transitions(judge) && judge_statements(judge) && judge_drop(judge);
}

static int judge_one(const struct program *program, const struct ebpf_node_info *nodes, uint32_t rule, char *reason,
		     size_t size)
{
	struct judge judge = { program, &program->rules[rule], nodes, reason, size, 0 };
	bool can = judge_rule(&judge);

	return judge.error == -ENOMEM ? -ENOMEM : can;
}

/*
 * Judges rule with all that EMIT connects it with, which company lists (alloc_free its rules): events that rules raise
 * do not go from user space to the kernel or back, so all of them have one answer.
 */
static int judge_connected(const struct judge *judge, uint32_t rule, struct program_reached *connected)
{
	const struct program *program = judge->program;
	char why[REASON_BYTES];
	int result = program_reach(program, rule, PROGRAM_BOTH_WAYS, PLAN_COMPANY_MAX, connected), can = result == 0;

	if (result == -E2BIG)
		snprintf(judge->reason, judge->size, "EMIT connects it with more than %d rules and machines",
			 PLAN_COMPANY_MAX);
	else if (result)
		snprintf(judge->reason, judge->size, "memory is short");
	else
		can = judge_one(program, judge->nodes, rule, judge->reason, judge->size);
	for (uint32_t i = 0; can > 0 && i < connected->count; i++) {
		const struct program_rule *other = &program->rules[connected->rules[i]];

		if (connected->rules[i] == rule)
			continue;
		can = judge_one(program, judge->nodes, connected->rules[i], why, sizeof why);
		if (can <= 0)
			snprintf(judge->reason, judge->size, "EMIT connects it with %s %s, which cannot: %s",
				 program_sort(other), program_text(program, other->name), why);
	}
	return result == -ENOMEM ? -ENOMEM : can;
}

int plan_choose(const struct program *program, const struct ebpf_node_info *nodes, bool *can_run)
{
	char reason[REASON_BYTES * 2];
	const struct judge judge = { .program = program, .nodes = nodes, .reason = reason, .size = sizeof reason };
	bool *judged = alloc_zero(program->rule_count, sizeof *judged);
	int can = judged ? 0 : -ENOMEM;

	for (uint32_t rule = 0; rule < program->rule_count && can >= 0; rule++) {
		struct program_reached connected;

		if (judged[rule])
			continue;
		can = judge_connected(&judge, rule, &connected);
		can_run[rule] = can > 0;
		for (uint32_t i = 0; i < connected.count; i++) {
			judged[connected.rules[i]] = true;
			can_run[connected.rules[i]] = can > 0;
		}
		alloc_free(connected.rules);
	}
	alloc_free(judged);
	return can < 0 ? can : 0;
}

bool ebpf_emit_connects(const struct program *program, uint32_t rule)
{
	struct program_reached connected;
	int result = program_reach(program, rule, PROGRAM_BOTH_WAYS, PLAN_COMPANY_MAX, &connected);

	alloc_free(connected.rules);
	return result || connected.count;
}

int ebpf_can_run(const struct program *program, uint32_t rule, char *reason, size_t size)
{
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	const struct judge judge = { .program = program, .nodes = nodes, .reason = reason, .size = size };
	struct program_reached connected;
	int can;

	if (!nodes) {
		snprintf(reason, size, "memory is short");
		return 0;
	}
	can = judge_connected(&judge, rule, &connected);
	alloc_free(connected.rules);
	alloc_free(nodes);
	return can > 0;
}

bool plan_can_act(const struct program *program, const struct ebpf_node_info *nodes, uint32_t statement)
{
	const struct program_statement *row = &program->statements[statement];
	const struct react_action *action = program_call(program, row);

	if (!action || action->primitive == REACT_NOT_IN_KERNEL)
		return false;
	/* A question is answered elsewhere, and so are its arguments. */
	for (uint32_t i = 0; i < row->arg_count && action->primitive != REACT_HOLD; i++) {
		uint32_t node = program_args(program, row)[i].node;

		if (program->nodes[node].op != PROGRAM_OP_TEXT && !nodes[node].in_kernel)
			return false;
	}
	return true;
}

bool ebpf_can_act(const struct program *program, uint32_t statement)
{
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	bool can = nodes && plan_can_act(program, nodes, statement);

	alloc_free(nodes);
	return can;
}
