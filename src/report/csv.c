// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports as CSV (RFC 4180, but lines end as they do here): per table a line of its columns' names, each row led by the
 * names of report and table, and an empty line between tables. Times are ns. A text that a spreadsheet would compute
 * begins with an apostrophe.
 */

#include "report/cells.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

struct csv {
	const char *report, *table;
	unsigned tables;
};

static int csv_open(struct report_tables *tables)
{
	tables->state = alloc_zero(1, sizeof(struct csv));
	return tables->state ? 0 : -ENOMEM;
}

static int csv_close(struct report_tables *tables)
{
	alloc_free(tables->state);
	return 0;
}

static void csv_section(struct report_tables *tables, const struct report_kind *kind)
{
	struct csv *csv = tables->state;

	csv->report = kind->name;
}

static void csv_note(struct report_tables *tables, const char *text)
{
	(void)tables;
	(void)text;
}

static void csv_table(struct report_tables *tables, const char *name, const char *title)
{
	struct csv *csv = tables->state;

	(void)title;
	csv->table = name;
	fprintf(tables->stream, "%sreport,table", csv->tables++ ? "\n" : "");
	for (unsigned i = 0; i < tables->column_count; i++) {
		const struct report_column *column = &tables->columns[i];

		if (column->kind == CELL_STRIP || column->kind == CELL_BAR)
			continue;
		fprintf(tables->stream, "%s,%s", column->is_deep ? ",depth" : "", column->name);
	}
	fputc('\n', tables->stream);
}

static void put_csv_text(struct report_tables *tables, const char *string)
{
	struct text_buffer text = { 0 };

	text_append_as(&text, string, TEXT_WORDS);
	if (text.failure) {
		tables->failure = -ENOMEM;
		return;
	}
	fputs(text.length && strchr("=+-@", text.bytes[0]) ? "\"'" : "\"", tables->stream);
	for (const char *at = text.bytes ? text.bytes : ""; *at; at++) {
		if (*at == '"')
			fputc('"', tables->stream);
		fputc(*at, tables->stream);
	}
	fputc('"', tables->stream);
	text_fini(&text);
}

static void csv_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth)
{
	const struct csv *csv = tables->state;

	fprintf(tables->stream, "%s,%s", csv->report, csv->table);
	for (unsigned i = 0; i < tables->column_count; i++) {
		const struct report_column *column = &tables->columns[i];
		struct text_buffer text = { 0 };

		if (column->kind == CELL_STRIP || column->kind == CELL_BAR)
			continue;
		if (column->is_deep)
			fprintf(tables->stream, ",%u", depth);
		fputc(',', tables->stream);
		report_cell_plain(&text, tables->view, column->kind, &cells[i]);
		if (text.failure)
			tables->failure = -ENOMEM;
		else if (report_cell_is_text(column->kind) && !cells[i].is_none)
			put_csv_text(tables, text.bytes ? text.bytes : "");
		else
			fputs(text.bytes ? text.bytes : "", tables->stream);
		text_fini(&text);
	}
	fputc('\n', tables->stream);
}

static void csv_table_end(struct report_tables *tables)
{
	(void)tables;
}

const struct report_form report_form_csv = {
	.name = "csv",
	.open = csv_open,
	.section = csv_section,
	.note = csv_note,
	.table = csv_table,
	.row = csv_row,
	.table_end = csv_table_end,
	.close = csv_close,
};
