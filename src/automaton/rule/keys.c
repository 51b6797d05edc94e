// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the key under which the runs of a state wait: the values that the next event must carry whatever it turns
 * out to be. An equality that the key expresses is not tested again.
 */

#include "automaton/rule/rule-priv.h"

#include <errno.h>
#include <string.h>

static const struct equality *equality_of(const struct pending_transition *pending, uint32_t slot)
{
	for (uint32_t i = 0; i < pending->equality_count; i++) {
		if (pending->equalities[i].slot == slot)
			return &pending->equalities[i];
	}
	return NULL;
}

/* Whether every transition of state demands an event field equal to slot; finds: one field per event type, alike. */
static bool serves(const struct state *state, uint32_t slot, bool finds)
{
	for (size_t i = 0; i < state->pending_count; i++) {
		const struct equality *mine = equality_of(&state->pending[i], slot);

		if (!mine || (finds && mine->differs))
			return false;
		for (size_t j = 0; j < i && finds; j++) {
			if (state->pending[j].type == state->pending[i].type &&
			    equality_of(&state->pending[j], slot)->field != mine->field)
				return false;
		}
	}
	return true;
}

void keys_add(struct rule_build *build, struct class_row *class, const struct key_row *key)
{
	for (size_t i = 0; i < class->key_count; i++) {
		if (class->keys[i].type == key->type)
			return;
	}
	if (alloc_grow(&class->keys, &class->key_capacity, class->key_count, sizeof *class->keys)) {
		rule_fail(build, -ENOMEM);
		return;
	}
	class->keys[class->key_count++] = *key;
}

/* The key of one of state's types under slots. */
static struct key_row class_key(struct rule_build *build, const struct pending_transition *pending,
				const struct class_row *class)
{
	struct key_row key = { .type = unit_type(build->unit, pending->type) };

	for (uint32_t i = 0; i < class->slot_count; i++)
		key.fields[i] = equality_of(pending, class->slots[i])->field;
	return key;
}

static bool fits_class(struct rule_build *build, const struct state *state, const struct class_row *wanted,
		       const struct class_row *class)
{
	if (class->slot_count != wanted->slot_count ||
	    memcmp(class->slots, wanted->slots, class->slot_count * sizeof class->slots[0]) != 0)
		return false;
	for (size_t i = 0; i < state->pending_count; i++) {
		struct key_row key = class_key(build, &state->pending[i], wanted);

		for (size_t j = 0; j < class->key_count; j++) {
			if (class->keys[j].type == key.type &&
			    memcmp(class->keys[j].fields, key.fields, wanted->slot_count * sizeof key.fields[0]) != 0)
				return false;
		}
	}
	return true;
}

static uint32_t add_class(struct rule_build *build, const struct class_row *class)
{
	if (alloc_grow(&build->classes, &build->class_capacity, build->class_count, sizeof *build->classes)) {
		rule_fail(build, -ENOMEM);
		return 0;
	}
	build->classes[build->class_count] = *class;
	return (uint32_t)build->class_count++;
}

/* As much of a key as the state's transitions agree on. Returns how many slots. */
static uint32_t agreed(const struct rule_build *build, const struct state *state, bool finds, uint32_t *slots)
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < build->slot_count && count < PROGRAM_KEY_SLOTS_MAX; slot++) {
		if (state->pending_count && serves(state, slot, finds))
			slots[count++] = slot;
	}
	return count;
}

bool keys_has(const struct rule_build *build, const struct state *state)
{
	uint32_t slots[PROGRAM_KEY_SLOTS_MAX];

	return agreed(build, state, false, slots) > 0;
}

static bool same_slots(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
	return a_count == b_count && memcmp(a, b, a_count * sizeof *a) == 0;
}

/* Leaves of a class's slots those by which every state with the key of this one finds runs. */
static void leave_shared(const struct rule_build *build, const struct state *state, struct class_row *class)
{
	uint32_t key[PROGRAM_KEY_SLOTS_MAX], key_count = agreed(build, state, false, key);

	for (size_t i = 1; i < build->state_count; i++) {
		uint32_t slots[PROGRAM_KEY_SLOTS_MAX], count = agreed(build, &build->states[i], false, slots);
		uint32_t left = 0;

		if (!same_slots(slots, count, key, key_count))
			continue;
		for (uint32_t j = 0; j < class->slot_count; j++) {
			if (serves(&build->states[i], class->slots[j], true))
				class->slots[left++] = class->slots[j];
		}
		class->slot_count = left;
	}
}

