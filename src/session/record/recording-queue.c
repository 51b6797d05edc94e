// SPDX-License-Identifier: BSD-2-Clause
/* A queue of marks in memory: one after the other, each followed by its texts. */

#include "session/record/recording-queue.h"

#include "base/alloc.h"
#include "event/type.h"

#include <errno.h>
#include <string.h>

/* What a trace holds of the texts (trace/ctf/write.h), and how marks are aligned. */
enum { RULE_BYTES_MAX = 256, VALUES_BYTES_MAX = 4096, ALIGN = _Alignof(struct recording_mark) };

_Static_assert(sizeof(struct recording_mark) + EVENT_COMM_BYTES + RULE_BYTES_MAX + VALUES_BYTES_MAX + ALIGN <
		       RECORDING_QUEUE_BYTES_MIN,
	       "one mark always fits");

int recording_queue_init(struct recording_queue *queue, size_t bytes)
{
	*queue = (struct recording_queue){ .bytes = alloc_zero(bytes, 1), .capacity = bytes };
	return queue->bytes ? 0 : -ENOMEM;
}

void recording_queue_fini(struct recording_queue *queue)
{
	alloc_free(queue->bytes);
	*queue = (struct recording_queue){ 0 };
}

static size_t align_bytes(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Copies length bytes of text to *to, with a NUL, and goes behind it. */
static const char *put_queued_text(char **to, const char *text, size_t length)
{
	char *put = *to;

	memcpy(put, text, length);
	put[length] = 0;
	*to += length + 1;
	return put;
}

bool recording_queue_put(struct recording_queue *queue, const struct recording_mark *mark)
{
	size_t comm = strnlen(mark->comm, EVENT_COMM_BYTES - 1);
	size_t rule = strnlen(mark->rule, RULE_BYTES_MAX - 1);
	size_t values = strnlen(mark->values, VALUES_BYTES_MAX - 1);
	size_t bytes = align_bytes(sizeof *mark + comm + rule + values + 3);
	struct recording_mark *put = (struct recording_mark *)(queue->bytes + queue->used);
	char *texts = (char *)(put + 1);

	if (bytes > queue->capacity - queue->used)
		return false;
	*put = *mark;
	put->comm = put_queued_text(&texts, mark->comm, comm);
	put->rule = put_queued_text(&texts, mark->rule, rule);
	put->values = put_queued_text(&texts, mark->values, values);
	queue->used += bytes;
	return true;
}

const struct recording_mark *recording_queue_next(const struct recording_queue *queue, size_t *at)
{
	const struct recording_mark *mark = (const struct recording_mark *)(queue->bytes + *at);

	if (*at >= queue->used)
		return NULL;
	/* The values are the last of its texts. */
	*at = align_bytes((size_t)(mark->values + strlen(mark->values) + 1 - queue->bytes));
	return mark;
}
