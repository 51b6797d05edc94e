/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAGE_PAGE_PRIV_H
#define REPORT_PAGE_PAGE_PRIV_H

/* The parts of a page. */

#include "report/page/page.h"
#include "report/store/store.h"
#include "report/table.h"

/* A match that has been told: its texts are the page's. */
struct page_match {
	uint64_t ns;
	uint32_t thread; /* REPORT_NONE */
	const char *rule, *values;
};

struct page {
	struct report report;
	struct store store;
	bool has_origin;
	size_t bytes_max;
	struct arena *texts;
	struct page_match *matches;
	size_t match_count, match_capacity;
	uint64_t matches_left_out;
};

/* Everything that is drawn, as elements that hold base64. Returns 0, -ENOMEM or -E2BIG. */
int page_write_data(FILE *out, const struct page *page, const char *title);

/* The JSON of threads, matches, losses and index, all times from the beginning of the page. */
void page_put_meta(struct text_buffer *json, const struct page *page, const char *title,
		   const struct text_buffer *bins);

#endif
