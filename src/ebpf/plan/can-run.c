// SPDX-License-Identifier: BSD-2-Clause
/* Determines which rules the kernel can run, and says in a clause why not. */

#include "ebpf/plan/can-run.h"

#include "base/alloc.h"
#include "ebpf/plan/plan-priv.h"
#include "ebpf/plan/runs.h"
#include "program/calls.h"
#include "program/emissions.h"

#include <errno.h>
#include <stdio.h>

enum { POOL_MAX = 1 << 23, REASON_BYTES = 120 };

/* What a rule cannot have in the kernel, what can be written instead, and where in its text to look for it. */
enum obstacle { SENSORS, REALS, PATTERN, EVERYTHING, POOL, ROOM, SIZE, CIRCLE, DROP, COMPANY, MEMORY };

static const struct ebpf_obstacle obstacles[] = {
	[SENSORS] = { "it waits for events of applications (sensors), which do not pass through the kernel", NULL, NULL,
		      PROGRAM_NONE },
	[REALS] = { "it computes with floating-point numbers",
		    "integers: x * 2 > y for x > 0.5 * y, a.sum.x / a.len for a.avg.x", NULL, PROGRAM_NONE },
	[PATTERN] = { "a LIKE pattern with text after a * has more than 62 other characters",
		      "a shorter pattern, or one with its only * at the end", "LIKE", PROGRAM_NONE },
	[EVERYTHING] = { "OVER { * } under strict semantics would need every event of the kernel",
			 "list in OVER the types that must not come in between", "OVER", PROGRAM_NONE },
	[POOL] = { "its POOL is larger than 8388608", "a smaller POOL, and WITHIN so that runs end", "POOL",
		   PROGRAM_NONE },
	[ROOM] = { "its runs take more than 256 MiB", "a smaller POOL, and WITHIN so that runs end", "POOL",
		   PROGRAM_NONE },
	[SIZE] = { "its automaton is too large", "smaller bounds of repeats, or several rules", "PATTERN",
		   PROGRAM_NONE },
	[CIRCLE] = { "the events that it emits come back to it in a cycle", "OVER without the types that it emits",
		     "EMIT", PROGRAM_NONE },
	[DROP] = { "AFTER MATCH DROP needs the join field in every event",
		   "AFTER MATCH KEEP, or a join that every event of the pattern has", "AFTER", PROGRAM_NONE },
	[COMPANY] = { NULL, "another EMIT type, so that the rules do not take each other's events", "EMIT",
		      PROGRAM_NONE },
	[MEMORY] = { "out of memory", NULL, NULL, PROGRAM_NONE },
};

struct judge {
	const struct program *program;
	const struct program_rule *rule;
	const struct ebpf_node_info *nodes;
	char *reason; /* the first one */
	size_t size;
	int error;
	ebpf_obstacle_fn *put; /* NULL: the first one is enough */
	void *context;
	bool refused;
};

/* Whether to look for more. */
static bool no_for(struct judge *judge, const struct ebpf_obstacle *obstacle)
{
	if (!judge->refused)
		snprintf(judge->reason, judge->size, "%s", obstacle->reason);
	judge->refused = true;
	if (judge->put)
		judge->put(judge->context, obstacle);
	return judge->put != NULL;
}

static bool no(struct judge *judge, enum obstacle which)
{
	return no_for(judge, &obstacles[which]);
}

static bool judge_node(struct judge *judge, uint32_t node)
{
	struct ebpf_obstacle obstacle;

	if (node == PROGRAM_NONE || judge->nodes[node].in_kernel)
		return true;
	obstacle = obstacles[judge->nodes[node].has_pattern ? PATTERN : REALS];
	obstacle.node = node;
	return no_for(judge, &obstacle);
}

