// SPDX-License-Identifier: BSD-2-Clause
/* Decides which fields of an event type the rules ask for, so that nothing else is fetched. */

#include "ebpf/codegen/emit-priv.h"
#include "program/reads.h"

enum { HEADER_TS = 1 << 0, HEADER_IDS = 1 << 2 | 1 << 3, HEADER_ALL = (1 << EVENT_HEADER_FIELDS) - 1 };

/* Where what one rule looks at is noted. */
struct asking {
	const struct program_type *type;
	struct matcher_header *header;
	bool *body; /* per body field of type */
};

static void need_field(void *context, uint32_t field, enum program_read what_for)
{
	const struct asking *asking = context;

	if (field >= EVENT_HEADER_FIELDS)
		asking->body[field - asking->type->first_field] = true;
	else if (what_for == PROGRAM_READ_TO_FIND)
		asking->header->early |= (uint8_t)(1u << field);
	else
		asking->header->late |= (uint8_t)(1u << field);
}

/* What the executor itself wants of the header: when a run began, and what is told of a match. */
static void need_transition(const struct program_transition *transition, bool opens, struct matcher_header *header)
{
	if (opens && transition->target != PROGRAM_TARGET_MATCH)
		header->late |= HEADER_TS;
	if (transition->target == PROGRAM_TARGET_MATCH || transition->flags & PROGRAM_TELL)
		header->match = HEADER_ALL;
}

static void need_rule(const struct program *program, const struct program_rule *rule, uint32_t type,
		      struct matcher_header *header)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		uint32_t count;
		const struct program_transition *transitions =
			program_transitions_on(program, &program_states(program, rule)[i], type, &count);

		for (uint32_t j = 0; j < count; j++)
			need_transition(&transitions[j], i == 0, header);
	}
	if (rule->within_ns || rule->flags & PROGRAM_RULE_TIMER)
		header->late |= HEADER_TS;
}

static void need_part(const struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part, bool *body,
		      struct matcher_header *header)
{
	const struct program *program = matcher->program;
	struct asking asking = { &program->types[type], header, body };

	*header = (struct matcher_header){ 0 };
	for (uint32_t i = part->first; i < part->end; i++) {
		if (!matcher->rules[i].here || !program_rule_sees(program, &program->rules[i], type))
			continue;
		need_rule(program, &program->rules[i], type, header);
		program_each_read(program, i, type, need_field, &asking);
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
