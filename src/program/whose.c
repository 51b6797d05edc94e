// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks whether all values of a match are those of one process: by the slot that its runs are found by. A slot is good
 * where it gets nothing but the process, or nothing but the thread, of an event, and every event that is taken is
 * looked for by the same. Machines may also be told of by events that name their thread elsewhere (BY): these may do
 * what they like, but must leave no values of their own behind.
 */

#include "program/whose.h"

#include "base/alloc.h"
#include "program/emissions.h"

#include <errno.h>
#include <string.h>

enum { FIELD_TS = 0, FIELD_PID = 2, FIELD_TID = 3, FIELD_COMM = 4 }; /* of FIELDS, the header's */

static bool is_single(const struct program *program, const struct program_rule *rule)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rule->element_count; i++) {
		uint32_t flags = program_elements(program, rule)[i].flags;

		if (!(flags & PROGRAM_ELEMENT_NEGATED))
			count += flags & PROGRAM_ELEMENT_ARRAY ? 2 : 1;
	}
	return rule->semantics != PROGRAM_MACHINE && count == 1;
}

static bool reads_event(const struct program *program, uint32_t node)
{
	const struct program_node *at = &program->nodes[node];

	switch (at->op) {
	case PROGRAM_OP_FIELD:
		return true;
	case PROGRAM_OP_CONST:
	case PROGRAM_OP_TEXT:
	case PROGRAM_OP_SLOT:
		return false;
	case PROGRAM_OP_LNOT:
	case PROGRAM_OP_CONVERT:
		return reads_event(program, at->a);
	default:
		return reads_event(program, at->a) || reads_event(program, at->b);
	}
}

/* The header's field that node is, however converted; NONE: it is something else. */
static uint32_t header_field_of(const struct program *program, uint32_t node)
{
	const struct program_node *at = &program->nodes[node];

	while (at->op == PROGRAM_OP_CONVERT)
		at = &program->nodes[at->a];
	return at->op == PROGRAM_OP_FIELD ? at->a : PROGRAM_NONE;
}

/* What a machine keeps of every event, whatever the rule says: what it tells, its trail, its timer. */
static bool is_its_own(const struct program_rule *rule, uint32_t slot)
{
	return rule->semantics == PROGRAM_MACHINE &&
	       ((rule->notice_count && slot == rule->notice_slot) || (rule->per_process && slot == rule->opener_slot) ||
		(rule->trail_count && slot - rule->trail_slot < 3 * rule->trail_count) ||
		(rule->flags & PROGRAM_RULE_TIMER && (slot == rule->timer_slot || slot - rule->context_slot < 4)));
}

/* The key's field for slot in this class: NONE: the class does not look for it. */
static uint32_t class_key_field(const struct program *program, const struct program_class *class,
				const struct program_key *key, uint32_t slot)
{
	for (uint32_t i = 0; i < class->slot_count; i++)
		if (program_class_slots(program, class)[i] == slot)
			return program_key_fields(program, key)[i];
	return PROGRAM_NONE;
}

/* Whether every event of type that runs of this rule take has slot's value in field of its header. */
static bool is_slot_bound(const struct program *program, const struct program_rule *rule, uint32_t type, uint32_t slot,
			  uint32_t field)
{
	for (uint32_t i = 0; i < rule->class_count; i++) {
		const struct program_class *class = &program_classes(program, rule)[i];
		const struct program_key *key = program_key_for(program, class, type);

		if (key && class_key_field(program, class, key, slot) != field)
			return false;
	}
	return true;
}

