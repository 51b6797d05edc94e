// SPDX-License-Identifier: BSD-2-Clause
/*
 * Divides the text of WARN into texts and values. The string is taken apart as it stands in the file, so that errors in
 * a value have their place; escapes are those of every string, `{{` and `}}` are braces.
 */

#include "lang/parse/parse-machine-priv.h"

struct warn {
	struct lang_parser *p;
	struct lang_token token; /* the string */
	size_t at, end;          /* offsets between the quotes */
	char *text;              /* the text that is being put together, with room for the whole string */
	struct lang_syntax_piece **last;
	uint32_t count;
};

static struct diag_location location_at(const struct warn *warn, size_t from, size_t to)
{
	struct diag_location location = warn->token.location;

	location.column += (uint32_t)(from - location.offset);
	location.offset = from;
	location.length = (uint32_t)(to - from);
	return location;
}

static char byte_at(const struct warn *warn, size_t at)
{
	return at < warn->end ? warn->token.location.source->text[at] : 0;
}

/* The offset of the brace that closes the one before from, or the end. */
static size_t value_end(const struct warn *warn, size_t from)
{
	size_t open = 0;

	for (; from < warn->end; from++) {
		if (byte_at(warn, from) == '{')
			open++;
		else if (byte_at(warn, from) == '}' && open-- == 0)
			break;
	}
	return from;
}

static bool parse_piece_value(struct warn *warn, struct lang_syntax_piece *piece, size_t from, size_t to)
{
	struct lang_parser *p = warn->p, inner;
	struct diag_location location = location_at(warn, from, to);

	for (size_t at = from; at < to; at++) {
		if (byte_at(warn, at) != '\\')
			continue;
		location = location_at(warn, at, at + 2);
		lang_error(p->report, &location, NULL, "strings cannot be used inside a string's braces");
		return false;
	}
	lang_parser_init_at(&inner, p, &location);
	uint64_t start = inner.token.location.offset;

	if (inner.token.kind == LANG_TOKEN_END) {
		location = location_at(warn, from - 1, to + 1);
		lang_error(p->report, &location, "braces are written {{ and }}", "the braces are empty");
		return false;
	}
	piece->expr = lang_parse_item_value(&inner, "'}'");
	if (piece->expr && inner.token.kind != LANG_TOKEN_END) {
		lang_unexpected(&inner, "'}'", NULL);
		piece->expr = NULL;
	}
	p->nodes = inner.nodes;
	if (inner.stopped) {
		p->stopped = true;
		p->lexer.offset = p->lexer.limit;
		p->token.kind = p->ahead.kind = LANG_TOKEN_END;
	}
	if (!piece->expr)
		return false;
	piece->name = arena_text(p->arena, location.source->text + start, piece->expr->end - start);
	if (!piece->name)
		lang_no_memory(p->report);
	return piece->name != NULL;
}

/* Closes the text with the value at the brace, or with none. */
static bool add_warning_piece(struct warn *warn, bool has_value)
{
	struct lang_syntax_piece *piece = lang_node(warn->p, sizeof *piece);
	size_t from = warn->at + 1, to = value_end(warn, from);

	if (!piece)
		return false;
	piece->text = arena_text(warn->p->arena, warn->text, strlen(warn->text));
	if (!piece->text)
		lang_no_memory(warn->p->report);
	warn->text[0] = 0;
	*warn->last = piece;
	warn->last = &piece->next;
	warn->count++;
	if (!has_value)
		return piece->text != NULL;
	if (to == warn->end) {
		struct diag_location location = location_at(warn, warn->at, from);

		lang_error(warn->p->report, &location, "a brace is written {{", "the value is not closed with }");
		return false;
	}
	warn->at = to + 1;
	return piece->text && parse_piece_value(warn, piece, from, to);
}

/* Takes text up to the next brace. */
static bool take_text(struct warn *warn, size_t *length)
{
	size_t from = warn->at;

	while (warn->at < warn->end && byte_at(warn, warn->at) != '{' && byte_at(warn, warn->at) != '}')
		warn->at += byte_at(warn, warn->at) == '\\' ? 2 : 1;
	if (warn->at > warn->end)
		warn->at = warn->end;
	if (!lang_lex_decode(&warn->p->lexer, from, warn->at, warn->text + *length))
		return false;
	*length = strlen(warn->text);
	return true;
}

static bool divide_warning(struct warn *warn)
{
	size_t length = 0;

	while (warn->at < warn->end) {
		char byte = byte_at(warn, warn->at);

		if (byte != '{' && byte != '}') {
			if (!take_text(warn, &length))
				return false;
		} else if (byte_at(warn, warn->at + 1) == byte) {
			warn->text[length++] = byte;
			warn->text[length] = 0;
			warn->at += 2;
		} else if (byte == '}') {
			struct diag_location location = location_at(warn, warn->at, warn->at + 1);

			lang_error(warn->p->report, &location, "a brace is written }}",
				   "this '}' has no '{' before it");
			return false;
		} else {
			if (!add_warning_piece(warn, true))
				return false;
			length = 0;
		}
	}
	return (length == 0 && warn->count > 0) || add_warning_piece(warn, false);
}

bool lang_parse_warn(struct lang_parser *p, struct lang_syntax_action *action)
{
	struct warn warn = { .p = p, .token = p->token, .last = &action->pieces };

	if (p->token.kind != LANG_TOKEN_STRING)
		return lang_unexpected(p, "a text in quotes", "write 'WARN \"text {value} text\"'");
	lang_advance(p);
	action->location = lang_location_to_end(p, &action->location);
	warn.at = warn.token.location.offset + 1;
	warn.end = warn.token.location.offset + warn.token.location.length - 1;
	warn.text = arena_zero(p->scratch, warn.token.location.length + 1, 1);
	if (!warn.text) {
		lang_no_memory(p->report);
		return false;
	}
	bool divided = divide_warning(&warn);

	action->piece_count = warn.count;
	return divided;
}
