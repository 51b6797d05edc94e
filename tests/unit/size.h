/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_UNIT_SIZE_H
#define TEST_UNIT_SIZE_H

/*
 * Large numbers under sanitizers, which make them slow: a part of them, unless ASTERISM_TEST_LONG is set. Who uses this
 * is in SIZED of tools/check, so that `make check-long` runs it sanitised with all of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static inline bool is_sized_down(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return !getenv("ASTERISM_TEST_LONG");
#else
	return false;
#endif
}

/* The number, or its PARTth part. */
static inline size_t sized(size_t number, size_t part)
{
	return is_sized_down() ? number / part : number;
}

/* Which allocation is to fail after the n-th: all at first, then some. */
static inline unsigned long sized_next(unsigned long n)
{
	return n + (is_sized_down() && n >= 32 ? 7 : 1);
}

#endif
