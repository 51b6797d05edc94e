// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses the map file. Its notation is small: words, and = { } , between them; # begins a comment. The file is ours, so
 * the first thing wrong with it ends the reading.
 */

#include "trace/ctf/lttng-map.h"

#include "base/alloc.h"
#include "event/installed.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAP_NAME "lttng.map"

enum { FILE_BYTES_MAX = 1 << 20, FIELDS_MAX = 64 };

struct context {
	const char *field, *name;
	bool in_payload;
};

struct lttng_map {
	struct arena *arena;
	struct lttng_event *events;
	size_t event_count, event_capacity;
	struct context *contexts;
	size_t context_count, context_capacity;
};

struct reader {
	struct lttng_map *map;
	struct asterism_diag *diag;
	const char *file, *text, *at, *end;
	const char *word; /* the current token */
	size_t length;    /* 0: the end */
	uint32_t line;
};

static int complain_of_map(const struct reader *reader, const char *expected)
{
	struct diag_source source = { .file = reader->file };
	struct diag_location location = {
		.source = &source,
		.offset = (uint64_t)(reader->word - reader->text),
		.line = reader->line,
		.column = 1,
	};

	return diag_error(reader->diag, &location, -EINVAL, "expected %s, not '%.*s'", expected,
			  reader->length > 40 ? 40 : (int)reader->length, reader->word);
}

static bool is_map_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_*-.:", c));
}

static void advance_map_reader(struct reader *reader)
{
	while (reader->at < reader->end) {
		if (*reader->at == '#') {
			while (reader->at < reader->end && *reader->at != '\n')
				reader->at++;
			continue;
		}
		if (!isspace((unsigned char)*reader->at))
			break;
		reader->line += *reader->at++ == '\n';
	}
	reader->word = reader->at;
	if (reader->at < reader->end && !is_map_word_char(*reader->at))
		reader->at++;
	while (reader->at < reader->end && is_map_word_char(*reader->word) && is_map_word_char(*reader->at))
		reader->at++;
	reader->length = (size_t)(reader->at - reader->word);
}

static bool is(const struct reader *reader, const char *text)
{
	return strlen(text) == reader->length && memcmp(reader->word, text, reader->length) == 0;
}

static bool accept(struct reader *reader, const char *text)
{
	bool found = is(reader, text);

	if (found)
		advance_map_reader(reader);
	return found;
}

static int expect_map_text(struct reader *reader, const char *text)
{
	return accept(reader, text) ? 0 : complain_of_map(reader, text);
}

/* A name; `-` is stored as NULL. */
static int read_name(struct reader *reader, const char **name)
{
	if (accept(reader, "-")) {
		*name = NULL;
		return 0;
	}
	if (!reader->length || !is_map_word_char(*reader->word) || *reader->word == '-' || *reader->word == '.')
		return complain_of_map(reader, "a name");
	*name = arena_text(reader->map->arena, reader->word, reader->length);
	if (!*name)
		return diag_no_memory(reader->diag);
	advance_map_reader(reader);
	return 0;
}

/* field, field = name, or - = name. */
static int read_map_field(struct reader *reader, struct lttng_field *field)
{
	int result = read_name(reader, &field->field);

	field->name = field->field;
	if (!result && (!field->field || is(reader, "=")))
		result = expect_map_text(reader, "=");
	else
		return result;
	return result ? result : read_name(reader, &field->name);
}

static int read_map_fields(struct reader *reader, struct lttng_event *event)
{
	struct lttng_field fields[FIELDS_MAX], *copy;
	int result = expect_map_text(reader, "{");

	while (!result && !accept(reader, "}")) {
		if (accept(reader, "..."))
			event->and_others = true;
		else if (event->field_count == FIELDS_MAX)
			result = complain_of_map(reader, "fewer fields");
		else
			result = read_map_field(reader, &fields[event->field_count++]);
		if (!result && !accept(reader, ",") && !is(reader, "}"))
			result = complain_of_map(reader, ", or }");
	}
	if (result)
		return result;
	copy = arena_zero(reader->map->arena, event->field_count, sizeof *copy);
	if (!copy)
		return diag_no_memory(reader->diag);
	memcpy(copy, fields, event->field_count * sizeof *copy);
	event->fields = copy;
	return 0;
}

