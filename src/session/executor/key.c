// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides whether a rule can be divided by a key. A slot of its runs is part of such a key if it keeps, as long as a
 * run lives, what the opening event carried, and if every class of runs is found by it (among others). Then each type
 * has one field that must equal the slot: the one that its events open runs with, and are compared by. All such slots
 * together are the key, since the more it says, the more evenly it divides.
 *
 * What is not certain counts as no. A run that matches when its time is up does so at a moment of its own, next to runs
 * of other keys, whose order would have to be known: such rules are not divided. Nor are machines with timers, but
 * other machines may be: an event touches only the instance of its key, a copy that gets another value of a slot makes
 * that slot useless as a key, and so does an event that leaves it open.
 */

#include "session/executor/key.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>
#include <string.h>

/* The field of no type: the events mean nothing to the rule. */
#define FIELD_NONE PROGRAM_NONE

/* A slot on trial. */
struct trial {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t slot;    /* of the rule */
	uint32_t *fields; /* per type, and for the unknown ones: the index of the field that must equal it */
};

/* Whether the type's events agree with what has been found about them. */
static bool note(struct trial *trial, uint32_t type, uint32_t field)
{
	uint32_t *known = &trial->fields[type == PROGRAM_NONE ? trial->program->type_count : type];

	if (*known == FIELD_NONE)
		*known = field;
	return *known == field;
}

/* Whether the slot helps to find the runs of class, and by the fields that are known. */
static bool is_found_by(struct trial *trial, const struct program_class *class)
{
	const struct program *program = trial->program;
	uint32_t at = 0;

	while (at < class->slot_count && program_class_slots(program, class)[at] != trial->slot)
		at++;
	if (at == class->slot_count)
		return false;
	for (uint32_t i = 0; i < class->key_count; i++) {
		const struct program_key *key = &program_keys(program, class)[i];

		if (program_key_fields(program, key)[at] == PROGRAM_NONE) /* `*`: it concerns all values */
			return false;
		if (!note(trial, key->type, program_key_fields(program, key)[at]))
			return false;
	}
	return true;
}

/* Whether the action sets the slot to all that the field holds. */
static bool copies(const struct trial *trial, const struct program_action *action, uint32_t field)
{
	const struct program *program = trial->program;
	const struct program_node *node = &program->nodes[action->node];
	const struct program_slot *slot = &program_slots(program, trial->rule)[trial->slot];

	return action->op == PROGRAM_SET && node->op == PROGRAM_OP_FIELD && node->a == field &&
	       (slot->kind != PROGRAM_STRING || slot->bytes >= program->fields[field].bytes);
}

/* Whether the transition leaves in the slot what the field of its event holds. may_skip: or leaves the slot alone. */
static bool keeps(const struct trial *trial, const struct program_transition *transition, bool may_skip)
{
	const struct program_action *actions = program_actions(trial->program, transition);
	bool is_set = may_skip;

	for (uint32_t i = 0; i < transition->action_count; i++) {
		if (actions[i].slot != trial->slot)
			continue;
		if (!copies(trial, &actions[i], trial->fields[transition->type]))
			return false;
		is_set = true;
	}
	return is_set;
}

/* The field that the opening transition sets the slot to counts for its type, unless another one is known. */
static void learn(struct trial *trial, const struct program_transition *transition)
{
	const struct program_action *actions = program_actions(trial->program, transition);

	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_node *node = &trial->program->nodes[actions[i].node];

		if (actions[i].slot == trial->slot && node->op == PROGRAM_OP_FIELD)
			note(trial, transition->type, node->a);
	}
}

static bool transitions_keep(struct trial *trial)
{
	const struct program *program = trial->program;
	const struct program_state *states = program_states(program, trial->rule);

	for (uint32_t i = 0; i < states[0].transition_count; i++)
		learn(trial, &program_transitions(program, &states[0])[i]);
	for (uint32_t i = 0; i < trial->rule->state_count; i++) {
		for (uint32_t j = 0; j < states[i].transition_count; j++) {
			if (!keeps(trial, &program_transitions(program, &states[i])[j], i != 0))
				return false;
		}
	}
	return true;
}

