/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

/* Files that are part of the program: tables that tools/embed writes. They cost nothing until they are looked at. */

#include <stdbool.h>
#include <stddef.h>

/* Where messages say that such a file is. */
#define EMBEDDED_FOLDER "<built-in>"

struct embedded_file {
	const char *name; /* with / in it; NULL ends a table */
	size_t length;
	bool is_program;   /* may be executed */
	const char *bytes; /* a NUL follows them */
};

/* The file called name in the table, or NULL. */
const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name);

#endif
