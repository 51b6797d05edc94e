// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how an image is laid out: the header, then the sections in the order of their ids, each on a multiple of
 * 8 bytes, the gaps zero. The same additions give the same bytes. Judges nothing: that is the loader's part.
 */

#include "program/build.h"

#include "base/alloc.h"
#include "program/section.h"

#include <errno.h>
#include <string.h>

struct table {
	void *items;
	size_t capacity, count;
};

struct program_build {
	struct table tables[PROGRAM_SECTION_COUNT];
	/* Texts by content: open addressing, a power of two of places, PROGRAM_NONE where empty. */
	uint32_t *texts;
	size_t text_places, text_count;
	int failure;
};

enum { TEXT_PLACES_FIRST = 64 };

struct program_build *program_build_new(void)
{
	return alloc_zero(1, sizeof(struct program_build));
}

void program_build_free(struct program_build *build)
{
	if (!build)
		return;
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++)
		alloc_free(build->tables[i].items);
	alloc_free(build->texts);
	alloc_free(build);
}

static uint32_t append(struct program_build *build, enum program_section_id section, const void *items, size_t count)
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
	return append(build, section, items, count);
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

static size_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (size_t)(hash ^ hash >> 32);
}

/* The place where text is or would be. */
static uint32_t *text_place(const struct program_build *build, const char *text)
{
	const char *strings = build->tables[PROGRAM_STRINGS].items;
	size_t mask = build->text_places - 1, at = hash_text(text) & mask;

	while (build->texts[at] != PROGRAM_NONE && strcmp(strings + build->texts[at], text) != 0)
		at = (at + 1) & mask;
	return &build->texts[at];
}

/* Keeps at least half of the places empty. */
static int make_text_places(struct program_build *build)
{
	size_t old_places = build->text_places;
	size_t places = old_places ? old_places * 2 : TEXT_PLACES_FIRST;
	uint32_t *old = build->texts;

	if (build->text_count < old_places / 2)
		return 0;
	uint32_t *texts = alloc_zero(places, sizeof *texts);
	if (!texts)
		return -ENOMEM;
	memset(texts, 0xff, places * sizeof *texts);
	build->texts = texts;
	build->text_places = places;
	for (size_t i = 0; i < old_places; i++) {
		if (old[i] != PROGRAM_NONE)
			*text_place(build, (const char *)build->tables[PROGRAM_STRINGS].items + old[i]) = old[i];
	}
	alloc_free(old);
	return 0;
}

uint32_t program_build_text(struct program_build *build, const char *text)
{
	if (!text)
		return PROGRAM_NONE;
	if (build->failure)
		return 0;
	if (make_text_places(build)) {
		build->failure = -ENOMEM;
		return 0;
	}
	uint32_t *place = text_place(build, text);
	if (*place != PROGRAM_NONE)
		return *place;
	uint32_t reference = append(build, PROGRAM_STRINGS, text, strlen(text) + 1);
	if (build->failure)
		return 0;
	*place = reference;
	build->text_count++;
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
