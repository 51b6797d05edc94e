// SPDX-License-Identifier: BSD-2-Clause
/* Lays out exact slices, and drops some of them when there is no room. */

#include "report/store/tiles.h"

#include "base/alloc.h"
#include "report/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum column { END, LENGTH, THREAD, CPU, REASON, WAKER, STATE, PRIO };

enum { LEVEL = 1 };

void store_tiles_fini(struct store_tiles *tiles)
{
	for (struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (size_t i = 0; i < class->count; i++)
			alloc_free(class->tiles[i].deflated);
		alloc_free(class->tiles);
		for (size_t i = 0; i < STORE_COLUMNS; i++)
			store_bytes_fini(&class->columns[i]);
	}
	alloc_free(tiles->marks);
	store_bytes_fini(&tiles->scratch);
	store_bytes_fini(&tiles->deflated);
	if (tiles->fd != 0)
		close(tiles->fd - 1);
	*tiles = (struct store_tiles){ 0 };
}

unsigned int store_class_of(uint64_t length_ns)
{
	if (length_ns >> STORE_FIRST_BITS == 0)
		return 0;
	unsigned int bits = 63 - (unsigned int)__builtin_clzll(length_ns);
	unsigned int class = (bits - STORE_FIRST_BITS) / STORE_CLASS_BITS + 1;
	return class < STORE_CLASSES ? class : STORE_CLASSES - 1;
}

/* Whether there is a mark near the tile. */
static bool is_near_mark(const struct store_tiles *tiles, const struct store_tile *tile)
{
	uint64_t from = tile->begin > STORE_MARK_NS ? tile->begin - STORE_MARK_NS : 0;
	size_t low = 0, high = tiles->mark_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tiles->marks[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tiles->mark_count && tiles->marks[low] <= tile->end + STORE_MARK_NS;
}

/* A file gives its room back, where its system can do that. */
static void drop_tile(struct store_tiles *tiles, struct store_tile *tile)
{
	if (!tile->deflated)
		(void)!fallocate(tiles->fd - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)tile->at,
				 tile->bytes);
	alloc_free(tile->deflated);
	tile->deflated = NULL;
	tile->is_kept = false;
	tiles->bytes -= tile->bytes;
	tiles->dropped += tile->slices;
}

/*
 * Drops tiles that no mark is near to and, from the end of the trace on (now_ns is UINT64_MAX), none can come near to,
 * until the rest has room. Returns whether it has.
 */
static bool drop_uninteresting(struct store_tiles *tiles, uint64_t now_ns)
{
	for (struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (; class->examined < class->count; class->examined++) {
			if (tiles->bytes <= tiles->bytes_max)
				return true;
			struct store_tile *tile = &class->tiles[class->examined];
			if (tile->end + STORE_MARK_NS >= now_ns)
				break;
			if (!is_near_mark(tiles, tile))
				drop_tile(tiles, tile);
		}
	}
	return tiles->bytes <= tiles->bytes_max;
}

/* The last resort: a limit is one. */
static void drop_anything(struct store_tiles *tiles)
{
	for (struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (size_t i = 0; i < class->count && tiles->bytes > tiles->bytes_max; i++) {
			if (class->tiles[i].is_kept)
				drop_tile(tiles, &class->tiles[i]);
		}
	}
}

static int write_tile(struct store_tiles *tiles, struct store_tile *tile)
{
	if (tiles->fd == 0) {
		int fd = scratch_open();
		if (fd < 0)
			return fd;
		tiles->fd = fd + 1;
	}
	tile->at = tiles->file_end;
	int code = scratch_write(tiles->fd - 1, tiles->deflated.items, tile->bytes, tile->at);
	tiles->file_end += code == 0 ? tile->bytes : 0;
	return code;
}

/* Keeps what has been deflated: in memory while that is little, or where no file can be written. */
static int keep_tile(struct store_tiles *tiles, struct store_tile *tile)
{
	tile->is_kept = true;
	if (tiles->bytes > SCRATCH_BYTES_MIN && write_tile(tiles, tile) == 0)
		return 0;
	tile->deflated = alloc_zero(tile->bytes, 1);
	if (!tile->deflated)
		return -ENOMEM;
	memcpy(tile->deflated, tiles->deflated.items, tile->bytes);
	return 0;
}

