// SPDX-License-Identifier: BSD-2-Clause
/* The table of modifiers, and the parsers of the small ones. A new modifier is one row in the table. */

#include "lang/parse/parser-priv.h"

/* Returns whether the parser stands behind the modifier; one that is there but of no use is marked broken. */
typedef bool parse_fn(struct lang_parser *p, struct lang_syntax_rule *rule);

static bool parse_within(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	lang_substitute(p);
	rule->within_location = p->token.location;
	return lang_parse_time(p, "WITHIN", &rule->within_ns, &rule->broken[LANG_WITHIN]);
}

bool lang_parse_pool_size(struct lang_parser *p, const char *sort, const char *what, uint64_t *size)
{
	struct lang_token token;

	if (!lang_take_integer(p, &token, arena_format(p->arena, "a number of %s", sort), NULL))
		return false;
	*size = token.integer;
	if (token.unit != LANG_PLAIN)
		lang_error(p->report, &token.location, NULL, "%s is a number of %s, without a unit", what, sort);
	else if (token.integer < 1 || token.integer > LANG_POOL_MAX)
		lang_error(p->report, &token.location, NULL, "%s must be between 1 and %d", what, LANG_POOL_MAX);
	return true;
}

/* PER KEY, PER PROCESS, in any order. */
static bool parse_shares(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	while (lang_token_is(&p->token, "PER")) {
		struct diag_location location = p->token.location;
		bool is_key;

		lang_advance(p);
		is_key = lang_accept_word(p, "KEY");
		if (!is_key && !lang_accept_word(p, "PROCESS"))
			return lang_unexpected(p, "KEY or PROCESS", "write 'POOL 10000 PER KEY 100'");
		struct diag_location *given = is_key ? &rule->per_key_location : &rule->per_process_location;
		const char *what = is_key ? "PER KEY" : "PER PROCESS";

		if (given->line)
			lang_error(p->report, &location, NULL, "%s is given twice", what);
		*given = location;
		if (!lang_parse_pool_size(p, "runs", what, is_key ? &rule->per_key : &rule->per_process))
			return false;
	}
	return true;
}

enum lang_full lang_parse_full(struct lang_parser *p)
{
	if (lang_accept_word(p, "REPLACE"))
		return LANG_REPLACE;
	return lang_accept_word(p, "REFUSE") ? LANG_REFUSE : LANG_FULL_DEFAULT;
}

static bool parse_rule_pool(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	if (!lang_parse_pool_size(p, "runs", "POOL", &rule->pool) || !parse_shares(p, rule))
		return false;
	rule->full = lang_parse_full(p);
	return true;
}

/* The modifier says all with its keyword. */
static bool parse_latest(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	(void)p;
	(void)rule;
	return true;
}

static bool parse_after(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	if (!lang_accept_word(p, "MATCH"))
		return lang_unexpected(p, "MATCH", "write 'AFTER MATCH KEEP' or 'AFTER MATCH DROP'");
	if (lang_accept_word(p, "DROP"))
		rule->drop = true;
	else if (!lang_accept_word(p, "KEEP"))
		return lang_unexpected(p, "KEEP or DROP", NULL);
	return true;
}

bool lang_parse_loss(struct lang_parser *p, enum lang_loss *loss)
{
	if (lang_accept_word(p, "TAINT"))
		*loss = LANG_LOSS_TAINT;
	else if (lang_accept_word(p, "DISCARD"))
		*loss = LANG_LOSS_DISCARD;
	else if (lang_accept_word(p, "KEEP"))
		*loss = LANG_LOSS_KEEP;
	else
		return lang_unexpected(p, "TAINT, DISCARD or KEEP", NULL);
	return true;
}

static bool parse_on(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	if (!lang_accept_word(p, "LOSS"))
		return lang_unexpected(p, "LOSS", "write 'ON LOSS TAINT', 'ON LOSS DISCARD' or 'ON LOSS KEEP'");
	return lang_parse_loss(p, &rule->loss);
}

static void parse_over_types(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "an event type or '*'",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_type **end = &rule->over;
	bool parsed;

	rule->broken[LANG_OVER] = true;
	if (!lang_list_begin(p, &list))
		return;
	do {
		struct lang_syntax_type *type = lang_node(p, sizeof *type);

		parsed = type && lang_take_word(p, &type->name, list.item);
		if (parsed) {
			*end = type;
			end = &type->next;
			rule->over_count++;
		}
	} while (lang_list_next(p, &list, parsed));
	rule->broken[LANG_OVER] = list.broken;
}

