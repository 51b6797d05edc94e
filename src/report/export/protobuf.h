/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_EXPORT_PROTOBUF_H
#define REPORT_EXPORT_PROTOBUF_H

/* Messages of Protocol Buffers (protobuf.dev/programming-guides/encoding), put together in buffers of bytes. */

#include "base/text.h"

#include <string.h>

enum { PROTOBUF_VARINT = 0, PROTOBUF_BYTES = 2 };

/* A number, seven bits per byte: also an item of a packed field. */
static inline void protobuf_varint(struct text_buffer *bytes, uint64_t number)
{
	char encoded[10];
	size_t length = 0;

	for (; number >= 0x80; number >>= 7)
		encoded[length++] = (char)(number | 0x80);
	encoded[length++] = (char)number;
	text_append_bytes(bytes, encoded, length);
}

static inline void protobuf_number(struct text_buffer *bytes, unsigned field, uint64_t number)
{
	protobuf_varint(bytes, field << 3 | PROTOBUF_VARINT);
	protobuf_varint(bytes, number);
}

/* What so many bytes of a field begin with. */
static inline void protobuf_length(struct text_buffer *bytes, unsigned field, size_t length)
{
	protobuf_varint(bytes, field << 3 | PROTOBUF_BYTES);
	protobuf_varint(bytes, length);
}

/* A message, or the items of a packed field. */
static inline void protobuf_message(struct text_buffer *bytes, unsigned field, const struct text_buffer *message)
{
	protobuf_length(bytes, field, message->length);
	text_append_bytes(bytes, message->bytes, message->length);
	bytes->failure |= message->failure;
}

/* Strings are UTF-8: what is none, and what directs a terminal, is escaped. */
static inline void protobuf_text(struct text_buffer *bytes, unsigned field, const char *text)
{
	struct text_buffer shown = { 0 };

	text_append_as(&shown, text, TEXT_WORDS);
	protobuf_message(bytes, field, &shown);
	text_fini(&shown);
}

#endif
