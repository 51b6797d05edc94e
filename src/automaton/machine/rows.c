// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders the transitions of a machine's states, which are tried in this order: for each type of event the copies, then
 * what has a WHERE, then what has none; a state's own before those outside of states. So for timers.
 */

#include "automaton/machine/machine-priv.h"

#include <errno.h>

/* One state on its way into the image. */
struct rows_output {
	uint32_t state; /* of the machine */
	uint32_t image; /* of the image */
	struct machine_row *rows;
	uint32_t count;
};

static bool stands_in(const struct lang_transition *transition, const struct rows_output *output)
{
	if (output->image == 0 && (!transition->type || transition->is_any || transition->copy_by))
		return false;
	return transition->state == output->state || machine_is_outside(transition);
}

static uint32_t image_state(const struct machine_build *build, uint32_t state)
{
	return state == 0 ? build->start : state;
}

static uint32_t flatten(struct machine_row *row, const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct lang_machine_action *action = &block->actions[i];

		row->actions[row->action_count++] = action;
		row->reports |= action->kind != LANG_ASSIGN;
	}
	return row->action_count;
}

/* The blocks that are run, one behind the other. */
static void set_blocks(struct machine_build *build, struct machine_row *row)
{
	const struct lang_transition *transition = row->transition;
	const struct lang_block *exit = &build->machine->states[row->from].exit;
	const struct lang_block *entry = row->to == PROGRAM_NONE ? NULL : &build->machine->states[row->to].entry;
	uint32_t count = exit->count + transition->block.count + (entry ? entry->count : 0);

	row->actions = arena_zero(build->base.arena, count, sizeof(void *));
	if (!row->actions) {
		rule_fail(&build->base, -ENOMEM);
		return;
	}
	if (transition->is_any)
		return;
	if (transition->target != LANG_STAYS)
		flatten(row, exit);
	flatten(row, &transition->block);
	if (entry)
		flatten(row, entry);
}

static void add_machine_row(struct machine_build *build, struct rows_output *output,
			    const struct lang_transition *transition)
{
	struct machine_row *row = &output->rows[output->count++];

	*row = (struct machine_row){
		.transition = transition,
		.from = output->state,
		.opens = output->image == 0,
		.target = PROGRAM_TARGET_END,
		.to = transition->target == LANG_TO_STATE ? transition->target_state : PROGRAM_NONE,
	};
	if (row->opens)
		row->target = row->to == PROGRAM_NONE || row->to == 0 ? PROGRAM_TARGET_END : row->to;
	else if (transition->target == LANG_TO_STATE)
		row->target = image_state(build, row->to);
	else if (transition->target == LANG_STAYS)
		row->target = output->image;
	set_blocks(build, row);
	if (!transition->copy_by || (!row->reports && row->target != PROGRAM_TARGET_END) || build->base.error)
		return;
	diag_error(build->base.unit->diag, &transition->location, 0,
		   row->reports ? "a copy may only assign variables, also in the EXIT and ENTRY that it passes"
				: "a copy must not end at the same event");
	rule_fail(&build->base, -EINVAL);
}

/* The rows for one type of event; NULL: the timer. */
static void add_rows_of_type(struct machine_build *build, struct rows_output *output, const struct event_type *type)
{
	for (uint32_t pass = 0; pass < 8; pass++) {
		bool copies = pass < 4, guarded = pass % 4 < 2, outside = pass % 2;

		for (uint32_t i = 0; i < build->machine->transition_count; i++) {
			const struct lang_transition *transition = &build->machine->transitions[i];

			if (transition->type == type && stands_in(transition, output) &&
			    !!transition->copy_by == copies && !!transition->guard == guarded &&
			    machine_is_outside(transition) == outside)
				add_machine_row(build, output, transition);
		}
	}
}

/* Without an instance, the last rows that do nothing are not worth being tried. */
static void drop_idle(struct rows_output *output, uint32_t first)
{
	while (output->image == 0 && output->count > first && !output->rows[output->count - 1].reports &&
	       output->rows[output->count - 1].target == PROGRAM_TARGET_END)
		output->count--;
}

static uint32_t guard_of(struct machine_build *build, const struct machine_row *row)
{
	const struct lang_transition *transition = row->transition;
	const struct machine_scope scope = { .transition = transition,
					     .opens = row->opens,
					     .copies = transition->copy_by != NULL };
	uint32_t *known = &build->fits[transition - build->machine->transitions];

	if (!transition->guard)
		return PROGRAM_NONE;
	if (row->opens)
		return machine_expr(build, transition->guard, &scope);
	if (!*known)
		*known = machine_expr(build, transition->guard, &scope) + 1;
	return *known - 1;
}

static void emit_row(struct machine_build *build, const struct machine_row *row)
{
	const struct lang_transition *transition = row->transition;
	struct program_transition out = {
		.type = transition->type ? unit_type(build->base.unit, transition->type) : PROGRAM_TIMER,
		.target = row->target,
		.fit = guard_of(build, row),
		.hold = PROGRAM_NONE,
		.element = PROGRAM_NONE,
		.flags = transition->copy_by ? PROGRAM_COPY : 0,
		.note = PROGRAM_NONE,
	};

	if (!transition->type)
		out.note = rule_text(&build->base, machine_after_note(build, transition->after_ns));
	if (!transition->type && machine_has_several(build, row->from))
		out.fit = node_and(&build->base, machine_due(build, transition->after_ns), out.fit);
	if (!transition->is_any)
		machine_actions(build, row, &out);
	program_build_add(build->base.unit->out, PROGRAM_TRANSITIONS, &out, 1);
}

static void emit_state(struct machine_build *build, struct rows_output *output, struct program_rule *rule)
{
	struct program_build *image = build->base.unit->out;
	const char *name = build->machine->states[output->state].name;
	struct program_state row = {
		.label = rule_text(&build->base, name),
		.first_transition = program_build_count(image, PROGRAM_TRANSITIONS),
		.class = output->image == 0 ? PROGRAM_NONE : 0,
	};

	output->count = 0;
	for (uint32_t i = 0; i < build->model_count; i++) {
		uint32_t first = output->count;

		add_rows_of_type(build, output, build->models[i]->type);
		drop_idle(output, first);
	}
	if (output->image != 0)
		add_rows_of_type(build, output, NULL);
	for (uint32_t i = 0; i < output->count && !build->base.error; i++)
		emit_row(build, &output->rows[i]);
	if (output->image != 0 && machine_has_several(build, output->state) && !build->base.error)
		machine_fallbacks(build, output->state, output->image);
	row.transition_count = program_build_count(image, PROGRAM_TRANSITIONS) - row.first_transition;
	program_build_add(image, PROGRAM_STATES, &row, 1);
	rule->state_count++;
}

void machine_emit_states(struct machine_build *build, struct program_rule *out)
{
	struct rows_output output = { 0 };

	output.rows = arena_zero(build->base.arena, build->machine->transition_count, sizeof *output.rows);
	if (!output.rows) {
		rule_fail(&build->base, -ENOMEM);
		return;
	}
	out->first_state = program_build_count(build->base.unit->out, PROGRAM_STATES);
	build->first_transition = program_build_count(build->base.unit->out, PROGRAM_TRANSITIONS);
	for (uint32_t i = 0; i < build->state_count && !build->base.error; i++) {
		output.state = i == build->start ? 0 : i;
		output.image = i;
		emit_state(build, &output, out);
	}
}
