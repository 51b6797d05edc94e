// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports as text for people: tables as wide as what is in them, but no wider than a terminal, for which their widest
 * texts are cut. A table is kept until its end.
 */

#include "report/cells.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { COLUMNS = 80, NARROWEST = 12, GAP = 2, BAR = 24, INDENT = 2 };

struct shown {
	char **cells; /* row after row */
	size_t count, capacity;
	unsigned rows, left_out, width[REPORT_COLUMNS_MAX];
	unsigned column_count, columns[REPORT_COLUMNS_MAX]; /* those that are shown */
	bool begun;
};

/* The column that is shown there. */
static const struct report_column *column_of(const struct report_tables *tables, unsigned place)
{
	const struct shown *shown = tables->state;

	return &tables->columns[shown->columns[place]];
}

/* How many characters a UTF-8 text has. */
static unsigned text_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static int text_open(struct report_tables *tables)
{
	tables->state = alloc_zero(1, sizeof(struct shown));
	return tables->state ? 0 : -ENOMEM;
}

static int text_close(struct report_tables *tables)
{
	struct shown *shown = tables->state;

	alloc_free(shown->cells);
	alloc_free(shown);
	return 0;
}

static void underline(struct report_tables *tables, unsigned count, char with)
{
	while (count--)
		fputc(with, tables->stream);
	fputc('\n', tables->stream);
}

static void text_section(struct report_tables *tables, const struct report_kind *kind)
{
	struct shown *shown = tables->state;

	fprintf(tables->stream, "%s%s: %s\n", shown->begun ? "\n\n" : "", kind->title, kind->question);
	underline(tables, text_width(kind->title) + text_width(kind->question) + 2, '=');
	shown->begun = true;
}

/* Words, no line longer than a terminal is wide. */
static void text_note(struct report_tables *tables, const char *text)
{
	unsigned column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column && column + 1 + length > COLUMNS) {
			fputc('\n', tables->stream);
			column = 0;
		}
		fprintf(tables->stream, "%s%.*s", column ? " " : "", (int)length, text);
		column += (unsigned)length + (column > 0);
		text += length;
		text += *text == ' ';
	}
	fputc('\n', tables->stream);
}

static void keep_cell(struct report_tables *tables, unsigned column, char *cell)
{
	struct shown *shown = tables->state;
	unsigned width = text_width(cell);

	if (alloc_grow(&shown->cells, &shown->capacity, shown->count, sizeof *shown->cells)) {
		tables->failure = -ENOMEM;
		alloc_free(cell);
		return;
	}
	shown->cells[shown->count++] = cell;
	if (width > shown->width[column])
		shown->width[column] = width;
}

static void text_table(struct report_tables *tables, const char *name, const char *title)
{
	struct shown *shown = tables->state;

	(void)name;
	fprintf(tables->stream, "\n%s%s", title, *title ? "\n" : "");
	shown->count = shown->rows = shown->left_out = 0;
	shown->column_count = 0;
	for (unsigned i = 0; i < tables->column_count; i++) {
		if (!tables->columns[i].title)
			continue;
		shown->width[shown->column_count] = text_width(tables->columns[i].title);
		shown->columns[shown->column_count++] = i;
	}
}

static void text_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth)
{
	struct shown *shown = tables->state;

	if (shown->rows >= tables->rows_most) {
		shown->left_out++;
		return;
	}
	shown->rows++;
	for (unsigned i = 0; i < shown->column_count && !tables->failure; i++) {
		const struct report_column *column = column_of(tables, i);
		struct text_buffer text = { 0 };
		char *taken;

		if (column->is_deep)
			text_printf(&text, "%*s", (int)(depth > 16 ? 16 : depth) * INDENT, "");
		report_cell_show(&text, tables->view, column->kind, &cells[shown->columns[i]], BAR);
		text_append(&text, "");
		if (text_take(&text, &taken))
			tables->failure = -ENOMEM;
		else
			keep_cell(tables, i, taken);
	}
}

/* Narrows the widest texts until all fits. */
static void fit(struct report_tables *tables)
{
	struct shown *shown = tables->state;

	for (;;) {
		unsigned total = 0, widest = 0;

		for (unsigned i = 0; i < shown->column_count; i++) {
			enum report_cell_kind kind = column_of(tables, i)->kind;

			total += shown->width[i] + (i ? GAP : 0);
			if ((kind == CELL_TEXT || kind == CELL_THREAD || kind == CELL_BAR) &&
			    (shown->width[widest] < shown->width[i] ||
			     report_cell_is_right(column_of(tables, widest)->kind)))
				widest = i;
		}
		if (total <= COLUMNS || shown->width[widest] <= NARROWEST ||
		    report_cell_is_right(column_of(tables, widest)->kind))
			return;
		shown->width[widest]--;
	}
}

static void put_text_cell(struct report_tables *tables, unsigned column, const char *text)
{
	const struct shown *shown = tables->state;
	unsigned width = text_width(text), room = shown->width[column];
	const char *end = text;
	bool is_cut = width > room;

	for (unsigned taken = 0; *end && taken < (is_cut ? room - 2 : room); taken++) {
		end++;
		while (((unsigned char)*end & 0xc0) == 0x80)
			end++;
	}
	if (report_cell_is_right(column_of(tables, column)->kind))
		fprintf(tables->stream, "%*s", (int)(is_cut ? 0 : room - width), "");
	fprintf(tables->stream, "%.*s%s", (int)(end - text), text,
		is_cut ? (column_of(tables, column)->kind == CELL_BAR ? "##" : "..") : "");
	if (column + 1 == shown->column_count) {
		fputc('\n', tables->stream);
		return;
	}
	if (!report_cell_is_right(column_of(tables, column)->kind))
		fprintf(tables->stream, "%*s", (int)(is_cut ? 0 : room - width), "");
	fprintf(tables->stream, "%*s", GAP, "");
}

static void text_table_end(struct report_tables *tables)
{
	struct shown *shown = tables->state;

	fit(tables);
	if (!shown->count)
		fputs("(none)\n", tables->stream);
	for (unsigned i = 0; shown->count && i < shown->column_count; i++)
		put_text_cell(tables, i, column_of(tables, i)->title);
	for (size_t i = 0; i < shown->count; i++) {
		put_text_cell(tables, (unsigned)(i % shown->column_count), shown->cells[i]);
		alloc_free(shown->cells[i]);
	}
	if (shown->left_out)
		fprintf(tables->stream, "(%u more; all: -f csv, -f json)\n", shown->left_out);
	shown->count = 0;
}

const struct report_form report_form_text = {
	.name = "text",
	.open = text_open,
	.section = text_section,
	.note = text_note,
	.table = text_table,
	.row = text_row,
	.table_end = text_table_end,
	.close = text_close,
};
