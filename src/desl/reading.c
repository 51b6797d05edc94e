// SPDX-License-Identifier: BSD-2-Clause
/* Takes tokens, reports unexpected ones, and finds types and fields by name. */

#include "desl/reading-priv.h"

#include <string.h>

void desl_advance(struct desl_reading *reading)
{
	reading->last = reading->token.location;
	reading->end = reading->token.location.offset + reading->token.location.length;
	reading->token = reading->ahead;
	lang_lex_next(&reading->lexer, &reading->ahead);
}

void *desl_node(struct desl_reading *reading, size_t size)
{
	void *node = arena_zero(reading->program->arena, 1, size);

	if (!node)
		lang_no_memory(reading->report);
	return node;
}

bool desl_unexpected(struct desl_reading *reading, const char *what, const char *hint)
{
	const struct lang_token *token = &reading->token;
	size_t length = token->location.length < 40 ? token->location.length : 40;

	if (token->kind == LANG_TOKEN_BAD)
		return false;
	if (token->kind == LANG_TOKEN_END)
		lang_error(reading->report, &token->location, hint, "expected %s but the text ends", what);
	else
		lang_error(reading->report, &token->location, hint, "expected %s but found '%.*s'", what, (int)length,
			   lang_token_bytes(token));
	return false;
}

bool desl_take(struct desl_reading *reading, enum lang_token_kind kind, const char *what)
{
	if (!desl_at(reading, kind))
		return desl_unexpected(reading, what, NULL);
	desl_advance(reading);
	return true;
}

bool desl_take_word(struct desl_reading *reading, struct desl_word *word, const char *what)
{
	if (!desl_at(reading, LANG_TOKEN_WORD))
		return desl_unexpected(reading, what, NULL);
	word->location = reading->token.location;
	word->text =
		arena_text(reading->program->arena, lang_token_bytes(&reading->token), reading->token.location.length);
	if (!word->text)
		lang_no_memory(reading->report);
	desl_advance(reading);
	return word->text != NULL;
}

struct desl_type *desl_find_type(const struct desl_program *program, const char *name)
{
	for (struct desl_type *type = program->types; type; type = type->next) {
		if (strcmp(type->name.text, name) == 0)
			return type;
	}
	return NULL;
}

int desl_find_field(const struct desl_type *type, const char *name)
{
	for (unsigned i = 0; i < type->field_count; i++) {
		if (strcmp(type->fields[i].name.text, name) == 0)
			return (int)i;
	}
	return -1;
}

const char *desl_kind_word(enum desl_kind kind)
{
	static const char *const words[] = { "nothing", "Number", "String", "Line", "List", "File" };

	return words[kind];
}

void desl_drop(struct desl_reading *reading)
{
	desl_edit(reading, reading->token.location.offset, reading->token.location.length, "");
	desl_advance(reading);
}

void desl_edit(struct desl_reading *reading, uint64_t offset, uint32_t length, const char *text)
{
	if (reading->edit_count < DESL_EDITS_MAX && text)
		reading->edits[reading->edit_count++] = (struct desl_edit){ offset, length, text };
}