static int close_tile(struct store_tiles *tiles, struct store_class *class)
{
	int code = alloc_grow(&class->tiles, &class->capacity, class->count, sizeof *class->tiles);
	if (code != 0)
		return code;
	struct store_bytes *scratch = &tiles->scratch, *deflated = &tiles->deflated;
	scratch->count = deflated->count = 0;
	store_bytes_varint(scratch, class->slices);
	for (size_t i = 0; i < STORE_COLUMNS; i++) {
		if (class->columns[i].failure != 0)
			return class->columns[i].failure;
		store_bytes_put(scratch, class->columns[i].items, class->columns[i].count);
		class->columns[i].count = 0;
	}
	code = store_bytes_deflate(deflated, scratch, LEVEL);
	if (code != 0)
		return code;
	struct store_tile tile = {
		.bytes = (uint32_t)deflated->count,
		.slices = class->slices,
		.begin = class->begin,
		.end = class->end,
	};
	code = keep_tile(tiles, &tile);
	if (code != 0)
		return code;
	class->tiles[class->count++] = tile;
	tiles->bytes += deflated->count;
	class->slices = 0;
	return 0;
}

static uint64_t waker_code(uint32_t waker)
{
	if (waker == REPORT_NONE)
		return 0;
	if (waker == REPORT_INTERRUPT)
		return 1;
	return waker == REPORT_TIMER ? 2 : (uint64_t)waker + 3;
}

int store_tiles_put(struct store_tiles *tiles, const struct report_slice *slice)
{
	uint64_t length = slice->end - slice->begin;
	struct store_class *class = &tiles->classes[store_class_of(length)];
	struct store_bytes *columns = class->columns;
	if (class->slices == 0) {
		class->begin = slice->begin;
		class->end = slice->end;
		class->last_end = tiles->origin_ns;
	}
	store_bytes_signed(&columns[END], (int64_t)(slice->end - class->last_end));
	store_bytes_varint(&columns[LENGTH], length);
	store_bytes_varint(&columns[THREAD], slice->thread == REPORT_NONE ? 0 : (uint64_t)slice->thread + 1);
	store_bytes_varint(&columns[CPU], slice->cpu);
	store_bytes_varint(&columns[REASON], slice->reason);
	store_bytes_varint(&columns[WAKER], waker_code(slice->waker));
	store_bytes_byte(&columns[STATE], slice->state);
	store_bytes_byte(&columns[PRIO], slice->prio);
	class->last_end = slice->end;
	class->begin = slice->begin < class->begin ? slice->begin : class->begin;
	class->end = slice->end > class->end ? slice->end : class->end;
	if (++class->slices < STORE_TILE_SLICES)
		return 0;
	int code = close_tile(tiles, class);
	if (code == 0 && tiles->bytes_max != 0 && tiles->bytes > tiles->bytes_max)
		drop_uninteresting(tiles, slice->end);
	return code;
}

int store_tiles_mark(struct store_tiles *tiles, uint64_t ns)
{
	int code = alloc_grow(&tiles->marks, &tiles->mark_capacity, tiles->mark_count, sizeof *tiles->marks);
	if (code == 0)
		tiles->marks[tiles->mark_count++] = ns;
	return code;
}

int store_tiles_finish(struct store_tiles *tiles)
{
	for (struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		int code = class->slices != 0 ? close_tile(tiles, class) : 0;
		if (code != 0)
			return code;
	}
	if (tiles->bytes_max != 0 && !drop_uninteresting(tiles, UINT64_MAX))
		drop_anything(tiles);
	return 0;
}

void store_tiles_fit(struct store_tiles *tiles, size_t bytes_max)
{
	tiles->bytes_max = bytes_max;
	if (!drop_uninteresting(tiles, UINT64_MAX))
		drop_anything(tiles);
}

int store_tile_bytes(struct store_tiles *tiles, const struct store_tile *tile, const uint8_t **bytes)
{
	struct store_bytes *read = &tiles->deflated;
	*bytes = tile->deflated;
	if (tile->deflated)
		return 0;
	int code = alloc_grow(&read->items, &read->capacity, tile->bytes, 1);
	if (code == 0)
		code = scratch_read(tiles->fd - 1, read->items, tile->bytes, tile->at);
	*bytes = read->items;
	return code;
}

size_t store_tiles_kept(const struct store_tiles *tiles)
{
	size_t kept = 0;
	for (const struct store_class *class = tiles->classes; class < tiles->classes + STORE_CLASSES; class ++) {
		for (size_t i = 0; i < class->count; i++)
			kept += class->tiles[i].is_kept;
	}
	return kept;
}
