/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_BUILD_H
#define PROGRAM_BUILD_H

#include "base/diag.h"
#include "program/load.h"

#include <stddef.h>

/*
 * Collects the tables of an image. Adding never reports failure: the first one (-ENOMEM, -E2BIG) sticks and
 * program_build_finish returns it, so callers need no check in between.
 */
struct program_build;

struct program_build *program_build_new(void);
/* One that holds what program does; its texts are not found again by program_build_text. NULL: -ENOMEM. */
struct program_build *program_build_of(const struct program *program);
void program_build_free(struct program_build *build);

/* Appends count items of the section's type and returns the index of the first. Not for PROGRAM_STRINGS. */
uint32_t program_build_add(struct program_build *build, enum program_section_id section, const void *items,
			   uint32_t count);

/* The number of items in the section so far. */
uint32_t program_build_count(const struct program_build *build, enum program_section_id section);

/* Borrows item index of the section for changing, valid until the next add; NULL after a failure. */
void *program_build_get(struct program_build *build, enum program_section_id section, uint32_t index);

/* Interns a text and returns its reference. NULL gives PROGRAM_NONE. */
uint32_t program_build_text(struct program_build *build, const char *text);

/* Lays the image out. The caller frees *bytes with alloc_free. Returns 0 or the failure that stuck. */
int program_build_finish(struct program_build *build, void **bytes, size_t *length);

#endif
