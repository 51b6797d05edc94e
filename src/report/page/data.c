// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes binary data in HTML: as elements that no browser runs, each raw deflate in base64. t0, t1, ... are tiles in
 * the order of the index, b0, b1, ... groups of lanes of bins, meta is JSON.
 */

#include "report/page/page-priv.h"

#include <errno.h>

enum { LEVEL = 6, GROUP_BYTES = 1 << 17, CHUNK = 3 * 1024 };

static void write_base64(FILE *out, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[CHUNK / 3 * 4] = "";
	while (count != 0) {
		size_t length = 0, taken = count < CHUNK ? count : CHUNK;
		for (size_t i = 0; i < taken; i += 3) {
			uint32_t left = (uint32_t)(taken - i), word = (uint32_t)bytes[i] << 16;
			word |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
			word |= left > 2 ? bytes[i + 2] : 0;
			text[length++] = digits[word >> 18];
			text[length++] = digits[word >> 12 & 63];
			text[length++] = left > 1 ? digits[word >> 6 & 63] : '=';
			text[length++] = left > 2 ? digits[word & 63] : '=';
		}
		fwrite(text, 1, length, out);
		bytes += taken;
		count -= taken;
	}
}

static void write_element(FILE *out, const char *id, const uint8_t *bytes, size_t count)
{
	fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	write_base64(out, bytes, count);
	fputs("</script>\n", out);
}

static int write_deflated(FILE *out, const char *id, const struct store_bytes *raw)
{
	struct store_bytes deflated = { 0 };
	int code = store_bytes_deflate(&deflated, raw, LEVEL);
	if (code == 0)
		write_element(out, id, deflated.items, deflated.count);
	store_bytes_fini(&deflated);
	return code;
}

static void write_tiles(FILE *out, const struct store_tiles *tiles)
{
	uint32_t number = 0;
	for (const struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (const struct store_tile *tile = class->tiles; tile < class->tiles + class->count;
		     tile++, number++) {
			char id[16];
			snprintf(id, sizeof id, "t%u", number);
			if (tile->deflated)
				write_element(out, id, tile->deflated, tile->bytes);
		}
	}
}

/* Lanes, those of CPUs first, in groups; the index has the first lane of each. */
struct lanes {
	FILE *out;
	struct store_bytes raw;
	struct text_buffer *index;
	uint32_t groups;
};

static int flush_group(struct lanes *lanes)
{
	char id[16];
	snprintf(id, sizeof id, "b%u", lanes->groups++);
	int code = write_deflated(lanes->out, id, &lanes->raw);
	lanes->raw.count = 0;
	return code;
}

static int write_lanes(struct lanes *lanes, const struct page *page)
{
	const struct report_view *view = page->report.view;
	const struct store_bins *bins = &page->store.bins;
	size_t cpus = view->cpu_count, count = cpus + view->thread_count;
	for (size_t i = 0; i < count; i++) {
		if (lanes->raw.count == 0)
			text_printf(lanes->index, "%s%zu", lanes->groups != 0 ? "," : "", i);
		if (i < cpus)
			store_bins_put_cpu(bins, (uint32_t)i, &lanes->raw);
		else
			store_bins_put_thread(bins, (uint32_t)(i - cpus), &lanes->raw);
		int code = lanes->raw.count >= GROUP_BYTES || i + 1 == cpus || i + 1 == count ? flush_group(lanes) : 0;
		if (code != 0)
			return code;
	}
	return 0;
}

int page_write_data(FILE *out, const struct page *page, const char *title)
{
	struct text_buffer json = { 0 }, index = { 0 };
	struct lanes lanes = { .out = out, .index = &index };
	int code = write_lanes(&lanes, page);
	store_bytes_fini(&lanes.raw);
	write_tiles(out, &page->store.tiles);
	page_put_meta(&json, page, title, &index);
	if (code == 0)
		code = index.failure != 0 ? index.failure : json.failure;
	if (code == 0) {
		struct store_bytes raw = { .items = (uint8_t *)json.bytes, .count = json.length };
		code = write_deflated(out, "meta", &raw);
	}
	text_fini(&index);
	text_fini(&json);
	return code;
}
