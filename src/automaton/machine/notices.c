// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stores what a transition reports so that it can still be read from the instance after the last assignment: a value
 * that may have changed since, or that the event had, is kept in a slot of its own - of one that may divide by zero,
 * and then is reported as none, all that it is computed from. Notices share these slots, as an instance tells one at a
 * time, and transitions that tell the same from the same places share a notice.
 */

#include "automaton/machine/machine-priv.h"

#include <errno.h>
#include <string.h>

static bool divides(const struct lang_expr *expr)
{
	if (expr->op < LANG_ADD)
		return false;
	if ((expr->op == LANG_DIV || expr->op == LANG_MOD) && expr->kind != LANG_F64)
		return true;
	return divides(expr->left) || (expr->right && divides(expr->right));
}

static uint32_t leaf_count(const struct lang_expr *expr)
{
	if (expr->op < LANG_ADD)
		return 1;
	return leaf_count(expr->left) + (expr->right ? leaf_count(expr->right) : 0);
}

/* How many places it takes to keep expr. */
static uint32_t place_count(const struct lang_expr *expr)
{
	return divides(expr) ? leaf_count(expr) : 1;
}

static uint32_t value_count(const struct lang_machine_action *action)
{
	uint32_t count = 0;

	for (uint32_t i = 0; action->kind == LANG_RAISE && i < action->statement.arg_count; i++)
		count += action->statement.args[i].kind == LANG_ARG_VALUE ? place_count(action->statement.args[i].expr)
									  : 1;
	for (uint32_t i = 0; action->kind == LANG_WARN && i < action->piece_count; i++)
		count += action->pieces[i].value ? place_count(action->pieces[i].value->expr) : 0;
	return count;
}

int machine_report_begin(struct machine_build *build, struct machine_reporting *reporting)
{
	uint32_t count = 0;

	if (!reporting->row->reports)
		return 0;
	for (uint32_t i = 0; i < reporting->row->action_count; i++)
		count += value_count(reporting->row->actions[i]);
	reporting->places = arena_zero(build->base.arena, count, sizeof *reporting->places);
	reporting->names = arena_zero(build->base.arena, count, sizeof *reporting->names);
	reporting->epochs = arena_zero(build->base.arena, count, sizeof *reporting->epochs);
	if (reporting->places && reporting->names && reporting->epochs)
		return 0;
	rule_fail(&build->base, -ENOMEM);
	return -ENOMEM;
}

static bool is_constant(const struct lang_expr *expr)
{
	if (expr->op < LANG_ADD)
		return expr->op == LANG_CONST;
	return is_constant(expr->left) && (!expr->right || is_constant(expr->right));
}

/* Whether the instance still says what expr, in action number index of the row, said there. */
static bool lasts(const struct machine_reporting *reporting, uint32_t index, const struct lang_expr *expr)
{
	if (expr->op == LANG_KEY || is_constant(expr))
		return true;
	if (expr->op != LANG_VARIABLE)
		return false;
	for (uint32_t i = index + 1; i < reporting->row->action_count; i++) {
		const struct lang_machine_action *later = reporting->row->actions[i];

		if (later->kind == LANG_ASSIGN && later->variable == expr->element)
			return false;
	}
	return true;
}

/* A slot of the size of node's value that this notice does not use yet. */
static uint32_t free_slot(struct machine_build *build, const struct machine_reporting *reporting, uint32_t node,
			  uint32_t bytes)
{
	const struct program_node *row = program_build_get(build->base.unit->out, PROGRAM_NODES, node);
	enum program_kind kind = row ? (enum program_kind)row->kind : PROGRAM_U64;

	for (uint32_t i = build->first_capture; i < build->base.slot_count; i++) {
		const struct slot *slot = &build->base.slots[i];
		bool used = slot->kind != kind || slot->bytes != bytes;

		for (uint32_t j = 0; j < reporting->count && !used; j++)
			used = reporting->places[j] == i;
		if (!used)
			return i;
	}
	return machine_slot(build, kind, bytes,
			    arena_format(build->base.arena, "captured %u",
					 (unsigned)build->base.slot_count - build->first_capture + 1));
}

