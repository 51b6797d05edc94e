// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the header, the sizes, the checksum and the sections of an image, and loads it. The tables' contents are
 * judged by the check-*.c files. Nothing of the caller's bytes is used after the copy was made.
 */

#include "program/load.h"

#include "base/alloc.h"
#include "program/check/check-priv.h"
#include "program/section.h"

#include <errno.h>
#include <string.h>

static int fail_binary(const struct diag_source *source, struct asterism_diag *diag, size_t offset, const char *text)
{
	struct diag_location location = { .source = source, .offset = offset };

	return diag_error(diag, &location, -EINVAL, "%s", text);
}

static int check_header(const struct program_header *header, size_t length, const struct diag_source *source,
			struct asterism_diag *diag)
{
	if (length < sizeof header->magic || memcmp(header->magic, PROGRAM_MAGIC, sizeof header->magic) != 0)
		return fail_binary(source, diag, 0, "this is not a program image");
	if (length < sizeof *header)
		return fail_binary(source, diag, length, "the image ends within its header");
	if (header->version != PROGRAM_VERSION)
		return fail_binary(source, diag, offsetof(struct program_header, version),
				   "the image has a version that this asterism cannot read");
	if (header->header_bytes != sizeof *header)
		return fail_binary(source, diag, offsetof(struct program_header, header_bytes),
				   "the image has a header of the wrong size");
	if (header->total_bytes > PROGRAM_BYTES_MAX)
		return fail_binary(source, diag, offsetof(struct program_header, total_bytes),
				   "the image is too large");
	if (header->total_bytes > length)
		return fail_binary(source, diag, length, "the image is truncated");
	if (header->total_bytes != length)
		return fail_binary(source, diag, header->total_bytes, "the image has bytes after its end");
	if (header->checksum != program_image_checksum(header, length))
		return fail_binary(source, diag, offsetof(struct program_header, checksum),
				   "the image was altered: its checksum is wrong");
	return 0;
}

/* Sections stand in the order of their ids and do not overlap. */
static int check_sections(const struct program_header *header, const struct diag_source *source,
			  struct asterism_diag *diag)
{
	size_t end = sizeof *header;

	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++) {
		const struct program_section *section = &header->sections[i];
		size_t at = offsetof(struct program_header, sections) + (size_t)i * sizeof *section;
		size_t item_bytes = program_section_shapes[i].item_bytes;

		if (section->offset % PROGRAM_SECTION_ALIGN)
			return fail_binary(source, diag, at, "a section of the image is not aligned");
		if (section->offset < end || section->offset > header->total_bytes)
			return fail_binary(source, diag, at, "a section of the image is out of place");
		if (section->count > (header->total_bytes - section->offset) / item_bytes)
			return fail_binary(source, diag, at, "a section of the image is longer than the image");
		end = section->offset + section->count * item_bytes;
	}
	return 0;
}

static void set_tables(struct program *program)
{
	const char *image = (const char *)program->header;
	const struct program_section *sections = program->header->sections;

#define TABLE(member, id) program->member = (const void *)(image + sections[id].offset)
	TABLE(strings, PROGRAM_STRINGS);
	TABLE(types, PROGRAM_TYPES);
	TABLE(fields, PROGRAM_FIELDS);
	TABLE(rules, PROGRAM_RULES);
	TABLE(elements, PROGRAM_ELEMENTS);
	TABLE(slots, PROGRAM_SLOTS);
	TABLE(states, PROGRAM_STATES);
	TABLE(transitions, PROGRAM_TRANSITIONS);
	TABLE(actions, PROGRAM_ACTIONS);
	TABLE(nodes, PROGRAM_NODES);
	TABLE(classes, PROGRAM_CLASSES);
	TABLE(keys, PROGRAM_KEYS);
	TABLE(indices, PROGRAM_INDICES);
	TABLE(returns, PROGRAM_RETURNS);
	TABLE(statements, PROGRAM_STATEMENTS);
	TABLE(args, PROGRAM_ARGS);
	TABLE(notices, PROGRAM_NOTICES);
	TABLE(pieces, PROGRAM_PIECES);
	TABLE(aggregations, PROGRAM_AGGREGATIONS);
	TABLE(aggregates, PROGRAM_AGGREGATES);
#undef TABLE
	program->type_count = sections[PROGRAM_TYPES].count;
	program->field_count = sections[PROGRAM_FIELDS].count;
	program->rule_count = sections[PROGRAM_RULES].count;
	program->total_bytes = program->header->total_bytes;
}

int program_load(const void *bytes, size_t length, const char *origin, struct asterism_diag *diag,
		 struct program **loaded)
{
	struct diag_source source = { .file = origin };
	struct program_header *image;
	struct program *program;
	int result;

	if (length > PROGRAM_BYTES_MAX)
		return fail_binary(&source, diag, 0, "the image is too large");
	program = alloc_zero(1, sizeof *program);
	/* At least a header, so that looking at a short image's magic reads our own memory. */
	image = alloc_zero(length > sizeof *image ? length : sizeof *image, 1);
	if (!program || !image) {
		alloc_free(program);
		alloc_free(image);
		return diag_no_memory(diag);
	}
	if (length)
		memcpy(image, bytes, length);
	program->header = image;
	result = check_header(image, length, &source, diag);
	if (!result)
		result = check_sections(image, &source, diag);
	if (!result) {
		set_tables(program);
		result = check_program(program, &source, diag);
	}
	if (result)
		program_free(program);
	else
		*loaded = program;
	return result;
}

void program_free(struct program *program)
{
	if (!program)
		return;
	alloc_free((void *)program->header);
	alloc_free(program);
}

uint32_t program_type_find(const struct program *program, const char *name)
{
	for (uint32_t i = 0; i < program->type_count; i++) {
		if (!strcmp(program_text(program, program->types[i].name), name))
			return i;
	}
	return PROGRAM_NONE;
}
