/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_FRAME_H
#define DAEMON_FRAME_H

/*
 * The bytes of one client, cut into messages: lines, and after a line that announces it a body of so many bytes. What
 * comes in is hostile; nothing is kept beyond the limits, and no memory is taken for what was only announced.
 */

#include <stdbool.h>
#include <stddef.h>

enum { FRAME_LINE_BYTES_MAX = 1 << 16, FRAME_BODY_BYTES_MAX = 1 << 24 };

/* Zeroed, it is empty. */
struct frame {
	char *bytes;
	size_t length, capacity;
	size_t taken;       /* of them, by the message that was handed out last */
	size_t body_length; /* that the next message has; with is_body only */
	bool is_body;
};

struct frame_message {
	const char *bytes; /* valid until the next call; a line is without its newline, and ends with a NUL */
	size_t length;
	bool is_body;
};

void frame_fini(struct frame *frame);

/*
 * Where the next bytes go: *room of them at the address that is returned, at least one. NULL: memory is short, or a
 * line is too long already (frame_next says so).
 */
char *frame_room(struct frame *frame, size_t *room);
void frame_add(struct frame *frame, size_t length);

/* The next message. Returns 1, 0 (more bytes are needed), -E2BIG (the line is too long, and so is all that follows). */
int frame_next(struct frame *frame, struct frame_message *message);

/* The next message is a body of length bytes. Returns 0 or -E2BIG. */
int frame_expect(struct frame *frame, size_t length);

/* Whether a message has begun and is not there yet. */
bool frame_is_open(const struct frame *frame);

#endif
