/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_CHECK_NAMES_PRIV_H
#define LANG_CHECK_NAMES_PRIV_H

/* A set of names of bounded size with a number for each, so that looking for doubles stays linear in the text. */

#include "base/alloc.h"

#include <stdint.h>

#define LANG_NO_NAME UINT32_MAX

struct lang_names;

/* Room for count names, or NULL when memory is short. The arena owns it; texts are borrowed. */
struct lang_names *lang_names_new(struct arena *arena, size_t count);

/* The number that name was added with, or LANG_NO_NAME. */
uint32_t lang_names_find(const struct lang_names *names, const char *name);

/* Adds name with its number, unless it is there; returns the number it was there with, or LANG_NO_NAME. */
uint32_t lang_names_add(struct lang_names *names, const char *name, uint32_t number);

/* The added name nearest to wanted, or NULL. */
const char *lang_names_nearest(const struct lang_names *names, const char *wanted);

#endif
