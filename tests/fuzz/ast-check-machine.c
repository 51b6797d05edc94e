// SPDX-License-Identifier: BSD-2-Clause
/* State machines: what lang/syntax/ast-machine.h promises of keys, variables, states, transitions and blocks. */

#include "ast-check.h"

#include <stdlib.h>
#include <string.h>

static void check_locals(const struct lang_machine *machine)
{
	ast_promise(machine->key_count >= 1 && machine->key_count <= 8 && machine->variable_count <= 256);
	for (uint32_t i = 0; i < machine->key_count; i++) {
		const struct lang_key *key = &machine->keys[i];

		ast_promise(key->name && key->kind >= LANG_I64 && key->kind <= LANG_STRING && key->kind != LANG_F64);
		ast_promise((key->kind == LANG_STRING) == (key->bytes > 0));
	}
	for (uint32_t i = 0; i < machine->variable_count; i++) {
		const struct lang_variable *variable = &machine->variables[i];

		ast_promise(variable->name && variable->kind >= LANG_I64 && variable->kind <= LANG_STRING);
		ast_promise((variable->type == EVENT_STRING) == (variable->kind == LANG_STRING));
		ast_promise((variable->kind == LANG_STRING) == (variable->bytes > 0) && variable->bytes % 8 == 0);
		if (variable->initial)
			ast_promise(variable->initial->op == LANG_CONST && variable->initial->kind == variable->kind);
	}
}

static void check_warning(const struct ast_owner *owner, const struct lang_machine_action *action)
{
	for (uint32_t i = 0; i < action->piece_count; i++) {
		ast_promise(action->pieces[i].text != NULL);
		ast_promise(action->pieces[i].value || i + 1 == action->piece_count);
		if (!action->pieces[i].value)
			continue;
		ast_promise(action->pieces[i].value->name != NULL);
		ast_check_expr(owner, action->pieces[i].value->expr);
	}
}

static void check_block(const struct ast_owner *owner, const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct lang_machine_action *action = &block->actions[i];

		if (action->kind == LANG_ASSIGN) {
			ast_promise(action->variable < owner->machine->variable_count);
			ast_promise(action->expr->kind == owner->machine->variables[action->variable].kind);
			ast_check_expr(owner, action->expr);
		} else if (action->kind == LANG_RAISE) {
			ast_check_statement(owner, &action->statement);
		} else {
			ast_promise(action->kind == LANG_WARN);
			check_warning(owner, action);
		}
	}
}

static bool only_assigns(const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind != LANG_ASSIGN)
			return false;
	}
	return true;
}

static bool names_any(const struct lang_machine *machine, const struct lang_transition *transition)
{
	bool any = false;

	for (uint32_t i = 0; i < machine->key_count; i++)
		any |= transition->by[i] == NULL;
	return any;
}

/* How the event finds its instance, and, if the transition copies, the copy its key. */
static void check_keys(const struct lang_machine *machine, const struct lang_transition *transition)
{
	if (!transition->type) {
		ast_promise(transition->after_ns >= 1 && !transition->by && !transition->copy_by);
		ast_promise(!transition->is_any && transition->state != LANG_OUTSIDE);
		return;
	}
	ast_promise(transition->by && names_any(machine, transition) == transition->is_any);
	if (transition->is_any)
		ast_promise(transition->state == LANG_OUTSIDE && transition->target == LANG_TO_END &&
			    transition->block.count == 0 && !transition->copy_by);
	for (uint32_t i = 0; transition->copy_by && i < machine->key_count; i++)
		ast_promise(transition->copy_by[i] != NULL);
	for (uint32_t i = 0; i < machine->transition_count; i++) {
		const struct lang_transition *other = &machine->transitions[i];

		if (other->type == transition->type)
			ast_promise(memcmp(other->by, transition->by, machine->key_count * sizeof *other->by) == 0);
	}
}

static void check_copy(const struct lang_machine *machine, const struct lang_transition *transition)
{
	ast_promise(transition->target != LANG_TO_END && only_assigns(&transition->block));
	if (transition->target == LANG_TO_STATE)
		ast_promise(only_assigns(&machine->states[transition->target_state].entry));
	if (transition->target == LANG_TO_STATE && transition->state != LANG_OUTSIDE)
		ast_promise(only_assigns(&machine->states[transition->state].exit));
}

static void check_transition(const struct lang_machine *machine, const struct lang_transition *transition)
{
	const struct ast_owner owner = { .machine = machine, .type = transition->type };

	ast_promise(transition->state < machine->state_count || transition->state == LANG_OUTSIDE);
	ast_promise(transition->target >= LANG_TO_STATE && transition->target <= LANG_STAYS);
	ast_promise(transition->target != LANG_TO_STATE || transition->target_state < machine->state_count);
	check_keys(machine, transition);
	if (transition->guard) {
		ast_promise(transition->guard->kind == LANG_BOOL);
		ast_check_expr(&owner, transition->guard);
	}
	if (transition->copy_by)
		check_copy(machine, transition);
	check_block(&owner, &transition->block);
}

/* Each state can be reached from the first. */
static void check_reached(const struct lang_machine *machine)
{
	bool *reached = calloc(machine->state_count, sizeof *reached), more = true;
	uint32_t count = 1;

	reached[0] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < machine->transition_count; i++) {
			const struct lang_transition *row = &machine->transitions[i];

			if (row->target != LANG_TO_STATE || reached[row->target_state] ||
			    (row->state != LANG_OUTSIDE && !reached[row->state]))
				continue;
			reached[row->target_state] = more = true;
			count++;
		}
	}
	ast_promise(count == machine->state_count);
	free(reached);
}

void ast_check_machine(const struct lang_machine *machine)
{
	const struct ast_owner owner = { .machine = machine };

	ast_promise(machine->name && machine->pool >= 1 && machine->pool <= LANG_POOL_MAX);
	ast_promise(machine->trail <= LANG_TRAIL_MAX && machine->loss <= LANG_LOSS_KEEP);
	check_locals(machine);
	ast_promise(machine->state_count >= 1 && machine->state_count <= LANG_STATES_MAX);
	for (uint32_t i = 0; i < machine->state_count; i++) {
		ast_promise(machine->states[i].name != NULL);
		check_block(&owner, &machine->states[i].entry);
		check_block(&owner, &machine->states[i].exit);
	}
	ast_promise(machine->transition_count >= 1 && machine->transition_count <= LANG_TRANSITIONS_MAX);
	for (uint32_t i = 0; i < machine->transition_count; i++)
		check_transition(machine, &machine->transitions[i]);
	check_reached(machine);
}