static uint32_t notice_bytes(const struct machine_build *build, const struct lang_expr *expr)
{
	if (expr->kind != LANG_STRING)
		return 8;
	if (expr->op == LANG_VARIABLE)
		return (build->machine->variables[expr->element].bytes + 7) / 8 * 8;
	return (expr->field->bytes + 7) / 8 * 8; /* keys and constants last */
}

static void put_notice(struct machine_reporting *reporting, uint32_t place, const char *name)
{
	reporting->places[reporting->count] = place;
	reporting->names[reporting->count] = name;
	reporting->epochs[reporting->count++] = reporting->epoch;
}

static void capture(struct machine_build *build, struct machine_reporting *reporting, uint32_t node, uint32_t bytes)
{
	uint32_t slot = free_slot(build, reporting, node, bytes);

	machine_set(build, reporting->out, slot, node);
	put_notice(reporting, slot, NULL);
}

static void keep_leaves(struct machine_build *build, struct machine_reporting *reporting, uint32_t index,
			const struct lang_expr *expr);

static void keep_notice_value(struct machine_build *build, struct machine_reporting *reporting, uint32_t index,
			      const struct lang_expr *expr)
{
	const struct machine_scope scope = { .transition = reporting->row->transition };

	if (divides(expr))
		keep_leaves(build, reporting, index, expr);
	else if (lasts(reporting, index, expr))
		put_notice(reporting, PROGRAM_NONE, NULL);
	else
		capture(build, reporting, machine_expr(build, expr, &scope), notice_bytes(build, expr));
}

static void keep_leaves(struct machine_build *build, struct machine_reporting *reporting, uint32_t index,
			const struct lang_expr *expr)
{
	if (expr->op < LANG_ADD) {
		keep_notice_value(build, reporting, index, expr);
		return;
	}
	keep_leaves(build, reporting, index, expr->left);
	if (expr->right)
		keep_leaves(build, reporting, index, expr->right);
}

/* A value that this notice says already under this name, with nothing assigned in between, is kept once. */
static void keep_named(struct machine_build *build, struct machine_reporting *reporting, uint32_t index,
		       const struct lang_value *value)
{
	for (uint32_t i = 0; i < reporting->count; i++) {
		if (!reporting->names[i] || strcmp(reporting->names[i], value->name) != 0 ||
		    reporting->epochs[i] != reporting->epoch)
			continue;
		for (uint32_t j = 0; j < place_count(value->expr); j++)
			put_notice(reporting, reporting->places[i + j], j ? NULL : value->name);
		return;
	}
	uint32_t first = reporting->count;

	keep_notice_value(build, reporting, index, value->expr);
	reporting->names[first] = value->name;
}

void machine_report(struct machine_build *build, struct machine_reporting *reporting, uint32_t index)
{
	const struct lang_machine_action *action = reporting->row->actions[index];

	for (uint32_t i = 0; action->kind == LANG_WARN && i < action->piece_count; i++) {
		if (action->pieces[i].value)
			keep_named(build, reporting, index, action->pieces[i].value);
	}
	for (uint32_t i = 0; action->kind == LANG_RAISE && i < action->statement.arg_count; i++) {
		const struct lang_arg *arg = &action->statement.args[i];

		if (arg->kind == LANG_ARG_VALUE)
			keep_notice_value(build, reporting, index, arg->expr);
		else
			capture(build, reporting, machine_header(build, arg->kind == LANG_ARG_PID ? 2 : 3), 8);
	}
}

static bool is_same_notice(const struct notice *a, const struct notice *b)
{
	return a->action_count == b->action_count && a->place_count == b->place_count &&
	       (!a->action_count || !memcmp(a->actions, b->actions, a->action_count * sizeof *a->actions)) &&
	       (!a->place_count || !memcmp(a->places, b->places, a->place_count * sizeof *a->places));
}

