/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_SYMBOLS_H
#define SESSION_OUTPUT_SYMBOLS_H

/*
 * The functions of a program or library, by their place in its file. The file may come from anybody: what is too large
 * or makes no sense is left out.
 */

#include <stddef.h>
#include <stdint.h>

struct symbols;

enum {
	SYMBOLS_COUNT_MAX = 1 << 20,         /* more functions of one file are left out */
	SYMBOLS_SECTION_BYTES_MAX = 1 << 26, /* larger tables are not read */
	SYMBOLS_NAME_MAX = 255,              /* longer names are cut */
};

/*
 * Reads the functions of the file. Returns 0; -ENOEXEC: it is no ELF file; -ENOMEM. A file without functions, or with
 * damaged tables, is one that knows little.
 */
int symbols_read(int fd, struct symbols **made);
void symbols_free(struct symbols *symbols);

/* The memory that they take. */
size_t symbols_bytes(const struct symbols *symbols);

/* The function that byte `offset` of the file belongs to, and how far in it is. NULL: none. */
const char *symbols_find(const struct symbols *symbols, uint64_t offset, uint64_t *distance);

#endif
