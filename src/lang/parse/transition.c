// SPDX-License-Identifier: BSD-2-Clause
/* Parses a transition of a state machine and a block of actions. */

#include "lang/parse/parse-machine-priv.h"

static bool parse_by_item(struct lang_parser *p, struct lang_syntax_by *by)
{
	by->location = p->token.location;
	by->is_any = lang_accept(p, LANG_TOKEN_STAR);
	if (by->is_any)
		return true;
	if (!lang_take_word(p, &by->field, "a field or '*'"))
		return false;
	if (lang_accept(p, LANG_TOKEN_DOT)) {
		by->name = by->field;
		if (!lang_take_word(p, &by->field, "a field name"))
			return false;
	}
	if (p->token.kind == LANG_TOKEN_DOT)
		return lang_unexpected(
			p, "',' or '}'",
			"keys are fields: a descriptor's file is 'fd_path' here, its other side 'fd_peer'");
	by->location = lang_location_to_end(p, &by->location);
	return true;
}

/* { field, ... } behind BY */
static bool parse_by_list(struct lang_parser *p, struct lang_syntax_by_list *by_list)
{
	struct lang_list list = {
		.separator = LANG_TOKEN_COMMA, .closer = LANG_TOKEN_RBRACE, .item = "a field", .expect = "',' or '}'"
	};
	struct lang_syntax_by **end = &by_list->first;
	bool parsed;

	by_list->location = p->token.location;
	if (!lang_accept_word(p, "BY"))
		return lang_unexpected(p, "BY", "write 'COPY BY { field, ... }'");
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'BY { field, ... }'") || !lang_list_begin(p, &list))
		return false;
	do {
		struct lang_syntax_by *by = lang_node(p, sizeof *by);

		parsed = by && parse_by_item(p, by);
		if (parsed) {
			*end = by;
			end = &by->next;
			by_list->count++;
		}
	} while (lang_list_next(p, &list, parsed));
	by_list->location = lang_location_to_end(p, &by_list->location);
	return !list.broken;
}

/* What stands behind ON. */
static bool parse_on_event(struct lang_parser *p, struct lang_syntax_transition *transition)
{
	if (!lang_take_word(p, &transition->type, "an event type"))
		return false;
	if (lang_accept(p, LANG_TOKEN_COLON) && !lang_take_word(p, &transition->name, "a name for the event"))
		return false;
	if (lang_token_is(&p->token, "BY") && !parse_by_list(p, &transition->by))
		return false;
	return !lang_accept_word(p, "COPY") || parse_by_list(p, &transition->copy_by);
}

/* What stands behind AFTER. */
static bool parse_time(struct lang_parser *p, struct lang_syntax_transition *transition)
{
	struct lang_token token;

	if (!lang_take_integer(p, &token, "a time", "a time is written '2s' or '100us'; a bare number is in ns"))
		return false;
	transition->after_ns = token.integer;
	if (token.unit == LANG_SIZE)
		lang_error(p->report, &token.location, "write a time such as 2s", "AFTER takes a time, not a size");
	else if (token.integer == 0)
		lang_error(p->report, &token.location, NULL, "AFTER must be longer than 0");
	else if (token.integer > INT64_MAX)
		lang_error(p->report, &token.location, "at most 9223372036854775807 ns, which is 292 years",
			   "AFTER is too long");
	return true;
}

static bool parse_target(struct lang_parser *p, struct lang_syntax_transition *transition)
{
	transition->target = LANG_STAYS;
	if (!lang_accept(p, LANG_TOKEN_ARROW))
		return true;
	if (!lang_take_word(p, &transition->target_state, "a state, END or STAY"))
		return false;
	const char *name = transition->target_state.text;

	if (lang_word_is(name, strlen(name), "END"))
		transition->target = LANG_TO_END;
	else if (!lang_word_is(name, strlen(name), "STAY"))
		transition->target = LANG_TO_STATE;
	return true;
}

