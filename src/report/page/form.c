// SPDX-License-Identifier: BSD-2-Clause
/* Writes the tables of reports for the page: sections with headings, cells as people read them. */

#include "report/page/page-priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { INDENT_MAX = 24, PICTURE_BYTES_MAX = 4 << 20 };

struct page_room page_room_of(uint64_t bytes_max)
{
	if (bytes_max == 0)
		return (struct page_room){ .bytes = UINT64_MAX,
					   .table_most = UINT64_MAX,
					   .picture_most = PICTURE_BYTES_MAX };
	uint64_t picture = bytes_max / PAGE_PICTURE_PART;
	return (struct page_room){ .bytes = bytes_max / PAGE_TABLES_PART,
				   .table_most = bytes_max / PAGE_TABLE_PART,
				   .picture_most = picture < PICTURE_BYTES_MAX ? picture : PICTURE_BYTES_MAX };
}

/* Whether there is room for so much, which is taken then. */
static bool take_room(struct page_room *room, uint64_t bytes)
{
	if (bytes > room->bytes)
		return false;
	room->bytes -= room->bytes == UINT64_MAX ? 0 : bytes;
	return true;
}

static void put_html(struct report_tables *tables, struct text_buffer *html)
{
	if (html->failure != 0)
		tables->failure = html->failure;
	else if (html->length != 0)
		fwrite(html->bytes, 1, html->length, tables->stream);
	text_fini(html);
}

static void put_tagged(struct report_tables *tables, const char *before, const char *text, const char *behind)
{
	struct text_buffer html = { 0 };
	text_append(&html, before);
	text_append_markup(&html, text);
	text_append(&html, behind);
	put_html(tables, &html);
}

static int open_form(struct report_tables *tables)
{
	(void)tables;
	return 0;
}

static void begin_section(struct report_tables *tables, const struct report_kind *kind)
{
	((struct page_room *)tables->state)->kind = kind;
	fprintf(tables->stream, "<section id=\"%s\">", kind->name);
	put_tagged(tables, "<h2>", kind->title ? kind->title : kind->name, "</h2>\n");
	if (kind->question)
		put_tagged(tables, "<p class=\"faint\">", kind->question, "</p>\n");
}

static void end_section(struct report_tables *tables)
{
	fputs("</section>\n", tables->stream);
}

static void put_note(struct report_tables *tables, const char *text)
{
	put_tagged(tables, "<p class=\"note\">", text, "</p>\n");
}

/* Which columns stand to the right. */
static bool is_amount(enum report_cell_kind kind)
{
	return kind != CELL_TEXT && kind != CELL_THREAD && kind != CELL_STRIP && kind != CELL_BAR;
}

static void begin_table(struct report_tables *tables, const char *name, const char *title)
{
	struct page_room *room = tables->state;
	(void)name;
	room->table_bytes = room->rows = room->left_out = 0;
	put_tagged(tables, "<table><caption>", title ? title : "", "</caption><thead><tr>");
	for (unsigned int i = 0; i < tables->column_count; i++) {
		const struct report_column *column = &tables->columns[i];
		if (!column->title)
			continue;
		put_tagged(tables, is_amount(column->kind) ? "<th class=\"n\">" : "<th>", column->title, "</th>");
	}
	fputs("</tr></thead><tbody>\n", tables->stream);
}

static void put_duration(struct text_buffer *html, uint64_t ns)
{
	static const struct {
		double size;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\u00b5s" } };
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double amount = (double)ns / units[i].size;
		if (amount >= 1) {
			text_printf(html, "%.*f %s", amount >= 100 ? 0 : amount >= 10 ? 1 : 2, amount, units[i].unit);
			return;
		}
	}
	text_printf(html, "%" PRIu64 " ns", ns);
}

