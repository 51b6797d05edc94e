// SPDX-License-Identifier: BSD-2-Clause
/* An arena grows by blocks, of which the last one is filled. */

#include "base/alloc.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct block {
	struct block *next;
	size_t used;
	size_t room;
	max_align_t bytes[];
};

struct arena {
	struct block *blocks;
};

enum { BLOCK_BYTES = 16 * 1024 };

struct arena *arena_new(void)
{
	return alloc_zero(1, sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		alloc_free(block);
	}
	alloc_free(arena);
}

void *arena_zero(struct arena *arena, size_t count, size_t size)
{
	size_t bytes, step = _Alignof(max_align_t);
	struct block *block = arena->blocks;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + step - 1) / step * step;
	if (!block || block->room - block->used < bytes) {
		size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

		block = alloc_zero(1, sizeof *block + room);
		if (!block)
			return NULL;
		block->room = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	void *memory = (char *)block->bytes + block->used;
	block->used += bytes;
	return memory;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? arena_zero(arena, length + 1, 1) : NULL;

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	char small[512], *copy;
	va_list args;

	va_start(args, format);
	int length = vsnprintf(small, sizeof small, format, args);
	va_end(args);
	if (length < 0)
		return NULL;
	if ((size_t)length < sizeof small)
		return arena_text(arena, small, (size_t)length);
	copy = arena_zero(arena, (size_t)length + 1, 1);
	if (!copy)
		return NULL;
	va_start(args, format);
	vsnprintf(copy, (size_t)length + 1, format, args);
	va_end(args);
	return copy;
}
