// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses a program: sections of types, types of clauses in any order. A clause that is wrong is skipped, so that one
 * mistake gives one message.
 */

#include "desl/reading-priv.h"

#include <string.h>

/* Skips what is left of a clause: to behind its ';', or to the brace that ends its type. */
static void skip_clause(struct desl_reading *reading)
{
	while (!desl_at(reading, LANG_TOKEN_END) && !desl_at(reading, LANG_TOKEN_RBRACE)) {
		bool is_last = desl_at(reading, LANG_TOKEN_SEMICOLON);

		desl_advance(reading);
		if (is_last)
			return;
	}
}

static bool end_clause(struct desl_reading *reading)
{
	while (desl_at(reading, LANG_TOKEN_RPAREN) && desl_repair(reading, DESL_QUIRK_CLOSED_CALL, NULL))
		;
	if (desl_at(reading, LANG_TOKEN_RBRACE) && desl_repair(reading, DESL_QUIRK_SEMICOLON, NULL))
		return true;
	return desl_take(reading, LANG_TOKEN_SEMICOLON, "';'");
}

static enum desl_kind kind_at(const struct desl_reading *reading)
{
	for (enum desl_kind kind = DESL_NUMBER; kind <= DESL_FILE; kind++) {
		if (desl_at_word(reading, desl_kind_word(kind)))
			return kind;
	}
	return DESL_NO_KIND;
}

static struct desl_field *new_field(struct desl_reading *reading, const struct desl_word *name)
{
	struct desl_type *type = reading->type;

	if (desl_find_field(type, name->text) >= 0) {
		lang_error(reading->report, &name->location, "give one of them another name",
			   "the type has two fields '%s'", name->text);
		return NULL;
	}
	if (type->field_count == DESL_FIELDS_MAX) {
		lang_error(reading->report, &name->location, NULL, "a type has at most %d fields", DESL_FIELDS_MAX);
		return NULL;
	}
	type->fields[type->field_count].name = *name;
	return &type->fields[type->field_count++];
}

/* File name = "path" */
static bool parse_file(struct desl_reading *reading)
{
	struct desl_word name = { 0 };
	struct desl_type *type = reading->type;

	desl_advance(reading);
	if (!(desl_at(reading, LANG_TOKEN_ASSIGN) && desl_repair(reading, DESL_QUIRK_FILE, NULL)) &&
	    !desl_take_word(reading, &name, "a name for the file"))
		return false;
	if (!desl_take(reading, LANG_TOKEN_ASSIGN, "'='"))
		return false;
	if (!type->is_input) {
		lang_error(reading->report, &reading->token.location, "files belong to types of the section input",
			   "a derived type has no file");
		return false;
	}
	if (!desl_at(reading, LANG_TOKEN_STRING))
		return desl_unexpected(reading, "the path of a file", "write the path in double quotes");
	if (type->file.text) {
		lang_error(reading->report, &reading->token.location, NULL, "the type already has a file");
		return false;
	}
	type->file = (struct desl_word){ reading->token.text, reading->token.location };
	desl_advance(reading);
	return true;
}

/* kind name, and of a derived type = filter */
static bool parse_field(struct desl_reading *reading, enum desl_kind kind)
{
	struct desl_word name;
	struct desl_field *field;

	if (kind)
		desl_advance(reading);
	if (!desl_take_word(reading, &name, "the name of a field"))
		return false;
	field = new_field(reading, &name);
	if (!field)
		return false;
	field->kind = kind;
	field->is_bare = !kind;
	if (reading->type->is_input) {
		if (desl_at(reading, LANG_TOKEN_ASSIGN)) {
			lang_error(reading->report, &reading->token.location, "derive a type in heuristics",
				   "a field of an input is what its file says");
			return false;
		}
		return true;
	}
	if (desl_at_word(reading, "selfreference")) {
		desl_advance(reading);
		if (!desl_take_word(reading, &field->self, "a name for the records made before"))
			return false;
	}
	return desl_take(reading, LANG_TOKEN_ASSIGN, "'='") && desl_parse_filter(reading, &field->filter);
}

/* name type, name type ...: another name for the records of a type */
static bool parse_aliases(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;

	for (;;) {
		struct desl_source *source = &type->sources[type->source_count];
		struct desl_word name, of;

		if (!desl_take_word(reading, &name, "a name") ||
		    !desl_take_word(reading, &of, "the event type that the name stands for"))
			return false;
		for (unsigned i = 0; i < type->source_count; i++) {
			if (strcmp(type->sources[i].name.text, name.text) != 0)
				continue;
			lang_error(reading->report, &name.location, NULL, "the name '%s' already stands for a type",
				   name.text);
			return false;
		}
		if (type->source_count == DESL_SOURCES_MAX - 1) {
			lang_error(reading->report, &name.location, "derive it in two steps",
				   "a type can be derived from at most %d others", DESL_SOURCES_MAX - 1);
			return false;
		}
		source->name = name;
		source->type = desl_find_type(reading->program, of.text);
		if (!source->type) {
			lang_error(reading->report, &of.location,
				   "a type is declared before it is used, in input or heuristics",
				   "no event type '%s' is declared before this", of.text);
			return false;
		}
		type->alias_count = ++type->source_count;
		type->aliases_end = of.location;
		if (!desl_at(reading, LANG_TOKEN_COMMA))
			return true;
		desl_advance(reading);
	}
}

