// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses the counts of an array or a repeat: every way to write them ends as an inclusive minimum and maximum. A count
 * that nothing can reach is an error, after which parsing goes on with 1.
 */

#include "lang/parse/parser-priv.h"

struct bounds {
	uint64_t min, max; /* inclusive; LANG_UNBOUNDED: no maximum */
	bool bad;          /* an error was told */
};

/* A count: a plain integer that is not absurd. */
static bool take_count(struct lang_parser *p, struct bounds *bounds, uint64_t *count)
{
	struct lang_token token;

	if (!lang_take_integer(p, &token, "a number", NULL))
		return false;
	*count = token.integer;
	if (token.unit == LANG_PLAIN && token.integer <= LANG_LENGTH_MAX)
		return true;
	if (token.unit != LANG_PLAIN)
		lang_error(p->report, &token.location, NULL, "a count has no unit");
	else
		lang_error(p->report, &token.location, NULL, "a count is at most %d", LANG_LENGTH_MAX);
	*count = 1;
	bounds->bad = true;
	return true;
}

static void at_least(struct bounds *bounds, uint64_t count)
{
	bounds->min = count > bounds->min ? count : bounds->min;
}

static void at_most(struct bounds *bounds, uint64_t count)
{
	bounds->max = count < bounds->max ? count : bounds->max;
}

/* Below 0 nothing is left: the empty range 1..0 stands for it. */
static uint64_t below(uint64_t count)
{
	return count ? count - 1 : 0;
}

static bool parse_bound(struct lang_parser *p, struct bounds *bounds)
{
	enum lang_token_kind relation = p->token.kind;
	uint64_t count;

	if (relation == LANG_TOKEN_INTEGER)
		return lang_unexpected(p, "a bound", "write '=5' for exactly five, '>=5' for five or more");
	if (relation == LANG_TOKEN_EQ)
		return lang_unexpected(p, "a bound", "write '='");
	if (relation != LANG_TOKEN_LT && relation != LANG_TOKEN_LE && relation != LANG_TOKEN_ASSIGN &&
	    relation != LANG_TOKEN_GE && relation != LANG_TOKEN_GT)
		return lang_unexpected(p, "a bound", "a bound is one of < <= = >= > and a number");
	lang_advance(p);
	if (!take_count(p, bounds, &count))
		return false;
	if (relation == LANG_TOKEN_LT)
		at_most(bounds, below(count));
	if (relation == LANG_TOKEN_LE || relation == LANG_TOKEN_ASSIGN)
		at_most(bounds, count);
	if (relation == LANG_TOKEN_GE || relation == LANG_TOKEN_ASSIGN)
		at_least(bounds, count);
	if (relation == LANG_TOKEN_GT)
		at_least(bounds, count + 1);
	return true;
}

static bool parse_bounds(struct lang_parser *p, struct bounds *bounds)
{
	struct lang_list list = {
		.separator = LANG_TOKEN_COMMA, .closer = LANG_TOKEN_RBRACKET, .item = "a bound", .expect = "',' or ']'"
	};
	bool parsed;

	do {
		parsed = parse_bound(p, bounds);
	} while (lang_list_next(p, &list, parsed));
	return !list.broken;
}

/* x .. y, both exclusive as in the work that the language comes from. */
static bool parse_range(struct lang_parser *p, struct bounds *bounds)
{
	uint64_t low, high;

	if (!take_count(p, bounds, &low))
		return false;
	lang_advance(p);
	if (!take_count(p, bounds, &high))
		return false;
	at_least(bounds, low + 1);
	at_most(bounds, below(high));
	return lang_expect(p, LANG_TOKEN_RBRACKET, "']'", NULL);
}

bool lang_parse_length(struct lang_parser *p, struct lang_syntax_structure *spec)
{
	struct bounds bounds = { .min = 1, .max = LANG_UNBOUNDED };
	struct diag_location location = p->token.location;

	spec->is_array = true;
	spec->max = LANG_UNBOUNDED;
	lang_advance(p);
	if (lang_accept(p, LANG_TOKEN_RBRACKET))
		return true;
	bool is_range = (p->token.kind == LANG_TOKEN_INTEGER || lang_is_param(p, &p->token)) &&
			p->ahead.kind == LANG_TOKEN_DOTS;

	if (!(is_range ? parse_range(p, &bounds) : parse_bounds(p, &bounds)))
		return false;
	location = lang_location_to_end(p, &location);
	if (bounds.bad)
		return true;
	if (bounds.min > bounds.max) {
		lang_error(p->report, &location,
			   "an array holds at least one event, and [x..y] means more than x and less than y",
			   "no array can have this length");
		return true;
	}
	spec->min = bounds.min;
	spec->max = bounds.max;
	return true;
}

/* {n}, {n,} or {n,m}; the brace is next. */
static bool parse_counts(struct lang_parser *p, struct bounds *bounds)
{
	lang_advance(p);
	if (!take_count(p, bounds, &bounds->min))
		return false;
	bounds->max = bounds->min;
	if (lang_accept(p, LANG_TOKEN_COMMA)) {
		bounds->max = LANG_UNBOUNDED;
		if (p->token.kind != LANG_TOKEN_RBRACE && !take_count(p, bounds, &bounds->max))
			return false;
	}
	return lang_expect(p, LANG_TOKEN_RBRACE, "'}'", "a repeat is written {2}, {2,} or {2,5}");
}

bool lang_parse_repeat(struct lang_parser *p, struct lang_syntax_structure *group)
{
	struct bounds bounds = { .min = 1, .max = 1 };
	struct diag_location location = p->token.location;
	enum lang_token_kind kind = p->token.kind;

	if (kind == LANG_TOKEN_LBRACE) {
		if (!parse_counts(p, &bounds))
			return false;
	} else if (kind == LANG_TOKEN_STAR || kind == LANG_TOKEN_PLUS || kind == LANG_TOKEN_QUESTION) {
		bounds.min = kind == LANG_TOKEN_PLUS ? 1 : 0;
		bounds.max = kind == LANG_TOKEN_QUESTION ? 1 : LANG_UNBOUNDED;
		lang_advance(p);
	}
	group->location = lang_location_to_end(p, &group->location);
	location = lang_location_to_end(p, &location);
	if (bounds.bad)
		return true;
	if (bounds.max == 0 || bounds.min > bounds.max) {
		lang_error(p->report, &location, NULL, "no number of repeats fits these bounds");
		return true;
	}
	group->min = bounds.min;
	group->max = bounds.max;
	return true;
}
