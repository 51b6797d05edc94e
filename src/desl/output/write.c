// SPDX-License-Identifier: BSD-2-Clause
/* Decides how the wanted types are written. */

#include "desl/output/output.h"

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/real.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

static const char *bytes_of(const struct desl_program *program, union desl_cell cell)
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
		fputs(bytes_of(program, cell), stream);
	else {
		fputc('"', stream);
		text_write(stream, bytes_of(program, cell), TEXT_JSON);
		fputc('"', stream);
	}
}

static void put_json(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	for (size_t i = 0; i < type->table.rows; i++) {
		fprintf(stream, "{\"eventtype\":\"%s\"", type->name.text);
		for (unsigned j = 0; j < type->field_count; j++) {
			fprintf(stream, ",\"%s\":", type->fields[j].name.text);
			put_json_cell(program, type->fields[j].kind, type->table.cells[j][i], stream);
		}
		fputs("}\n", stream);
	}
}

static void put_csv_cell(const struct desl_program *program, enum desl_kind kind, union desl_cell cell, FILE *stream)
{
	const char *bytes;

	if (desl_is_absent(kind, cell))
		return;
	if (kind == DESL_NUMBER) {
		real_put(stream, cell.number);
		return;
	}
	bytes = bytes_of(program, cell);
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

static void put_csv(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	for (unsigned j = 0; j < type->field_count; j++)
		fprintf(stream, "%s%s", j ? "," : "", type->fields[j].name.text);
	fputc('\n', stream);
	for (size_t i = 0; i < type->table.rows; i++) {
		for (unsigned j = 0; j < type->field_count; j++) {
			fputs(j ? "," : "", stream);
			put_csv_cell(program, type->fields[j].kind, type->table.cells[j][i], stream);
		}
		fputc('\n', stream);
	}
}

/* What a cell is in a table for people; texts are the buffer's. */
static const char *show(const struct desl_program *program, enum desl_kind kind, union desl_cell cell,
			struct text_buffer *text)
{
	text->length = 0;
	text_append(text, "");
	if (desl_is_absent(kind, cell))
		text_append(text, "-");
	else if (kind == DESL_NUMBER)
		text_printf(text, "%.10g", cell.number);
	else
		text_append_as(text, bytes_of(program, cell), TEXT_WORDS);
	return text->bytes ? text->bytes : "";
}

static int width_of(const struct desl_program *program, const struct desl_type *type, unsigned column,
		    struct text_buffer *text)
{
	size_t width = strlen(type->fields[column].name.text);

	for (size_t i = 0; i < type->table.rows; i++) {
		show(program, type->fields[column].kind, type->table.cells[column][i], text);
		if (text->length > width && text->length <= 64)
			width = text->length;
	}
	return (int)width;
}

static int put_text(const struct desl_program *program, const struct desl_type *type, FILE *stream)
{
	struct text_buffer text = { 0 };
	int widths[DESL_FIELDS_MAX], result;

	for (unsigned j = 0; j < type->field_count; j++)
		widths[j] = width_of(program, type, j, &text);
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
				show(program, kind, type->table.cells[j][i], &text));
		}
		fputc('\n', stream);
	}
	result = text.failure;
	text_fini(&text);
	return result;
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
			put_json(program, type, stream);
		else if (format == DESL_CSV)
			put_csv(program, type, stream);
		else
			result = put_text(program, type, stream);
	}
	return result ? result : ferror(stream) ? -EIO : 0;
}
