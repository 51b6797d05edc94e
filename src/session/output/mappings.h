/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_MAPPINGS_H
#define SESSION_OUTPUT_MAPPINGS_H

/* What a process has mapped where, as it is now, and the files that are mapped. */

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { MAPPINGS_MAX = 1 << 16 }; /* more are not read; it is the usual limit of a process */

struct mapping {
	uint64_t start, end, offset, inode; /* inode 0: of no file */
	size_t name;
	bool is_code, is_writable;
};

struct mappings {
	uint32_t pid;
	struct mapping *items; /* by address */
	size_t count, capacity;
	struct text_buffer names;
};

/* Reads those of process pid over what was there; none where it has ended, or is not to be looked into. 0 or -ENOMEM.
 */
int mappings_read(struct mappings *mappings, uint32_t pid);
void mappings_fini(struct mappings *mappings);

/* The one that holds address; NULL: none. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address);

/* "/path/of/file", "[stack]", "": it has no name. */
const char *mappings_name(const struct mappings *mappings, const struct mapping *mapping);

/*
 * Opens the very file that is mapped there, for reading, whatever its name leads to by now; where that is not allowed,
 * what its name leads to in the process's view, if that is still the file. Returns a descriptor, or -1.
 */
int mappings_open(const struct mappings *mappings, const struct mapping *mapping, struct stat *about);

#endif
