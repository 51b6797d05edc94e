// SPDX-License-Identifier: BSD-2-Clause
/* The shapes of the sections and the checksum over them: what writer and reader must not disagree on. */

#include "program/section.h"

const struct program_section_shape program_section_shapes[PROGRAM_SECTION_COUNT] = {
	[PROGRAM_STRINGS] = { "text", 1 },
	[PROGRAM_TYPES] = { "type", sizeof(struct program_type) },
	[PROGRAM_FIELDS] = { "field", sizeof(struct program_field) },
	[PROGRAM_RULES] = { "rule", sizeof(struct program_rule) },
	[PROGRAM_ELEMENTS] = { "element", sizeof(struct program_element) },
	[PROGRAM_SLOTS] = { "slot", sizeof(struct program_slot) },
	[PROGRAM_STATES] = { "state", sizeof(struct program_state) },
	[PROGRAM_TRANSITIONS] = { "transition", sizeof(struct program_transition) },
	[PROGRAM_ACTIONS] = { "action", sizeof(struct program_action) },
	[PROGRAM_NODES] = { "node", sizeof(struct program_node) },
	[PROGRAM_CLASSES] = { "class", sizeof(struct program_class) },
	[PROGRAM_KEYS] = { "key", sizeof(struct program_key) },
	[PROGRAM_INDICES] = { "index", sizeof(uint32_t) },
	[PROGRAM_RETURNS] = { "return value", sizeof(struct program_return) },
	[PROGRAM_STATEMENTS] = { "statement", sizeof(struct program_statement) },
	[PROGRAM_ARGS] = { "argument", sizeof(struct program_arg) },
	[PROGRAM_NOTICES] = { "notice", sizeof(struct program_notice) },
	[PROGRAM_PIECES] = { "piece of a warning", sizeof(struct program_piece) },
	[PROGRAM_AGGREGATIONS] = { "aggregation", sizeof(struct program_aggregation) },
	[PROGRAM_AGGREGATES] = { "aggregate", sizeof(struct program_aggregate) },
};

/* The remainders of all half bytes: small enough to read, fast enough for images of a few hundred KiB. */
static const uint32_t remainders[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
	0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t program_checksum(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		crc ^= at[i];
		crc = crc >> 4 ^ remainders[crc & 15];
		crc = crc >> 4 ^ remainders[crc & 15];
	}
	return ~crc;
}

uint32_t program_image_checksum(const struct program_header *image, size_t length)
{
	size_t start = offsetof(struct program_header, sections);

	return program_checksum((const char *)image + start, length - start);
}