uint32_t machine_report_end(struct machine_build *build, struct machine_reporting *reporting)
{
	struct notice notice = { .places = reporting->places, .place_count = reporting->count, .silent = true };

	notice.actions = arena_zero(build->base.arena, reporting->row->action_count, sizeof(void *));
	if (!notice.actions ||
	    alloc_grow(&build->notices, &build->notice_capacity, build->notice_count, sizeof *build->notices)) {
		rule_fail(&build->base, -ENOMEM);
		return 1;
	}
	for (uint32_t i = 0; i < reporting->row->action_count; i++) {
		const struct lang_machine_action *action = reporting->row->actions[i];

		if (action->kind == LANG_ASSIGN)
			continue;
		notice.actions[notice.action_count++] = action;
		notice.silent &= action->kind == LANG_RAISE && action->statement.is_emit;
	}
	for (uint32_t i = 0; i < build->notice_count; i++) {
		if (is_same_notice(&build->notices[i], &notice))
			return i + 1;
	}
	build->notices[build->notice_count++] = notice;
	return (uint32_t)build->notice_count;
}

/* One notice on its way into the image. */
struct output {
	const struct notice *notice;
	struct program_rule *rule;
	uint32_t number;       /* from 1 */
	uint32_t value;        /* the next of the notice's places */
	uint32_t first_return; /* of the rule, from 0 */
	const char **names;    /* of the rows from there on */
	uint32_t *places;      /* where in the notice's places each begins */
	uint32_t rows;
};

static uint32_t value_node(struct machine_build *build, struct output *output, const struct lang_expr *expr);

/* An expression that is computed when it is told, over what was kept of its leaves. */
static uint32_t divided_node(struct machine_build *build, struct output *output, const struct lang_expr *expr)
{
	uint32_t a, b = PROGRAM_NONE;

	if (expr->op < LANG_ADD)
		return value_node(build, output, expr);
	a = divided_node(build, output, expr->left);
	if (expr->right)
		b = divided_node(build, output, expr->right);
	return node_op(&build->base, node_operation(expr->op), (enum program_kind)expr->kind, a, b);
}

static uint32_t value_node(struct machine_build *build, struct output *output, const struct lang_expr *expr)
{
	static const struct machine_scope nowhere = { 0 };
	uint32_t place;

	if (expr && divides(expr))
		return divided_node(build, output, expr);
	place = output->notice->places[output->value++];
	return place == PROGRAM_NONE ? machine_expr(build, expr, &nowhere) : node_slot(&build->base, place);
}

/*
 * The row of RETURNS for a value of a warning: one for each name and place. Whether two places have the same value is
 * known only when it is told (program/returned.h), so later ones of a name have a number and say which is the first.
 */
static uint32_t return_row(struct machine_build *build, struct output *output, const struct lang_value *value)
{
	const uint32_t *places = output->notice->places;
	uint32_t first = output->value, count = place_count(value->expr), again = 1;
	struct program_return row = {
		.notice = output->number,
		.meaning = unit_meaning(build->base.unit, value->expr->meaning),
	};
	const char *name = value->name;

	for (uint32_t i = 0; i < output->rows; i++) {
		if (strcmp(output->names[i], value->name) != 0)
			continue;
		if (!memcmp(places + output->places[i], places + first, count * sizeof *places)) {
			output->value += count;
			return output->first_return + i;
		}
		if (!row.first)
			row.first = output->first_return + i + 1;
		again++;
	}
	if (again > 1)
		name = arena_format(build->base.arena, "%s (%u)", name, again);
	row.name = rule_text(&build->base, name ? rule_printable(&build->base, name) : NULL);
	row.node = value_node(build, output, value->expr);
	program_build_add(build->base.unit->out, PROGRAM_RETURNS, &row, 1);
	output->names[output->rows] = value->name;
	output->places[output->rows] = first;
	output->rule->return_count++;
	return output->first_return + output->rows++;
}

static uint32_t add_notice_piece(struct machine_build *build, const char *text, uint32_t value)
{
	struct program_piece piece = { .text = PROGRAM_NONE, .value = value };

	if (*text)
		piece.text = program_build_text(build->base.unit->out, rule_printable(&build->base, text));
	program_build_add(build->base.unit->out, PROGRAM_PIECES, &piece, 1);
	return 1;
}

