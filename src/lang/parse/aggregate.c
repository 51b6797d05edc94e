// SPDX-License-Identifier: BSD-2-Clause
/* Parses AGGREGATE with BY, TOP and EVERY. */

#include "event/about.h"
#include "lang/parse/parser-priv.h"

#include <string.h>

static const struct operation {
	const char *word;
	enum lang_aggregate_op op;
} operations[] = {
	{ "COUNT", LANG_COUNT_OF },
	{ "SUM", LANG_SUM_OF },
	{ "MIN", LANG_MIN_OF },
	{ "MAX", LANG_MAX_OF },
	{ "AVG", LANG_AVG_OF },
	{ "HISTOGRAM", LANG_HISTOGRAM_OF },
	{ "QUANTILES", LANG_QUANTILES_OF },
};

enum { OPERATION_COUNT = sizeof operations / sizeof *operations };

static bool take_operation(struct lang_parser *p, enum lang_aggregate_op *op)
{
	const char *words[OPERATION_COUNT];

	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		words[i] = operations[i].word;
		if (lang_accept_word(p, operations[i].word)) {
			*op = operations[i].op;
			return true;
		}
	}
	return lang_unexpected(p, "COUNT, SUM, MIN, MAX, AVG, HISTOGRAM or QUANTILES",
			       lang_nearest_word(p, words, OPERATION_COUNT));
}

/* Whether the next word is a field that events of every kernel's types have. */
static bool is_header_word(const struct lang_parser *p)
{
	static const char *const headers[] = { "cpu", "pid", "tid", "comm", "CpuId", "ProcessId", "ThreadId" };
	bool found = false;

	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		found |= lang_token_is(&p->token, headers[i]);
	for (size_t i = 0; i < EVENT_ABOUT_FIELDS; i++)
		found |= lang_token_is(&p->token, event_abouts[i].name);
	return found;
}

/* A value; or a header field that stands alone: that of the event that completes the match. */
static bool parse_aggregate_value(struct lang_parser *p, struct lang_syntax_value *value, const char *expect)
{
	bool alone = p->ahead.kind != LANG_TOKEN_DOT && p->ahead.kind != LANG_TOKEN_LBRACKET;

	if (alone && is_header_word(p) && !lang_is_param(p, &p->token)) {
		value->location = p->token.location;
		return lang_take_word(p, &value->header, "a value");
	}
	value->expr = lang_parse_item_value(p, expect);
	if (value->expr)
		value->location = value->expr->location;
	return value->expr != NULL;
}

static bool parse_aggregate(struct lang_parser *p, struct lang_syntax_aggregate *aggregate)
{
	struct diag_location first = p->token.location;

	aggregate->value.location = p->token.location;
	if (!take_operation(p, &aggregate->op))
		return false;
	if (aggregate->op != LANG_COUNT_OF) {
		static const char hint[] = "write the value after it: 'SUM(b.ts - a.ts)'";

		if (!lang_expect(p, LANG_TOKEN_LPAREN, "'('", hint) ||
		    !parse_aggregate_value(p, &aggregate->value, "')'") ||
		    !lang_expect(p, LANG_TOKEN_RPAREN, "')'", NULL))
			return false;
	} else if (p->token.kind == LANG_TOKEN_LPAREN) {
		return lang_unexpected(p, "',' or '}'", "COUNT counts matches and takes no value");
	}
	return lang_parse_name(p, &first, &aggregate->value.name);
}

static bool parse_aggregates(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "an aggregate",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_aggregate **end = &rule->aggregates;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'AGGREGATE { COUNT } BY { a.id }'") ||
	    !lang_list_begin(p, &list))
		return false;
	do {
		struct lang_syntax_aggregate *aggregate = lang_node(p, sizeof *aggregate);

		parsed = aggregate && parse_aggregate(p, aggregate);
		if (parsed) {
			*end = aggregate;
			end = &aggregate->next;
			rule->aggregate_count++;
		}
	} while (lang_list_next(p, &list, parsed));
	return !list.broken;
}

static bool parse_aggregate_by(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a value",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_value **end = &rule->by;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "write 'BY { a.id, comm }'") || !lang_list_begin(p, &list))
		return false;
	do {
		struct lang_syntax_value *value = lang_node(p, sizeof *value);
		struct diag_location first = p->token.location;

		parsed = value && parse_aggregate_value(p, value, "',' or '}'") &&
			 lang_parse_name(p, &first, &value->name);
		if (parsed) {
			*end = value;
			end = &value->next;
			rule->by_count++;
		}
	} while (lang_list_next(p, &list, parsed));
	return !list.broken;
}

static bool parse_top(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_token token;

	if (!lang_take_integer(p, &token, "how many keys", "write 'TOP 10'"))
		return false;
	rule->top = token.integer;
	if (token.unit != LANG_PLAIN || token.integer < 1 || token.integer > UINT32_MAX)
		lang_error(p->report, &token.location, NULL, "TOP is a number of keys, at least 1");
	return true;
}

static bool parse_every(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	bool is_broken;

	if (!lang_parse_time(p, "EVERY", &rule->every_ns, &is_broken))
		return false;
	rule->delta = lang_accept_word(p, "DELTA");
	return true;
}

bool lang_parse_aggregate(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	static const struct part {
		const char *word;
		bool (*parse)(struct lang_parser *p, struct lang_syntax_rule *rule);
	} parts[] = { { "BY", parse_aggregate_by }, { "TOP", parse_top }, { "EVERY", parse_every } };

	if (!parse_aggregates(p, rule))
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (lang_accept_word(p, parts[i].word) && !parts[i].parse(p, rule))
			return false;
	return true;
}