static int read_map_event(struct reader *reader)
{
	struct lttng_map *map = reader->map;
	struct lttng_event event = { 0 };
	int result = read_name(reader, &event.type);

	if (!result)
		result = expect_map_text(reader, "=");
	if (!result)
		result = read_name(reader, &event.name);
	if (!result && !event.name)
		result = complain_of_map(reader, "LTTng's name before this");
	if (!result && event.type && strchr(event.type, '*') && !strchr(event.name, '*'))
		result = complain_of_map(reader, "a * in both names before this");
	if (!result)
		result = read_map_fields(reader, &event);
	if (result)
		return result;
	if (alloc_grow(&map->events, &map->event_capacity, map->event_count, sizeof event))
		return diag_no_memory(reader->diag);
	map->events[map->event_count++] = event;
	return 0;
}

static int read_context(struct reader *reader, bool in_payload)
{
	struct lttng_map *map = reader->map;
	struct context context = { .in_payload = in_payload };
	int result = read_name(reader, &context.field);

	if (!result && !context.field)
		result = complain_of_map(reader, "a header field before this");
	if (!result)
		result = expect_map_text(reader, "=");
	do {
		if (!result)
			result = read_name(reader, &context.name);
		if (result)
			return result;
		if (alloc_grow(&map->contexts, &map->context_capacity, map->context_count, sizeof context))
			return diag_no_memory(reader->diag);
		map->contexts[map->context_count++] = context;
	} while (accept(reader, ","));
	return 0;
}

static int read_map(struct reader *reader)
{
	int result = 0;

	advance_map_reader(reader);
	while (!result && reader->length) {
		if (accept(reader, "EVENT"))
			result = read_map_event(reader);
		else if (accept(reader, "CONTEXT"))
			result = read_context(reader, false);
		else if (accept(reader, "PAYLOAD"))
			result = read_context(reader, true);
		else
			result = complain_of_map(reader, "EVENT, CONTEXT or PAYLOAD");
	}
	return result;
}

int lttng_map_parse(const char *file, const char *text, size_t length, struct asterism_diag *diag,
		    struct lttng_map **map)
{
	struct reader reader = {
		.map = alloc_zero(1, sizeof *reader.map),
		.diag = diag,
		.file = file,
		.text = text,
		.at = text,
		.end = text + length,
		.line = 1,
	};
	int result;

	if (!reader.map)
		return diag_no_memory(diag);
	reader.map->arena = arena_new();
	result = reader.map->arena ? read_map(&reader) : diag_no_memory(diag);
	if (result)
		lttng_map_free(reader.map);
	else
		*map = reader.map;
	return result;
}

void lttng_map_free(struct lttng_map *map)
{
	if (!map)
		return;
	alloc_free(map->events);
	alloc_free(map->contexts);
	arena_free(map->arena);
	alloc_free(map);
}

/* 0; -ENOENT: this folder has none. */
static int read_in(const char *folder, struct asterism_diag *diag, struct lttng_map **map)
{
	char path[4096];
	char *text;
	FILE *file;
	size_t length;
	int result;

	snprintf(path, sizeof path, "%s/" MAP_NAME, folder);
	file = fopen(path, "re");
	if (!file && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	if (!file)
		return diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(errno));
	text = alloc_zero(FILE_BYTES_MAX, 1);
	length = text ? fread(text, 1, FILE_BYTES_MAX, file) : 0;
	if (!text)
		result = diag_no_memory(diag);
	else if (ferror(file) || length == FILE_BYTES_MAX)
		result = diag_error(diag, NULL, -EINVAL, "cannot read %s: it is too long, or not a regular file", path);
	else
		result = lttng_map_parse(path, text, length, diag, map);
	fclose(file);
	alloc_free(text);
	return result;
}