/* The pieces of one WARN; the first text of a later one begins with what parts it from the one before. */
static uint32_t emit_warning(struct machine_build *build, struct output *output,
			     const struct lang_machine_action *action, bool later)
{
	uint32_t count = 0;

	if (later)
		count += add_notice_piece(build, "; ", PROGRAM_NONE);
	for (uint32_t i = 0; i < action->piece_count; i++) {
		const struct lang_piece *piece = &action->pieces[i];
		uint32_t value = piece->value ? return_row(build, output, piece->value) : PROGRAM_NONE;

		if (piece->value || *piece->text)
			count += add_notice_piece(build, piece->text, value);
	}
	return count;
}

static void emit_statement(struct machine_build *build, struct output *output, const struct lang_statement *statement)
{
	struct program_build *image = build->base.unit->out;
	struct program_arg *args = arena_zero(build->base.arena, statement->arg_count, sizeof *args);
	struct program_statement row = {
		.type = statement->is_emit ? unit_type(build->base.unit, statement->type) : PROGRAM_NONE,
		.function = statement->is_emit ? PROGRAM_NONE : program_build_text(image, statement->function),
		.arg_count = statement->arg_count,
		.notice = output->number,
	};

	if (!args) {
		rule_fail(&build->base, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct lang_arg *arg = &statement->args[i];

		args[i].node = value_node(build, output, arg->kind == LANG_ARG_VALUE ? arg->expr : NULL);
		args[i].field = statement->is_emit ? unit_field(build->base.unit, statement->type, arg->field)
						   : rule_naming(arg);
		args[i].meaning = unit_meaning(build->base.unit, arg->expr ? arg->expr->meaning : NULL);
	}
	row.first_arg = program_build_add(image, PROGRAM_ARGS, args, statement->arg_count);
	program_build_add(image, PROGRAM_STATEMENTS, &row, 1);
	output->rule->statement_count++;
}

static void emit_notice(struct machine_build *build, struct output *output)
{
	struct program_build *image = build->base.unit->out;
	const struct notice *notice = output->notice;
	struct program_notice row = {
		.first_piece = program_build_count(image, PROGRAM_PIECES),
		.flags = notice->silent ? PROGRAM_NOTICE_SILENT : 0,
	};
	bool warned = false;

	for (uint32_t i = 0; i < notice->action_count; i++) {
		if (notice->actions[i]->kind == LANG_RAISE) {
			emit_statement(build, output, &notice->actions[i]->statement);
		} else {
			row.piece_count += emit_warning(build, output, notice->actions[i], warned);
			warned = true;
		}
	}
	program_build_add(image, PROGRAM_NOTICES, &row, 1);
}

void machine_emit_notices(struct machine_build *build, struct program_rule *out)
{
	struct program_build *image = build->base.unit->out;

	out->first_notice = program_build_count(image, PROGRAM_NOTICES);
	out->notice_count = (uint32_t)build->notice_count;
	out->first_return = program_build_count(image, PROGRAM_RETURNS);
	out->first_statement = program_build_count(image, PROGRAM_STATEMENTS);
	for (uint32_t i = 0; i < build->notice_count && !build->base.error; i++) {
		const struct notice *notice = &build->notices[i];
		struct output output = { .notice = notice, .rule = out, .number = i + 1 };

		output.first_return = out->return_count;
		output.names = arena_zero(build->base.arena, notice->place_count, sizeof *output.names);
		output.places = arena_zero(build->base.arena, notice->place_count, sizeof *output.places);
		if (output.names && output.places)
			emit_notice(build, &output);
		else
			rule_fail(&build->base, -ENOMEM);
	}
	if (!build->base.error && out->statement_count > REACT_STATEMENTS_MAX) {
		diag_error(build->base.unit->diag, &build->machine->location, 0,
			   "machine '%s' has %u EMITs and CALLs in its transitions, with EXIT and ENTRY, more than %d",
			   build->machine->name, out->statement_count, REACT_STATEMENTS_MAX);
		rule_fail(&build->base, -E2BIG);
	}
}
