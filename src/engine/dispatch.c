// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds, once per engine, the tables of what an event means by its type alone: which rules use it, which classes of
 * theirs it concerns and where it carries the key, and which transitions each state has for it. A rule that can do
 * nothing with a type does not appear under it.
 */

#include "engine/machine-priv.h"
#include "engine/step-priv.h"
#include "program/query.h"

#include <errno.h>

/* An entry on its way to the table of its type. */
struct draft {
	uint32_t type; /* program->type_count: types that the program does not know */
	struct engine_entry entry;
};

struct builder {
	struct engine *engine;
	const struct program *program;
	struct engine_rule *rule;    /* at work; */
	struct engine_state *states; /* its own */
	struct draft *drafts;
	size_t draft_count, draft_room;
	uint32_t key_count_max;
};

static bool is_key_slot(const struct builder *builder, const struct program_class *class, uint32_t slot)
{
	for (uint32_t i = 0; i < class->slot_count; i++) {
		if (program_class_slots(builder->program, class)[i] == slot)
			return true;
	}
	return false;
}

static bool leaves(const struct builder *builder, const struct program_state *from,
		   const struct program_transition *transition)
{
	const struct program *program = builder->program;
	const struct program_rule *rule = builder->rule->image;

	if (transition->target >= PROGRAM_TARGET_MATCH)
		return true;
	uint32_t class = program_states(program, rule)[transition->target].class;
	/* A run that comes to another state may replace one there: when the event is done. */
	if (class != from->class ||
	    (builder->rule->latest && transition->target != from - program_states(program, rule)))
		return true;
	for (uint32_t i = 0; i < transition->action_count; i++) {
		if (is_key_slot(builder, &program_classes(program, rule)[class],
				program_actions(program, transition)[i].slot))
			return true;
	}
	return false;
}

static bool writes_timer(const struct builder *builder, const struct program_transition *transition)
{
	const struct program_rule *rule = builder->rule->image;
	const struct program_action *action = program_actions(builder->program, transition);

	for (uint32_t i = 0; rule->flags & PROGRAM_RULE_TIMER && i < transition->action_count; i++) {
		if (action[i].slot == rule->timer_slot)
			return true;
	}
	return false;
}

static void build_transition(struct builder *builder, const struct program_state *from,
			     const struct program_transition *transition, struct engine_transition *built)
{
	const struct program_rule *rule = builder->rule->image;
	const struct engine_planner planner = {
		.code = &builder->engine->code,
		.arena = builder->engine->arena,
		.program = builder->program,
		.rule = rule,
	};
	bool keeps_history = rule->flags & PROGRAM_RULE_SEQUENCE;

	*built = (struct engine_transition){
		.target = transition->target,
		.element = keeps_history ? transition->element : PROGRAM_NONE,
		.forbid = transition->flags & PROGRAM_FORBID,
		.in_place = transition->flags & PROGRAM_IN_PLACE,
		.leaves = leaves(builder, from, transition),
		.copies = transition->flags & PROGRAM_COPY,
		.times = writes_timer(builder, transition),
		.arms = transition->flags & PROGRAM_ARM,
		.reports = transition->flags & PROGRAM_TELL || transition->target == PROGRAM_TARGET_MATCH,
	};
	engine_condition_plan(&planner, transition->fit, &built->fit);
	engine_effect_plan(&planner, transition, &built->effect);
}

static int build_state(struct builder *builder, const struct program_state *state, struct engine_state *built,
		       struct engine_transition *transitions)
{
	const struct program_transition *from = program_transitions(builder->program, state);
	uint32_t count = state->transition_count;
	struct engine_group *groups = arena_zero(builder->engine->arena, count, sizeof *groups);
	struct engine_group *group = groups;

	if (!groups)
		return -ENOMEM;
	built->class = state->class;
	built->deadline = state->flags & PROGRAM_STATE_DEADLINE;
	built->groups = groups;
	for (uint32_t i = 0; i < count; i++) {
		build_transition(builder, state, &from[i], &transitions[i]);
		if (!built->group_count || group->type != from[i].type) {
			group = &groups[built->group_count++];
			group->type = from[i].type;
			group->transitions = &transitions[i];
		}
		group->count++;
	}
	return 0;
}