/* Whether transition leaves slot the process or thread that it is, and nothing of others in the run. */
static bool keeps(const struct program *program, const struct program_rule *rule,
		  const struct program_transition *transition, const struct program_whose *whose)
{
	uint32_t field = whose->is_of_thread ? FIELD_TID : FIELD_PID;
	bool bound =
		transition->type == PROGRAM_TIMER || is_slot_bound(program, rule, transition->type, whose->slot, field);

	if (transition->flags & PROGRAM_GONE) /* the run is over, and tells nothing */
		return true;
	if (!bound && rule->semantics != PROGRAM_MACHINE)
		return false;
	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_action *action = &program_actions(program, transition)[i];

		if (action->slot == whose->slot && header_field_of(program, action->node) != field)
			return false;
		if (!bound && !is_its_own(rule, action->slot) && reads_event(program, action->node))
			return false;
	}
	return true;
}

static bool is_good(const struct program *program, const struct program_rule *rule, const struct program_whose *whose)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++)
			if (!keeps(program, rule, &program_transitions(program, state)[j], whose))
				return false;
	}
	return true;
}

static struct program_whose find_rule_of_program(const struct program *program, const struct program_rule *rule)
{
	const struct program_class *class = program_classes(program, rule);

	if (is_single(program, rule))
		return (struct program_whose){ .is_one = true };
	for (uint32_t i = 0; rule->class_count && i < 2 * class->slot_count; i++) {
		const struct program_whose whose = { true, true, program_class_slots(program, class)[i / 2], i % 2 };
		uint32_t kind = program_slots(program, rule)[whose.slot].kind;

		if ((kind == PROGRAM_I64 || kind == PROGRAM_U64) && is_good(program, rule, &whose))
			return whose;
	}
	return (struct program_whose){ 0 };
}

/* Whether events that rule emits may be of another process than their values. */
static bool mixes(const struct program *program, const struct program_rule *rule, const struct program_whose *whose)
{
	if (!whose->is_one)
		return true;
	if (rule->semantics != PROGRAM_MACHINE)
		return false;
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			const struct program_transition *at = &program_transitions(program, state)[j];

			if (at->flags & PROGRAM_TELL &&
			    (at->type == PROGRAM_TIMER || !is_slot_bound(program, rule, at->type, whose->slot,
									 whose->is_of_thread ? FIELD_TID : FIELD_PID)))
				return true;
		}
	}
	return false;
}

static bool takes_any(const struct program *program, const struct program_rule *rule, const bool *types)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			uint32_t type = program_transitions(program, state)[j].type;

			if (type < program->type_count && types[type])
				return true;
		}
	}
	return false;
}

/* What is emitted from several processes' values makes whoever takes it such a rule, too. */
static void spread(const struct program *program, struct program_whose *found, bool *mixed)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < program->rule_count; i++) {
			const struct program_rule *rule = &program->rules[i];

			if (found[i].is_one && takes_any(program, rule, mixed))
				found[i].is_one = false;
			for (uint32_t j = 0; j < rule->statement_count; j++) {
				const struct program_statement *statement = &program_statements(program, rule)[j];

				if (!program_is_emission(statement) || mixed[statement->type] ||
				    !mixes(program, rule, &found[i]))
					continue;
				mixed[statement->type] = again = true;
			}
		}
	}
}

int program_find_whose(const struct program *program, struct program_whose **found)
{
	struct program_whose *rows = alloc_zero(program->rule_count, sizeof *rows);
	bool *mixed = alloc_zero(program->type_count, sizeof *mixed);

	if (!rows || !mixed) {
		alloc_free(rows);
		alloc_free(mixed);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < program->rule_count; i++)
		rows[i] = find_rule_of_program(program, &program->rules[i]);
	spread(program, rows, mixed);
	alloc_free(mixed);
	*found = rows;
	return 0;
}

bool program_has_own_values(const struct program *program, const struct program_match *match,
			    const struct program_whose *whose)
{
	const struct program_rule *rule = &program->rules[match->rule];
	uint64_t value;

	if (!whose->is_one || !whose->has_slot)
		return whose->is_one;
	memcpy(&value, (const char *)match->slots + program_slots(program, rule)[whose->slot].offset, sizeof value);
	return value == (whose->is_of_thread ? match->tid : match->pid);
}

