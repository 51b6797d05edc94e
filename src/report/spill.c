// SPDX-License-Identifier: BSD-2-Clause
/* Writes runs to a file, and merges them by a heap. */

#include "report/spill.h"

#include "base/alloc.h"
#include "report/scratch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 14 };

struct spill_cursor {
	uint64_t at, end; /* in the file: where the run was begun, and where it ends */
	uint64_t next;    /* where to read on */
	char *buffer;
	size_t used, held; /* bytes of the buffer */
};

int spill_put(struct spill *spill, void *items, size_t count)
{
	size_t bytes = count * spill->item_bytes;
	int code = 0;

	if (count == 0)
		return 0;
	if (spill->fd == 0) {
		int fd = scratch_open();
		if (fd < 0)
			return fd;
		spill->fd = fd + 1;
	}
	code = alloc_grow(&spill->runs, &spill->run_capacity, spill->run_count, sizeof *spill->runs);
	if (code != 0)
		return code;
	qsort_r(items, count, spill->item_bytes, spill->order, spill->context);
	code = scratch_write(spill->fd - 1, items, bytes, spill->end);
	if (code != 0)
		return code;
	spill->runs[spill->run_count++] = (struct spill_cursor){ .at = spill->end, .end = spill->end + bytes };
	spill->end += bytes;
	return 0;
}

/* Whole items, as many as the buffer has room for. Returns 0, also at the end of the run. */
static int refill(const struct spill *spill, struct spill_cursor *run)
{
	size_t wanted = BUFFER / spill->item_bytes * spill->item_bytes;

	run->used = run->held = 0;
	if (run->end - run->next < wanted)
		wanted = (size_t)(run->end - run->next);
	int code = scratch_read(spill->fd - 1, run->buffer, wanted, run->next);
	if (code != 0)
		return code;
	run->held = wanted;
	run->next += run->held;
	return 0;
}

static bool is_before(const struct spill *spill, size_t left, size_t right)
{
	const struct spill_cursor *a = &spill->runs[left], *b = &spill->runs[right];

	return spill->order(a->buffer + a->used, b->buffer + b->used, spill->context) < 0;
}

static void sink(struct spill *spill, size_t at)
{
	for (size_t least = at;; at = least) {
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < spill->left; child++) {
			if (is_before(spill, child, least))
				least = child;
		}
		if (least == at)
			return;
		struct spill_cursor moved = spill->runs[at];
		spill->runs[at] = spill->runs[least];
		spill->runs[least] = moved;
	}
}

int spill_begin(struct spill *spill)
{
	spill->failure = 0;
	spill->left = spill->run_count;
	if (!spill->last)
		spill->last = alloc_zero(1, spill->item_bytes);
	if (!spill->last)
		return -ENOMEM;
	for (size_t i = 0; i < spill->run_count; i++) {
		struct spill_cursor *run = &spill->runs[i];
		if (!run->buffer)
			run->buffer = alloc_zero(BUFFER, 1);
		if (!run->buffer)
			return -ENOMEM;
		run->next = run->at;
		int code = refill(spill, run);
		if (code != 0)
			return code;
	}
	for (size_t i = spill->left / 2; i-- > 0;)
		sink(spill, i);
	return 0;
}

const void *spill_next(struct spill *spill)
{
	if (spill->left == 0 || spill->failure != 0)
		return NULL;
	struct spill_cursor *run = &spill->runs[0];
	memcpy(spill->last, run->buffer + run->used, spill->item_bytes);
	run->used += spill->item_bytes;
	if (run->used == run->held)
		spill->failure = refill(spill, run);
	if (run->held == 0 && spill->failure == 0) {
		struct spill_cursor ended = *run;
		*run = spill->runs[--spill->left];
		spill->runs[spill->left] = ended;
	}
	sink(spill, 0);
	return spill->last;
}

void spill_fini(struct spill *spill)
{
	for (size_t i = 0; i < spill->run_count; i++)
		alloc_free(spill->runs[i].buffer);
	alloc_free(spill->runs);
	alloc_free(spill->last);
	if (spill->fd != 0)
		close(spill->fd - 1);
	*spill = (struct spill){ 0 };
}
