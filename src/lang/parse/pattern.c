// SPDX-License-Identifier: BSD-2-Clause
/* Parses patterns: events, sequences, alternatives, negations, with their lengths and repeats. */

#include "lang/parse/parser-priv.h"

static const char structure_what[] = "an event, '[', '(' or '~'";

static struct lang_syntax_structure *new_structure(struct lang_parser *p, enum lang_structure_kind kind)
{
	struct lang_syntax_structure *structure = lang_node(p, sizeof *structure);

	if (structure) {
		structure->kind = kind;
		structure->location = p->token.location;
		structure->min = structure->max = 1;
	}
	return structure;
}

static bool add_child(struct lang_syntax_structure *parent, struct lang_syntax_structure *child)
{
	if (!child)
		return false;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->child_count++;
	return true;
}

static bool is_repeat(const struct lang_token *token)
{
	return token->kind == LANG_TOKEN_STAR || token->kind == LANG_TOKEN_PLUS || token->kind == LANG_TOKEN_QUESTION ||
	       token->kind == LANG_TOKEN_LBRACE;
}

static struct lang_syntax_structure *parse_spec(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_syntax_structure *spec = new_structure(p, LANG_SPEC);

	if (!spec || !lang_take_word(p, &spec->type, structure_what))
		return NULL;
	if (++rule->element_count > LANG_ELEMENTS_MAX) {
		lang_error(p->report, &spec->location, NULL, "the pattern has more than %d events", LANG_ELEMENTS_MAX);
		return NULL;
	}
	if (p->token.kind == LANG_TOKEN_LBRACKET && !lang_parse_length(p, spec))
		return NULL;
	if (lang_accept(p, LANG_TOKEN_COLON) && !lang_take_word(p, &spec->name, "a name for the event"))
		return NULL;
	if (spec->name.text && p->token.kind == LANG_TOKEN_COLON) {
		lang_unexpected(p, "the end of the event",
				"an event is written 'type:name', without the system of its tracepoint: "
				"'sys_enter_openat:a'");
		return NULL;
	}
	if (is_repeat(&p->token)) {
		lang_error(p->report, &p->token.location, "write 'A[]' for an array, '[A]*' to repeat a sequence",
			   "only a sequence or an alternative can be repeated");
		return NULL;
	}
	spec->location = lang_location_to_end(p, &spec->location);
	return spec;
}

static struct lang_syntax_structure *parse_sequence(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_syntax_structure *sequence = new_structure(p, LANG_SEQUENCE);
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACKET,
				  .item = structure_what,
				  .expect = "',' or ']'" };
	bool parsed;

	lang_advance(p);
	if (!sequence || !lang_list_begin(p, &list))
		return NULL;
	do {
		parsed = add_child(sequence, lang_parse_structure(p, rule));
	} while (lang_list_next(p, &list, parsed));
	return list.broken || !lang_parse_repeat(p, sequence) ? NULL : sequence;
}

static struct lang_syntax_structure *parse_alternative(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_syntax_structure *alternative = new_structure(p, LANG_ALTERNATIVE);

	lang_advance(p);
	if (!alternative)
		return NULL;
	do {
		if (!add_child(alternative, lang_parse_structure(p, rule)))
			return NULL;
	} while (lang_accept(p, LANG_TOKEN_BAR));
	const char *expect = alternative->child_count == 1 ? "'|'" : "'|' or ')'";
	const char *hint = NULL;

	if (p->token.kind == LANG_TOKEN_COMMA)
		hint = "a sequence is written '[A, B]'";
	else if (p->token.kind == LANG_TOKEN_RPAREN)
		hint = "an alternative has at least two branches";
	if (alternative->child_count == 1 || p->token.kind != LANG_TOKEN_RPAREN) {
		lang_unexpected(p, expect, hint);
		return NULL;
	}
	lang_advance(p);
	return lang_parse_repeat(p, alternative) ? alternative : NULL;
}

static struct lang_syntax_structure *parse_negation(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_syntax_structure *negation = new_structure(p, LANG_NEGATION);

	lang_advance(p);
	if (!negation || !add_child(negation, lang_parse_structure(p, rule)))
		return NULL;
	negation->location = lang_location_to_end(p, &negation->location);
	return negation;
}

struct lang_syntax_structure *lang_parse_structure(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_syntax_structure *structure = NULL;

	if (p->depth == LANG_DEPTH_MAX) {
		lang_error(p->report, &p->token.location, NULL, "the pattern is nested more than %d levels deep",
			   LANG_DEPTH_MAX);
		return NULL;
	}
	p->depth++;
	if (p->token.kind == LANG_TOKEN_LBRACKET)
		structure = parse_sequence(p, rule);
	else if (p->token.kind == LANG_TOKEN_LPAREN)
		structure = parse_alternative(p, rule);
	else if (p->token.kind == LANG_TOKEN_TILDE)
		structure = parse_negation(p, rule);
	else if (p->token.kind == LANG_TOKEN_WORD && !lang_at_modifier(p) && !lang_at_statement(p))
		structure = parse_spec(p, rule);
	else
		lang_unexpected(p, structure_what,
				p->token.kind == LANG_TOKEN_LNOT_C ? "what must not happen is written '~A'" : NULL);
	p->depth--;
	return structure;
}
