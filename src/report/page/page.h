/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAGE_PAGE_H
#define REPORT_PAGE_PAGE_H

/*
 * One HTML file that shows what happened: a store of slices, deflated and in base64, the program that draws them
 * (data/report), and the tables of reports, which are there without any program. It asks nobody for anything: its
 * policy forbids all but the script and the style that are in it, by their hashes.
 *
 * Names come from whoever was observed. In data they are JSON, deflated and in base64, so that no text of theirs stands
 * in the file; the program shows them as text, never as HTML. Tables escape them (text_append_markup).
 */

#include "base/text.h"
#include "report/table.h"

#include <stdio.h>

/* Listens; it has nothing for report_write. */
extern const struct report_kind report_page;

/* The tables of reports on it; report_page_write brings what is around them. */
extern const struct report_form report_form_html;

/* Bytes of exact slices, as the file has them, at most (0: no limit); before the first event. */
void report_page_limit(struct report *page, uint64_t bytes);

/*
 * Writes the page, with the tables of the reports, after the end of the pass. title is a name, rows_most that of struct
 * report_tables. Returns 0, -ENOMEM, -E2BIG (too many names), or -errno of writing.
 */
struct report_page_options {
	const char *title;
	struct report *const *reports;
	size_t count;
	uint32_t rows_most;
};

int report_page_write(FILE *out, struct report *page, const struct report_page_options *options);

#endif
