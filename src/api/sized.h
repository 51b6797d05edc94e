/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_SIZED_H
#define API_SIZED_H

/*
 * Structures that cross the edge of the library begin with their size, a size_t, as the program that uses it was
 * compiled: older ones are shorter, newer ones longer than the library's own.
 */

#include <stddef.h>

struct asterism_diag;

/*
 * Takes a structure of options into known bytes at to; what from does not have is zero. Returns 0, or -EINVAL where
 * from has something that is not known here and is not zero.
 */
int sized_take(void *to, size_t known, const void *from);

/* Gives known bytes at from to the caller's structure, as far as it reaches. Returns 0, or -EINVAL (no such size). */
int sized_give(void *to, const void *from, size_t known);

/*
 * Says in diag why sized_take or sized_give failed for from: what ("options") is NULL, has an impossible size, or sets
 * members after the `known` bytes that the library has. Returns -EINVAL.
 */
int sized_refuse(struct asterism_diag *diag, const char *what, const void *from, size_t known);

#endif
