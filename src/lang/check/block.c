// SPDX-License-Identifier: BSD-2-Clause
/* Checks the actions of a state machine: what is assigned, told, raised. */

#include "lang/check/machine-priv.h"

static bool check_assign(struct lang_check *c, const struct lang_syntax_action *syntax,
			 struct lang_machine_action *action)
{
	struct lang_expr *expr = lang_check_value(c, syntax->expr);

	action->variable = lang_find_variable(c, &syntax->variable);
	if (!expr || action->variable == LANG_NO_NAME)
		return false;
	const struct lang_variable *variable = &c->scope->machine->variables[action->variable];
	struct event_field field = { .name = variable->name, .value = variable->type };

	action->expr = variable->type ? lang_type_assign(c, expr, &field) : NULL;
	return action->expr != NULL;
}

static bool check_warn(struct lang_check *c, const struct lang_syntax_action *syntax,
		       struct lang_machine_action *action)
{
	bool fine = true;

	action->pieces = lang_keep(c, syntax->piece_count, sizeof *action->pieces);
	if (!action->pieces)
		return false;
	for (const struct lang_syntax_piece *at = syntax->pieces; at; at = at->next) {
		struct lang_piece *piece = &action->pieces[action->piece_count++];

		piece->text = at->text;
		if (!at->expr)
			continue;
		piece->value = lang_keep(c, 1, sizeof *piece->value);
		if (!piece->value)
			return false;
		piece->value->name = at->name;
		piece->value->location = at->expr->location;
		piece->value->expr = lang_check_value(c, at->expr);
		fine &= piece->value->expr != NULL;
	}
	return fine;
}

void lang_check_block(struct lang_check *c, const struct lang_syntax_block *syntax, struct lang_block *block)
{
	block->actions = lang_keep(c, syntax->count, sizeof *block->actions);
	c->context = LANG_IN_VALUE;
	for (const struct lang_syntax_action *at = syntax->actions; at && block->actions; at = at->next) {
		struct lang_machine_action *action = &block->actions[block->count++];

		action->kind = at->kind;
		action->location = at->location;
		if (at->kind == LANG_ASSIGN)
			check_assign(c, at, action);
		else if (at->kind == LANG_WARN)
			check_warn(c, at, action);
		else
			lang_check_statement(c, at->statement, &action->statement);
	}
}

bool lang_block_reports(const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind != LANG_ASSIGN)
			return true;
	}
	return false;
}
