/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_SPILL_H
#define REPORT_SPILL_H

/*
 * Items of one size that memory has no room for: sorted runs in a file without a name (scratch.h), read back merged.
 */

#include <stddef.h>
#include <stdint.h>

typedef int (*spill_order)(const void *left, const void *right, void *context);

struct spill_cursor;

struct spill {
	size_t item_bytes;
	spill_order order;
	void *context; /* of order */
	int fd;        /* and 1; 0: there is no file yet */
	uint64_t end;  /* of it */
	struct spill_cursor *runs;
	size_t run_count, run_capacity;
	/* While it is read: runs as a heap, the one of the least item first. */
	size_t left;
	void *last; /* the item that was given last */
	int failure;
};

/* Sorts the items, and writes them as a run. Returns 0, -ENOMEM or -errno, and the spill is as it was then. */
int spill_put(struct spill *spill, void *items, size_t count);

/* Begins to read, from the least item on. Returns 0, -ENOMEM or -errno. */
int spill_begin(struct spill *spill);

/* The next item, good until the next call; NULL: there is none, or failure says why not. */
const void *spill_next(struct spill *spill);

void spill_fini(struct spill *spill);

#endif
