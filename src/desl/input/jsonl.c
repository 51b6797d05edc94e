// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads records from JSON lines: events of the input's name, as recordings are dumped; matches of the rule of that
 * name, by what they return; of files that have neither, each object. A '.' of a name is a '_' of the field.
 */

#include "desl/input/input-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

enum { NAME_BYTES = 256, NAMES_MAX = 64 };

struct lines {
	struct desl_providing *providing;
	const char *line;
	size_t seen; /* objects that are not of the input */
};

/* The value that is called so, or whose name is so with '_' for what no name has. */
static json_t *find_value(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);
	const char *key;
	void *step;

	for (step = json_object_iter(object); step && !value; step = json_object_iter_next(object, step)) {
		size_t i = 0;

		key = json_object_iter_key(step);
		while (key[i] && (key[i] == name[i] || (key[i] == '.' && name[i] == '_')))
			i++;
		if (!key[i] && !name[i])
			value = json_object_iter_value(step);
	}
	return value;
}

static int missing(const struct lines *lines, const struct desl_field *field, json_t *object)
{
	const char *names[NAMES_MAX], *key;
	size_t count = 0;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (count < NAMES_MAX)
			names[count++] = key;
	}
	return desl_provide_unknown(lines->providing, field, names, count);
}

/* A real number that is a whole one, to the last digit. */
static bool is_whole_number(const json_t *value)
{
	return json_is_real(value) && fabs(json_real_value(value)) < 9007199254740992.0 &&
	       floor(json_real_value(value)) == json_real_value(value);
}

static int set_cell(const struct lines *lines, unsigned column, const json_t *value, union desl_cell *cell)
{
	const struct desl_field *field = &lines->providing->type->fields[column];
	char number[32];

	if (field->kind == DESL_NUMBER) {
		cell->number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
		if (json_is_null(value))
			cell->number = NAN;
		if (json_is_number(value) || json_is_boolean(value) || json_is_null(value))
			return 0;
		return desl_provide_wrong(lines->providing, lines->line,
					  "declare it as Line or String if it is not a number",
					  "the field '%s' is a Number, but this is not a number", field->name.text);
	}
	cell->text = 0;
	if (json_is_null(value))
		return 0;
	if (json_is_string(value))
		return desl_provide_cell(lines->providing, column, json_string_value(value), json_string_length(value),
					 cell);
	if (!json_is_integer(value) && !is_whole_number(value))
		return desl_provide_wrong(lines->providing, lines->line, "declare it as Number, if it is one",
					  "the field '%s' is a %s, but this is not a text", field->name.text,
					  desl_kind_word(field->kind));
	if (json_is_integer(value))
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(number, sizeof number, "%.0f", json_real_value(value));
	return desl_provide_cell(lines->providing, column, number, strlen(number), cell);
}

static int add_jsonl_record(struct lines *lines, json_t *first, json_t *second)
{
	struct desl_type *type = lines->providing->type;
	int result = desl_table_grow(&type->table);

	for (unsigned i = 0; i < type->field_count && !result; i++) {
		json_t *value = first ? find_value(first, type->fields[i].name.text) : NULL;

		if (!value)
			value = find_value(second, type->fields[i].name.text);
		if (!value)
			return missing(lines, &type->fields[i], first ? first : second);
		result = set_cell(lines, i, value, &type->table.cells[i][type->table.rows]);
	}
	type->table.rows += !result;
	return desl_provide_failed(lines->providing, result);
}

static int take_object(struct lines *lines, json_t *object)
{
	const char *name = lines->providing->type->name.text;
	const char *event = json_string_value(json_object_get(object, "event"));
	const char *match = json_string_value(json_object_get(object, "match"));
	json_t *returned = json_object_get(object, "return");

	if (json_object_get(object, "stats") || json_object_get(object, "notice") || json_object_get(object, "declare"))
		return 0;
	if ((!event && !match) || (event && strcmp(event, name) == 0))
		return add_jsonl_record(lines, NULL, object);
	if (match && strcmp(match, name) == 0)
		return add_jsonl_record(lines, json_is_object(returned) ? returned : NULL, object);
	lines->seen++;
	return 0;
}

static int read_jsonl_line(struct lines *lines, size_t length)
{
	json_error_t error;
	json_t *object = json_loadb(lines->line, length, JSON_REJECT_DUPLICATES, &error);
	int result;

	if (!object && json_error_code(&error) == json_error_numeric_overflow) /* an unsigned number of 64 bits */
		object = json_loadb(lines->line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
	if (!json_is_object(object)) {
		json_decref(object);
		return desl_provide_wrong(lines->providing, lines->line, "each line must hold one object",
					  "this is not a JSON object: %s", object ? "another value" : error.text);
	}
	result = take_object(lines, object);
	json_decref(object);
	return result;
}

int desl_provide_jsonl(struct desl_providing *providing)
{
	const struct diag_source *source = providing->source;
	struct lines lines = { .providing = providing, .line = source->text };
	const char *end = source->text + source->length;
	int result = 0;

	while (lines.line < end && !result) {
		const char *newline = memchr(lines.line, '\n', (size_t)(end - lines.line));
		size_t length = (size_t)((newline ? newline : end) - lines.line);

		providing->line++;
		if (strspn(lines.line, " \t\r") < length)
			result = read_jsonl_line(&lines, length);
		lines.line += length + (newline != NULL);
	}
	if (!result && lines.seen && !providing->type->table.rows)
		diag_add(providing->diag, ASTERISM_WARNING, &providing->type->name.location,
			 "name the input after the event or rule whose records it has",
			 "none of the %zu events and matches of %s has the name '%s'", lines.seen, source->file,
			 providing->type->name.text);
	return result;
}
