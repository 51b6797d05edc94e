// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects the parameters of a file, and replaces them by constants where they are used. They are collected before
 * anything else is parsed, because they may be declared anywhere in it; what is wrong with a declaration is told when
 * its statement is parsed, so until then errors go nowhere, and a parameter without a value is a bad token, which is
 * not reported again.
 */

#include "lang/parse/params-priv.h"

#include <string.h>

#define RULE_ENDING ".rule"

static bool same_value(const struct lang_token *a, const struct lang_token *b)
{
	if (a->kind != b->kind || a->unit != b->unit)
		return false;
	switch (a->kind) {
	case LANG_TOKEN_REAL:
		return a->real == b->real;
	case LANG_TOKEN_STRING:
		return strcmp(a->text, b->text) == 0;
	default:
		return a->integer == b->integer;
	}
}

static bool negate(struct lang_parser *p, struct lang_token *value, const struct diag_location *first)
{
	value->location = lang_location_to_end(p, first);
	value->negative = value->integer != 0;
	if (value->kind == LANG_TOKEN_INTEGER && value->integer > (uint64_t)INT64_MAX + 1) {
		lang_error(p->report, &value->location, "the smallest integer is -9223372036854775808",
			   "the number is too small");
		return false;
	}
	value->integer = -value->integer;
	value->real = -value->real;
	return true;
}

/* A literal, perhaps with a minus. */
static bool parse_constant(struct lang_parser *p, struct lang_token *value)
{
	struct diag_location first = p->token.location;
	bool minus = lang_accept(p, LANG_TOKEN_MINUS);
	bool number = p->token.kind == LANG_TOKEN_INTEGER || p->token.kind == LANG_TOKEN_REAL;
	bool truth = lang_token_is(&p->token, "TRUE") || lang_token_is(&p->token, "FALSE");

	if (!number && (minus || (!truth && p->token.kind != LANG_TOKEN_STRING)))
		return lang_unexpected(p, minus ? "a number" : "a constant", NULL);
	*value = p->token;
	if (truth) {
		value->kind = LANG_TOKEN_TRUTH;
		value->integer = lang_token_is(&p->token, "TRUE");
	}
	lang_advance(p);
	return !minus || negate(p, value, &first);
}

/* name = constant */
static bool parse_declaration(struct lang_parser *p, struct lang_param *param)
{
	struct lang_word name;

	param->value.kind = LANG_TOKEN_BAD;
	if (!lang_take_word(p, &name, "a name for the parameter"))
		return false;
	param->name = name.text;
	param->location = name.location;
	if (!lang_expect(p, LANG_TOKEN_ASSIGN, "'='", "a parameter is written 'PARAM name = constant'"))
		return false;
	struct lang_token value;

	if (!parse_constant(p, &value))
		return false;
	param->value = value;
	return true;
}

static bool keep_param(struct lang_params *params, const struct lang_param *found, struct lang_param *param)
{
	const char *from = found->location.source->text + found->value.location.offset;

	struct lang_param *next = param->next;

	*param = *found;
	param->next = next;
	if (param->value.kind == LANG_TOKEN_BAD)
		return true;
	if (param->value.kind == LANG_TOKEN_STRING)
		param->value.text = arena_text(params->arena, found->value.text, strlen(found->value.text));
	param->declared = param->value;
	param->default_text = param->text = arena_text(params->arena, from, found->value.location.length);
	return param->text && (param->value.kind != LANG_TOKEN_STRING || param->value.text);
}

static void add_param(struct lang_params *params, const struct lang_param *found)
{
	struct lang_param **last = &params->first;

	for (; *last; last = &(*last)->next) {
		/* The first one counts, unless it is of no use. */
		if (strcmp((*last)->name, found->name) != 0)
			continue;
		if ((*last)->value.kind == LANG_TOKEN_BAD && !keep_param(params, found, *last))
			lang_no_memory(params->report);
		return;
	}
	if (params->count == LANG_PARAMS_MAX)
		return;
	struct lang_param *param = arena_zero(params->arena, 1, sizeof *param);

	if (!param || !keep_param(params, found, param)) {
		lang_no_memory(params->report);
		return;
	}
	*last = param;
	params->count++;
}

/* What settings call a file: its name without folders and without .rule. */
static const char *unit_name_of_file(const char *file, struct arena *arena)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	size_t length = strlen(base), ending = strlen(RULE_ENDING);

	if (length > ending && strcmp(base + length - ending, RULE_ENDING) == 0)
		length -= ending;
	return arena_text(arena, base, length);
}

