// SPDX-License-Identifier: BSD-2-Clause
/* Writes the wanted types. */

#include "desl/output/output.h"

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/real.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { ADVICES_SHOWN = 20 };

/* Frees the buffer. Returns what went wrong with it. */
static int finish_output_text(struct text_buffer *text)
{
	int failure = text->failure;

	text_fini(text);
	return failure;
}

static const char *cell_bytes(const struct desl_program *program, union desl_cell cell)
{
	return program->texts.texts[cell.text].bytes;
}

static void put_json_cell(const struct desl_program *program, enum desl_kind kind, union desl_cell cell, FILE *stream)
{
	if (desl_is_absent(kind, cell))
		fputs("null", stream);
	else if (kind == DESL_NUMBER)
		real_put(stream, cell.number);
	else if (kind == DESL_LIST)
		fputs(cell_bytes(program, cell), stream);
	else {
		fputc('"', stream);
		text_write(stream, cell_bytes(program, cell), TEXT_JSON);
		fputc('"', stream);
	}
}

/* The value of a field in a text. */
static void append_cell(const struct desl_program *program, enum desl_kind kind, union desl_cell cell,
			struct text_buffer *text)
{
	if (desl_is_absent(kind, cell))
		text_append(text, "-");
	else if (kind == DESL_NUMBER)
		text_printf(text, fabs(cell.number) < 1e15 && cell.number == floor(cell.number) ? "%.0f" : "%.4g",
			    cell.number);
	else
		text_append(text, cell_bytes(program, cell));
}

/* The field whose name is so long; checking has found that there is one. */
static unsigned find_named_field(const struct desl_type *type, const char *name, size_t length)
{
	unsigned i = 0;

	while (i + 1 < type->field_count &&
	       (strncmp(type->fields[i].name.text, name, length) != 0 || type->fields[i].name.text[length]))
		i++;
	return i;
}

/* The advice for a record, its fields filled in: the buffer's bytes, or NULL. */
static const char *advise(const struct desl_program *program, const struct desl_type *type,
			  const struct desl_advice *advice, size_t record, struct text_buffer *text)
{
	bool is_divided = false;
	const char *at = advice->text.text;
	unsigned field;

	if (!desl_is_advised(program, type, advice, record, &is_divided))
		return NULL;
	text->length = 0;
	text_append(text, "");
	while (*at) {
		size_t length = strcspn(at, "{");

		text_append_bytes(text, at, length);
		at += length;
		if (!*at)
			break;
		length = strcspn(at, "}");
		field = find_named_field(type, at + 1, length - 1);
		append_cell(program, type->fields[field].kind, type->table.cells[field][record], text);
		at += length + 1;
	}
	return text->bytes ? text->bytes : "";
}

static void put_json_advice(const struct desl_program *program, const struct desl_type *type, size_t record,
			    FILE *stream, struct text_buffer *text)
{
	const char *between = "";

	fputs(",\"advice\":[", stream);
	for (const struct desl_advice *advice = type->advices; advice; advice = advice->next) {
		if (!advise(program, type, advice, record, text))
			continue;
		fprintf(stream, "%s\"", between);
		text_write(stream, text->bytes ? text->bytes : "", TEXT_JSON);
		fputc('"', stream);
		between = ",";
	}
	fputc(']', stream);
}

static int put_type_json(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	struct text_buffer text = { 0 };

	for (size_t i = 0; i < type->table.rows; i++) {
		fprintf(stream, "{\"eventtype\":\"%s\"", type->name.text);
		for (unsigned j = 0; j < type->field_count; j++) {
			fprintf(stream, ",\"%s\":", type->fields[j].name.text);
			put_json_cell(program, type->fields[j].kind, type->table.cells[j][i], stream);
		}
		if (type->advices)
			put_json_advice(program, type, i, stream, &text);
		fputs("}\n", stream);
	}
	return finish_output_text(&text);
}

static void put_csv_text(const char *bytes, FILE *stream)
{
	if (!strpbrk(bytes, ",\"\r\n# ")) {
		fputs(bytes, stream);
		return;
	}
	fputc('"', stream);
	for (; *bytes; bytes++) {
		if (*bytes == '"')
			fputc('"', stream);
		fputc(*bytes, stream);
	}
	fputc('"', stream);
}

static void put_csv_cell(const struct desl_program *program, enum desl_kind kind, union desl_cell cell, FILE *stream)
{
	if (desl_is_absent(kind, cell))
		return;
	if (kind == DESL_NUMBER)
		real_put(stream, cell.number);
	else
		put_csv_text(cell_bytes(program, cell), stream);
}