/* Behind a transition: what comes next must not belong to it, or it stands in the wrong order. */
static bool parse_end(struct lang_parser *p, const struct lang_syntax_transition *transition)
{
	static const char order[] = "the order is ON event:name BY { ... } COPY BY { ... } WHERE ... -> state { ... }";
	enum lang_token_kind kind = p->token.kind;

	if (kind == LANG_TOKEN_ARROW || lang_token_is(&p->token, "BY") || lang_token_is(&p->token, "COPY") ||
	    lang_token_is(&p->token, "WHERE"))
		return lang_unexpected(p, "the end of the transition",
				       transition->type.text ? order
							     : "the order is AFTER time WHERE ... -> state { ... }");
	if (kind == LANG_TOKEN_RBRACE || kind == LANG_TOKEN_SEMICOLON || kind == LANG_TOKEN_COMMA ||
	    kind == LANG_TOKEN_WORD || kind == LANG_TOKEN_END)
		return true;
	return lang_unexpected(p, "the end of the transition", NULL);
}

bool lang_parse_transition(struct lang_parser *p, struct lang_syntax_machine *machine, uint32_t state)
{
	struct lang_syntax_transition *transition = lang_node(p, sizeof *transition);
	struct diag_location first = p->token.location;
	bool is_event = lang_accept_word(p, "ON");

	if (!is_event)
		lang_advance(p);
	if (!transition || !(is_event ? parse_on_event(p, transition) : parse_time(p, transition)))
		return false;
	transition->location = lang_location_to_end(p, &first);
	transition->state = state;
	if (lang_accept_word(p, "WHERE") && !(transition->guard = lang_parse_guard(p)))
		return false;
	if (!parse_target(p, transition) ||
	    (p->token.kind == LANG_TOKEN_LBRACE && !lang_parse_block(p, &transition->block)) ||
	    !parse_end(p, transition))
		return false;
	*machine->transitions_end = transition;
	machine->transitions_end = &transition->next;
	if (++machine->transition_count == LANG_TRANSITIONS_MAX + 1)
		lang_error(p->report, &transition->location, NULL, "a machine has at most %d transitions",
			   LANG_TRANSITIONS_MAX);
	return true;
}

static bool parse_assignment(struct lang_parser *p, struct lang_syntax_action *action)
{
	action->kind = LANG_ASSIGN;
	if (!lang_take_word(p, &action->variable, "a variable, WARN, EMIT or CALL"))
		return false;
	if (p->token.kind == LANG_TOKEN_EQ)
		return lang_unexpected(p, "'='", "a variable is assigned by '='");
	if (!lang_expect(p, LANG_TOKEN_ASSIGN, "'='", "an action is 'variable = value', WARN, EMIT or CALL"))
		return false;
	action->expr = lang_parse_item_value(p, "';' or '}'");
	return action->expr != NULL;
}

static bool parse_action(struct lang_parser *p, struct lang_syntax_action *action)
{
	bool named = p->ahead.kind == LANG_TOKEN_WORD;

	action->location = p->token.location;
	if (lang_token_is(&p->token, "WARN") && p->ahead.kind != LANG_TOKEN_ASSIGN) {
		action->kind = LANG_WARN;
		lang_advance(p);
		return lang_parse_warn(p, action);
	}
	if (named && (lang_token_is(&p->token, "EMIT") || lang_token_is(&p->token, "CALL"))) {
		action->kind = LANG_RAISE;
		action->statement = lang_parse_statement(p);
		return action->statement != NULL;
	}
	return parse_assignment(p, action);
}

bool lang_parse_block(struct lang_parser *p, struct lang_syntax_block *block)
{
	struct lang_list list = { .separator = LANG_TOKEN_SEMICOLON,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "an action",
				  .expect = "';' or '}'",
				  .recovers = true };
	struct lang_syntax_action **end = &block->actions;
	bool parsed;

	block->location = p->token.location;
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "actions are written '{ a = 1; WARN \"text\" }'"))
		return false;
	if (lang_accept(p, LANG_TOKEN_RBRACE))
		return true;
	lang_list_begin(p, &list);
	do {
		struct lang_syntax_action *action = lang_node(p, sizeof *action);

		parsed = action && parse_action(p, action) && lang_list_item_ends(p, &list);
		if (parsed) {
			*end = action;
			end = &action->next;
			block->count++;
		}
	} while (lang_list_next(p, &list, parsed));
	return true;
}