static int build_states(struct builder *builder, struct engine_transition *transitions)
{
	const struct program_rule *rule = builder->rule->image;
	const struct program_state *states = program_states(builder->program, rule);
	struct engine_state *built = arena_zero(builder->engine->arena, rule->state_count, sizeof *built);
	int result = 0;

	if (!built)
		return -ENOMEM;
	builder->rule->states = builder->states = built;
	for (uint32_t i = 0; i < rule->state_count && !result; i++)
		result = build_state(builder, &states[i], &built[i], &transitions[states[i].first_transition]);
	return result;
}

/*
 * The parts of a key as records carry it, in these fields, or as slots do, without; of those slots of the class that
 * are in mask.
 */
static const struct engine_part *build_parts(struct builder *builder, const struct program_class *class,
					     const uint32_t *fields, uint32_t mask)
{
	const struct program *program = builder->program;
	struct engine_part *parts = arena_zero(builder->engine->arena, class->slot_count, sizeof *parts), *part = parts;

	for (uint32_t i = 0; parts && i < class->slot_count; i++) {
		uint32_t index = program_class_slots(program, class)[i];
		const struct program_slot *slot = &program_slots(program, builder->rule->image)[index];

		if (!(mask >> i & 1))
			continue;
		part->slot = slot->offset;
		if (!fields)
			part->field = (struct engine_field){ .offset = slot->offset, .mask = UINT64_MAX };
		else
			part->field = engine_field_of(&program->fields[fields[i]]);
		if (slot->kind == PROGRAM_STRING)
			part->field.mask = 0;
		part++;
	}
	return parts;
}

/* Gives a class the parts of the image's that are in mask. Returns 0, -ENOMEM. */
static int set_parts(struct builder *builder, const struct program_class *class, uint32_t mask,
		     struct engine_class *built)
{
	built->part_count = (uint32_t)__builtin_popcount(mask);
	built->seed = (builder->engine->seed + built->index + mask) * UINT64_C(0xd6e8feb86659fd93);
	built->parts = build_parts(builder, class, NULL, mask);
	for (uint32_t i = 0; built->parts && i < built->part_count; i++)
		built->has_text |= !built->parts[i].field.mask;
	return built->parts ? 0 : -ENOMEM;
}

static bool has_slots_of(const struct builder *builder, const struct program_class *a, const struct program_class *b)
{
	return a->slot_count == b->slot_count &&
	       memcmp(program_class_slots(builder->program, a), program_class_slots(builder->program, b),
		      a->slot_count * sizeof *builder->program->indices) == 0;
}

/* What the image says of a state's key beside the slots of its class: as a class that nothing waits in. */
static int build_more(struct builder *builder, uint32_t state, struct engine_state *built)
{
	const struct program *program = builder->program;
	uint32_t key = program_states(program, builder->rule->image)[state].key;
	struct engine_class *more;
	struct program_class class;

	if (!key)
		return 0;
	more = arena_zero(builder->engine->arena, 1, sizeof *more);
	if (!more)
		return -ENOMEM;
	class = (struct program_class){ .first_slot = key, .slot_count = program->indices[key - 1] };
	built->more = more;
	return set_parts(builder, &class, program_class_whole(&class), more);
}

/* Which states have the same slots for a key. */
static int build_state_keys(struct builder *builder)
{
	const struct program_rule *rule = builder->rule->image;
	struct engine_state *states = builder->states;

	for (uint32_t i = 1; i < rule->state_count; i++) {
		if (build_more(builder, i, &states[i]))
			return -ENOMEM;
		states[i].key = 1;
		while (!program_same_key(builder->program, rule, i, states[i].key))
			states[i].key++;
	}
	return 0;
}

static int build_counting(struct builder *builder, uint32_t class, struct engine_class *built)
{
	const struct program_rule *rule = builder->rule->image;
	struct engine_counting found, *kept;

	if (builder->engine->options.counts_why || /* then every run is judged */
	    !engine_counting_find(builder->program, rule, class, &found))
		return 0;
	kept = arena_zero(builder->engine->arena, 1, sizeof *kept);
	if (!kept)
		return -ENOMEM;
	*kept = found;
	kept->slot_offset = program_slots(builder->program, rule)[found.slot].offset;
	built->counting = kept;
	return 0;
}

