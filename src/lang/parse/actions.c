// SPDX-License-Identifier: BSD-2-Clause
/* Parses RETURN and DO. */

#include "lang/parse/parser-priv.h"

#include <string.h>

/* A value in a list whose items go on with what expect says. */
struct lang_syntax_expr *lang_parse_item_value(struct lang_parser *p, const char *expect)
{
	struct lang_syntax_expr *expr = lang_parse_value(p);
	enum lang_token_kind kind = p->token.kind;

	if (expr && kind >= LANG_TOKEN_EQ && kind <= LANG_TOKEN_GE) {
		lang_unexpected(p, expect, "put a condition that is used as a value in parentheses");
		return NULL;
	}
	return expr;
}

/* What is written, as a name: where it goes over several lines, a line end with the blanks around it is one space. */
static const char *name_as_written(struct lang_parser *p, uint64_t start, uint64_t end)
{
	char *name = arena_text(p->arena, p->lexer.source->text + start, end - start), *to = name;

	for (const char *from = name; from && *from;) {
		size_t blanks = strspn(from, " \t\r\n\v\f"), plain = strspn(from, " ");

		if (blanks > plain) {
			*to++ = ' ';
			from += blanks;
		} else {
			*to++ = *from++;
		}
	}
	if (!name)
		lang_no_memory(p->report);
	else
		*to = 0;
	return name;
}

bool lang_parse_name(struct lang_parser *p, const struct diag_location *first, struct lang_word *name)
{
	name->location = lang_location_to_end(p, first);
	if (lang_accept_word(p, "AS"))
		return lang_take_word(p, name, "a name for the value");
	name->text = name_as_written(p, first->offset, p->end);
	return name->text != NULL;
}

static bool parse_action_value(struct lang_parser *p, struct lang_syntax_rule *rule, struct lang_syntax_value ***end)
{
	struct lang_syntax_value *value = lang_node(p, sizeof *value);
	struct diag_location first = p->token.location;

	if (!value || !(value->expr = lang_parse_item_value(p, "',' or '}'")) ||
	    !lang_parse_name(p, &first, &value->name))
		return false;
	**end = value;
	*end = &value->next;
	rule->value_count++;
	return true;
}

bool lang_parse_return(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a value",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_value **end = &rule->values;
	bool parsed;

	if (lang_accept_word(p, "SEQUENCE")) {
		rule->return_sequence = true;
		return true;
	}
	if (lang_accept_word(p, "NOTHING")) {
		rule->return_nothing = true;
		return true;
	}
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "SEQUENCE, NOTHING or '{'", "write 'RETURN { a.x, b.x }'"))
		return false;
	if (!lang_list_begin(p, &list))
		return true;
	do {
		parsed = parse_action_value(p, rule, &end);
	} while (lang_list_next(p, &list, parsed));
	return true;
}

/* TID or PID of an event, after the '#'. */
static bool parse_context(struct lang_parser *p, struct lang_syntax_arg *arg)
{
	lang_advance(p);
	if (lang_accept_word(p, "TID"))
		arg->kind = LANG_ARG_TID;
	else if (lang_accept_word(p, "PID"))
		arg->kind = LANG_ARG_PID;
	else
		return lang_unexpected(p, "TID or PID", NULL);
	return true;
}

static bool parse_call_arg(struct lang_parser *p, struct lang_syntax_arg *arg)
{
	bool named = p->token.kind == LANG_TOKEN_WORD && p->ahead.kind == LANG_TOKEN_HASH;

	if (named && !lang_take_word(p, &arg->element, "a name"))
		return false;
	if (p->token.kind == LANG_TOKEN_HASH)
		return parse_context(p, arg);
	arg->kind = LANG_ARG_VALUE;
	arg->expr = lang_parse_item_value(p, "',' or ')'");
	return arg->expr != NULL;
}

static bool parse_emit_arg(struct lang_parser *p, struct lang_syntax_arg *arg)
{
	static const char hint[] = "EMIT takes 'field = value'";

	if (!lang_take_word(p, &arg->field, "a field name") || !lang_expect(p, LANG_TOKEN_ASSIGN, "'='", hint))
		return false;
	arg->kind = LANG_ARG_VALUE;
	arg->expr = lang_parse_item_value(p, "',' or ')'");
	return arg->expr != NULL;
}

/* The arguments behind '('. */
static bool parse_args(struct lang_parser *p, struct lang_syntax_statement *statement)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA, .closer = LANG_TOKEN_RPAREN, .expect = "',' or ')'" };
	struct lang_syntax_arg **end = &statement->args;
	bool parsed;

	if (lang_accept(p, LANG_TOKEN_RPAREN))
		return true;
	do {
		struct lang_syntax_arg *arg = lang_node(p, sizeof *arg);
		struct diag_location first = p->token.location;

		parsed = arg && (statement->is_emit ? parse_emit_arg(p, arg) : parse_call_arg(p, arg));
		if (!parsed)
			break;
		arg->location = lang_location_to_end(p, &first);
		*end = arg;
		end = &arg->next;
		statement->arg_count++;
	} while (lang_list_next(p, &list, true));
	return parsed && !list.broken;
}

struct lang_syntax_statement *lang_parse_statement(struct lang_parser *p)
{
	struct lang_syntax_statement *statement = lang_node(p, sizeof *statement);
	struct diag_location first = p->token.location;

	if (!statement)
		return NULL;
	statement->is_emit = lang_accept_word(p, "EMIT");
	if (!statement->is_emit && !lang_accept_word(p, "CALL")) {
		lang_unexpected(p, "EMIT or CALL",
				p->ahead.kind == LANG_TOKEN_LPAREN ? "an action is written 'CALL Kill(#PID)'" : NULL);
		return NULL;
	}
	if (!lang_take_word(p, &statement->name, statement->is_emit ? "an event type" : "a function name") ||
	    !lang_expect(p, LANG_TOKEN_LPAREN, "'('", NULL) || !parse_args(p, statement))
		return NULL;
	statement->location = lang_location_to_end(p, &first);
	return statement;
}

static bool add_statement(struct lang_syntax_rule *rule, struct lang_syntax_statement *statement,
			  struct lang_syntax_statement ***end)
{
	if (!statement)
		return false;
	**end = statement;
	*end = &statement->next;
	rule->statement_count++;
	return true;
}

bool lang_parse_do(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_SEMICOLON,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "EMIT or CALL",
				  .expect = "';' or '}'",
				  .recovers = true };
	struct lang_syntax_statement **end = &rule->statements;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'DO { EMIT type(field = value); CALL f(x) }'"))
		return false;
	if (!lang_list_begin(p, &list))
		return true;
	do {
		parsed = add_statement(rule, lang_parse_statement(p), &end);
	} while (lang_list_next(p, &list, parsed));
	return true;
}
