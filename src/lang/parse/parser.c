// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves the token window, reports unexpected tokens and resumes after them. Statements and modifiers are recognised by
 * two tokens in a row (`RULE name`, `WHERE {`) that cannot stand next to each other anywhere else, so recovery finds
 * them even where braces do not match.
 */

#include "lang/parse/params-priv.h"

#include <string.h>

void lang_parser_init(struct lang_parser *p, const struct diag_source *source, struct arena *scratch,
		      struct arena *arena, struct lang_report *report)
{
	*p = (struct lang_parser){ .report = report, .scratch = scratch, .arena = arena };
	lang_lex_init(&p->lexer, source, arena, report);
	lang_lex_next(&p->lexer, &p->token);
	lang_lex_next(&p->lexer, &p->ahead);
}

void lang_parser_init_at(struct lang_parser *p, const struct lang_parser *like, const struct diag_location *location)
{
	*p = *like;
	lang_lex_init(&p->lexer, location->source, like->arena, like->report);
	p->is_piece = true;
	p->lexer.offset = location->offset;
	p->lexer.limit = location->offset + location->length;
	p->lexer.line = location->line;
	p->lexer.line_start = location->offset + 1 - location->column;
	p->lexer.end = lang_lex_location(&p->lexer, p->lexer.limit, 1);
	lang_lex_next(&p->lexer, &p->token);
	lang_lex_next(&p->lexer, &p->ahead);
}

/* How much of a text is shown. */
static int shown_bytes(const char *text)
{
	size_t length = strlen(text);

	return length < 48 ? (int)length : 48;
}

void lang_advance(struct lang_parser *p)
{
	if (p->token.kind == LANG_TOKEN_LBRACE)
		p->braces++;
	else if (p->token.kind == LANG_TOKEN_RBRACE && p->braces > 0)
		p->braces--;
	if (p->token.kind != LANG_TOKEN_END)
		p->end = p->token.location.offset + p->token.location.length;
	p->token = p->ahead;
	if (p->ahead.kind != LANG_TOKEN_END)
		lang_lex_next(&p->lexer, &p->ahead);
	if (lang_report_full(p->report))
		p->token.kind = p->ahead.kind = LANG_TOKEN_END;
}

bool lang_accept(struct lang_parser *p, enum lang_token_kind kind)
{
	if (p->token.kind != kind)
		return false;
	lang_advance(p);
	return true;
}

bool lang_accept_word(struct lang_parser *p, const char *keyword)
{
	if (!lang_token_is(&p->token, keyword))
		return false;
	lang_advance(p);
	return true;
}

bool lang_unexpected(struct lang_parser *p, const char *what, const char *hint)
{
	int shown = p->token.location.length < 48 ? (int)p->token.location.length : 48;

	if (p->token.kind == LANG_TOKEN_BAD || p->stopped || lang_report_full(p->report))
		return false;
	if (p->token.param) {
		lang_error(p->report, &p->token.location, hint, "expected %s but the parameter '%s' is %.*s", what,
			   p->token.param->name, shown_bytes(p->token.param->text), p->token.param->text);
		lang_note(p->report, &p->token.param->location, "the parameter is declared here");
	} else if (p->token.kind == LANG_TOKEN_END)
		lang_error(p->report, &p->token.location, hint,
			   p->is_piece ? "expected %s but it ends here" : "expected %s but the file ends", what);
	else if (p->token.kind == LANG_TOKEN_STRING)
		lang_error(p->report, &p->token.location, hint, "expected %s but found a string", what);
	else
		lang_error(p->report, &p->token.location, hint, "expected %s but found '%.*s'", what, shown,
			   lang_token_bytes(&p->token));
	return false;
}

bool lang_expect(struct lang_parser *p, enum lang_token_kind kind, const char *what, const char *hint)
{
	return lang_accept(p, kind) || lang_unexpected(p, what, hint);
}

bool lang_take_word(struct lang_parser *p, struct lang_word *word, const char *what)
{
	if (p->token.kind != LANG_TOKEN_WORD)
		return lang_unexpected(p, what, NULL);
	word->location = p->token.param ? p->token.param->value.location : p->token.location;
	word->text = p->token.param ? p->token.text
				    : arena_text(p->arena, lang_token_bytes(&p->token), p->token.location.length);
	if (!word->text)
		lang_no_memory(p->report);
	lang_advance(p);
	return word->text != NULL;
}

const char *lang_nearest_word(struct lang_parser *p, const char *const *words, size_t count)
{
	if (p->token.kind != LANG_TOKEN_WORD)
		return NULL;
	const char *word = arena_text(p->scratch, lang_token_bytes(&p->token), p->token.location.length);

	return word ? lang_did_you_mean(p->report, word, diag_nearest(word, words, count)) : NULL;
}

