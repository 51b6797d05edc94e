// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the actions of a machine's transition, in this order: the key and the variables of a new instance, what its
 * blocks assign and what they tell, who moved it, its timer, the trail, the number of what is told.
 */

#include "automaton/machine/machine-priv.h"

#include <errno.h>

static void set_key(struct machine_build *build, const struct machine_row *row, const struct event_field **fields,
		    struct program_transition *out)
{
	for (uint32_t i = 0; i < build->machine->key_count; i++)
		machine_set(build, out, i, machine_key_field(build, i, row->transition, fields[i]));
}

static bool is_zero(const struct lang_variable *variable)
{
	const struct lang_expr *initial = variable->initial;

	if (!initial)
		return true;
	if (variable->kind == LANG_STRING)
		return !*initial->text;
	return variable->kind != LANG_F64 && !initial->integer;
}

/* A new instance is all zero. */
static void set_initials(struct machine_build *build, struct program_transition *out)
{
	for (uint32_t i = 0; i < build->machine->variable_count; i++) {
		const struct lang_variable *variable = &build->machine->variables[i];

		if (!is_zero(variable))
			machine_set(build, out, build->machine->key_count + i, machine_initial(build, variable));
	}
}

static void set_context(struct machine_build *build, struct program_transition *out)
{
	for (uint32_t i = 0; i < 4; i++)
		machine_set(build, out, build->context + i, machine_header(build, i + 1));
}

/* A word of two halves. */
static uint32_t halves(struct machine_build *build, uint32_t high, uint32_t low)
{
	return node_op(&build->base, PROGRAM_OP_OR, PROGRAM_U64, high, machine_convert(build, PROGRAM_U64, low));
}

static void set_trail(struct machine_build *build, const struct machine_row *row, struct program_transition *out)
{
	uint32_t words = build->machine->trail * PROGRAM_TRAIL_WORDS, slot = build->trail;
	uint64_t number = program_build_count(build->base.unit->out, PROGRAM_TRANSITIONS) - build->first_transition + 1;
	uint32_t pid;

	for (uint32_t i = words; i > PROGRAM_TRAIL_WORDS && !row->opens; i--)
		machine_set(build, out, slot + i - 1, node_slot(&build->base, slot + i - 1 - PROGRAM_TRAIL_WORDS));
	machine_set(build, out, slot, machine_convert(build, PROGRAM_U64, machine_header(build, 0)));
	machine_set(build, out, slot + 1, halves(build, machine_word(build, number << 32), machine_header(build, 1)));
	pid = node_op(&build->base, PROGRAM_OP_SHL, PROGRAM_U64,
		      machine_convert(build, PROGRAM_U64, machine_header(build, 2)), machine_word(build, 32));
	machine_set(build, out, slot + 2, halves(build, pid, machine_header(build, 3)));
}

static uint32_t run_blocks(struct machine_build *build, const struct machine_row *row, struct program_transition *out)
{
	const struct machine_scope scope = { .transition = row->transition };
	struct machine_reporting reporting = { .row = row, .out = out };

	if (machine_report_begin(build, &reporting))
		return 0;
	for (uint32_t i = 0; i < row->action_count; i++) {
		const struct lang_machine_action *action = row->actions[i];

		if (action->kind == LANG_ASSIGN) {
			uint32_t node = machine_expr(build, action->expr, &scope);

			node = machine_narrow(build, &build->machine->variables[action->variable], node);
			machine_set(build, out, build->machine->key_count + action->variable, node);
			reporting.epoch++;
		} else {
			machine_report(build, &reporting, i);
		}
	}
	return row->reports ? machine_report_end(build, &reporting) : 0;
}

void machine_actions(struct machine_build *build, const struct machine_row *row, struct program_transition *out)
{
	const struct lang_transition *transition = row->transition;
	bool kept = row->target != PROGRAM_TARGET_END;
	uint32_t number;

	if (row->opens)
		set_key(build, row, transition->by, out);
	else if (transition->copy_by)
		set_key(build, row, transition->copy_by, out);
	if (!kept && !row->reports)
		return; /* what it does is seen nowhere */
	if (row->opens)
		set_initials(build, out);
	if (kept && build->opener != PROGRAM_NONE && (row->opens || transition->copy_by))
		machine_set(build, out, build->opener, machine_convert(build, PROGRAM_U64, machine_header(build, 2)));
	number = run_blocks(build, row, out);
	if (kept && build->timer != PROGRAM_NONE) {
		if (transition->type)
			set_context(build, out);
		if (row->opens || row->to != PROGRAM_NONE || transition->copy_by)
			machine_arm(build, row, out);
		else if (!transition->type)
			machine_rearm(build, row, out);
	}
	if (build->trail != PROGRAM_NONE)
		set_trail(build, row, out);
	if (!row->reports)
		return;
	machine_set(build, out, build->notice, machine_word(build, number));
	if (kept)
		out->flags |= PROGRAM_TELL;
	else
		out->target = PROGRAM_TARGET_MATCH;
}
