/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

/* Files that are part of the program, compressed: tables that tools/embed writes. They cost nothing until they are
 * read. */

#include "base/alloc.h"

#include <stdbool.h>
#include <stddef.h>

/* Where messages say that such a file is. */
#define EMBEDDED_FOLDER "<built-in>"

struct embedded_file {
	const char *name; /* with / in it; NULL ends a table */
	size_t length;
	bool is_program;             /* may be executed */
	const unsigned char *packed; /* as zlib's compress() leaves it */
	size_t packed_length;
};

/* The file called name in the table, or NULL. */
const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name);

/* What the file holds: length bytes and a NUL, of the arena, or for alloc_free() where there is none; NULL without
 * memory. */
char *embedded_text(const struct embedded_file *file, struct arena *arena);

#endif
