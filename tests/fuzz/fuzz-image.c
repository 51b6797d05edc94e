// SPDX-License-Identifier: BSD-2-Clause
/*
 * Program images as an attacker writes them: the checksum is always right, the rest is not. What the loader accepts is
 * explained, evaluated and executed. Mutations keep the size and mostly hit whole words of the tables, since nearly
 * everything in an image is one.
 */

#include "image-use.h"

#include "base/diag.h"
#include "program/section.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

enum { POOL_MAX = 64 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Whether a section lies within the image and leaves the header alone, so that it can be written to. */
static bool holds_section(const struct program_header *header, size_t size, int section)
{
	size_t bytes = header->sections[section].count * program_section_shapes[section].item_bytes;
	size_t offset = header->sections[section].offset;

	return offset >= sizeof *header && offset <= size && bytes <= size - offset;
}

/* A header that fits the bytes, and pools that a test can afford. */
static void seal(void *image, size_t size)
{
	struct program_header *header = image;

	memcpy(header->magic, PROGRAM_MAGIC, sizeof header->magic);
	header->version = PROGRAM_VERSION;
	header->header_bytes = sizeof *header;
	header->total_bytes = (uint32_t)size;
	if (holds_section(header, size, PROGRAM_RULES)) {
		char *rules = (char *)image + header->sections[PROGRAM_RULES].offset;

		for (uint32_t i = 0; i < header->sections[PROGRAM_RULES].count; i++) {
			char *at = rules + i * sizeof(struct program_rule) + offsetof(struct program_rule, pool);
			uint64_t pool;

			memcpy(&pool, at, sizeof pool);
			pool = pool > POOL_MAX ? POOL_MAX : pool;
			memcpy(at, &pool, sizeof pool);
		}
	}
	header->checksum = program_image_checksum(header, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	uint8_t *image = NULL;

	if (size >= sizeof(struct program_header)) {
		image = malloc(size); /* exactly, so that the copy is seen to be taken within bounds */
		memcpy(image, data, size);
		seal(image, size);
	}
	int result = program_load(image ? image : data, size, "fuzz", diag, &program);

	if (!result)
		image_use(program, program_checksum(data, size));
	else if (asterism_diag_count(diag, ASTERISM_ERROR) != 1)
		abort();
	program_free(program);
	asterism_diag_free(diag);
	free(image);
	return 0;
}

/* A value that means something: a small number, a neighbour of what is there, a marker, another word of the image. */
static uint32_t likely_word(const uint8_t *data, size_t size, uint32_t old, uint64_t *state)
{
	static const uint32_t markers[] = { PROGRAM_NONE, PROGRAM_TARGET_END, PROGRAM_TARGET_MATCH, INT32_MAX,
					    1 << 16 };
	uint64_t draw = next_random(state);
	uint32_t word;

	switch (draw % 4) {
	case 0:
		return (uint32_t)(draw >> 32) % 9;
	case 1:
		return old + (draw & 16 ? 1 : -1);
	case 2:
		return markers[(draw >> 32) % (sizeof markers / sizeof *markers)];
	default:
		memcpy(&word, data + (draw >> 8) % (size / 4) * 4, sizeof word);
		return word;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	const struct program_header *header = (const void *)data;
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	int section = (int)(next_random(&state) % PROGRAM_SECTION_COUNT);

	if (size < sizeof *header || size % 4 || next_random(&state) % 8 == 0 ||
	    !holds_section(header, size, section) || !header->sections[section].count)
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
	size_t bytes = header->sections[section].count * program_section_shapes[section].item_bytes;
	uint8_t *items = data + header->sections[section].offset;

	for (uint64_t n = next_random(&state) % 3; n < 3 && bytes >= 4; n++) {
		uint8_t *at = items + next_random(&state) % (bytes / 4) * 4;
		uint32_t word;

		memcpy(&word, at, sizeof word);
		word = likely_word(data, size, word, &state);
		memcpy(at, &word, sizeof word);
	}
	return size;
}
