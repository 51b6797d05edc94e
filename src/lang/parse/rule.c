// SPDX-License-Identifier: BSD-2-Clause
/* Parses the frame of a rule: mode, name, semantics, pattern, and its modifiers in any order, each at most once. */

#include "lang/parse/parser-priv.h"

static bool parse_semantics(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	static const char *const words[] = { "STRICTSEQUENCE", "STRICTPARTITION", "SKIPTILLNEXT", "SKIPTILLANY",
					     "PATTERN" };

	rule->semantics = LANG_SKIP_TILL_NEXT;
	rule->semantics_location = rule->name.location;
	if (lang_is_semantics(&p->token, &rule->semantics)) {
		rule->semantics_location = p->token.location;
		lang_advance(p);
	} else if (p->token.kind == LANG_TOKEN_WORD && lang_token_is(&p->ahead, "PATTERN")) {
		lang_error(p->report, &p->token.location, lang_nearest_word(p, words, LANG_SEMANTICS_COUNT),
			   "'%.*s' is not one of STRICTSEQUENCE, STRICTPARTITION, SKIPTILLNEXT, SKIPTILLANY",
			   (int)p->token.location.length, lang_token_bytes(&p->token));
		lang_advance(p);
	}
	if (lang_accept_word(p, "PATTERN"))
		return true;
	return lang_unexpected(p, "PATTERN", lang_nearest_word(p, words, sizeof words / sizeof *words));
}

/* PATTERN is read already. */
static void parse_pattern(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	uint32_t level = p->braces;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "a pattern is written 'PATTERN { [A, B] }'")) {
		lang_skip_to_modifier(p);
		return;
	}
	struct lang_syntax_structure *pattern = lang_parse_structure(p, rule);
	const char *hint = lang_hint_behind_structure(p);

	if (pattern && p->ahead.kind == LANG_TOKEN_RBRACE)
		lang_accept_end(p);
	if (pattern && lang_expect(p, LANG_TOKEN_RBRACE, "'}'", hint)) {
		rule->pattern = pattern;
		return;
	}
	lang_skip_braces(p, level);
}

static struct lang_syntax_rule *parse_modifiers(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	lang_parse_modifiers(p, rule);
	rule->unsure |= p->stopped;
	return rule;
}

struct lang_syntax_rule *lang_parse_rule(struct lang_parser *p)
{
	struct lang_syntax_rule *rule = lang_node(p, sizeof *rule);

	if (!rule)
		return NULL;
	if (lang_accept_word(p, "SYNCHRONOUS"))
		rule->mode = LANG_SYNCHRONOUS;
	else if (lang_accept_word(p, "ASYNCHRONOUS"))
		rule->mode = LANG_ASYNCHRONOUS;
	if (!lang_accept_word(p, "RULE")) {
		lang_unexpected(p, "RULE", NULL);
		return NULL;
	}
	if (lang_is_rule_keyword(&p->token) || p->token.kind != LANG_TOKEN_WORD) {
		lang_unexpected(p, "a name for the rule", "a rule is written 'RULE name PATTERN { ... }'");
		return NULL;
	}
	if (!lang_take_word(p, &rule->name, "a name for the rule"))
		return NULL;
	rule->pool = LANG_POOL_DEFAULT;
	if (parse_semantics(p, rule))
		parse_pattern(p, rule);
	else
		lang_skip_to_modifier(p);
	return parse_modifiers(p, rule);
}

struct lang_syntax_rule *lang_parse_bare_rule(struct lang_parser *p)
{
	struct lang_syntax_rule *rule = lang_node(p, sizeof *rule);

	if (!rule)
		return NULL;
	rule->name = (struct lang_word){ .text = p->bare_rule, .location = p->token.location };
	rule->semantics = LANG_SKIP_TILL_NEXT;
	rule->semantics_location = rule->name.location;
	rule->pool = LANG_POOL_DEFAULT;
	rule->pattern = lang_parse_structure(p, rule);
	const char *hint = lang_hint_behind_structure(p);

	lang_accept_end(p);
	if (rule->pattern && hint && !lang_at_modifier(p) && !lang_at_statement(p)) {
		lang_unexpected(p, "a modifier", hint);
		rule->pattern = NULL;
	}
	if (!rule->pattern)
		lang_skip_to_modifier(p);
	return parse_modifiers(p, rule);
}