static int build_classes(struct builder *builder)
{
	const struct program_rule *rule = builder->rule->image;
	struct engine_class *built = arena_zero(builder->engine->arena, rule->class_count, sizeof *built);

	if (!built)
		return -ENOMEM;
	builder->rule->classes = built;
	for (uint32_t i = 0; i < rule->class_count; i++) {
		const struct program_class *class = &program_classes(builder->program, rule)[i];

		built[i].index = i;
		while (!has_slots_of(builder, &program_classes(builder->program, rule)[built[i].same], class))
			built[i].same++;
		if (set_parts(builder, class, program_class_whole(class), &built[i]) ||
		    build_counting(builder, i, &built[i]))
			return -ENOMEM;
	}
	return builder->rule->shares ? build_state_keys(builder) : 0;
}

/* The index that finds a machine's instances by the slots in mask, or NULL. */
static const struct engine_any *build_any(struct builder *builder, const struct program_class *class, uint32_t mask)
{
	struct engine_any *any = engine_machine_any(builder->rule->machine, mask);

	if (!any->class.parts && set_parts(builder, class, mask, &any->class))
		return NULL;
	return any;
}

static int build_key(struct builder *builder, uint32_t class_index, const struct program_key *key,
		     struct engine_key *built)
{
	const struct program_class *class = &program_classes(builder->program, builder->rule->image)[class_index];

	built->class = &builder->rule->classes[class_index];
	built->parts = build_parts(builder, class, program_key_fields(builder->program, key),
				   program_key_given(builder->program, class, key));
	return built->parts ? 0 : -ENOMEM;
}

/* An event that leaves some of a machine's key open finds instances by the rest. */
static int build_open_key(struct builder *builder, uint32_t type, struct engine_entry *entry)
{
	const struct program_class *class = program_classes(builder->program, builder->rule->image);
	const struct program_key *key = entry->key_count ? program_key_for(builder->program, class, type) : NULL;

	if (!key || program_key_given(builder->program, class, key) == program_class_whole(class))
		return 0;
	entry->any = build_any(builder, class, program_key_given(builder->program, class, key));
	return entry->any ? 0 : -ENOMEM;
}

static int build_keys(struct builder *builder, uint32_t type, struct engine_entry *entry)
{
	const struct program_rule *rule = builder->rule->image;
	const struct program_class *classes = program_classes(builder->program, rule);
	uint32_t count = 0;
	int result = 0;

	for (uint32_t i = 0; i < rule->class_count; i++)
		count += program_key_for(builder->program, &classes[i], type) != NULL;
	struct engine_key *keys = arena_zero(builder->engine->arena, count, sizeof *keys);
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < rule->class_count && !result; i++) {
		const struct program_key *key = program_key_for(builder->program, &classes[i], type);

		if (key)
			result = build_key(builder, i, key, &keys[entry->key_count++]);
	}
	entry->keys = keys;
	if (count > builder->key_count_max)
		builder->key_count_max = count;
	return result;
}

/* Where the transitions of each state of a machine are, so that an instance finds those for type at once. */
static int build_groups(struct builder *builder, uint32_t type, struct engine_entry *entry)
{
	const struct engine_rule *rule = builder->rule;
	uint32_t count = rule->image->state_count;
	const struct engine_group **groups = arena_zero(builder->engine->arena, count, sizeof *groups);

	for (uint32_t i = 0; groups && i < count; i++)
		groups[i] = engine_step_group(&rule->states[i], type);
	entry->groups = groups;
	return groups ? 0 : -ENOMEM;
}

