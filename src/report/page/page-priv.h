/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAGE_PAGE_PRIV_H
#define REPORT_PAGE_PAGE_PRIV_H

/* The parts of a page. */

#include "report/page/out.h"
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
	uint64_t bytes_max, bytes; /* of the file; 0: no limit */
	struct arena *texts;
	struct page_match *matches;
	size_t match_count, match_capacity;
	uint64_t matches_left_out;
	bool is_bare; /* without programs and command lines, which have no room */
};

/* Parts of the limit that the rest of the page may take at most: exact slices have what is left. */
enum { PAGE_TABLES_PART = 4, PAGE_TABLE_PART = 64, PAGE_PICTURE_PART = 16, PAGE_BINS_PART = 8, PAGE_META_PART = 4 };

/* What tables may still take. */
struct page_room {
	const struct report_kind *kind;
	uint64_t bytes, table_most, picture_most; /* of all tables; of one; of a picture */
	uint64_t table_bytes, rows, left_out;     /* of the table that is being written */
};

/* With no limit (0) there is room for all. */
struct page_room page_room_of(uint64_t bytes_max);

/*
 * Everything that is drawn, as elements that hold base64, in what is left of the limit but for the last bytes. Returns
 * 0, -ENOMEM, -E2BIG, or -errno of reading what was put aside.
 */
int page_write_data(struct page_out *out, struct page *page, const char *title, uint64_t last);

/* The JSON of threads, matches, losses and index, all times from the beginning of the page. */
void page_put_meta(struct text_buffer *json, const struct page *page, const char *title,
		   const struct text_buffer *bins);

#endif
