// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds an image: the header, then the sections in the order of their ids, each on a multiple of 8 bytes, the gaps
 * zero. The same additions give the same bytes. Judges nothing: that is the loader's part.
 */

#include "program/build.h"

#include "base/alloc.h"
#include "base/hash-table.h"
#include "base/hash.h"
#include "program/section.h"

#include <errno.h>
#include <string.h>

struct table {
	void *items;
	size_t capacity, count;
};

struct program_build {
	struct table tables[PROGRAM_SECTION_COUNT];
	struct hash_table texts; /* where they are among the strings */
	int failure;
};

struct program_build *program_build_new(void)
{
	return alloc_zero(1, sizeof(struct program_build));
}

static uint32_t append_items(struct program_build *build, enum program_section_id section, const void *items,
			     size_t count);

struct program_build *program_build_of(const struct program *program)
{
	struct program_build *build = program_build_new();

	for (int i = 0; i < PROGRAM_SECTION_COUNT && build; i++)
		append_items(build, i, (const char *)program->header + program->header->sections[i].offset,
			     program->header->sections[i].count);
	return build;
}

void program_build_free(struct program_build *build)
{
	if (!build)
		return;
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++)
		alloc_free(build->tables[i].items);
	hash_table_fini(&build->texts);
	alloc_free(build);
}

static uint32_t append_items(struct program_build *build, enum program_section_id section, const void *items,
			     size_t count)
{
	struct table *table = &build->tables[section];
	size_t size = program_section_shapes[section].item_bytes, first = table->count;

	if (build->failure)
		return 0;
	if (count > PROGRAM_BYTES_MAX / size || first + count > PROGRAM_BYTES_MAX / size) {
		build->failure = -E2BIG;
		return 0;
	}
	if (alloc_grow(&table->items, &table->capacity, first + count, size)) {
		build->failure = -ENOMEM;
		return 0;
	}
	if (count)
		memcpy((char *)table->items + first * size, items, count * size);
	table->count += count;
	return (uint32_t)first;
}

uint32_t program_build_add(struct program_build *build, enum program_section_id section, const void *items,
			   uint32_t count)
{
	return append_items(build, section, items, count);
}

uint32_t program_build_count(const struct program_build *build, enum program_section_id section)
{
	return (uint32_t)build->tables[section].count;
}

void *program_build_get(struct program_build *build, enum program_section_id section, uint32_t index)
{
	const struct table *table = &build->tables[section];

	if (build->failure || index >= table->count)
		return NULL;
	return (char *)table->items + index * program_section_shapes[section].item_bytes;
}

/* Where text is among the texts, or HASH_NONE. */
static uint32_t find_program_text(const struct program_build *build, const char *text, uint64_t hash)
{
	const char *strings = build->tables[PROGRAM_STRINGS].items;
	uint32_t reference;

	for (size_t step = 0; (reference = hash_table_next(&build->texts, hash, &step)) != HASH_NONE;) {
		if (strcmp(strings + reference, text) == 0)
			break;
	}
	return reference;
}

uint32_t program_build_text(struct program_build *build, const char *text)
{
	if (!text)
		return PROGRAM_NONE;
	if (build->failure)
		return 0;
	uint64_t hash = hash_text(text);
	uint32_t reference = find_program_text(build, text, hash);
	if (reference != HASH_NONE)
		return reference;
	if (hash_table_reserve(&build->texts, NULL, build->texts.count + 1)) {
		build->failure = -ENOMEM;
		return 0;
	}
	reference = append_items(build, PROGRAM_STRINGS, text, strlen(text) + 1);
	if (build->failure)
		return 0;
	hash_table_add(&build->texts, hash, reference);
	return reference;
}

static size_t aligned(size_t offset)
{
	return (offset + PROGRAM_SECTION_ALIGN - 1) / PROGRAM_SECTION_ALIGN * PROGRAM_SECTION_ALIGN;
}

int program_build_finish(struct program_build *build, void **bytes, size_t *length)
{
	struct program_header header = {
		.magic = PROGRAM_MAGIC,
		.version = PROGRAM_VERSION,
		.header_bytes = sizeof header,
	};
	size_t end = sizeof header;

	_Static_assert(sizeof header % PROGRAM_SECTION_ALIGN == 0, "the first section follows the header");
	if (build->failure)
		return build->failure;
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++) {
		header.sections[i].offset = (uint32_t)end;
		header.sections[i].count = (uint32_t)build->tables[i].count;
		end = aligned(end + build->tables[i].count * program_section_shapes[i].item_bytes);
		if (end > PROGRAM_BYTES_MAX)
			return -E2BIG;
	}
	header.total_bytes = (uint32_t)end;
	char *image = alloc_zero(end, 1);
	if (!image)
		return -ENOMEM;
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++) {
		const struct table *table = &build->tables[i];

		if (table->count)
			memcpy(image + header.sections[i].offset, table->items,
			       table->count * program_section_shapes[i].item_bytes);
	}
	memcpy(image, &header, sizeof header);
	header.checksum = program_image_checksum((const struct program_header *)image, end);
	memcpy(image, &header, sizeof header);
	*bytes = image;
	*length = end;
	return 0;
}