/* The only slot that node reads; NONE: it reads none, or *several. */
static uint32_t only_slot(const struct program *program, uint32_t node, bool *several)
{
	const struct program_node *at = &program->nodes[node];
	uint32_t a, b;

	switch (at->op) {
	case PROGRAM_OP_SLOT:
		return at->a;
	case PROGRAM_OP_CONST:
	case PROGRAM_OP_TEXT:
	case PROGRAM_OP_FIELD:
		return PROGRAM_NONE;
	case PROGRAM_OP_LNOT:
	case PROGRAM_OP_CONVERT:
		return only_slot(program, at->a, several);
	default:
		a = only_slot(program, at->a, several);
		b = only_slot(program, at->b, several);
		*several |= a != PROGRAM_NONE && b != PROGRAM_NONE && a != b;
		return a != PROGRAM_NONE ? a : b;
	}
}

/* What transition puts into slot: a field of its event; NONE: nothing. *other: something else. */
static uint32_t field_put(const struct program *program, const struct program_transition *transition, uint32_t slot,
			  bool *other)
{
	uint32_t field = PROGRAM_NONE;

	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_action *action = &program_actions(program, transition)[i];

		if (action->slot != slot)
			continue;
		field = header_field_of(program, action->node);
		*other |= field == PROGRAM_NONE || action->op != PROGRAM_SET;
	}
	return field;
}

/* Whether beside always has the field of the very event that slot has a field of. */
static bool goes_with(const struct program *program, const struct program_rule *rule, uint32_t slot, uint32_t beside,
		      uint32_t field)
{
	bool other = false, any = false;

	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count && !other; j++) {
			const struct program_transition *at = &program_transitions(program, state)[j];
			uint32_t put = field_put(program, at, beside, &other);

			other |= (put != PROGRAM_NONE) != (field_put(program, at, slot, &other) != PROGRAM_NONE);
			/* What a rule raises may have values of others than who raised it. */
			other |= put != PROGRAM_NONE &&
				 (put != field || at->type == PROGRAM_TIMER || program_is_emitted(program, at->type));
			any |= put != PROGRAM_NONE;
		}
	}
	return any && !other;
}

/* Where in the slots the run has kept that field of the event that slot has a field of; NULL: nowhere. */
static const void *find_beside(const struct program *program, const struct program_match *match, uint32_t slot,
			       uint32_t field)
{
	const struct program_rule *rule = &program->rules[match->rule];
	uint32_t bytes = field == FIELD_COMM ? EVENT_COMM_BYTES : sizeof(uint64_t);

	for (uint32_t i = 0; i < rule->slot_count; i++) {
		const struct program_slot *row = &program_slots(program, rule)[i];

		if (row->bytes >= bytes && goes_with(program, rule, slot, i, field))
			return (const char *)match->slots + row->offset;
	}
	return NULL;
}

bool program_find_owner(const struct program *program, const struct program_match *match, uint32_t node,
			struct program_owner *owner)
{
	bool several = false;
	uint32_t slot = only_slot(program, node, &several);
	uint64_t ids[2];

	if (slot == PROGRAM_NONE || several || program->rules[match->rule].semantics == PROGRAM_MACHINE)
		return false;
	const void *pid = find_beside(program, match, slot, FIELD_PID);
	const void *tid = pid ? find_beside(program, match, slot, FIELD_TID) : NULL;
	const void *ts = tid ? find_beside(program, match, slot, FIELD_TS) : NULL;
	const void *comm = ts ? find_beside(program, match, slot, FIELD_COMM) : NULL;

	if (!comm)
		return false;
	memcpy(&ids[0], pid, sizeof ids[0]);
	memcpy(&ids[1], tid, sizeof ids[1]);
	memcpy(&owner->ts, ts, sizeof owner->ts);
	memcpy(owner->comm, comm, sizeof owner->comm);
	owner->pid = (uint32_t)ids[0];
	owner->tid = (uint32_t)ids[1];
	owner->comm[sizeof owner->comm - 1] = '\0';
	return true;
}
