// SPDX-License-Identifier: BSD-2-Clause
/* Reads CSV: the first line names the fields; quotes may be around values; lines that begin with # are none. */

#include "desl/input/input-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { COLUMNS_MAX = 1024 };

struct csv {
	struct desl_providing *providing;
	const char *at, *end;     /* of the text */
	int columns[COLUMNS_MAX]; /* of the header: the field, or -1 */
	size_t column_count;
	char *plain; /* a value without its quotes */
	size_t plain_capacity;
};

struct value {
	const char *start, *bytes;
	size_t length;
	bool is_last; /* of its line */
};

static int read_quoted(struct csv *csv, struct value *value)
{
	size_t length = 0;

	for (csv->at++; csv->at < csv->end; csv->at++) {
		if (*csv->at == '"' && (csv->at + 1 == csv->end || csv->at[1] != '"'))
			break;
		if (*csv->at == '"')
			csv->at++;
		if (*csv->at == '\n')
			csv->providing->line++;
		if (alloc_grow(&csv->plain, &csv->plain_capacity, length, 1))
			return -ENOMEM;
		csv->plain[length++] = *csv->at;
	}
	if (csv->at == csv->end)
		return desl_provide_wrong(csv->providing, value->start, "end it with '\"'", "the quote is not closed");
	csv->at++;
	value->bytes = length ? csv->plain : "";
	value->length = length;
	return 0;
}

static int read_csv_value(struct csv *csv, struct value *value)
{
	int result = 0;

	value->start = value->bytes = csv->at;
	value->length = 0;
	if (csv->at < csv->end && *csv->at == '"') {
		result = read_quoted(csv, value);
	} else {
		while (csv->at < csv->end && *csv->at != ',' && *csv->at != '\n')
			csv->at++;
		value->length = (size_t)(csv->at - value->start);
	}
	while (value->length && (value->bytes[value->length - 1] == '\r' || value->bytes[value->length - 1] == ' '))
		value->length--;
	while (value->length && *value->bytes == ' ') {
		value->bytes++;
		value->length--;
	}
	if (result)
		return result;
	if (memchr(value->bytes, 0, value->length))
		return desl_provide_wrong(csv->providing, value->start, "write the file as UTF-8 text",
					  "the value contains a NUL");
	while (csv->at < csv->end && (*csv->at == ' ' || *csv->at == '\r'))
		csv->at++;
	value->is_last = csv->at == csv->end || *csv->at == '\n';
	if (!value->is_last && *csv->at != ',')
		return desl_provide_wrong(csv->providing, csv->at, "values are separated by commas",
					  "expected ',' behind the quote");
	csv->at += csv->at < csv->end;
	return 0;
}

/* Goes to the next line that has values; false behind the last. */
static bool next_line(struct csv *csv)
{
	while (csv->at < csv->end) {
		const char *newline = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));
		const char *end = newline ? newline : csv->end, *first = csv->at;

		csv->providing->line++;
		while (first < end && (*first == ' ' || *first == '\r' || *first == '\t'))
			first++;
		if (first < end && *first != '#')
			return true;
		csv->at = newline ? newline + 1 : csv->end;
	}
	return false;
}

/* The first line: which field each column is. Names are kept for messages. */
static int read_header(struct csv *csv, struct arena *arena)
{
	const struct desl_type *type = csv->providing->type;
	const char *names[COLUMNS_MAX];
	bool found[DESL_FIELDS_MAX] = { false };
	struct value value = { 0 };

	if (!next_line(csv))
		return desl_provide_wrong(csv->providing, csv->providing->source->text,
					  "the first line names the fields", "the file is empty");
	while (!value.is_last) {
		int result = read_csv_value(csv, &value), column;

		if (result)
			return result;
		if (csv->column_count == COLUMNS_MAX)
			return desl_provide_wrong(csv->providing, value.start, NULL, "more than %d columns",
						  COLUMNS_MAX);
		names[csv->column_count] = arena_text(arena, value.bytes, value.length);
		if (!names[csv->column_count])
			return -ENOMEM;
		column = desl_find_field(type, names[csv->column_count]);
		if (column >= 0 && found[column])
			return desl_provide_wrong(csv->providing, value.start, "rename one of them",
						  "two columns have the name '%s'", names[csv->column_count]);
		if (column >= 0)
			found[column] = true;
		csv->columns[csv->column_count++] = column;
	}
	for (unsigned i = 0; i < type->field_count; i++) {
		if (!found[i])
			return desl_provide_unknown(csv->providing, &type->fields[i], names, csv->column_count);
	}
	return 0;
}

static int read_row(struct csv *csv)
{
	struct desl_table *table = &csv->providing->type->table;
	struct value value = { 0 };
	size_t column = 0;
	int result = desl_table_grow(table);

	for (; !result && !value.is_last; column++) {
		result = read_csv_value(csv, &value);
		if (result || column >= csv->column_count || csv->columns[column] < 0)
			continue;
		result = desl_provide_cell(csv->providing, (unsigned)csv->columns[column], value.bytes, value.length,
					   &table->cells[csv->columns[column]][table->rows]);
		if (result == -EINVAL)
			return desl_provide_wrong(csv->providing, value.start,
						  "declare it as Line or String if it is not a number",
						  "the field '%s' is a Number, but this is not a number",
						  csv->providing->type->fields[csv->columns[column]].name.text);
	}
	if (!result && column != csv->column_count)
		return desl_provide_wrong(csv->providing, value.start, "each line has as many values as the first",
					  "the line has %zu values instead of %zu", column, csv->column_count);
	table->rows += !result;
	return desl_provide_failed(csv->providing, result);
}

int desl_provide_csv(struct desl_providing *providing)
{
	struct csv *csv = alloc_zero(1, sizeof *csv);
	struct arena *arena = arena_new();
	int result = -ENOMEM;

	if (csv && arena) {
		csv->providing = providing;
		csv->at = providing->source->text;
		csv->end = csv->at + providing->source->length;
		/* A byte order mark: spreadsheets put one in front. */
		if (providing->source->length >= 3 && memcmp(csv->at, "\xef\xbb\xbf", 3) == 0)
			csv->at += 3;
		result = read_header(csv, arena);
		while (!result && next_line(csv))
			result = read_row(csv);
		alloc_free(csv->plain);
	}
	alloc_free(csv);
	arena_free(arena);
	return result;
}