/*
 * The skipping semantics: a class by the whole key. PER KEY counts the runs of a key in whatever state, so states with
 * one key have one class, too, even where one of them could find its runs by more of it.
 */
static void choose_class(struct rule_build *build, struct state *state)
{
	struct class_row wanted = { 0 };
	uint32_t found = PROGRAM_NONE;

	wanted.slot_count = agreed(build, state, true, wanted.slots);
	if (build->rule->per_key)
		leave_shared(build, state, &wanted);
	for (uint32_t i = 0; i < build->class_count && found == PROGRAM_NONE; i++) {
		if (fits_class(build, state, &wanted, &build->classes[i]))
			found = i;
	}
	if (found == PROGRAM_NONE)
		found = add_class(build, &wanted);
	for (size_t i = 0; i < state->pending_count && !build->error; i++) {
		struct key_row key = class_key(build, &state->pending[i], &wanted);

		keys_add(build, &build->classes[found], &key);
	}
	state->class = found;
}

/* Whether type has the join field with another kind, by which no key can be compared. */
static bool is_differing(const struct lang_join *join, const struct event_type *type)
{
	const struct event_field *model = join->fields[0], *field = event_field_find(type, join->name);

	return field && (unit_kind(field->value) != unit_kind(model->value) ||
			 (field->value == EVENT_STRING && field->bytes != model->bytes));
}

/* The key of type under the joins; false where it lacks one of the fields or has it with another kind. */
static bool join_key(struct rule_build *build, const struct event_type *type, struct key_row *key)
{
	const struct lang_rule *rule = build->rule;

	key->type = unit_type(build->unit, type);
	for (uint32_t i = 0; i < rule->join_count; i++) {
		const struct event_field *field = event_field_find(type, rule->joins[i].name);

		if (!field || is_differing(&rule->joins[i], type))
			return false;
		key->fields[i] = unit_field(build->unit, type, field);
	}
	return true;
}

static bool joins_are_header(const struct lang_rule *rule)
{
	for (uint32_t i = 0; i < rule->join_count; i++) {
		if (!event_field_is_header(rule->joins[i].fields[0]))
			return false;
	}
	return true;
}

static void add_stream_key(struct rule_build *build, struct class_row *class, const struct event_type *type)
{
	struct key_row key = { 0 };

	if (!class->slot_count)
		key.type = unit_type(build->unit, type);
	else if (!join_key(build, type, &key))
		return;
	keys_add(build, class, &key);
}

/* One class for all states, with keys for the types of the stream (strict) or of the pattern (DROP). */
static void choose_one(struct rule_build *build, bool joined)
{
	const struct lang_rule *rule = build->rule;
	struct class_row class = { .slot_count = joined ? rule->join_count : 0 };
	bool strict = rule->semantics == LANG_STRICT_SEQUENCE || rule->semantics == LANG_STRICT_PARTITION;

	for (uint32_t i = 0; i < class.slot_count; i++)
		class.slots[i] = slots_join(build, i);
	for (uint32_t i = 0; i < rule->element_count; i++)
		add_stream_key(build, &class, rule->elements[i].type);
	for (uint32_t i = 0; strict && i < rule->over_count; i++)
		add_stream_key(build, &class, rule->over[i]);
	if (strict && rule->over_all) {
		struct key_row others = { .type = PROGRAM_NONE };

		for (size_t i = 0; i < build->unit->type_count; i++)
			add_stream_key(build, &class, build->unit->types[i].type);
		if (!class.slot_count || joins_are_header(rule)) {
			for (uint32_t i = 0; i < class.slot_count; i++)
				others.fields[i] = class.keys[0].fields[i];
			keys_add(build, &class, &others);
		}
	}
	for (size_t i = 1; i < build->state_count; i++)
		build->states[i].class = 0;
	add_class(build, &class);
}

static int check_join_type(struct rule_build *build, const struct lang_join *join, const struct event_type *type)
{
	if (!is_differing(join, type))
		return 0;
	return diag_error(build->unit->diag, &join->location, -EINVAL,
			  "'%s' differs too much between '%s' and '%s' to define a partition", join->name,
			  build->rule->elements[0].type->name, type->name);
}