void lang_params_collect(struct lang_params *params, const struct diag_source *source, struct arena *scratch)
{
	struct lang_report *nowhere = arena_zero(scratch, 1, sizeof *nowhere);
	struct lang_parser p;

	params->file = unit_name_of_file(source->file, params->arena);
	if (!nowhere || !params->file) {
		lang_no_memory(params->report);
		return;
	}
	nowhere->arena = scratch;
	lang_parser_init(&p, source, scratch, params->arena, nowhere);
	p.lexer.arena = scratch;
	while (p.token.kind != LANG_TOKEN_END) {
		struct lang_param param = { 0 };

		if (!lang_token_is(&p.token, "PARAM") || p.ahead.kind != LANG_TOKEN_WORD) {
			lang_advance(&p);
			continue;
		}
		lang_advance(&p);
		parse_declaration(&p, &param);
		if (param.name)
			add_param(params, &param);
	}
	if (nowhere->no_memory)
		lang_no_memory(params->report);
}

bool lang_parse_setting(const struct lang_params *params, const struct diag_location *location, struct arena *scratch,
			struct lang_token *value)
{
	struct lang_parser p;

	lang_parser_init_at(
		&p, &(struct lang_parser){ .report = params->report, .scratch = scratch, .arena = params->arena },
		location);
	if (p.token.kind == LANG_TOKEN_WORD && !lang_token_is(&p.token, "TRUE") && !lang_token_is(&p.token, "FALSE")) {
		*value = p.token;
		value->text = arena_text(params->arena, lang_token_bytes(&p.token), p.token.location.length);
		if (!value->text)
			lang_no_memory(params->report);
		lang_advance(&p);
		return value->text && (p.token.kind == LANG_TOKEN_END || lang_unexpected(&p, "nothing more", NULL));
	}
	return parse_constant(&p, value) &&
	       (p.token.kind == LANG_TOKEN_END || lang_unexpected(&p, "nothing more", lang_hint_behind_number(&p)));
}

bool lang_parse_param(struct lang_parser *p)
{
	static const char *const reserved[] = { "AND",   "OR",    "NOT",    "IN",      "LIKE",        "AS",
						"TRUE",  "FALSE", "RULE",   "MACHINE", "SYNCHRONOUS", "ASYNCHRONOUS",
						"EVENT", "PARAM", "EVENTS", "END",     "STAY" };
	struct lang_param param = { 0 };

	lang_advance(p);
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		if (lang_token_is(&p->token, reserved[i]))
			lang_error(p->report, &p->token.location, NULL,
				   "'%.*s' is a keyword and cannot name a parameter", (int)p->token.location.length,
				   lang_token_bytes(&p->token));
	}
	if (!parse_declaration(p, &param))
		return false;
	const struct lang_param *other = lang_params_find(p->params, param.name);

	if (!other) {
		lang_error(p->report, &param.location, NULL, "more than %d parameters", LANG_PARAMS_MAX);
	} else if (!same_value(&other->declared, &param.value)) {
		lang_error(p->report, &param.location, "they must have the same value", "two parameters are named '%s'",
			   param.name);
		lang_note(p->report, &other->location, "the other one is here");
	}
	return true;
}

const struct lang_param *lang_params_find(const struct lang_params *params, const char *name)
{
	const struct lang_param *param = params ? params->first : NULL;

	while (param && strcmp(param->name, name) != 0)
		param = param->next;
	return param;
}

void lang_substitute(struct lang_parser *p)
{
	const struct lang_param *param = NULL;

	if (p->ahead.kind != LANG_TOKEN_DOT && p->ahead.kind != LANG_TOKEN_LBRACKET)
		param = lang_params_find_token(p, &p->token);
	if (!param)
		return;
	struct diag_location location = p->token.location;

	p->token = param->value;
	p->token.location = location;
	p->token.param = param;
}

const char *lang_params_nearest(struct lang_parser *p)
{
	const char *names[LANG_PARAMS_MAX] = { NULL };
	size_t count = 0;

	for (const struct lang_param *at = p->params ? p->params->first : NULL; at; at = at->next)
		names[count++] = at->name;
	return lang_nearest_word(p, names, count);
}

bool lang_take_integer(struct lang_parser *p, struct lang_token *token, const char *what, const char *hint)
{
	lang_substitute(p);
	*token = p->token;
	if (token->kind == LANG_TOKEN_WORD && token->param) {
		lang_error(p->report, &token->location, NULL, "expected %s but '%s' is '%s'", what, token->param->name,
			   token->text);
		lang_advance(p);
		return false;
	}
	if (token->kind == LANG_TOKEN_WORD) {
		const char *nearest = lang_params_nearest(p);

		return lang_unexpected(p, what, nearest ? nearest : hint);
	}
	if (token->kind == LANG_TOKEN_INTEGER && token->negative) {
		lang_error(p->report, &token->location, NULL, "expected %s but '%s' is negative", what,
			   token->param->name);
		lang_note(p->report, &token->param->location, "the parameter is declared here");
		lang_advance(p);
		return false;
	}
	return lang_expect(p, LANG_TOKEN_INTEGER, what, hint);
}
