// SPDX-License-Identifier: BSD-2-Clause
/* Splits what a client sends into messages. */

#include "daemon/frame.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

enum { STEP_BYTES = 4096, STEPS_KEPT = 16 };

void frame_fini(struct frame *frame)
{
	alloc_free(frame->bytes);
	*frame = (struct frame){ 0 };
}

/* What was handed out is no longer needed. */
static void drop_taken(struct frame *frame)
{
	if (!frame->taken)
		return;
	frame->length -= frame->taken;
	memmove(frame->bytes, frame->bytes + frame->taken, frame->length);
	frame->taken = 0;
	/* A large body leaves a large buffer, which a client does not get to keep. */
	if (frame->length == 0 && frame->capacity > (size_t)STEP_BYTES * STEPS_KEPT) {
		alloc_free(frame->bytes);
		frame->bytes = NULL;
		frame->capacity = 0;
	}
}

/* The most that may be there: the message that is awaited, and for a line its newline. */
static size_t frame_limit(const struct frame *frame)
{
	return frame->is_body ? frame->body_length : FRAME_LINE_BYTES_MAX + 1;
}

char *frame_room(struct frame *frame, size_t *room)
{
	size_t limit, wanted;
	char *bytes;

	drop_taken(frame);
	limit = frame_limit(frame);
	if (frame->length >= limit)
		return NULL;
	if (frame->capacity - frame->length < STEP_BYTES / 2 || !frame->bytes) {
		wanted = frame->capacity < STEP_BYTES ? STEP_BYTES : frame->capacity * 2;
		if (wanted > limit + 1)
			wanted = limit + 1;
		if (wanted > frame->capacity) {
			bytes = alloc_resize(frame->bytes, wanted, 1);
			if (!bytes)
				return NULL;
			frame->bytes = bytes;
			frame->capacity = wanted;
		}
	}
	/* One byte stays free for the NUL of a body. */
	*room = frame->capacity - 1 - frame->length;
	if (*room > limit - frame->length)
		*room = limit - frame->length;
	return *room ? frame->bytes + frame->length : NULL;
}

void frame_add(struct frame *frame, size_t length)
{
	frame->length += length;
}

int frame_next(struct frame *frame, struct frame_message *message)
{
	char *end;

	drop_taken(frame);
	if (frame->is_body) {
		if (frame->length < frame->body_length)
			return 0;
		*message = (struct frame_message){ frame->bytes ? frame->bytes : "", frame->body_length, true };
		frame->taken = frame->body_length;
		frame->is_body = false;
		return 1;
	}
	end = frame->length ? memchr(frame->bytes, '\n', frame->length) : NULL;
	if (!end)
		return frame->length > FRAME_LINE_BYTES_MAX ? -E2BIG : 0;
	*end = 0;
	*message = (struct frame_message){ frame->bytes, (size_t)(end - frame->bytes), false };
	frame->taken = message->length + 1;
	return message->length > FRAME_LINE_BYTES_MAX ? -E2BIG : 1;
}

int frame_expect(struct frame *frame, size_t length)
{
	if (length > FRAME_BODY_BYTES_MAX)
		return -E2BIG;
	frame->is_body = true;
	frame->body_length = length;
	return 0;
}

bool frame_is_open(const struct frame *frame)
{
	return frame->is_body || frame->length > frame->taken;
}