static bool parse_group(struct desl_reading *reading)
{
	struct desl_expr **end = &reading->type->groups;

	desl_advance(reading);
	if (!desl_at_word(reading, "by"))
		return desl_unexpected(reading, "'by'", "write: group by name.field;");
	desl_advance(reading);
	reading->type->is_grouped = true;
	while (*end)
		end = &(*end)->next;
	for (;;) {
		if (!desl_parse_qualifier(reading, end))
			return false;
		end = &(*end)->next;
		if (desl_at(reading, LANG_TOKEN_COMMA))
			desl_advance(reading);
		else if (!desl_at(reading, LANG_TOKEN_WORD))
			return true;
	}
}

static bool parse_constraint(struct desl_reading *reading)
{
	struct desl_expr **end = &reading->type->constraints;

	desl_advance(reading);
	while (*end)
		end = &(*end)->next;
	if (!desl_take(reading, LANG_TOKEN_LPAREN, "'('"))
		return false;
	for (;;) {
		if (!desl_parse_condition(reading, end))
			return false;
		end = &(*end)->next;
		if (!desl_at(reading, LANG_TOKEN_COMMA))
			break;
		desl_advance(reading);
	}
	if (desl_at(reading, LANG_TOKEN_SEMICOLON) && desl_repair(reading, DESL_QUIRK_OPEN_CALL, NULL))
		return true;
	return desl_take(reading, LANG_TOKEN_RPAREN, "')'");
}

/* advice("text", condition) */
static bool parse_advice(struct desl_reading *reading)
{
	struct desl_advice **end = &reading->type->advices, *advice = desl_node(reading, sizeof *advice);

	while (*end)
		end = &(*end)->next;
	if (!advice)
		return false;
	if (reading->type->advice_count++ == DESL_ADVICES_MAX) {
		lang_error(reading->report, &reading->token.location, NULL, "a type has at most %d pieces of advice",
			   DESL_ADVICES_MAX);
		return false;
	}
	desl_advance(reading);
	desl_advance(reading);
	if (!desl_at(reading, LANG_TOKEN_STRING))
		return desl_unexpected(reading, "the text of the advice", "write: advice(\"text\", g(0.5, share));");
	advice->text = (struct desl_word){ reading->token.text, reading->token.location };
	desl_advance(reading);
	if (!desl_take(reading, LANG_TOKEN_COMMA, "',' and a condition") ||
	    !desl_parse_condition(reading, &advice->condition) || !desl_take(reading, LANG_TOKEN_RPAREN, "')'"))
		return false;
	*end = advice;
	return true;
}

static bool parse_clause(struct desl_reading *reading)
{
	enum desl_kind kind = kind_at(reading);

	if (kind == DESL_FILE)
		return parse_file(reading);
	if (kind)
		return parse_field(reading, kind);
	if (!desl_at(reading, LANG_TOKEN_WORD))
		return desl_unexpected(reading, "a field, a constraint or 'group by'", NULL);
	if (!reading->type->is_input && desl_at_word(reading, "constraint") && reading->ahead.kind == LANG_TOKEN_LPAREN)
		return parse_constraint(reading);
	if (!reading->type->is_input && desl_at_word(reading, "group") && lang_token_is(&reading->ahead, "by"))
		return parse_group(reading);
	if (!reading->type->is_input && desl_at_word(reading, "advice") && reading->ahead.kind == LANG_TOKEN_LPAREN)
		return parse_advice(reading);
	if (reading->ahead.kind == LANG_TOKEN_ASSIGN && !reading->type->is_input) {
		desl_repair(reading, DESL_QUIRK_KIND, NULL);
		return parse_field(reading, DESL_NO_KIND);
	}
	if (!reading->type->is_input && reading->ahead.kind == LANG_TOKEN_WORD)
		return parse_aliases(reading);
	return desl_unexpected(reading, "the type of a field", "types are Number, String, Line, List and File");
}

static void add_parsed_type(struct desl_reading *reading, struct desl_type *type)
{
	const struct desl_type *other = desl_find_type(reading->program, type->name.text);

	if (other) {
		lang_error(reading->report, &type->name.location, "give one of them another name",
			   "there are two event types '%s'", type->name.text);
		return;
	}
	if (++reading->program->type_count > DESL_TYPES_MAX) {
		lang_error(reading->report, &type->name.location, NULL, "a program has at most %d event types",
			   DESL_TYPES_MAX);
		return;
	}
	*reading->last_type = type;
	reading->last_type = &type->next;
}