static bool parse_over(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	rule->over_location = rule->given[LANG_OVER];
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'OVER { A, B }' or 'OVER { * }'"))
		return false;
	if (lang_accept(p, LANG_TOKEN_STAR)) {
		uint32_t level = p->braces;

		rule->over_all = true;
		if (p->ahead.kind == LANG_TOKEN_RBRACE)
			lang_accept_end(p);
		if (!lang_expect(p, LANG_TOKEN_RBRACE, "'}'", "'*' already includes every event"))
			lang_skip_braces(p, level - 1);
	} else {
		parse_over_types(p, rule);
	}
	rule->over_location = lang_location_to_end(p, &rule->over_location);
	return true;
}

static bool parse_severity(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	return lang_parse_severity(p, &rule->properties);
}

static bool parse_tags(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	return lang_parse_tags(p, &rule->properties);
}

static bool parse_description(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	return lang_parse_description(p, &rule->properties);
}

static const struct modifier {
	const char *keyword;
	parse_fn *parse;
} modifiers[LANG_MODIFIER_COUNT] = {
	[LANG_WHERE] = { "WHERE", lang_parse_where },
	[LANG_WITHIN] = { "WITHIN", parse_within },
	[LANG_RETURN] = { "RETURN", lang_parse_return },
	[LANG_DO] = { "DO", lang_parse_do },
	[LANG_OVER] = { "OVER", parse_over },
	[LANG_AFTER] = { "AFTER", parse_after },
	[LANG_POOL] = { "POOL", parse_rule_pool },
	[LANG_ON] = { "ON", parse_on },
	[LANG_SEVERITY] = { "SEVERITY", parse_severity },
	[LANG_TAGS] = { "TAGS", parse_tags },
	[LANG_DESCRIPTION] = { "DESCRIPTION", parse_description },
	[LANG_AGGREGATE] = { "AGGREGATE", lang_parse_aggregate },
	[LANG_EXCEPT] = { "EXCEPT", lang_parse_except },
	[LANG_LATEST] = { "LATEST", parse_latest },
};

static bool unknown_modifier(struct lang_parser *p)
{
	const char *words[LANG_MODIFIER_COUNT];

	for (size_t i = 0; i < LANG_MODIFIER_COUNT; i++)
		words[i] = modifiers[i].keyword;
	const char *hint = lang_nearest_word(p, words, LANG_MODIFIER_COUNT);

	if (lang_token_is(&p->token, "BY") || lang_token_is(&p->token, "TOP") || lang_token_is(&p->token, "EVERY"))
		hint = "it follows the braces of AGGREGATE: 'AGGREGATE { COUNT } BY { a.id } TOP 10 EVERY 5s'";
	if (!hint)
		hint = lang_hint_behind_number(p);
	if (!hint)
		hint = "the modifiers are WHERE WITHIN RETURN DO AGGREGATE OVER AFTER LATEST POOL ON SEVERITY "
		       "TAGS DESCRIPTION EXCEPT";
	return lang_unexpected(p, "a modifier or the next rule", hint);
}

/* A repeated modifier is read for its errors and then forgotten. */
static void parse_modifier(struct lang_parser *p, struct lang_syntax_rule *rule, enum lang_modifier which)
{
	struct diag_location location = p->token.location, *given = &rule->given[which];
	struct lang_syntax_rule *target = rule;

	if (given->line && which != LANG_WHERE && !rule->broken[which]) {
		lang_error(p->report, &location, NULL, "%s is given twice", modifiers[which].keyword);
		lang_note(p->report, given, "first given here");
		target = lang_node(p, sizeof *target);
		if (!target)
			return;
	}
	target->given[which] = location;
	lang_advance(p);
	if (modifiers[which].parse(p, target)) {
		lang_accept_end(p);
		return;
	}
	target->broken[which] = true;
	lang_skip_to_modifier(p);
}

void lang_parse_modifiers(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	lang_accept_end(p);
	while (p->token.kind != LANG_TOKEN_END && !lang_is_statement_word(&p->token)) {
		size_t which = 0;

		while (which < LANG_MODIFIER_COUNT && !lang_token_is(&p->token, modifiers[which].keyword))
			which++;
		if (which < LANG_MODIFIER_COUNT) {
			parse_modifier(p, rule, (enum lang_modifier)which);
			continue;
		}
		/* `name PATTERN` is a rule without its keyword; its modifiers are not this rule's. */
		bool is_rule = lang_is_rule_keyword(&p->ahead) || lang_is_rule_keyword(&p->token);

		rule->unsure = !is_rule;
		unknown_modifier(p);
		if (is_rule)
			lang_skip_to_statement(p);
		else
			lang_skip_to_modifier(p);
	}
}
