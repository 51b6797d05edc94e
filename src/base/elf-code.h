/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ELF_CODE_H
#define BASE_ELF_CODE_H

/*
 * The functions or the variables of a program or library, and where in its file its code, or what it may write, lies.
 * The file may come from anybody: what makes no sense is left out. It is read, not mapped: a program that shortens it
 * meanwhile must not end us.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_SEGMENTS_MAX = 32 };

/* Which part of a file is of interest: functions and what may be executed; variables and what may be written. */
enum elf_part { ELF_CODE, ELF_DATA };

/* It as it lies in the file and, once loaded, at addresses; further segments are left out. */
struct elf_segments {
	struct {
		uint64_t offset, bytes, address;
		uint64_t loaded_bytes; /* with what is 0 at first and not in the file */
	} items[ELF_SEGMENTS_MAX];
	uint32_t count;
};

/* The address of byte offset of the file, and the reverse. False: it is not in that part. */
bool elf_address(const struct elf_segments *segments, uint64_t offset, uint64_t *address);
bool elf_offset(const struct elf_segments *segments, uint64_t address, uint64_t *offset);

struct elf_code;

/* The caller keeps fd open until it is freed. Returns 0; -ENOEXEC: it is no ELF file; -ENOMEM. */
int elf_code_open(int fd, enum elf_part part, struct elf_code **opened);
void elf_code_free(struct elf_code *code);

const struct elf_segments *elf_code_segments(const struct elf_code *code);

enum elf_table {
	ELF_FULL,    /* of all symbols; stripped files have none */
	ELF_LINKING, /* of those that others are linked with */
};

/* Or, of data, a variable. */
struct elf_function {
	const char *name; /* valid as long as the code */
	uint64_t address, size;
	bool is_local;
	bool is_indirect; /* it only says, once, which function is to be called */
};

/*
 * Calls one for each of the part that is in the file and has a name, until it returns something else than 0, which is
 * returned. Tables of more than bytes_max are left out.
 */
int elf_code_each(const struct elf_code *code, enum elf_table table, size_t bytes_max,
		  int (*one)(void *context, const struct elf_function *function), void *context);

#endif
