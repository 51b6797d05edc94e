// SPDX-License-Identifier: BSD-2-Clause
/* Collects what the page shows during the pass, and writes the file in this order: head, tables, data, the program. */

#include "report/page/page-priv.h"

#include "base/alloc.h"
#include "report/page/template.h"

#include <errno.h>
#include <string.h>

enum { MATCHES_MAX = 100000 };

static int open_page(const struct report_view *view, struct report **made)
{
	struct page *page = alloc_zero(1, sizeof *page);
	if (!page)
		return -ENOMEM;
	page->report = (struct report){ &report_page, view };
	page->texts = arena_new();
	if (!page->texts) {
		alloc_free(page);
		return -ENOMEM;
	}
	*made = &page->report;
	return 0;
}

static void free_page(struct report *report)
{
	struct page *page = (struct page *)report;
	if (!page)
		return;
	store_fini(&page->store);
	arena_free(page->texts);
	alloc_free(page->matches);
	alloc_free(page);
}

void report_page_limit(struct report *report, uint64_t bytes)
{
	((struct page *)report)->bytes_max = bytes;
}

uint64_t report_page_bytes(const struct report *report)
{
	return ((const struct page *)report)->bytes;
}

static void ensure_origin(struct page *page)
{
	if (page->has_origin)
		return;
	page->has_origin = true;
	/* What stands in the file is a third longer. */
	store_init(&page->store, page->report.view->first_ns, page->bytes_max / 4 * 3);
}

static int take_slice(struct report *report, const struct report_slice *slice)
{
	struct page *page = (struct page *)report;
	ensure_origin(page);
	return store_put(&page->store, slice);
}

static int take_match(struct report *report, const struct report_match *match)
{
	struct page *page = (struct page *)report;
	ensure_origin(page);
	if (page->match_count == MATCHES_MAX) {
		page->matches_left_out++;
		return 0;
	}
	int code = alloc_grow(&page->matches, &page->match_capacity, page->match_count, sizeof *page->matches);
	if (code != 0)
		return code;
	struct page_match *kept = &page->matches[page->match_count];
	*kept = (struct page_match){
		.ns = match->ts,
		.thread = match->thread,
		.rule = arena_format(page->texts, "%s", match->rule),
		.values = arena_format(page->texts, "%s", match->values ? match->values : ""),
	};
	if (!kept->rule || !kept->values)
		return -ENOMEM;
	page->match_count++;
	return store_mark(&page->store, match->ts);
}

static int finish_page(struct report *report)
{
	struct page *page = (struct page *)report;
	ensure_origin(page);
	return store_finish(&page->store);
}

static void write_nothing(struct report *report, struct report_tables *tables)
{
	(void)report;
	(void)tables;
}

const struct report_kind report_page = {
	.name = "page",
	.title = "Page",
	.question = "what happened, as a page for a browser",
	.open = open_page,
	.slice = take_slice,
	.match = take_match,
	.finish = finish_page,
	.write = write_nothing,
	.free = free_page,
};

static int write_head(FILE *out, const char *title)
{
	struct text_buffer text = { 0 };
	text_append(&text, page_template[PAGE_BEFORE_TITLE]);
	text_append_markup(&text, title);
	text_append(&text, page_template[PAGE_BEFORE_HEADING]);
	text_append_markup(&text, title);
	text_append(&text, page_template[PAGE_BEFORE_SUMMARY]);
	int code = text.failure;
	if (code == 0)
		fwrite(text.bytes, 1, text.length, out);
	text_fini(&text);
	return code;
}

static int write_parts(struct page_out *out, struct page *page, const struct report_page_options *options)
{
	struct page_room room = page_room_of(page->bytes_max);
	struct report_tables tables = {
		.form = &report_form_html,
		.view = page->report.view,
		.stream = out->stream,
		.rows_most = options->rows_most,
		.reports = options->reports,
		.report_count = options->count,
		.state = &room,
	};
	int code = write_head(out->stream, options->title);
	if (code != 0)
		return code;
	report_summary(&tables);
	fputs(page_template[PAGE_BEFORE_SECTIONS], out->stream);
	if (options->count != 0)
		code = report_write(&tables, options->reports, options->count);
	if (code != 0)
		return code;
	fputs(page_template[PAGE_BEFORE_DATA], out->stream);
	code = page_write_data(out, page, options->title, strlen(page_template[PAGE_BEHIND_DATA]));
	if (code == 0)
		fputs(page_template[PAGE_BEHIND_DATA], out->stream);
	return code;
}

int report_page_write(FILE *to, struct report *report, const struct report_page_options *options)
{
	struct page *page = (struct page *)report;
	struct page_out out;
	int code = page_out_open(&out, to);
	if (code != 0)
		return code;
	code = write_parts(&out, page, options);
	int closed = page_out_close(&out);
	page->bytes = out.bytes;
	return closed != 0 ? closed : code;
}