static int build_entry(struct builder *builder, uint32_t type)
{
	const struct engine_state *start = builder->rule->states;
	const struct program_state *image = program_states(builder->program, builder->rule->image);
	struct draft draft = { .type = type, .entry.rule = builder->rule };
	bool is_machine = builder->rule->machine;
	int result = build_keys(builder, type, &draft.entry);

	draft.entry.machine = is_machine;
	if (!result && is_machine)
		result = build_open_key(builder, type, &draft.entry);
	if (!result && is_machine)
		result = build_groups(builder, type, &draft.entry);
	for (uint32_t i = 0; i < start->group_count; i++) {
		if (start->groups[i].type == type)
			draft.entry.start = start->groups[i];
	}
	if (result || (!draft.entry.key_count && !draft.entry.start.count))
		return result;
	if (!is_machine && !draft.entry.key_count && draft.entry.start.count == 1 &&
	    !builder->engine->options.counts_why) { /* then every condition is asked */
		size_t at = (size_t)(draft.entry.start.transitions - start->groups[0].transitions);
		uint32_t fit = program_transitions(builder->program, image)[at].fit;

		draft.entry.guarded = engine_guard_find(builder->program, fit, &draft.entry.guard);
	}
	if (alloc_grow(&builder->drafts, &builder->draft_room, builder->draft_count, sizeof draft))
		return -ENOMEM;
	builder->drafts[builder->draft_count++] = draft;
	return 0;
}

static int build_entries(struct builder *builder)
{
	const struct program_rule *rule = builder->rule->image;
	const uint32_t *over = program_over(builder->program, rule);
	bool all = rule->flags & PROGRAM_RULE_OVER_ALL;
	uint32_t count = all ? builder->program->type_count + 1 : rule->over_count;
	int result = 0;

	/* The type after the last one finds no entry of its own anywhere, so it stands for every unknown one. */
	for (uint32_t i = 0; i < count && !result; i++)
		result = build_entry(builder, all ? i : over[i]);
	return result;
}

static int build_rule(struct builder *builder, struct engine_transition *transitions)
{
	int result = build_states(builder, transitions);

	if (!result)
		result = build_classes(builder);
	if (!result && builder->rule->image->semantics == PROGRAM_MACHINE)
		result = engine_machine_new(builder->engine, builder->rule);
	return result ? result : build_entries(builder);
}

/* Sorts the drafts, which come in rule order, by type. */
static int build_table(struct builder *builder)
{
	struct engine *engine = builder->engine;
	uint32_t types = builder->program->type_count + 1;
	struct engine_entry *entries = arena_zero(engine->arena, builder->draft_count, sizeof *entries);
	struct engine_dispatch *table = arena_zero(engine->arena, types, sizeof *table);

	if (!entries || !table)
		return -ENOMEM;
	for (size_t i = 0; i < builder->draft_count; i++)
		table[builder->drafts[i].type].count++;
	for (uint32_t i = 0; i < types; i++) {
		bool is_known = i < builder->program->type_count;

		table[i].record_bytes =
			is_known ? builder->program->types[i].record_bytes : sizeof(struct event_header);
		table[i].entries = entries;
		entries += table[i].count;
		table[i].count = 0;
	}
	for (size_t i = 0; i < builder->draft_count; i++) {
		struct engine_dispatch *row = &table[builder->drafts[i].type];

		row->entries[row->count++] = builder->drafts[i].entry;
	}
	engine->dispatch = table;
	if (engine_unread_build(engine, table))
		return -ENOMEM;
	for (uint32_t i = 0; i < types; i++) {
		if (engine_select_build(engine->arena, &table[i], builder->program->rule_count))
			return -ENOMEM;
	}
	return 0;
}

int engine_dispatch_build(struct engine *engine)
{
	const struct program *program = engine->program;
	uint32_t count = program->header->sections[PROGRAM_TRANSITIONS].count;
	struct engine_transition *transitions = arena_zero(engine->arena, count, sizeof *transitions);
	struct builder builder = { .engine = engine, .program = program };
	int result = transitions ? 0 : -ENOMEM;

	engine->transitions = transitions;
	for (uint32_t i = 0; i < program->rule_count && !result; i++) {
		if (engine->options.rules && !engine->options.rules[i])
			continue;
		builder.rule = &engine->rules[i];
		result = build_rule(&builder, transitions);
	}
	if (!result)
		result = engine_code_link(&engine->code);
	if (!result)
		result = build_table(&builder);
	alloc_free(builder.drafts);
	if (result)
		return result;
	engine->cursors = arena_zero(engine->arena, builder.key_count_max, sizeof(struct engine_run *));
	return engine->cursors ? 0 : -ENOMEM;
}
