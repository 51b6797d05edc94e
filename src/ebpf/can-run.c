// SPDX-License-Identifier: BSD-2-Clause
/* Decides which rules the kernel can run, and says in a clause why not. */

#include "ebpf/ebpf.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "ebpf/matcher-priv.h"

#include <errno.h>
#include <stdio.h>

enum { POOL_MAX = 1 << 23, STATEMENT_SLOT_BYTES_MAX = 4096 };

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
	const struct program_action *action = &judge->program->actions[transition->first_action];

	for (uint32_t i = 0; i < transition->action_count; i++, action++) {
		if (!judge_node(judge, action->node))
			return false;
		if (action->op != PROGRAM_SET &&
		    judge->program->slots[judge->rule->first_slot + action->slot].kind == PROGRAM_F64)
			return no(judge, "it computes with floating-point numbers");
	}
	return true;
}

static bool judge_transitions(struct judge *judge)
{
	for (uint32_t i = 0; i < judge->rule->state_count; i++) {
		const struct program_state *state = matcher_state(judge->program, judge->rule, i);
		const struct program_transition *transition = &judge->program->transitions[state->first_transition];

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			if (!judge_node(judge, transition->fit) || !judge_node(judge, transition->hold) ||
			    !judge_actions(judge, transition))
				return false;
	}
	return true;
}

static bool judge_statements(struct judge *judge)
{
	for (uint32_t i = 0; i < judge->rule->statement_count; i++)
		if (judge->program->statements[judge->rule->first_statement + i].type != PROGRAM_NONE)
			return no(judge, "it emits events");
	return true;
}

/* Events that are only emitted reach no tracepoint. */
static bool judge_stream(struct judge *judge)
{
	const struct program *program = judge->program;
	uint32_t statements = program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < statements; i++) {
		uint32_t type = program->statements[i].type;

		if (type == PROGRAM_NONE || !matcher_rule_has(program, judge->rule, type))
			continue;
		snprintf(judge->reason, judge->size, "its event %s is emitted by a rule",
			 program_text(program, program->types[type].name));
		return false;
	}
	return true;
}

/* Runs of an AFTER MATCH DROP rule that the dropping event could not find would live on. */
static bool judge_drop(struct judge *judge)
{
	const struct program *program = judge->program;

	if (!(judge->rule->flags & PROGRAM_RULE_DROP))
		return true;
	for (uint32_t i = 0; i < judge->rule->state_count; i++) {
		const struct program_state *state = matcher_state(program, judge->rule, i);
		const struct program_transition *transition = &program->transitions[state->first_transition];

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			for (uint32_t c = 0; c < judge->rule->class_count; c++)
				if (transition->target == PROGRAM_TARGET_MATCH &&
				    !matcher_key(program, matcher_class(program, judge->rule, c), transition->type))
					return no(judge, "AFTER MATCH DROP needs the join field in every event");
	}
	return true;
}

static bool judge_rule(struct judge *judge)
{
	const struct program_rule *rule = judge->rule;
	struct matcher_history history;

	judge->error = matcher_history(judge->program, rule, &history);
	if (judge->error)
		return no(judge, judge->error == -ENOMEM ? "memory is short"
							 : "it returns a SEQUENCE of more than a few events");
	if (rule->flags & PROGRAM_RULE_OVER_ALL && rule->semantics <= PROGRAM_STRICT_PARTITION)
		return no(judge, "OVER { * } under strict semantics would need every event of the kernel");
	if (rule->pool > POOL_MAX)
		return no(judge, "its POOL is larger than 8388608");
	if (rule->state_count > MATCHER_STATES_MAX || rule->class_count > INT16_MAX)
		return no(judge, "its automaton is too large");
	return judge_transitions(judge) && judge_statements(judge) && judge_stream(judge) && judge_drop(judge);
}

int matcher_can_run(const struct program *program, const struct ebpf_node_info *nodes, uint32_t rule, char *reason,
		    size_t size)
{
	struct judge judge = { program, &program->rules[rule], nodes, reason, size, 0 };
	bool can = judge_rule(&judge);

	return judge.error == -ENOMEM ? -ENOMEM : can;
}

int ebpf_can_run(const struct program *program, uint32_t rule, char *reason, size_t size)
{
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	int can;

	if (!nodes) {
		snprintf(reason, size, "memory is short");
		return 0;
	}
	can = matcher_can_run(program, nodes, rule, reason, size);
	alloc_free(nodes);
	return can > 0;
}

bool matcher_can_act(const struct program *program, const struct ebpf_node_info *nodes, uint32_t statement)
{
	const struct program_statement *row = &program->statements[statement];
	const struct react_action *action = program_call(program, row);

	if (!action || action->primitive == REACT_NOT_IN_KERNEL)
		return false;
	/* A question is answered elsewhere, and so are its arguments. */
	for (uint32_t i = 0; i < row->arg_count && action->primitive != REACT_HOLD; i++) {
		uint32_t node = program->args[row->first_arg + i].node;

		if (program->nodes[node].op != PROGRAM_OP_TEXT && !nodes[node].in_kernel)
			return false;
	}
	return true;
}

bool ebpf_can_act(const struct program *program, uint32_t statement)
{
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	bool can = nodes && matcher_can_act(program, nodes, statement);

	alloc_free(nodes);
	return can;
}