void lang_accept_end(struct lang_parser *p)
{
	if (p->token.kind == LANG_TOKEN_SEMICOLON || p->token.kind == LANG_TOKEN_COMMA)
		lang_advance(p);
}

void *lang_node(struct lang_parser *p, size_t size)
{
	if (p->nodes == LANG_NODES_MAX) {
		lang_error(p->report, &p->token.location, "split it into several files",
			   "the file has more than %d parts", LANG_NODES_MAX);
		p->stopped = true;
		p->lexer.offset = p->lexer.limit;
		p->token.kind = p->ahead.kind = LANG_TOKEN_END;
	}
	if (p->nodes++ >= LANG_NODES_MAX)
		return NULL;
	void *node = arena_zero(p->scratch, 1, size);

	if (!node)
		lang_no_memory(p->report);
	return node;
}

struct diag_location lang_location_to_end(const struct lang_parser *p, const struct diag_location *first)
{
	struct diag_location location = *first;
	const char *text = location.source->text + location.offset;
	size_t length = p->end > location.offset ? p->end - location.offset : 0;
	const char *newline = length ? memchr(text, '\n', length) : NULL;

	if (newline)
		length = (size_t)(newline - text);
	location.length = (uint32_t)(length ? length : 1);
	return location;
}

void lang_skip_to_statement(struct lang_parser *p)
{
	while (!lang_at_statement(p))
		lang_advance(p);
	p->braces = 0;
}

void lang_skip_to_modifier(struct lang_parser *p)
{
	while (!lang_at_statement(p) && !lang_at_modifier(p))
		lang_advance(p);
	p->braces = 0;
}

void lang_skip_braces(struct lang_parser *p, uint32_t level)
{
	while (p->braces > level && !lang_at_statement(p) && !lang_at_modifier(p))
		lang_advance(p);
	p->braces = level;
}

bool lang_list_begin(struct lang_parser *p, struct lang_list *list)
{
	list->level = p->braces;
	list->broken = false;
	if (p->token.kind != list->closer)
		return true;
	lang_unexpected(p, list->item, NULL);
	list->broken = true;
	if (list->recovers)
		lang_advance(p);
	return false;
}

/* Skips to the separator or the closing brace that belongs to the list, or to what follows the rule's modifier. */
static void skip_item(struct lang_parser *p, const struct lang_list *list)
{
	uint32_t open = 0;

	while (!lang_at_statement(p) && !lang_at_modifier(p)) {
		enum lang_token_kind kind = p->token.kind;

		if (p->braces == list->level && (kind == LANG_TOKEN_RBRACE || (open == 0 && kind == list->separator)))
			return;
		if (kind == LANG_TOKEN_LPAREN || kind == LANG_TOKEN_LBRACKET)
			open++;
		else if ((kind == LANG_TOKEN_RPAREN || kind == LANG_TOKEN_RBRACKET) && open > 0)
			open--;
		lang_advance(p);
	}
}

/* The list ends without its closer, at a place reported already. */
static bool give_list_up(struct lang_parser *p, struct lang_list *list)
{
	list->broken = true;
	if (list->recovers)
		p->braces = list->level ? list->level - 1 : 0;
	return false;
}

/* Why neither the separator nor the closer of the list stands here. */
static const char *hint_behind_item(const struct lang_parser *p, const struct lang_list *list)
{
	const char *hint = lang_hint_behind_value(p);

	if (hint || list->closer != LANG_TOKEN_RBRACE)
		return hint;
	if (lang_at_statement(p) || lang_at_modifier(p))
		return "add the missing '}'";
	if (p->token.kind == LANG_TOKEN_LAND_C || lang_token_is(&p->token, "AND"))
		return "separate a join field such as [tid] from other conditions by commas";
	return p->token.kind == LANG_TOKEN_ASSIGN ? "name a value with AS: 'b.ts - a.ts AS took'" : NULL;
}

bool lang_list_item_ends(struct lang_parser *p, const struct lang_list *list)
{
	bool between = p->token.kind == LANG_TOKEN_SEMICOLON || p->token.kind == LANG_TOKEN_COMMA;

	if (p->token.kind == list->closer || p->token.kind == list->separator)
		return true;
	return (between && p->ahead.kind == list->closer) ||
	       lang_unexpected(p, list->expect, hint_behind_item(p, list));
}

bool lang_list_next(struct lang_parser *p, struct lang_list *list, bool parsed)
{
	if (!parsed || !lang_list_item_ends(p, list)) {
		if (!list->recovers)
			return give_list_up(p, list);
		list->broken = true;
		skip_item(p, list);
	}
	if (lang_at_statement(p) || lang_at_modifier(p))
		return give_list_up(p, list);
	lang_accept_end(p);
	return !lang_accept(p, list->closer);
}