static void put_bytes_html(struct text_buffer *html, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double amount = (double)bytes;
	size_t unit = 0;
	for (; amount >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
		amount /= 1024;
	text_printf(html, "%.*f %s", unit == 0 ? 0 : 1, amount, units[unit]);
}

static void put_bar(struct text_buffer *html, double part)
{
	double width = part < 0 ? 0 : part > 1 ? 100 : part * 100;
	text_printf(html,
		    "<svg width=\"100\" height=\"10\" role=\"img\" aria-label=\"%.1f %%\"><rect width=\"%.1f\" "
		    "height=\"10\" "
		    "class=\"bar\"/></svg>",
		    width, width);
}

static void put_thread(struct text_buffer *html, const struct report_view *view, uint32_t thread)
{
	struct text_buffer name = { 0 };
	report_thread_name(&name, view, thread);
	text_append_markup(html, name.bytes ? name.bytes : "");
	text_fini(&name);
}

static void put_cell_html(struct text_buffer *html, const struct report_tables *tables, enum report_cell_kind kind,
			  const struct report_cell *cell)
{
	switch (kind) {
	case CELL_TEXT:
	case CELL_STRIP:
		text_append_markup(html, cell->text);
		break;
	case CELL_COUNT:
		text_printf(html, "%" PRIu64, cell->number);
		break;
	case CELL_TIME:
		text_printf(html, "%" PRIu64 ".%09" PRIu64, cell->number / 1000000000, cell->number % 1000000000);
		break;
	case CELL_DURATION:
		put_duration(html, cell->number);
		break;
	case CELL_SHARE:
		text_printf(html, "%.1f %%", cell->real * 100);
		break;
	case CELL_RATE:
		text_printf(html, "%.1f/s", cell->real);
		break;
	case CELL_REAL:
		text_printf(html, "%.3f", cell->real);
		break;
	case CELL_BYTES:
		put_bytes_html(html, cell->number);
		break;
	case CELL_BAR:
		put_bar(html, cell->real);
		break;
	case CELL_THREAD:
		put_thread(html, tables->view, (uint32_t)cell->number);
		break;
	case CELL_PRIO:
		text_printf(html, cell->number < 100 ? "rt %d" : "nice %d",
			    cell->number < 100 ? 99 - (int)cell->number : (int)cell->number - 120);
		break;
	}
}

static bool has_row_room(struct page_room *room, size_t bytes)
{
	if (room->table_bytes + bytes > room->table_most || !take_room(room, bytes)) {
		room->left_out++;
		return false;
	}
	room->rows++;
	room->table_bytes += bytes;
	return true;
}

static void put_form_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth)
{
	struct page_room *room = tables->state;
	struct text_buffer html = { 0 };
	/* Once a row is left out, all behind it are. */
	if (room->left_out != 0 || room->rows >= tables->rows_most) {
		room->left_out++;
		return;
	}
	text_append(&html, "<tr>");
	for (unsigned int i = 0; i < tables->column_count; i++) {
		const struct report_column *column = &tables->columns[i];
		if (!column->title)
			continue;
		text_append(&html, column->kind == CELL_STRIP ? "<td class=\"strip\">"
				   : is_amount(column->kind)  ? "<td class=\"n\">"
							      : "<td>");
		for (unsigned int at = 0; column->is_deep && at < depth && at < INDENT_MAX; at++)
			text_append(&html, "&emsp;");
		if (!cells[i].is_none)
			put_cell_html(&html, tables, column->kind, &cells[i]);
		text_append(&html, "</td>");
	}
	text_append(&html, "</tr>\n");
	if (html.failure == 0 && !has_row_room(room, html.length))
		text_fini(&html);
	else
		put_html(tables, &html);
}

static void end_table(struct report_tables *tables)
{
	const struct page_room *room = tables->state;
	fputs("</tbody></table>\n", tables->stream);
	if (room->left_out != 0)
		fprintf(tables->stream,
			"<p class=\"faint\">%" PRIu64 " more row%s: asterism report --only %s -f csv</p>\n",
			room->left_out, room->left_out == 1 ? "" : "s", room->kind->name);
}

/* Pictures have neither styles nor scripts, which the page's policy forbids. */
static void put_picture(struct report_tables *tables, struct report *report)
{
	struct page_room *room = tables->state;
	char *bytes = NULL;
	size_t count = 0;
	FILE *memory = open_memstream(&bytes, &count);
	int code = memory ? report->kind->draw(report, memory) : -ENOMEM;
	if (memory && fclose(memory) != 0)
		code = -ENOMEM;
	if (code != 0) {
		tables->failure = code;
	} else if (count > room->picture_most || !take_room(room, count)) {
		report_note(tables,
			    "The picture is omitted because it has %zu KiB: write it with report --only %s -f svg.",
			    count >> 10, report->kind->name);
	} else {
		fputs("<details open><summary>Picture</summary>\n", tables->stream);
		fwrite(bytes, 1, count, tables->stream);
		fputs("</details>\n", tables->stream);
	}
	free(bytes);
}

const struct report_form report_form_html = {
	.name = "html",
	.open = open_form,
	.section = begin_section,
	.section_end = end_section,
	.note = put_note,
	.table = begin_table,
	.row = put_form_row,
	.table_end = end_table,
	.picture = put_picture,
	.close = open_form,
};
