// SPDX-License-Identifier: BSD-2-Clause
/* Parses WHERE: join fields and boolean expressions. A second WHERE goes on where the first ended. */

#include "lang/parse/parser-priv.h"

static bool parse_join(struct lang_parser *p, struct lang_syntax_condition *condition)
{
	lang_advance(p);
	if (!lang_take_word(p, &condition->join, "a field name"))
		return false;
	const char *hint = NULL;

	if (p->token.kind == LANG_TOKEN_COMMA)
		hint = "several join fields are written '[f], [g]'";
	else if (p->token.kind == LANG_TOKEN_DOT)
		hint = "a join field is a field of all events, without a name before it";
	if (lang_expect(p, LANG_TOKEN_RBRACKET, "']'", hint))
		return true;
	while (p->token.kind != LANG_TOKEN_RBRACKET && p->token.kind != LANG_TOKEN_RBRACE && !lang_at_statement(p))
		lang_advance(p);
	return false;
}

static bool parse_where_condition(struct lang_parser *p, const struct lang_list *list,
				  struct lang_syntax_condition ***end)
{
	struct lang_syntax_condition *condition = lang_node(p, sizeof *condition);

	if (!condition)
		return false;
	if (p->token.kind == LANG_TOKEN_LBRACKET) {
		if (!parse_join(p, condition))
			return false;
	} else {
		condition->expr = lang_parse_condition(p);
		if (!condition->expr || !lang_list_item_ends(p, list))
			return false;
	}
	**end = condition;
	*end = &condition->next;
	return true;
}

bool lang_parse_where(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a condition",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_condition **end = &rule->conditions;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "conditions are written 'WHERE { [tid], a.x > 3 }'"))
		return false;
	if (!lang_list_begin(p, &list)) {
		rule->broken[LANG_WHERE] = true;
		return true;
	}
	while (*end)
		end = &(*end)->next;
	do {
		parsed = parse_where_condition(p, &list, &end);
	} while (lang_list_next(p, &list, parsed));
	rule->broken[LANG_WHERE] |= list.broken;
	return true;
}
