/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_QUERY_H
#define PROGRAM_QUERY_H

/*
 * Questions about a loaded image, each answered in one place. An image is a set of flat tables in which every row names
 * its rows of other tables by the number of the first and how many there are (program/image.h). Nothing outside this
 * folder should do that arithmetic: here it has names.
 *
 *   program_states(program, rule)[i]         row i of what rule owns; its count stands in the owner: rule->state_count
 *   program_class_slots(program, class)[i]   a list of numbers: slots of the rule, types or fields of the image
 *   program_transitions_on, program_key_for  the rows that concern one event type
 *   program_rule_sees, program_rule_lists    whether a type is part of a rule's stream
 *
 * Shapes: an index behind `[i]` counts from 0 within the owner, as all numbers in rows do that are said to be "of the
 * rule". Notices alone are numbered from 1, as matches and rows carry them; program_notice takes that number. Types and
 * fields are rows of the image.
 *
 * Errors: none. The loader has checked every range, so a count that is respected never leads outside a table; an
 * owner's list of no rows gives a pointer that must not be followed.
 *
 * It may touch: the image alone. Nothing is allocated, kept or changed, so threads may ask at once. The functions in
 * this header are one addition each, fit for the event path; those of query.c take time linear in the owner's rows.
 */

#include "program/load.h"

#include <stdbool.h>

static inline const struct program_field *program_fields(const struct program *program, const struct program_type *type)
{
	return program->fields + type->first_field;
}

/* The event types of rule's stream, as OVER or the pattern names them: over_count numbers of types. */
static inline const uint32_t *program_over(const struct program *program, const struct program_rule *rule)
{
	return program->indices + rule->first_over;
}

static inline const struct program_element *program_elements(const struct program *program,
							     const struct program_rule *rule)
{
	return program->elements + rule->first_element;
}

static inline const struct program_slot *program_slots(const struct program *program, const struct program_rule *rule)
{
	return program->slots + rule->first_slot;
}

static inline const struct program_state *program_states(const struct program *program, const struct program_rule *rule)
{
	return program->states + rule->first_state;
}

/* The slots that are a run's key in state beside those of its class: *count of them. */
static inline const uint32_t *program_state_more(const struct program *program, const struct program_state *state,
						 uint32_t *count)
{
	*count = state->key ? program->indices[state->key - 1] : 0;
	return program->indices + state->key;
}

static inline const struct program_transition *program_transitions(const struct program *program,
								   const struct program_state *state)
{
	return program->transitions + state->first_transition;
}

static inline const struct program_action *program_actions(const struct program *program,
							   const struct program_transition *transition)
{
	return program->actions + transition->first_action;
}

static inline const struct program_class *program_classes(const struct program *program,
							  const struct program_rule *rule)
{
	return program->classes + rule->first_class;
}

/* The slots, of the rule, by whose values runs of class are found: slot_count. */
static inline const uint32_t *program_class_slots(const struct program *program, const struct program_class *class)
{
	return program->indices + class->first_slot;
}

static inline const struct program_key *program_keys(const struct program *program, const struct program_class *class)
{
	return program->keys + class->first_key;
}

/* The fields that carry the values of the class's slots, in their order: slot_count of the class; NONE: any value. */
static inline const uint32_t *program_key_fields(const struct program *program, const struct program_key *key)
{
	return program->indices + key->first_field;
}

static inline const struct program_return *program_returns(const struct program *program,
							   const struct program_rule *rule)
{
	return program->returns + rule->first_return;
}

static inline const struct program_statement *program_statements(const struct program *program,
								 const struct program_rule *rule)
{
	return program->statements + rule->first_statement;
}

/* AGGREGATE of the rule; NULL: it has none. */
static inline const struct program_aggregation *program_aggregation(const struct program *program,
								    const struct program_rule *rule)
{
	return rule->aggregation ? &program->aggregations[rule->aggregation - 1] : NULL;
}

static inline const struct program_aggregate *program_by(const struct program *program,
							 const struct program_aggregation *aggregation)
{
	return program->aggregates + aggregation->first_by;
}

static inline const struct program_aggregate *program_aggregates(const struct program *program,
								 const struct program_aggregation *aggregation)
{
	return program->aggregates + aggregation->first_aggregate;
}

static inline const struct program_arg *program_args(const struct program *program,
						     const struct program_statement *statement)
{
	return program->args + statement->first_arg;
}

/* notice: of a machine, from 1 to its notice_count. */
static inline const struct program_notice *program_notice(const struct program *program,
							  const struct program_rule *rule, uint32_t notice)
{
	return program->notices + rule->first_notice + notice - 1;
}

static inline const struct program_piece *program_pieces(const struct program *program,
							 const struct program_notice *notice)
{
	return program->pieces + notice->first_piece;
}

/* What rule says that its matches mean; NULL: nothing. */
static inline const char *program_description(const struct program *program, const struct program_rule *rule)
{
	return rule->description ? program_text(program, rule->description - 1) : NULL;
}

/* The tags of rule, texts: tag_count. */
static inline const uint32_t *program_tags(const struct program *program, const struct program_rule *rule)
{
	return program->indices + rule->first_tag;
}

/* Whether rule's stream names type. */
bool program_rule_lists(const struct program *program, const struct program_rule *rule, uint32_t type);

/* Whether it names one that applications raise. */
bool program_rule_lists_sensor(const struct program *program, const struct program_rule *rule);

/* Whether events of type are part of rule's stream: OVER { * } has all of them, also those the image does not know. */
bool program_rule_sees(const struct program *program, const struct program_rule *rule, uint32_t type);

/* The transitions of state on type, which stand together: the first of *count. */
const struct program_transition *program_transitions_on(const struct program *program,
							const struct program_state *state, uint32_t type,
							uint32_t *count);

/* The key of class for events of type: its own, else that for all other types; NULL: they do not concern its runs. */
const struct program_key *program_key_for(const struct program *program, const struct program_class *class,
					  uint32_t type);

/* All slots of class, a bit each, the first one's the lowest. */
static inline uint32_t program_class_whole(const struct program_class *class)
{
	return (UINT32_C(1) << class->slot_count) - 1;
}

/* What a value over slots takes where it is stored, in bytes: 8, or the capacity of a string, a multiple of 8. */
uint32_t program_value_bytes(const struct program *program, uint32_t rule, uint32_t node);

/* The slots of class that key gives a value, as bits: program_class_whole, but where a machine's key has `*`. */
uint32_t program_key_given(const struct program *program, const struct program_class *class,
			   const struct program_key *key);

/* Of the largest record that an event of the image's types has; at least a header's. */
uint32_t program_record_bytes_max(const struct program *program);

/* Whether it depends on others of its key whether an opened run finds a place. */
static inline bool program_rule_shares(const struct program_rule *rule)
{
	return rule->flags & PROGRAM_RULE_LATEST || rule->per_key;
}

/* Whether runs in these two states of rule, neither the start, have the same slots for a key. */
bool program_same_key(const struct program *program, const struct program_rule *rule, uint32_t a, uint32_t b);

#endif