int lttng_map_read(struct asterism_diag *diag, struct lttng_map **map)
{
	const struct embedded_file *file = embedded_find(event_embedded, MAP_NAME);
	char *text;
	int result = -ENOENT;

	for (size_t i = 0; result == -ENOENT && event_installed_folder(i); i++)
		result = read_in(event_installed_folder(i), diag, map);
	if (result != -ENOENT)
		return result;
	text = embedded_text(file, NULL);
	result = text ? lttng_map_parse(EMBEDDED_FOLDER "/" MAP_NAME, text, file->length, diag, map)
		      : diag_no_memory(diag);
	alloc_free(text);
	return result;
}

/*
 * Whether name is pattern, in which one * stands for any text that is not empty; then stores in other that text in
 * place of the * of template.
 */
static bool translate_pattern(const char *pattern, const char *name, const char *template, char *other, size_t size)
{
	const char *star = strchr(pattern, '*'), *location = template ? strchr(template, '*') : NULL;
	size_t before = star ? (size_t)(star - pattern) : 0, after = star ? strlen(star + 1) : 0, length = strlen(name);

	if (!star) {
		if (strcmp(pattern, name) != 0)
			return false;
		snprintf(other, size, "%s", template ? template : "");
		return true;
	}
	if (length <= before + after || strncmp(pattern, name, before) != 0 ||
	    strcmp(name + length - after, star + 1) != 0)
		return false;
	if (location)
		snprintf(other, size, "%.*s%.*s%s", (int)(location - template), template,
			 (int)(length - before - after), name + before, location + 1);
	else
		snprintf(other, size, "%s", template ? template : "");
	return true;
}

static bool is_for_any(const struct lttng_event *event)
{
	return event->type && strchr(event->name, '*') && !strchr(event->type, '*');
}

const struct lttng_event *lttng_map_find_any(const struct lttng_map *map, const char *name)
{
	for (size_t i = 0; i < map->event_count; i++) {
		char type[2];

		if (is_for_any(&map->events[i]) &&
		    translate_pattern(map->events[i].name, name, NULL, type, sizeof type))
			return &map->events[i];
	}
	return NULL;
}

const struct lttng_event *lttng_map_find(const struct lttng_map *map, const char *name, char *type, size_t size)
{
	for (size_t i = 0; i < map->event_count; i++) {
		if (!is_for_any(&map->events[i]) &&
		    translate_pattern(map->events[i].name, name, map->events[i].type, type, size))
			return &map->events[i];
	}
	return NULL;
}

const struct lttng_event *lttng_map_find_type(const struct lttng_map *map, const char *type, char *name, size_t size)
{
	for (size_t i = 0; i < map->event_count; i++) {
		if (map->events[i].type &&
		    translate_pattern(map->events[i].type, type, map->events[i].name, name, size))
			return &map->events[i];
	}
	return NULL;
}

const struct lttng_event *lttng_map_get(const struct lttng_map *map, size_t index)
{
	return index < map->event_count ? &map->events[index] : NULL;
}

static const char *find_context(const struct lttng_map *map, const char *header_field, size_t index, bool in_payload)
{
	for (size_t i = 0; i < map->context_count; i++) {
		const struct context *context = &map->contexts[i];

		if (context->in_payload == in_payload && strcmp(context->field, header_field) == 0 && index-- == 0)
			return context->name;
	}
	return NULL;
}

const char *lttng_map_context(const struct lttng_map *map, const char *header_field, size_t index)
{
	return find_context(map, header_field, index, false);
}

const char *lttng_map_payload(const struct lttng_map *map, const char *header_field, size_t index)
{
	return find_context(map, header_field, index, true);
}
