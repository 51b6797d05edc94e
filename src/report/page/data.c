// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes binary data in HTML: as elements that no browser runs, each raw deflate in base64. t0, t1, ... are tiles in
 * the order of the index, b0, b1, ... groups of lanes of bins, meta is JSON.
 */

#include "report/page/page-priv.h"

#include <errno.h>

enum {
	LEVEL = 6,
	GROUP_BYTES = 1 << 17,
	CHUNK = 3 * 1024,
	ELEMENT = 64,       /* what is around the base64 of one, at most */
	BIN_BYTES_MAX = 16, /* of a bin, in base64 */
	SPARE = 4096,       /* by which the words may become longer when tiles went */
};

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

/* What an element takes in the file. */
static uint64_t element_bytes(uint64_t count)
{
	return (count + 2) / 3 * 4 + ELEMENT;
}

static void write_element(FILE *out, const char *id, const uint8_t *bytes, size_t count)
{
	fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	write_base64(out, bytes, count);
	fputs("</script>\n", out);
}

static int write_tiles(FILE *out, struct store_tiles *tiles)
{
	uint32_t number = 0;
	for (const struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (const struct store_tile *tile = class->tiles; tile < class->tiles + class->count;
		     tile++, number++) {
			const uint8_t *bytes;
			char id[16];
			if (!tile->is_kept)
				continue;
			int code = store_tile_bytes(tiles, tile, &bytes);
			if (code != 0)
				return code;
			snprintf(id, sizeof id, "t%u", number);
			write_element(out, id, bytes, tile->bytes);
		}
	}
	return 0;
}

/* Lanes, those of CPUs first, in groups; the index has the first lane of each. */
struct lanes {
	FILE *out; /* NULL: they are only counted */
	struct store_bytes raw, deflated;
	struct text_buffer *index;
	uint32_t groups;
	uint64_t bytes; /* in the file */
};

static int flush_group(struct lanes *lanes)
{
	char id[16];
	snprintf(id, sizeof id, "b%u", lanes->groups++);
	lanes->deflated.count = 0;
	int code = store_bytes_deflate(&lanes->deflated, &lanes->raw, LEVEL);
	if (code != 0)
		return code;
	lanes->raw.count = 0;
	lanes->bytes += element_bytes(lanes->deflated.count);
	if (lanes->out)
		write_element(lanes->out, id, lanes->deflated.items, lanes->deflated.count);
	return 0;
}

static int put_lanes(struct lanes *lanes, const struct page *page)
{
	const struct report_view *view = page->report.view;
	const struct store_bins *bins = &page->store.bins;
	size_t cpus = view->cpu_count, count = cpus + view->thread_count;
	for (size_t i = 0; i < count; i++) {
		if (lanes->raw.count == 0 && lanes->index)
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

static int write_lanes(struct lanes *lanes, const struct page *page)
{
	int code = put_lanes(lanes, page);
	store_bytes_fini(&lanes->raw);
	store_bytes_fini(&lanes->deflated);
	return code;
}

/* Wider bins until they keep to their part. */
static int fit_bins(struct page *page)
{
	uint64_t most = page->bytes_max / PAGE_BINS_PART;
	while (most != 0 && page->store.bins.total > most / BIN_BYTES_MAX) {
		struct lanes counted = { 0 };
		int code = write_lanes(&counted, page);
		if (code != 0)
			return code;
		if (counted.bytes <= most || !store_bins_widen(&page->store.bins))
			break;
	}
	return 0;
}

static int deflate_meta(struct store_bytes *deflated, const struct page *page, const char *title,
			const struct text_buffer *index)
{
	struct text_buffer json = { 0 };
	page_put_meta(&json, page, title, index);
	int code = index->failure != 0 ? index->failure : json.failure;
	if (code == 0) {
		struct store_bytes raw = { .items = (uint8_t *)json.bytes, .count = json.length };
		deflated->count = 0;
		code = store_bytes_deflate(deflated, &raw, LEVEL);
	}
	text_fini(&json);
	return code;
}

/* Leaves out something of what is told in words; false: nothing is left that could be. */
static bool cut_meta(struct page *page)
{
	if (page->match_count != 0) {
		size_t kept = page->match_count / 2;
		page->matches_left_out += page->match_count - kept;
		page->match_count = kept;
		return true;
	}
	if (page->is_bare)
		return false;
	page->is_bare = true;
	return true;
}

/* As the index of tiles is in the words, these are made anew when tiles went. */
static int fit_meta(struct store_bytes *meta, struct page *page, const char *title, const struct text_buffer *index,
		    uint64_t room)
{
	struct store_tiles *tiles = &page->store.tiles;
	int code = deflate_meta(meta, page, title, index);
	while (code == 0 && page->bytes_max != 0 && element_bytes(meta->count) > page->bytes_max / PAGE_META_PART &&
	       cut_meta(page))
		code = deflate_meta(meta, page, title, index);
	for (uint64_t spare = 0; code == 0 && page->bytes_max != 0; spare += SPARE) {
		size_t kept = store_tiles_kept(tiles);
		uint64_t taken = element_bytes(meta->count) + kept * ELEMENT;
		if (kept == 0 || taken + (tiles->bytes + 2 * kept) / 3 * 4 <= room)
			break;
		taken += spare;
		store_tiles_fit(tiles, taken < room ? (room - taken) / 4 * 3 : 0);
		code = deflate_meta(meta, page, title, index);
	}
	return code;
}

int page_write_data(struct page_out *out, struct page *page, const char *title, uint64_t last)
{
	struct text_buffer index = { 0 };
	struct lanes lanes = { .out = out->stream, .index = &index };
	struct store_bytes meta = { 0 };
	int code = fit_bins(page);
	if (code == 0)
		code = write_lanes(&lanes, page);
	if (code == 0) {
		uint64_t written = page_out_bytes(out) + last;
		uint64_t room = page->bytes_max > written ? page->bytes_max - written : 0;
		code = fit_meta(&meta, page, title, &index, room);
	}
	if (code == 0)
		code = write_tiles(out->stream, &page->store.tiles);
	if (code == 0)
		write_element(out->stream, "meta", meta.items, meta.count);
	store_bytes_fini(&meta);
	text_fini(&index);
	return code;
}