static bool judge_actions(struct judge *judge, const struct program_transition *transition)
{
	const struct program_action *action = program_actions(judge->program, transition);

	for (uint32_t i = 0; i < transition->action_count; i++, action++) {
		if (!judge_node(judge, action->node))
			return false;
		if (action->op != PROGRAM_SET &&
		    program_slots(judge->program, judge->rule)[action->slot].kind == PROGRAM_F64)
			return no(judge, REALS);
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
	return returns ? no(judge, returns < 0 ? MEMORY : CIRCLE) : true;
}

/* Runs of an AFTER MATCH DROP rule that the dropping event could not find would live on. */
static bool judge_drop(struct judge *judge)
{
	const struct program *program = judge->program;

	if (!(judge->rule->flags & PROGRAM_RULE_DROP) || judge->rule->flags & PROGRAM_RULE_DROP_ALL)
		return true;
	for (uint32_t i = 0; i < judge->rule->state_count; i++) {
		const struct program_state *state = &program_states(program, judge->rule)[i];
		const struct program_transition *transition = program_transitions(program, state);

		for (uint32_t j = 0; j < state->transition_count; j++, transition++)
			for (uint32_t c = 0; c < judge->rule->class_count; c++)
				if (transition->target == PROGRAM_TARGET_MATCH &&
				    !program_key_for(program, &program_classes(program, judge->rule)[c],
						     transition->type))
					return no(judge, DROP);
	}
	return true;
}

/* A pool is one stretch of memory (memory/layout.c). */
static bool judge_pool(struct judge *judge)
{
	const struct program_rule *rule = judge->rule;
	struct plan_sizes sizes;

	if (rule->pool > POOL_MAX)
		return no(judge, POOL);
	judge->error = plan_sizes(judge->program, rule, &sizes);
	if (judge->error)
		return no(judge, MEMORY);
	if (sizes.has_runs && (rule->pool + 1) * (PLAN_RUN_BYTES + sizes.area_bytes + PLAN_WHO_BYTES) > PLAN_ROOM_MAX)
		return no(judge, ROOM);
	return true;
}

static bool judge_rule(struct judge *judge)
{
	const struct program_rule *rule = judge->rule;

	if (program_rule_lists_sensor(judge->program, rule) && !no(judge, SENSORS))
		return false;
	if (rule->except && !judge_node(judge, rule->except - 1))
		return false;
	if (rule->flags & PROGRAM_RULE_OVER_ALL && rule->semantics <= PROGRAM_STRICT_PARTITION &&
	    !no(judge, EVERYTHING))
		return false;
	if (!judge_pool(judge))
		return false;
	if ((rule->state_count > PLAN_STATES_MAX || rule->class_count > INT16_MAX) && !no(judge, SIZE))
		return false;
	return judge_transitions(judge) && judge_statements(judge) && judge_drop(judge);
}

/* Whether rule, alone, can; -ENOMEM. like: what is asked, and takes what there is to say. */
static int judge_one(const struct judge *like, uint32_t rule)
{
	struct judge judge = *like;

	judge.rule = &like->program->rules[rule];
	judge_rule(&judge);
	return judge.error == -ENOMEM ? -ENOMEM : !judge.refused;
}

/* Another rule that EMIT connects it with keeps it out. */
static void blame(const struct judge *judge, const struct program_rule *other, const char *why)
{
	struct ebpf_obstacle obstacle = obstacles[COMPANY];
	char reason[REASON_BYTES * 2];
	struct judge own = *judge;

	if (other)
		snprintf(reason, sizeof reason, "EMIT connects it with %s %s, which cannot: %s", program_sort(other),
			 program_text(judge->program, other->name), why);
	else
		snprintf(reason, sizeof reason, "EMIT connects it with more than %d rules and machines",
			 PLAN_COMPANY_MAX);
	obstacle.reason = reason;
	no_for(&own, &obstacle);
}

/*
 * Judges rule with all that EMIT connects it with, which company lists (alloc_free its rules): events that rules raise
 * do not go from user space to the kernel or back, so all of them have one answer.
 */
static int judge_connected(const struct judge *judge, uint32_t rule, struct program_reached *connected)
{
	const struct program *program = judge->program;
	char why[REASON_BYTES];
	const struct judge silent = { .program = program, .nodes = judge->nodes, .reason = why, .size = sizeof why };
	int result = program_reach(program, rule, PROGRAM_BOTH_WAYS, PLAN_COMPANY_MAX, connected), can = result == 0;

	if (result == -E2BIG)
		blame(judge, NULL, NULL);
	else if (result)
		snprintf(judge->reason, judge->size, "%s", obstacles[MEMORY].reason);
	else
		can = judge_one(judge, rule);
	for (uint32_t i = 0; can > 0 && i < connected->count; i++) {
		if (connected->rules[i] == rule)
			continue;
		can = judge_one(&silent, connected->rules[i]);
		if (can <= 0)
			blame(judge, &program->rules[connected->rules[i]], why);
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
	return ebpf_each_obstacle(program, rule, &(struct ebpf_obstacles){ NULL, NULL, reason, size });
}

int ebpf_each_obstacle(const struct program *program, uint32_t rule, const struct ebpf_obstacles *found)
{
	struct ebpf_node_info *nodes = ebpf_node_info_new(program);
	const struct judge judge = { .program = program,
				     .nodes = nodes,
				     .reason = found->reason,
				     .size = found->size,
				     .put = found->put,
				     .context = found->context };
	struct program_reached connected;
	int can;

	if (!nodes) {
		snprintf(found->reason, found->size, "%s", obstacles[MEMORY].reason);
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
