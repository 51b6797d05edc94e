/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_STORE_TILES_H
#define REPORT_STORE_TILES_H

/*
 * Exact slices, kept deflated. Slices of like length are together: a class holds those up to eight times as long as the
 * class below, so a reader who looks at a piece of time needs few tiles of each class, and none of those whose slices
 * are thinner than what it can show. A tile is up to STORE_TILE_SLICES of one class in the order of their ends, column
 * by column:
 *
 *   count, then each as LEB128: end (difference to the one before, the first to the origin; signed), length, thread + 1
 *   (0: it is a CPU's), cpu, reason, waker (0: none, 1: an interrupt, 2: a timer, else thread + 3); then a byte
 * each: state, priority
 *
 * When they take more than they may, whole tiles go: shortest class first, oldest first, but not what is near a
 * mark as long as there is anything else. What went is known (store_tile.is_kept). When they are many, they are written
 * to a file (scratch.h), so that memory does not grow with what is kept.
 */

#include "report/report.h"
#include "report/store/bytes.h"

#include <stdbool.h>

enum {
	STORE_TILE_SLICES = 16384,
	STORE_CLASSES = 11,
	STORE_CLASS_BITS = 3,
	STORE_FIRST_BITS = 10, /* slices of class 0 are shorter than 2^10 ns, of class n than 2^(10 + 3n) */
	STORE_COLUMNS = 8,
};

/* What is kept around a mark where there is not enough room for all. */
#define STORE_MARK_NS UINT64_C(50000000)

struct store_tile {
	uint8_t *deflated; /* NULL: it is in the file, or has been dropped */
	uint64_t at;       /* in the file */
	uint32_t bytes;
	uint32_t slices;
	uint64_t begin, end; /* of all its slices, ns */
	bool is_kept;
};

struct store_class {
	struct store_tile *tiles;
	size_t count, capacity;
	size_t examined; /* so many of the first have been dropped or are kept for good */
	/* The tile being filled. */
	struct store_bytes columns[STORE_COLUMNS];
	uint32_t slices;
	uint64_t begin, end, last_end;
};

struct store_tiles {
	struct store_class classes[STORE_CLASSES];
	uint64_t origin_ns;
	size_t bytes, bytes_max; /* deflated; 0: no limit */
	uint64_t dropped;        /* slices */
	uint64_t *marks;         /* ns, ascending */
	size_t mark_count, mark_capacity;
	struct store_bytes scratch, deflated;
	int fd;            /* and 1; 0: there is no file */
	uint64_t file_end; /* what is behind it in the file is free */
};

void store_tiles_fini(struct store_tiles *tiles);

/* Both return 0 or -ENOMEM. Marks come in the order of time. */
int store_tiles_put(struct store_tiles *tiles, const struct report_slice *slice);
int store_tiles_mark(struct store_tiles *tiles, uint64_t ns);

/* Closes what is being filled, and keeps to the limit. Returns 0 or -ENOMEM. */
int store_tiles_finish(struct store_tiles *tiles);

/* Keeps to a lower limit, after that; 0: nothing is kept. */
void store_tiles_fit(struct store_tiles *tiles, size_t bytes_max);

/* The deflated bytes of one that is kept; they are good until the next call. Returns 0, -ENOMEM or -errno. */
int store_tile_bytes(struct store_tiles *tiles, const struct store_tile *tile, const uint8_t **bytes);

/* How many are kept. */
size_t store_tiles_kept(const struct store_tiles *tiles);

/* The class of slices that are so long. */
unsigned int store_class_of(uint64_t length_ns);

#endif
