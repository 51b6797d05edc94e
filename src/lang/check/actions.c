// SPDX-License-Identifier: BSD-2-Clause
/* Checks RETURN and DO: names of values, events to emit with their fields, arguments of calls. */

#include "lang/check/check-priv.h"

#include <string.h>

/* Whether matches have events though the rule does not ask for them. */
static bool gives_events(const struct lang_check *c)
{
	const struct lang_rule *rule = c->rule;

	return c->wants_events && !rule->latest && !c->syntax->return_nothing && !c->syntax->aggregate_count;
}

static void check_values(struct lang_check *c)
{
	struct lang_names *names = lang_names_new(c->scratch, c->syntax->value_count);

	c->rule->return_sequence = c->syntax->return_sequence || gives_events(c);
	c->rule->return_nothing = c->syntax->return_nothing;
	c->rule->values = lang_keep(c, c->syntax->value_count, sizeof *c->rule->values);
	if (!names || !c->rule->values) {
		lang_no_memory(c->report);
		return;
	}
	for (const struct lang_syntax_value *at = c->syntax->values; at; at = at->next) {
		uint32_t other = lang_names_add(names, at->name.text, c->rule->value_count);
		struct lang_expr *expr = lang_check_value(c, at->expr);

		if (other != LANG_NO_NAME) {
			lang_error(c->report, &at->name.location, "give one of them another name with AS",
				   "two values of RETURN are named '%s'", at->name.text);
			continue;
		}
		c->rule->values[c->rule->value_count++] = (struct lang_value){
			.expr = expr,
			.name = at->name.text,
			.location = at->expr->location,
		};
	}
}

static bool check_context_arg(struct lang_check *c, const struct lang_syntax_arg *syntax, struct lang_arg *arg)
{
	arg->element = UINT32_MAX;
	if (!syntax->element.text)
		return true;
	if (c->scope)
		return lang_is_event_name(c, &syntax->element);
	arg->element = lang_find_element(c, &syntax->element);
	if (arg->element == LANG_NO_NAME)
		return false;
	const struct lang_element *element = &c->rule->elements[arg->element];

	if (!lang_is_part_of_match(c, &syntax->element, element))
		return false;
	if (element->is_array)
		lang_error(c->report, &syntax->location, NULL, "'%s' is an array, so its events may have many threads",
			   element->name);
	return !element->is_array;
}

static bool check_emit_arg(struct lang_check *c, const struct lang_syntax_arg *syntax, const struct event_type *type,
			   struct lang_arg *arg)
{
	arg->field = lang_find_field(c, type, &syntax->field);
	arg->expr = lang_check_value(c, syntax->expr);
	if (!arg->field)
		return false;
	if (event_field_is_header(arg->field)) {
		lang_error(c->report, &syntax->field.location, "an emitted event happens where the match was completed",
			   "the header field '%s' cannot be set", syntax->field.text);
		return false;
	}
	if (arg->expr)
		arg->expr = lang_type_assign(c, arg->expr, arg->field);
	return arg->expr != NULL;
}

static bool is_set(struct lang_check *c, const struct lang_statement *statement, const struct lang_syntax_arg *arg,
		   const struct event_field *field)
{
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		if (statement->args[i].field != field)
			continue;
		lang_error(c->report, &arg->field.location, NULL, "'%s' is set twice", field->name);
		return true;
	}
	return false;
}

static void check_arg(struct lang_check *c, const struct lang_syntax_arg *syntax, struct lang_statement *statement)
{
	struct lang_arg arg = { .kind = syntax->kind, .location = syntax->location };
	bool fine = true;

	if (syntax->kind != LANG_ARG_VALUE)
		fine = check_context_arg(c, syntax, &arg);
	else if (statement->is_emit)
		fine = statement->type && check_emit_arg(c, syntax, statement->type, &arg);
	else
		fine = (arg.expr = lang_check_value(c, syntax->expr)) != NULL;
	if (fine && !(arg.field && is_set(c, statement, syntax, arg.field)))
		statement->args[statement->arg_count++] = arg;
}

static const struct react_action *find_action(struct lang_check *c, const struct lang_word *name)
{
	const struct react_action *action = react_find(name->text);
	const char *hint = lang_did_you_mean(c->report, name->text, react_nearest(name->text));

	if (!action)
		lang_error(c->report, &name->location, hint ? hint : "'asterism help actions' lists all actions",
			   "unknown action '%s'", name->text);
	return action;
}

