// SPDX-License-Identifier: BSD-2-Clause
/* Reports as one JSON object: per report its notes and tables, a table an array of objects. Times are ns. */

#include "report/cells.h"

#include "base/alloc.h"

#include <errno.h>

struct written {
	struct text_buffer notes; /* of the section: they may come between tables */
	unsigned sections, tables, rows;
};

static void put_json_text(struct report_tables *tables, const char *string)
{
	struct text_buffer text = { 0 };

	text_json(&text, string);
	if (text.failure)
		tables->failure = -ENOMEM;
	else
		fputs(text.bytes, tables->stream);
	text_fini(&text);
}

static int json_open(struct report_tables *tables)
{
	const struct report_view *view = tables->view;

	tables->state = alloc_zero(1, sizeof(struct written));
	if (!tables->state)
		return -ENOMEM;
	fprintf(tables->stream, "{\"version\":1,\"first_ns\":%llu,\"last_ns\":%llu,\"reports\":{",
		(unsigned long long)view->first_ns, (unsigned long long)view->last_ns);
	return 0;
}

static int json_close(struct report_tables *tables)
{
	struct written *written = tables->state;

	fputs("\n}}\n", tables->stream);
	text_fini(&written->notes);
	alloc_free(written);
	return 0;
}

static void json_section(struct report_tables *tables, const struct report_kind *kind)
{
	struct written *written = tables->state;

	fputs(written->sections++ ? ",\n" : "\n", tables->stream);
	put_json_text(tables, kind->name);
	fputs(":{\"title\":", tables->stream);
	put_json_text(tables, kind->title);
	fputs(",\"tables\":{", tables->stream);
	written->tables = 0;
}

static void json_section_end(struct report_tables *tables)
{
	struct written *written = tables->state;

	if (written->notes.failure)
		tables->failure = -ENOMEM;
	fprintf(tables->stream, "\n},\"notes\":[%s]}", written->notes.bytes ? written->notes.bytes : "");
	text_fini(&written->notes);
	written->notes = (struct text_buffer){ 0 };
}

static void json_note(struct report_tables *tables, const char *text)
{
	struct written *written = tables->state;

	if (written->notes.length)
		text_append(&written->notes, ",");
	text_json(&written->notes, text);
}

static void json_table(struct report_tables *tables, const char *name, const char *title)
{
	struct written *written = tables->state;

	(void)title;
	fputs(written->tables++ ? ",\n" : "\n", tables->stream);
	put_json_text(tables, name);
	fputs(":[", tables->stream);
	written->rows = 0;
}

static void put_thread(struct report_tables *tables, uint32_t thread)
{
	const struct report_thread *known = thread < tables->view->thread_count ? &tables->view->threads[thread] : NULL;

	if (!known) {
		fputs(thread == REPORT_TIMER ? "{\"timer\":true}" : "{\"interrupt\":true}", tables->stream);
		return;
	}
	fprintf(tables->stream, "{\"thread\":%u", thread);
	if (!tables->view->is_redacted) {
		fprintf(tables->stream, ",\"tid\":%u,\"pid\":%u,\"comm\":", known->tid, known->pid);
		put_json_text(tables, known->comm);
	}
	fputs("}", tables->stream);
}

static void put_cell_json(struct report_tables *tables, enum report_cell_kind kind, const struct report_cell *cell)
{
	struct text_buffer text = { 0 };

	if (cell->is_none) {
		fputs("null", tables->stream);
	} else if (kind == CELL_THREAD) {
		put_thread(tables, (uint32_t)cell->number);
	} else {
		report_cell_plain(&text, tables->view, kind, cell);
		if (text.failure)
			tables->failure = -ENOMEM;
		else if (report_cell_is_text(kind))
			put_json_text(tables, text.bytes ? text.bytes : "");
		else
			fputs(text.bytes, tables->stream);
		text_fini(&text);
	}
}

static void json_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth)
{
	struct written *written = tables->state;
	const char *before = "";

	fputs(written->rows++ ? ",\n{" : "\n{", tables->stream);
	for (unsigned i = 0; i < tables->column_count; i++) {
		const struct report_column *column = &tables->columns[i];

		if (column->kind == CELL_STRIP || column->kind == CELL_BAR)
			continue;
		if (column->is_deep)
			fprintf(tables->stream, "%s\"depth\":%u", before, depth), before = ",";
		fprintf(tables->stream, "%s\"%s\":", before, column->name);
		put_cell_json(tables, column->kind, &cells[i]);
		before = ",";
	}
	fputs("}", tables->stream);
}

static void json_table_end(struct report_tables *tables)
{
	fputs("]", tables->stream);
}

const struct report_form report_form_json = {
	.name = "json",
	.open = json_open,
	.section = json_section,
	.section_end = json_section_end,
	.note = json_note,
	.table = json_table,
	.row = json_row,
	.table_end = json_table_end,
	.close = json_close,
};
