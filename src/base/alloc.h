/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

/*
 * Every allocation of the project passes through here: sizes are multiplied with an overflow check, memory comes
 * zeroed, and tests can make the n-th allocation fail.
 */

#include <stddef.h>

/* count * size zeroed bytes, or NULL. A zero product gives a valid pointer. */
void *alloc_zero(size_t count, size_t size);

/* Resizes to count * size bytes; what is new is not zeroed. On failure returns NULL and leaves old alone. */
void *alloc_resize(void *old, size_t count, size_t size);

/* A copy of text, or NULL. */
char *alloc_text(const char *text);

void alloc_free(void *memory);

/* Tests only: the allocation number n from now (1 = the next) fails, and all after it; 0 switches this off. */
void alloc_fail_at(unsigned long n);

/*
 * Grows the vector at *items (room for *capacity items of size bytes) so that it holds count + 1 items.
 * Returns 0 or -ENOMEM; items stays valid either way.
 */
int alloc_grow(void *items, size_t *capacity, size_t count, size_t size);

/* Compile-time objects live in an arena and go with one free. */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* count * size zeroed bytes aligned for any type, or NULL. */
void *arena_zero(struct arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of the length bytes at text, or NULL. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* printf into the arena, or NULL. */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
