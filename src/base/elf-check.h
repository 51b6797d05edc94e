/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ELF_CHECK_H
#define BASE_ELF_CHECK_H

/*
 * Whether libelf may be given a file. libelf takes as much memory as the headers of a file ask for, and a file of a few
 * blocks may say that it has a billion sections, or one of a terabyte. So headers are read here first, piece by piece,
 * and what no program, library or file of debugging information has is refused:
 *  - another byte order than this machine's, headers of other sizes than ELF's, tables that do not lie in the file
 *  - more than ELF_SECTIONS_MAX sections or ELF_PROGRAM_HEADERS_MAX program headers, wherever their number is said
 *  - sections that take more of the file, all together, than there is: they overlap, or lie behind its end
 *  - more than ELF_SECTION_NAMES_BYTES_MAX of names of sections, or names without a 0 at their end
 * Archives and compressed files, which libdwfl would unpack, are none either. The file is read, and nothing is
 * allocated. Who changes it later can only make it shorter than it says, which libelf sees.
 */

#include <stdint.h>

enum {
	ELF_SECTIONS_MAX = 1 << 16,
	ELF_PROGRAM_HEADERS_MAX = 1 << 12, /* the kernel starts no program of more than 1170 */
	ELF_SECTION_NAMES_BYTES_MAX = 1 << 22,
};

/* Returns 0; -ENOEXEC: it is no ELF file that makes sense. */
int elf_check(int fd);

#endif
