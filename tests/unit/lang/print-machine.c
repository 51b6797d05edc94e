// SPDX-License-Identifier: BSD-2-Clause

#include "print-machine.h"

#include "print-ast.h"

#include <inttypes.h>

static const char *const kinds[] = {
	[LANG_I64] = "i64", [LANG_U64] = "u64", [LANG_F64] = "f64", [LANG_BOOL] = "bool", [LANG_STRING] = "string",
};

static void print_fields(struct text_buffer *text, const char *what, const struct event_field **fields, uint32_t count)
{
	text_append(text, what);
	for (uint32_t i = 0; i < count; i++)
		text_printf(text, " %s", fields[i] ? fields[i]->name : "*");
}

static void print_action(struct text_buffer *text, const struct lang_machine_action *action)
{
	if (action->kind == LANG_RAISE) {
		print_statement(text, NULL, &action->statement);
		return;
	}
	if (action->kind == LANG_ASSIGN) {
		text_printf(text, "var%u = ", action->variable);
		print_expr(text, NULL, action->expr);
	} else {
		text_append(text, "warn");
		for (uint32_t i = 0; i < action->piece_count; i++) {
			text_append(text, " ");
			text_quote(text, action->pieces[i].text);
			if (!action->pieces[i].value)
				continue;
			text_printf(text, " %s=", action->pieces[i].value->name);
			print_expr(text, NULL, action->pieces[i].value->expr);
		}
	}
	text_append(text, "\n");
}

static void print_block(struct text_buffer *text, const char *what, const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		text_append(text, what);
		print_action(text, &block->actions[i]);
	}
}

static void print_transition(struct text_buffer *text, const struct lang_machine *machine,
			     const struct lang_transition *transition)
{
	text_append(text, transition->state == LANG_OUTSIDE ? "*" : machine->states[transition->state].name);
	if (transition->type) {
		text_printf(text, " on %s", transition->type->name);
		print_fields(text, " by", transition->by, machine->key_count);
	} else {
		text_printf(text, " after %" PRIu64, transition->after_ns);
	}
	if (transition->copy_by)
		print_fields(text, " copy", transition->copy_by, machine->key_count);
	if (transition->is_any)
		text_append(text, " any");
	if (transition->guard) {
		text_append(text, " where ");
		print_expr(text, NULL, transition->guard);
	}
	if (transition->target == LANG_TO_STATE)
		text_printf(text, " -> %s", machine->states[transition->target_state].name);
	text_append(text, transition->target == LANG_TO_END ? " -> end\n" : "\n");
	print_block(text, "  ", &transition->block);
}

void print_machine(struct text_buffer *text, const struct lang_machine *machine)
{
	text_printf(text, "%s pool %" PRIu64 " trail %u loss %d\n", machine->name, machine->pool, machine->trail,
		    machine->loss);
	for (uint32_t i = 0; i < machine->key_count; i++)
		text_printf(text, "key %s %s %u\n", machine->keys[i].name, kinds[machine->keys[i].kind],
			    machine->keys[i].bytes);
	for (uint32_t i = 0; i < machine->variable_count; i++) {
		const struct lang_variable *variable = &machine->variables[i];

		text_printf(text, "var %s %s %s %u", variable->name, event_value_name(variable->type),
			    kinds[variable->kind], variable->bytes);
		if (variable->initial) {
			text_append(text, " = ");
			print_expr(text, NULL, variable->initial);
		}
		text_append(text, "\n");
	}
	for (uint32_t i = 0; i < machine->state_count; i++) {
		text_printf(text, "state %s\n", machine->states[i].name);
		print_block(text, "  entry ", &machine->states[i].entry);
		print_block(text, "  exit ", &machine->states[i].exit);
	}
	for (uint32_t i = 0; i < machine->transition_count; i++)
		print_transition(text, machine, &machine->transitions[i]);
}
