// SPDX-License-Identifier: BSD-2-Clause
/* Decides how memory is obtained and how tests make it run short. Zeroed on arrival; sizes never overflow. */

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long fail_countdown;
static int fail_armed;

void alloc_fail_at(unsigned long n)
{
	fail_armed = n != 0;
	fail_countdown = n;
}

static int must_fail(void)
{
	if (!fail_armed)
		return 0;
	if (fail_countdown > 1) {
		fail_countdown--;
		return 0;
	}
	return 1;
}

void *alloc_zero(size_t count, size_t size)
{
	if (must_fail())
		return NULL;
	if (count == 0 || size == 0)
		count = size = 1;
	return calloc(count, size);
}

void *alloc_resize(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return realloc(old, bytes ? bytes : 1);
}

char *alloc_text(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = alloc_zero(bytes, 1);

	return copy ? memcpy(copy, text, bytes) : NULL;
}

void alloc_free(void *memory)
{
	free(memory);
}

int alloc_grow(void *items, size_t *capacity, size_t count, size_t size)
{
	void *old, *grown;
	size_t wanted = *capacity ? *capacity : 8;

	if (count < *capacity)
		return 0;
	while (wanted <= count) {
		if (__builtin_mul_overflow(wanted, 2, &wanted))
			return -ENOMEM;
	}
	memcpy(&old, items, sizeof old);
	grown = alloc_resize(old, wanted, size);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + *capacity * size, 0, (wanted - *capacity) * size);
	memcpy(items, &grown, sizeof grown);
	*capacity = wanted;
	return 0;
}

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