static struct react_shape shape_of(const struct lang_arg *arg)
{
	_Static_assert((int)LANG_I64 == REACT_I64 && (int)LANG_STRING == REACT_STRING, "the same kinds");

	if (arg->kind != LANG_ARG_VALUE)
		return (struct react_shape){ .kind = REACT_U64,
					     .naming = arg->kind == LANG_ARG_TID ? REACT_BY_TID : REACT_BY_PID };
	return (struct react_shape){
		.kind = (enum react_kind)arg->expr->kind,
		.text = arg->expr->op == LANG_CONST && arg->expr->kind == LANG_STRING ? arg->expr->text : NULL,
	};
}

/* Whether the action takes the arguments, all of which are right by themselves. */
static void check_call(struct lang_check *c, const struct lang_syntax_statement *syntax,
		       const struct lang_statement *statement)
{
	uint32_t least, most;
	char form[128];

	react_arity(statement->action, &least, &most);
	react_print(statement->action, form, sizeof form);
	if (statement->arg_count < least || statement->arg_count > most) {
		lang_error(c->report, &syntax->location, lang_hint(c->report, "it is %s", form),
			   "'%s' does not take %u argument%s", syntax->name.text, statement->arg_count,
			   statement->arg_count == 1 ? "" : "s");
		return;
	}
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		struct react_shape shape = shape_of(&statement->args[i]);
		const char *expected = react_expects(statement->action, i, &shape);

		if (expected)
			lang_error(c->report, &statement->args[i].location, lang_hint(c->report, "it is %s", form),
				   "'%s' expects %s here", syntax->name.text, expected);
	}
}

/* What an action that holds the thread which completed the match asks of its rule. */
static void check_synchronous(struct lang_check *c, const struct lang_syntax_statement *syntax,
			      const struct lang_statement *statement)
{
	const char *name = statement->action->name;

	if (c->scope) {
		lang_error(c->report, &syntax->name.location,
			   "EMIT an event, and CALL it in a SYNCHRONOUS rule over that", "a machine cannot call '%s'",
			   name);
		return;
	}
	if (c->rule->mode != LANG_SYNCHRONOUS)
		lang_error(c->report, &syntax->name.location, "write SYNCHRONOUS before RULE",
			   "'%s' needs a SYNCHRONOUS rule: only the kernel can stop the process that completes the "
			   "match in time",
			   syntax->name.text);
	for (const struct lang_statement *other = c->rule->statements; other < statement; other++)
		if (other->action == statement->action)
			lang_error(c->report, &syntax->name.location, NULL, "'%s' is called twice in one rule", name);
}

void lang_check_statement(struct lang_check *c, const struct lang_syntax_statement *syntax,
			  struct lang_statement *statement)
{
	statement->is_emit = syntax->is_emit;
	statement->location = syntax->location;
	if (syntax->is_emit)
		statement->type = lang_find_type(c, &syntax->name, NULL);
	else
		statement->action = find_action(c, &syntax->name);
	statement->function = syntax->is_emit ? NULL : syntax->name.text;
	statement->args = lang_keep(c, syntax->arg_count, sizeof *statement->args);
	for (const struct lang_syntax_arg *arg = syntax->args; arg && statement->args; arg = arg->next)
		check_arg(c, arg, statement);
	if (statement->action && statement->arg_count == syntax->arg_count)
		check_call(c, syntax, statement);
	if (statement->action && (statement->action->synchronous || (c->scope && statement->action->fails_call)))
		check_synchronous(c, syntax, statement);
}

void lang_check_actions(struct lang_check *c)
{
	c->context = LANG_IN_VALUE;
	check_values(c);
	c->rule->statements = lang_keep(c, c->syntax->statement_count, sizeof *c->rule->statements);
	if (c->syntax->statement_count > REACT_STATEMENTS_MAX)
		lang_error(c->report, &c->syntax->statements->location, NULL,
			   "DO has %u statements, at most %d are possible", c->syntax->statement_count,
			   REACT_STATEMENTS_MAX);
	for (const struct lang_syntax_statement *at = c->syntax->statements; at && c->rule->statements; at = at->next)
		lang_check_statement(c, at, &c->rule->statements[c->rule->statement_count++]);
}
