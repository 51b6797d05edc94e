/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_FRAME_H
#define BASE_FRAME_H

/*
 * Frames for lines that lose and invent bytes, such as serial ones: "~NUMBER CHECKSUM BASE64" and a newline, where the
 * checksum is the CRC-32 of IEEE 802.3 over the number's eight bytes, the lowest first, and what is framed. What is no
 * frame is recognised as none, and the next line may be one.
 */

#include "base/text.h"

/* Appends a frame. */
void frame_put(struct text_buffer *text, uint64_t number, const char *bytes, size_t length);

/*
 * Reads the line, without its newline, and writes what was framed, of at most length bytes, to bytes. Returns how many;
 * -EBADMSG: it is no frame, or not as it was sent.
 */
int64_t frame_read(const char *line, size_t length, uint64_t *number, char *bytes);

#endif
