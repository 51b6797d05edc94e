// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the fields of a tracefs format file. Its lines are of the form
 *
 * 	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 *
 * and come from the kernel or one of its modules, so each is taken for what it turns out to be, or left out.
 */

#include "event/tracefs-priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 16, OFFSET_MAX = 8191, NAME_BYTES = 64 };

/* One line, taken apart. */
struct line {
	char type[128];
	char name[NAME_BYTES];
	bool is_array;
	unsigned long elements; /* 0 where the length is no plain number */
	unsigned long offset, size;
	bool is_signed;
};

struct reader {
	struct arena *arena;
	struct event_format *format;
	int failed;
};

static bool is_format_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Splits "char comm[16]" or "__data_loc char[] name" into type, name and array length. */
static bool split_declaration(const char *text, size_t length, struct line *line)
{
	size_t end = length, start;

	line->is_array = false;
	line->elements = 0;
	if (end && text[end - 1] == ']') {
		while (end && text[end - 1] != '[')
			end--;
		if (!end)
			return false;
		line->is_array = true;
		line->elements = strtoul(text + end, NULL, 10);
		end--;
	}
	for (start = end; start && is_format_name_char(text[start - 1]); start--)
		;
	if (start == end || end - start >= sizeof line->name || (text[start] >= '0' && text[start] <= '9'))
		return false;
	memcpy(line->name, text + start, end - start);
	line->name[end - start] = '\0';
	while (start && (text[start - 1] == ' ' || text[start - 1] == '\t'))
		start--;
	if (!start || start >= sizeof line->type)
		return false;
	memcpy(line->type, text, start);
	line->type[start] = '\0';
	return true;
}

static bool number_after(const char *text, const char *key, unsigned long *number)
{
	const char *at = strstr(text, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	if (*at < '0' || *at > '9')
		return false;
	errno = 0;
	*number = strtoul(at, &end, 10);
	return !errno && *end == ';' && *number <= OFFSET_MAX;
}

static bool read_format_line(const char *text, struct line *line)
{
	const char *declaration, *end;
	unsigned long is_signed = 0;

	while (*text == ' ' || *text == '\t')
		text++;
	if (strncmp(text, "field:", 6))
		return false;
	declaration = text + 6;
	end = strchr(declaration, ';');
	if (!end || !split_declaration(declaration, (size_t)(end - declaration), line))
		return false;
	if (!number_after(end, "offset:", &line->offset) || !number_after(end, "size:", &line->size))
		return false;
	number_after(end, "signed:", &is_signed);
	line->is_signed = is_signed != 0;
	return true;
}

static bool format_has_field(const struct event_format *format, const char *name)
{
	for (uint32_t i = 0; i < format->count; i++) {
		if (!strcmp(format->fields[i].name, name))
			return true;
	}
	return false;
}

static bool is_header_name(const char *name)
{
	for (size_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		if (!strcmp(event_header_fields[i].name, name))
			return true;
	}
	return false;
}

/* Every name once, and none that would hide a header field. */
static const char *free_name(struct reader *reader, const char *name)
{
	static const char *const prefixes[] = { "", "target_", "own_" };

	for (size_t i = is_header_name(name) ? 1 : 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		const char *candidate = arena_format(reader->arena, "%s%s", prefixes[i], name);

		if (!candidate) {
			reader->failed = -ENOMEM;
			return NULL;
		}
		if (!format_has_field(reader->format, candidate))
			return candidate;
	}
	return NULL;
}

static void add_field_spec(struct reader *reader, struct event_field_spec field, const char *path)
{
	struct event_format *format = reader->format;
	uint32_t bytes = field.value != EVENT_STRING ? 8 : field.bytes ? (field.bytes + 7) / 8 * 8 : EVENT_STRING_BYTES;

	if (!path)
		reader->failed = -ENOMEM;
	if (reader->failed || format->count == EVENT_FIELDS_MAX || bytes > EVENT_RECORD_BYTES_MAX - format->bytes)
		return;
	field.name = free_name(reader, field.name);
	if (!field.name)
		return;
	format->paths[format->count] = path;
	format->fields[format->count++] = field;
	format->bytes += bytes;
}

static enum event_value format_value_type(const struct line *line, unsigned long size)
{
	if (strchr(line->type, '*'))
		return size == 4 || size == 8 ? EVENT_ADDR : 0;
	if (!strcmp(line->type, "bool"))
		return size == 1 ? EVENT_BOOL : 0;
	switch (size) {
	case 1:
		return line->is_signed ? EVENT_I8 : EVENT_U8;
	case 2:
		return line->is_signed ? EVENT_I16 : EVENT_U16;
	case 4:
		return line->is_signed ? EVENT_I32 : EVENT_U32;
	case 8:
		return line->is_signed ? EVENT_I64 : EVENT_U64;
	default:
		return 0;
	}
}

static void add_format_number(struct reader *reader, const struct line *line, const char *name, unsigned long offset,
			      unsigned long size)
{
	struct event_field_spec field = { .name = name, .value = format_value_type(line, size) };
	const char *function = line->is_signed && field.value != EVENT_ADDR ? "ctxs" : "ctx";

	if (field.value)
		add_field_spec(reader, field, arena_format(reader->arena, "%s(%lu, %lu)", function, offset, size));
}

/* Short arrays of numbers become one field for each element. */
static void add_elements(struct reader *reader, const struct line *line)
{
	unsigned long size = line->elements ? line->size / line->elements : 0;

	if (!size || line->elements > ELEMENTS_MAX || size * line->elements != line->size)
		return;
	for (unsigned long i = 0; i < line->elements; i++) {
		char name[NAME_BYTES + 24];

		snprintf(name, sizeof name, "%s_%lu", line->name, i);
		add_format_number(reader, line, name, line->offset + i * size, size);
	}
}

static bool is_char(const char *type)
{
	return !strcmp(type, "char") || !strcmp(type, "const char");
}

static void add_line(struct reader *reader, const struct line *line)
{
	struct event_field_spec text = { .name = line->name, .value = EVENT_STRING };

	if (!strncmp(line->name, "common_", 7))
		return;
	if (!strncmp(line->type, "__data_loc", 10) || !strncmp(line->type, "__rel_loc", 9)) {
		if (!strcmp(line->type, "__data_loc char[]") && line->size == 4)
			add_field_spec(reader, text, arena_format(reader->arena, "ctxloc(%lu)", line->offset));
	} else if (line->is_array && is_char(line->type)) {
		text.bytes = (uint32_t)line->size;
		if (line->size)
			add_field_spec(reader, text,
				       arena_format(reader->arena, "ctxstr(%lu, %lu)", line->offset, line->size));
	} else if (line->is_array) {
		add_elements(reader, line);
	} else {
		add_format_number(reader, line, line->name, line->offset, line->size);
	}
}

int event_format_read(struct arena *arena, const char *text, size_t length, struct event_format *format)
{
	struct reader reader = { .arena = arena, .format = format };
	bool seen_format = false;

	*format = (struct event_format){ .bytes = sizeof(struct event_header) };
	for (const char *end = text + length, *newline; text < end; text = newline + 1) {
		struct line line;
		char copy[512];

		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			break;
		if ((size_t)(newline - text) >= sizeof copy)
			continue;
		memcpy(copy, text, (size_t)(newline - text));
		copy[newline - text] = '\0';
		if (!strncmp(copy, "print fmt:", 10))
			break;
		seen_format |= !strcmp(copy, "format:");
		if (seen_format && read_format_line(copy, &line))
			add_line(&reader, &line);
		if (reader.failed)
			return reader.failed;
	}
	return seen_format ? 0 : -EINVAL;
}
