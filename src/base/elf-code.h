/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ELF_CODE_H
#define BASE_ELF_CODE_H

/*
 * The functions or the variables of a program or library, its USDT probes, and where in its file its code, or what it
 * may write, lies.
 * The file may come from anybody: what makes no sense is left out. It is read, not mapped: a program that shortens it
 * meanwhile must not end us. Its headers are judged first (base/elf-check.h), and no visit reads more than
 * ELF_VISIT_BYTES_MAX of tables, however many there are and wherever they lie; each row of them costs the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_SEGMENTS_MAX = 32, ELF_VISIT_BYTES_MAX = 1 << 28 };

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

/* The caller keeps fd open until it is freed. Returns 0; -ENOEXEC: it is no ELF file that makes sense; -ENOMEM. */
int elf_code_open(int fd, enum elf_part part, struct elf_code **opened);
void elf_code_free(struct elf_code *code);

const struct elf_segments *elf_code_segments(const struct elf_code *code);

/* The CPU that it is for: EM_X86_64 or another number of elf.h. */
uint32_t elf_code_machine(const struct elf_code *code);

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
	bool is_old;      /* kept for what was linked with an older version; others of this name may not be */
};

/*
 * Calls one for each of the part that is in the file and has a name, until it returns something else than 0, which is
 * returned. Tables that make more than bytes_max with those before them are left out. A name may be as long as a table:
 * who goes through one bounds that.
 */
int elf_code_each(const struct elf_code *code, enum elf_table table, size_t bytes_max,
		  int (*one)(void *context, const struct elf_function *function), void *context);

/* A place where a USDT probe stands, as a note of type stapsdt tells. */
struct elf_probe {
	const char *provider, *name; /* not empty; all texts are valid as long as the code */
	const char *arguments;       /* where they are found, "8@%rdi -4@12(%rsp)" */
	uint64_t address;            /* of the instruction; like those of functions it may lie anywhere */
	uint64_t semaphore; /* address of the 16-bit number that says whether anybody looks; 0: there is none */
};

/* As elf_code_each, over the sections of notes. */
int elf_code_each_probe(const struct elf_code *code, size_t bytes_max,
			int (*one)(void *context, const struct elf_probe *probe), void *context);

enum { ELF_BUILD_ID_BYTES = 129 }; /* digits and a NUL; linkers write 40 digits, others up to 128 */

/* What the linker called this very build: its digits, lower case. False: the file does not say, or it is none. */
bool elf_build_id(int fd, char digits[ELF_BUILD_ID_BYTES]);

#endif
