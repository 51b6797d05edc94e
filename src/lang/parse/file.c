// SPDX-License-Identifier: BSD-2-Clause
/* Parses a file: EVENTS, EVENT, PARAM, rules and state machines. */

#include "lang/parse/parser-priv.h"

#include "event/type.h"

#include <string.h>

static const char *const statements[] = {
	"RULE", "SYNCHRONOUS", "ASYNCHRONOUS", "EVENT", "EVENTS", "MACHINE", "PARAM"
};

static bool parse_field(struct lang_parser *p, struct lang_syntax_item *item, struct lang_syntax_field ***end)
{
	struct lang_syntax_field *field = lang_node(p, sizeof *field);

	if (!field || !lang_take_word(p, &field->name, "a field name") ||
	    !lang_expect(p, LANG_TOKEN_COLON, "':'", "a field is written 'name: type'") ||
	    !lang_parse_value_type(p, &field->value) || !lang_parse_meaning(p, field->value, &field->meaning))
		return false;
	item->broken |= field->value == 0;
	**end = field;
	*end = &field->next;
	item->field_count++;
	return true;
}

/* The fields behind the name: { field: type, ... } */
static bool parse_fields(struct lang_parser *p, struct lang_syntax_item *item)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a field",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_field **end = &item->fields;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "an event is declared as 'EVENT name { field: type, ... }'"))
		return false;
	if (lang_accept(p, LANG_TOKEN_RBRACE))
		return true;
	lang_list_begin(p, &list);
	do {
		parsed = parse_field(p, item, &end);
	} while (lang_list_next(p, &list, parsed));
	return !list.broken;
}

/* An event with wrong fields is kept for its name, or every use of it would be one more error. */
static bool parse_event_item(struct lang_parser *p, struct lang_syntax_item *item)
{
	lang_advance(p);
	item->kind = LANG_ITEM_EVENT;
	if (!lang_take_word(p, &item->name, "a name for the event"))
		return false;
	item->broken |= !parse_fields(p, item);
	if (item->broken)
		lang_skip_to_statement(p);
	return true;
}

/* EVENTS "catalog" [AS prefix] */
static bool parse_events(struct lang_parser *p, struct lang_syntax_item *item)
{
	lang_advance(p);
	item->kind = LANG_ITEM_EVENTS;
	item->name = (struct lang_word){ .text = p->token.text, .location = p->token.location };
	if (!lang_expect(p, LANG_TOKEN_STRING, "the name of a catalog in quotes", NULL))
		return false;
	if (!lang_token_is(&p->token, "AS"))
		return true;
	lang_advance(p);
	return lang_take_word(p, &item->prefix, "what the names begin with");
}

static bool parse_rule(struct lang_parser *p, struct lang_syntax_item *item)
{
	item->kind = LANG_ITEM_RULE;
	item->rule = p->bare_rule ? lang_parse_bare_rule(p) : lang_parse_rule(p);
	return item->rule != NULL;
}

static bool parse_machine(struct lang_parser *p, struct lang_syntax_item *item)
{
	item->kind = LANG_ITEM_MACHINE;
	item->machine = lang_parse_machine(p);
	return item->machine != NULL;
}

static bool parse_item(struct lang_parser *p, struct lang_syntax_item *item)
{
	const struct lang_token *token = &p->token;

	if (p->bare_rule || lang_token_is(token, "RULE") || lang_token_is(token, "SYNCHRONOUS") ||
	    lang_token_is(token, "ASYNCHRONOUS"))
		return parse_rule(p, item);
	if (lang_token_is(token, "EVENT"))
		return parse_event_item(p, item);
	if (lang_token_is(token, "EVENTS"))
		return parse_events(p, item);
	if (lang_token_is(token, "PARAM")) {
		item->kind = LANG_ITEM_PARAM;
		return lang_parse_param(p);
	}
	if (lang_token_is(token, "MACHINE"))
		return parse_machine(p, item);
	if (lang_at_modifier(p)) {
		lang_error(p->report, &token->location, "modifiers follow the pattern of a rule",
			   "'%.*s' does not belong to a rule", (int)token->location.length, lang_token_bytes(token));
		return false;
	}
	if (lang_token_is(token, "FROM") || lang_token_is(token, "SYSCALL"))
		return lang_unexpected(
			p, "RULE, MACHINE, PARAM, EVENT or EVENTS",
			"a catalog, a file of its own, says what raises an event: read it with EVENTS \"own.events\"");
	return lang_unexpected(p, "RULE, MACHINE, PARAM, EVENT or EVENTS",
			       lang_nearest_word(p, statements, sizeof statements / sizeof *statements));
}

/* Whether the first token stands behind a comment. */
static bool begins_with_comment(const struct lang_parser *p)
{
	const char *text = p->token.location.source->text;

	for (size_t i = 0; i < p->token.location.offset; i++) {
		if (!strchr(" \t\r\n", text[i]))
			return true;
	}
	return false;
}

struct lang_syntax_item *lang_parse_file(struct lang_parser *p, size_t input)
{
	struct lang_syntax_item *first = NULL, **end = &first;
	bool empty = p->token.kind == LANG_TOKEN_END;

	if (empty && !lang_report_full(p->report))
		lang_error(p->report, &p->token.location, "a rule is written 'RULE name PATTERN { ... }'",
			   "no rules here");
	if (empty || lang_is_statement_word(&p->token) || begins_with_comment(p))
		p->bare_rule = NULL;
	while (p->token.kind != LANG_TOKEN_END) {
		struct lang_syntax_item *item = lang_node(p, sizeof *item);

		if (!item)
			break;
		item->input = input;
		if (parse_item(p, item)) {
			*end = item;
			end = &item->next;
			lang_accept_end(p);
		} else {
			lang_skip_to_statement(p);
		}
		p->bare_rule = NULL; /* what stands behind it is as in any file */
	}
	return first;
}
