// SPDX-License-Identifier: BSD-2-Clause
/* Decides which fields of an event type the rules ask for, so that nothing else is fetched. */

#include "ebpf/emit-priv.h"

enum { HEADER_TS, HEADER_CPU, HEADER_PID, HEADER_TID, HEADER_COMM };

struct asking {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t type;
	struct ebpf_needs *needs;
};

static void need_field(const struct asking *asking, uint32_t field)
{
	if (field < EVENT_HEADER_FIELDS)
		asking->needs->header[field] = true;
	else
		asking->needs->body[field - asking->program->types[asking->type].first_field] = true;
}

/* Recursion is bounded by PROGRAM_DEPTH_MAX, its breadth by PROGRAM_EXPANSION_MAX. */
static void need_node(const struct asking *asking, uint32_t index)
{
	if (index == PROGRAM_NONE)
		return;
	const struct program_node *node = &asking->program->nodes[index];

	if (node->op == PROGRAM_OP_FIELD)
		need_field(asking, node->a);
	if (node->op < PROGRAM_OP_ADD)
		return;
	need_node(asking, node->a);
	if (node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT)
		need_node(asking, node->b);
}

static void need_transition(const struct asking *asking, const struct program_transition *transition)
{
	need_node(asking, transition->fit);
	need_node(asking, transition->hold);
	for (uint32_t i = 0; i < transition->action_count; i++)
		need_node(asking, asking->program->actions[transition->first_action + i].node);
	for (uint32_t field = 0; field < EVENT_HEADER_FIELDS && transition->target == PROGRAM_TARGET_MATCH; field++)
		need_field(asking, field);
}

static void need_keys(const struct asking *asking)
{
	const struct program *program = asking->program;

	for (uint32_t i = 0; i < asking->rule->class_count; i++) {
		const struct program_class *class = matcher_class(program, asking->rule, i);
		const struct program_key *key = matcher_key(program, class, asking->type);

		for (uint32_t j = 0; key && j < class->slot_count; j++)
			need_field(asking, program->indices[key->first_field + j]);
	}
}

static void need_rule(const struct asking *asking)
{
	bool opens = false;

	for (uint32_t i = 0; i < asking->rule->state_count; i++) {
		uint32_t count;
		const struct program_transition *transitions = matcher_transitions(
			asking->program, matcher_state(asking->program, asking->rule, i), asking->type, &count);

		opens = opens || (i == 0 && count);
		for (uint32_t j = 0; j < count; j++)
			need_transition(asking, &transitions[j]);
	}
	if (opens || asking->rule->within_ns)
		need_field(asking, HEADER_TS);
	need_keys(asking);
}

void ebpf_matcher_needs(const struct ebpf_matcher *matcher, uint32_t type, uint32_t part, struct ebpf_needs *needs)
{
	const struct matcher_part *rules = &matcher->types[type].parts[part];

	*needs = (struct ebpf_needs){ 0 };
	for (uint32_t i = rules->first; i < rules->end; i++) {
		struct asking asking = { matcher->program, &matcher->program->rules[i], type, needs };

		if (matcher->rules[i].here && matcher_rule_has(matcher->program, asking.rule, type))
			need_rule(&asking);
	}
}
