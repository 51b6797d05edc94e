/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_DEBUG_INFO_H
#define SESSION_OUTPUT_DEBUG_INFO_H

/*
 * What the debugging information of a program or library says of an address: the function, for one that was stripped,
 * and the line of its source. It may be in the file or in one of its own (by build id, else by .gnu_debuglink, where
 * Debian's -dbgsym packages and gdb have theirs). elfutils (libdwfl) reads it.
 *
 * Such a reader is large, and what it reads says where to go next. So only files of those who could do anything to us
 * are read: owned by root, by our user or by who called sudo, and written by nobody else; beside a program only where
 * the folder is such a one, too. No server is asked. Root of a container, or we, may have been given a hostile one all
 * the same: its headers are judged first (base/elf-check.h), and of more than DEBUG_INFO_BYTES_MAX none is read.
 */

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum { DEBUG_INFO_BYTES_MAX = 1 << 30 };

struct debug_info;

struct debug_place {
	const char *function; /* NULL: not known. As the linker has it; distance: how far in it */
	uint64_t distance;
	const char *file;   /* NULL: not known. Without its folders */
	const char *path;   /* of the file, as the compiler had it */
	const char *folder; /* where the compiler was run, for paths that do not begin with /; NULL: not known */
	int line;
};

/* Whether libdwfl may read the file: whose it is, not what is in it. */
bool debug_info_is_trusted(int fd);

/* Whether it does libdwfl no harm. */
bool debug_info_is_sound(int fd);

/* For libdwfl: where the debugging information of a module is. libdwfl prescribes the parameters. */
int debug_info_find_file(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base, const char *file,
			 const char *link, GElf_Word checksum, char **found);

/* path: what the file is called. fd stays the caller's. NULL: there is none, it is not to be trusted, or no memory. */
struct debug_info *debug_info_open(int fd, const char *path);
void debug_info_free(struct debug_info *info);

/* address: as the file's own headers have it. What is found is valid while info is; false: nothing is. */
bool debug_info_find(struct debug_info *info, uint64_t address, struct debug_place *found);

/* The variable at address, and how far in it that is; NULL: none is known to be there. */
const char *debug_info_find_variable(struct debug_info *info, uint64_t address, uint64_t *distance);

#endif
