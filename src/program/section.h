/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_SECTION_H
#define PROGRAM_SECTION_H

/* What the writer and the reader of images agree on beyond the tables themselves. */

#include "program/image.h"

#include <stddef.h>

enum {
	PROGRAM_SECTION_ALIGN = 8,
	PROGRAM_BYTES_MAX = 1 << 28, /* of a whole image; keeps every index and offset far from overflow */
	PROGRAM_TYPES_MAX = 1 << 16,
	PROGRAM_RULES_MAX = 1 << 16,
};

/* How one section looks. */
struct program_section_shape {
	const char *name;  /* singular, for messages */
	size_t item_bytes; /* 1 for PROGRAM_STRINGS */
};

extern const struct program_section_shape program_section_shapes[PROGRAM_SECTION_COUNT];

/* CRC-32 as IEEE 802.3 has it (reflected polynomial 0xEDB88320, start and end inverted). */
uint32_t program_checksum(const void *bytes, size_t length);

/* What the header's checksum field is to hold: over everything behind it in the image of length bytes. */
uint32_t program_image_checksum(const struct program_header *image, size_t length);

#endif
