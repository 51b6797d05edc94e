// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recognises by its words where a part of a file begins. Keywords may be names, so most are told by what stands behind
 * them.
 */

#include "lang/parse/params-priv.h"
#include "lang/parse/parse-machine-priv.h"

#include <string.h>

struct named_value {
	const char *name;
	int value;
};

static const struct named_value semantics_words[] = {
	{ "STRICTSEQUENCE", LANG_STRICT_SEQUENCE },
	{ "STRICTPARTITION", LANG_STRICT_PARTITION },
	{ "SKIPTILLNEXT", LANG_SKIP_TILL_NEXT },
	{ "SKIPTILLANY", LANG_SKIP_TILL_ANY },
};

_Static_assert(sizeof semantics_words / sizeof *semantics_words == LANG_SEMANTICS_COUNT, "every word counts");

bool lang_is_operator_word(const struct lang_token *token)
{
	return lang_token_is(token, "AND") || lang_token_is(token, "OR") || lang_token_is(token, "IN") ||
	       lang_token_is(token, "LIKE") || lang_token_is(token, "NOT") || lang_token_is(token, "AS");
}

bool lang_is_statement_word(const struct lang_token *token)
{
	return lang_token_is(token, "RULE") || lang_token_is(token, "SYNCHRONOUS") ||
	       lang_token_is(token, "ASYNCHRONOUS") || lang_token_is(token, "EVENT") ||
	       lang_token_is(token, "EVENTS") || lang_token_is(token, "MACHINE") || lang_token_is(token, "PARAM");
}

bool lang_is_local(const struct lang_parser *p, const char *bytes, size_t length)
{
	if (!p->machine)
		return false;
	for (const struct lang_syntax_key *at = p->machine->keys; at; at = at->next) {
		if (strncmp(at->name.text, bytes, length) == 0 && at->name.text[length] == 0)
			return true;
	}
	for (const struct lang_syntax_variable *at = p->machine->variables; at; at = at->next) {
		if (strncmp(at->name.text, bytes, length) == 0 && at->name.text[length] == 0)
			return true;
	}
	return false;
}

const struct lang_param *lang_params_find_token(const struct lang_parser *p, const struct lang_token *token)
{
	const char *bytes = lang_token_bytes(token);
	size_t length = token->location.length;

	if (token->kind != LANG_TOKEN_WORD || lang_is_local(p, bytes, length))
		return NULL;
	for (const struct lang_param *at = p->params ? p->params->first : NULL; at; at = at->next) {
		if (strncmp(at->name, bytes, length) == 0 && at->name[length] == 0)
			return at;
	}
	return NULL;
}

bool lang_is_param(const struct lang_parser *p, const struct lang_token *token)
{
	return lang_params_find_token(p, token) != NULL;
}

enum lang_property lang_at_property(const struct lang_parser *p)
{
	const struct lang_token *token = &p->token, *ahead = &p->ahead;

	if (lang_token_is(token, "SEVERITY") && ahead->kind == LANG_TOKEN_WORD)
		return LANG_PROPERTY_SEVERITY;
	if (lang_token_is(token, "TAGS") && ahead->kind == LANG_TOKEN_LBRACE)
		return LANG_PROPERTY_TAGS;
	if (lang_token_is(token, "DESCRIPTION") && (ahead->kind == LANG_TOKEN_STRING || lang_is_param(p, ahead)))
		return LANG_PROPERTY_DESCRIPTION;
	return LANG_PROPERTY_NONE;
}

bool lang_at_frame(const struct lang_parser *p)
{
	const struct lang_token *token = &p->token, *ahead = &p->ahead;
	bool number = ahead->kind == LANG_TOKEN_INTEGER || lang_is_param(p, ahead);

	if (token->kind != LANG_TOKEN_WORD || lang_is_operator_word(ahead))
		return false;
	if (lang_at_property(p))
		return true;
	if (lang_token_is(token, "STATE") || lang_token_is(token, "VAR"))
		return ahead->kind == LANG_TOKEN_WORD;
	if (lang_token_is(token, "POOL") || lang_token_is(token, "TRAIL"))
		return number;
	return lang_token_is(token, "ON") && lang_token_is(ahead, "LOSS");
}

bool lang_at_machine_part(const struct lang_parser *p)
{
	const struct lang_token *token = &p->token, *ahead = &p->ahead;

	if (token->kind != LANG_TOKEN_WORD || lang_is_operator_word(ahead))
		return false;
	if (lang_token_is(token, "ON"))
		return ahead->kind == LANG_TOKEN_WORD;
	if (lang_token_is(token, "AFTER"))
		return ahead->kind == LANG_TOKEN_INTEGER || lang_is_param(p, ahead);
	if (lang_token_is(token, "ENTRY") || lang_token_is(token, "EXIT"))
		return ahead->kind == LANG_TOKEN_LBRACE;
	return lang_at_frame(p);
}

bool lang_at_statement(const struct lang_parser *p)
{
	const struct lang_token *token = &p->token, *ahead = &p->ahead;
	bool named = ahead->kind == LANG_TOKEN_WORD;

	if (token->kind == LANG_TOKEN_END)
		return true;
	if (token->kind != LANG_TOKEN_WORD || (p->machine && lang_is_operator_word(ahead)))
		return false;
	if (lang_token_is(token, "SYNCHRONOUS") || lang_token_is(token, "ASYNCHRONOUS"))
		return lang_token_is(ahead, "RULE");
	if (lang_token_is(token, "EVENTS"))
		return ahead->kind == LANG_TOKEN_STRING;
	return named && (lang_token_is(token, "RULE") || lang_token_is(token, "EVENT") ||
			 lang_token_is(token, "MACHINE") || lang_token_is(token, "PARAM"));
}

bool lang_at_modifier(const struct lang_parser *p)
{
	const struct lang_token *token = &p->token, *ahead = &p->ahead;

	if (p->machine)
		return lang_at_machine_part(p);
	if (token->kind != LANG_TOKEN_WORD)
		return false;
	if (lang_at_property(p))
		return true;
	if (lang_token_is(token, "WHERE") || lang_token_is(token, "DO") || lang_token_is(token, "OVER") ||
	    lang_token_is(token, "AGGREGATE") || lang_token_is(token, "EXCEPT"))
		return ahead->kind == LANG_TOKEN_LBRACE;
	if (lang_token_is(token, "RETURN"))
		return ahead->kind == LANG_TOKEN_LBRACE || lang_token_is(ahead, "SEQUENCE");
	if (lang_token_is(token, "WITHIN") || lang_token_is(token, "POOL"))
		return ahead->kind == LANG_TOKEN_INTEGER || ahead->kind == LANG_TOKEN_REAL || lang_is_param(p, ahead);
	if (lang_token_is(token, "AFTER"))
		return lang_token_is(ahead, "MATCH");
	return lang_token_is(token, "ON") && lang_token_is(ahead, "LOSS");
}

bool lang_is_semantics(const struct lang_token *token, enum lang_semantics *semantics)
{
	for (size_t i = 0; i < LANG_SEMANTICS_COUNT; i++) {
		if (lang_token_is(token, semantics_words[i].name)) {
			*semantics = (enum lang_semantics)semantics_words[i].value;
			return true;
		}
	}
	return false;
}

bool lang_is_rule_keyword(const struct lang_token *token)
{
	enum lang_semantics semantics;

	return lang_token_is(token, "PATTERN") || lang_is_semantics(token, &semantics);
}
