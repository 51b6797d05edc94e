// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiles a machine into the tables of the image: runs the passes in order, and writes the keys by which instances are
 * found.
 */

#include "automaton/machine/machine-priv.h"

#include <errno.h>

/* Whether an instance may come back to the start, which then has a state of the image besides "no instance". */
static bool comes_back(const struct lang_machine *machine)
{
	for (uint32_t i = 0; i < machine->transition_count; i++) {
		const struct lang_transition *transition = &machine->transitions[i];

		if (transition->target == LANG_TO_STATE && transition->target_state == 0 && transition->state != 0 &&
		    machine->state_count > 1)
			return true;
	}
	return false;
}

static int init_machine(struct machine_build *build, struct unit_build *unit, const struct lang_machine *machine)
{
	*build = (struct machine_build){ .machine = machine };
	build->base = (struct rule_build){ .unit = unit, .sort = "machine", .rule = &build->named };
	build->named = (struct lang_rule){ .name = machine->name, .location = machine->location };
	build->base.arena = arena_new();
	if (!build->base.arena)
		return -ENOMEM;
	build->models = arena_zero(build->base.arena, machine->transition_count, sizeof(void *));
	build->fits = arena_zero(build->base.arena, machine->transition_count, sizeof *build->fits);
	build->start = comes_back(machine) ? machine->state_count : PROGRAM_NONE;
	build->state_count = machine->state_count + (build->start != PROGRAM_NONE);
	return build->models && build->fits ? 0 : -ENOMEM;
}

static void fini(struct machine_build *build)
{
	alloc_free(build->base.slots);
	alloc_free(build->notices);
	arena_free(build->base.arena);
}

/* An event finds one instance, so all transitions for its type must ask for the same one. */
static int check_model(struct machine_build *build, const struct lang_transition *model,
		       const struct lang_transition *transition)
{
	for (uint32_t i = 0; i < build->machine->key_count; i++) {
		if (model->by[i] == transition->by[i])
			continue;
		return diag_error(build->base.unit->diag, &transition->location, -EINVAL,
				  "an event of type '%s' has its key '%s' in one field only; another transition takes "
				  "it from another",
				  transition->type->name, build->machine->keys[i].name);
	}
	return 0;
}

/* The types that the machine takes, in the order of the file. */
static int collect_models(struct machine_build *build)
{
	int err = 0;

	for (uint32_t i = 0; i < build->machine->transition_count && !err; i++) {
		const struct lang_transition *transition = &build->machine->transitions[i];
		uint32_t j = 0;

		if (!transition->type)
			continue;
		while (j < build->model_count && build->models[j]->type != transition->type)
			j++;
		if (j < build->model_count)
			err = check_model(build, build->models[j], transition);
		else
			build->models[build->model_count++] = transition;
	}
	return err;
}

static const char *class_label(struct machine_build *build)
{
	const char *label = "";

	for (uint32_t i = 0; i < build->machine->key_count && label; i++)
		label = arena_format(build->base.arena, "%s%s%s", label, i ? ", " : "", build->machine->keys[i].name);
	return label && !*label ? "one instance" : label;
}

static uint32_t model_key_field(struct machine_build *build, const struct lang_transition *model, uint32_t key)
{
	return model->by[key] ? unit_field(build->base.unit, model->type, model->by[key]) : PROGRAM_NONE;
}

static void emit_class(struct machine_build *build, struct program_rule *out)
{
	struct program_build *image = build->base.unit->out;
	struct program_class class = {
		.first_slot = program_build_count(image, PROGRAM_INDICES),
		.slot_count = build->machine->key_count,
		.first_key = program_build_count(image, PROGRAM_KEYS),
		.key_count = build->model_count,
		.label = rule_text(&build->base, class_label(build)),
	};

	for (uint32_t i = 0; i < build->machine->key_count; i++)
		program_build_add(image, PROGRAM_INDICES, &i, 1);
	for (uint32_t i = 0; i < build->model_count; i++) {
		const struct lang_transition *model = build->models[i];
		struct program_key key = {
			.type = unit_type(build->base.unit, model->type),
			.first_field = program_build_count(image, PROGRAM_INDICES),
		};

		for (uint32_t j = 0; j < build->machine->key_count; j++) {
			uint32_t field = model_key_field(build, model, j);

			program_build_add(image, PROGRAM_INDICES, &field, 1);
		}
		program_build_add(image, PROGRAM_KEYS, &key, 1);
	}
	out->first_class = program_build_add(image, PROGRAM_CLASSES, &class, 1);
	out->class_count = 1;
}

static void emit_stream(struct machine_build *build, struct program_rule *out)
{
	struct program_build *image = build->base.unit->out;

	out->first_over = program_build_count(image, PROGRAM_INDICES);
	out->over_count = build->model_count;
	for (uint32_t i = 0; i < build->model_count; i++) {
		uint32_t type = unit_type(build->base.unit, build->models[i]->type);

		program_build_add(image, PROGRAM_INDICES, &type, 1);
	}
}

/* Places of a machine without a key: a single instance needs another before a CPU has given its last one back. */
enum { LONE_POOL = 8 };

static void emit_machine(struct machine_build *build)
{
	const struct lang_machine *machine = build->machine;
	struct program_build *image = build->base.unit->out;
	struct program_rule out = {
		.name = rule_text(&build->base, machine->name),
		.semantics = PROGRAM_MACHINE,
		.loss = (uint8_t)machine->loss,
		.pool = machine->key_count || machine->pool < LONE_POOL ? machine->pool : LONE_POOL,
		.first_element = program_build_count(image, PROGRAM_ELEMENTS),
		.flags = (build->timer != PROGRAM_NONE ? PROGRAM_RULE_TIMER : 0) |
			 (machine->key_count && machine->full == LANG_REPLACE ? PROGRAM_RULE_REPLACE : 0),
		.timer_slot = build->timer != PROGRAM_NONE ? build->timer : 0,
	};

	out.place = rule_text(&build->base, rule_location(&build->base));
	out.source = out.name;
	machine_emit_states(build, &out);
	machine_emit_notices(build, &out);
	emit_class(build, &out);
	emit_stream(build, &out);
	rule_emit_slots(&build->base, &out);
	out.context_slot = build->context;
	if (build->notice_count)
		out.notice_slot = build->notice;
	if (build->opener != PROGRAM_NONE) {
		out.per_process = (uint32_t)machine->per_process;
		out.opener_slot = build->opener;
	}
	if (build->trail != PROGRAM_NONE) {
		out.trail_slot = build->trail;
		out.trail_count = machine->trail;
	}
	rule_emit_properties(&build->base, &machine->properties, &out);
	program_build_add(image, PROGRAM_RULES, &out, 1);
}

int machine_compile(struct unit_build *unit, const struct lang_machine *machine)
{
	struct machine_build build;
	int err = init_machine(&build, unit, machine);

	if (!err)
		err = collect_models(&build);
	if (!err) {
		machine_slots(&build);
		err = build.base.error;
	}
	if (!err) {
		emit_machine(&build);
		err = build.base.error;
	}
	fini(&build);
	return err;
}
