// SPDX-License-Identifier: BSD-2-Clause
/* Decides how marks lie in memory: one after the other, each followed by its texts. */

#include "session/record/tape-queue.h"

#include "base/alloc.h"
#include "event/type.h"

#include <errno.h>
#include <string.h>

/* What a trace holds of the texts (ctf/write.h), and how marks are aligned. */
enum { RULE_BYTES_MAX = 256, VALUES_BYTES_MAX = 4096, ALIGN = _Alignof(struct tape_mark) };

_Static_assert(sizeof(struct tape_mark) + EVENT_COMM_BYTES + RULE_BYTES_MAX + VALUES_BYTES_MAX + ALIGN <
		       TAPE_QUEUE_BYTES_MIN,
	       "one mark always fits");

int tape_queue_init(struct tape_queue *queue, size_t bytes)
{
	*queue = (struct tape_queue){ .bytes = alloc_zero(bytes, 1), .capacity = bytes };
	return queue->bytes ? 0 : -ENOMEM;
}

void tape_queue_fini(struct tape_queue *queue)
{
	alloc_free(queue->bytes);
	*queue = (struct tape_queue){ 0 };
}

static size_t align(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Copies length bytes of text to *to, with a NUL, and goes behind it. */
static const char *put_text(char **to, const char *text, size_t length)
{
	char *put = *to;

	memcpy(put, text, length);
	put[length] = 0;
	*to += length + 1;
	return put;
}

bool tape_queue_put(struct tape_queue *queue, const struct tape_mark *mark)
{
	size_t comm = strnlen(mark->comm, EVENT_COMM_BYTES - 1);
	size_t rule = strnlen(mark->rule, RULE_BYTES_MAX - 1);
	size_t values = strnlen(mark->values, VALUES_BYTES_MAX - 1);
	size_t bytes = align(sizeof *mark + comm + rule + values + 3);
	struct tape_mark *put = (struct tape_mark *)(queue->bytes + queue->used);
	char *texts = (char *)(put + 1);

	if (bytes > queue->capacity - queue->used)
		return false;
	*put = *mark;
	put->comm = put_text(&texts, mark->comm, comm);
	put->rule = put_text(&texts, mark->rule, rule);
	put->values = put_text(&texts, mark->values, values);
	queue->used += bytes;
	return true;
}

const struct tape_mark *tape_queue_next(const struct tape_queue *queue, size_t *at)
{
	const struct tape_mark *mark = (const struct tape_mark *)(queue->bytes + *at);

	if (*at >= queue->used)
		return NULL;
	/* The values are the last of its texts. */
	*at = align((size_t)(mark->values + strlen(mark->values) + 1 - queue->bytes));
	return mark;
}
