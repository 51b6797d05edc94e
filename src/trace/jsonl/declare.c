// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the declarations of events in a stream: {"declare":"NAME","FIELD":"TYPE MEANING",...}, where the type is
 * written as in catalogs, and what stands behind it is a meaning or else a unit. It comes from anywhere, so it can name
 * no file and nothing that a kernel raises.
 */

#include "trace/jsonl/declare.h"

#include "base/alloc.h"
#include "meaning/meaning.h"
#include "trace/jsonl/jsonl-priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_BYTES = 128, NAME_BYTES = 64 };

struct declaration {
	struct event_field_spec specs[EVENT_FIELDS_MAX];
	char names[EVENT_FIELDS_MAX][NAME_BYTES], words[EVENT_FIELDS_MAX][WORDS_BYTES];
	char name[NAME_BYTES];
};

static bool is_declared_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static bool is_string(const struct json_member *member)
{
	return member->kind == JSON_STRING;
}

/* "string[16]", "u32 bytes": the type, and what is behind it. */
static bool read_words(char *words, struct event_field_spec *spec)
{
	char *space = strchr(words, ' '), *bracket, *end;

	if (space)
		*space = 0;
	bracket = strchr(words, '[');
	if (bracket) {
		unsigned long bytes = strtoul(bracket + 1, &end, 10);

		*bracket = 0;
		if (strcmp(end, "]") != 0 || !bytes || bytes > 4096)
			return false;
		spec->bytes = (uint32_t)bytes;
	}
	spec->value = event_value_find(words);
	if (!spec->value || (bracket && spec->value != EVENT_STRING))
		return false;
	if (!space)
		return true;
	spec->meaning = meaning_find(space + 1);
	if (spec->meaning && event_value_lacks(spec->value, spec->meaning))
		return false;
	if (!spec->meaning)
		spec->unit = space + 1;
	return text_is_shown(space + 1);
}

static bool read_declared_field(const struct json_member *member, struct declaration *made, uint32_t index)
{
	struct event_field_spec *spec = &made->specs[index];
	int64_t name = json_read_string(&member->key, made->names[index], NAME_BYTES);
	int64_t words = is_string(member) ? json_read_string(&member->value, made->words[index], WORDS_BYTES) : -1;

	if (name <= 0 || name >= NAME_BYTES || words <= 0 || words >= WORDS_BYTES ||
	    !is_declared_name(made->names[index]))
		return false;
	spec->name = made->names[index];
	return read_words(made->words[index], spec);
}

int jsonl_declare(struct event_catalog *catalog, const struct json_members *members)
{
	struct declaration *made = alloc_zero(1, sizeof *made);
	const struct event_type *added;
	int64_t length;
	uint32_t count = 0;
	int result = -EINVAL;

	if (!made)
		return -ENOMEM;
	length =
		is_string(&members->items[0]) ? json_read_string(&members->items[0].value, made->name, NAME_BYTES) : -1;
	if (length <= 0 || length >= NAME_BYTES || !is_declared_name(made->name) ||
	    members->count - 1 > EVENT_FIELDS_MAX)
		goto out;
	for (size_t i = 1; i < members->count; i++, count++)
		if (!read_declared_field(&members->items[i], made, count))
			goto out;
	const struct event_type_spec spec = {
		.name = made->name, .fields = made->specs, .field_count = count, .origin = EVENT_DECLARED
	};

	result = event_catalog_add(catalog, &spec, &added);
out:
	alloc_free(made);
	return result;
}

void trace_jsonl_put_declaration(struct text_buffer *text, const struct event_type *type)
{
	text_append(text, "{\"declare\":");
	text_json(text, type->name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];

		text_append(text, ",");
		text_json(text, field->name);
		text_printf(text, ":\"%s", event_value_name(field->value));
		if (field->value == EVENT_STRING)
			text_printf(text, "[%u]", field->bytes);
		if (field->meaning || field->unit) {
			text_append(text, " ");
			text_append_as(text, field->meaning ? field->meaning->text : field->unit, TEXT_JSON);
		}
		text_append(text, "\"");
	}
	text_append(text, "}\n");
}