/* What is in the stream interrupts by the key, too; with `OVER { * }` it is there unasked. */
static int check_stream(struct rule_build *build, const struct lang_join *join)
{
	const struct lang_rule *rule = build->rule;
	int err = 0;

	for (uint32_t i = 0; i < rule->over_count && !err; i++)
		err = check_join_type(build, join, rule->over[i]);
	for (size_t i = 0; rule->over_all && i < build->unit->type_count; i++) {
		const struct event_type *type = build->unit->types[i].type;

		if (is_differing(join, type))
			diag_add(build->unit->diag, ASTERISM_WARNING, &join->location, NULL,
				 "'%s' differs too much between '%s' and '%s': no '%s' ends a run", join->name,
				 rule->elements[0].type->name, type->name, type->name);
	}
	return err;
}

static int check_partition(struct rule_build *build)
{
	const struct lang_rule *rule = build->rule;
	int err = 0;

	if (rule->join_count > PROGRAM_KEY_SLOTS_MAX)
		return diag_error(build->unit->diag, &rule->joins[PROGRAM_KEY_SLOTS_MAX].location, -EINVAL,
				  "more than %d join fields", PROGRAM_KEY_SLOTS_MAX);
	for (uint32_t i = 0; i < rule->join_count && !err; i++) {
		const struct lang_join *join = &rule->joins[i];

		if (join->fields[0]->value == EVENT_F64)
			return diag_error(build->unit->diag, &join->location, -EINVAL,
					  "'%s' is a real number and cannot define a partition", join->name);
		for (uint32_t j = 0; j < rule->element_count && !err; j++)
			err = check_join_type(build, join, rule->elements[j].type);
		if (!err && rule->semantics == LANG_STRICT_PARTITION)
			err = check_stream(build, join);
	}
	return err;
}

/* What else is a run's key in state: its class has the joins alone, or an event cannot be found by it. */
static void add_more(struct rule_build *build, struct state *state)
{
	const struct class_row *class = &build->classes[state->class];
	uint32_t slots[PROGRAM_KEY_SLOTS_MAX], count = agreed(build, state, false, slots);

	for (uint32_t i = 0; i < count; i++) {
		bool found = false;

		for (uint32_t j = 0; j < class->slot_count; j++)
			found |= class->slots[j] == slots[i];
		if (!found)
			state->more[state->more_count++] = slots[i];
	}
}

/* PER KEY is judged where a run is opened. */
static void check_per_key(struct rule_build *build)
{
	const struct state *start = &build->states[0];

	for (size_t i = 0; i < start->pending_count; i++) {
		uint32_t target = start->pending[i].target;
		const struct state *state = target < build->state_count ? &build->states[target] : NULL;

		if (!state || build->classes[state->class].slot_count || state->more_count)
			continue;
		diag_error(build->unit->diag, &build->rule->per_key_location, 0,
			   "PER KEY bounds the runs of one key, and the runs of '%s' begin without one: an equality "
			   "between its first event and the next would be one",
			   build->rule->name);
		rule_fail(build, -EINVAL);
		return;
	}
}

static void choose_classes(struct rule_build *build)
{
	enum lang_semantics semantics = build->rule->semantics;
	bool drops = build->rule->drop && semantics != LANG_STRICT_SEQUENCE;

	if (semantics == LANG_STRICT_PARTITION || (drops && build->rule->join_count)) {
		int err = check_partition(build);

		if (err)
			rule_fail(build, err);
		else
			choose_one(build, true);
		return;
	}
	if (semantics == LANG_STRICT_SEQUENCE) {
		choose_one(build, false);
		return;
	}
	for (size_t i = 1; i < build->state_count && !build->error; i++)
		choose_class(build, &build->states[i]);
	for (size_t i = 0; i < build->class_count && drops; i++)
		build->drops_all |= build->classes[i].slot_count != 0;
}

void keys_choose(struct rule_build *build)
{
	choose_classes(build);
	if (build->error || !(build->rule->latest || build->rule->per_key))
		return;
	for (size_t i = 1; i < build->state_count; i++)
		add_more(build, &build->states[i]);
	if (build->rule->per_key)
		check_per_key(build);
}