/* eventtype name { clause; ... } */
static bool parse_type(struct desl_reading *reading, bool is_input)
{
	struct desl_type *type = desl_node(reading, sizeof *type);

	desl_advance(reading);
	if (!type)
		return false;
	type->sources = arena_zero(reading->program->arena, DESL_SOURCES_MAX, sizeof *type->sources);
	if (!type->sources) {
		lang_no_memory(reading->report);
		return false;
	}
	type->is_input = is_input;
	type->self_field = -1;
	if (!desl_take_word(reading, &type->name, "the name of an event type") ||
	    !desl_take(reading, LANG_TOKEN_LBRACE, "'{'"))
		return false;
	reading->type = type;
	while (!desl_at(reading, LANG_TOKEN_RBRACE) && !desl_at(reading, LANG_TOKEN_END)) {
		if (desl_at(reading, LANG_TOKEN_COLON) && desl_repair(reading, DESL_QUIRK_ELLIPSIS, NULL))
			continue;
		if (desl_at(reading, LANG_TOKEN_SEMICOLON))
			desl_advance(reading);
		else if (!parse_clause(reading) || !end_clause(reading)) {
			type->is_broken = true;
			skip_clause(reading);
		}
	}
	add_parsed_type(reading, type);
	return desl_take(reading, LANG_TOKEN_RBRACE, "'}'");
}

static bool parse_output(struct desl_reading *reading)
{
	struct desl_expr **end = &reading->program->outputs;

	while (*end)
		end = &(*end)->next;
	while (desl_at(reading, LANG_TOKEN_WORD)) {
		struct desl_expr *name = desl_node(reading, sizeof *name);

		if (!name || !desl_take_word(reading, &name->name, "an event type"))
			return false;
		name->location = name->name.location;
		*end = name;
		end = &name->next;
		if (desl_at(reading, LANG_TOKEN_SEMICOLON) || desl_at(reading, LANG_TOKEN_COMMA))
			desl_advance(reading);
		else if (!desl_at(reading, LANG_TOKEN_RBRACE) || !desl_repair(reading, DESL_QUIRK_SEMICOLON, NULL))
			return desl_unexpected(reading, "';'", NULL);
	}
	return true;
}

enum section { INPUT, HEURISTICS, OUTPUT, SECTIONS };

static enum section section_at(const struct desl_reading *reading)
{
	static const char *const words[SECTIONS] = { "input", "heuristics", "output" };
	enum section section = INPUT;

	while (section < SECTIONS &&
	       !(desl_at_word(reading, words[section]) && reading->ahead.kind == LANG_TOKEN_LBRACE))
		section++;
	return section;
}

/* section { ... }; the brace is next */
static bool parse_section(struct desl_reading *reading, enum section section)
{
	desl_advance(reading);
	desl_advance(reading);
	if (section == OUTPUT && !parse_output(reading))
		return false;
	for (;;) {
		if (desl_at(reading, LANG_TOKEN_COLON) && desl_repair(reading, DESL_QUIRK_ELLIPSIS, NULL))
			continue;
		if (section == OUTPUT || !desl_at_word(reading, "eventtype"))
			break;
		if (!parse_type(reading, section == INPUT))
			return false;
		if (desl_at(reading, LANG_TOKEN_SEMICOLON))
			desl_advance(reading);
	}
	if (section_at(reading) != SECTIONS && desl_repair(reading, DESL_QUIRK_NESTED, NULL)) {
		reading->unclosed++;
		return true;
	}
	return desl_take(reading, LANG_TOKEN_RBRACE, section == OUTPUT ? "'}'" : "'eventtype' or '}'");
}

void desl_parse(struct desl_reading *reading)
{
	bool seen[SECTIONS] = { false };

	while (!desl_at(reading, LANG_TOKEN_END)) {
		enum section section = section_at(reading);

		if (desl_at(reading, LANG_TOKEN_RBRACE) && reading->unclosed) {
			reading->unclosed--;
			desl_drop(reading);
			continue;
		}
		if (desl_at(reading, LANG_TOKEN_COLON) && desl_repair(reading, DESL_QUIRK_ELLIPSIS, NULL))
			continue;
		if (section == SECTIONS) {
			desl_unexpected(reading, "input, heuristics or output",
					"a program has these sections: input { }, "
					"heuristics { }, output { }");
			return;
		}
		seen[section] = true;
		if (!parse_section(reading, section))
			return;
	}
	if (!seen[OUTPUT])
		lang_error(reading->report, &reading->token.location, "add: output { name; }",
			   "the program has no output");
}
