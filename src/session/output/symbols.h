/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_SYMBOLS_H
#define SESSION_OUTPUT_SYMBOLS_H

/*
 * The functions or variables of a program or library, by their place in its file or in memory. The file may come from
 * anybody: what is too large or makes no sense is left out.
 */

#include "base/elf-code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

enum {
	SYMBOLS_COUNT_MAX = 1 << 20,        /* more of one file are left out */
	SYMBOLS_TABLES_BYTES_MAX = 1 << 26, /* of tables of one file; what would make more is not read */
	SYMBOLS_NAME_MAX = 255,             /* longer names are cut */
};

/*
 * Reads those of the file's part. Returns 0; -ENOEXEC: it is no ELF file; -ENOMEM. A file without any, or with
 * damaged tables, is one that knows little.
 */
int symbols_read(int fd, enum elf_part part, struct symbols **made);
void symbols_free(struct symbols *symbols);

/* The memory that they take. */
size_t symbols_bytes(const struct symbols *symbols);

/* The function that byte `offset` of the file belongs to, and how far in it is. NULL: none. */
const char *symbols_find(const struct symbols *symbols, uint64_t offset, uint64_t *distance);

/* The same of an address as the file's headers have it. */
const char *symbols_at(const struct symbols *symbols, uint64_t address, uint64_t *distance);

/*
 * The address, as the file's headers have it, of what lies `distance` behind where byte `offset` of the file is mapped,
 * be it only memory that is 0 at first. False: the part has nothing there.
 */
bool symbols_address_behind(const struct symbols *symbols, uint64_t offset, uint64_t distance, uint64_t *address);

/* The lowest address of the part, as the file's headers have it; 0 where there is none. */
uint64_t symbols_start(const struct symbols *symbols);

/* The address of byte `offset` as the file's headers have it; false: it is not loaded. */
bool symbols_address(const struct symbols *symbols, uint64_t offset, uint64_t *address);

#endif