/* Under OVER { * } a type without a key of its own has that of the unknown ones. */
static void spread_unknown(struct trial *trial)
{
	uint32_t count = trial->program->type_count;

	for (uint32_t i = 0; i < count; i++) {
		if (trial->fields[i] == FIELD_NONE)
			trial->fields[i] = trial->fields[count];
	}
}

/* With several classes, those that have no key for all other types would have to be told from those that have. */
static bool is_key(struct trial *trial)
{
	const struct program *program = trial->program;
	const struct program_rule *rule = trial->rule;

	for (uint32_t i = 0; i <= program->type_count; i++)
		trial->fields[i] = FIELD_NONE;
	for (uint32_t i = 0; i < rule->class_count; i++) {
		if (!is_found_by(trial, &program_classes(program, rule)[i]))
			return false;
	}
	if (trial->fields[program->type_count] != FIELD_NONE && rule->class_count > 1)
		return false;
	spread_unknown(trial);
	return transitions_keep(trial);
}

static void add_part(struct shard_key *key, const struct trial *trial)
{
	const struct program *program = trial->program;
	bool is_text = program_slots(program, trial->rule)[trial->slot].kind == PROGRAM_STRING;

	for (uint32_t type = 0; type <= program->type_count; type++) {
		uint32_t index = trial->fields[type];

		key->concerns[type] = index != FIELD_NONE;
		if (index == FIELD_NONE)
			continue;
		key->parts[type * PROGRAM_KEY_SLOTS_MAX + key->part_count] = (struct shard_key_part){
			.offset = program->fields[index].offset,
			.bytes = is_text ? 0 : program->fields[index].bytes,
		};
	}
	key->part_count++;
}

static bool can_be_divided(const struct program_rule *rule)
{
	return rule->class_count &&
	       !(rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER | PROGRAM_RULE_DROP_ALL)) &&
	       rule->semantics != PROGRAM_STRICT_SEQUENCE && rule->pool <= UINT32_MAX;
}

int shard_key_init(struct shard_key *key, const struct program *program, uint32_t rule)
{
	struct trial trial = { .program = program, .rule = &program->rules[rule] };
	size_t types = (size_t)program->type_count + 1;

	*key = (struct shard_key){ .type_count = program->type_count };
	if (!can_be_divided(trial.rule))
		return 0;
	trial.fields = alloc_zero(types, sizeof *trial.fields);
	key->concerns = alloc_zero(types, sizeof *key->concerns);
	key->parts = alloc_zero(types * PROGRAM_KEY_SLOTS_MAX, sizeof *key->parts);
	if (!trial.fields || !key->concerns || !key->parts) {
		alloc_free(trial.fields);
		shard_key_fini(key);
		return -ENOMEM;
	}
	for (; trial.slot < trial.rule->slot_count && key->part_count < PROGRAM_KEY_SLOTS_MAX; trial.slot++) {
		if (is_key(&trial))
			add_part(key, &trial);
	}
	alloc_free(trial.fields);
	return 0;
}

void shard_key_fini(struct shard_key *key)
{
	alloc_free(key->concerns);
	alloc_free(key->parts);
	*key = (struct shard_key){ 0 };
}

/* The high bits come to depend on all others. */
static inline uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash + value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

/* The 64 bits that an engine compares. */
static inline uint64_t number_at(const char *from, uint32_t bytes)
{
	uint64_t word;
	uint32_t half;

	if (bytes == sizeof word) {
		memcpy(&word, from, sizeof word);
		return word;
	}
	memcpy(&half, from, sizeof half);
	return half;
}

uint32_t shard_key_shard(const struct shard_key *key, const struct event_header *record, uint32_t shard_count)
{
	uint32_t of = event_type_of(record), type = of < key->type_count ? of : key->type_count;
	const struct shard_key_part *part = &key->parts[type * PROGRAM_KEY_SLOTS_MAX], *end = part + key->part_count;
	uint64_t hash = 0;

	if (!key->concerns[type])
		return PROGRAM_NONE;
	for (; part < end; part++) {
		const char *from = (const char *)record + part->offset;

		hash = part->bytes ? mix(hash, number_at(from, part->bytes)) : mix_text(hash, from);
	}
	return (uint32_t)((hash >> 32) * shard_count >> 32);
}