/* One cell, which has all advice for the record. */
static int put_csv_advice(const struct desl_program *program, const struct desl_type *type, size_t record, FILE *stream)
{
	struct text_buffer all = { 0 }, text = { 0 };
	int failure;

	for (const struct desl_advice *advice = type->advices; advice; advice = advice->next) {
		if (!advise(program, type, advice, record, &text))
			continue;
		text_append(&all, all.length ? "; " : "");
		text_append(&all, text.bytes ? text.bytes : "");
	}
	fputc(',', stream);
	put_csv_text(all.bytes ? all.bytes : "", stream);
	failure = finish_output_text(&all);
	return finish_output_text(&text) ? -ENOMEM : failure;
}

static int put_csv(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	int result = 0;

	for (unsigned j = 0; j < type->field_count; j++)
		fprintf(stream, "%s%s", j ? "," : "", type->fields[j].name.text);
	fputs(type->advices ? ",advice\n" : "\n", stream);
	for (size_t i = 0; i < type->table.rows && !result; i++) {
		for (unsigned j = 0; j < type->field_count; j++) {
			fputs(j ? "," : "", stream);
			put_csv_cell(program, type->fields[j].kind, type->table.cells[j][i], stream);
		}
		if (type->advices)
			result = put_csv_advice(program, type, i, stream);
		fputc('\n', stream);
	}
	return result;
}

/* What a cell is in a table for people; texts are the buffer's. */
static const char *cell_text(const struct desl_program *program, enum desl_kind kind, union desl_cell cell,
			     struct text_buffer *text)
{
	text->length = 0;
	text_append(text, "");
	if (desl_is_absent(kind, cell))
		text_append(text, "-");
	else if (kind == DESL_NUMBER)
		text_printf(text, "%.10g", cell.number);
	else
		text_append_as(text, cell_bytes(program, cell), TEXT_WORDS);
	return text->bytes ? text->bytes : "";
}

static int column_width(const struct desl_program *program, const struct desl_type *type, unsigned column,
			struct text_buffer *text)
{
	size_t width = strlen(type->fields[column].name.text);

	for (size_t i = 0; i < type->table.rows; i++) {
		cell_text(program, type->fields[column].kind, type->table.cells[column][i], text);
		if (text->length > width && text->length <= 64)
			width = text->length;
	}
	return (int)width;
}

/* Below the table; of many records the first ones. */
static void put_advice(const struct desl_program *program, const struct desl_type *type, FILE *stream,
		       struct text_buffer *text)
{
	for (const struct desl_advice *advice = type->advices; advice; advice = advice->next) {
		size_t count = 0;

		for (size_t i = 0; i < type->table.rows; i++) {
			if (!advise(program, type, advice, i, text) || ++count > ADVICES_SHOWN)
				continue;
			fputs("advice: ", stream);
			text_write(stream, text->bytes ? text->bytes : "", TEXT_WORDS);
			fputc('\n', stream);
		}
		if (count > ADVICES_SHOWN)
			fprintf(stream, "advice: the same for %zu more records, which -f json shows\n",
				count - ADVICES_SHOWN);
	}
}

static int put_type_text(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	struct text_buffer text = { 0 };
	int widths[DESL_FIELDS_MAX];

	for (unsigned j = 0; j < type->field_count; j++)
		widths[j] = column_width(program, type, j, &text);
	fprintf(stream, "%s (%zu record%s)\n", type->name.text, type->table.rows, type->table.rows == 1 ? "" : "s");
	for (unsigned j = 0; j < type->field_count; j++)
		fprintf(stream, type->fields[j].kind == DESL_NUMBER ? "  %*s" : "  %-*s",
			j + 1 == type->field_count && type->fields[j].kind != DESL_NUMBER ? 0 : widths[j],
			type->fields[j].name.text);
	fputc('\n', stream);
	for (size_t i = 0; i < type->table.rows; i++) {
		for (unsigned j = 0; j < type->field_count; j++) {
			enum desl_kind kind = type->fields[j].kind;

			fprintf(stream, kind == DESL_NUMBER ? "  %*s" : "  %-*s",
				j + 1 == type->field_count && kind != DESL_NUMBER ? 0 : widths[j],
				cell_text(program, kind, type->table.cells[j][i], &text));
		}
		fputc('\n', stream);
	}
	put_advice(program, type, stream, &text);
	return finish_output_text(&text);
}

int desl_write(const struct desl_program *program, enum desl_format format, FILE *stream)
{
	bool is_first = true;
	int result = 0;

	for (const struct desl_type *type = program->types; type && !result; type = type->next) {
		if (!type->is_wanted)
			continue;
		if (!is_first && format != DESL_JSON)
			fputc('\n', stream);
		is_first = false;
		if (format == DESL_JSON)
			result = put_type_json(program, type, stream);
		else if (format == DESL_CSV)
			result = put_csv(program, type, stream);
		else
			result = put_type_text(program, type, stream);
	}
	return result ? result : ferror(stream) ? -EIO : 0;
}
