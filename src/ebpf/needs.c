// SPDX-License-Identifier: BSD-2-Clause
/* Decides which fields of an event type the rules ask for, so that nothing else is fetched. */

#include "ebpf/emit-priv.h"
#include "program/reads.h"

enum { HEADER_TS = 1 << 0, HEADER_IDS = 1 << 2 | 1 << 3, HEADER_ALL = (1 << EVENT_HEADER_FIELDS) - 1 };

/* How one rule asks. */
struct asking {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t type;
	uint8_t *when; /* where header fields are noted: one of struct matcher_header */
};

static void need_field(const struct asking *asking, uint32_t field)
{
	if (field < EVENT_HEADER_FIELDS)
		*asking->when |= (uint8_t)(1u << field);
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

static void need_transition(struct asking *asking, const struct program_transition *transition, bool opens,
			    struct matcher_header *header)
{
	asking->when = opens ? &header->early : &header->late;
	need_node(asking, transition->fit);
	asking->when = &header->late;
	need_node(asking, transition->hold);
	for (uint32_t i = 0; i < transition->action_count; i++)
		need_node(asking, program_actions(asking->program, transition)[i].node);
	if (asking->rule->flags & PROGRAM_RULE_SEQUENCE && transition->element != PROGRAM_NONE)
		header->late |= HEADER_ALL; /* the event is kept as it is */
	if (opens && transition->target != PROGRAM_TARGET_MATCH)
		header->late |= HEADER_TS;
	if (transition->target == PROGRAM_TARGET_MATCH || transition->flags & PROGRAM_TELL)
		header->match = HEADER_ALL;
}

static void need_keys(struct asking *asking, struct matcher_header *header)
{
	const struct program *program = asking->program;

	asking->when = &header->early;
	for (uint32_t i = 0; i < asking->rule->class_count; i++) {
		const struct program_class *class = &program_classes(program, asking->rule)[i];
		const struct program_key *key = program_key_for(program, class, asking->type);

		for (uint32_t j = 0; key && j < class->slot_count; j++)
			if (program_key_fields(program, key)[j] != PROGRAM_NONE)
				need_field(asking, program_key_fields(program, key)[j]);
	}
}

static void need_rule(struct asking *asking, struct matcher_header *header)
{
	for (uint32_t i = 0; i < asking->rule->state_count; i++) {
		uint32_t count;
		const struct program_transition *transitions = program_transitions_on(
			asking->program, &program_states(asking->program, asking->rule)[i], asking->type, &count);

		for (uint32_t j = 0; j < count; j++)
			need_transition(asking, &transitions[j], i == 0, header);
	}
	if (asking->rule->within_ns || asking->rule->flags & PROGRAM_RULE_TIMER)
		header->late |= HEADER_TS;
	need_keys(asking, header);
}

static void need_part(const struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part, bool *body,
		      struct matcher_header *header)
{
	*header = (struct matcher_header){ 0 };
	for (uint32_t i = part->first; i < part->end; i++) {
		struct asking asking = { .program = matcher->program,
					 .rule = &matcher->program->rules[i],
					 .type = type };

		if (!matcher->rules[i].here || !program_rule_sees(matcher->program, asking.rule, type))
			continue;
		need_rule(&asking, header);
		program_rule_reads(matcher->program, i, type, body);
	}
	if (matcher->options.live)
		header->early |= header->late & HEADER_IDS; /* the scope asks for them anyway */
	else
		header->early |= header->late | header->match;
	header->late &= (uint8_t)~header->early;
	header->match &= (uint8_t) ~(header->early | header->late);
}

void matcher_header_needs(const struct ebpf_matcher *matcher, uint32_t type, struct matcher_part *part)
{
	bool body[EVENT_FIELDS_MAX];

	need_part(matcher, type, part, body, &part->header);
}

void ebpf_matcher_needs(const struct ebpf_matcher *matcher, uint32_t type, uint32_t part, struct ebpf_needs *needs)
{
	struct matcher_header header;

	*needs = (struct ebpf_needs){ 0 };
	need_part(matcher, type, &matcher->types[type].parts[part], needs->body, &header);
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		needs->header[i] = header.early >> i & 1;
	for (uint32_t i = matcher->types[type].parts[part].first; i < matcher->types[type].parts[part].end; i++)
		needs->raises |= matcher->rules[i].raises;
	needs->late_ts = (header.late | header.match) & HEADER_TS;
}
