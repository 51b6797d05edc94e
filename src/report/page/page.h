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

/*
 * Bytes of the file at most (0: no limit); before the first event. Tables are cut, sums become coarser, texts and exact
 * slices are left out until it has them, and the page says so. Only names of very many threads can take more.
 */
void report_page_limit(struct report *page, uint64_t bytes);

/* How many the file has, after it was written. */
uint64_t report_page_bytes(const struct report *page);

/*
 * Writes the page, with the tables of the reports, after the end of the pass. title is a name, rows_most of one table
 * (UINT32_MAX: as many as have room). Returns 0, -ENOMEM, -E2BIG (too many names), or -errno of writing.
 */
struct report_page_options {
	const char *title;
	struct report *const *reports;
	size_t count;
	uint32_t rows_most;
};

int report_page_write(FILE *out, struct report *page, const struct report_page_options *options);

#endif
