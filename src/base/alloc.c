// SPDX-License-Identifier: BSD-2-Clause
/* Allocates memory, and lets tests make it run short. Zeroed on arrival; sizes never overflow. */

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 20 }; /* bytes */

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

/* Pages that the system gives are zeros, and are not there before they are used: half of a large vector may never be.
 */
static void *grow_large(void *old, size_t count, size_t wanted, size_t size)
{
	void *grown = alloc_zero(wanted, size);

	if (!grown)
		return NULL;
	memcpy(grown, old, count * size);
	free(old);
	return grown;
}

int alloc_grow(void *items, size_t *capacity, size_t count, size_t size)
{
	void *old, *grown;
	size_t wanted = *capacity ? *capacity : 8;
	bool is_large = size && *capacity > LARGE / size;

	if (count < *capacity)
		return 0;
	while (wanted <= count) {
		if (__builtin_mul_overflow(wanted, 2, &wanted))
			return -ENOMEM;
	}
	memcpy(&old, items, sizeof old);
	grown = is_large ? grow_large(old, *capacity, wanted, size) : alloc_resize(old, wanted, size);
	if (!grown)
		return -ENOMEM;
	if (!is_large)
		memset((char *)grown + *capacity * size, 0, (wanted - *capacity) * size);
	memcpy(items, &grown, sizeof grown);
	*capacity = wanted;
	return 0;
}
