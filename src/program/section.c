// SPDX-License-Identifier: BSD-2-Clause
/* The shapes of the sections and the checksum over them: what writer and reader must not disagree on. */

#include "program/section.h"

#include "base/crc.h"

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

uint32_t program_checksum(const void *bytes, size_t length)
{
	return ~crc_bytes(CRC_START, bytes, length);
}

uint32_t program_image_checksum(const struct program_header *image, size_t length)
{
	size_t start = offsetof(struct program_header, sections);

	return program_checksum((const char *)image + start, length - start);
}
